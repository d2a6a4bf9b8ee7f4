"""The availability controller of the aggregation layer: whether what stands behind an APIService answers.

Also registers an APIService for every version of every CustomResourceDefinition's group (``crd-autoregister``).
"""

from __future__ import annotations

from collections.abc import Iterable

from sregym_env.kube.conditions import is_true
from sregym_env.kube.durations import rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.sim import apiserver
from sregym_env.sim.apiserver.published import API_SERVICES, local_api_service
from sregym_env.sim.controllers.endpointslice import RESOURCE as SLICES
from sregym_env.sim.controllers.endpointslice import SERVICE_LABEL
from sregym_env.sim.controllers.retry import retried
from sregym_env.sim.network import addressing
from sregym_env.sim.world import Controller, SimWorld
from sregym_env.sim.world.derived import DerivedFrom
from sregym_env.sim.world.store import Change, Key

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged"
CUSTOM_PRIORITY = (1000, 100)
"""groupPriorityMinimum and versionPriority of the group of a custom resource."""

Verdict = tuple[str, str, str]
"""Status, reason and message of the condition ``Available``."""


def reconcile(world: SimWorld, key: Key) -> int | None:
    """Bring the condition of one APIService up to date, or make and remove that of a custom group."""
    name = key[1]
    version, _, group = name.partition(".")
    defined = _is_defined(world, group, version)
    service = world.store.get(API_SERVICES, "", name)
    if service is None:
        if defined:
            made = local_api_service(world, group, version, *CUSTOM_PRIORITY, "true")
            made = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", **made}
            apiserver.create(world, API_SERVICES, made)
            _note(world, name, made, ("True", "Local", "Local APIServices are always available"))
        return None
    labels = service["metadata"].get("labels") or {}
    if labels.get(AUTOMANAGED) == "true" and not defined:
        apiserver.delete(world, API_SERVICES, "", name)
        return None
    _note(world, name, service, _verdict(world, service["spec"]))
    return None


def stale(world: SimWorld) -> list[str]:
    """Group versions of aggregated APIs behind which nobody answers (``metrics.k8s.io/v1beta1``), in name order."""
    return [
        f"{service['spec'].get('group', '')}/{service['spec']['version']}"
        for service in world.store.list(API_SERVICES)
        if service["spec"].get("service") and not is_true(service.get("status"), "Available")
    ]


def _is_defined(world: SimWorld, group: str, version: str) -> bool:
    return any(
        found["spec"].get("group") == group
        and any(v["name"] == version and v.get("served") for v in found["spec"].get("versions") or ())
        and "deletionTimestamp" not in found["metadata"]
        for found in world.store.list(DEFINITIONS)
    )


def _verdict(world: SimWorld, spec: Manifest) -> Verdict:
    reference = spec.get("service")
    if reference is None:
        return "True", "Local", "Local APIServices are always available"
    namespace, name = reference["namespace"], reference["name"]
    wanted = reference.get("port", 443)
    about = f'service/{name} in "{namespace}"'
    service = world.store.get("services", namespace, name)
    if service is None:
        return "False", "ServiceNotFound", f"{about} is not present"
    ports = service["spec"].get("ports") or ()
    port = next((found for found in ports if found["port"] == wanted), None)
    if port is None:
        return "False", "ServicePortError", f"{about} is not listening on port {wanted}"
    if not addressing.usable(addressing.endpoints(world, namespace, name)):
        text = f'endpoints for {about} have no addresses with port name "{port.get("name", "")}"'
        return "False", "MissingEndpoints", text
    return "True", "Passed", "all checks passed"


def _note(world: SimWorld, name: str, service: Manifest, verdict: Verdict) -> None:
    status = service.get("status") or {}
    listed = status.get("conditions") or []
    known = next((c for c in listed if c["type"] == "Available"), None)
    value, reason, message = verdict
    since = rfc3339(world.now())
    if known is not None and known["status"] == value:
        since = known["lastTransitionTime"]
    made = {
        "lastTransitionTime": since,
        "message": message,
        "reason": reason,
        "status": value,
        "type": "Available",
    }
    others = [c for c in listed if c["type"] != "Available"]
    apiserver.update_status(world, API_SERVICES, "", name, {**status, "conditions": [*others, made]})


def _itself(_: SimWorld, change: Change) -> Iterable[Key]:
    old, new = change.old, change.new
    if old is not None and new is not None and old["spec"] is new["spec"]:
        return ()
    return (change.key,)


def _backed_by(world: SimWorld, namespace: str, name: str) -> Iterable[Key]:
    return _by_service(world.store.list(API_SERVICES)).get((namespace, name), ())


def _keys_by_service(api_services: list[Manifest]) -> dict[Key, list[Key]]:
    """Keys of the API services by the Service that serves them."""
    found: dict[Key, list[Key]] = {}
    for each in api_services:
        behind = each["spec"].get("service")
        if behind is not None:
            key = ("", each["metadata"]["name"])
            found.setdefault((behind["namespace"], behind["name"]), []).append(key)
    return found


_by_service = DerivedFrom(_keys_by_service)


def _of_service(world: SimWorld, change: Change) -> Iterable[Key]:
    return _backed_by(world, *change.key)


def _of_slice(world: SimWorld, change: Change) -> Iterable[Key]:
    name = (change.object["metadata"].get("labels") or {}).get(SERVICE_LABEL, "")
    return _backed_by(world, change.key[0], name)


def _of_definition(_: SimWorld, change: Change) -> Iterable[Key]:
    found = []
    for definition in (change.old, change.new):
        spec = {} if definition is None else definition["spec"]
        for version in spec.get("versions") or ():
            key = ("", f"{version['name']}.{spec.get('group', '')}")
            if key not in found:
                found.append(key)
    return found


CONTROLLER = Controller(
    "apiservice",
    {API_SERVICES: _itself, "services": _of_service, SLICES: _of_slice, DEFINITIONS: _of_definition},
    retried("apiservice", reconcile),
)
