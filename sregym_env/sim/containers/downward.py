"""The downward API: what a pod can learn about itself (``fieldRef`` and ``resourceFieldRef``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sregym_env.kube.quantity import nano
from sregym_env.kube.types import Manifest

_INDEXED = re.compile(r"^metadata\.(labels|annotations)\['([^']*)'\]$")

_UNITS_PER_RESOURCE = {
    "cpu": 8 * 10**9,
    "memory": 16 * 2**30 * 10**9,
    "ephemeral-storage": 100 * 2**30 * 10**9,
}
"""What a container without a limit is told: its node's capacity, nano-units."""


def field(pod: Manifest, path: str, ip: str = "", host_ip: str = "") -> str:
    """The text of one field of a pod; an empty string where it has none."""
    metadata, spec = pod["metadata"], pod["spec"]
    match = _INDEXED.match(path)
    if match is not None:
        return str((metadata.get(match[1]) or {}).get(match[2], ""))
    if path in ("metadata.labels", "metadata.annotations"):
        entries = metadata.get(path.split(".")[1]) or {}
        return "\n".join(f'{key}="{entries[key]}"' for key in sorted(entries))
    if path in ("status.podIP", "status.podIPs"):
        return ip
    if path in ("status.hostIP", "status.hostIPs"):
        return host_ip or str((pod.get("status") or {}).get("hostIP", ""))
    scope, _, name = path.partition(".")
    found = (metadata if scope == "metadata" else spec).get(name, "")
    return str(found)


def resource(pod: Manifest, container: str, reference: Mapping[str, Any]) -> str:
    """A request or limit of a container in the units of the reference's divisor, rounded up."""
    kind, _, name = str(reference["resource"]).partition(".")
    amount = _UNITS_PER_RESOURCE.get(name, 0)
    for spec in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", ())):
        if spec["name"] == container:
            resources = spec.get("resources") or {}
            value = (resources.get(kind) or {}).get(name)
            if value is None and kind == "requests":
                amount = 0
            if value is not None:
                amount = nano(value)
    divisor = nano(reference.get("divisor") or "1") or 10**9
    return str(-(-amount // divisor))
