"""The oracle's questions, one function each: pure looks at a world that change nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sregym_env.cluster.api import World
from sregym_env.cluster.app import SLO
from sregym_env.cluster.health import JourneyHealth
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.cluster.targets import ROLLED, SCALED
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.rewards.baseline import Baseline, backends
from sregym_env.rewards.objects import Objects, containers, named, pod_spec, shown
from sregym_env.rewards.verdict import Check

OFFERED_SHARE = 0.5
"""Users who offer less than this share of their baseline rate are not being served, they are gone."""


# --- users ----------------------------------------------------------------------------------------


def failing_journeys(
    health: Sequence[JourneyHealth], slo: SLO, baseline: Baseline, window: float
) -> list[str]:
    """One line per journey that was not offered, failed too often or took too long."""
    seen = {journey.journey: journey for journey in health}
    lines = []
    for name, rate in baseline.offered.items():
        journey = seen.get(name)
        if journey is None or journey.requests <= 0 or journey.requests < rate * window * OFFERED_SHARE:
            offered = 0.0 if journey is None else journey.requests / window
            lines.append(f"{name}: {offered:.1f} requests/s offered, {rate:.1f} before")
        elif journey.success_ratio < slo.of(name).success_ratio:
            lines.append(f"{name}: {journey.success_ratio:.1%} succeed")
        elif journey.latency_seconds > slo.of(name).latency_seconds:
            lines.append(f"{name}: takes {journey.latency_seconds:.2f} s")
    return lines if baseline.offered else ["no journeys in the baseline"]


def journeys(world: World, baseline: Baseline, window: float) -> Check:
    """Users are offered to the application and their journeys meet the SLO over the last ``window`` seconds."""
    slo = world.app.slo
    failing = failing_journeys(world.traffic.health(window), slo, baseline, window)
    return Check(
        "journeys",
        not failing,
        shown(failing) or "every journey met the SLO",
        f"success >= {slo.success_ratio:.0%} and mean latency <= {slo.latency_seconds} s for {window:.0f} s",
        weight=3.0,
        share=1.0 - min(1.0, len(failing) / max(1, len(baseline.offered))),
    )


# --- nothing was lost -----------------------------------------------------------------------------


def inventory(baseline: Baseline, now: Objects, accepted: Collection[ObjectKey] = ()) -> Check:
    """Every object of the baseline still exists, under its name."""
    present = {key for key, obj in now.items() if "deletionTimestamp" not in obj["metadata"]}
    missing = [named(key) for key in baseline.objects if key not in present and key not in accepted]
    for key, before in baseline.objects.items():
        obj = now.get(key)
        if key[0] in ("configmaps", "secrets") and obj is not None and obj is not before:
            left = _filled(obj)
            missing.extend(f"{entry} of {named(key)}" for entry in _filled(before) if entry not in left)
    return Check(
        "inventory",
        not missing,
        f"missing: {shown(missing)}" if missing else "none missing",
        f"{len(baseline.objects)} baseline objects exist",
        complaints=tuple(missing),
    )


def _filled(obj: Manifest) -> list[str]:
    """Keys of a ConfigMap or Secret under which something stands."""
    return [key for part in ("data", "binaryData") for key, value in (obj.get(part) or {}).items() if value]


def replicas(baseline: Baseline, now: Objects) -> Check:
    """No workload asks for fewer replicas than before, apart from what an autoscaler decides, and no job was suspended."""
    smaller = []
    floors = _floors(baseline.objects)
    for key, before in baseline.objects.items():
        obj = now.get(key)
        if key[0] in SCALED:
            wanted, asked = _replicas(before), 0 if obj is None else _replicas(obj)
            if asked < min(wanted, floors.get(key, wanted)):
                smaller.append(f"{named(key)}: {asked} < {wanted}")
        elif key[0] in ("jobs.batch", "cronjobs.batch"):
            if obj is not None and obj["spec"].get("suspend") and not before["spec"].get("suspend"):
                smaller.append(f"{named(key)}: suspended")
    return Check(
        "replicas",
        not smaller,
        shown(smaller) or "none reduced",
        "replicas >= baseline",
        complaints=tuple(smaller),
    )


def _floors(objects: Objects) -> dict[ObjectKey, int]:
    """The least replicas that autoscalers leave to the workloads that they scale."""
    found = {}
    for key, obj in objects.items():
        if key[0] == "horizontalpodautoscalers.autoscaling":
            target = obj["spec"].get("scaleTargetRef") or {}
            for resource in SCALED:
                found[(resource, key[1], target.get("name", ""))] = int(obj["spec"].get("minReplicas") or 1)
    return found


def available(world: World, baseline: Baseline) -> Check:
    """Every workload of the baseline is rolled out and available; DaemonSets on the nodes that are there.

    Whether nodes may be missing is for :func:`nodes` to say.
    """
    short, rolled = [], 0
    gone = _gone(world, baseline) if any(key[0] == "daemonsets.apps" for key in baseline.objects) else 0
    for key in baseline.objects:
        if key[0] in ROLLED:
            rolled += 1
            now = current(world, key)
            trouble = "missing" if now is None else _unavailable(key[0], now, gone)
            if trouble:
                short.append(f"{named(key)}: {trouble}")
    return Check(
        "available",
        not short,
        shown(short) or "all available",
        "every workload is available",
        share=1.0 - len(short) / max(1, rolled),
    )


def endpoints(world: World, baseline: Baseline) -> Check:
    """Services that had ready backends have them, and send nobody anywhere else."""
    ready = backends(world)
    wrong: list[str] = []
    strange: list[str] = []
    for key, before in baseline.backed.items():
        name, now = key[1], ready.get(key, frozenset())
        if not now & before:
            wrong.append(f"service/{name}: no ready endpoint of {', '.join(sorted(before))}")
        strange.extend(f"service/{name}: also reaches {other}" for other in sorted(now - before))
    wrong += strange
    share = 1.0 - min(1.0, len(wrong) / max(1, len(baseline.backed)))
    return Check(
        "endpoints",
        not wrong,
        shown(wrong) or "as before",
        "Services keep their ready endpoints",
        share=share,
        # End points come and go while a fault bites; strange ones are led to by somebody.
        complaints=tuple(strange),
    )


def nodes(
    world: World,
    baseline: Baseline,
    accepted: Collection[ObjectKey] = (),
    wrong: Collection[tuple[ObjectKey, str]] = (),
) -> Check:
    """Nodes are as ready and as schedulable as before.

    ``wrong`` are the fields, by JSON pointer, in which faults lie; what is accepted of a node is that one.
    """
    worse = []
    for key, before in baseline.objects.items():
        if key[0] != "nodes":
            continue
        now = current(world, key)
        if now is not None and _opened(before, now):
            worse.append(f"{named(key)}: takes pods that it kept off")
        fields = [pointer for place, pointer in wrong if place == key]
        if key in accepted and (now is None or not fields):
            continue
        if key in accepted and now is not None:
            if "/spec/unschedulable" not in fields and _is_closed(now) and not _is_closed(before):
                worse.append(f"{named(key)}: cordoned")
            if "/spec/taints" not in fields and _repelling(now) - _repelling(before):
                worse.append(f"{named(key)}: tainted")
            continue
        if now is None or (_node_ready(before) and not _node_ready(now)):
            worse.append(f"{named(key)}: not ready")
        elif now["spec"].get("unschedulable") and not before["spec"].get("unschedulable"):
            worse.append(f"{named(key)}: cordoned")
        elif _repelling(now) - _repelling(before):
            worse.append(f"{named(key)}: tainted")
    return Check(
        "nodes",
        not worse,
        shown(worse) or "all in service",
        "nodes stay in service, and those out of it stay out",
        complaints=tuple(worse),
    )


def _opened(before: Manifest, now: Manifest) -> bool:
    """Whether a node that somebody had closed, for all pods or for those without a toleration, is open."""
    if _repelling(before) - _repelling(now):
        return True
    return _is_closed(before) and not _is_closed(now) and not _repelling(now) - _repelling(before)


def _is_closed(node: Manifest) -> bool:
    return bool(node["spec"].get("unschedulable"))


# --- stability ------------------------------------------------------------------------------------


def restarts(world: World) -> dict[str, int]:
    """Restarts per pod of the application."""
    counts: dict[str, int] = {}
    for pod in _listed(world, "pods"):
        statuses = (pod.get("status") or {}).get("containerStatuses") or ()
        counts[pod["metadata"]["name"]] = sum(status.get("restartCount", 0) for status in statuses)
    return counts


def liveness_failures(world: World) -> dict[str, int]:
    """How often each pod's liveness probe failed, as far as events tell."""
    counts: dict[str, int] = {}
    for event in _listed(world, "events"):
        if event.get("reason") == "Unhealthy" and str(event.get("message", "")).startswith("Liveness"):
            pod = (event.get("involvedObject") or {}).get("name", "")
            counts[pod] = counts.get(pod, 0) + int(event.get("count") or 1)
    return counts


