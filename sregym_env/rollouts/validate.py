"""What every declared fault must pass on every target, one function per line of the contract.

Healthy before, broken after, visible, not named anywhere, not cured by waiting or by hiding, cured by every
declared repair, undone exactly, deterministic, and all that with noise as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, cast

from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import KubeletSetting, KubeletStopped, NodeDown
from sregym_env.cluster.forkable import Forkable, demanded
from sregym_env.cluster.oncall import ONCALL
from sregym_env.cluster.targets import ROLLED
from sregym_env.envs.briefing import briefing
from sregym_env.envs.env import NOISE_PATIENCE
from sregym_env.envs.injection import (
    Injected,
    await_symptoms,
    base_beneath,
    begin_noise,
    demand_suffering,
    inject,
)
from sregym_env.envs.staging import ATTEMPTS
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.errors import ProblemError
from sregym_env.faults import problems
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.onset import remedies
from sregym_env.faults.problems import Problem
from sregym_env.kube import conditions
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.rewards import checks
from sregym_env.rewards.baseline import WINDOW_SECONDS, Baseline, capture, protected_objects
from sregym_env.rewards.oracle import Patience, judge_state
from sregym_env.rewards.verdict import Verdict
from sregym_env.runtime import garbage
from sregym_env.tools.workstation import Workstation

IDLE_SECONDS = 900.0
"""How long nothing is done before it is asked whether that cured anything."""

UNDONE = Patience(settle=2 * Patience().settle)
"""How long is waited after the fault was taken back: a server that crashed because of it and then its client, each its back-off."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the contract for one pair."""

    name: str
    passed: bool
    detail: str
    seconds: float
    """Wall-clock time it took to find out."""


@dataclass(frozen=True, slots=True)
class Report:
    """Every line for one (fault, target) pair."""

    app: str
    fault: str
    target: str
    lines: tuple[Line, ...]

    @property
    def passed(self) -> bool:
        """Whether every line holds."""
        return bool(self.lines) and all(line.passed for line in self.lines)

    @property
    def seconds(self) -> float:
        """Wall-clock time of all lines."""
        return sum(line.seconds for line in self.lines)


class Subject:
    """One pair with its injected world, made once and forked by every line."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem = problem
        self.seed = seed

    @cached_property
    def _drawn(self) -> tuple[int, Injected, Injected]:
        """Which draw it is, the world in which the fault has just come, and that with its symptoms showing: the first in which
        users notice it, as an episode has it, or the last."""
        last = ATTEMPTS - 1 if self.problem.variation else 0
        for attempt in range(last):
            with suppress(ProblemError):
                found = self._staged(inject(self.problem, self.seed, attempt=attempt), attempt)
                demand_suffering(self.problem, found[2].world, found[2].baseline, found[2].instances)
                return found
        return self._staged(inject(self.problem, self.seed, attempt=last), last)

    def _staged(self, struck: Injected, attempt: int) -> tuple[int, Injected, Injected]:
        showing = await_symptoms(struck.fork(), self.problem, self.seed, "proactive", attempt=attempt)
        return attempt, struck, showing

    @property
    def struck(self) -> Injected:
        """The world in which the fault has just come."""
        return self._drawn[1]

    @property
    def injected(self) -> Injected:
        """The world with the fault in and its symptoms showing."""
        return self._drawn[2]

    @cached_property
    def before(self) -> Baseline:
        """The baseline of the world before the fault."""
        return capture(self.healthy())

    def healthy(self) -> Forkable:
        """A fork of the world as it was before the fault."""
        return demanded(cast(World, self.injected.before)).fork()

    def world(self) -> Forkable:
        """A fork to try something on."""
        return demanded(self.injected.world).fork()

    def trial(self) -> Forkable:
        """The same where nobody reads logs and events afterwards: it goes as a fork goes, and costs less."""
        return demanded(self.injected.world).trial()

    def again(self) -> Injected:
        """The world with the fault in and its symptoms showing, made once more."""
        attempt = self._drawn[0]
        return self._staged(inject(self.problem, self.seed, attempt=attempt), attempt)[2]

    def noisy(self) -> Subject:
        """The same with noise from when the fault has come: its draws do not depend on the noise."""
        other = Subject(self.problem.model_copy(update={"noise": True}), self.seed)
        attempt, struck, _ = self._drawn
        other._drawn = other._staged(begin_noise(_tried(struck), other.problem, self.seed), attempt)
        return other

    def judge(self, world: World, patience: Patience | None = None) -> Verdict:
        """The oracle's verdict on a tried world."""
        return judge_state(world, self.injected.baseline, self.injected.instances, patience or Patience())


