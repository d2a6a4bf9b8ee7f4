"""Measuring what the design promises, on this machine, one process: medians beside goals and floors."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sregym_env import apps
from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.pairs import pairs
from sregym_env.envs.staging import forget
from sregym_env.faults.problems import Problem
from sregym_env.sim.bringup import deploy
from sregym_env.sim.embedded import EmbeddedWorld

if TYPE_CHECKING:
    from sregym_env.rollouts.load import Target

PROBLEM: dict[str, Any] = {"fault": "service_target_port_mismatch"}
"""What is played while measuring."""

READS = (
    "kubectl get pods -n {ns}",
    "kubectl get pods -n {ns} -o wide",
    "kubectl get svc,endpoints -n {ns}",
    "kubectl describe deployment geo -n {ns}",
    "kubectl describe svc recommendation -n {ns}",
    "kubectl logs deployment/frontend -n {ns} --tail=20",
    "kubectl get events -n {ns}",
    "kubectl get deployment frontend -n {ns} -o yaml",
    "kubectl get nodes",
    "alerts",
)
"""The mixed diagnostic workload."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One promise and what was measured."""

    promise: str
    unit: str
    goal: float
    floor: float
    measured: float
    more_is_better: bool = False

    @property
    def verdict(self) -> str:
        """``meets goal``, ``above floor`` or ``below floor``."""
        if self._reaches(self.goal):
            return "meets goal"
        return "above floor" if self._reaches(self.floor) else "below floor"

    def _reaches(self, mark: float) -> bool:
        return self.measured >= mark if self.more_is_better else self.measured <= mark

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "promise": self.promise,
            "measured": round(self.measured, 3),
            "unit": self.unit,
            "goal": self.goal,
            "floor": self.floor,
            "verdict": self.verdict,
        }


def measure() -> Iterator[Measurement]:
    """Every promise of the design, in order."""
    yield Measurement("import beyond gymnasium", "ms", 50, 150, import_time() * 1000)
    yield Measurement("first deploy", "ms", 100, 300, first_deploy() * 1000)
    env = SREGymEnv(raise_errors=True, max_steps=1_000_000, time_limit=1e9, **PROBLEM)
    env.reset(seed=0)
    yield Measurement("reset: inject and settle, over all faults", "ms", 2, 20, reset_cold(env) * 1000)
    yield Measurement("reset: a new seed of a problem played before", "ms", 2, 20, reset_warm(env) * 1000)
    env.reset(seed=0)
    yield Measurement("read action", "ms", 0.2, 2, reads(env) * 1000)
    yield Measurement("mixed diagnostic steps", "1/s", 5000, 2000, steps_per_second(env), True)
    yield Measurement("write action with convergence", "ms", 2, 20, writes(env) * 1000)
    yield Measurement("fork", "ms", 0.1, 1, _median(env.fork, 200) * 1000)
    yield Measurement("simulated seconds per second", "s/s", 10_000, 5_000, simulated_rate(env), True)
    yield Measurement("memory per idle environment", "MB", 1, 3, memory_per_env(env))
    if find_spec("uvicorn") is not None:  # the server is an extra
        yield from served(env)


def served(env: SREGymEnv) -> Iterator[Measurement]:
    """What a served cluster bears: one client that reads without rest, and many at once."""
    from sregym_env.rollouts.load import TABLE, serving, soak

    world = env.episode.world
    assert isinstance(world, EmbeddedWorld)
    namespace = env.episode.staged.app.namespace
    with serving(world, namespace) as target, _one_core():
        path = f"/api/v1/namespaces/{namespace}/pods"
        rate = _rate_in_another_process(target, path, "application/json")
        yield Measurement("served: list of 20 pods", "1/s", 1000, 500, rate, True)
        rate = _rate_in_another_process(target, path, TABLE)
        yield Measurement("served: list of 20 pods as a table", "1/s", 1000, 500, rate, True)
        pods = [pod["metadata"]["name"] for pod in world.store.list("pods", namespace)]
        pod = next(name for name in pods if name.startswith("frontend"))
        lost = len(soak(world, target, pod, watches=50, execs=20, rounds=100).losses())
        yield Measurement("served: of 50 watches and 20 commands at once, incomplete", "", 0, 0, lost)


