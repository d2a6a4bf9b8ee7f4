"""Traces read from the JSON of Jaeger's query service: the way back of ``http.trace_json``."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from sregym_env.telemetry.traces.model import CHILD_OF, Event, Process, Reference, Span, Tag, TagValue, Trace


def trace_of(data: Mapping[str, Any]) -> Trace:
    """A trace as the user interface gets it."""
    processes = {
        name: Process(each["serviceName"], _tags(each.get("tags")))
        for name, each in (data.get("processes") or {}).items()
    }
    spans = tuple(_span(each, processes) for each in data["spans"])
    return Trace(data["traceID"], spans, tuple(data.get("warnings") or ()))


def _span(data: Mapping[str, Any], processes: Mapping[str, Process]) -> Span:
    return Span(
        data["traceID"],
        data["spanID"],
        data["operationName"],
        data["startTime"],
        data["duration"],
        processes[data["processID"]],
        tuple(
            Reference(each["spanID"], each["traceID"], each.get("refType", CHILD_OF))
            for each in data.get("references") or ()
        ),
        _tags(data.get("tags")),
        tuple(Event(each["timestamp"], _tags(each.get("fields"))) for each in data.get("logs") or ()),
        data.get("flags", 0),
        tuple(data.get("warnings") or ()),
    )


def _tags(found: Any) -> tuple[Tag, ...]:
    return tuple((each["key"], _value(each)) for each in found or ())


def _value(tag: Mapping[str, Any]) -> TagValue:
    value = tag.get("value")
    match tag.get("type"):
        case "bool":
            return value in (True, "true")
        case "int64":
            return int(value or 0)
        case "float64":
            return float(value or 0.0)
        case "binary":
            return base64.b64decode(value or "")
    return str(value)
