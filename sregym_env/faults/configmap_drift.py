"""A configuration file that lost a key."""

from __future__ import annotations

import orjson

from sregym_env.cluster.edits import Create, ObjectRef, RecreatePods, Redeploy
from sregym_env.cluster.targets import ROLLED, ComponentTarget, components
from sregym_env.faults.commands import apply, drop, execute, mend, restart
from sregym_env.faults.fault import Fault, fault
from sregym_env.kube.types import Manifest


def _file(target: ComponentTarget) -> str:
    """The configuration file that is baked into the component's image; empty for none."""
    config = target.component.config
    images = {image.reference: image for image in target.app.images}
    image = images.get(target.container["image"])
    return "" if config is None or image is None else image.files.get(config.path, "")


@fault(
    layer="configuration",
    mechanism="missing_config_key",
    targets=components(where=lambda target: bool(_file(target))),
)
def configmap_drift(target: ComponentTarget) -> Fault:
    """A ConfigMap is mounted over the component's configuration file and lacks a key it needs to start."""
    config = target.component.config
    assert config is not None
    healthy = orjson.loads(_file(target))
    drifted = {key: value for key, value in healthy.items() if key != config.key}
    name = f"{target.name}-config"
    ref = ObjectRef("configmaps", name, target.namespace)
    file_name = config.path.rpartition("/")[2]
    mount = {"name": "config-volume", "mountPath": config.path, "subPath": file_name}
    volume = {"name": "config-volume", "configMap": {"name": name}}
    where = {
        target.container_path("volumeMounts"): [*target.container.get("volumeMounts", ()), mount],
        target.template_path("volumes"): [*target.pod_spec.get("volumes", ()), volume],
    }
    unmount = [f"{path}/{len(items) - 1}" for path, items in where.items()]
    return Fault(
        resource=ref,
        cause=f"ConfigMap {name}, mounted over {config.path} in {target.name}, lacks the key {config.key}; "
        f"{target.name} has no {config.meaning} and fails at start.",
        edits=[Create(_config_map(ref, file_name, drifted)), Redeploy(target.workload, where)],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": config.key, "right": healthy[config.key]},
        facts={"path": config.path, "meaning": config.meaning},
        remedies=[
            [apply(_config_map(ref, file_name, healthy)), *restart(target, [target.name])],
            mend(target, drop(target.workload, *unmount)),
        ],
        look=[f"kubectl get configmap {name} -n {target.namespace} -o yaml", *_as_baked(target)],
        accepts=[target.workload],
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
    ]
    return [execute(other, f"cat {path}") for other in same[:1]]


def _config_map(ref: ObjectRef, file_name: str, content: dict[str, str]) -> Manifest:
    text = orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n"
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "data": {file_name: text},
    }
