"""How the users fare, and what the alerting rules make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class JourneyHealth:
    """How a user journey fared over a window of traffic."""

    journey: str
    requests: float
    success_ratio: float
    latency_seconds: float
    errors: Mapping[str, float]
    """Fraction of requests per error text."""


@dataclass(frozen=True, slots=True)
class ComponentHealth:
    """What one component served over a window: its request rate, success ratio and mean latency."""

    component: str
    rate: float
    success_ratio: float
    latency_seconds: float


@dataclass(frozen=True, slots=True)
class Alert:
    """A firing or pending alert as the alerting rules see the world."""

    name: str
    state: Literal["pending", "firing"]
    severity: str
    labels: Mapping[str, str]
    summary: str
    active_at: int