Finding = tuple[bool, str]
"""Whether a line holds, and a word on it."""


FAILING_SPANS = """promql 'sum by (service_name) (rate(traces_span_metrics_calls_total{status_code="STATUS_CODE_ERROR"}[1m])) > 0.1'"""
"""Asks whose requests fail, a share that counts."""


# --- the lines ------------------------------------------------------------------------------------


def healthy_before(subject: Subject) -> Finding:
    """The deployed application meets its SLO and passes the oracle before anything is injected."""
    verdict = judge_state(subject.healthy(), subject.before, ())
    return verdict.passed, _failed(verdict)


def broken_after(subject: Subject) -> Finding:
    """The oracle fails once the fault is in."""
    verdict = subject.judge(subject.trial())
    return not verdict.passed, _failed(verdict)


def visible_to_users(subject: Subject) -> Finding:
    """Some user journey misses the SLO."""
    world = subject.world()
    # Staging lets symptoms last for half a window; looking further back would count healthy times.
    health = world.traffic.health(WINDOW_SECONDS / 2)
    failing = checks.failing_journeys(health, world.app.slo, subject.injected.baseline, WINDOW_SECONDS / 2)
    return bool(failing), "; ".join(failing[:2]) or "no journey suffers"


def visible_to_agent(subject: Subject) -> Finding:
    """Something that an agent can read tells of trouble that was not there before."""
    before = set(_signals(subject.healthy()))
    after = [signal for signal in _signals(subject.world()) if signal not in before]
    return bool(after), ", ".join(after[:4]) or "no signal"


def not_named(subject: Subject) -> Finding:
    """Nothing that an agent can read names the fault, the problem or the injector."""
    world = subject.world()
    words = [each.fault for each in subject.problem.faults]
    words += [word.replace("_", "-") for word in words if "_" in word]
    # Not `sregym`: the real application's images are published under that name.
    words += ["sregym_env", "fault_spec", "chaos-mesh", "injected"]
    for where, text in _readable(world):
        low = text.lower()
        for word in map(str.lower, words):
            # Far quicker than one pattern of all words, which is tried at every letter.
            place = low.find(word)
            if place >= 0:
                return False, f"{where}: ...{text[max(place - 30, 0) : place + len(word) + 30]}..."
    return True, ""


def idleness_does_not_cure(subject: Subject) -> Finding:
    """Doing nothing for a quarter of an hour does not cure."""
    world = subject.trial()
    world.advance(IDLE_SECONDS)
    verdict = subject.judge(world)
    return not verdict.passed, _failed(verdict)


def hacks_do_not_cure(subject: Subject) -> Finding:
    """Deleting, hiding, restarting and silencing do not cure."""
    fooled = []
    for name, commands in _hacks(subject):
        world = subject.trial()
        _type(world, commands)
        if subject.judge(world).passed:
            fooled.append(name)
    return not fooled, f"fooled by: {', '.join(fooled)}" if fooled else ""


def remedies_cure(subject: Subject) -> Finding:
    """Every declared repair, typed as an agent would, passes the oracle."""
    trouble = []
    count = 0
    for remedy in _remedies(subject):
        world = subject.trial()
        complaint = _type(world, remedy)
        verdict = subject.judge(world)
        count += 1
        if not verdict.passed:
            trouble.append(f"repair {count}: {_failed(verdict)} {complaint}")
    return bool(count) and not trouble, "; ".join(trouble) or f"{count} repairs"


RELIEF = 900.0
"""Seconds at most until a kubelet says that its disk has room again, or that there are processes left."""


def _await_relief(world: World) -> None:
    """A kubelet says for minutes after the fact that its machine is short, and nobody comes back there before."""
    waited = 0.0
    while waited < RELIEF and any(
        conditions.is_true(node.get("status"), kind)
        for node in world.cluster.list("nodes")
        for kind in ("DiskPressure", "PIDPressure")
    ):
        world.advance(60.0)
        waited += 60.0


