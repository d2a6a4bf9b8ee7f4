"""ResourceQuota: nothing is admitted that a quota of its namespace does not leave room for."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.kube import quantity
from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver import quota as evaluators
from sregym_env.sim.apiserver.admission.attributes import Attributes, refused
from sregym_env.sim.world import SimWorld


def validate(world: SimWorld, request: Attributes, new: Manifest, old: Manifest | None) -> None:
    """Raise Forbidden with the text of the first quota that refuses."""
    resource = request.resource
    if not resource.namespaced or resource.key == "events":
        return
    quotas = world.store.list("resourcequotas", new["metadata"]["namespace"])
    if not quotas or resource.key == "resourcequotas":
        return
    asked = evaluators.usage_of(resource.storage_key, new)
    if request.operation == "UPDATE" and old is not None:
        asked = _growth(asked, evaluators.usage_of(resource.storage_key, old))
    for quota in quotas:
        if evaluators.in_scope(quota, resource.storage_key, new):
            _check(world, request, quota, new, asked)


def _growth(new: Mapping[str, str], old: Mapping[str, str]) -> dict[str, str]:
    grown = {name: quantity.subtract(amount, old.get(name, "0")) for name, amount in new.items()}
    return {name: amount for name, amount in grown.items() if quantity.compare(amount, "0") > 0}


def _check(
    world: SimWorld,
    request: Attributes,
    quota: Manifest,
    new: Manifest,
    asked: Mapping[str, str],
) -> None:
    hard: Mapping[str, str] = quota["spec"].get("hard", {})
    name = quota["metadata"]["name"]
    if request.resource.key == "pods" and request.operation == "CREATE":
        missing = _undeclared(new, hard)
        if missing:
            text = f"failed quota: {name}: must specify {missing}"
            raise refused(request, new, text)
    relevant = sorted(key for key in hard if key in asked)
    if not relevant:
        return
    used = evaluators.used(world, quota)
    exceeded = [
        key for key in relevant if quantity.compare(quantity.add(used[key], asked[key]), hard[key]) > 0
    ]
    if exceeded:
        requested = ",".join(f"{key}={quantity.canonical(asked[key])}" for key in exceeded)
        in_use = ",".join(f"{key}={quantity.canonical(used[key])}" for key in exceeded)
        limited = ",".join(f"{key}={quantity.canonical(hard[key])}" for key in exceeded)
        text = f"exceeded quota: {name}, requested: {requested}, used: {in_use}, limited: {limited}"
        raise refused(request, new, text)


def _undeclared(pod: Manifest, hard: Mapping[str, str]) -> str:
    """``limits.memory for: a,b; requests.cpu for: a``: constrained compute that containers leave open."""
    complaints: dict[str, list[str]] = {}
    containers = [*pod["spec"].get("containers", ()), *pod["spec"].get("initContainers", ())]
    for key in sorted(hard):
        field, _, compute = key.partition(".")
        if not compute:
            field, compute = "requests", key
        if field not in ("requests", "limits") or compute not in evaluators.COMPUTE:
            continue
        for container in containers:
            if compute not in container.get("resources", {}).get(field, {}):
                complaints.setdefault(key, []).append(container["name"])
    return "; ".join(f"{key} for: {','.join(sorted(names))}" for key, names in complaints.items())
