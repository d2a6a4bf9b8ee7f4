"""A configuration file that lost a key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from sregym_env.cluster.edits import Create, JsonPatch, ObjectRef, RecreatePods
from sregym_env.cluster.targets import ROLLED, ComponentTarget, components
from sregym_env.faults.choices import fresh, one_of, until
from sregym_env.faults.commands import apply, drop, execute, mend, restart
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

SLIPS: Mapping[str, Any] = {
    "": lambda key, value: {},
    "emptied": lambda key, value: {key: ""},
    "lower": lambda key, value: {
        slipped: value for slipped in (key[:1].lower() + key[1:], key.lower()) if slipped != key
    },
    "snake": lambda key, value: {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower(): value},
    "kebab": lambda key, value: {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", key).lower(): value},
    "environment": lambda key, value: {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).upper(): value},
    "short": lambda key, value: {
        re.sub(r"Address$", "Addr", key) if "Address" in key else f"{key}Number": value
    },
    "url": lambda key, value: {re.sub(r"Address$", "URL", key) if "Address" in key else f"{key}s": value},
    "nested": lambda key, value: {"spec": {key: value}},
    "commented": lambda key, value: {f"_{key}": value},
}
"""What stands in the file instead of a key that is lost, by the slip that lost it; nothing for the empty one."""


def _mount(target: ComponentTarget) -> tuple[ObjectRef, str] | None:
    """The ConfigMap, and its key, that the app itself mounts over the component's configuration file."""
    config = target.component.config
    sources = {
        v["name"]: v.get("configMap", {}).get("name", "") for v in target.pod_spec.get("volumes") or ()
    }
    for mount in target.container.get("volumeMounts") or ():
        name, path = sources.get(mount["name"], ""), mount["mountPath"]
        if config is not None and name and config.path.startswith(path):
            ref = ObjectRef("configmaps", name, target.namespace)
            return ref, mount.get("subPath") or config.path.rpartition("/")[2]
    return None


def _file(target: ComponentTarget) -> str:
    """The component's configuration file: as the app mounts it, or as it is baked into the image; empty for none."""
    config = target.component.config
    mounted = _mount(target)
    if config is not None and mounted is not None:
        manifest = target.inventory.manifest("configmaps", mounted[0].name, target.namespace)
        return str(manifest.get("data", {}).get(mounted[1], ""))
    images = {image.reference: image for image in target.app.images}
    image = images.get(target.container["image"])
    return "" if config is None or image is None else image.files.get(config.path, "")


def _needed(target: ComponentTarget) -> dict[str, str]:
    """Keys of the file without which the component does not start, and what they give it."""
    component, config = target.component, target.component.config
    assert config is not None
    needed = [d for d in component.dependencies if d.essential and d.via == "service" and "start" in d.at]
    hosts = {name.partition(".")[0] for d in needed for name in (d.on, d.host)} - {""}
    found = {config.key: config.meaning}
    for key, value in orjson.loads(_file(target)).items():
        host = str(value).partition(":")[0].partition(".")[0]
        if host in hosts:
            found.setdefault(key, f"address for {host}")
        elif value == str(component.port):
            found.setdefault(key, "port to serve on")
    return found


def _volume(target: ComponentTarget, chance: Chance) -> str:
    """A name for one more volume of the pod."""
    taken = {volume["name"] for volume in target.pod_spec.get("volumes") or ()}
    names = (
        "config",
        "app-config",
        "conf",
        "settings",
        "cfg",
        "service-config",
        "runtime-config",
        f"{target.name}-config",
    )
    return str(
        until(chance, lambda by: by.choice("name", names), lambda name: name not in taken, "configuration")
    )


@fault(
    layer="configuration",
    mechanism="missing_config_key",
    targets=components(where=lambda target: bool(_file(target))),
)
def configmap_drift(
    target: ComponentTarget,
    key: str = drawn(
        lambda target, chance: chance.choice("key", list(_needed(target))),
        published=lambda target: target.component.config.key,
    ),
    slip: str = drawn(one_of("", *SLIPS), published=""),
    name: str = drawn(
        fresh("configmaps", "{name}-config", "{name}-settings", "{name}-conf", "{name}-cm", "{app}-{name}-config",
              "{name}-app-config", "config-{name}", "{name}-service-config", "{name}-files"),
        published=lambda target: f"{target.name}-config",
    ),
    volume: str = drawn(_volume, published="config-volume"),
) -> Fault:  # fmt: skip
    """The ConfigMap that is mounted over the component's configuration file lacks a key it needs to start.

    The key is gone, empty, or stands there under another name; ``slip`` says which.
    """
    config, mounted = target.component.config, _mount(target)
    assert config is not None
    healthy, meaning = orjson.loads(_file(target)), _needed(target).get(key, config.meaning)
    instead = SLIPS[slip](key, healthy[key])
    drifted = {
        k: v for each in healthy for k, v in (instead if each == key else {each: healthy[each]}).items()
    }
    ref, file_name = mounted or (
        ObjectRef("configmaps", name, target.namespace),
        config.path.rpartition("/")[2],
    )
    now = next((k for k in instead if k != key), "")
    state = f" ({'it is empty' if key in instead else f'its value stands under {now}'})" if instead else ""
    known: dict[str, Any] = {
        "resource": ref,
        "cause": f"ConfigMap {ref.name}, mounted over {config.path} in {target.name}, lacks the key {key}{state}; "
        f"{target.name} has no {meaning} and fails at start.",
        "details": {"field": key, "right": healthy[key]},
        "facts": {"path": config.path, "meaning": meaning},
        "look": [f"kubectl get configmap {ref.name} -n {target.namespace} -o yaml", *_as_baked(target)],
        "accepts": [target.workload],
    }
    if mounted is not None:
        whole = target.inventory.manifest("configmaps", ref.name, target.namespace)
        return Fault(
            **known,
            edits=[JsonPatch(ref, f"/data/{file_name}", _json(drifted))],
            trigger=[RecreatePods(name) for name in (target.name, *target.dependents)],
            remedies=[[apply(whole), *restart(target, [target.name])]],
        )
    mount = {"name": volume, "mountPath": config.path, "subPath": file_name}
    where = {
        target.container_path("volumeMounts"): [*target.container.get("volumeMounts", ()), mount],
        target.template_path("volumes"): [
            *target.pod_spec.get("volumes", ()),
            {"name": volume, "configMap": {"name": ref.name}},
        ],
    }
    unmount = [f"{path}/{len(items) - 1}" for path, items in where.items()]
    return Fault(
        **known,
        **revision(target, where, before=[Create(_config_map(ref, file_name, drifted))]),
        remedies=[
            [apply(_config_map(ref, file_name, healthy)), *restart(target, [target.name])],
            mend(target, drop(target.workload, *unmount)),
        ],
    )


def _as_baked(target: ComponentTarget) -> list[str]:
    """Reads the file in a neighbour that runs the same image and mounts nothing over it: it has every key."""
    path = target.component.config.path if target.component.config else ""
    others = (ComponentTarget(target.inventory, c) for c in target.app.components if c.name != target.name)
    same = [
        other
        for other in others
        if other.component.workload in ROLLED
        and other.component.container
        and other.component.name in target.app.critical
        and other.inventory.declares(other.component)
        and other.container["image"] == target.container["image"]
        and _mount(other) is None
    ]
    return [execute(other, f"cat {path}") for other in same[:1]]


def _json(content: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(content), option=orjson.OPT_INDENT_2).decode() + "\n"


def _config_map(ref: ObjectRef, file_name: str, content: Mapping[str, Any]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "data": {file_name: _json(content)},
    }
