"""A staged world as figures: every object that could be at fault, and what its metadata counts up to.

Everything comes from lists that the agent could have as well; which object is at fault comes from the ground truth.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from statistics import median
from typing import Final

import orjson

from sregym_env import apps
from sregym_env.cluster.api import World
from sregym_env.cluster.app import App
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.cluster.targets import ROLLED
from sregym_env.envs.staged import Staged
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.kube import registry
from sregym_env.kube.ownership.inferred import shown
from sregym_env.kube.types import Manifest
from sregym_env.rollouts.shortcuts.audit.contents import contents, odd

RESOURCES: Final = (
    *ROLLED,
    "services",
    "configmaps",
    "secrets",
    "persistentvolumeclaims",
    "serviceaccounts",
    "networkpolicies.networking.k8s.io",
    "resourcequotas",
    "limitranges",
    "horizontalpodautoscalers.autoscaling",
    "poddisruptionbudgets.policy",
    "cronjobs.batch",
)
"""What people write in the application's namespaces."""

BESIDE: Final = (("configmaps", "coredns"), ("deployments.apps", "coredns"))
"""What else of kube-system is suspected."""

MANUAL: Final = frozenset(
    "kubectl kubectl-edit kubectl-patch kubectl-set kubectl-scale kubectl-replace kubectl-create kubectl-label "
    "kubectl-annotate kubectl-rollout kubectl-expose kubectl-run kubectl-autoscale Mozilla node-fetch".split()
)
"""Field managers that people leave behind, and not pipelines."""

CHANGING: Final = frozenset(
    "kubectl-edit kubectl-patch kubectl-set kubectl-scale kubectl-rollout kubectl-label kubectl-annotate "
    "kubectl-autoscale".split()
)
"""Field managers that change what is there, and make nothing."""

TOOLS: Final = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "meta.helm.sh/",
    "argocd.argoproj.io/",
    "kustomize.toolkit.fluxcd.io/",
    "kompose.",
    "app.kubernetes.io/managed-by",
)
"""Annotations and labels that delivery tools leave."""

NAN: Final = math.nan


@dataclass(frozen=True, slots=True)
class Candidate:
    """An object that could be at fault."""

    key: ObjectKey
    culprit: bool
    """Whether it is, or belongs to a component that is."""
    figures: Mapping[str, float]
    """What can be counted of it, by name; not a number where there is nothing to count."""
    contents: frozenset[str] = frozenset()
    """What it is made of beside others of its kind (:func:`~sregym_env.rollouts.shortcuts.audit.contents.contents`)."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A world to name the culprit of."""

    pair: str
    seed: int
    candidates: tuple[Candidate, ...]


def scene(staged: Staged, pair: str, seed: int) -> Scene:
    """The figures of a staged world."""
    world = staged.world
    objects = list(_objects(world))
    guilty = _guilty(staged)
    usual = _usual(staged.app)
    pods = _Pods(world)
    kinds: dict[str, list[int]] = {}
    for key, obj in objects:
        kinds.setdefault(key[0], []).append(_size(obj))
    made_of = contents([obj for _, obj in objects])
    tooled = {kind: _mostly_tooled(objects, kind) for kind in kinds}
    managers = Counter(manager for key, obj in objects for manager in {m for m, _ in _writes(key, obj)})
    created = [_seconds(obj["metadata"].get("creationTimestamp")) for _, obj in objects]
    seconds = Counter(created)
    places = Counter[tuple[str, str]]()
    found = []
    for (key, obj), made, words in zip(objects, created, made_of, strict=True):
        metadata = obj["metadata"]
        writes = _writes(key, obj)
        names = {manager for manager, _ in writes}
        written = max((at for _, at in writes), default=made)
        odd_labels, odd_values = odd(words)
        position = places[key[:2]]
        places[key[:2]] += 1
        found.append(
            Candidate(
                key,
                key in guilty,
                {
                    "created": made,
                    "written": max(made, written),
                    "version": float(metadata["resourceVersion"]) if key[0] != "nodes" else NAN,
                    "generation": float(metadata["generation"]) if "generation" in metadata else NAN,
                    "revision": _revision(metadata),
                    "replica_set": pods.newest_set.get(key, NAN),
                    # Who has no pods shows a symptom, and no age.
                    "pod": pods.newest_pod.get(key, pods.newest_set.get(key, NAN)),
                    "restarts": pods.restarts.get(key, NAN),
                    "unready": pods.unready.get(key, NAN),
                    "warnings": float(pods.warnings[key]),
                    "managers": float(len(names)),
                    "manual": float(bool(names & MANUAL)),
                    "unmade": float(bool(names) and names <= CHANGING),
                    "rare_manager": 1 / min((managers[name] for name in names), default=len(objects)),
                    "untooled": float(tooled[key[0]] and not _tooled(metadata)),
                    "odd_time": _oddness(made, created),
                    "lone_second": 1 / seconds[made],
                    "second": made % 60,
                    "size": math.log(_size(obj) / median(kinds[key[0]])),
                    "labels": float(len(metadata.get("labels") or ())),
                    "annotations": float(len(metadata.get("annotations") or ())),
                    "odd_labels": float(odd_labels),
                    "odd_values": float(odd_values),
                    "entropy": entropy(key[2]),
                    "length": float(len(key[2])),
                    "position": float(position),
                    "usual": float(key in usual),
                },
                words,
            )
        )
    return Scene(pair, seed, tuple(found))


