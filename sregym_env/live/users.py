"""The users of a real cluster's application: their journeys' own requests, sent now and then.

There is no telemetry to read the past from, so the past is what these requests met: whenever time passes, each journey
is tried every few seconds, and the answers are kept for a while.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from sregym_env.cluster.app import App, Journey
from sregym_env.cluster.health import ComponentHealth, JourneyHealth
from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.runtime.clock import SECOND

PERIOD_SECONDS = 5.0
"""How often each journey is tried."""

PATIENCE = 10.0
"""Seconds after which a user gives up."""

KEPT = 4000
"""Answers remembered: more than an hour of four journeys."""


@dataclass(frozen=True, slots=True)
class _Visit:
    """One journey tried once."""

    time: int
    journey: str
    seconds: float
    error: str
    """Empty where the user was served."""


class LiveTraffic:
    """Implements :class:`sregym_env.cluster.api.Traffic` by asking."""

    def __init__(self, app: App, now: Callable[[], int], request: Callable[[HttpCall], HttpExchange]) -> None:
        self._app = app
        self._now = now
        self._request = request
        self._visits: deque[_Visit] = deque(maxlen=KEPT)
        self._due = now()

    @property
    def due(self) -> int:
        """When the journeys are to be tried next, microseconds since the Unix epoch."""
        return self._due

    def look(self) -> None:
        """Try every journey once."""
        for journey in self._app.journeys:
            self._visits.append(self._tried(journey))
        self._due = self._now() + round(PERIOD_SECONDS * SECOND)

    def health(self, window_seconds: float) -> list[JourneyHealth]:
        """Every journey over the window; ``requests`` counts those that were sent from here."""
        since = self._now() - round(window_seconds * SECOND)
        return [
            _summary(journey.name, [v for v in self._visits if v.journey == journey.name and v.time > since])
            for journey in self._app.journeys
        ]

    def components(self, window_seconds: float) -> list[ComponentHealth]:
        """Nothing: from outside one cannot see which component served what."""
        return []

    def _tried(self, journey: Journey) -> _Visit:
        app = self._app.whose(journey.name)
        entry = app.by_name[app.entry]
        namespace = app.namespace_of(entry.name)
        url = f"http://{entry.service}.{namespace}:{entry.offered_port}{journey.path}"
        done = self._request(HttpCall(url, journey.method, timeout=PATIENCE))
        return _Visit(self._now(), journey.name, done.seconds, _error(done))


def _error(done: HttpExchange) -> str:
    if done.outcome != "ok":
        return done.problem or done.outcome
    return f"HTTP {done.status}: {done.body.strip()[:200]}" if done.status >= 400 else ""


def _summary(journey: str, visits: list[_Visit]) -> JourneyHealth:
    count = len(visits)
    if not count:
        return JourneyHealth(journey, 0.0, 0.0, 0.0, {})
    errors: dict[str, float] = {}
    for visit in visits:
        if visit.error:
            errors[visit.error] = errors.get(visit.error, 0.0) + 1 / count
    served = sum(not visit.error for visit in visits) / count
    return JourneyHealth(
        journey, float(count), served, sum(visit.seconds for visit in visits) / count, errors
    )
