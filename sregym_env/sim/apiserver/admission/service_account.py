"""ServiceAccount: every pod runs as an account that exists, with its token mounted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.runtime import ids
from sregym_env.sim.apiserver.admission.attributes import Attributes, refused
from sregym_env.sim.world import SimWorld

_VOLUME = "kube-api-access-"
TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


def mutate(world: SimWorld, request: Attributes, pod: Manifest, _old: Manifest | None) -> Manifest:
    """The pod with its account named and the ``kube-api-access`` volume mounted into every container."""
    if request.operation != "CREATE":
        return pod
    spec = dict(pod["spec"])
    annotations = pod["metadata"].get("annotations", {})
    # A mirror pod only shows what the kubelet runs already.
    if "kubernetes.io/config.mirror" in annotations:
        return pod
    name = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    namespace = pod["metadata"]["namespace"]
    account = world.store.get("serviceaccounts", namespace, name)
    if account is None:
        text = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
        raise refused(request, pod, text)
    wanted = spec.get("automountServiceAccountToken", account.get("automountServiceAccountToken", True))
    if wanted:
        _mount_token(world, spec)
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = account["imagePullSecrets"]
    return {**pod, "spec": spec}


def _mount_token(world: SimWorld, spec: dict[str, Any]) -> None:
    known = next((v["name"] for v in spec.get("volumes", ()) if _is_token(v)), "")
    volume = known or f"{_VOLUME}{ids.name_suffix(world.streams)}"
    mount = {"name": volume, "readOnly": True, "mountPath": TOKEN_PATH}
    used = False
    for field in ("initContainers", "containers"):
        containers = []
        for container in spec.get(field, ()):
            mounts = container.get("volumeMounts", [])
            if not any(known.get("mountPath") == TOKEN_PATH for known in mounts):
                container = {**container, "volumeMounts": [*mounts, mount]}
                used = True
            containers.append(container)
        if containers:
            spec[field] = containers
    if used and not known:
        spec["volumes"] = [*spec.get("volumes", ()), _token_volume(volume)]


def _is_token(volume: Mapping[str, Any]) -> bool:
    return str(volume.get("name", "")).startswith(_VOLUME) and "projected" in volume


def _token_volume(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "projected": {
            "defaultMode": 420,
            "sources": [
                # An hour and seven seconds: upstream's ``WarnOnlyBoundTokenExpirationPeriod``.
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {
                    "downwardAPI": {
                        "items": [
                            {
                                "path": "namespace",
                                "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                            }
                        ]
                    }
                },
            ],
        },
    }