@contextmanager
def _one_core() -> Iterator[None]:
    """This process on one core, where the machine lets it choose."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _rate_in_another_process(target: Target, path: str, accept: str) -> float:
    code = (
        "import os; hasattr(os, 'sched_setaffinity') and os.sched_setaffinity(0, range(os.cpu_count()))\n"
        "from sregym_env.rollouts.load import Target, request_rate\n"
        f"print(request_rate({target!r}, {path!r}, {accept!r}, 2.0))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(answer.stdout)


def import_time() -> float:
    """Seconds that importing the package adds to importing gymnasium, in a fresh interpreter."""
    return median(_in_fresh_process("import gymnasium", "import sregym_env") for _ in range(5))


def first_deploy() -> float:
    """Seconds to bring up the cluster and the default application, the first time in a process."""
    imports = (
        "from sregym_env import apps; from sregym_env.sim import deploy; import sregym_env.shell.shell; "
        f"app = apps.app({apps.DEFAULT!r})"
    )
    return median(_in_fresh_process(imports, "deploy.deployed_world(app, 0)") for _ in range(5))


def _in_fresh_process(before: str, timed: str) -> float:
    code = f"{before}\nfrom time import perf_counter as t; a = t()\n{timed}\nprint(t() - a)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(answer.stdout)


def reset_cold(env: SREGymEnv) -> float:
    """Seconds to inject a fault into a deployed application and let the symptoms show: the median over every
    fault, each on the middle one of its targets."""
    by_fault: dict[str, list[Problem]] = {}
    for pair in pairs(apps.DEFAULT):
        by_fault.setdefault(pair.faults[0].fault, []).append(pair)
    times = []
    for seed in range(deploy.VARIANTS):
        env.reset(seed=seed)
    for seed in range(3):
        for members in by_fault.values():
            forget()
            options = {"problem": members[len(members) // 2].model_dump(mode="json")}
            began = perf_counter()
            env.reset(seed=seed, options=options)
            times.append(perf_counter() - began)
    return median(times)


def reset_warm(env: SREGymEnv) -> float:
    """Seconds to start an episode with another seed, once the problem has been played."""
    seeds = iter(range(1000, 2000))
    return _median(lambda: env.reset(seed=next(seeds)), 100)


def reads(env: SREGymEnv) -> float:
    """Seconds for a read action, the median over the mixed workload."""
    namespace = env.episode.staged.app.namespace
    times = []
    for _ in range(10):
        for line in READS:
            began = perf_counter()
            env.step(line.format(ns=namespace))
            times.append(perf_counter() - began)
    return median(times)


def steps_per_second(env: SREGymEnv) -> float:
    """Steps per second over the mixed workload."""
    namespace = env.episode.staged.app.namespace
    lines = [line.format(ns=namespace) for line in READS]
    rounds = 30
    began = perf_counter()
    for _ in range(rounds):
        for line in lines:
            env.step(line)
    return rounds * len(lines) / (perf_counter() - began)


def writes(env: SREGymEnv) -> float:
    """Seconds for a write that makes the cluster act, until it has settled."""
    namespace = env.episode.staged.app.namespace
    times = []
    for number in range(10):
        trial = env.fork()
        began = perf_counter()
        trial.step(f"kubectl set env deployment/geo -n {namespace} ROUND={number}")
        trial.step("sleep 20")
        times.append(perf_counter() - began)
    return median(times)


def simulated_rate(env: SREGymEnv) -> float:
    """Simulated seconds per second of a broken world in which disturbances come and go."""
    noisy = SREGymEnv(noise=True, raise_errors=True, **PROBLEM)
    noisy.reset(seed=0)
    world = noisy.episode.world
    began = perf_counter()
    world.advance(3600.0)
    return 3600.0 / (perf_counter() - began)


def memory_per_env(env: SREGymEnv, count: int = 20) -> float:
    """Megabytes that one more environment with its own seed takes, a few steps into its episode."""
    namespace = env.episode.staged.app.namespace
    for seed in range(deploy.VARIANTS):
        env.reset(seed=seed)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = []
    for seed in range(count):
        another = SREGymEnv(raise_errors=True, **PROBLEM)
        another.reset(seed=5000 + seed)
        another.step(f"kubectl get pods -n {namespace}")
        another.step(f"kubectl delete pod -n {namespace} -l io.kompose.service=geo")
        another.step(f"kubectl get events -n {namespace} | tail -5")
        kept.append(another)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return used / len(kept) / 1e6


def _median(act: Callable[[], Any], times: int) -> float:
    taken = []
    for _ in range(times):
        began = perf_counter()
        act()
        taken.append(perf_counter() - began)
    return median(taken)
