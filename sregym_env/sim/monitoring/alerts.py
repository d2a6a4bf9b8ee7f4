"""The rules of the Prometheus in the cluster: alerts and recorded series, evaluated when somebody asks.

They stand in ``alerting_rules.yaml``, in Prometheus's own format, and are what its ConfigMap was installed with; another text counts
once its server has read it (:mod:`~sregym_env.sim.programs.prometheus_server`). They see what was scraped and nothing else, so an alert
comes as late as a real one: after the next scrape, the next evaluation and the rule's ``for``.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from sregym_env.cluster.health import Alert
from sregym_env.runtime.clock import MINUTE
from sregym_env.sim.monitoring.scrapes import MILLI
from sregym_env.sim.monitoring.series import WorldSeries
from sregym_env.sim.programs.prometheus_server import LOADED
from sregym_env.sim.users.components import app_of
from sregym_env.sim.world import SimWorld
from sregym_env.telemetry.labels import value_of
from sregym_env.telemetry.promql.engine import Engine
from sregym_env.telemetry.promql.errors import QueryError
from sregym_env.telemetry.promql.rules import Group, RecordedSource, Standing, alerts_since, load_rules

INTERVAL = MINUTE
"""``global.evaluation_interval``, microseconds."""
FILE = "alerting_rules.yaml"
_WATCHED = re.compile(r'namespace=~"([^"]*)"')
_NAMESPACES = "NAMESPACES"
"""What stands for the application's namespaces in the file."""


@cache
def rules_text(namespaces: tuple[str, ...]) -> str:
    """The file of rules for an application's namespaces; for all where there are none."""
    lines = files(__package__).joinpath(FILE).read_text(encoding="utf-8").splitlines(keepends=True)
    # Its comments tell readers of this repository whose rules these are; an agent reads the rules.
    text = "".join(line for line in lines if not line.startswith("#"))
    return text.replace(f'"{_NAMESPACES}"', f'"{"|".join(namespaces) or ".+"}"')


@cache
def _groups(namespaces: tuple[str, ...]) -> tuple[Group, ...]:
    return load_rules(rules_text(namespaces))


def namespaces_of(world: SimWorld) -> tuple[str, ...]:
    """The namespaces that are watched: the application's; none where none is deployed, which is all."""
    app = app_of(world)
    return () if app is None else tuple(app.namespaces)


def groups_of(world: SimWorld) -> tuple[Group, ...]:
    """The rules that are evaluated about a world: those that its Prometheus has read last."""
    text: str = world.memory.get(LOADED, "")
    return _others(text) if text and not _is_stock(text) else _groups(namespaces_of(world))


@lru_cache(maxsize=64)
def _is_stock(text: str) -> bool:
    """Whether these are the rules as they are installed, for whatever namespaces."""
    watched = _WATCHED.search(text)
    namespaces = () if watched is None or watched[1] == ".+" else tuple(watched[1].split("|"))
    return text == rules_text(namespaces)


@lru_cache(maxsize=64)
def _others(text: str) -> tuple[Group, ...]:
    return load_rules(text)


def recorded(world: SimWorld) -> RecordedSource:
    """Everything that Prometheus has: what it has scraped, and what its rules have recorded of it."""
    now = world.clock // MILLI
    return RecordedSource(WorldSeries(world), groups_of(world), world.plan.born // MILLI, now)


CACHE = "cache.alerts"
"""``memory`` key of what the last evaluation that was asked for has left: its instant, the alerts, and what the rules go on from.
They follow from the past alone, so whoever asks again before the next evaluation is told the same."""
_Standings = dict[tuple[int, int], Standing]
"""By group and place of the rule."""


def alerts(world: SimWorld) -> list[Alert]:
    """Alerts that are pending or firing, in the order of the rules."""
    at = world.clock // INTERVAL * INTERVAL
    known, text = world.memory.get(CACHE), world.memory.get(LOADED, "")
    if known is not None and known[3] != text:
        # Other rules have no standing yet.
        known = None
    if known is not None and known[0] == at:
        return list(known[1])
    found, standing = _evaluated(world, {} if known is None else known[2])
    if world.clock > at:
        world.memory[CACHE] = (at, tuple(found), standing, text)
    return found


def _evaluated(world: SimWorld, before: _Standings) -> tuple[list[Alert], _Standings]:
    now, engine = world.clock // MILLI, Engine(recorded(world))
    found: list[Alert] = []
    standing: _Standings = {}
    for number, group in enumerate(groups_of(world)):
        for place, rule in enumerate(group.rules):
            if not rule.alert:
                continue
            try:
                each, left = alerts_since(rule, group, engine, now, before.get((number, place)))
            except QueryError:
                continue  # as Prometheus does; the rule's health says so
            standing[number, place] = left
            for alert in each:
                severity, summary = (
                    value_of(alert.labels, "severity"),
                    value_of(alert.annotations, "summary"),
                )
                if alert.state != "inactive":
                    labels, since = dict(alert.labels), alert.active_at * MILLI
                    found.append(Alert(rule.alert, alert.state, severity, labels, summary, since))
    return found, standing
