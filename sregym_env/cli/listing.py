"""What ``sregym list`` lists, as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Row = dict[str, Any]


def _problems() -> list[Row]:
    from sregym_env.faults.problems import curated

    return [
        {
            "id": problem.id,
            "app": problem.app,
            "faults": ", ".join(f"{each.fault}:{each.target}" for each in problem.faults),
        }
        for problem in curated()
    ]


def _faults() -> list[Row]:
    from sregym_env.faults.registry import declarations

    return [
        {"fault": each.name, "layer": each.layer, "level": each.level, "what": each.summary}
        for each in declarations()
    ]


def _apps() -> list[Row]:
    from sregym_env import apps

    return [
        {
            "app": app.name,
            "namespace": app.namespace,
            "components": len(app.components),
            "journeys": ", ".join(journey.name for journey in app.journeys),
        }
        for app in (apps.app(name) for name in apps.names())
    ]


def _pairs() -> list[Row]:
    from sregym_env.faults.problems import pairs

    return [
        {"app": problem.app, "fault": problem.faults[0].fault, "target": problem.faults[0].target}
        for problem in pairs()
    ]


LISTINGS: Mapping[str, Callable[[], list[Row]]] = {
    "problems": _problems,
    "faults": _faults,
    "apps": _apps,
    "pairs": _pairs,
}
