"""Reading objects: what the oracle's questions have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sregym_env.cluster.inventory import ObjectKey
from sregym_env.kube.types import Manifest

Objects = Mapping[ObjectKey, Manifest]
"""Objects by key."""

SHOWN = 4
"""How many offenders a check names."""

PRIORITY = "priorityClassName"

RESTARTED = "restart"
"""What is in the names of the annotations by which people and tools have pods made anew."""

_OWNED = ("kubectl.kubernetes.io/", "deployment.kubernetes.io/", "kubernetes.io/change-cause", "pv.kubernetes.io/",
          "volume.", "autoscaling.alpha.kubernetes.io/", "endpoints.kubernetes.io/", "control-plane.")  # fmt: skip
"""Annotations that tools and controllers write for themselves."""

_ALLOCATED = ("clusterIP", "clusterIPs", "volumeName", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy")
"""Fields of a spec that the cluster fills in; with them an object that was made anew differs from what it was."""

_JOBS = ("controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name")
"""Labels by which a Job finds its pods."""


def template(obj: Manifest) -> Manifest | None:
    """The pod template of a workload, a CronJob's too; a pod is its own; None for everything else."""
    if obj.get("kind") == "Pod":
        return obj
    spec = obj.get("spec") or {}
    found: Manifest | None = ((spec.get("jobTemplate") or {}).get("spec") or spec).get("template")
    return found


def pod_spec(obj: Manifest) -> Manifest:
    """What the pods of an object are to be; empty for what makes none."""
    return (template(obj) or {}).get("spec") or {}


def has_ended(obj: Manifest) -> bool:
    """Whether an object is a pod of which nothing runs any more, or will again."""
    return obj.get("kind") == "Pod" and (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def containers(spec: Manifest) -> dict[str, Manifest]:
    """The main containers by name."""
    return {container["name"]: container for container in spec.get("containers") or ()}


def every_container(spec: Manifest) -> Iterator[Manifest]:
    """All containers of a pod, those that come before and those that were added later included."""
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(kind) or ()


def sources(spec: Manifest) -> Iterator[tuple[str, str]]:
    """(resource, name) of the objects from which pods take something: settings, passwords, data, an account."""
    for volume in spec.get("volumes") or ():
        yield "configmaps", (volume.get("configMap") or {}).get("name", "")
        yield "secrets", (volume.get("secret") or {}).get("secretName", "")
        yield "persistentvolumeclaims", (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
        for part in (volume.get("projected") or {}).get("sources") or ():
            yield "configmaps", (part.get("configMap") or {}).get("name", "")
            yield "secrets", (part.get("secret") or {}).get("name", "")
    yield "serviceaccounts", spec.get("serviceAccountName", "")
    for container in every_container(spec):
        for source in container.get("envFrom") or ():
            yield "configmaps", (source.get("configMapRef") or {}).get("name", "")
            yield "secrets", (source.get("secretRef") or {}).get("name", "")
        for variable in container.get("env") or ():
            found = variable.get("valueFrom") or {}
            yield "configmaps", (found.get("configMapKeyRef") or {}).get("name", "")
            yield "secrets", (found.get("secretKeyRef") or {}).get("name", "")


def controlled(obj: Manifest) -> bool:
    """Whether something else made the object and looks after it."""
    return any(owner.get("controller") for owner in obj["metadata"].get("ownerReferences") or ())


def name_of(obj: Manifest) -> str:
    """An object's name."""
    name: str = obj["metadata"]["name"]
    return name


def named(key: ObjectKey) -> str:
    """``deployments/geo -n hotel-reservation``."""
    resource, namespace, name = key
    kind = resource.split(".", 1)[0]
    return f"{kind}/{name}" if not namespace else f"{kind}/{name} -n {namespace}"


def shown(lines: Sequence[str]) -> str:
    """A few offenders, and how many more there are."""
    few = "; ".join(lines[:SHOWN])
    return few if len(lines) <= SHOWN else f"{few}; and {len(lines) - SHOWN} more"


def desired(obj: Manifest, *, scaled: bool = False) -> Any:
    """What somebody asked for: an object without what servers, controllers and tools fill in, and without what only has
    its pods made anew. ``scaled`` says that an autoscaler decides on the replicas."""
    metadata = obj["metadata"]
    spec = obj.get("spec")
    rest = {
        key: value for key, value in obj.items() if key not in ("metadata", "status", "spec", "apiVersion")
    }
    if isinstance(spec, Mapping):
        left = {key: value for key, value in spec.items() if key not in _ALLOCATED}
        if scaled:
            left.pop("replicas", None)
        if obj.get("kind") == "Job":
            left.pop("selector", None)
        if isinstance(left.get("ports"), list):
            left["ports"] = [_without(port, ("nodePort",)) for port in left["ports"]]
        if isinstance(left.get("template"), Mapping):
            left["template"] = _template(left["template"])
        rest["spec"] = left
    return _pruned(
        {**rest, "labels": metadata.get("labels"), "annotations": _kept(metadata.get("annotations"))}
    )


def _template(found: Manifest) -> Manifest:
    metadata = found.get("metadata") or {}
    labels = _without(metadata.get("labels") or {}, _JOBS)
    return {**found, "metadata": {"labels": labels, "annotations": _kept(metadata.get("annotations"))}}


def _kept(annotations: Mapping[str, str] | None) -> dict[str, str]:
    return {
        key: value
        for key, value in (annotations or {}).items()
        if not key.startswith(_OWNED) and RESTARTED not in key.lower()
    }


def _without(value: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {key: inner for key, inner in value.items() if key not in names}


def _pruned(value: Any) -> Any:
    """Without what is empty: an empty list and none at all are the same wish."""
    if isinstance(value, Mapping):
        inner = {key: _pruned(each) for key, each in value.items()}
        return {key: each for key, each in inner.items() if each not in (None, {}, [], "")}
    if isinstance(value, list | tuple):
        return [_pruned(each) for each in value]
    return value
