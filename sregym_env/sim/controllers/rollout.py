"""The arithmetic of a Deployment: how many replicas each of its ReplicaSets may have.

Pure functions over manifests, after ``pkg/controller/deployment/util`` of v1.32.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest

REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"
HASH_LABEL = "pod-template-hash"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

NOT_COPIED = frozenset(
    {
        LAST_APPLIED,
        REVISION,
        REVISION_HISTORY,
        DESIRED_REPLICAS,
        MAX_REPLICAS,
        "deprecated.deployment.rollback.to",
    }
)
"""Annotations of a Deployment that its ReplicaSets do not inherit."""


def replicas(workload: Manifest) -> int:
    """``spec.replicas``."""
    found: int = workload["spec"].get("replicas", 1)
    return found


def total(replica_sets: Iterable[Manifest]) -> int:
    """Wanted replicas of some ReplicaSets together."""
    return sum([replica_set["spec"].get("replicas", 1) for replica_set in replica_sets])


def counted(replica_sets: Iterable[Manifest], field: str) -> int:
    """A number of their statuses, summed."""
    return sum(
        [replica_set["status"].get(field, 0) for replica_set in replica_sets if replica_set.get("status")]
    )


def scaled(value: int | str | None, total: int, *, up: bool) -> int:
    """An ``IntOrString`` as a number: percentages of ``total`` are rounded up or down."""
    if value is None:
        return 0
    if isinstance(value, str):
        if not value.endswith("%"):
            return 0
        share = int(value[:-1]) * total / 100
        return math.ceil(share) if up else math.floor(share)
    return int(value)


def is_rolling(deployment: Manifest) -> bool:
    """Whether it replaces pods bit by bit."""
    strategy = deployment["spec"].get("strategy") or {}
    return bool(strategy.get("type", "RollingUpdate") == "RollingUpdate")


def surge_and_unavailable(deployment: Manifest) -> tuple[int, int]:
    """How many pods there may be too many, and how many may be missing, during a rolling update."""
    if not is_rolling(deployment):
        return 0, 0
    wanted = replicas(deployment)
    rolling = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    surge = scaled(rolling.get("maxSurge", "25%"), wanted, up=True)
    unavailable = scaled(rolling.get("maxUnavailable", "25%"), wanted, up=False)
    if surge == 0 and unavailable == 0:
        # Validation forbids 0 and 0, but percentages may round to it: then nothing could ever move.
        unavailable = 1
    return surge, min(unavailable, wanted)


def by_creation(replica_sets: Iterable[Manifest]) -> list[Manifest]:
    """Oldest first; the name breaks ties."""

    def age(replica_set: Manifest) -> tuple[int, str]:
        metadata = replica_set["metadata"]
        return parse_rfc3339(metadata["creationTimestamp"]), metadata["name"]

    ordered = list(replica_sets)
    return ordered if len(ordered) < 2 else sorted(ordered, key=age)


def revision(obj: Manifest) -> int:
    """The revision its annotation claims; 0 without a valid one."""
    try:
        return int((obj["metadata"].get("annotations") or {}).get(REVISION, "0"))
    except ValueError:
        return 0


def same_template(deployment: Manifest, replica_set: Manifest) -> bool:
    """Whether a ReplicaSet makes the pods the Deployment wants (the hash label aside)."""
    wanted, made = deployment["spec"]["template"], replica_set["spec"]["template"]
    if wanted.get("spec") != made.get("spec"):
        return False
    return _comparable(wanted) == _comparable(made)


def _comparable(template: Manifest) -> dict[str, Any]:
    metadata = dict(template.get("metadata") or {})
    labels = {name: value for name, value in (metadata.get("labels") or {}).items() if name != HASH_LABEL}
    metadata["labels"] = labels
    metadata.pop("creationTimestamp", None)
    return metadata


def new_replica_set(deployment: Manifest, replica_sets: Iterable[Manifest]) -> Manifest | None:
    """The oldest ReplicaSet with the Deployment's template."""
    for replica_set in by_creation(replica_sets):
        if same_template(deployment, replica_set):
            return replica_set
    return None


def new_replicas(deployment: Manifest, all_sets: Sequence[Manifest], new: Manifest | None) -> int:
    """To how many replicas the new ReplicaSet may go now (``NewRSNewReplicas``)."""
    wanted = replicas(deployment)
    if not is_rolling(deployment):
        return wanted
    surge, _ = surge_and_unavailable(deployment)
    have = 0 if new is None else replicas(new)
    room = wanted + surge - total(all_sets)
    return have if room <= 0 else have + min(room, wanted - have)


def annotated(replica_set: Manifest, annotation: str) -> int | None:
    """A replica count from an annotation of a ReplicaSet."""
    text = (replica_set["metadata"].get("annotations") or {}).get(annotation)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def proportion(deployment: Manifest, replica_set: Manifest, to_add: int, added: int) -> int:
    """This ReplicaSet's share of ``to_add`` replicas of which ``added`` are given away already."""
    have = replicas(replica_set)
    if have == 0 or to_add == 0 or to_add == added:
        return 0
    share = _fraction(deployment, replica_set, have)
    allowed = to_add - added
    return min(share, allowed) if to_add > 0 else max(share, allowed)


def _fraction(deployment: Manifest, replica_set: Manifest, have: int) -> int:
    wanted = replicas(deployment)
    if wanted == 0:
        return -have
    before = annotated(replica_set, MAX_REPLICAS)
    if not before:
        before = (deployment.get("status") or {}).get("replicas", 0)
        if before == 0:
            return 0
    surge, _ = surge_and_unavailable(deployment)
    # Halves go up, as with Go's rounding; Python's ``round`` takes them to the even side.
    return math.floor(have * (wanted + surge) / before + 0.5) - have


def is_complete(deployment: Manifest, status: dict[str, Any]) -> bool:
    """Whether everything wanted is there, updated and available."""
    wanted = replicas(deployment)
    counts = ("updatedReplicas", "replicas", "availableReplicas")
    if any(status.get(count, 0) != wanted for count in counts):
        return False
    return bool(status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 1))


def is_progressing(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether the new status is closer to done than the old one."""
    if _left(new) < _left(old):
        return True
    grown = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return any(new.get(count, 0) > old.get(count, 0) for count in grown)


def _left(status: dict[str, Any]) -> int:
    """Replicas that are still of an old template."""
    return int(status.get("replicas", 0) - status.get("updatedReplicas", 0))
