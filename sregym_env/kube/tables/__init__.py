"""Tables as the API server renders them and as kubectl prints them.

``PRINTERS`` is the one table: for every resource its columns and a function from an object to its cells
(``k8s.io/kubernetes/pkg/printers/internalversion``), gathered from one module per area. Columns marked
``wide`` are shown by ``-o wide`` only. ``align`` is kubectl's tabwriter. Ages are told from ``now``, integer
microseconds since the Unix epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.kube.jsonpath import JSONPathError, compile_template, go_text, relaxed
from sregym_env.kube.registry import SCALE, CustomType, Resource
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
]


def _created_at(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], obj["metadata"].get("creationTimestamp") or "<unknown>")


def _name_age(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], age(obj, now))


DEFAULT = Printer.of("Name|Created At", _created_at)
"""What the API server shows of a resource that has no printer of its own."""

CUSTOM = Printer.of("Name|Age", _name_age)
"""What it shows of a custom resource without printer columns."""


def _scale(obj: Manifest, now: int) -> Row:
    replicas = ((obj.get("spec") or {}).get("replicas", 0), (obj.get("status") or {}).get("replicas", 0))
    return (obj["metadata"]["name"], *replicas, age(obj, now))


SCALES = Printer.of("Name|Desired|Available|Age", _scale)
"""What it shows of the ``scale`` subresource of anything."""

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


def printer(resource: Resource) -> Printer:
    """How a resource is shown."""
    if resource.custom_type is not None:
        return _custom_printer(resource.custom_type)
    if resource is SCALE:
        return SCALES
    return PRINTERS.get(resource.key) or DEFAULT


def _custom_printer(custom: CustomType) -> Printer:
    known = custom.cache.get("printer")
    if known is None:
        declared = custom.version.get("additionalPrinterColumns")
        known = custom.cache["printer"] = _from_columns(declared) if declared else CUSTOM
    made: Printer = known
    return made


def _from_columns(declared: Sequence[Mapping[str, Any]]) -> Printer:
    columns = [Column("Name", format="name")]
    for c in declared:
        text = (
            c.get("description") or f"Custom resource definition column (in JSONPath format): {c['jsonPath']}"
        )
        columns.append(Column(c["name"], c.get("priority", 0) > 0, c["type"], c.get("format") or "", text))
    templates = [(compile_template(relaxed(c["jsonPath"])), c["type"]) for c in declared]

    def row(obj: Manifest, now: int) -> Row:
        cells: list[Cell] = [obj["metadata"]["name"]]
        for template, kind in templates:
            try:
                values = [value for part in template.find(obj) for value in part]
            except JSONPathError:
                values = []
            cells.append(_custom_cell(kind, values[0], now) if values else None)
        return cells

    return Printer(tuple(columns), row)


def _custom_cell(kind: str, value: Any, now: int) -> Cell:
    """A value in a column of a type; nothing where it is of another type (``cellForJSONValue``)."""
    if kind == "string":
        return go_text(value)
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool):
        return None
    if kind == "integer":
        return int(value) if isinstance(value, (int, float)) else None
    if kind == "number":
        return value if isinstance(value, (int, float)) else None
    if kind == "date" and isinstance(value, str):
        try:
            return since(value, now)
        except ValueError:
            return "<invalid>"
    return None