def grace_of_liveness_probes(world: World) -> float:
    """Seconds until every liveness probe has begun to ask; a probe put off that long may still kill."""
    delays = [0.0]
    for resource in ROLLED:
        for workload in _listed(world, resource):
            for container in containers(pod_spec(workload)).values():
                probe = container.get("livenessProbe") or {}
                delays.append(float(probe.get("initialDelaySeconds") or 0))
    return min(max(delays), _LONGEST_GRACE)


# The delay is the agent's to choose; without a bound the world would be run for as long as it says.
_LONGEST_GRACE = 30 * 86400.0


def waiting_reasons(world: World) -> list[str]:
    """``pod: reason`` for every container that waits in an error."""
    waiting = []
    for pod in _listed(world, "pods"):
        status = pod.get("status") or {}
        for container in (
            *(status.get("initContainerStatuses") or ()),
            *(status.get("containerStatuses") or ()),
        ):
            reason = ((container.get("state") or {}).get("waiting") or {}).get("reason", "")
            if reason and reason not in ("ContainerCreating", "PodInitializing"):
                waiting.append(f"{pod['metadata']['name']}: {reason}")
    return waiting


# --- reading objects ------------------------------------------------------------------------------


def _listed(world: World, resource: str) -> Iterator[Manifest]:
    """Objects of the application's namespaces."""
    for namespace in world.app.namespaces:
        yield from world.cluster.list(resource, namespace)


