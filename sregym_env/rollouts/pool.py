"""Playing the groups of a plan: one group in this process, and many by whatever plays them.

:func:`drive` hands the groups of a plan to a :class:`Crew` and yields what comes back. Crews differ in where they play
(:class:`Here` in this process, :mod:`sregym_env.rollouts.ray` on a cluster); what is lost, repeated or given up is
decided here and in the :class:`~sregym_env.rollouts.ledger.Ledger`, the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, as_completed, wait
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import Protocol

from sregym_env.envs.arguments import whole
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import SREGymError, UsageError
from sregym_env.rollouts.ledger import ATTEMPTS, GIVEN_UP, GivenUp, Job, Ledger
from sregym_env.rollouts.plan import Group, RunPlan, member_seed
from sregym_env.rollouts.policies import Policy, policy
from sregym_env.rollouts.runner import Place, Rollout, play_opened

# --- one group ------------------------------------------------------------------------------------


class Player:
    """Plays groups of one plan, one at a time."""

    def __init__(self, plan: RunPlan) -> None:
        """Raises UsageError for an environment or a policy that cannot be made."""
        self._plan = plan
        self._env = SREGymEnv(**plan.env)
        self._policy()

    def play(self, group: Group) -> tuple[Rollout, ...]:
        """Its episodes. One reset serves all: the members are forks of it, and differ by the policy's seed."""
        plan = self._plan
        opened = self._env.reset(seed=group.seed, options={"problem": group.problem})
        played = []
        for sample in range(group.samples):
            observation, info = opened
            played.append(
                play_opened(
                    # Nobody plays in the one that is forked before the last.
                    self._env if sample == group.samples - 1 else self._env.fork(),
                    self._policy(),
                    (observation, dict(info)),
                    seed=group.seed,
                    policy_seed=member_seed(group.seed, sample),
                    budgets=plan.budgets,
                    place=Place(plan.run_id, group.group_id, sample),
                    digests=plan.digests,
                    timing=plan.timing,
                )
            )
        return tuple(played)

    def _policy(self) -> Policy:
        # Anew for every episode: nothing that one has seen may show in another, whoever plays which.
        return policy(self._plan.policy.name, self._plan.policy.options)


def play_group(plan: RunPlan, group: Group) -> tuple[Rollout, ...]:
    """The episodes of a group. The same wherever, whenever and however often it is played."""
    return Player(plan).play(group)


# --- what crews tell ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finished:
    """A group has been played."""

    worker: int
    index: int
    rollouts: tuple[Rollout, ...]


@dataclass(frozen=True, slots=True)
class Raised:
    """A group could not be played; the worker goes on."""

    worker: int
    index: int
    error: str
    again: bool
    """Whether another time may go better."""


@dataclass(frozen=True, slots=True)
class Died:
    """A worker is gone."""

    worker: int
    error: str


Told = Finished | Raised | Died


class Crew(Protocol):
    """Workers that play groups; each has a number that is never used again."""

    @property
    def places(self) -> int:
        """How many groups a worker plays at once."""
        ...

    def ready(self) -> Sequence[int]:
        """The workers that can begin something."""
        ...

    def start(self, worker: int, job: Job) -> None:
        """Let a worker begin a group; returns at once."""
        ...

    def wait(self, seconds: float | None) -> list[Told]:
        """What has happened; waits until something has, but no longer than so many seconds.

        Raises :class:`~sregym_env.rollouts.ledger.RunError` where nothing can happen any more.
        """
        ...

    def stop(self, worker: int) -> None:
        """End a worker at once, and make another one in its place; nothing is told of it any more."""
        ...

    def last(self) -> Iterable[Told]:
        """What comes to its end although nobody plays on, because nothing can end it: as it does."""
        ...

    def abandon(self) -> None:
        """Be ready for other groups: end what is being played."""
        ...


