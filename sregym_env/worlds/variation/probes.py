"""Probes: whether there are any, and how patient they are.

How a component is asked is what the application itself declares, or whether its port is open: that much is true of
every program that serves. A readiness probe that the published application has stays.
"""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import Draft, Work

HANDLERS = ("httpGet", "tcpSocket", "grpc", "exec")

STYLES = {"chart": 0.5, "default": 0.3, "tuned": 0.2}
"""How a team sets timings: as charts do, as Kubernetes does by itself, by hand."""

READINESS, LIVENESS, STARTUP = 0.8, 0.65, 0.12
"""Shares of components that have the probe."""

_LIVENESS: Mapping[str, Mapping[int, float]] = {
    "initialDelaySeconds": {10: 0.25, 5: 0.23, 30: 0.24, 20: 0.1, 60: 0.1, 15: 0.08},
    "periodSeconds": {10: 0.78, 20: 0.1, 30: 0.12},
    "timeoutSeconds": {5: 0.6, 2: 0.15, 3: 0.15, 10: 0.1},
    "failureThreshold": {3: 0.35, 6: 0.33, 5: 0.32},
}
_READINESS: Mapping[str, Mapping[int, float]] = {
    "initialDelaySeconds": {5: 0.42, 10: 0.3, 0: 0.08, 2: 0.1, 15: 0.1},
    "periodSeconds": {10: 0.72, 5: 0.28},
    "timeoutSeconds": {5: 0.45, 1: 0.25, 2: 0.15, 3: 0.15},
    "failureThreshold": {3: 0.36, 5: 0.33, 6: 0.31},
}
"""Counted over charts, without what would keep a restart waiting for minutes."""


def draw(draft: Draft, chance: Chance) -> None:
    """Probes of every main container that serves."""
    for work in draft.works:
        own = chance.at("probes", work.name)
        container = work.container
        handler = _handler(work)
        if handler is None:
            continue
        style = chance.at("team", work.namespace).weighted("probes", STYLES)
        kept = work.published_container
        if "readinessProbe" in kept or own.yes("readiness", READINESS):
            shape = container.get("readinessProbe") or handler
            container["readinessProbe"] = _timed(shape, own.at("readiness"), style, _READINESS)
            if work.registry and "strategy" not in work.spec:
                container["readinessProbe"].pop("initialDelaySeconds", None)
        else:
            container.pop("readinessProbe", None)
        if own.yes("liveness", LIVENESS):
            shape = container.get("livenessProbe") or handler
            container["livenessProbe"] = _timed(shape, own.at("liveness"), style, _LIVENESS)
            if own.yes("startup", STARTUP / LIVENESS):
                patience = {"periodSeconds": own.choice("startup period", (5, 10)), "failureThreshold": 30}
                container["startupProbe"] = {**_asked(shape), **patience}
        else:
            container.pop("livenessProbe", None)


def _handler(work: Work) -> Manifest | None:
    """How the component is asked whether it is well; None where it does not serve."""
    for name in ("readinessProbe", "livenessProbe"):
        declared = work.container.get(name)
        if declared is not None:
            return _asked(declared)
    if not work.component.port:
        return None
    return {"tcpSocket": {"port": work.component.port}}


def _asked(probe: Manifest) -> Manifest:
    return {name: probe[name] for name in HANDLERS if name in probe}


def _timed(probe: Manifest, chance: Chance, style: str, table: Mapping[str, Mapping[int, float]]) -> Manifest:
    """A probe with other timings."""
    made = _asked(probe)
    if style == "default":
        # Whoever writes probes by hand sets one field or two.
        for field in words.few(chance, "fields", tuple(table), chance.below("count", 3)):
            made[field] = chance.weighted(field, table[field])
    else:
        made |= {field: chance.weighted(field, values) for field, values in table.items()}
    if style == "tuned":
        made["periodSeconds"] = chance.choice("own period", (7, 12, 15, 20))
    if "exec" in made:
        made["timeoutSeconds"] = max(made.get("timeoutSeconds", 1), 5)
    return made
