"""What differs between two healthy worlds of one application, and changes nothing about their health.

:func:`vary` draws another member of an application's family: first what only the application knows (``App.family``:
credentials, builds, ports, load), then what teams choose for any application: resources, replicas, probes, sidecars,
scheduling, policies, budgets, labels. Everything is drawn by name from one chance, so that a new knob moves no other
one, and the result is an ordinary :class:`~sregym_env.cluster.app.App`.

What is drawn is right, and sometimes needed: an agent that "cleans up" what looks odd breaks what it does not
understand. Three promises bind every knob: the users are served as well as before; every workload can be restarted,
scaled up by its autoscaler and drained; and whatever can be struck in the published application can be struck in
every other one.
"""

from __future__ import annotations

from sregym_env.worlds.variation.vary import vary

__all__ = ["vary"]