def undo_restores(subject: Subject) -> Finding:
    """Healing brings the desired state back to what it was, object by object."""
    fresh = _tried(subject.struck)
    fresh.heal(fresh.world)
    _await_relief(fresh.world)
    fresh.world.advance(120.0)
    now = {key: desired(obj) for key, obj in protected_objects(fresh.world)}
    then = {key: desired(obj) for key, obj in fresh.baseline.objects.items()}
    differing = sorted("/".join(key) for key in now.keys() | then.keys() if now.get(key) != then.get(key))
    if differing:
        return False, f"differs: {', '.join(differing[:3])}"
    verdict = judge_state(fresh.world, fresh.baseline, (), UNDONE)
    if not verdict.passed and any(_forgets(one) for one in fresh.instances):
        # A registry that has ended with its machine, or by its probes, has forgotten who serves: they tell it when they start.
        for namespace in fresh.world.app.namespaces:
            _type(fresh.world, (f"kubectl delete pods -n {namespace} --all",))
        verdict = judge_state(fresh.world, fresh.baseline, (), UNDONE)
    return verdict.passed, _failed(verdict)


def _forgets(instance: FaultInstance) -> bool:
    """Whether whoever stands on a machine may have ended by a fault of it."""
    of_machine = any(
        isinstance(each, KubeletSetting | KubeletStopped | NodeDown) for each in instance.fault.disturbances
    )
    return of_machine or instance.declaration.mechanism in _UNREACHED


_UNREACHED = frozenset(("connection_table_full", "disk_filled", "pids_taken"))
"""Mechanisms by which pods of a machine are beyond reach, or sent away, although nothing is disturbed."""


def same_seed_same_world(subject: Subject) -> Finding:
    """Injecting twice with one seed gives one digest."""
    first, second = (demanded(each.world).digest() for each in (subject.injected, subject.again()))
    return first == second, first[:12]


def noise_changes_nothing(subject: Subject) -> Finding:
    """With noise on, the fault still shows and the first repair still cures."""
    noisy = subject.noisy()
    patience = Patience(noise=NOISE_PATIENCE)
    if noisy.judge(noisy.trial(), patience).passed:
        return False, "passes without a repair"
    world = noisy.trial()
    complaint = _type(world, next(_remedies(noisy)))
    verdict = noisy.judge(world, patience)
    return verdict.passed, "" if verdict.passed else f"{_failed(verdict)} {complaint}"


LINES: tuple[Callable[[Subject], Finding], ...] = (
    healthy_before,
    broken_after,
    visible_to_users,
    visible_to_agent,
    not_named,
    idleness_does_not_cure,
    hacks_do_not_cure,
    remedies_cure,
    undo_restores,
    same_seed_same_world,
    noise_changes_nothing,
)
"""The contract, in order."""


# --- running --------------------------------------------------------------------------------------


def validate_pair(problem: Problem, seed: int = 0) -> Report:
    """Every line for one pair. A line that raises does not hold."""
    # What one pair leaves behind is little, and the worlds among which it would be looked for are many.
    with garbage.deferred():
        lines = tuple(_found(Subject(problem, seed)))
    struck = problem.faults
    return Report(
        problem.app,
        "+".join(each.fault for each in struck),
        "+".join(each.target for each in struck),
        lines,
    )


def _found(subject: Subject) -> Iterator[Line]:
    """What becomes of every line, in order."""
    for check in LINES:
        began = perf_counter()
        try:
            passed, detail = check(subject)
        except Exception as error:  # a defect is a finding like any other, and the other lines still count
            passed, detail = False, f"{type(error).__name__}: {error}"
        yield Line(check.__name__, passed, detail, perf_counter() - began)


def validate_pairs(
    *,
    app: str = "",
    fault: str = "",
    target: str = "",
    problem: str = "",
    sample: int = 0,
    jobs: int = 1,
    seed: int = 0,
    watch: Callable[[Report, int], None] = lambda report, total: None,
) -> list[Report]:
    """Validate every matching pair, or an even sample of them, on ``jobs`` processes; reports in pair order.

    Instead of pairs a ``problem`` of any number of faults may be named.

    ``watch`` gets every report as soon as it is there, in pair order, and how many there will be.
    """
    if problem:
        chosen = [problems.problem(problem)]
    else:
        chosen = thinned(list(pairs(app=app or None, fault=fault or None, target=target or None)), sample)
    if jobs <= 1 or len(chosen) <= 1:
        coming: Iterator[Report] = (validate_pair(problem, seed) for problem in chosen)
    else:
        coming = _side_by_side(chosen, seed, jobs)
    reports = []
    for report in coming:
        watch(report, len(chosen))
        reports.append(report)
    return reports


Base = tuple[str, int | None]
"""An application and one of its base worlds, or its published one."""


def next_for(lane: int, waiting: Iterable[int], bases: Sequence[Base], owners: Mapping[Base, int]) -> int:
    """Which of the problems that wait, by number, a process shall check: the first that stands on a base world of its own or on
    nobody's, or else the first of all."""
    first = next(iter(waiting))
    return next((each for each in waiting if owners.get(bases[each], lane) == lane), first)


