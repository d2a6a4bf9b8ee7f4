"""The oracle's questions, one function each: pure looks at a world that change nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from sregym_env.cluster.api import World
from sregym_env.cluster.app import SLO
from sregym_env.cluster.health import JourneyHealth
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.cluster.targets import ROLLED, SCALED
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.rewards.baseline import Baseline, backends, protected_objects
from sregym_env.rewards.verdict import Check

OFFERED_SHARE = 0.5
"""Users who offer less than this share of their baseline rate are not being served, they are gone."""

_ENOUGH_SHOWN = 4
"""How many offenders a check names."""


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
        elif journey.success_ratio < slo.success_ratio:
            lines.append(f"{name}: {journey.success_ratio:.1%} succeed")
        elif journey.latency_seconds > slo.latency_seconds:
            lines.append(f"{name}: takes {journey.latency_seconds:.2f} s")
    return lines if baseline.offered else ["no journeys in the baseline"]


def journeys(world: World, baseline: Baseline, window: float) -> Check:
    """Users are offered to the application and their journeys meet the SLO over the last ``window`` seconds."""
    slo = world.app.slo
    failing = failing_journeys(world.traffic.health(window), slo, baseline, window)
    return Check(
        "journeys",
        not failing,
        _shown(failing) or "every journey met the SLO",
        f"success >= {slo.success_ratio:.0%} and mean latency <= {slo.latency_seconds} s for {window:.0f} s",
        weight=3.0,
    )


# --- nothing was lost -----------------------------------------------------------------------------


def inventory(world: World, baseline: Baseline, accepted: Collection[ObjectKey] = ()) -> Check:
    """Every object of the baseline still exists, under its name."""
    present = {key for key, obj in protected_objects(world) if "deletionTimestamp" not in obj["metadata"]}
    missing = [_named(key) for key in baseline.objects if key not in present and key not in accepted]
    return Check(
        "inventory", not missing, _missing(missing), f"{len(baseline.objects)} baseline objects exist", 1.0
    )


def replicas(world: World, baseline: Baseline) -> Check:
    """No workload asks for fewer replicas than before, and no job was suspended."""
    smaller = []
    for key, before in baseline.objects.items():
        resource, namespace, name = key
        if resource in SCALED:
            now = current(world, key)
            wanted, asked = _replicas(before), 0 if now is None else _replicas(now)
            if asked < wanted:
                smaller.append(f"{_named(key)}: {asked} < {wanted}")
        elif resource in ("jobs.batch", "cronjobs.batch"):
            now = current(world, key)
            if now is not None and now["spec"].get("suspend") and not before["spec"].get("suspend"):
                smaller.append(f"{_named((resource, namespace, name))}: suspended")
    return Check("replicas", not smaller, _shown(smaller) or "none reduced", "replicas >= baseline")


def available(world: World, baseline: Baseline) -> Check:
    """Every workload of the baseline is rolled out and available."""
    short = []
    for key in baseline.objects:
        if key[0] in ROLLED:
            now = current(world, key)
            trouble = "missing" if now is None else _unavailable(key[0], now)
            if trouble:
                short.append(f"{_named(key)}: {trouble}")
    return Check("available", not short, _shown(short) or "all available", "every workload is available")


def endpoints(world: World, baseline: Baseline) -> Check:
    """Services that had ready backends have them, and send nobody anywhere else."""
    ready = backends(world)
    wrong = []
    for key, before in baseline.backed.items():
        name, now = key[1], ready.get(key, frozenset())
        if not now & before:
            wrong.append(f"service/{name}: no ready endpoint of {', '.join(sorted(before))}")
        wrong.extend(f"service/{name}: also reaches {other}" for other in sorted(now - before))
    return Check("endpoints", not wrong, _shown(wrong) or "as before", "Services keep their ready endpoints")


def nodes(world: World, baseline: Baseline, accepted: Collection[ObjectKey] = ()) -> Check:
    """Nodes are as ready and as schedulable as before."""
    worse = []
    for key, before in baseline.objects.items():
        if key[0] != "nodes" or key in accepted:
            continue
        now = current(world, key)
        if now is None or (_node_ready(before) and not _node_ready(now)):
            worse.append(f"{_named(key)}: not ready")
        elif now["spec"].get("unschedulable") and not before["spec"].get("unschedulable"):
            worse.append(f"{_named(key)}: cordoned")
        elif _repelling(now) - _repelling(before):
            worse.append(f"{_named(key)}: tainted")
    return Check("nodes", not worse, _shown(worse) or "all in service", "nodes stay in service")


# --- nothing was weakened -------------------------------------------------------------------------


def policy(world: World, baseline: Baseline) -> Check:
    """Containers still run the program they are for, with the limits, probes and protection they had."""
    weakened: list[str] = []
    for key, before in baseline.objects.items():
        if key[0] in ROLLED and (now := current(world, key)) is not None:
            weakened.extend(f"{_named(key)}: {what}" for what in _weakened(before, now))
    return Check("policy", not weakened, _shown(weakened) or "kept", "limits and probes are kept")


def _weakened(before: Manifest, now: Manifest) -> Iterable[str]:
    # Stored objects are shared and never changed in place: the same one means no change at all.
    if before is now:
        return
    then = _containers(before)
    present = _containers(now)
    for name, container in then.items():
        other = present.get(name)
        if other is None:
            yield f"container {name} is gone"
            continue
        for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
            if container.get(probe) and not other.get(probe):
                yield f"{name} lost its {probe}"
        limits = (container.get("resources") or {}).get("limits") or {}
        kept = (other.get("resources") or {}).get("limits") or {}
        for resource in limits:
            # To the container runtime a limit of zero means none, however the zero is written (0, 0m, 0.0).
            if not any(char in "123456789" for char in str(kept.get(resource, ""))):
                yield f"{name} lost its {resource} limit"
        security = (other.get("securityContext") or {}).get("privileged")
        if security and not (container.get("securityContext") or {}).get("privileged"):
            yield f"{name} became privileged"
        # A mirror, a tag or a digest may change in an honest repair; another program may not.
        if _repository(container) != _repository(other):
            yield f"{name} runs another program's image, {other.get('image', '')}"
        for argument in _protections(container):
            if argument not in _words(other):
                yield f"{name} lost {argument}"
    before_spec, spec = (obj["spec"]["template"]["spec"] for obj in (before, now))
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(field) and not before_spec.get(field):
            yield f"pods got {field}"


_PROTECTION = re.compile(r"--?\w*(?:auth|tls|ssl|acl|requirepass)\w*")
"""Arguments that protect what a program serves."""


def _protections(container: Manifest) -> list[str]:
    return [word for word in _words(container) if _PROTECTION.match(word)]


def _words(container: Manifest) -> list[str]:
    return [*(container.get("command") or ()), *(container.get("args") or ())]


def _repository(container: Manifest) -> str:
    """The last part of the image's repository: ``mongo`` for ``docker.io/library/mongo:4.4.6@sha256:...``."""
    image: str = container.get("image", "")
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


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
            for container in _containers(workload).values():
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


def _unavailable(resource: str, obj: Manifest) -> str:
    status = obj.get("status") or {}
    if resource == "daemonsets.apps":
        wanted, ready = status.get("desiredNumberScheduled", 0), status.get("numberAvailable", 0)
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


def _containers(workload: Manifest) -> dict[str, Manifest]:
    spec = workload["spec"]["template"]["spec"]
    return {container["name"]: container for container in spec.get("containers") or ()}


def _named(key: ObjectKey) -> str:
    resource, namespace, name = key
    kind = resource.split(".", 1)[0]
    return f"{kind}/{name}" if not namespace else f"{kind}/{name} -n {namespace}"


def _missing(names: Sequence[str]) -> str:
    return f"missing: {_shown(names)}" if names else "none missing"


def _shown(lines: Sequence[str]) -> str:
    shown = "; ".join(lines[:_ENOUGH_SHOWN])
    return shown if len(lines) <= _ENOUGH_SHOWN else f"{shown}; and {len(lines) - _ENOUGH_SHOWN} more"
