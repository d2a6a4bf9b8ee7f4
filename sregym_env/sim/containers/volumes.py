"""Volumes of a pod: whether they can be mounted, and what the mounted files hold."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.containers import downward
from sregym_env.sim.containers.expansion import expand
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Mount, Process

Sources = dict[str, Manifest | None]
"""The ConfigMap or Secret behind a volume (``name``) or behind a part of a projected one (``name/index``)."""

Problem = tuple[str, str]
"""(volume name, why it cannot be mounted)."""

_NO_DATA: Mapping[str, Any] = {}


def referenced(pod: Manifest) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(slot, ``configmaps`` or ``secrets``, volume source) of everything that volumes copy from the API."""
    for volume in pod["spec"].get("volumes", ()):
        name = volume["name"]
        if "configMap" in volume:
            yield name, "configmaps", volume["configMap"]
        elif "secret" in volume:
            yield name, "secrets", {**volume["secret"], "name": volume["secret"].get("secretName", "")}
        elif "projected" in volume:
            for index, part in enumerate(volume["projected"].get("sources", ())):
                if "configMap" in part:
                    yield f"{name}/{index}", "configmaps", part["configMap"]
                elif "secret" in part:
                    yield f"{name}/{index}", "secrets", part["secret"]


def sync(world: SimWorld, pod: Manifest) -> tuple[Sources, list[Problem]]:
    """What the volumes would hold now, and what keeps any of them from being mounted."""
    namespace = pod["metadata"]["namespace"]
    sources: Sources = {}
    problems: list[Problem] = []
    for slot, resource, source in referenced(pod):
        obj = world.store.get(resource, namespace, source.get("name", ""))
        sources[slot] = obj
        text = _complaint(resource, source, obj)
        if text:
            problems.append((slot.split("/")[0], text))
    return sources, problems


def claim_problems(world: SimWorld, pod: Manifest) -> list[Problem]:
    """PersistentVolumeClaims of a pod that are missing or not bound, as the kubelet words it."""
    namespace = pod["metadata"]["namespace"]
    problems: list[Problem] = []
    for volume in pod["spec"].get("volumes", ()):
        name = claim_name(pod, volume)
        if not name:
            continue
        claim = world.store.get("persistentvolumeclaims", namespace, name)
        prefix = f"error processing PVC {namespace}/{name}: "
        if claim is None:
            text = f'failed to fetch PVC from API server: persistentvolumeclaims "{name}" not found'
            problems.append((volume["name"], prefix + text))
        elif (claim.get("status") or {}).get("phase") != "Bound":
            problems.append((volume["name"], prefix + "PVC is not bound"))
        elif world.store.get("persistentvolumes", "", claim["spec"].get("volumeName", "")) is None:
            missing = claim["spec"].get("volumeName", "")
            text = f'failed to fetch PV {missing} from API server: persistentvolumes "{missing}" not found'
            problems.append((volume["name"], prefix + text))
    return problems


def claim_name(pod: Manifest, volume: Mapping[str, Any]) -> str:
    """The PersistentVolumeClaim behind a volume, or an empty string."""
    if "persistentVolumeClaim" in volume:
        return str(volume["persistentVolumeClaim"]["claimName"])
    if "ephemeral" in volume:
        return f"{pod['metadata']['name']}-{volume['name']}"
    return ""


def _complaint(resource: str, source: Mapping[str, Any], obj: Manifest | None) -> str:
    optional = source.get("optional", False)
    if obj is None:
        kind = "configmap" if resource == "configmaps" else "secret"
        return "" if optional else f'{kind} "{source.get("name", "")}" not found'
    for item in source.get("items", ()):
        if not optional and item["key"] not in _raw(obj):
            if resource == "configmaps":
                return f"configmap references non-existent config key: {item['key']}"
            return f"references non-existent secret key: {item['key']}"
    return ""


def _raw(obj: Manifest) -> Mapping[str, Any]:
    data = obj.get("data") or _NO_DATA
    binary = obj.get("binaryData")
    return {**data, **binary} if binary else data


def decoded(obj: Manifest, key: str) -> str | None:
    """One entry of a ConfigMap or Secret as text, or None."""
    value = (obj.get("data") or _NO_DATA).get(key)
    if value is None:
        value = (obj.get("binaryData") or _NO_DATA).get(key)
        return None if value is None else b64decode(value).decode("utf-8", "replace")
    if obj.get("kind") == "Secret":
        return b64decode(value).decode("utf-8", "replace")
    return str(value)


