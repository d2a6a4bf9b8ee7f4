"""Playing the groups of a plan on a Ray cluster, or on the cores of this machine through Ray.

The unit of work is a group of episodes: one call to an actor, in which the policy's whole conversation with the
environment takes place. Calls are neither retried nor actors restarted by Ray: a :class:`RolloutPool` sees every loss
itself, and the ledger decides what is played again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from socket import create_connection
from threading import local
from time import monotonic
from types import TracebackType
from typing import Any, Self

import ray
from ray.exceptions import RayError, RayTaskError

from sregym_env.errors import UsageError
from sregym_env.rollouts.ledger import ATTEMPTS, GIVEN_UP, Job, RunError
from sregym_env.rollouts.plan import Group, RunPlan
from sregym_env.rollouts.pool import (
    Died,
    Finished,
    GroupResult,
    Player,
    Raised,
    Told,
    drive,
    in_order,
    tried,
)

GROUP_SECONDS = 3600.0
"""How long a group may take unless the pool is told otherwise: what hangs must not hang for ever."""

START_SECONDS = 120.0
"""How long a worker may take to begin before the pool complains."""

STILLBORN = 3
"""So many workers in a row may die while they start."""

REACH_SECONDS = 10.0
"""How long the head of a cluster may take to answer."""

STORE_BYTES = 256 * 2**20
"""Shared memory of a cluster on this machine: results are small, and read at once."""


class Worker:
    """An actor: plays groups of whatever plan it is given, in as many threads as it has places.

    A subclass can prepare its process first: its ``__init__`` runs there once.
    """

    def __init__(self) -> None:
        self._own = local()

    def ready(self) -> int:
        """Its process id, as soon as it can play: this module has imported everything."""
        return os.getpid()

    def play(self, worker: int, plan: RunPlan, group: Group) -> Finished | Raised | UsageError:
        """What came of a group; an error that says that the plan makes no sense is returned, not raised."""
        try:
            return tried(worker, lambda: self._player(plan), group)
        except UsageError as error:
            return UsageError(str(error))

    def _player(self, plan: RunPlan) -> Player:
        """The thread's own player of the plan."""
        kept: tuple[str, Player] | None = getattr(self._own, "kept", None)
        if kept is None or kept[0] != plan.run_id:
            kept = self._own.kept = (plan.run_id, Player(plan))
        return kept[1]


@dataclass(slots=True)
class _Hand:
    """An actor and what is expected of it."""

    actor: Any
    since: float
    """When it was asked for."""
    pid: int | None = None
    """Its process, once it is ready."""


