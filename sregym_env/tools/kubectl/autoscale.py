"""``kubectl autoscale``."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import DRY_RUN, FILENAME, KUSTOMIZE, OUTPUT, RECORD, RECURSIVE, Flag
from sregym_env.tools.kubectl.resolve import Info
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    SAVE_CONFIG,
    UNNAMED,
    chosen,
    create_object,
    dry_run_of,
)


def autoscale(call: Call) -> None:
    """Make a HorizontalPodAutoscaler for a workload."""
    flags = call.flags
    most, least, percent = int(flags["max"]), int(flags["min"]), int(flags["cpu-percent"])
    if most < 1:
        raise failure(f"--max=MAXPODS is required and must be at least 1, max: {most}")
    if most < least:
        raise failure(f"--max=MAXPODS must be larger or equal to --min=MINPODS, max: {most}, min: {least}")
    operation = "created" if dry_run_of(call) == "client" else "autoscaled"
    for info in chosen(call, need_name=UNNAMED):
        if "scale" not in info.resource.subresources:
            raise failure(
                f"cannot autoscale a {info.resource.kind}: could not find scale subresource for "
                f"{info.resource.group}/{info.resource.version}, Resource={info.resource.plural} in discovery "
                "information"
            )
        locally = dry_run_of(call) == "client" and "namespace" not in call.given
        autoscaler = {
            "apiVersion": "autoscaling/v1",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {
                "creationTimestamp": None,
                "name": flags["name"] or info.name,
                **({} if locally else {"namespace": info.namespace}),
            },
            "spec": _spec(info, most, least, percent),
            "status": {"currentReplicas": 0, "desiredReplicas": 0},
        }
        create_object(call, call.find("horizontalpodautoscalers.v1.autoscaling"), autoscaler, operation)


def _spec(info: Info, most: int, least: int, percent: int) -> Manifest:
    """The wish in the words of autoscaling/v1, which kubectl still speaks."""
    spec: Manifest = {
        "scaleTargetRef": {
            "apiVersion": info.resource.api_version,
            "kind": info.resource.kind,
            "name": info.name,
        },
        "maxReplicas": most,
    }
    if least > 0:
        spec["minReplicas"] = least
    if percent >= 0:
        spec["targetCPUUtilizationPercentage"] = percent
    return spec


_COMMON = (OUTPUT, DRY_RUN, FIELD_MANAGER, SAVE_CONFIG)

AUTOSCALE = Verb(
    "autoscale",
    "Auto-scale a deployment, replica set, stateful set, or replication controller",
    autoscale,
    (
        *_COMMON,
        RECORD,
        FILENAME,
        KUSTOMIZE,
        RECURSIVE,
        Flag(
            "cpu-percent",
            kind="int32",
            default=-1,
            help="The target average CPU utilization over all the pods.",
        ),
        Flag("max", kind="int32", default=-1, help="The upper limit for the number of pods. Required."),
        Flag("min", kind="int32", default=-1, help="The lower limit for the number of pods."),
        Flag("name", help="The name for the newly created object."),
    ),
    usage="autoscale (-f FILENAME | TYPE NAME | TYPE/NAME) [--min=MINPODS] --max=MAXPODS [--cpu-percent=CPU]",
    group="Deploy Commands",
    required=("max",),
)
