"""What is timed for every promise: generators of samples, each with an environment of its own.

Seconds are seconds of this process's processor time, for one unit of what the promise counts. The probes use
the environment as any caller does, so that they also run on the code of another checkout.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from sregym_env import apps
from sregym_env.envs import staging
from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.injection import prepare
from sregym_env.faults.problems import Problem
from sregym_env.rollouts.bench import large, signals
from sregym_env.rollouts.bench.signals import SHOP
from sregym_env.rollouts.policies import ExpertPolicy
from sregym_env.rollouts.runner import run_episode
from sregym_env.worlds.lived import base_world

try:
    from sregym_env.envs.tasks.pairs import pairs as listed
except ImportError:  # an older checkout, with which this one is compared
    from sregym_env.faults.problems import pairs as listed  # type: ignore[assignment]

Probe = Callable[[], Iterator[float]]

APP = "hotel-reservation"

PROBLEM: dict[str, Any] = {"fault": "service_target_port_mismatch"}
"""What is played where one problem is enough."""

WARM = 16
"""Episodes with which a process that measures anything but its first one begins."""

UNSEEN = 10_000
"""The first of the seeds that no probe has played before."""

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


class Stopwatch(SREGymEnv):
    """An environment that knows what its last step took."""

    took = 0.0
    """Seconds."""

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """As any environment's, timed."""
        began = process_time()
        result = super().step(action)
        self.took = process_time() - began
        return result


def environment(**more: Any) -> Stopwatch:
    """An environment in a warm process, with a problem set up."""
    env = Stopwatch(raise_errors=True, max_commands=1_000_000, time_limit=1e9, **PROBLEM, **more)
    for seed in reversed(range(WARM)):
        env.reset(seed=seed)
    return env


def seconds(act: Callable[[], Any]) -> float:
    """What one call takes."""
    began = process_time()
    act()
    return process_time() - began