class RolloutPool:
    """Actors that play groups of episodes; a context manager.

    Args:
        workers: how many actors; each is a process.
        address: of a Ray cluster, ``"auto"`` for the one of this machine or job; None starts one of this process alone
            on this machine, unless Ray is connected already.
        episodes_per_worker: groups that an actor plays at once, in threads: for policies that wait for a model.
        cpus_per_worker, resources: what an actor asks Ray for.
        attempts: how often a group may fail before it is given up.
        group_seconds: how long a group may take; None for as long as it wants.
        start_seconds: how long an actor may take to begin.
        given_up: so many groups may be given up before the run is.
        runtime_env: Ray's description of the actors' environment, e.g. ``{"pip": ["sregym-env"]}`` or ``{"env_vars": ...}``.
        worker: the actors' class.

    Raises UsageError for arguments that make no sense and RunError where there is no such cluster or it has no room.
    """

    def __init__(
        self,
        workers: int,
        *,
        address: str | None = None,
        episodes_per_worker: int = 1,
        cpus_per_worker: float = 1.0,
        resources: Mapping[str, float] | None = None,
        attempts: int = ATTEMPTS,
        group_seconds: float | None = GROUP_SECONDS,
        start_seconds: float = START_SECONDS,
        given_up: int = GIVEN_UP,
        runtime_env: Mapping[str, Any] | None = None,
        worker: type[Worker] = Worker,
    ) -> None:
        if workers < 1 or episodes_per_worker < 1:
            raise UsageError("workers and episodes_per_worker must be at least 1")
        self._limits: dict[str, Any] = {
            "attempts": attempts,
            "group_seconds": group_seconds,
            "given_up": given_up,
        }
        self._began = _connect(address, cpus=max(workers * cpus_per_worker, os.cpu_count() or 1))
        options = {
            "num_cpus": cpus_per_worker,
            "resources": dict(resources or {}),
            "runtime_env": dict(runtime_env or {}),
            "max_concurrency": episodes_per_worker,
            "max_restarts": 0,
            "max_task_retries": 0,
            "scheduling_strategy": "SPREAD",
        }
        try:
            self._crew = _Actors(
                workers, episodes_per_worker, ray.remote(worker).options(**options), options, start_seconds
            )
            self._crew.await_first()
        except BaseException:  # also who interrupts leaves no workers behind
            self.close()
            raise

    def map_unordered(self, plan: RunPlan, groups: Sequence[Group] | None = None) -> Iterator[GroupResult]:
        """The results of a plan's groups, or of some of them, as they are done.

        Every group comes once: played, or given up with the reason. A group is played again if its worker died or did
        not finish in time, and if it raised something else than an error of this package. One map at a time. Raises
        RunError where no worker can be had or too many groups are given up, and UsageError where the plan makes no
        sense.
        """
        self._crew.plan = plan.without_groups()
        return drive(self._crew, plan.groups if groups is None else groups, **self._limits)

    def map(self, plan: RunPlan, groups: Sequence[Group] | None = None) -> Iterator[GroupResult]:
        """The same in the order of the groups."""
        chosen = plan.groups if groups is None else groups
        return in_order(self.map_unordered(plan, chosen), chosen)

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the workers that are ready, on their machines."""
        return self._crew.pids

    def close(self) -> None:
        """End the workers, and the cluster if the pool began it."""
        crew = getattr(self, "_crew", None)
        if crew is not None:
            crew.end()
        if self._began:
            self._began = False
            ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Actors:
    """The crew of a pool."""

    def __init__(
        self,
        workers: int,
        places: int,
        make: Any,
        options: Mapping[str, Any],
        start_seconds: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.places = places
        self.plan: RunPlan | None = None
        self._make = make
        self._asks = {name: options[name] for name in ("num_cpus", "resources")}
        self._start_seconds = start_seconds
        self._clock = clock
        self._numbers = count()
        self._hands: dict[int, _Hand] = {}
        self._starting: dict[Any, int] = {}
        """Workers by the promise that they are ready."""
        self._playing: dict[Any, tuple[int, int]] = {}
        """(worker, index) by the promise of a result."""
        self._stillborn = 0
        """Workers that could not start since one last could."""
        for _ in range(workers):
            self._hire()

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(hand.pid for hand in self._hands.values() if hand.pid is not None)

    def ready(self) -> Sequence[int]:
        return [worker for worker, hand in self._hands.items() if hand.pid is not None]

    def start(self, worker: int, job: Job) -> None:
        promise = self._hands[worker].actor.play.remote(worker, self.plan, job.group)
        self._playing[promise] = (worker, job.group.index)

    def await_first(self) -> None:
        """Wait until a worker is ready. Raises RunError where none becomes so in time."""
        while not self.ready():
            self.wait(None)

    def wait(self, seconds: float | None) -> list[Told]:
        """What has happened; also lets workers begin, and says so where none ever does."""
        patience = self._patience()
        limits = [each for each in (seconds, patience) if each is not None]
        promises = [*self._starting, *self._playing]
        done, _ = ray.wait(promises, num_returns=1, timeout=min(limits, default=None))
        # All that is done, not only the first.
        done, _ = ray.wait(promises, num_returns=len(promises), timeout=0)
        told: list[Told] = []
        for promise in done:
            told += self._begun(promise) if promise in self._starting else self._result(promise)
        if not done and patience is not None and self._patience() == 0:
            raise RunError(self._no_room())
        return told

    def stop(self, worker: int) -> None:
        self._dismiss(worker)
        self._hire()

    def last(self) -> Sequence[Told]:
        """Nothing: a worker can be ended."""
        return ()

    def abandon(self) -> None:
        for worker in {worker for worker, _ in self._playing.values()}:
            self.stop(worker)

    def end(self) -> None:
        """End every worker."""
        for worker in list(self._hands):
            self._dismiss(worker)

    def _hire(self) -> None:
        worker = next(self._numbers)
        actor = self._make.remote()
        self._hands[worker] = _Hand(actor, self._clock())
        self._starting[actor.ready.remote()] = worker

    def _dismiss(self, worker: int) -> None:
        hand = self._hands.pop(worker)
        self._starting = {promise: each for promise, each in self._starting.items() if each != worker}
        self._playing = {promise: each for promise, each in self._playing.items() if each[0] != worker}
        if ray.is_initialized():
            ray.kill(hand.actor)

    def _begun(self, promise: Any) -> list[Told]:
        worker = self._starting.pop(promise)
        try:
            self._hands[worker].pid = ray.get(promise)
        except RayError as error:
            # Its machine may be gone; but what fails again and again is wrong with all of them.
            self._stillborn += 1
            if self._stillborn >= STILLBORN:
                raise RunError(f"{STILLBORN} workers in a row could not start: {_short(error)}") from error
            self.stop(worker)
        else:
            self._stillborn = 0
        return []

    def _result(self, promise: Any) -> list[Told]:
        if promise not in self._playing:
            return []  # of a worker that was found dead just now
        worker, index = self._playing.pop(promise)
        try:
            told: Finished | Raised | UsageError = ray.get(promise)
        except RayTaskError as error:
            return [Raised(worker, index, _short(error.cause), again=True)]
        except RayError as error:
            self.stop(worker)
            return [Died(worker, _short(error))]
        if isinstance(told, UsageError):
            raise told
        return [told]

    def _patience(self) -> float | None:
        """Seconds until it must be said that no worker begins; None where one is there, or none is awaited."""
        if not self._starting or self.ready():
            return None
        first = min(self._hands[worker].since for worker in self._starting.values())
        return max(0.0, first + self._start_seconds - self._clock())

    def _no_room(self) -> str:
        asked = ", ".join(f"{amount:g} {name}" for name, amount in _flat(self._asks).items())
        there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        free: dict[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
        shown = ", ".join(
            f"{free.get(name, 0):g} of {amount:g} {name}"
            for name, amount in there.items()
            # Not those that stand for nodes, nor memory.
            if "node:" not in name and "memory" not in name
        )
        return (
            f"no worker has begun in {self._start_seconds:g} s: each asks for {asked}; free in the cluster: {shown}; "
            "ask for less (cpus_per_worker, resources), or wait longer (start_seconds)"
        )


def _connect(address: str | None, cpus: float) -> bool:
    """Connect to Ray if that is not done; whether a cluster was begun, which must be ended."""
    if ray.is_initialized():
        if address not in (None, "auto"):
            raise UsageError("Ray is connected already; leave address out, or call ray.shutdown() first")
        return False
    quiet: dict[str, Any] = {
        "include_dashboard": False,
        "log_to_driver": False,
        "logging_level": logging.ERROR,
    }
    # Ray's own variable; without it, None is a cluster of this process alone.
    address = address or os.environ.get("RAY_ADDRESS")
    if address is None:
        ray.init("local", num_cpus=int(-(-cpus // 1)), object_store_memory=STORE_BYTES, **quiet)
        return True
    _demand_reachable(address)
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise RunError(f"no Ray cluster at {address}: {_short(error)}") from error
    return True


def _demand_reachable(address: str) -> None:
    """Ray itself would try for minutes."""
    host, sign, port = address.removeprefix("ray://").rpartition(":")
    if not sign or not port.isdecimal():
        return
    try:
        create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise RunError(f"no Ray cluster at {address}: {error}") from error


def _flat(asked: Mapping[str, Any]) -> dict[str, float]:
    return {"CPU": asked["num_cpus"], **asked["resources"]}


def _short(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"
