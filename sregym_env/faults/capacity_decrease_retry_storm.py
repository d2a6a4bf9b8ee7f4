"""Callers that give up soon and try again dozens of times: pods that were away for a while leave a storm of retries."""

from __future__ import annotations

from sregym_env.cluster.edits import Thin
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults import storms
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault


@fault(
    layer="application",
    mechanism="impatient_retries",
    targets=components(at_request=True, where=storms.calls_several),
    level="hard",
)
def capacity_decrease_retry_storm(
    target: ComponentTarget,
    timeout: str = drawn(storms.timeout, published="50ms"),
    retries: str = drawn(storms.retries, published="30"),
    callee: str = drawn(storms.unscaled, published=storms.busiest),
    tight: float = drawn(storms.tightness, published=0.015),
    seconds: float = drawn(lambda target, chance: float(chance.between("seconds", 45, 150)), published=60.0),
) -> Fault:
    """RPCs are given up after some milliseconds and tried again dozens of times; a loss of capacity has set off a storm.

    For ``seconds`` half of the pods of the component that is called were away. They are back, and its CPU limits leave
    room above what it needs; now it wastes them on calls that nobody waits for (``tight`` is how much less room they leave).
    """
    since = f"{callee} had fewer pods for a while, which are back, these retries keep it overloaded"
    return storms.storm(target, (timeout, retries), callee, tight, Thin(callee, seconds), since, pods=2)
