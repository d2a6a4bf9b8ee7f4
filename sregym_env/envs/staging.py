"""Setting the stage: the world of a problem and a seed at the moment the agent is called.

Every problem and seed has a world of its own. It is kept for a while and forked for each member of a group; a world
that cannot be forked is staged for one episode and, when that is done with, :func:`cleared`. Of a published world
(``variation`` off) there are a few variants, of which the seed picks one.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from threading import Lock
from typing import Any

from sregym_env import noise
from sregym_env.cluster.api import World
from sregym_env.cluster.deploy import Backend
from sregym_env.cluster.forkable import demanded, forkable
from sregym_env.cluster.oncall import ONCALL
from sregym_env.envs.briefing import Mode
from sregym_env.envs.injection import await_symptoms, demand_suffering, inject, key_of, noise_seed, spared
from sregym_env.envs.staged import Solution, Staged
from sregym_env.errors import ClusterError, ProblemError
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.onset import Onset, remedies
from sregym_env.faults.problems import Problem
from sregym_env.runtime import garbage
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.bringup.deploy import VARIANTS
from sregym_env.tools.workstation import Workstation

KEPT = 64
"""Staged problems kept per process."""

ATTEMPTS = 3
"""How often a world is drawn for a problem and a seed, at most."""

_PUBLISHED_SEED = -1000 * VARIANTS
"""Published worlds are staged with seeds that no episode has, so that no episode draws the same identifiers again."""


def solution(instance: FaultInstance, onset: Onset) -> Solution:
    """How an engineer who knows the answer plays a fault."""
    return Solution(instance.investigation, instance.spec.root_cause, remedies(instance, onset))


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault that has come."""

    instance: FaultInstance
    onset: Onset

    def heal(self, world: World) -> None:
        """Take it back."""
        self.instance.heal(world, self.onset.changes)


_Key = tuple[str, int, Mode, int | None]
_staged: OrderedDict[_Key, Staged] = OrderedDict()
_keeping = Lock()


def stage(
    problem: Problem,
    seed: int,
    *,
    mode: Mode = "proactive",
    backend: Backend | None = None,
    salt: str = "",
    present: int | None = None,
) -> Staged:
    """The problem set up for one episode: a world of its own with the symptoms showing.

    Without a backend it is a world of the embedded cluster, whose clock is set from ``present`` (microseconds since
    1970) if that is given: the instant from which the last hours before the episode are lived. ``salt`` goes into its
    opaque names.
    """
    own: dict[str, Any] = {}
    text = problem.model_dump_json()
    if backend is None:
        staged, world = _forked(problem, seed, mode, present)
        own = {"world": world, "workstation": staged.workstation.fork(world)}
    else:
        staged = _stage(problem, seed, mode, backend)
        own = {"workstation": staged.workstation}
    own["workstation"].seed = keyed_bits("random", key_of(problem, seed))
    return replace(
        staged,
        **own,
        task_id=_opaque(salt, text),
        episode_id=_opaque(salt, text, str(seed), mode),
        problem_json=problem.model_dump(mode="json"),
    )


def cleared(staged: Staged) -> None:
    """Take the faults and the noise out of a world that others will use; one that can be forked is simply dropped."""
    world = staged.world
    if forkable(world) is not None:
        return
    if isinstance(world, noise.DrivenWorld):
        world.quiet()
    for injection in reversed(staged.injections):
        # What an agent did to the application may stand in the way; that is deployed anew anyway.
        with suppress(ClusterError):
            injection.heal(world)


def _forked(problem: Problem, seed: int, mode: Mode, present: int | None) -> tuple[Staged, World]:
    """What was staged for the problem and the seed, now if it is not kept, and a fork of its world."""
    # Noise belongs to the episode, so one staged world serves episodes with and without it.
    quiet = problem.model_copy(update={"noise": False}) if problem.noise is not False else problem
    staged_with = seed if quiet.variation else _PUBLISHED_SEED + seed % VARIANTS
    key = (quiet.model_dump_json(), staged_with, mode, present)
    # Staged outside the lock: two threads may do it twice, with equal results, but none waits for the other.
    known = _recall(key) or _keep(key, _stage(quiet, staged_with, mode, present=present))
    world = demanded(known.world).fork()
    world.reseed(Chance(("play", key_of(quiet, seed))).bits("seed") >> 1 if quiet.variation else seed)
    if problem.noise_on:
        noise.schedule(world, noise_seed(problem, seed), problem.noise, known.spared)
    return known, world


def forget() -> None:
    """Drop the staged problems that are kept for further members of their groups."""
    with _keeping:
        _staged.clear()


def _recall(key: _Key) -> Staged | None:
    with _keeping:
        known = _staged.get(key)
        if known is not None:
            _staged.move_to_end(key)
        return known


def _keep(key: _Key, made: Staged) -> Staged:
    """Keep what was staged, as forks that nobody ever plays in: other threads fork them at the same time."""
    world = demanded(made.world).fork()
    made = replace(made, world=world, workstation=made.workstation.fork(world))
    with _keeping:
        _staged[key] = made
        while len(_staged) > KEPT:
            _staged.popitem(last=False)
    return made


def _stage(
    problem: Problem, seed: int, mode: Mode, backend: Backend | None = None, present: int | None = None
) -> Staged:
    """A problem in a world of its own, not named for an episode yet.

    A drawn world that does not serve its users, that lacks what a fault strikes, or in which nobody notices the
    faults, is drawn anew.
    """
    if backend is not None:
        return _attempt(problem, seed, mode, backend, 0, present)
    last = ATTEMPTS - 1 if problem.variation else 0
    with garbage.deferred():
        for attempt in range(last):
            with suppress(ProblemError):
                return _attempt(problem, seed, mode, None, attempt, present)
        return _attempt(problem, seed, mode, None, last, present)


def _attempt(
    problem: Problem, seed: int, mode: Mode, backend: Backend | None, attempt: int, present: int | None
) -> Staged:
    injected = inject(problem, seed, backend, attempt=attempt, present=present)
    world = injected.world
    staged = Staged(
        task_id="",
        episode_id="",
        app=world.app,
        world=world,
        baseline=injected.baseline,
        specs=tuple(instance.spec for instance in injected.instances),
        causes=injected.instances,
        solutions=tuple(map(solution, injected.instances, injected.onsets)),
        problem_json=problem.model_dump(mode="json"),
        workstation=Workstation(world, ONCALL),
        spared=spared(injected.instances),
        injections=() if forkable(world) else tuple(map(Injection, injected.instances, injected.onsets)),
    )
    try:
        injected = await_symptoms(injected, problem, seed, mode, attempt=attempt)
        demand_suffering(problem, world, injected.baseline, injected.instances)
    # A cluster that goes on must not keep the faults of an episode that never began.
    except Exception:
        cleared(staged)
        raise
    # Innocent changes may have been declared meanwhile.
    return replace(staged, app=world.app, baseline=injected.baseline)


def _opaque(salt: str, *parts: str) -> str:
    """A name that is the same for the same parts; who does not know the salt cannot tell what they are."""
    key = blake2b(salt.encode(), digest_size=16).digest() if salt else b""
    return blake2b("\x1f".join(parts).encode(), digest_size=6, key=key).hexdigest()
