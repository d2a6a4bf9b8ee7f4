"""Callers that give up soon and try again dozens of times: a surge of users that has passed leaves a storm of retries."""

from __future__ import annotations

from sregym_env.cluster.edits import Surge
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
def load_spike_retry_storm(
    target: ComponentTarget,
    timeout: str = drawn(storms.timeout, published="50ms"),
    retries: str = drawn(storms.retries, published="30"),
    callee: str = drawn(storms.victim, published=storms.busiest),
    tight: float = drawn(storms.tightness, published=0.015),
    factor: float = drawn(lambda target, chance: round(chance.uniform("factor", 2.0, 2.6), 1), published=2.2),
    seconds: float = drawn(lambda target, chance: float(chance.between("seconds", 30, 75)), published=45.0),
) -> Fault:
    """RPCs are given up after some milliseconds and tried again dozens of times; a surge of users has set off a storm.

    The surge (``factor`` times the usual load for ``seconds``) is over. The component that is called has a CPU limit with some
    room above what it needs (``tight`` is how much less), and now wastes it on calls that nobody waits for. A restart helps until
    the next surge at most.
    """
    since = f"a surge of users, which is over, its retries keep {callee} overloaded"
    return storms.storm(
        target, (timeout, retries), callee, tight, Surge(target.app.namespace, factor, seconds), since
    )
