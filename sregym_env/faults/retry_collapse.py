"""A limiter without headroom before impatient callers: a surge that has passed leaves a collapse that retries keep going."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.edits import Rollout, Surge
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, named, scope, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.rate_limit_too_low import _limit, _rate
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

OPEN = 100.0
"""Requests that the users of a journey have open at most: as many calls at a time fill the limiter's queue."""

HEADROOM = (1.25, 1.45)
"""Least and most requests that the limiter lets through, times those that usually come: so few more than come that
twice as many attempts never fit."""

ATTEMPTS = 3
"""Of every call, while they fail."""


def _setting(target: ComponentTarget, ending: str) -> tuple[int, dict[str, Any]] | None:
    """(position, entry) of the variable of a component whose name ends so."""
    for index, entry in enumerate(target.container.get("env") or ()):
        if entry["name"].endswith(ending) and "value" in entry:
            return index, entry
    return None


def _caller(target: ComponentTarget) -> ComponentTarget | None:
    """Who asks a component with a patience and a number of attempts that are settings."""
    for component in target.app.dependents(target.name, "request"):
        caller = ComponentTarget(target.inventory, component)
        if _setting(caller, "_RPC_TIMEOUT_MS") and _setting(caller, "_RPC_MAX_ATTEMPTS"):
            return caller
    return None


def _scarce(target: ComponentTarget, chance: Chance) -> str:
    """Somewhat above what comes, so that all is well until more comes for a moment."""
    return str(max(2, round(_rate(target) * chance.uniform("headroom", *HEADROOM))))


def _impatient(share: float, target: ComponentTarget) -> str:
    """Milliseconds in which the limiter lets through a share of what users have open at most."""
    through = HEADROOM[1] * _rate(target) * max(target.replicas, 1)
    return str(max(50, round(share * OPEN / through * 100.0) * 10))


def _way(target: ComponentTarget) -> list[str]:
    """Everything that requests pass which pass the target: where they stop for a moment, what waits is worked off."""
    passed = [journey.through for journey in target.app.journeys if target.name in journey.through]
    load = [component.name for component in target.app.components if component.kind == "load"]
    return list(dict.fromkeys([*load, *(name for through in passed for name in through)]))


@fault(
    layer="application",
    mechanism="rate_limit_too_low",
    targets=components(
        at_request=True,
        where=lambda target: _limit(target) is not None and _caller(target) is not None,
    ),
    level="hard",
)
def retry_collapse(
    target: ComponentTarget,
    limit: str = drawn(_scarce, published=lambda target: str(round(1.35 * _rate(target)))),
    patience: str = drawn(
        lambda target, chance: _impatient(chance.uniform("share", 0.35, 0.55), target),
        published=lambda target: _impatient(0.45, target),
    ),
    factor: float = drawn(lambda target, chance: round(chance.uniform("factor", 2.0, 2.6), 1), published=2.2),
    seconds: float = drawn(lambda target, chance: float(chance.between("seconds", 30, 75)), published=45.0),
) -> Fault:
    """A paced backend is limited to hardly more than what usually comes, and its callers try soon, and again.

    After a surge of users everything that is worked off has expired, and what has expired is asked for again: the surge
    is gone, and the collapse stays. A restart helps until the next one. ``patience`` is the caller's, milliseconds per
    attempt; the surge is ``factor`` times the usual load for ``seconds``.
    """
    found, caller = _limit(target), _caller(target)
    assert found is not None and caller is not None
    index, entry = found
    name, right = entry["name"], entry["value"]
    hasty: dict[str, Any] = {}
    before: list[str] = []
    for ending, value in (("_RPC_TIMEOUT_MS", patience), ("_RPC_MAX_ATTEMPTS", str(ATTEMPTS))):
        setting = _setting(caller, ending)
        assert setting is not None
        if setting[1]["value"] != value:
            hasty[caller.container_path("env", setting[0], "value")] = value
            before.append(f"{setting[1]['name']}={setting[1]['value']}")
    back = f"kubectl set env {named(target.workload)}{scope(target.workload)} {name}={right}"
    calmed = f"kubectl set env {named(caller.workload)}{scope(caller.workload)} {' '.join(before)}"
    attempts = _setting(caller, "_RPC_MAX_ATTEMPTS")
    assert attempts is not None
    once = f"kubectl set env {named(caller.workload)}{scope(caller.workload)} {attempts[1]['name']}=1"
    made = revision(target, {target.container_path("env", index, "value"): limit}, starts=True)
    return Fault(
        resource=target.workload,
        cause=f"{name} of {target.kind} {target.name} is {limit} (it was {right}), hardly more than the requests that come, "
        f"and {caller.name} gives each of its {ATTEMPTS} attempts {patience} ms: since a surge of users the queue of "
        f"{target.name} holds requests that have expired, and their retries keep it full though the surge is over.",
        edits=[Rollout(caller.workload, hasty), *made["edits"]],
        trigger=[Surge(target.app.namespace, factor, seconds)],
        spared=_way(target),
        details={"field": name, "wrong": limit, "right": right},
        facts={"caller": caller.name, "patience": patience},
        remedies=[mend(target, back), mend(caller, once), mend(target, back, calmed)],
        look=[
            show(target),
            show(caller),
            f"kubectl logs -n {target.namespace} {named(target.workload)} --tail=20",
            f"kubectl top pods -n {target.namespace}",
        ],
        accepts=[caller.workload],
    )
