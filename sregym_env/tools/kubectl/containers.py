"""Choosing a container of a pod, with the words kubectl uses about it."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call
from sregym_env.tools.kubectl.errors import KubectlError

_DEFAULT = "kubectl.kubernetes.io/default-container"


def container_names(pod: Manifest) -> list[str]:
    """Names of all containers: init, ordinary, ephemeral."""
    spec = pod["spec"]
    parts = (spec.get("initContainers"), spec["containers"], spec.get("ephemeralContainers"))
    return [container["name"] for part in parts for container in part or ()]


def described_names(pod: Manifest) -> str:
    """``a, b (init), c (ephem)``: the containers as the note about defaulting lists them."""
    spec = pod["spec"]
    names = [container["name"] for container in spec["containers"]]
    names += [f"{container['name']} (init)" for container in spec.get("initContainers") or ()]
    names += [f"{container['name']} (ephem)" for container in spec.get("ephemeralContainers") or ()]
    return ", ".join(names)


def choose(call: Call, pod: Manifest, wanted: str) -> str:
    """The container asked for, or the default one; a note says so when there were several."""
    name = pod["metadata"]["name"]
    if wanted:
        if wanted not in container_names(pod):
            raise KubectlError(f"error: container {wanted} not found in pod {name}")
        return wanted
    annotated = (pod["metadata"].get("annotations") or {}).get(_DEFAULT)
    if annotated and annotated in container_names(pod):
        return str(annotated)
    default = str(pod["spec"]["containers"][0]["name"])
    if len(container_names(pod)) > 1 and not call.flags.get("quiet"):
        call.warn(f'Defaulted container "{default}" out of: {described_names(pod)}')
    return default
