"""What the end of a Job's pod means: failure policy, success policy, and back-off per index.

Follows ``pod_failure_policy.go``, ``success_policy.go`` and ``backoff_utils.go`` of ``pkg/controller/job`` of v1.32.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import whole
from sregym_env.sim.controllers import pods

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
IGNORED_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"
MANAGED_HERE = "kubernetes.io/job-controller"


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the pod failure policy says of a failed pod."""

    action: str = "Count"
    message: str = ""
    """Why, for the condition of a Job that fails of it."""

    @property
    def counts(self) -> bool:
        """Whether the failure counts towards the back-off limit."""
        return self.action != "Ignore"


COUNTED = Ruling()


def is_ours(job: Manifest) -> bool:
    """Whether this controller runs the Job: ``managedBy`` may name another."""
    return bool(job["spec"].get("managedBy", MANAGED_HERE) == MANAGED_HERE)


def is_indexed(job: Manifest) -> bool:
    """Whether each pod has an index of its own."""
    return bool(job["spec"].get("completionMode") == "Indexed")


def has_failed(job: Manifest, pod: Manifest) -> bool:
    """Whether a pod counts as failed: it did, or is being deleted where that is enough to replace it."""
    phase = pods.phase(pod)
    if phase == "Failed":
        return True
    if replaces_only_failed(job):
        return False
    return pods.is_terminating(pod) and phase != "Succeeded"


def replaces_only_failed(job: Manifest) -> bool:
    """Whether a pod that is still terminating holds the place of its replacement."""
    spec = job["spec"]
    return spec.get("podReplacementPolicy") == "Failed" or bool(spec.get("podFailurePolicy"))


# --- the failure policy -----------------------------------------------------------------------------------------


def ruling(job: Manifest, pod: Manifest) -> Ruling:
    """The first rule of the pod failure policy that a failed pod matches."""
    policy = job["spec"].get("podFailurePolicy")
    for index, rule in enumerate((policy or {}).get("rules") or ()):
        action = rule["action"]
        if action == "FailIndex" and job["spec"].get("backoffLimitPerIndex") is None:
            continue
        codes = rule.get("onExitCodes")
        why = _exit_code(codes, pod) if codes else _condition(rule.get("onPodConditions") or (), pod)
        if why:
            return Ruling(action, f"{why} matching {action} rule at index {index}")
    return COUNTED


def _where(pod: Manifest) -> str:
    metadata = pod["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}"


def _exit_code(wanted: Manifest, pod: Manifest) -> str:
    status = pod.get("status") or {}
    for field in ("containerStatuses", "initContainerStatuses"):
        for found in status.get(field) or ():
            end = (found.get("state") or {}).get("terminated")
            if end is None or end.get("exitCode", 0) == 0:
                continue
            if wanted.get("containerName") not in (None, found["name"]):
                continue
            if (end["exitCode"] in wanted["values"]) == (wanted["operator"] == "In"):
                return (
                    f"Container {found['name']} for pod {_where(pod)} failed with exit code {end['exitCode']}"
                )
    return ""


def _condition(wanted: Iterable[Manifest], pod: Manifest) -> str:
    for pattern in wanted:
        found = pods.condition(pod, pattern["type"])
        if found is not None and found["status"] == pattern.get("status", "True"):
            return f"Pod {_where(pod)} has condition {pattern['type']}"
    return ""


def failing(job: Manifest, listed: Iterable[Manifest]) -> str:
    """Why the whole Job fails because of one of its failed pods, or ``""``."""
    if not job["spec"].get("podFailurePolicy"):
        return ""
    for pod in listed:
        if has_failed(job, pod):
            found = ruling(job, pod)
            if found.action == "FailJob":
                return found.message
    return ""


# --- indexes -----------------------------------------------------------------------------------------------------


def index_of(pod: Manifest) -> int:
    """The completion index of a pod, or -1."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "-1")
    return whole(text, -1)


MOST_INDEXES = 100_000
"""Completions that an indexed Job may have."""


def indexes(text: str) -> set[int]:
    """``1,3-5`` as numbers; what is none, or beyond the last index a Job may have, is left out."""
    found: set[int] = set()
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            # Nine digits are enough for any index, and a status may be written by anybody.
            found.update(range(int(first[:9]), min(int((last or first)[:9]), MOST_INDEXES) + 1))
    return found


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as ``1,3-5``: how a Job lists its indexes."""
    parts: list[list[int]] = []
    for index in sorted(numbers):
        if parts and index == parts[-1][1] + 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    # Two neighbours are written with a comma, as upstream does; a dash needs at least three.
    out = []
    for first, last in parts:
        if last - first >= 2:
            out.append(f"{first}-{last}")
        else:
            out.extend(str(index) for index in range(first, last + 1))
    return ",".join(out)


def _count(pod: Manifest, name: str) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(name, "0")
    return whole(text, 0)


def has_index_limit(job: Manifest) -> bool:
    """Whether each index has a back-off limit of its own."""
    return job["spec"].get("backoffLimitPerIndex") is not None and is_indexed(job)


def fails_index(job: Manifest, pod: Manifest) -> bool:
    """Whether the failure of this pod is the end of its index."""
    found = ruling(job, pod)
    if found.action == "FailIndex":
        return True
    return found.counts and _count(pod, FAILURE_COUNT) >= job["spec"]["backoffLimitPerIndex"]


def next_counts(job: Manifest, index: int, listed: Iterable[Manifest]) -> dict[str, str]:
    """The annotations by which a new pod of an index remembers the failures before it."""
    failed = ignored = 0
    for pod in listed:
        if index_of(pod) == index and has_failed(job, pod):
            counts = ruling(job, pod).counts
            failed = max(failed, _count(pod, FAILURE_COUNT) + counts)
            ignored = max(ignored, _count(pod, IGNORED_COUNT) + (not counts))
    annotations = {FAILURE_COUNT: str(failed)}
    if ignored:
        annotations[IGNORED_COUNT] = str(ignored)
    return annotations


# --- the success policy ---------------------------------------------------------------------------------------------


def success(job: Manifest, succeeded: set[int]) -> str:
    """Which rule of the success policy is met, in the words of the condition, or ``""``."""
    policy: dict[str, Any] = job["spec"].get("successPolicy") or {}
    for index, rule in enumerate(policy.get("rules") or ()):
        wanted = rule.get("succeededIndexes")
        chosen = succeeded if wanted is None else succeeded & indexes(wanted)
        count = rule.get("succeededCount")
        if count is None and wanted is not None:
            count = len(indexes(wanted))
        if count is not None and len(chosen) >= count:
            return f"Matched rules at index {index}"
    return ""
