"""Tables as the API server renders them and as kubectl prints them.

``PRINTERS`` is the one table: for every resource its columns and a function from an object to its cells
(``k8s.io/kubernetes/pkg/printers/internalversion``), gathered from one module per area. Columns marked
``wide`` are shown by ``-o wide`` only. ``align`` is kubectl's tabwriter. Ages are told from ``now``, integer
microseconds since the Unix epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sregym_env.kube.jsonpath import JSONPathError, compile_template, go_text, relaxed
from sregym_env.kube.registry import Resource
from sregym_env.kube.tables import access, cluster, network, pods, storage, workloads
from sregym_env.kube.tables.cells import access_modes, age, format_labels, format_selector, since
from sregym_env.kube.tables.cluster import event_times, node_roles
from sregym_env.kube.tables.layout import Cell, Column, Printer, Row
from sregym_env.kube.tables.network import join_host_port, load_balancer
from sregym_env.kube.tables.storage import is_default_class
from sregym_env.kube.tables.text import align, cell_text
from sregym_env.kube.types import Manifest

__all__ = [
    "CUSTOM",
    "DEFAULT",
    "PRINTERS",
    "Printer",
    "access_modes",
    "age",
    "align",
    "cell_text",
    "event_times",
    "format_labels",
    "format_selector",
    "is_default_class",
    "join_host_port",
    "load_balancer",
    "node_roles",
    "printer",
    "since",
    "table_object",
]


def _created_at(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], obj["metadata"].get("creationTimestamp") or "<unknown>")


def _name_age(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], age(obj, now))


DEFAULT = Printer.of("Name|Created At", _created_at)
"""What the API server shows of a resource that has no printer of its own."""

CUSTOM = Printer.of("Name|Age", _name_age)
"""What it shows of a custom resource without printer columns."""

PRINTERS: Mapping[str, Printer] = {
    **pods.PRINTERS,
    **workloads.PRINTERS,
    **network.PRINTERS,
    **cluster.PRINTERS,
    **storage.PRINTERS,
    **access.PRINTERS,
    "events.events.k8s.io": cluster.PRINTERS["events"],
}
"""Printers of the built-in resources by key."""


def printer(resource: Resource, definition: Manifest | None = None) -> Printer:
    """How a resource is shown; ``definition`` is its CustomResourceDefinition when it is a custom one."""
    if definition is not None:
        return _custom_printer(definition, resource.version)
    return PRINTERS.get(resource.key) or (CUSTOM if resource.custom else DEFAULT)


def _custom_printer(definition: Manifest, version: str) -> Printer:
    for served in definition["spec"].get("versions") or ():
        if served["name"] == version and served.get("additionalPrinterColumns"):
            return _from_columns(served["additionalPrinterColumns"])
    return CUSTOM


def _from_columns(declared: Sequence[Mapping[str, Any]]) -> Printer:
    columns = [Column("Name", format="name")]
    columns += [Column(c["name"], wide=c.get("priority", 0) > 0, type=c["type"]) for c in declared]
    templates = [(compile_template(relaxed(c["jsonPath"])), c["type"]) for c in declared]

    def row(obj: Manifest, now: int) -> Row:
        cells: list[Cell] = [obj["metadata"]["name"]]
        for template, kind in templates:
            try:
                values = [value for part in template.find(obj) for value in part]
            except JSONPathError:
                values = []
            if not values:
                cells.append(None)
            elif kind == "date":
                cells.append(since(values[0], now))
            else:
                cells.append(go_text(values[0]))
        return cells

    return Printer(tuple(columns), row)


def table_object(
    printer_: Printer, objects: Iterable[Manifest], now: int, resource_version: str = ""
) -> Manifest:
    """The ``meta.k8s.io/v1`` Table the API server would send for these objects."""
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": resource_version},
        "columnDefinitions": [
            {
                "name": column.name,
                "type": column.type,
                "format": column.format,
                "description": "",
                "priority": int(column.wide),
            }
            for column in printer_.columns
        ],
        "rows": [
            {
                "cells": list(printer_.row(obj, now)),
                "object": {
                    "kind": "PartialObjectMetadata",
                    "apiVersion": "meta.k8s.io/v1",
                    "metadata": obj["metadata"],
                },
            }
            for obj in objects
        ],
    }