# --- many groups ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupResult:
    """What came of a group."""

    group: Group
    rollouts: tuple[Rollout, ...]
    """Empty where it was given up."""
    attempt: int
    """Which attempt it was, from 0; records do not tell, so that they are the same however often workers die."""
    error: str | None = None
    """Why it was given up."""

    @property
    def index(self) -> int:
        """Its number in the plan."""
        return self.group.index


def drive(
    crew: Crew,
    groups: Iterable[Group],
    *,
    attempts: int = ATTEMPTS,
    group_seconds: float | None = None,
    given_up: int = GIVEN_UP,
    clock: Callable[[], float] = monotonic,
) -> Iterator[GroupResult]:
    """Every group once, as it is done or given up, in no order.

    Raises RunError where the crew cannot play, or ``given_up`` groups could not be played. Interrupted, it yields what cannot
    be ended before it raises KeyboardInterrupt; interrupted again meanwhile, it raises at once.
    """
    ledger = Ledger(
        groups, places=crew.places, attempts=attempts, group_seconds=group_seconds, given_up=given_up
    )
    try:
        while ledger.open:
            _assign(crew, ledger, clock)
            results = [
                result
                for told in crew.wait(ledger.patience(clock()))
                if (result := _heard(ledger, told)) is not None
            ]
            # Only after what is done has been heard: whoever asks for results late finds no worker hung.
            results += _end_overdue(crew, ledger, clock(), group_seconds)
            _assign(crew, ledger, clock)
            yield from results
    except KeyboardInterrupt:
        # It has been waited for, and a model's answers have been paid for: it is kept.
        for told in crew.last():
            if (result := _heard(ledger, told)) is not None:
                yield result
        raise
    finally:
        if ledger.flying:
            crew.abandon()


def in_order(results: Iterable[GroupResult], groups: Sequence[Group]) -> Iterator[GroupResult]:
    """Results in the order of the groups; those that come early wait."""
    early: dict[int, GroupResult] = {}
    due = iter(groups)
    wanted = next(due, None)
    for result in results:
        early[result.index] = result
        while wanted is not None and wanted.index in early:
            yield early.pop(wanted.index)
            wanted = next(due, None)


def _assign(crew: Crew, ledger: Ledger, clock: Callable[[], float]) -> None:
    # Round by round, so that the last groups of a run are spread over the workers.
    begun = True
    while begun:
        begun = False
        for worker in crew.ready():
            if (job := ledger.next(worker, clock())) is not None:
                crew.start(worker, job)
                begun = True


def _heard(ledger: Ledger, told: Told) -> GroupResult | None:
    match told:
        case Finished(worker, index, rollouts):
            job = ledger.finished(worker, index)
            return GroupResult(job.group, rollouts, job.attempt)
        case Raised(worker, index, error, again):
            return _given_up(ledger.raised(worker, index, error, again=again))
        case Died(worker, error):
            return _given_up(ledger.died(worker, error))


def _end_overdue(crew: Crew, ledger: Ledger, now: float, seconds: float | None) -> list[GroupResult]:
    results = []
    for worker in ledger.overdue(now):
        crew.stop(worker)
        for gone in ledger.stopped(worker, now, f"not done in {seconds:g} s"):
            results.append(GroupResult(gone.group, (), gone.attempt, gone.error))
    return results


def _given_up(gone: GivenUp | None) -> GroupResult | None:
    return None if gone is None else GroupResult(gone.group, (), gone.attempt, gone.error)


# --- in this process ------------------------------------------------------------------------------


def tried(worker: int, player: Callable[[], Player], group: Group) -> Finished | Raised:
    """Play a group; what it raises is told. Raises UsageError: what makes no sense once never does."""
    try:
        return Finished(worker, group.index, player().play(group))
    except UsageError:
        raise
    except SREGymError as error:
        return Raised(worker, group.index, f"{type(error).__name__}: {error}", again=False)
    except Exception as error:  # a defect of a policy or of ours: the other groups go on
        return Raised(worker, group.index, f"{type(error).__name__}: {error}", again=True)