def entropy(name: str) -> float:
    """Bits per character of a name."""
    counts = Counter(name)
    return -sum(count / len(name) * math.log2(count / len(name)) for count in counts.values())


def _objects(world: World) -> Iterator[tuple[ObjectKey, Manifest]]:
    cluster = world.cluster
    for namespace in world.app.namespaces:
        for resource in RESOURCES:
            for obj in cluster.list(resource, namespace):
                name = obj["metadata"]["name"]
                if name not in ("kube-root-ca.crt", "default"):
                    yield (resource, namespace, name), obj
    for resource, name in BESIDE:
        for obj in cluster.list(resource, "kube-system", field_selector=f"metadata.name={name}"):
            yield (resource, "kube-system", name), obj
    for node in cluster.list("nodes"):
        yield ("nodes", "", node["metadata"]["name"]), node


def _guilty(staged: Staged) -> frozenset[ObjectKey]:
    """Objects at fault, and those of components at fault."""
    app = staged.app
    found: set[ObjectKey] = set()
    for cause in staged.causes:
        found.update(cause.accepts())
    for spec in staged.specs:
        for name in spec.components:
            found |= _own(app, name)
    return frozenset(found)


def _usual(app: App) -> frozenset[ObjectKey]:
    """Objects of the components that some fault strikes."""
    struck = _struck(app.name)
    found: set[ObjectKey] = set()
    for component in app.components:
        if component.name in struck:
            found |= _own(app, component.name)
    return frozenset(found)


@cache
def _struck(app: str) -> frozenset[str]:
    names = [part.name for part in apps.app(app).parts] or [app]
    known = [problem for name in names for problem in pairs(app=name)]
    return frozenset(each.target for problem in known for each in problem.faults)


def _own(app: App, name: str) -> set[ObjectKey]:
    """A component's workload, Service and claim."""
    component, namespace = app.by_name[name], app.namespace_of(name)
    return {
        app.workload_of(name),
        ("services", namespace, component.service),
        ("persistentvolumeclaims", namespace, component.volume),
    }


