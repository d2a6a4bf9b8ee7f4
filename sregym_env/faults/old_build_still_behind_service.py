"""An old build that serves beside the current one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.apps.outdated import OUTDATED, lacks
from sregym_env.cluster.api import World
from sregym_env.cluster.edits import Create, ObjectRef, Scale
from sregym_env.cluster.targets import ComponentTarget, components, reconnected
from sregym_env.faults.choices import names_of, until
from sregym_env.faults.commands import delete, named, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, Predicate, fault
from sregym_env.faults.images import builds
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

KEYS = ("track", "slot", "release-track", "color", "variant", "lane", "deployment-group", "wave")
"""Labels by which teams tell apart two releases that run side by side."""

VALUES = ("blue", "green", "a", "b", "previous", "stable", "v1", "fallback", "standby", "reserve")
"""What such labels say of the release that is kept."""

SUFFIXES = (
    "blue", "green", "prev", "v1", "stable", "fallback", "b", "standby", "secondary", "2025", "rollback", "reserve", "main",
    "last",
)  # fmt: skip
"""What the name of a workload ends with that is kept beside another."""


def _fits(target: ComponentTarget) -> bool:
    return bool(
        target.component.workload == "deployments.apps"
        and target.component.service
        and builds(target, OUTDATED)
        and lacks(target.app, builds(target, OUTDATED)[0], target.name)
        and reconnected(target)
    )


def _name(target: ComponentTarget, chance: Chance) -> str:
    taken = names_of(target.inventory, "deployments.apps", target.namespace)
    name: str = until(
        chance,
        lambda by: f"{target.name}-{by.choice('suffix', SUFFIXES)}",
        lambda name: name not in taken,
        f"{target.name}-0",
    )
    return name


def _mark(target: ComponentTarget, chance: Chance) -> tuple[str, str]:
    labels = _labels(target)
    free = [key for key in KEYS if key not in labels]
    return chance.choice("key", free), chance.choice("value", VALUES)


def _count(target: ComponentTarget, chance: Chance) -> int:
    return chance.between("count", 1, max(target.replicas, 1))


def _labels(target: ComponentTarget) -> Mapping[str, str]:
    found: Mapping[str, str] = target.manifest["spec"]["template"]["metadata"].get("labels") or {}
    return found


@fault(
    layer="application",
    mechanism="outdated_build_serves",
    targets=components(at_request=True, where=_fits),
    level="hard",
)
def old_build_still_behind_service(
    target: ComponentTarget,
    name: str = drawn(
        _name,
        published=lambda target: f"{target.name}-legacy",
    ),
    mark: tuple[str, str] = drawn(_mark, published=("track", "legacy")),
    count: int = drawn(_count, published=1),
) -> Fault:
    """A Deployment with an old build, kept beside the current one, has pods again, which stand behind the same name.

    The old build is ready and lacks an operation that its callers ask for by now: a share of the requests fails. To roll
    back the current build makes all of them fail.
    """
    image, right = builds(target, OUTDATED)[0], target.container["image"]
    left = ObjectRef("deployments.apps", name, target.namespace)
    operation = lacks(target.app, image, target.name)[0]
    scaled = f"kubectl scale {named(left)} -n {target.namespace} --replicas=0"
    return Fault(
        resource=left,
        cause=f"Deployment {name} still runs the old build {image} of {target.name} beside Deployment {target.name}: its pods "
        f"carry the labels that Service {target.component.service} selects and answer a share of the requests, but the old "
        f"build does not have {operation}.",
        earlier=[Create(_kept(target, name, mark, image))],
        edits=[Scale(left, count)],
        details={"field": "image", "wrong": image, "right": right},
        facts={"leftover": name, "operation": operation},
        remedies=[
            [scaled],
            [delete(left).replace("deployments.apps", "deployment")],
        ],
        look=[
            f"kubectl get deployments -n {target.namespace} -o wide",
            f"kubectl get pods -n {target.namespace} --show-labels",
            show(target),
            f"kubectl describe service {target.component.service} -n {target.namespace}",
        ],
        accepts=[target.workload, ObjectRef("services", target.component.service, target.namespace)],
        aliases=[name],
        cured=[_none_serves(target, image)],
    )


def _kept(target: ComponentTarget, name: str, mark: tuple[str, str], image: str) -> Manifest:
    """The component's workload as it was kept when a later build came: without pods."""
    key, value = mark
    spec: dict[str, Any] = target.manifest["spec"]
    template: Manifest = spec["template"]
    containers = [
        {**each, "image": image} if each["name"] == target.component.container else each
        for each in template["spec"]["containers"]
    ]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": target.namespace,
            "labels": {**(target.manifest["metadata"].get("labels") or {}), key: value},
        },
        "spec": {
            **{field: spec[field] for field in ("strategy", "revisionHistoryLimit") if field in spec},
            "replicas": 0,
            "selector": {"matchLabels": {**target.labels, key: value}},
            "template": {
                "metadata": {**template["metadata"], "labels": {**_labels(target), key: value}},
                "spec": {**template["spec"], "containers": containers},
            },
        },
    }


def _none_serves(target: ComponentTarget, image: str) -> Predicate:
    """Whether no pod of a build stands behind the component's Service, nor would one that a workload makes."""

    def cured(world: World) -> Finding:
        cluster, space = world.cluster, target.namespace
        services = cluster.list("services", space)
        selectors = [
            s["spec"].get("selector") for s in services if s["metadata"]["name"] == target.component.service
        ]
        workloads = [
            each for each in cluster.list("deployments.apps", space) if each["spec"].get("replicas", 1)
        ]
        serving = [
            owner["metadata"]["name"]
            for owner, pod in (
                *((each, each) for each in cluster.list("pods", space)),
                *((w, w["spec"]["template"]) for w in workloads),
            )
            if "deletionTimestamp" not in owner["metadata"]
            and any(
                selector and selector.items() <= (pod["metadata"].get("labels") or {}).items()
                for selector in selectors
            )
            and any(container.get("image") == image for container in pod["spec"]["containers"])
        ]
        return Finding("old build", not serving, ", ".join(serving) or "none", f"nobody serves with {image}")

    return cured
