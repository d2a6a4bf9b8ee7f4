"""Why somebody was called though nothing is wrong: something that has passed by itself, or nothing at all.

A pod was lost, stood still or lost packets for a minute or two, or more users came than usual. It is over when the agent
is called; what it has left in events, metrics, logs and restarts is there for everybody to see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sregym_env import noise
from sregym_env.cluster.disturbances import LoadSurge
from sregym_env.cluster.forkable import Forkable, ScheduledAction
from sregym_env.runtime.chance import Chance

WHAT = {
    "": 0.25,
    "crowd": 0.2,
    "pod_kill": 0.15,
    "pod_failure": 0.15,
    "network_delay": 0.1,
    "network_loss": 0.15,
}
"""What may have happened, and how often: nothing, more users, or a kind of noise."""

ALARMING = {"network_loss": 0.8, "network_delay": 0.2}
"""The same where an alert has called: what leaves every pod standing."""

LASTS = (60.0, 200.0)
"""For how long, seconds."""

ALARMS = (120.0, 240.0)
"""The same where an alert has called."""

CROWD = (1.3, 1.8)
"""Times the usual rate that the users want meanwhile."""

QUIET = (60.0, 600.0)
"""Seconds for which it is over at least when somebody comes because of what people told."""

STRIKES = 4
"""How often something happens, at most, until an alert calls."""

ALARM_SECONDS = 120.0
"""For how many seconds after its end an alert may fire: rules look back over two minutes."""

REST_SECONDS = 900.0
"""Within how many seconds everything is well again: a container that crashed waits up to five minutes."""

LOOK_SECONDS = 10.0

Well = Callable[[], bool]


def passed(world: Forkable, chance: Chance, well: Well, paged: bool) -> None:
    """Let what was noticed happen in ``world`` and be over. ``paged``: until an alert still fires because of it, as a rule."""
    if not paged:
        world.advance(_strike(world, chance, WHAT, LASTS, ()) + chance.uniform("quiet", *QUIET))
        _await(world, well, REST_SECONDS)
        return
    used = {name for journey in world.app.journeys for name in journey.through}
    unused = tuple(component.name for component in world.app.components if component.name not in used)
    for number in range(STRIKES):
        world.advance(_strike(world, chance.at("strike", number), ALARMING, ALARMS, unused))
        if _await(world, lambda: _fires(world) and well(), ALARM_SECONDS):
            return
    _await(world, well, REST_SECONDS)


def _await(world: Forkable, done: Well, limit: float) -> bool:
    waited = 0.0
    while waited < limit and not done():
        world.advance(LOOK_SECONDS)
        waited += LOOK_SECONDS
    return done()


def _fires(world: Forkable) -> bool:
    return any(alert.state == "firing" for alert in world.alerts())


def _strike(
    world: Forkable,
    chance: Chance,
    kinds: Mapping[str, float],
    lasts: tuple[float, float],
    spared: tuple[str, ...],
) -> float:
    """Something that happens from now on, and for how many seconds."""
    what, seconds = chance.weighted("what", kinds), chance.uniform("lasts", *lasts)
    if not what:
        return 0.0
    if what == "crowd":
        crowd = LoadSurge(world.app.namespace, round(chance.uniform("factor", *CROWD), 2))
        action = ScheduledAction("apply", crowd, seconds=seconds)
    else:
        action = noise.KINDS[what](
            chance.choice("namespace", world.app.namespaces), seconds, chance.unit("pod")
        )
    world.schedule(0.0, replace(action, spared=spared))
    return seconds
