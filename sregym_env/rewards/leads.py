"""To whom components turn for what they do not hold themselves: where the addresses in their settings lead.

A database that is asked by another component than its own is in nobody's way for a while: it holds what it held, and
users are served. What was written under the old address is lost to them all the same. So each setting (of the
environment, of flags, of the configuration file) that led to some workload must not lead to another one; by which
name or address it does so is all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import orjson

from sregym_env.cluster.api import World
from sregym_env.cluster.app import Component
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.cluster.targets import ROLLED
from sregym_env.errors import ClusterError
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.rewards.baseline import backends
from sregym_env.rewards.objects import Objects, containers, pod_spec, sources

Backed = Mapping[tuple[str, str], frozenset[str]]
"""Workloads (``Deployment/geo``) behind Services, by (namespace, Service)."""

_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
"""What may be a host in the text of a setting."""

_LONGEST = 2000
"""Characters of a setting in which a host is looked for."""


@dataclass(frozen=True, slots=True)
class _Network:
    """The Services of a system at some time, and who was behind them."""

    objects: Objects
    backed: Backed

    def behind(self, text: str, namespace: str, hops: int = 2) -> frozenset[str]:
        """The workloads to which a setting leads; none where it is no address, or one that is not known here."""
        for word in _HOST.findall(text[:_LONGEST]):
            service = self._service(word.rstrip(".").lower(), namespace)
            if service is None:
                continue
            spec = self.objects[("services", *service)].get("spec") or {}
            if spec.get("type") == "ExternalName" and hops:
                return self.behind(spec.get("externalName", ""), service[0], hops - 1)
            return self.backed.get(service, frozenset())
        return frozenset()

    def _service(self, host: str, namespace: str) -> tuple[str, str] | None:
        name, *domain = host.split(".")
        if not domain or domain[1:2] in ([], ["svc"]):
            where = domain[0] if domain else namespace
            if ("services", where, name) in self.objects:
                return where, name
        for resource, where, name in self.objects if host[0].isdigit() else ():
            if resource == "services":
                spec = self.objects[(resource, where, name)].get("spec") or {}
                if host in (spec.get("clusterIP"), *(spec.get("clusterIPs") or ())):
                    return where, name
        return None


def astray(world: World, then: Objects, backed: Backed, now: Objects) -> Iterator[str]:
    """Settings that lead to other workloads than ``then``, in words.

    Only components are looked at whose workload, or what it takes settings from, is another one.
    """
    network: _Network | None = None
    healthy = _Network(then, backed)
    for component in world.app.components:
        key = world.app.workload_of(component.name)
        before, obj = then.get(key), now.get(key)
        if key[0] not in ROLLED or before is None or obj is None or not _changed(key, before, obj, then, now):
            continue
        was = _settings(component, before, then, key[1])
        was |= _entries(_declared(world, component, before, then, key[1]))
        found = {**_settings(component, obj, now, key[1]), **_entries(_file(world, component, obj, key[1]))}
        for name, value in was.items():
            other = found.get(name, value)
            if other == value or not (led := healthy.behind(value, key[1])):
                continue
            network = network or _Network(now, backends(world))
            leads = network.behind(other, key[1])
            if leads and leads.isdisjoint(led):
                yield f"{component.name}: {name} leads to {_told(leads)} instead of {_told(led)}"


def _told(workloads: frozenset[str]) -> str:
    return ", ".join(sorted(workload.rpartition("/")[2] for workload in workloads))


def _changed(key: ObjectKey, before: Manifest, obj: Manifest, then: Objects, now: Objects) -> bool:
    if before is obj or before.get("spec") is obj.get("spec"):
        taken = dict.fromkeys(sources(pod_spec(before)))
    else:
        return True
    return any(
        (then.get(source) or {}).get("data") is not (now.get(source) or {}).get("data")
        for resource, name in taken
        if resource in ("configmaps", "secrets") and (source := (resource, key[1], name))
    )


# --- settings ---------------------------------------------------------------------------------------


def _settings(component: Component, obj: Manifest, objects: Objects, namespace: str) -> dict[str, str]:
    """The environment and the flags of a component's container, as its workload declares them."""
    container = containers(pod_spec(obj)).get(component.container) or {}
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        name = (source.get("configMapRef") or {}).get("name", "")
        found |= _data(objects, namespace, name)
    for variable in container.get("env") or ():
        ref = (variable.get("valueFrom") or {}).get("configMapKeyRef") or {}
        value = _data(objects, namespace, ref.get("name", "")).get(ref.get("key", ""))
        found[variable["name"]] = value or variable.get("value") or ""
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    # Words alone are programs and what they are told to do.
    for word, following in pairwise([*words, ""]):
        flag, equals, value = word.partition("=")
        if equals or word.startswith("-"):
            found[flag] = value if equals else following
    return found


def _data(objects: Objects, namespace: str, name: str) -> Mapping[str, str]:
    return (objects.get(("configmaps", namespace, name)) or {}).get("data") or {}


def _declared(world: World, component: Component, obj: Manifest, objects: Objects, namespace: str) -> str:
    """The configuration file of a component of the healthy system: what is mounted there, or lies in its image."""
    if component.config is None:
        return ""
    path, spec = component.config.path, pod_spec(obj)
    container = containers(spec).get(component.container) or {}
    maps = {v["name"]: v["configMap"] for v in spec.get("volumes") or () if "configMap" in v}
    for mount in container.get("volumeMounts") or ():
        source = maps.get(mount["name"])
        if source is None or not path.startswith(mount["mountPath"].rstrip("/")):
            continue
        file = mount.get("subPath") or path.removeprefix(mount["mountPath"]).strip("/")
        keys = {item["path"]: item["key"] for item in source.get("items") or ()}
        return _data(objects, namespace, source.get("name", "")).get(keys.get(file, file), "")
    image = container.get("image", "")
    return next((each.files.get(path, "") for each in world.app.images if each.reference == image), "")


def _file(world: World, component: Component, obj: Manifest, namespace: str) -> str:
    """The same file as it lies in a running pod now; empty where nobody can tell."""
    if component.config is None:
        return ""
    labels = ((obj.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    selector = ",".join(f"{name}={value}" for name, value in labels.items())
    try:
        for pod in world.cluster.list("pods", namespace, label_selector=selector):
            if "deletionTimestamp" not in pod["metadata"]:
                command = ["cat", component.config.path]
                result = world.cluster.exec(
                    namespace, pod["metadata"]["name"], command, container=component.container
                )
                if result.exit_code == 0:
                    return result.text
    except (StatusError, ClusterError):
        pass
    return ""


def _entries(text: str) -> dict[str, str]:
    """The settings in the text of a file by their names, those within others by their whole path."""
    try:
        return dict(_leaves("", orjson.loads(text)))
    except orjson.JSONDecodeError:
        # Lines of properties, of YAML, of a shell's settings.
        lines = (re.split("[:=]", line, maxsplit=1) for line in text.splitlines())
        return {line[0].strip(): line[1].strip() for line in lines if len(line) == 2}


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}" if name else str(key), inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(f"{name}[{number}]", inner)
    elif isinstance(value, str):
        yield name, value
