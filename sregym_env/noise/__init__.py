"""Noise: transient, seeded disturbances that heal by themselves and are never the cause of anything.

Every few minutes a sample of the declared kinds strikes a random pod of the application each, for a while.
What is to come is scheduled in the world itself, so that forks meet the same noise; a world that cannot be told
what comes later is driven (:mod:`sregym_env.noise.driven`). Off by default.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sregym_env.cluster.api import World
from sregym_env.cluster.forkable import Forkable, ScheduledAction, forkable
from sregym_env.errors import ProblemError
from sregym_env.noise.driven import DrivenWorld
from sregym_env.noise.noise import KINDS
from sregym_env.runtime.streams import Streams


class NoiseConfig(BaseModel):
    """How much noise there is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kinds: tuple[str, ...] = tuple(KINDS)
    """Names of the kinds that may occur."""
    interval_seconds: float = Field(default=300.0, gt=0)
    """Time from one round to the next."""
    duration_seconds: float = Field(default=120.0, gt=0)
    """How long one disturbance lasts."""
    concurrent: int = Field(default=2, ge=1)
    """Disturbances per round."""
    horizon_seconds: float = Field(default=4 * 3600.0, gt=0)
    """How far ahead noise is scheduled: longer than any episode with its grading."""


def plan(
    namespaces: Sequence[str], seed: int, config: NoiseConfig, spared: tuple[str, ...] = ()
) -> Iterator[tuple[float, ScheduledAction]]:
    """What happens in how many seconds from now, the pods of some components ``spared``. The same seed gives the same noise."""
    streams = Streams(seed)
    begin = streams.uniform("noise.begin", 0.0, config.interval_seconds / 2)
    while begin < config.horizon_seconds:
        for kind in streams.sample("noise.kind", config.kinds, config.concurrent):
            where = streams.unit("noise.pod") * len(namespaces)
            namespace, draw = namespaces[int(where)], where % 1.0
            yield begin, replace(KINDS[kind](namespace, config.duration_seconds, draw), spared=spared)
        begin += config.interval_seconds


def schedule(
    world: Forkable,
    seed: int,
    config: NoiseConfig | Mapping[str, Any] | bool = True,
    spared: tuple[str, ...] = (),
) -> None:
    """Let noise happen in ``world`` from now on, as part of what it has before it; never to ``spared`` components."""
    settings = _settings(config)
    if settings is not None:
        for delay, action in plan(world.app.namespaces, seed, settings, spared):
            world.schedule(delay, action)


def begin(
    world: World,
    seed: int,
    config: NoiseConfig | Mapping[str, Any] | bool = True,
    spared: tuple[str, ...] = (),
) -> World:
    """The world with noise from now on: itself, or one that makes the noise as time passes in it."""
    value = forkable(world)
    if value is not None:
        schedule(value, seed, config, spared)
        return world
    settings = _settings(config)
    return (
        world if settings is None else DrivenWorld(world, plan(world.app.namespaces, seed, settings, spared))
    )


def demand(world: World, config: NoiseConfig | Mapping[str, Any] | bool = True) -> None:
    """Raises ProblemError, with the kinds of noise that are possible, unless the backend can make those asked for."""
    settings = _settings(config)
    asked = () if settings is None else settings.kinds
    possible = [name for name in KINDS if _makes(world, name)]
    impossible = [name for name in asked if name not in possible]
    if impossible:
        raise ProblemError(
            f"this backend cannot make the noise {', '.join(impossible)}; play without noise, with "
            f'noise={{"kinds": {json.dumps(possible)}}}, or on the embedded cluster'
        )


def _makes(world: World, kind: str) -> bool:
    disturbance = KINDS[kind](world.app.namespace, 1.0, 0.0).disturbance
    return disturbance is None or type(disturbance) in world.nodes.kinds


def _settings(config: NoiseConfig | Mapping[str, Any] | bool) -> NoiseConfig | None:
    """The settings in full; None for no noise."""
    if config is False or isinstance(config, NoiseConfig):
        return config or None
    return NoiseConfig(**({} if config is True else config))


__all__ = ["KINDS", "DrivenWorld", "NoiseConfig", "begin", "demand", "plan", "schedule"]
