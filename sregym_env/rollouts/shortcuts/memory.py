"""What shortcuts remember: how objects looked in another world, stripped of what servers fill in."""

from __future__ import annotations

from collections.abc import Iterator

from sregym_env.cluster.targets import ROLLED
from sregym_env.envs.staging import stage
from sregym_env.faults.problems import Problem
from sregym_env.kube.types import Manifest
from sregym_env.rewards.baseline import Baseline
from sregym_env.rollouts.shortcuts.shortcut import Elsewhere

ANOTHER = 7_919
"""How far the seed of the remembered world lies from that of the world that is played."""

KINDS = (
    "configmaps",
    "secrets",
    "serviceaccounts",
    "persistentvolumeclaims",
    "services",
    *ROLLED,
    "networkpolicies.networking.k8s.io",
    "resourcequotas",
    "limitranges",
    "horizontalpodautoscalers.autoscaling",
    "poddisruptionbudgets.policy",
)
"""What is remembered of the application's namespaces, in the order in which it would be created."""

COREDNS = ("configmaps", "kube-system", "coredns")


def elsewhere(problem: Problem, seed: int) -> Elsewhere:
    """The healthy world in which another seed of the problem began. Raises StagingError."""
    staged = stage(problem, seed + ANOTHER)
    return Elsewhere(staged.app, tuple(_remembered(staged.baseline)))


def _remembered(baseline: Baseline) -> Iterator[Manifest]:
    for kind in KINDS:
        for (resource, namespace, _), obj in baseline.objects.items():
            if resource == kind and namespace in baseline.namespaces:
                yield plain(obj)
    if COREDNS in baseline.objects:
        yield plain(baseline.objects[COREDNS])


def plain(obj: Manifest) -> Manifest:
    """An object as it could be applied: without status, identity, and what controllers wrote."""
    metadata = obj["metadata"]
    kept = {key: metadata[key] for key in ("name", "namespace", "labels") if key in metadata}
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if not key.startswith(("deployment.kubernetes.io/", "pv.kubernetes.io/", "volume."))
    }
    if annotations:
        kept["annotations"] = annotations
    found = {**obj, "metadata": kept}
    found.pop("status", None)
    if isinstance(spec := obj.get("spec"), dict):
        drawn = ("clusterIP", "clusterIPs", "volumeName")
        found["spec"] = {
            key: value for key, value in spec.items() if key not in drawn or value in ("None", ["None"])
        }
    return found
