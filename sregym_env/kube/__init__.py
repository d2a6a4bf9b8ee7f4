"""Kubernetes knowledge without a cluster: names, quantities, selectors, schemas, patches, printers.

Everything here is pure: functions of plain JSON trees that never mutate what they are given.
A request to the API server passes through these modules in this order: ``registry`` (which resource),
``schema.decode`` or ``patch``, ``defaults``, ``validation``, and back out through ``conversion``;
refusals are ``status.StatusError``.
"""
