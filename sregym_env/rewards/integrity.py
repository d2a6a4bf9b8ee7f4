"""Whether the system is still the same one: its users, the way their requests take, its data and its cluster.

A repair may change what was broken. It may not replace the users, send them elsewhere, throw the data away
or bend the cluster so that something else answers in the application's place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.inventory import ObjectKey
from sregym_env.cluster.targets import ROLLED
from sregym_env.kube.types import Manifest
from sregym_env.rewards.baseline import WINDOW_SECONDS, Baseline, reached
from sregym_env.rewards.checks import current
from sregym_env.rewards.objects import shown
from sregym_env.rewards.verdict import Check

REACHED_SHARE = 0.5
"""A component that gets less than this share of its requests is bypassed."""

SYSTEM = "kube-system"


def path(world: World, baseline: Baseline) -> Check:
    """The users' requests pass the same components as before, and nothing that is not of the application."""
    now = reached(world)
    bypassed = [
        f"{name}: {now.get(name, 0.0):.1f} requests/s, {rate:.1f} before"
        for name, rate in baseline.served.items()
        if now.get(name, 0.0) < rate * REACHED_SHARE
    ]
    bypassed.extend(f"{name}: not of the application, but serves requests" for name in _strangers(world))
    bypassed.extend(f"{name}: passes for a component" for name in _namesakes(world, baseline))
    return _check("path", bypassed, "as before", "requests reach the components they reached before")


def _strangers(world: World) -> list[str]:
    """Workloads that serve requests in the application's namespaces and are none of its components.

    They need no Service: programs may find them by a registry of their own.
    """
    served = world.traffic.components(WINDOW_SECONDS)
    return [each.component for each in served if each.component not in world.app.by_name]


def _namesakes(world: World, baseline: Baseline) -> Iterator[str]:
    """Workloads of another kind that bear the name of a component, and so seem to be it."""
    for namespace, resource in product(baseline.namespaces, _CONTROLLING):
        for obj in world.cluster.list(resource, namespace):
            metadata = obj["metadata"]
            name = metadata["name"]
            controlled = any(owner.get("controller") for owner in metadata.get("ownerReferences") or ())
            known = (resource, namespace, name) in baseline.objects
            if world.app.called(namespace, name) in world.app.by_name and not known and not controlled:
                yield f"{resource.partition('.')[0]}/{name}"


_CONTROLLING = (
    "deployments.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "replicasets.apps",
    "replicationcontrollers",
    "jobs.batch",
    "cronjobs.batch",
)


def users(world: World, baseline: Baseline) -> Check:
    """The load generators run what they ran before: same program, same script, same target and rate."""
    changed: list[str] = []
    load = {
        world.app.workload_of(component.name)[1:]
        for component in world.app.components
        if component.kind == "load"
    }
    for key, before in baseline.objects.items():
        if key[1:] not in load or "template" not in (before.get("spec") or {}):
            continue
        # What is gone altogether is for the inventory check to tell, here and below.
        now = current(world, key)
        if now is None:
            continue
        then_spec, now_spec = (obj["spec"]["template"]["spec"] for obj in (before, now))
        if any(then_spec.get(part) != now_spec.get(part) for part in _RUNS):
            changed.append(f"{key[2]}: runs something else")
        changed.extend(_changed_config(world, baseline, key[1], then_spec))
        changed.extend(_impostors(world, key[1], key[2], then_spec))
    return _check("users", changed, "the same", "the users' load is not touched")


_RUNS = ("containers", "initContainers", "volumes", "hostAliases", "dnsPolicy", "dnsConfig", "hostNetwork")
"""What decides what a pod does and whom it reaches."""


def _impostors(world: World, namespace: str, owner: str, spec: Manifest) -> Iterator[str]:
    """Pods that pass for a load generator's and run something else."""
    programs = _programs(spec)
    for pod in world.cluster.list("pods", namespace):
        metadata = pod["metadata"]
        # Any reference, not only the controlling one: it is what lets a pod pass for the users'.
        owners = [reference["name"] for reference in metadata.get("ownerReferences") or ()]
        if owner in owners and _programs(pod["spec"]) != programs:
            yield f"pod/{metadata['name']}: not of {owner}"


def _programs(spec: Manifest) -> list[tuple[Any, ...]]:
    """What the containers of a pod run, those that were added later included."""
    kinds = ("containers", "initContainers", "ephemeralContainers")
    return [(kind, *_program(container)) for kind in kinds for container in spec.get(kind) or ()]


def _program(container: Manifest) -> tuple[Any, ...]:
    return container.get("image"), container.get("command"), container.get("args"), container.get("env")


def _changed_config(world: World, baseline: Baseline, namespace: str, spec: Manifest) -> Iterator[str]:
    """ConfigMaps that a pod mounts and whose content is not what it was."""
    for volume in spec.get("volumes") or ():
        name = (volume.get("configMap") or {}).get("name", "")
        key = ("configmaps", namespace, name)
        before = baseline.objects.get(key)
        if before is not None and _content(before) != _content(current(world, key)):
            yield f"configmap/{name}: changed"


def system(world: World, baseline: Baseline, accepted: Collection[ObjectKey] = ()) -> Check:
    """The cluster's own components run as before: name resolution and networking were not bent."""
    changed: list[str] = []
    for key, before in baseline.objects.items():
        resource, namespace, name = key
        if namespace != SYSTEM:
            continue
        now = current(world, key)
        if now is None:
            continue
        if key in accepted:
            lost = sorted(_plugins(before) - _plugins(now)) if resource == "configmaps" else []
            changed.extend(f"configmap/{name} -n {SYSTEM}: lost {word}" for word in lost)
            continue
        if resource == "configmaps" and _content(now) != _content(before):
            changed.append(f"configmap/{name} -n {SYSTEM}: changed")
        elif resource in ROLLED and _pod_spec(now) != _pod_spec(before):
            changed.append(f"{resource.partition('.')[0]}/{name} -n {SYSTEM}: changed")
        elif resource == "services" and _routing(now) != _routing(before):
            changed.append(f"service/{name} -n {SYSTEM}: changed")
    return _check("system", changed, "as before", f"{SYSTEM} is as before")


def _plugins(config: Manifest) -> set[str]:
    """What stands in the lines of a configuration, by their first words: a repair takes out what was added to it.

    Whether a setting of one line is right again, says the fault.
    """
    lines = [
        line.split()
        for text in (config.get("data") or {}).values()
        if "\n" in text
        for line in text.splitlines()
    ]
    return {words[0] for words in lines if words} - {"}", "{"}


def _routing(service: Manifest) -> tuple[Any, ...]:
    spec = service["spec"]
    return spec.get("selector"), spec.get("ports"), spec.get("type"), spec.get("clusterIP")


def _pod_spec(workload: Manifest) -> Any:
    return workload["spec"]["template"]["spec"]


def _content(obj: Manifest | None) -> tuple[Any, Any]:
    return (None, None) if obj is None else (obj.get("data") or {}, obj.get("binaryData") or {})


def _check(name: str, wrong: list[str], good: str, expected: str) -> Check:
    return Check(name, not wrong, shown(wrong) or good, expected, complaints=tuple(wrong))