def _side_by_side(chosen: Sequence[Problem], seed: int, jobs: int) -> Iterator[Report]:
    """Reports in the order of the problems. A base world is left to the process that has made it, as long as there are others to make."""
    bases = [(problem.app, base_beneath(problem, seed)) for problem in chosen]
    owners: dict[Base, int] = {}
    waiting = dict.fromkeys(range(len(chosen)))
    found: dict[int, Report] = {}
    with ExitStack() as stack:
        lanes = [stack.enter_context(ProcessPoolExecutor(max_workers=1)) for _ in range(jobs)]
        flying: dict[Future[Report], tuple[int, int]] = {}
        idle = list(range(jobs))
        for number in range(len(chosen)):
            while number not in found:
                while idle and waiting:
                    lane = idle.pop(0)
                    taken = next_for(lane, waiting, bases, owners)
                    del waiting[taken]
                    owners.setdefault(bases[taken], lane)
                    flying[lanes[lane].submit(validate_pair, chosen[taken], seed)] = (lane, taken)
                for done in wait(flying, return_when=FIRST_COMPLETED).done:
                    lane, taken = flying.pop(done)
                    found[taken] = done.result()
                    idle.append(lane)
            yield found.pop(number)


def thinned(items: Sequence[Any], sample: int) -> list[Any]:
    """``sample`` items spread evenly over the list; all of them for 0."""
    if sample <= 0 or sample >= len(items):
        return list(items)
    return [items[index * len(items) // sample] for index in range(sample)]


# --- trying things --------------------------------------------------------------------------------


def _tried(injected: Injected) -> Injected:
    """The same in a trial of its world."""
    return replace(injected, world=demanded(injected.world).trial())


def _remedies(subject: Subject) -> Iterator[tuple[str, ...]]:
    """Every alternative repair of every fault; the other faults get their first one."""
    ways = [*map(remedies, subject.injected.instances, subject.injected.onsets)]
    for index, found in enumerate(ways):
        # All faults with their first repairs: that one comes once only, with the first fault.
        for remedy in found if index == 0 else found[1:]:
            chosen = [other[0] for other in ways]
            chosen[index] = remedy
            yield tuple(command for commands in chosen for command in commands)


def _hacks(subject: Subject) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What an agent might do instead of repairing."""
    app = subject.injected.world.app
    workloads = [app.by_name[name] for each in subject.injected.instances for name in each.spec.components]
    victims = [(f"{c.workload}/{c.workload_name}", app.namespace_of(c.name)) for c in workloads]
    yield "delete the victim", tuple(f"kubectl delete {victim} -n {where}" for victim, where in victims)
    yield (
        "scale to zero",
        tuple(f"kubectl scale {victim} -n {where} --replicas=0" for victim, where in victims),
    )
    kinds = sorted({c.workload for c in app.components if c.workload in ROLLED})
    restarts = [f"kubectl rollout restart {kind} -n {where}" for where in app.namespaces for kind in kinds]
    yield "restart everything", (*restarts, "sleep 120")
    deletions = [f"kubectl delete pods --all -n {where} --wait=false" for where in app.namespaces]
    yield "delete every pod", (*deletions, "sleep 120")
    yield "delete the namespace", (f"kubectl delete namespace {app.namespace} --wait=false",)
    loads = [component for component in app.components if component.kind == "load"]
    silences = tuple(
        f"kubectl delete {c.workload} {c.workload_name} -n {app.namespace_of(c.name)}" for c in loads
    )
    if silences:
        yield "silence the users", silences


def _type(world: World, commands: Sequence[str]) -> str:
    """Type commands on a workstation; the last complaint, if there was one."""
    workstation = Workstation(world, ONCALL)
    complaint = ""
    for command in commands:
        outcome = workstation.run(command)
        if outcome.exit_code:
            complaint = f"[{command[:60]}: {outcome.text.strip()[:120]}]"
    return complaint


# --- looking --------------------------------------------------------------------------------------


def _signals(world: World) -> Iterator[str]:
    """Trouble as an agent could read it, in words without times and counts."""
    for alert in world.alerts():
        yield f"alert {alert.name}"
    for pod in _listed(world, "pods"):
        ready = [c for c in pod.get("status", {}).get("conditions", ()) if c["type"] == "Ready"]
        if not ready or ready[0]["status"] != "True":
            yield "pod not ready"
    for event in _listed(world, "events"):
        if event.get("type") == "Warning":
            yield f"event {event.get('reason', '')}"
    for slice_ in _listed(world, "endpointslices.discovery.k8s.io"):
        if not slice_.get("endpoints"):
            yield f"no endpoints behind {slice_['metadata'].get('labels', {}).get('kubernetes.io/service-name')}"
    for name, text in _logs(world, tail=40):
        if re.search(
            r"\b(error|fail\w*|panic|fatal|refused|denied|timeout|exception)\b", text, re.IGNORECASE
        ):
            yield f"log {name}"
    for name in re.findall(r'service_name="([^"]*)"', Workstation(world, ONCALL).run(FAILING_SPANS).text):
        yield f"failed spans of {name}"


def _listed(world: World, resource: str) -> Iterator[Manifest]:
    """Objects of the application's namespaces."""
    for namespace in world.app.namespaces:
        yield from world.cluster.list(resource, namespace)


def _workload(pod: Manifest) -> str:
    """The name of what made a pod, from its metadata; the pod's own where nothing did."""
    revision = pod.get("labels", {}).get("pod-template-hash", "")
    made_by = str(pod.get("generateName", "")).rstrip("-").removesuffix(revision).rstrip("-")
    return made_by or str(pod["name"])


def _logs(world: World, tail: int) -> Iterator[tuple[str, str]]:
    """(what, text) of every container's log."""
    for pod in _listed(world, "pods"):
        name = pod["metadata"]["name"]
        owner = _workload(pod["metadata"])
        for container in pod["spec"]["containers"]:
            try:
                namespace = pod["metadata"]["namespace"]
                text = world.cluster.logs(namespace, name, container=container["name"], tail=tail)
            except StatusError as error:
                text = str(error)
            yield f"of {owner}", text


def _readable(world: World) -> Iterator[tuple[str, str]]:
    """Everything an agent can read, piece by piece."""
    app = world.app
    alerts = world.alerts()
    for mode in ("proactive", "reactive"):
        yield f"{mode} briefing", briefing(app, mode=mode, stage="e2e", alerts=alerts, commands=60)
    for alert in alerts:
        yield f"alert {alert.name}", f"{alert.name} {alert.summary} {dict(alert.labels)}"
    cluster = world.cluster.as_user(ONCALL)
    for resource in _RESOURCES:
        try:
            listed = cluster.list(resource)
        except StatusError:
            continue
        for obj in listed:
            yield f"{resource}/{obj['metadata']['name']}", str(obj)
    yield from _logs(world, tail=200)


_RESOURCES = (
    "namespaces",
    "nodes",
    "persistentvolumes",
    "persistentvolumeclaims",
    "pods",
    "services",
    "endpoints",
    "configmaps",
    "secrets",
    "events",
    "resourcequotas",
    "limitranges",
    "serviceaccounts",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "cronjobs.batch",
    "networkpolicies.networking.k8s.io",
    "storageclasses.storage.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
)


RESTARTED = "kubectl.kubernetes.io/restartedAt"


def _unrestarted(obj: Manifest) -> Manifest:
    """Without the trace of a restart, which is an ordinary event."""
    annotations = ((obj.get("spec") or {}).get("template") or {}).get("metadata", {}).get("annotations") or {}
    if RESTARTED not in annotations:
        return obj
    template = obj["spec"]["template"]
    left = {key: value for key, value in annotations.items() if key != RESTARTED}
    metadata = {key: value for key, value in template["metadata"].items() if key != "annotations"}
    metadata = {**metadata, "annotations": left} if left else metadata
    return {**obj, "spec": {**obj["spec"], "template": {**template, "metadata": metadata}}}


def desired(obj: Manifest) -> Manifest:
    """What somebody asked for: an object without what the servers filled in."""
    metadata = obj["metadata"]
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if not key.startswith(("deployment.kubernetes.io/", "pv.kubernetes.io/", "volume.", "kubectl."))
    }
    kept = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    kept = _unrestarted(kept)
    spec = kept.get("spec")
    if isinstance(spec, dict):
        kept["spec"] = {
            key: value
            for key, value in spec.items()
            if key not in ("clusterIP", "clusterIPs", "volumeName", "nodePort", "taints")
        }
        # Those that a cluster sets come and go with how its machines are.
        asked = [
            each for each in spec.get("taints") or () if not each["key"].startswith("node.kubernetes.io/")
        ]
        if asked:
            kept["spec"]["taints"] = asked
    return {
        **kept,
        "name": metadata["name"],
        "labels": metadata.get("labels") or {},
        "annotations": annotations,
    }


def _failed(verdict: Verdict) -> str:
    return "; ".join(f"{check.name}: {check.observed}" for check in verdict.failed)[:300]