def mounts(
    world: SimWorld, pod: Manifest, container: Mapping[str, Any], env: Mapping[str, str]
) -> tuple[Mount, ...]:
    """The mounts of one container, in the order of its spec."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes", ())}
    found = []
    for mount in container.get("volumeMounts", ()):
        volume = volumes.get(mount["name"])
        if volume is not None:
            sub_path = mount.get("subPath", "") or _expanded(mount.get("subPathExpr", ""), env)
            found.append(_mount(world, pod, volume, mount, sub_path))
    return tuple(found)


def _expanded(expression: str, env: Mapping[str, str]) -> str:
    return expand(expression, env) if expression else ""


def _mount(
    world: SimWorld, pod: Manifest, volume: Mapping[str, Any], mount: Mapping[str, Any], sub_path: str
) -> Mount:
    common: dict[str, Any] = {
        "path": mount["mountPath"],
        "volume": volume["name"],
        "sub_path": sub_path,
        "read_only": bool(mount.get("readOnly", False)),
    }
    claim = claim_name(pod, volume)
    if claim:
        found = world.store.get("persistentvolumeclaims", pod["metadata"]["namespace"], claim)
        source = "" if found is None else found["spec"].get("volumeName", "")
        return Mount(kind="pvc", source=source, **common)
    if "configMap" in volume:
        return _copied("configmap", volume["configMap"], volume["configMap"].get("name", ""), common)
    if "secret" in volume:
        return _copied("secret", volume["secret"], volume["secret"].get("secretName", ""), common)
    if "projected" in volume:
        return Mount(kind="projected", **common)
    if "downwardAPI" in volume:
        return Mount(kind="downward", **common)
    if "hostPath" in volume:
        return Mount(kind="hostpath", source=volume["hostPath"].get("path", ""), **common)
    return Mount(kind="emptydir", **common)


def _copied(kind: Any, source: Mapping[str, Any], name: str, common: dict[str, Any]) -> Mount:
    items = tuple((item["key"], item["path"]) for item in source.get("items", ()))
    return Mount(kind=kind, source=name, items=items, optional=bool(source.get("optional")), **common)


def mounted(world: SimWorld, process: Process, mount: Mount) -> Mapping[str, str]:
    """The files of a ConfigMap, Secret, projected or downward volume as this process sees them.

    Relative path in the volume to content; a subPath mount still shows the whole volume here, as it was
    when the container started, while the others follow changes within about a minute.
    """
    record = world.runtime.get(process.key[0])
    if record is None:
        return {}
    sources = record.sources
    if mount.sub_path:
        container = record.containers.get(process.container)
        sources = record.sources if container is None else container.frozen_volumes
    if mount.kind in ("configmap", "secret"):
        return _files(sources.get(mount.volume), mount.items)
    pod = world.store.get("pods", process.namespace, process.pod)
    if pod is None:
        return {}
    volume = next((v for v in pod["spec"].get("volumes", ()) if v["name"] == mount.volume), None)
    if volume is None:
        return {}
    if mount.kind == "downward":
        return _downward_files(pod, record.ip, volume["downwardAPI"].get("items", ()))
    return _projected(world, pod, record.ip, volume, sources)


def _files(obj: Manifest | None, items: tuple[tuple[str, str], ...]) -> dict[str, str]:
    if obj is None:
        return {}
    pairs = items or tuple((key, key) for key in sorted(_raw(obj)))
    files = {}
    for key, path in pairs:
        text = decoded(obj, key)
        if text is not None:
            files[path] = text
    return files


def _downward_files(pod: Manifest, ip: str, items: Any) -> dict[str, str]:
    files = {}
    for item in items:
        if "fieldRef" in item:
            files[item["path"]] = downward.field(pod, item["fieldRef"]["fieldPath"], ip)
        elif "resourceFieldRef" in item:
            reference = item["resourceFieldRef"]
            name = reference.get("containerName", pod["spec"]["containers"][0]["name"])
            files[item["path"]] = downward.resource(pod, name, reference)
    return files


def _projected(
    world: SimWorld,
    pod: Manifest,
    ip: str,
    volume: Mapping[str, Any],
    sources: Mapping[str, Manifest | None],
) -> dict[str, str]:
    files: dict[str, str] = {}
    for index, part in enumerate(volume["projected"].get("sources", ())):
        for kind in ("configMap", "secret"):
            if kind in part:
                items = tuple((item["key"], item["path"]) for item in part[kind].get("items", ()))
                files.update(_files(sources.get(f"{volume['name']}/{index}"), items))
        if "downwardAPI" in part:
            files.update(_downward_files(pod, ip, part["downwardAPI"].get("items", ())))
        if "serviceAccountToken" in part:
            files[part["serviceAccountToken"]["path"]] = mounted_token(pod)
    return files


def mounted_token(pod: Manifest) -> str:
    """The token in a pod's ``kube-api-access`` volume. It looks like a bound service account token, and is known by
    being this pod's; nobody verifies its signature."""
    account = pod["spec"].get("serviceAccountName", "default")
    return _token(pod["metadata"]["uid"], account, pod["metadata"]["namespace"])


@lru_cache(maxsize=4096)  # who asks the API server presents one: it is compared with those of all pods
def _token(uid: str, account: str, namespace: str) -> str:
    body = "".join(f"{keyed_bits(uid, account, namespace, part):016x}" for part in range(12))
    return f"eyJhbGciOiJSUzI1NiIsImtpZCI6InNhIn0.{body[:128]}.{body[128:]}"