class _Pods:
    """What pods, ReplicaSets and events tell of the workloads that own them."""

    def __init__(self, world: World) -> None:
        self.newest_set: dict[ObjectKey, float] = {}
        self.newest_pod: dict[ObjectKey, float] = {}
        self.restarts: dict[ObjectKey, float] = {}
        self.unready: dict[ObjectKey, float] = {}
        self.warnings: Counter[ObjectKey] = Counter()
        owners: dict[tuple[str, str, str], ObjectKey] = {}
        for namespace in world.app.namespaces:
            for made in world.cluster.list("replicasets.apps", namespace):
                self._note_set(made, owners)
            for pod in world.cluster.list("pods", namespace):
                self._note_pod(pod, owners)
            for event in world.cluster.list("events", namespace):
                self._note_event(event, owners)

    def _note_set(self, made: Manifest, owners: dict[tuple[str, str, str], ObjectKey]) -> None:
        owner = _owner(made, owners)
        if owner is not None:
            metadata = made["metadata"]
            owners[("ReplicaSet", metadata["namespace"], metadata["name"])] = owner
            at = _seconds(metadata["creationTimestamp"])
            self.newest_set[owner] = max(at, self.newest_set.get(owner, at))

    def _note_pod(self, pod: Manifest, owners: dict[tuple[str, str, str], ObjectKey]) -> None:
        owner = _owner(pod, owners)
        if owner is None or pod["status"].get("phase") == "Succeeded":
            return
        metadata, status = pod["metadata"], pod["status"]
        owners[("Pod", metadata["namespace"], metadata["name"])] = owner
        at = _seconds(metadata["creationTimestamp"])
        self.newest_pod[owner] = max(at, self.newest_pod.get(owner, at))
        count = sum(each.get("restartCount", 0) for each in status.get("containerStatuses") or ())
        self.restarts[owner] = max(float(count), self.restarts.get(owner, 0.0))
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or ())
        self.unready[owner] = max(float(not ready), self.unready.get(owner, 0.0))

    def _note_event(self, event: Manifest, owners: dict[tuple[str, str, str], ObjectKey]) -> None:
        if event.get("type") == "Warning":
            about = event["involvedObject"]
            name = (about["kind"], about.get("namespace", ""), about["name"])
            key = owners.get(name) or _named(*name)
            self.warnings[key] += event.get("count") or 1


def _owner(obj: Manifest, owners: Mapping[tuple[str, str, str], ObjectKey]) -> ObjectKey | None:
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            name = (owner["kind"], obj["metadata"]["namespace"], owner["name"])
            return owners.get(name) or _named(*name)
    return None


_OWNERS: Final = {
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
    "DaemonSet": "daemonsets.apps",
    "Service": "services",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "Node": "nodes",
    "CronJob": "cronjobs.batch",
}


def _named(kind: str, namespace: str, name: str) -> ObjectKey:
    return (_OWNERS.get(kind, kind), "" if kind == "Node" else namespace, name)


def _writes(key: ObjectKey, obj: Manifest) -> list[tuple[str, float]]:
    """(manager, when) of everything that wrote more than a status."""
    resource = registry.by_key(key[0])
    fields = obj["metadata"].get("managedFields") or (shown(resource, obj) if resource else ())
    return [
        (each["manager"], _seconds(each.get("time")))
        for each in fields
        if each.get("subresource") != "status"
    ]


def _seconds(text: str | None) -> float:
    return datetime.fromisoformat(text).timestamp() if text else 0.0


def _revision(metadata: Manifest) -> float:
    text = (metadata.get("annotations") or {}).get("deployment.kubernetes.io/revision")
    return float(text) if text else NAN


def _size(obj: Manifest) -> int:
    """Characters of what somebody wrote."""
    kept = {key: value for key, value in obj.items() if key not in ("status", "metadata")}
    return len(orjson.dumps(kept)) + len(orjson.dumps(obj["metadata"].get("annotations") or {}))


def _tooled(metadata: Manifest) -> bool:
    marks = (*(metadata.get("annotations") or ()), *(metadata.get("labels") or ()))
    return any(mark.startswith(TOOLS) for mark in marks)


def _mostly_tooled(objects: Sequence[tuple[ObjectKey, Manifest]], kind: str) -> bool:
    """Whether most objects of a kind carry a delivery tool's mark, so that one without is odd."""
    own = [_tooled(obj["metadata"]) for key, obj in objects if key[0] == kind]
    return 2 * sum(own) > len(own)


def _oddness(at: float, times: Sequence[float]) -> float:
    """How far a time lies from the other object's that is nearest to it, in logarithms of seconds."""
    distances = sorted(abs(at - other) for other in times)
    return math.log1p(distances[1]) if len(distances) > 1 else 0.0
