"""An autoscaler that counts pods which are not its own, because they match the same selector."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.apps.calls import cores
from sregym_env.apps.further import rate
from sregym_env.cluster.api import World
from sregym_env.cluster.edits import AwaitRollout, Create, Delete, JsonPatch, ObjectRef, Rollout, Scale
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import fresh, one_of
from sregym_env.faults.commands import apply, delete, put, restart, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.faults.storms import IDLE, LEAST, SCALERS, STEADY, scalers
from sregym_env.kube.selectors import from_dict
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

PODS = 5
"""Pods that the usual load needs, and has as long as the autoscaler counts them alone."""

FEWEST, MOST = 2, 10
"""Between how many it keeps them."""

NEEDED = 4.5
"""Pods whose requests the usual load uses up as far as the autoscaler aims at."""

ROOMY = 0.42
"""The share of a limit that is used where a request comes now and then, so low that nothing is throttled that anybody would see."""

MATURES = 420.0
"""Seconds until it has scaled in: it remembers what it wanted for five minutes."""

LANES = (
    ("track", "stable", "batch"), ("lane", "live", "replay"), ("role", "serving", "warmup"), ("tier", "online", "offline"),
    ("mode", "serve", "import"), ("purpose", "traffic", "backfill"), ("workload", "online", "reindex"),
)  # fmt: skip
"""(label, its value on pods that serve, and on others of the same component)."""


def _scalable(target: ComponentTarget) -> bool:
    return bool(
        target.component.stateless
        and target.component.workload == "deployments.apps"
        and target.inventory.declares(target.component)
        and cores(target.app, target.name) >= LEAST
    )


def _lane(target: ComponentTarget, chance: Chance) -> tuple[str, str, str]:
    """A label that its pods do not carry."""
    carried = target.manifest["spec"]["template"]["metadata"].get("labels") or {}
    return tuple(chance.choice("lane", [each for each in LANES if each[0] not in carried]))  # type: ignore[return-value]


@fault(
    layer="kubernetes",
    mechanism="autoscaler_counts_others",
    targets=components(at_request=True, where=_scalable),
    level="hard",
)
def autoscaler_counts_others(
    target: ComponentTarget,
    lane: tuple[str, str, str] = drawn(_lane, published=LANES[0]),
    scaler: str = drawn(
        fresh(
            SCALERS, "{name}", "{name}-hpa", "{name}-autoscaler", "{name}-scaler", "hpa-{name}", "{name}-cpu"
        ),
        published=lambda target: f"{target.name}-autoscaler",
    ),
    percent: int = drawn(one_of(65, 70, 75, 80), published=70),
    larger: float = drawn(lambda target, chance: round(chance.uniform("larger", 5.0, 7.0), 1), published=6.0),
    idle: int = drawn(one_of(2, 3), published=2),
) -> Fault:
    """An autoscaler averages over another workload's idle pods as well, since they match its target's selector, and scales in.

    The Deployment's selector is broader than its Service's, which asks for one label more (``lane``: the label, its value on the
    pods that serve, and on the others). What came beside it has that label with another value, asks for ``larger`` times the CPU
    and uses none. So the utilization is low whatever the pods that serve do, and they are as few as the autoscaler may keep
    (``percent`` is what it aims at, ``idle`` how many pods came). Its conditions say that all is well; more pods by hand are taken
    away, more CPU or a higher minimum leave it as blind, and the work beside it is somebody's.
    """
    key, own, other = lane
    name = f"{target.name}-{other}"
    sibling = ObjectRef("deployments.apps", name, target.namespace)
    autoscaler = ObjectRef(SCALERS, scaler, target.namespace)
    needed = cores(target.app, target.name)
    # Each of so many pods has room to spare, and so few as the autoscaler may keep are not enough.
    share = ROOMY + STEADY * rate(target.app, target.name) / PODS
    limit = round((needed / PODS / share + IDLE) * 1000)
    asked = round((needed + PODS * IDLE) / NEEDED / (percent / 100) * 1000)
    beside = f"{round(asked * larger)}m"
    made = _sibling(target, name, {**target.labels, key: other}, beside, idle)
    apart = _sibling(target, name, {"app": name, key: other}, beside, idle)
    labels = ",".join(f"{label}={value}" for label, value in target.labels.items())
    services = _services(target)
    return Fault(
        resource=sibling,
        cause=f"The HorizontalPodAutoscaler {scaler} of {target.kind} {target.name} also counts the idle pods of Deployment {name}, "
        f"whose labels match the selector of {target.name} ({labels}): they ask for {beside} of CPU each and use none, so the average "
        f"utilization stays below {percent} % and {target.name} is kept at {FEWEST} pods, which are too few for the load.",
        earlier=[
            *map(Delete, scalers(target)),
            Rollout(
                target.workload,
                {
                    f"/spec/template/metadata/labels/{key}": own,
                    target.template_path("containers"): _sized(target, f"{asked}m", f"{limit}m"),
                },
            ),
            Scale(target.workload, PODS),
            AwaitRollout(target.workload),
            *(JsonPatch(service, f"/spec/selector/{key}", own) for service in services),
            Create(_autoscaler(autoscaler, target, percent)),
        ],
        edits=[Create(made)],
        matures=MATURES,
        details={"field": "labels", "wrong": name},
        facts={"scaler": scaler, "sibling": name, "percent": percent},
        # Where probes kill what is overloaded, those that are left use too little for anybody to see that they are too few, and who has
        # registered at every start is asked for all of them.
        remedies=[
            [
                delete(sibling),
                apply(apart),
                put(autoscaler, "/spec/minReplicas", PODS),
                *restart(target, [target.name]),
                "sleep 180",
                put(autoscaler, "/spec/minReplicas", FEWEST),
            ]
        ],
        look=[
            f"kubectl get hpa -n {target.namespace}",
            f"kubectl describe hpa {scaler} -n {target.namespace}",
            f"kubectl top pods -n {target.namespace}",
            show(target),
            f"kubectl get pods -n {target.namespace} -l {labels} --show-labels",
            f"kubectl get deployment {name} -n {target.namespace} -o yaml",
        ],
        accepts=[target.workload, autoscaler, *services, *scalers(target)],
        additions=[("deployments.apps", target.namespace)],
        aliases=[scaler],
        cured=[
            _CountsItsOwn(target.workload, autoscaler),
            _GoesOn(target.workload, made["spec"]["template"]["spec"]["containers"][0], idle),
        ],
    )


def _sized(target: ComponentTarget, asked: str, limit: str) -> list[Manifest]:
    """Its containers with what the main one asks for and may use; of all others something must be known as well."""
    made = []
    for index, each in enumerate(target.pod_spec["containers"]):
        resources = each.get("resources") or {}
        main = index == target.container_index
        requests = {"cpu": "1m", **(resources.get("requests") or {}), **({"cpu": asked} if main else {})}
        changed = {**resources, "requests": requests}
        if main:
            changed["limits"] = {**(resources.get("limits") or {}), "cpu": limit}
        made.append({**each, "resources": changed})
    return made


def _services(target: ComponentTarget) -> list[ObjectRef]:
    """The Services whose selector finds its pods."""
    labels = (target.manifest["spec"]["template"]["metadata"].get("labels") or {}).items()
    return [
        ObjectRef("services", name, space)
        for (resource, space, name), manifest in target.inventory.declared.items()
        if resource == "services"
        and space == target.namespace
        and (selector := manifest["spec"].get("selector"))
        and selector.items() <= labels
    ]


def _autoscaler(scaler: ObjectRef, target: ComponentTarget, percent: int) -> Manifest:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": scaler.name, "namespace": scaler.namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target.name},
            "minReplicas": FEWEST,
            "maxReplicas": MOST,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {
                        "name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": percent},
                    },
                }
            ],
        },
    }


def _sibling(target: ComponentTarget, name: str, labels: Mapping[str, str], cpu: str, pods: int) -> Manifest:
    """Work that is there to be done now and then, and not now."""
    container = {
        "name": "worker",
        "image": "busybox:1.36",
        "command": ["sh", "-c", "while true; do echo no work; sleep 600; done"],
        "resources": {"requests": {"cpu": cpu, "memory": "32Mi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": target.namespace},
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": dict(labels)},
            "template": {"metadata": {"labels": dict(labels)}, "spec": {"containers": [container]}},
        },
    }


class _CountsItsOwn:
    """Whether the autoscaler is there, as free as it was, and its target's selector finds that one's pods alone."""

    def __init__(self, workload: ObjectRef, scaler: ObjectRef) -> None:
        self._workload = workload
        self._scaler = scaler

    def __call__(self, world: World) -> Finding:
        expected = f"an autoscaler of {self._workload.name} counts its pods and no others"
        wrong = self._complaint(world)
        return Finding("autoscaling", not wrong, wrong or "it does", expected)

    def _complaint(self, world: World) -> str:
        where, cluster = self._workload, world.cluster
        scaling = [
            each["spec"]
            for each in cluster.list(SCALERS, where.namespace)
            if each["spec"]["scaleTargetRef"]["name"] == where.name
        ]
        if not any(spec["maxReplicas"] >= MOST for spec in scaling):
            return f"{where.name} is no longer scaled to {MOST} pods"
        try:
            selector = from_dict(cluster.get(where.resource, where.name, where.namespace)["spec"]["selector"])
        except StatusError as error:
            return str(error)
        own = {
            each["metadata"]["uid"]
            for each in cluster.list("replicasets.apps", where.namespace)
            if _owner(each) == ("Deployment", where.name)
        }
        others = sorted(
            pod["metadata"]["name"]
            for pod in cluster.list("pods", where.namespace)
            if selector.matches(pod["metadata"].get("labels") or {})
            and "deletionTimestamp" not in pod["metadata"]
            and not any(owner["uid"] in own for owner in pod["metadata"].get("ownerReferences") or ())
        )
        return f"{', '.join(others[:3])} counted as well" if others else ""


def _owner(obj: Manifest) -> tuple[str, str]:
    owners = obj["metadata"].get("ownerReferences") or ()
    return next(((owner["kind"], owner["name"]) for owner in owners if owner.get("controller")), ("", ""))


class _GoesOn:
    """Whether the work beside it is there still, with as many pods and as much to work with."""

    def __init__(self, workload: ObjectRef, container: Manifest, pods: int) -> None:
        self._workload = workload
        self._container = container
        self._pods = pods

    def __call__(self, world: World) -> Finding:
        there = [
            each["metadata"]["name"]
            for each in world.cluster.list("deployments.apps", self._workload.namespace)
            if each["metadata"]["name"] != self._workload.name
            and each["spec"].get("replicas", 1) >= self._pods
            and any(self._is_it(found) for found in each["spec"]["template"]["spec"]["containers"])
        ]
        expected = f"a Deployment with {self._pods} pods that do the work"
        return Finding("the work beside it", bool(there), ", ".join(there) or "none", expected)

    def _is_it(self, container: Manifest) -> bool:
        return all(container.get(part) == self._container[part] for part in ("image", "command", "resources"))
