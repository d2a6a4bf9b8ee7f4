"""Recordings depend on the objects in them and on nothing that a simulation does, and what is recorded plays the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sregym_env.runtime.streams import Streams
from sregym_env.sim import apiserver
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines import attaching, container_logs
from sregym_env.sim.monitoring import metrics
from sregym_env.sim.programs import exec as programs_exec
from tests.parity import recording
from tests.parity.harness import Case, InProcess
from tests.parity.known import reason
from tests.parity.playing import played, recorded
from tests.parity.recording import Recording, load, save, share
from tests.parity.seam import Heard
from tests.parity.standing import Replay, Unanswered, moment_of, standing_world
from tests.parity.states import state
from tests.serve.serving import NAMESPACE

VARIED = (
    Case("get pods -o yaml"),
    Case("describe node sre-worker"),
    Case("top pods"),
    Case("top nodes"),
    Case("get cs"),
    Case("logs deploy/frontend --tail=3"),
    Case("logs nothing"),
    Case("exec deploy/mongodb-geo -- sh -c 'echo out; exit 3'"),
    Case("version"),
    Case("auth can-i delete pods --as=nobody"),
    Case("get pods --as=nobody"),
    Case("create -f web.yaml -o yaml"),
    Case("create -f bad.yaml"),
    Case("apply -f web.yaml", ("create -f web.yaml",)),
    Case("rollout status deploy/web", ("create -f web.yaml", "set image deploy/web web=nginx:1.27")),
    Case("delete deploy web --cascade=foreground", ("create -f web.yaml",)),
    Case("delete pods -l io.kompose.service=geo"),
    Case("drain sre-worker --ignore-daemonsets --delete-emptydir-data --force"),
    Case("run tmp --rm -i --restart=Never --image=busybox -- sh -c 'echo one; sleep 2; echo two'"),
    Case("get nodes -o yaml", ("cordon sre-worker",)),
)
"""Lines of every kind: answered from objects, from what was said, and over time."""


def test_no_recorded_line_asks_the_simulation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def gone(*_: Any, **__: Any) -> Any:
        raise AssertionError("a recorded line was answered by the simulation")

    for module, names in (
        (apiserver, ("create", "update", "delete")),
        (container_logs, ("read",)),
        (programs_exec, ("run",)),
        (attaching, ("attach", "forward")),
        (metrics, ("pod_metrics", "node_metrics")),
        (EmbeddedWorld, ("run_until", "advance", "settle")),
        (Streams, ("bits",)),
    ):
        for name in names:
            monkeypatch.setattr(module, name, gone)
    for name in ("healthy-streams", "situation-autoscaled", "situation-drained", "situation-jobs"):
        for each in played(load(name), state(name).bench(tmp_path)):
            assert each.otherwise == []
            assert each.ours == each.line.real or reason(name, each.line.case)


def test_what_is_recorded_plays_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also where later lines were recorded in another world than the first, and objects are shared by files."""
    monkeypatch.setattr(recording, "FOLDER", tmp_path / "data")
    healthy = state("healthy-written")
    bench = healthy.bench(tmp_path)
    expected, lines = [], []
    for world, cases in ((healthy.make(), VARIED), (_another(healthy.make()), VARIED[::3])):
        ours = InProcess(world, bench)
        printed = [(case, ours.run(case)) for case in cases]
        expected += printed
        lines += recorded(replace(healthy, make=world.fork), printed, tmp_path)
    save(Recording("one", "v0", lines))
    save(Recording("other", "v0", lines[:1]))
    share()
    found = [(each.line.case, each.ours, each.otherwise) for each in played(load("one"), bench)]
    assert found == [(case, outcome, []) for case, outcome in expected]
    assert expected[0] != expected[len(VARIED)]


def _another(world: EmbeddedWorld) -> EmbeddedWorld:
    """The world as it is when names, addresses, times and UIDs are others."""
    world.reseed(1)
    for pod in world.cluster.list("pods", NAMESPACE):
        world.cluster.delete("pods", pod["metadata"]["name"], NAMESPACE)
    world.advance(60.0)
    return world


def test_another_write_than_the_recorded_one_goes_to_the_api_server(tmp_path: Path) -> None:
    healthy = state("healthy-written")
    bench = healthy.bench(tmp_path)
    replay = Replay(standing_world(moment_of(healthy.make())), Heard())
    done = bench.typed(replay.cluster, Case("scale deploy/frontend --replicas=3"))
    assert (done.stdout, done.code) == ("deployment.apps/frontend scaled\n", 0)
    assert len(replay.otherwise) == 1
    assert replay.cluster.get("deployments.apps", "frontend", NAMESPACE)["spec"]["replicas"] == 3


def test_what_objects_do_not_tell_has_no_answer(tmp_path: Path) -> None:
    healthy = state("healthy-written")
    replay = Replay(standing_world(moment_of(healthy.make())), Heard())
    for line in ("logs deploy/frontend", "top pods", "exec deploy/frontend -- ls"):
        with pytest.raises(Unanswered):
            healthy.bench(tmp_path).typed(replay.cluster, Case(line))
