"""What the oracle remembers of the healthy system, taken before the fault strikes.

Only references to stored objects are kept: objects are immutable, so a baseline costs a few lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from sregym_env.cluster.api import World
from sregym_env.cluster.audit import audited
from sregym_env.cluster.inventory import ObjectKey, declared
from sregym_env.cluster.targets import ROLLED
from sregym_env.kube import registry
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.rewards import stored
from sregym_env.rewards.objects import controlled, name_of

NAMESPACED = (
    *ROLLED,
    "services",
    "configmaps",
    "secrets",
    "persistentvolumeclaims",
    "serviceaccounts",
    "jobs.batch",
    "cronjobs.batch",
    "networkpolicies.networking.k8s.io",
    "resourcequotas",
    "limitranges",
    "poddisruptionbudgets.policy",
    "horizontalpodautoscalers.autoscaling",
    "ingresses.networking.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
)
"""Kinds whose baseline objects must survive a repair, in the application's and the system's namespaces; those
that the application defines itself come on top."""

CLUSTER_SCOPED = (
    "namespaces",
    "nodes",
    "storageclasses.storage.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
)

SYSTEM_NAMESPACES = ("kube-system",)

WINDOW_SECONDS = 60.0
"""How long users are watched before a journey is believed to be healthy."""


FLEETING = (
    "events",
    "events.events.k8s.io",
    "leases.coordination.k8s.io",
    "endpoints",
    "componentstatuses",
    "bindings",
    "controllerrevisions.apps",
    "pods.metrics.k8s.io",
    "nodes.metrics.k8s.io",
)
"""Kinds of objects that say how things are, and not how they shall be."""


@dataclass(frozen=True, slots=True)
class PodAtCall:
    """A pod that was ready when the agent was called."""

    uid: str
    key: ObjectKey
    makers: tuple[ObjectKey, ...]
    """Its controller, that one's controller, and so on."""
    node: str = ""
    """Where it stood."""


@dataclass(frozen=True, slots=True)
class Called:
    """The world at the moment the agent was called, the faults in it: what is compared to tell the agent's doings."""

    objects: Mapping[ObjectKey, Manifest]
    """Everything in all namespaces, apart from what only tells how things are."""
    pods: tuple[PodAtCall, ...]
    """Those that were ready."""
    short: frozenset[ObjectKey]
    """Workloads that lacked pods."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The healthy system: its objects, which Services had ready backends, and what users did."""

    namespaces: tuple[str, ...]
    """The application's, its main one first."""
    objects: Mapping[ObjectKey, Manifest]
    backed: Mapping[tuple[str, str], frozenset[str]]
    """The workloads (``Deployment/geo``) behind each of the application's Services that had ready endpoints,
    by (namespace, Service)."""
    offered: Mapping[str, float]
    """Requests per second that users offered, by journey."""
    served: Mapping[str, float]
    """Requests per second that reached each component on the users' path."""
    kept: Mapping[str, stored.Contents] = field(default_factory=dict)
    """What each database held, by component."""
    called: Called | None = None
    """The world as the agent found it, where one was called."""
    mendable: frozenset[ObjectKey] = frozenset()
    """What is out of order besides and no part of the cause: who puts it right does no harm."""


def capture(world: World) -> Baseline:
    """Take the baseline of a world that is healthy now."""
    objects = dict(protected_objects(world))
    health = world.traffic.health(WINDOW_SECONDS)
    return Baseline(
        namespaces=world.app.namespaces,
        objects=objects,
        backed=backends(world),
        offered={journey.journey: journey.requests / WINDOW_SECONDS for journey in health},
        served=reached(world),
        kept=stored.contents(world),
    )


def call(world: World) -> Called:
    """Take down what the agent finds, and have account kept of what it does from now on."""
    keeping = audited(world)
    if keeping is not None:
        keeping.account()
    objects = dict(everything(world))
    return Called(
        objects=objects,
        pods=tuple(
            PodAtCall(
                obj["metadata"]["uid"], key, tuple(_makers(obj, objects)), obj["spec"].get("nodeName", "")
            )
            for key, obj in objects.items()
            if key[0] == "pods" and _is_well(obj)
        ),
        short=frozenset(key for key, obj in objects.items() if key[0] in ROLLED and _is_short(obj)),
    )


def everything(world: World) -> Iterator[tuple[ObjectKey, Manifest]]:
    """Every object that says how things shall be, with its key."""
    for resource in world.cluster.registry.preferred():
        if resource.key in FLEETING or "list" not in resource.verbs:
            continue
        with suppress(StatusError):
            for obj in world.cluster.list(resource.key):
                yield (resource.key, obj["metadata"].get("namespace", ""), name_of(obj)), obj


