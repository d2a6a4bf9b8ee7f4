"""Where labels, annotations and pod templates are, by kind."""

from __future__ import annotations

from typing import NamedTuple

from sregym_env.kube.kustomize.trees import path

Steps = tuple[str, ...]


class Spot(NamedTuple):
    """A place in objects of one kind; an empty kind means any, an empty group any."""

    kind: str
    steps: Steps
    create: bool
    group: str = ""

    def fits(self, kind: str, group: str) -> bool:
        """Whether it is about objects of a kind."""
        return self.kind in ("", kind) and self.group in ("", group)


POD_SPECS: dict[str, Steps] = {
    "Pod": path("spec"),
    "PodTemplate": path("template/spec"),
    "Deployment": path("spec/template/spec"),
    "ReplicaSet": path("spec/template/spec"),
    "ReplicationController": path("spec/template/spec"),
    "DaemonSet": path("spec/template/spec"),
    "StatefulSet": path("spec/template/spec"),
    "Job": path("spec/template/spec"),
    "CronJob": path("spec/jobTemplate/spec/template/spec"),
}
"""Where the pod's specification is."""

_TEMPLATES = (
    *((kind, "spec/template/metadata") for kind in
      ("ReplicationController", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job")),
    ("CronJob", "spec/jobTemplate/metadata"),
    ("CronJob", "spec/jobTemplate/spec/template/metadata"),
)  # fmt: skip

METADATA_LABELS = (Spot("", path("metadata/labels"), True),)
TEMPLATE_LABELS = (
    *(Spot(kind, path(f"{where}/labels"), True) for kind, where in _TEMPLATES),
    Spot("StatefulSet", path("spec/volumeClaimTemplates[]/metadata/labels"), True, "apps"),
)
_AFFINITY = tuple(
    f"spec/template/spec/affinity/{kind}/{when}/labelSelector/matchLabels"
    for kind in ("podAffinity", "podAntiAffinity")
    for when in (
        "preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm",
        "requiredDuringSchedulingIgnoredDuringExecution",
    )
)
SELECTORS = (
    Spot("Service", path("spec/selector"), True),
    Spot("ReplicationController", path("spec/selector"), True),
    *(
        Spot(kind, path("spec/selector/matchLabels"), True)
        for kind in ("Deployment", "ReplicaSet", "DaemonSet")
    ),
    Spot("StatefulSet", path("spec/selector/matchLabels"), True, "apps"),
    Spot("Job", path("spec/selector/matchLabels"), False, "batch"),
    Spot("CronJob", path("spec/jobTemplate/spec/selector/matchLabels"), False, "batch"),
    Spot("PodDisruptionBudget", path("spec/selector/matchLabels"), False, "policy"),
    *(
        Spot("NetworkPolicy", path(where), False, "networking.k8s.io")
        for where in (
            "spec/podSelector/matchLabels",
            "spec/ingress/from/podSelector/matchLabels",
            "spec/egress/to/podSelector/matchLabels",
        )
    ),
    *(
        Spot(kind, path(where), False, "apps")
        for kind in ("Deployment", "StatefulSet")
        for where in (*_AFFINITY, "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels")
    ),
)
ANNOTATIONS = (
    Spot("", path("metadata/annotations"), True),
    *(Spot(kind, path(f"{where}/annotations"), True) for kind, where in _TEMPLATES),
)