class Here:
    """This process as the only worker: one group after the other, or several in threads.

    Threads are for policies that wait for a model. What hangs here hangs: only a worker that is another process can be
    ended.
    """

    def __init__(self, plan: RunPlan, places: int = 1) -> None:
        self.places = places
        self._plan = plan
        self._players: list[Player] = []
        """Who does not play now: each has an environment, which is used again."""
        self._waiting: list[Job] = []
        self._running: set[Future[Finished | Raised]] = set()

    def ready(self) -> Sequence[int]:
        """Always: the ledger knows how many places are free."""
        return (0,)

    def start(self, worker: int, job: Job) -> None:
        """Note it, or give it to a thread."""
        if self.places == 1:
            self._waiting.append(job)
            return
        future: Future[Finished | Raised] = Future()
        self._running.add(future)
        # Nobody waits for it at the end of the program: whoever interrupts a second time wants to be gone.
        Thread(target=self._settle, args=(future, worker, job), name="sregym-rollouts", daemon=True).start()

    def wait(self, seconds: float | None) -> list[Told]:
        """Play what was noted, or wait for a thread."""
        told: list[Told] = [self._tried(0, job) for job in self._waiting]
        self._waiting.clear()
        if self._running:
            done, self._running = wait(self._running, seconds, FIRST_COMPLETED)
            told += [future.result() for future in done]
        return told

    def stop(self, worker: int) -> None:
        """Nothing in this process can be ended from outside."""
        raise UsageError("a group in this process has no deadline; use workers for that")

    def last(self) -> Iterable[Told]:
        """What threads are playing; an interrupt meanwhile leaves them."""
        running, self._running = self._running, set()
        for future in as_completed(running):
            yield future.result()

    def abandon(self) -> None:
        """Forget what waits, and let running threads come to their ends."""
        self._waiting.clear()
        wait(self._running)

    def _settle(self, future: Future[Finished | Raised], worker: int, job: Job) -> None:
        try:
            future.set_result(self._tried(worker, job))
        except BaseException as error:  # whoever waits for it raises it
            future.set_exception(error)

    def _tried(self, worker: int, job: Job) -> Finished | Raised:
        taken: list[Player] = []

        def player() -> Player:
            try:
                taken.append(self._players.pop())
            except IndexError:  # all play
                taken.append(Player(self._plan))
            return taken[0]

        try:
            return tried(worker, player, job.group)
        finally:
            self._players += taken


class LocalPool:
    """Plays plans in this process, with the face of :class:`~sregym_env.rollouts.ray.RolloutPool` and without Ray."""

    def __init__(self, concurrency: int = 1, *, attempts: int = ATTEMPTS, given_up: int = GIVEN_UP) -> None:
        """``concurrency``: groups at once, in threads."""
        concurrency = whole("concurrency", concurrency, 1)
        self._concurrency = concurrency
        self._attempts = attempts
        self._given_up = given_up

    def map_unordered(self, plan: RunPlan, groups: Sequence[Group] | None = None) -> Iterator[GroupResult]:
        """The results of a plan's groups, or of some of them, as they are done."""
        crew = Here(plan.without_groups(), self._concurrency)
        chosen = plan.groups if groups is None else groups
        return drive(crew, chosen, attempts=self._attempts, given_up=self._given_up)

    def map(self, plan: RunPlan, groups: Sequence[Group] | None = None) -> Iterator[GroupResult]:
        """The same in the order of the groups."""
        chosen = plan.groups if groups is None else groups
        return in_order(self.map_unordered(plan, chosen), chosen)


class Pool(Protocol):
    """What plays plans."""

    def map_unordered(self, plan: RunPlan, groups: Sequence[Group] | None = None) -> Iterator[GroupResult]:
        """The results of a plan's groups, or of some of them, as they are done."""
        ...