def _makers(obj: Manifest, objects: Mapping[ObjectKey, Manifest]) -> Iterator[ObjectKey]:
    namespace = obj["metadata"].get("namespace", "")
    above: Manifest | None = obj
    while above is not None:
        owner = next((o for o in above["metadata"].get("ownerReferences") or () if o.get("controller")), None)
        resource = None if owner is None else registry.by_kind(owner["apiVersion"], owner["kind"])
        if owner is None or resource is None:
            return
        key = (resource.key, namespace, owner["name"])
        yield key
        above = objects.get(key)


def _is_well(pod: Manifest) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def _is_short(workload: Manifest) -> bool:
    status = workload.get("status") or {}
    wanted = status.get("desiredNumberScheduled", (workload.get("spec") or {}).get("replicas", 1))
    return bool(max(status.get("availableReplicas", 0), status.get("numberAvailable", 0)) < wanted)


def protected_objects(world: World) -> list[tuple[ObjectKey, Manifest]]:
    """Every object a repair must not lose, with its key, in a stable order."""
    found: list[tuple[ObjectKey, Manifest]] = []
    for resource in CLUSTER_SCOPED:
        # Not every release serves all of them.
        with suppress(StatusError):
            found.extend(((resource, "", name_of(obj)), obj) for obj in world.cluster.list(resource))
    own = _custom(world)
    for namespace in (*world.app.namespaces, *SYSTEM_NAMESPACES):
        for resource in (*NAMESPACED, *own):
            found.extend(
                ((resource, namespace, name_of(obj)), obj)
                for obj in world.cluster.list(resource, namespace)
                if not _comes_and_goes(resource, obj)
            )
    return found


def _custom(world: World) -> list[str]:
    """Namespaced kinds of the application's own objects that no plain cluster has."""
    used = {key[0] for key in declared(world.app) if key[1]}
    return sorted(resource for resource in used if registry.by_key(resource) is None)


def _comes_and_goes(resource: str, obj: Manifest) -> bool:
    """Whether an object is one of a CronJob's jobs, which cleans up after itself."""
    return resource == "jobs.batch" and controlled(obj)


def reached(world: World) -> dict[str, float]:
    """Requests per second at every component through which journeys pass, stores aside: caches hide those."""
    path = {name for journey in world.app.journeys for name in journey.through} | {world.app.entry}
    stateless = {c.name for c in world.app.components if c.name in path and c.stateless}
    return {
        component.component: component.rate
        for component in world.traffic.components(WINDOW_SECONDS)
        if component.component in stateless
    }


def backends(world: World) -> dict[tuple[str, str], frozenset[str]]:
    """The workloads whose pods are ready endpoints of each of the application's Services, by (namespace, Service).

    Services without any are left out.
    """
    found: dict[tuple[str, str], frozenset[str]] = {}
    for namespace in world.app.namespaces:
        for service, workloads in _backends(world, namespace).items():
            found[(namespace, service)] = frozenset(workloads)
    return found


def _backends(world: World, namespace: str) -> dict[str, set[str]]:
    owners = {pod["metadata"]["name"]: pod["metadata"] for pod in world.cluster.list("pods", namespace)}
    sets = {
        rs["metadata"]["name"]: rs["metadata"] for rs in world.cluster.list("replicasets.apps", namespace)
    }
    found: dict[str, set[str]] = {}
    for slice_ in world.cluster.list("endpointslices.discovery.k8s.io", namespace):
        service = (slice_["metadata"].get("labels") or {}).get("kubernetes.io/service-name", "")
        for endpoint in slice_.get("endpoints") or ():
            if service and _is_ready(endpoint):
                pod = (endpoint.get("targetRef") or {}).get("name", "")
                found.setdefault(service, set()).add(_workload(owners.get(pod), sets) or f"Pod/{pod}")
    return dict(sorted(found.items()))


def _workload(metadata: Manifest | None, replica_sets: Mapping[str, Manifest]) -> str:
    """``Kind/name`` of the topmost controller; empty for none."""
    for owner in (metadata or {}).get("ownerReferences") or ():
        if owner.get("controller"):
            above = replica_sets.get(owner["name"]) if owner["kind"] == "ReplicaSet" else None
            return _workload(above, {}) or f"{owner['kind']}/{owner['name']}"
    return ""


def _is_ready(endpoint: Manifest) -> bool:
    return (endpoint.get("conditions") or {}).get("ready", True) is not False
