"""Noise: transient, seeded disturbances that heal by themselves and are never the cause of anything.

Every few minutes a sample of the declared kinds strikes a random pod of the application each, for a while.
What is to come is scheduled in the world itself, so that forks meet the same noise. Off by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sregym_env.cluster.forkable import Forkable
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


def schedule(world: Forkable, seed: int, config: NoiseConfig | Mapping[str, Any] | bool = True) -> None:
    """Let noise happen in ``world`` from now on. The same seed gives the same noise."""
    if config is False:
        return
    settings = (
        config if isinstance(config, NoiseConfig) else NoiseConfig(**({} if config is True else config))
    )
    streams = Streams(seed)
    namespace = world.app.namespace
    begin = streams.uniform("noise.begin", 0.0, settings.interval_seconds / 2)
    while begin < settings.horizon_seconds:
        for kind in streams.sample("noise.kind", settings.kinds, settings.concurrent):
            action = KINDS[kind](namespace, settings.duration_seconds, streams.unit("noise.pod"))
            world.schedule(begin, action)
        begin += settings.interval_seconds


__all__ = ["KINDS", "NoiseConfig", "schedule"]
