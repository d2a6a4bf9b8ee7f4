"""Pods that had to go for somebody else's, because those rank higher."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.api import Cluster, World
from sregym_env.cluster.edits import Create, JsonPatch, ObjectRef, RecreatePods, Rollout, Scale
from sregym_env.cluster.targets import SCALED, ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import mend, put, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, Predicate, fault
from sregym_env.kube.quantity import bytes_
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

SCHEDULING = "scheduling.k8s.io"
CLASSES = f"priorityclasses.{SCHEDULING}"

SHARE = 0.6
"""Of the memory that is free on a node: what the component's pods ask for there together. The published injector gives one
pod 30 % of the node."""
MI = 2**20

TENANTS = (
    ("analytics-batch", "tenant-ingester"), ("data-platform", "event-compactor"), ("ml-training", "feature-builder"),
    ("reporting", "report-cache"), ("search-index", "reindexer"), ("risk", "scenario-runner"), ("streaming", "window-aggregator"),
    ("ingest", "partner-loader"), ("bi", "cube-builder"), ("geo-data", "tile-renderer"),
)  # fmt: skip
"""(namespace, Deployment) of other tenants with much in memory."""

RANKS = (
    ("production-critical", "platform-medium", "batch-low"), ("business-core", "standard", "best-effort"),
    ("tier-0", "tier-2", "tier-3"), ("customer-facing", "default-priority", "background"), ("prod-high", "prod-default", "spare"),
    ("user-path", "workload-default", "opportunistic"), ("gold", "silver", "bronze"), ("p0", "p2", "p4"),
)  # fmt: skip
"""Names of three classes: above the default one, the default one, below it."""

POOLS = (
    ("pool", "memory"), ("node-pool", "highmem"), ("workload-class", "stateful"), ("capacity", "reserved"), ("tier", "large"),
    ("dedicated-for", "caches"), ("instance-family", "r"),
)  # fmt: skip
"""Labels of machines for what needs much memory."""


def _way(target: ComponentTarget, chance: Chance) -> str:
    """How it came to rank lower. Of several pods that rank like everybody else's, some would stay, and what has a class of
    its own gets no other one."""
    alone = target.replicas == 1 and not target.template_declares("priorityClassName")
    return chance.choice("way", ("named", "before")) if alone else "named"


@fault(
    layer="kubernetes",
    mechanism="outranked_by_others",
    targets=components(
        where=lambda target: (
            target.component.workload in SCALED
            and target.inventory.declares(target.component)
            and bool(_homes(target))
        )
    ),
    level="hard",
)
def priority_preempts_production(
    target: ComponentTarget,
    way: str = drawn(_way, published="before"),
    tenant: tuple[str, str] = drawn(one_of(*TENANTS), published=TENANTS[0]),
    ranks: tuple[str, str, str] = drawn(one_of(*RANKS), published=RANKS[0]),
    value: int = drawn(one_of(100, 1000, 5000, 10_000, 100_000), published=100_000),
    pool: tuple[str, str] = drawn(one_of(*POOLS), published=POOLS[0]),
) -> Fault:
    """Another tenant's pod needs the memory of the node to which the component is bound, and the scheduler makes room for it.

    It ranks higher: by the default PriorityClass of the cluster, which is younger than the component's pods (``before``), or
    because the component names a class below all that have none (``named``). What is started again ranks no higher than the
    tenant, so it stays Pending.
    """
    above, default, below = ranks
    space, name = tenant
    named = way == "named"
    node, free = _home(target)
    asked = int(free * SHARE / max(target.replicas, 1)) // MI
    # With all of the component's pods but one still there it does not fit, whoever else of their rank goes.
    taken = free // MI - asked // 4
    other = ObjectRef("deployments.apps", name, space)
    lower = _class(below, -value // 10, False, "May go for anybody else")
    usual = _class(default, value, True, "Whatever does not say what it is")
    reason = (
        f"their priority class {below} ({-value // 10}) ranks below what has none"
        if named
        else f"they have no priority class and newer pods get more from PriorityClass {default} ({value}), which became the "
        "global default after they were started"
    )
    return Fault(
        resource=target.workload if named else ObjectRef(CLASSES, default),
        cause=f"The pods of {target.kind} {target.name} were preempted by Deployment {name} of namespace {space}, because "
        f"{reason}; their replacements rank no higher and stay Pending, as node {node} has no memory left.",
        earlier=[
            Create(_class(above, 10 * value, False, "Services that users wait for")),
            *([Create(lower)] if named else []),
            Create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}),
            JsonPatch(ObjectRef("nodes", node), f"/metadata/labels/{pool[0]}", pool[1]),
            Rollout(target.workload, _bound(target, pool, asked, below if named else "")),
        ],
        edits=[*([] if named else [Create(usual)]), Create(_tenant(name, space, pool, taken))],
        trigger=[Scale(other, 1), *map(RecreatePods, target.dependents)],
        details={
            "field": "priorityClassName" if named else "globalDefault",
            "wrong": below if named else default,
            "right": above,
        },
        facts={"tenant": name, "elsewhere": space, "node": node, "rank": below if named else default},
        remedies=[mend(target, put(target.workload, target.template_path("priorityClassName"), above))],
        look=[
            f"kubectl get events -n {target.namespace} --field-selector reason=Preempted",
            show(target),
            "kubectl get priorityclasses" + ("" if named else " -o yaml"),
            f"kubectl describe node {node}",
            f"kubectl get pods -n {space} -o yaml",
        ],
        accepts=[target.workload, other],
        answers=["priorityClassName"],
        aliases=[name, below if named else default],
        cured=[_outranks(target, other)],
    )


def _homes(target: ComponentTarget) -> list[tuple[int, str]]:
    """(memory that is free, bytes, name) of the nodes to which its pods may be bound."""
    inventory = target.inventory
    volume = inventory.volume_of.get(target.name)
    if volume is not None and volume.node:
        return [(inventory.room.get(volume.node, 0), volume.node)]
    return [
        (inventory.room.get(node["metadata"]["name"], 0), node["metadata"]["name"])
        for node in inventory.machines
        if not node["spec"].get("taints") and not node["spec"].get("unschedulable")
    ]


def _home(target: ComponentTarget) -> tuple[str, int]:
    """The node to which its pods are bound, and the memory that is free there without them, bytes."""
    free, node = max(_homes(target))
    return node, free


def _class(name: str, value: int, default: bool, description: str) -> Manifest:
    return {
        "apiVersion": f"{SCHEDULING}/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **({"globalDefault": True} if default else {}),
        "description": description,
    }


def _bound(target: ComponentTarget, pool: tuple[str, str], asked: int, rank: str) -> dict[str, Any]:
    """Changes of the pod template: the pool where its pods run, what they ask for there, and their class."""
    resources = target.declares("resources") or {}
    limit = (resources.get("limits") or {}).get("memory")
    made = {**resources, "requests": {**(resources.get("requests") or {}), "memory": f"{asked}Mi"}}
    if limit is not None and bytes_(limit) < asked * MI:
        made["limits"] = {**resources["limits"], "memory": f"{asked}Mi"}
    changes: dict[str, Any] = {
        target.container_path("resources"): made,
        target.template_path("nodeSelector"): {
            **(target.template_declares("nodeSelector") or {}),
            pool[0]: pool[1],
        },
    }
    if rank:
        changes[target.template_path("priorityClassName")] = rank
    return changes


def _tenant(name: str, namespace: str, pool: tuple[str, str], memory: int) -> Manifest:
    """Somebody else's work, which has not begun."""
    labels = {"app": name}
    container = {
        "name": "worker",
        "image": "busybox:1.36",
        "command": ["sh", "-c", "while true; do echo waiting for work; sleep 600; done"],
        "resources": {"requests": {"cpu": "50m", "memory": f"{memory}Mi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "nodeSelector": {pool[0]: pool[1]}},
            },
        },
    }


def _outranks(target: ComponentTarget, other: ObjectRef) -> Predicate:
    """Whether the component's next pod ranks higher than the tenant's, who goes on with its work."""

    def cured(world: World) -> Finding:
        expected = f"pods of {target.name} rank above those of {other.name}, which is there"
        try:
            own, theirs = (
                world.cluster.get(ref.resource, ref.name, ref.namespace)["spec"]
                for ref in (target.workload, other)
            )
        except StatusError as error:
            return Finding("priority", False, str(error), expected)
        ranks = [_rank(world.cluster, spec["template"]["spec"]) for spec in (own, theirs)]
        there = bool(theirs.get("replicas", 1))
        observed = f"{ranks[0]} against {ranks[1]}" + ("" if there else ", which was scaled to zero")
        return Finding("priority", there and ranks[0] > ranks[1], observed, expected)

    return cured


def _rank(cluster: Cluster, spec: Manifest) -> int:
    """The priority of the next pod that is made by a template."""
    name = spec.get("priorityClassName")
    return next(
        (
            int(each["value"])
            for each in cluster.list(CLASSES)
            if (each["metadata"]["name"] == name if name else each.get("globalDefault"))
        ),
        0,
    )
