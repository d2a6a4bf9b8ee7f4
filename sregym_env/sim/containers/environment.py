"""A container's environment variables, resolved as the kubelet does when it starts the container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.sim.containers import downward
from sregym_env.sim.containers.expansion import expand
from sregym_env.sim.containers.volumes import decoded
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.derived import DerivedFrom, DerivedFromEach


class ConfigError(Exception):
    """A container cannot be configured (``CreateContainerConfigError``); the text is the kubelet's."""


def resolve(
    world: SimWorld, pod: Manifest, container: Mapping[str, Any], ip: str, host_ip: str
) -> dict[str, str]:
    """All variables of a container. Raises ConfigError where a reference leads nowhere."""
    result: dict[str, str] = {}
    services = service_variables(world, pod)
    for source in container.get("envFrom", ()):
        result.update(_env_from(world, pod, source))
    for variable in container.get("env", ()):
        value = _value(world, pod, container, variable, result, services, ip, host_ip)
        if value is not None:
            result[variable["name"]] = value
    return {**services, **result}


def _env_from(world: SimWorld, pod: Manifest, source: Mapping[str, Any]) -> dict[str, str]:
    for field, resource, kind in (
        ("configMapRef", "configmaps", "configmap"),
        ("secretRef", "secrets", "secret"),
    ):
        reference = source.get(field)
        if reference is None:
            continue
        obj = world.store.get(resource, pod["metadata"]["namespace"], reference.get("name", ""))
        if obj is None:
            if reference.get("optional"):
                return {}
            raise ConfigError(f'{kind} "{reference.get("name", "")}" not found')
        prefix = source.get("prefix", "")
        return {prefix + key: decoded(obj, key) or "" for key in obj.get("data") or {}}
    return {}


def _value(
    world: SimWorld,
    pod: Manifest,
    container: Mapping[str, Any],
    variable: Mapping[str, Any],
    known: Mapping[str, str],
    services: Mapping[str, str],
    ip: str,
    host_ip: str,
) -> str | None:
    source = variable.get("valueFrom")
    if source is None:
        value = variable.get("value", "")
        return expand(value, {**services, **known}) if "$" in value else str(value)
    if "fieldRef" in source:
        return downward.field(pod, source["fieldRef"]["fieldPath"], ip, host_ip)
    if "resourceFieldRef" in source:
        reference = source["resourceFieldRef"]
        return downward.resource(pod, reference.get("containerName") or container["name"], reference)
    if "configMapKeyRef" in source:
        return _key(world, pod, "configmaps", "ConfigMap", source["configMapKeyRef"])
    if "secretKeyRef" in source:
        return _key(world, pod, "secrets", "Secret", source["secretKeyRef"])
    return ""


def _key(
    world: SimWorld, pod: Manifest, resource: str, kind: str, reference: Mapping[str, Any]
) -> str | None:
    namespace, name = pod["metadata"]["namespace"], reference.get("name", "")
    obj = world.store.get(resource, namespace, name)
    text = None if obj is None else decoded(obj, reference["key"])
    if text is None and not reference.get("optional"):
        if obj is None:
            raise ConfigError(f'{kind.lower()} "{name}" not found')
        raise ConfigError(f"couldn't find key {reference['key']} in {kind} {namespace}/{name}")
    return text


def service_variables(world: SimWorld, pod: Manifest) -> dict[str, str]:
    """Docker-link style variables of the namespace's Services and of the API server."""
    namespace = pod["metadata"]["namespace"]
    found: dict[str, str] = {}
    # The API server's variables are there even where service links are turned off.
    master = world.store.get("services", "default", "kubernetes")
    if master is not None:
        found.update(_of_service(master))
    if pod["spec"].get("enableServiceLinks", True):
        found.update(_of_services(world.store.list("services", namespace)))
    return found


def _service_env(service: Manifest) -> dict[str, str]:
    spec = service["spec"]
    address = spec.get("clusterIP", "")
    ports = spec.get("ports") or ()
    if not ports or address in ("", "None") or spec.get("type") == "ExternalName":
        return {}
    name = service["metadata"]["name"].upper().replace("-", "_")
    env = {f"{name}_SERVICE_HOST": address, f"{name}_SERVICE_PORT": str(ports[0]["port"])}
    for port in ports:
        if port.get("name"):
            env[f"{name}_SERVICE_PORT_{port['name'].upper().replace('-', '_')}"] = str(port["port"])
    for index, port in enumerate(ports):
        protocol = port.get("protocol", "TCP")
        url = f"{protocol.lower()}://{address}:{port['port']}"
        if index == 0:
            env[f"{name}_PORT"] = url
        prefix = f"{name}_PORT_{port['port']}_{protocol}"
        env[prefix] = url
        env[f"{prefix}_PROTO"] = protocol.lower()
        env[f"{prefix}_PORT"] = str(port["port"])
        env[f"{prefix}_ADDR"] = address
    return env


def _services_env(services: list[Manifest]) -> dict[str, str]:
    env: dict[str, str] = {}
    for service in services:
        env.update(_of_service(service))
    return env


_of_service = DerivedFromEach(_service_env)
_of_services = DerivedFrom(_services_env)
