"""``kubectl autoscale``."""

from __future__ import annotations

from typing import Any

from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import DRY_RUN, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, Flag
from sregym_env.tools.kubectl.resolve import targets, visit
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    SAVE_CONFIG,
    create_object,
)


def autoscale(call: Call) -> None:
    """Make a HorizontalPodAutoscaler for a workload."""
    flags = call.flags
    if int(flags["max"]) < 1:
        raise failure(
            f"--max=MAXPODS is required and must be at least 1, max: {flags['max']}\nSee 'kubectl autoscale -h' for help and examples"
        )
    if int(flags["max"]) < int(flags["min"]):
        raise failure(
            f"--max=MAXPODS must be larger or equal to --min=MINPODS, max: {flags['max']}, min: {flags['min']}\nSee 'kubectl autoscale -h' for help and examples"
        )
    for info in visit(call, targets(call)):
        if "scale" not in info.resource.subresources:
            raise failure(
                f"cannot autoscale a {info.resource.kind}: the server could not find the requested resource"
            )
        spec: dict[str, Any] = {
            "scaleTargetRef": {
                "apiVersion": info.resource.api_version,
                "kind": info.resource.kind,
                "name": info.name,
            },
            "maxReplicas": int(flags["max"]),
        }
        if int(flags["min"]) > 0:
            spec["minReplicas"] = int(flags["min"])
        if int(flags["cpu-percent"]) >= 0:
            target = {"type": "Utilization", "averageUtilization": int(flags["cpu-percent"])}
            spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
        metadata = {"name": flags["name"] or info.name, "namespace": info.namespace}
        autoscaler = {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": metadata,
            "spec": spec,
        }
        create_object(call, call.find("horizontalpodautoscalers"), autoscaler, "autoscaled")


_COMMON = (OUTPUT, DRY_RUN, FIELD_MANAGER, SAVE_CONFIG)

AUTOSCALE = Verb(
    "autoscale",
    "Auto-scale a deployment, replica set, stateful set, or replication controller",
    autoscale,
    (
        *_COMMON,
        FILENAME,
        KUSTOMIZE,
        RECURSIVE,
        Flag(
            "cpu-percent",
            kind="int",
            default=-1,
            help="The target average CPU utilization over all the pods.",
        ),
        Flag("max", kind="int", default=-1, help="The upper limit for the number of pods. Required."),
        Flag("min", kind="int", default=-1, help="The lower limit for the number of pods."),
        Flag("name", help="The name for the newly created object."),
    ),
    usage="autoscale (-f FILENAME | TYPE NAME | TYPE/NAME) [--min=MINPODS] --max=MAXPODS [--cpu-percent=CPU]",
    group="Deploy Commands",
)
