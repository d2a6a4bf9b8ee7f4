"""The states of the world in which command lines are typed.

Healthy; every declared fault with its symptoms showing; clusters in the middle of something; noise.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from sregym_env import noise
from sregym_env.apps.hotel_reservation import APP
from sregym_env.envs.pairs import pairs
from sregym_env.envs.staging import await_symptoms, inject
from sregym_env.faults.registry import declarations
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines import nodes
from sregym_env.tools.kubectl import Kubectl
from tests.parity.corpus.diagnosing import diagnosis
from tests.parity.corpus.files import FILES
from tests.parity.corpus.kustomizations import KUSTOMIZING
from tests.parity.corpus.owning import OWNING
from tests.parity.corpus.reading import READING
from tests.parity.corpus.situations import SITUATIONS, Situation
from tests.parity.corpus.widening import WIDENING
from tests.parity.corpus.writing import WRITING
from tests.parity.harness import Case
from tests.serve.serving import NAMESPACE

_KUSTOMIZED = (
    *(Case(line) for line in KUSTOMIZING),
    *(
        Case(line, ("apply -k k/t11",))
        for line in (
            "get -k k/t11",
            "delete -k k/t11",
            "diff -k k/t11",
            "apply -k k/t11",
            "describe -k k/t11",
        )
    ),
)


@dataclass(frozen=True)
class State:
    """A world and what is typed in it."""

    name: str
    make: Callable[[], EmbeddedWorld]
    cases: Callable[[EmbeddedWorld], Sequence[Case]]


class MemoryFiles:
    """The corpus' manifests, for commands that prepare a situation."""

    def read_text(self, path: str) -> str:
        """Content of a file."""
        if path not in FILES:
            raise FileNotFoundError(path)
        return FILES[path]

    def list_files(self, path: str) -> Sequence[str]:
        """Paths of the files directly in a directory."""
        return [name for name in sorted(FILES) if name.rpartition("/")[0] == path]


def _at_whole_second(world: EmbeddedWorld) -> EmbeddedWorld:
    """Ages are whole seconds: the next begins at once, so that both sides compute the same."""
    world.run_until(world.now() + 1_000_000 - world.now() % 1_000_000)
    return world


def _healthy() -> EmbeddedWorld:
    return _at_whole_second(deployed_world(APP))


def _faulty(fault: str) -> Callable[[], EmbeddedWorld]:
    def make() -> EmbeddedWorld:
        injected = inject(pairs(APP.name, fault)[0], 0)
        await_symptoms(injected.world, injected.baseline, "proactive")
        return _at_whole_second(cast(EmbeddedWorld, injected.world))

    return make


def _situated(situation: Situation) -> Callable[[], EmbeddedWorld]:
    def make() -> EmbeddedWorld:
        world = _healthy()
        for line in situation.commands:
            done = Kubectl(world.cluster, NAMESPACE).run(shlex.split(line), "", MemoryFiles())
            assert done.exit_code == 0, f"{situation.name}: {line}: {done.stderr}"
            world.advance(situation.pause)
        for node in situation.down:
            nodes.stop(world, node)
        world.advance(situation.seconds)
        return _at_whole_second(world)

    return make


def _noisy(kind: str) -> Callable[[], EmbeddedWorld]:
    def make() -> EmbeddedWorld:
        world = _healthy()
        action = noise.KINDS[kind](NAMESPACE, 120.0, 0.4)
        world.schedule(1.0, action)
        world.advance(20.0)
        return _at_whole_second(world)

    return make


@cache
def states() -> tuple[State, ...]:
    """Every state, in the order in which they are reported."""
    found: list[State] = [
        State("healthy", _healthy, _fixed([Case(line) for line in READING])),
        State("healthy-wide", _healthy, _fixed(WIDENING)),
        State("healthy-written", _healthy, _fixed(WRITING)),
        State("healthy-kustomized", _healthy, _fixed(_KUSTOMIZED)),
        State("healthy-owned", _healthy, _fixed(OWNING)),
    ]
    found += [State(f"fault-{each.name}", _faulty(each.name), diagnosis) for each in declarations()]
    found += [State(f"situation-{each.name}", _situated(each), _extended(each.lines)) for each in SITUATIONS]
    found += [State(f"noise-{kind}", _noisy(kind), diagnosis) for kind in noise.KINDS]
    return tuple(found)


def _fixed(cases: Sequence[Case]) -> Callable[[Any], Sequence[Case]]:
    return lambda _world: cases


def _extended(lines: Sequence[str]) -> Callable[[EmbeddedWorld], Sequence[Case]]:
    return lambda world: [*diagnosis(world), *(Case(line) for line in lines)]


def state(name: str) -> State:
    """The state of that name."""
    return next(each for each in states() if each.name == name)
