"""The states of the world in which command lines are typed.

Healthy; a small cluster of its own; every declared fault with its symptoms showing; clusters in the middle of something; noise.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from sregym_env import noise
from sregym_env.apps.hotel_reservation import APP
from sregym_env.envs.injection import await_symptoms, inject
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.faults.registry import declarations
from sregym_env.sim.bringup.deploy import bare_cluster, deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines import nodes
from sregym_env.tools.kubectl import Kubectl
from tests.parity.corpus.diagnosing import diagnosis
from tests.parity.corpus.files import FILES
from tests.parity.corpus.imperative import IMPERATIVE, IMPERATIVE_FILES, SETUP
from tests.parity.corpus.kustomizations import KUSTOMIZING
from tests.parity.corpus.owning import OWNING
from tests.parity.corpus.reading import READING
from tests.parity.corpus.situations import SITUATIONS, Situation
from tests.parity.corpus.streams import STREAM_FILES, STREAMS
from tests.parity.corpus.widening import WIDENING
from tests.parity.corpus.writing import WRITING
from tests.parity.harness import Bench, Case
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
    lines: Sequence[Case] = ()
    """What is typed there, whatever the world looks like."""
    diagnosed: bool = False
    """Whether lines that are looked up in the world itself are typed as well."""
    files: Mapping[str, str] = field(default_factory=lambda: FILES)
    """The working directory."""
    how: Mapping[str, Any] = field(default_factory=dict)
    """How the lines are typed, where it is not as usual (see Bench)."""

    def cases(self, world: EmbeddedWorld) -> Sequence[Case]:
        """All that is typed in such a world."""
        return [*(diagnosis(world) if self.diagnosed else ()), *self.lines]

    def bench(self, home: Path) -> Bench:
        """A place to type the lines at, files included."""
        bench = Bench(home, **self.how)
        bench.write(self.files)
        return bench


class MemoryFiles:
    """Manifests for commands that prepare a state."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def read_text(self, path: str) -> str:
        """Content of a file."""
        if path not in self._files:
            raise FileNotFoundError(path)
        return self._files[path]

    def list_files(self, path: str) -> Sequence[str]:
        """Paths of the files directly in a directory."""
        return [name for name in sorted(self._files) if name.rpartition("/")[0] == path]


def _at_whole_second(world: EmbeddedWorld) -> EmbeddedWorld:
    """Ages are whole seconds: the next begins at once, so that both sides compute the same."""
    world.run_until(world.now() + 1_000_000 - world.now() % 1_000_000)
    return world


def _healthy() -> EmbeddedWorld:
    return _at_whole_second(deployed_world(APP))


def _small() -> EmbeddedWorld:
    world = bare_cluster()
    for step in SETUP:
        if isinstance(step, int):
            world.advance(step)
        else:
            done = Kubectl(world.cluster).run(shlex.split(step), "", MemoryFiles(IMPERATIVE_FILES))
            assert done.exit_code == 0, f"{step}: {done.stderr}"
    return _at_whole_second(world)


ELSEWHERE = frozenset(
    (
        "edge_request_filter_cpu_saturation",
        "env_variable_shadowing",
        "incorrect_port_assignment",
        "kafka_producer_leak",
        "kubelet_does_not_run",
        "kubelet_eviction_threshold",
        "liveness_probe_too_aggressive",
        "missing_env_variable",
        "mtu_blackhole_by_payload_size",
        "one_slow_node_gray_failure",
        "pool_times_replicas_exceeds_server",
        "postgres_lock_contention",
        "schema_contract_before_drain",
        "served_feature_flag",
        "valkey_auth_disruption",
        "valkey_memory_disruption",
    )
)
"""Faults that have no target in the application of the recordings; or without a metrics API there, which real clients do not even ask."""


def _faulty(fault: str) -> Callable[[], EmbeddedWorld]:
    def make() -> EmbeddedWorld:
        # The published world: what real tools printed was recorded in it.
        problem = pairs(APP.name, fault)[0].model_copy(update={"variation": False})
        injected = await_symptoms(inject(problem, 0), problem, 0, "proactive")
        return _at_whole_second(cast(EmbeddedWorld, injected.world))

    return make


def _situated(situation: Situation) -> Callable[[], EmbeddedWorld]:
    def make() -> EmbeddedWorld:
        world = _healthy()
        for line in situation.commands:
            done = Kubectl(world.cluster, NAMESPACE).run(shlex.split(line), "", MemoryFiles(FILES))
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
    return (
        State("healthy", _healthy, [Case(line) for line in READING]),
        State("healthy-wide", _healthy, WIDENING),
        State("healthy-written", _healthy, WRITING),
        State("healthy-kustomized", _healthy, _KUSTOMIZED),
        State("healthy-owned", _healthy, OWNING),
        State(
            "healthy-streams", _healthy, STREAMS, files=STREAM_FILES, how={"settling": 5.0, "streams": True}
        ),
        State("small-imperative", _small, IMPERATIVE, files=IMPERATIVE_FILES, how={"namespace": "default"}),
        *(
            State(f"fault-{each.name}", _faulty(each.name), diagnosed=True)
            for each in declarations()
            if each.name not in ELSEWHERE
        ),
        *(
            State(f"situation-{each.name}", _situated(each), [Case(line) for line in each.lines], True)
            for each in SITUATIONS
        ),
        *(State(f"noise-{kind}", _noisy(kind), diagnosed=True) for kind in noise.KINDS),
    )


def state(name: str) -> State:
    """The state of that name."""
    return next(each for each in states() if each.name == name)
