"""What the agent did: by the account that a cluster keeps of the requests to its API, or, where it keeps none, by what
there was and what there is.

Whoever compares two inventories must know what a cluster does by itself: it provisions volumes, renews certificates,
scales, drops jobs that are over, replaces pods of nodes that fail. What is left is somebody's doing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.audit import audited
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.kube.types import Manifest
from sregym_env.rewards.baseline import FLEETING, Called, PodAtCall, everything
from sregym_env.rewards.checks import current
from sregym_env.rewards.objects import Objects, controlled

Change = tuple[ObjectKey, Manifest | None, Manifest | None]
"""(key, object as the agent found it, as it is now); None for no object."""

MAKERS = ("replicasets.apps", "statefulsets.apps", "daemonsets.apps", "replicationcontrollers")
"""Kinds that make pods and keep as many of them as they are told."""

_NODE_MARKS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""How the keys of taints begin that a cluster sets and removes itself."""

_RENEWED = frozenset(("caBundle", "claimRef"))
"""Fields that controllers fill in, wherever they stand."""

_EVERYWHERE = ("kube-root-ca.crt", "default")
"""Names of what every new namespace is given."""


def doings(world: World, called: Called) -> list[Change]:
    """What the agent may have changed, made or deleted."""
    keeping = audited(world)
    written = None if keeping is None else keeping.written()
    if written is not None:
        return [
            (key, called.objects.get(key), current(world, key)) for key in written if key[0] not in FLEETING
        ]
    now = dict(everything(world))
    return [
        (key, then, obj)
        for key in dict.fromkeys((*called.objects, *now))
        if (then := called.objects.get(key)) is not (obj := now.get(key)) and not _by_itself(key, then, obj)
    ]


def added(done: Iterable[Change]) -> Objects:
    """The objects that the agent has made and left."""
    return {
        key: now
        for key, then, now in done
        if then is None
        and now is not None
        and not controlled(now)
        and "deletionTimestamp" not in now["metadata"]
    }


def ended(world: World, called: Called, done: Sequence[Change], noisy: bool = False) -> Iterator[PodAtCall]:
    """The pods that were ready and are no more by what the agent did.

    ``noisy`` says that pods are deleted by others as well: without an account those cannot be told from the agent's.
    """
    keeping = audited(world)
    accounted = keeping is not None and keeping.written() is not None
    written = {key for key, *_ in done}
    for pod in called.pods:
        touched = pod.key in written or not written.isdisjoint(pod.makers)
        if not touched and (accounted or noisy or not pod.makers):
            continue
        now = current(world, pod.key)
        if (now is None or now["metadata"].get("uid") != pod.uid) and (
            touched or _by_hand(world, called, pod)
        ):
            yield pod


def _by_hand(world: World, called: Called, pod: PodAtCall) -> bool:
    """Whether nothing but somebody's request explains that a pod is gone: whoever made it wants as many as before, and
    its node is well."""
    maker = pod.makers[0]
    then, now = called.objects.get(maker), current(world, maker)
    if maker[0] not in MAKERS or then is None or now is None:
        return False
    if _count(now) < _count(then) or _template(now) != _template(then):
        return False
    name = (called.objects.get(pod.key) or {}).get("spec", {}).get("nodeName", "")
    node = current(world, ("nodes", "", name)) if name else None
    return node is not None and not any(
        taint.get("effect") == "NoExecute" for taint in node["spec"].get("taints") or ()
    )


def _count(maker: Manifest) -> int:
    return int(maker["spec"].get("replicas", 1) or 0)


def _template(maker: Manifest) -> Any:
    return maker["spec"].get("template")


# --- what a cluster does by itself ------------------------------------------------------------------


def _by_itself(key: ObjectKey, then: Manifest | None, now: Manifest | None) -> bool:
    """Whether nobody need have asked for a change."""
    known = then if then is not None else now
    assert known is not None
    if controlled(known) or (now is not None and controlled(now)):
        return True
    if then is not None and now is not None:
        return bool(_wishes(key, then) == _wishes(key, now))
    annotations = known["metadata"].get("annotations") or {}
    if key[0] == "persistentvolumes":
        # A volume that was made for a claim comes and goes with it.
        return "pv.kubernetes.io/provisioned-by" in annotations
    if key[0] == "certificatesigningrequests.certificates.k8s.io":
        return True
    if now is None:
        return key[0] == "jobs.batch" and _over(known) and "ttlSecondsAfterFinished" in known["spec"]
    return key[0] in ("configmaps", "serviceaccounts") and key[2] in _EVERYWHERE


def _over(job: Manifest) -> bool:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return any(
        each.get("type") in ("Complete", "Failed") and each.get("status") == "True" for each in conditions
    )


def _wishes(key: ObjectKey, obj: Manifest) -> Any:
    """An object without what tells how things are, and without what is kept up to date in it by itself."""
    metadata = obj["metadata"]
    rest = {name: value for name, value in obj.items() if name not in ("status", "metadata")}
    marks = {"labels": metadata.get("labels"), "finalizers": metadata.get("finalizers")}
    match key[0]:
        case "nodes":
            # Agents on a node annotate and label it all the time.
            taints = [
                taint
                for taint in rest["spec"].get("taints") or ()
                if not str(taint.get("key", "")).startswith(_NODE_MARKS)
            ]
            return bool(rest["spec"].get("unschedulable")), taints, marks["labels"]
        case "secrets" if rest.get("type") == "kubernetes.io/tls":
            return sorted(rest.get("data") or {}), marks
        case "clusterroles.rbac.authorization.k8s.io" if rest.get("aggregationRule"):
            return rest["aggregationRule"], marks
    return _lasting(rest), marks, metadata.get("annotations")


def _lasting(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _lasting(inner) for key, inner in value.items() if key not in _RENEWED}
    if isinstance(value, list | tuple):
        return [_lasting(inner) for inner in value]
    return value
