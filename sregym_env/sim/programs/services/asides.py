"""Steps of a request that ask nobody for it: remarks in the log, and what a feature flag adds or takes away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of the log with every request, in the runtime's form."""

    level: Literal["debug", "info", "warning", "error"]
    where: str
    """Source position."""
    text: str


@dataclass(frozen=True, slots=True)
class Flagged:
    """Steps that requests take while a feature flag is on: all of them, or the share that a number says."""

    peer: str
    """Who knows the flags."""
    flag: str
    steps: tuple[Any, ...]
    """Of :data:`~sregym_env.sim.programs.services.steps.Step`."""
    default: bool | float = False
    """What the code takes where nobody answers; its type is the one that is asked for."""
    part: float = 1.0
    """The share of the requests for which the flag is asked at all."""
    times: bool = False
    """Whether a number says how often each request takes them, in the background, and not how many requests do."""


Aside = Remark | Flagged