def current(world: World, key: ObjectKey) -> Manifest | None:
    """An object as it is now; None where there is none."""
    resource, namespace, name = key
    try:
        return world.cluster.get(resource, name, namespace or None)
    except StatusError:
        return None


def _replicas(obj: Manifest) -> int:
    count = obj["spec"].get("replicas")
    return 1 if count is None else int(count)


def _gone(world: World, baseline: Baseline) -> int:
    """How many nodes are closed, or were ready and are not."""
    before = {key[2] for key, obj in baseline.objects.items() if key[0] == "nodes" and _node_ready(obj)}
    nodes = world.cluster.list("nodes")
    ready = {node["metadata"]["name"] for node in nodes if _node_ready(node)}
    closed = {node["metadata"]["name"] for node in nodes if node["spec"].get("unschedulable")}
    return len((before - ready) | closed)


def _unavailable(resource: str, obj: Manifest, gone: int = 0) -> str:
    status = obj.get("status") or {}
    if resource == "daemonsets.apps":
        wanted, ready = status.get("desiredNumberScheduled", 0), status.get("numberAvailable", 0)
        # A machine that is closed may be out of order: what a daemon has there need not come back once it is lost.
        wanted = max(wanted - gone, min(wanted, 1))
        if obj["spec"].get("updateStrategy", {}).get("type") != "OnDelete":
            ready = min(ready, status.get("updatedNumberScheduled", ready))
    else:
        wanted, ready = _replicas(obj), status.get("availableReplicas", 0)
        if resource == "deployments.apps" and status.get("updatedReplicas", 0) < wanted:
            return f"{status.get('updatedReplicas', 0)}/{wanted} updated"
    if status.get("observedGeneration", 0) < obj["metadata"].get("generation", 0):
        return "not rolled out"
    return "" if ready >= wanted else f"{ready}/{wanted} available"


def _node_ready(node: Manifest) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)


def _repelling(node: Manifest) -> set[str]:
    """Keys of the taints somebody set that keep pods away; the node controller's own come and go."""
    return {
        taint["key"]
        for taint in node["spec"].get("taints") or ()
        if taint.get("effect") in ("NoSchedule", "NoExecute")
        and not taint["key"].startswith("node.kubernetes.io/")
    }