def one_of_each_fault(app: str = APP) -> list[Problem]:
    """Every declared fault on the middle one of its targets."""
    by_fault: dict[str, list[Problem]] = {}
    for pair in listed(app=app):
        by_fault.setdefault(pair.faults[0].fault, []).append(pair)
    return [pairs[len(pairs) // 2] for pairs in by_fault.values()]


# --- in a fresh process ---------------------------------------------------------------------------


def import_() -> Iterator[float]:
    """What importing the package adds to importing gymnasium."""
    for _ in range(5):
        yield _in_fresh_process("import gymnasium", "import sregym_env")


def first_deploy(app: str = APP) -> Iterator[float]:
    """Bringing up the cluster and the published application, the first time in a process."""
    for _ in range(5):
        yield _in_fresh_process(_IMPORTS.format(app=app), "deploy.deployed_world(app)")


def first_base(app: str = APP) -> Iterator[float]:
    """The same with a member of the application's family, which lives through its past."""
    for _ in range(5):
        yield _in_fresh_process(_IMPORTS.format(app=app), "lived.base_world(app, 0)")


def kept_base(app: str = APP) -> Iterator[float]:
    """A base world that another process has made and kept on disk, the first in a process."""
    with TemporaryDirectory() as folder:
        for number in range(6):
            taken = _in_fresh_process(_IMPORTS.format(app=app), "lived.base_world(app, 0)", folder)
            if number:
                yield taken


_IMPORTS = (
    "from sregym_env import apps; from sregym_env.worlds import lived; from sregym_env.sim.bringup import deploy; "
    "import sregym_env.shell.shell; app = apps.app({app!r})"
)


def _in_fresh_process(before: str, timed: str, folder: str = "") -> float:
    """Seconds of CPU of a line in a process of its own, where base worlds are kept in a ``folder``."""
    code = f"{before}\nfrom time import process_time as t; a = t()\n{timed}\nprint(t() - a)"
    environment = {**os.environ, "SREGYM_CACHE": folder}
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return float(answer.stdout)


# --- episodes -------------------------------------------------------------------------------------


def reset(app: str = APP) -> Iterator[float]:
    """Setting up a problem with a seed that was never played: to the moment the agent is called."""
    env = environment()
    each = one_of_each_fault(app)
    for seed in range(UNSEEN, UNSEEN + 2):
        for problem in each:
            prepare(problem, seed)
            options = {"problem": problem.model_dump(mode="json")}
            began = process_time()
            env.reset(seed=seed, options=options)
            yield process_time() - began


def member() -> Iterator[float]:
    """Starting the same episode once more, for the next member of its group."""
    env = environment()
    env.reset(seed=UNSEEN)
    for _ in range(200):
        yield seconds(lambda: env.reset(seed=UNSEEN))


def episode() -> Iterator[float]:
    """An expert's episode from the reset to the last verdict, its record included."""
    env = environment()
    for problem in one_of_each_fault():
        options = {"problem": problem.model_dump(mode="json")}
        prepare(problem, UNSEEN)
        yield seconds(lambda: run_episode(env, ExpertPolicy(), seed=UNSEEN, options=options))  # noqa: B023


def grading() -> Iterator[float]:
    """The verdict on a world that the expert has repaired: what the last step of its episode takes."""
    for _, last in _graded():
        yield last


def share() -> Iterator[float]:
    """The same in hundredths of the whole episode."""
    for whole, last in _graded():
        yield 100 * last / whole


def _graded() -> Iterator[tuple[float, float]]:
    """What an expert's episode takes, and its last step, which is graded."""
    env = environment()
    for problem in one_of_each_fault():
        options = {"problem": problem.model_dump(mode="json")}
        prepare(problem, UNSEEN)
        whole = seconds(lambda: run_episode(env, ExpertPolicy(), seed=UNSEEN, options=options))  # noqa: B023
        yield whole, env.took


# --- steps ----------------------------------------------------------------------------------------


def read() -> Iterator[float]:
    """Read actions of the mixed workload, one by one."""
    env = environment()
    for line in _lines(env) * 10:
        yield seconds(lambda line=line: env.step(line))  # type: ignore[misc]


def mixed() -> Iterator[float]:
    """The same by the round: the mean counts what single ones hide."""
    env = environment()
    lines = _lines(env)
    for _ in range(30):
        began = process_time()
        for line in lines:
            env.step(line)
        yield (process_time() - began) / len(lines)


def _lines(env: SREGymEnv) -> list[str]:
    return [line.format(ns=env.episode.staged.app.namespace) for line in READS]


def write() -> Iterator[float]:
    """A write that makes the cluster act, until it has settled."""
    env = environment()
    namespace = env.episode.staged.app.namespace
    for number in range(20):
        trial = env.fork()
        began = process_time()
        trial.step(f"kubectl set env deployment/geo -n {namespace} ROUND={number}")
        trial.step("sleep 20")
        yield process_time() - began


def fork(app: str = APP) -> Iterator[float]:
    """Copying an environment some steps into its episode."""
    env = environment()
    if app != APP:
        env.reset(seed=UNSEEN, options={"problem": one_of_each_fault(app)[0].model_dump(mode="json")})
    for line in ("kubectl get pods -A", "kubectl get events -A", "alerts") if app != APP else _lines(env):
        env.step(line)
    for _ in range(200):
        yield seconds(env.fork)


def simulated() -> Iterator[float]:
    """A simulated second of a broken world in which disturbances come and go, by the ten minutes."""
    env = environment(noise=True)
    for _ in range(12):
        yield seconds(lambda: env.episode.world.advance(600.0)) / 600.0


def memory() -> Iterator[float]:
    """Megabytes that one more environment with its own seed takes, a few steps into its episode."""
    namespace = environment().episode.staged.app.namespace
    count = 20
    for seed in range(count):
        # Base worlds are the process's, whatever it plays.
        SREGymEnv(raise_errors=True, **PROBLEM).reset(seed=UNSEEN + seed)
    staging.forget()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = []
    for seed in range(count):
        another = SREGymEnv(raise_errors=True, **PROBLEM)
        another.reset(seed=UNSEEN + seed)
        another.step(f"kubectl get pods -n {namespace}")
        # By name: which labels pods carry is drawn.
        another.step(
            f"kubectl get pods -n {namespace} -o name | grep ^pod/geo- | xargs kubectl delete -n {namespace}"
        )
        another.step(f"kubectl get events -n {namespace} | tail -5")
        kept.append(another)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    yield used / len(kept) / 1e6


def pickled() -> Iterator[float]:
    """Kilobytes of an episode some steps into it, as it is sent to another process: of every fault one."""
    for problem in one_of_each_fault():
        env = SREGymEnv(problem=problem.model_dump(), raise_errors=True)
        env.reset(seed=UNSEEN)
        for line in _lines(env):
            env.step(line)
        yield len(zlib.compress(pickle.dumps(env.episode))) / 1000


def idle() -> Iterator[float]:
    """Megabytes of a thousand compact environments that have been reset, of all applications alike; from some of them."""
    problems = [one_of_each_fault(app)[0] for app in apps.bundled()]
    each = [(problem, UNSEEN + seed) for seed in range(8) for problem in problems]
    # From the beginning: what is kept for all worlds that come is bounded, and takes the place of what was kept before.
    tracemalloc.start()
    for problem, seed in each:
        SREGymEnv(problem=problem.model_dump(), raise_errors=True).reset(seed=seed)
    staging.forget()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    kept = []
    for problem, seed in each:
        kept.append(SREGymEnv(problem=problem.model_dump(), raise_errors=True, compact=True))
        kept[-1].reset(seed=seed)
    staging.forget()
    gc.collect()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    yield used / len(kept) / 1000


def bases() -> Iterator[float]:
    """Megabytes of a base world that is kept, of all applications alike."""
    each = [(apps.app(name), number) for name in apps.bundled() for number in range(5)]
    for app, number in each[::5]:
        base_world(app, number)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for app, number in each:
        base_world(app, number)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    yield used / (len(each) - len(each[::5])) / 1e6


# --- a large cluster --------------------------------------------------------------------------------------


def large_deploy() -> Iterator[float]:
    """2,000 pods on 50 machines beside the largest application, from their Deployments to all of them running."""
    yield seconds(large.fleet)


def compact() -> Iterator[float]:
    """Read actions of the mixed workload in an environment whose world is packed between them."""
    env = environment(compact=True)
    for line in _lines(env) * 3:
        yield seconds(lambda line=line: env.step(line))  # type: ignore[misc]


def large_list() -> Iterator[float]:
    """Listing the pods of that cluster with kubectl."""
    run = large.shell()
    for _ in range(20):
        yield seconds(lambda: run("kubectl get pods -A"))


def large_describe() -> Iterator[float]:
    """Describing one of its machines, with the pods on it."""
    run = large.shell()
    for number in range(1, 21):
        yield seconds(lambda number=number: run(f"kubectl describe node sre-worker{number}"))  # type: ignore[misc]


PROBES: dict[str, Probe] = {
    "import": import_,
    "first_deploy": first_deploy,
    "first_base": first_base,
    "kept_base": kept_base,
    "reset": reset,
    "member": member,
    "read": read,
    "mixed": mixed,
    "write": write,
    "grading": grading,
    "episode": episode,
    "share": share,
    "fork": fork,
    "simulated": simulated,
    "memory": memory,
    "pickled": pickled,
    "shop.deploy": lambda: first_deploy(SHOP),
    "shop.base": lambda: first_base(SHOP),
    "shop.reset": lambda: reset(SHOP),
    "shop.fork": lambda: fork(SHOP),
    "idle": idle,
    "bases": bases,
    "compact": compact,
    "signals.metrics": lambda: signals.asked_again(signals.QUERY),
    "signals.logs": lambda: signals.asked_again(signals.LOGS),
    "signals.traces": lambda: signals.asked_again(signals.SEARCH),
    "signals.month": signals.month,
    "signals.history": signals.history,
    "large.deploy": large_deploy,
    "large.list": large_list,
    "large.describe": large_describe,
}
