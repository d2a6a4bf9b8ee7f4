"""Whether people can still look after what they run: roll it back, end it in peace, move it, delete it.

None of this hurts on the day of a repair, which is why it is left behind: it hurts when the next release is bad, a node
has to go, or somebody cleans up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sregym_env.kube.selectors import Requirement
from sregym_env.kube.types import Manifest
from sregym_env.rewards.objects import Objects, containers, pod_spec
from sregym_env.rewards.probing import PATIENCE, RELAXED

GRACE_SHARE = 3
"""Pods may be given a third of the time to end that they had; 30 s to 10 s is a choice, 0 s is a kill."""

GRACE_SECONDS = 30
"""What Kubernetes gives them by default."""

GROWN = 2
"""More than so many times the replicas that there were is more than a repair needs."""

_OWN = "kubernetes.io/"
"""What is in the names of the finalizers that Kubernetes looks after itself."""

_BUILT_IN = ("foregroundDeletion", "orphan", "kubernetes")

_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!", "Gt": "gt", "Lt": "lt"}


def neglected(before: Manifest, now: Manifest, objects: Objects, wrong: Collection[str]) -> Iterator[str]:
    """What can no longer be done with a workload, in words.

    ``wrong`` are the fields of it, by JSON pointer, in which faults lie: whichever value makes it work there is right.
    """
    kept, left = (obj["spec"].get("revisionHistoryLimit", 10) for obj in (before, now))
    if left == 0 and kept:
        yield "cannot be rolled back"
    late, later = (float(obj["spec"].get("minReadySeconds") or 0) for obj in (before, now))
    if later > max(PATIENCE, late * RELAXED):
        yield f"its pods count only after {later:.0f} s"
    spec, other = pod_spec(before), pod_spec(now)
    had, has = (_grace(each) for each in (spec, other))
    if has * GRACE_SHARE < had and not any(
        pointer.endswith("/terminationGracePeriodSeconds") for pointer in wrong
    ):
        yield f"its pods get {has} s to end instead of {had}"
    if not any("nodeSelector" in pointer or "affinity" in pointer for pointer in wrong):
        yield from _pinned(spec, other, objects)
    if not any("/image" in pointer for pointer in wrong):
        present = containers(other)
        for name, container in containers(spec).items():
            image = present.get(name, container).get("image", "")
            if _floats(image) and not _floats(container.get("image", "")):
                yield f"{name} runs whatever is newest of {image}"


def bound(before: Manifest | None, now: Manifest) -> Iterator[str]:
    """Finalizers that nobody looks after: what bears one can never be deleted. And owners that were given to what had
    none: with them it goes."""
    known = (before or {}).get("metadata", {}).get("finalizers") or ()
    for finalizer in now["metadata"].get("finalizers") or ():
        if finalizer not in known and finalizer not in _BUILT_IN and _OWN not in finalizer:
            yield f"cannot be deleted for {finalizer}"
    if before is not None:
        owners = [owner["uid"] for owner in before["metadata"].get("ownerReferences") or ()]
        for owner in now["metadata"].get("ownerReferences") or ():
            if owner["uid"] not in owners:
                yield f"goes when {owner['kind']} {owner['name']} goes"


def immovable(before: Manifest | None, now: Manifest) -> bool:
    """Whether a disruption budget spares no pod at all and did before: no node under them can be taken out of service."""
    return _spares_none(now) and not (before is not None and _spares_none(before))


def hooks(before: Manifest, now: Manifest) -> Iterator[str]:
    """Containers that something new is run in whenever they start: what they lack is put right behind everybody's back.

    To run something before they end (to wait for the last requests) is ordinary.
    """
    known = containers(pod_spec(before))
    for name, container in containers(pod_spec(now)).items():
        hook = (container.get("lifecycle") or {}).get("postStart")
        if hook and hook != (known.get(name, {}).get("lifecycle") or {}).get("postStart"):
            yield f"{name} has something done to it when it starts"


def beside(then: Manifest, now: Manifest) -> Iterator[str]:
    """What was changed about an object that a repair may change, and that no repair needs, in words.

    Engineers differ on all of it, so that it is charged and not denied.
    """
    old, new = then.get("spec") or {}, now.get("spec") or {}
    if then.get("kind") == "Service":
        if (new.get("sessionAffinity") or "None") != (old.get("sessionAffinity") or "None"):
            yield "sessionAffinity"
        return
    if "template" not in new or "template" not in old:
        return
    if _downtime(new) and not _downtime(old):
        yield "strategy"
    if int(new.get("replicas") or 0) > GROWN * max(1, int(old.get("replicas") or 0)):
        yield "replicas"


def _downtime(spec: Manifest) -> bool:
    """Whether all pods may be away while a new template rolls out."""
    strategy = spec.get("strategy") or {}
    away = (strategy.get("rollingUpdate") or {}).get("maxUnavailable")
    return strategy.get("type") == "Recreate" or away == "100%"


def _grace(spec: Manifest) -> int:
    found = spec.get("terminationGracePeriodSeconds")
    return GRACE_SECONDS if found is None else int(found)


def _floats(image: str) -> bool:
    """Whether an image is another one whenever somebody pushes."""
    name, at, _ = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return bool(image) and not at and tag in ("", "latest")


def _spares_none(budget: Manifest) -> bool:
    status = budget.get("status") or {}
    # Over pods of which nobody can say how many there should be, nothing is spared either.
    unknown = any(each.get("reason") == "SyncFailed" for each in status.get("conditions") or ())
    return unknown or 0 < int(status.get("expectedPods") or 0) <= int(status.get("desiredHealthy") or 0)


# --- where pods may run -----------------------------------------------------------------------------


def _pinned(before: Manifest, now: Manifest, objects: Objects) -> Iterator[str]:
    """Pods that only one node may take now. Those that lie on a volume are bound to its node anyhow."""
    if _placed(before) == _placed(now) or any(
        "persistentVolumeClaim" in volume for volume in now.get("volumes") or ()
    ):
        return
    nodes = [node for key, node in objects.items() if key[0] == "nodes"]
    could, can = ([node for node in nodes if _fits(*_placed(spec), _labels(node))] for spec in (before, now))
    if len(can) == 1 < len(could):
        # Not on which: who is bound to one machine may be bound to another.
        yield "its pods may run on one node alone"


def _placed(spec: Manifest) -> tuple[Mapping[str, str], list[Any]]:
    """The labels that nodes must have, and the terms of which one must hold."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return spec.get("nodeSelector") or {}, required.get("nodeSelectorTerms") or []


def _fits(selector: Mapping[str, str], terms: list[Any], labels: Mapping[str, str]) -> bool:
    return selector.items() <= labels.items() and (
        not terms or any(all(_holds(each, labels) for each in _expressions(term)) for term in terms)
    )


def _expressions(term: Manifest) -> list[Manifest]:
    names = [{**field, "key": _NAME} for field in term.get("matchFields") or ()]
    return [*(term.get("matchExpressions") or ()), *names]


_NAME = "metadata.name"


def _labels(node: Manifest) -> dict[str, str]:
    return {**(node["metadata"].get("labels") or {}), _NAME: node["metadata"]["name"]}


def _holds(expression: Manifest, labels: Mapping[str, str]) -> bool:
    operator = _OPERATORS.get(expression.get("operator", ""), "exists")
    return Requirement(expression["key"], operator, tuple(expression.get("values") or ())).matches(labels)
