"""``kubectl expose``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import is_whole, whole
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import DRY_RUN, FILENAME, KUSTOMIZE, OUTPUT, RECORD, RECURSIVE, Flag
from sregym_env.tools.kubectl.resolve import Info, need_typed, targets, visit
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    NOTHING_GIVEN,
    SAVE_CONFIG,
    UNNAMED,
    create_object,
    label_specs,
)


def expose(call: Call) -> None:
    """Make a Service for the pods behind an object."""
    # The service's own --selector must not be taken for one of objects.
    wanted = targets(replace(call, flags={**call.flags, "selector": ""}))
    if not wanted:
        raise failure(NOTHING_GIVEN)
    if any(target.name is None for target in wanted):
        raise failure(UNNAMED)
    for info in visit(call, wanted):
        create_object(call, call.find("services"), _service(call, info), "exposed")


def _service(call: Call, info: Info) -> Manifest:
    flags = call.flags
    ports = _ports(call, info)
    spec: dict[str, Any] = {"ports": ports, "selector": _selector(call, info)}
    if flags["type"]:
        spec["type"] = flags["type"]
    if flags["cluster-ip"]:
        spec["clusterIP"] = flags["cluster-ip"]
    if flags["external-ip"]:
        spec["externalIPs"] = [flags["external-ip"]]
    if flags["load-balancer-ip"]:
        spec["loadBalancerIP"] = flags["load-balancer-ip"]
    if flags["session-affinity"]:
        spec["sessionAffinity"] = flags["session-affinity"]
    labels = info.object["metadata"].get("labels") or {}
    if flags["labels"]:
        labels = label_specs(str(flags["labels"]))
    metadata: dict[str, Any] = {
        "creationTimestamp": None,
        "name": flags["name"] or info.name,
        "namespace": info.namespace,
    }
    if labels:
        metadata["labels"] = labels
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": spec,
        "status": {"loadBalancer": {}},
    }


def _selector(call: Call, info: Info) -> dict[str, str]:
    if call.flags["selector"]:
        return label_specs(str(call.flags["selector"]))
    need_typed(info)
    key = info.resource.key
    if key == "pods":
        labels = info.object["metadata"].get("labels") or {}
        if not labels:
            raise failure(
                "couldn't retrieve selectors via --selector flag or introspection: the pod has no labels and cannot be exposed"
            )
        return dict(labels)
    if key == "services":
        return dict(info.object["spec"].get("selector") or {})
    if key not in ("deployments.apps", "replicasets.apps", "replicationcontrollers"):
        raise failure(f"cannot expose a {info.resource.kind}")
    selector = info.object["spec"].get("selector") or {}
    return dict(selector.get("matchLabels") or {}) if key != "replicationcontrollers" else dict(selector)


def _ports(call: Call, info: Info) -> list[Manifest]:
    flags = call.flags
    protocol = flags["protocol"] or "TCP"
    target = flags["target-port"]
    if flags["port"]:
        numbers = [_number(text) for text in str(flags["port"]).split(",")]
    else:
        spec = info.object.get("spec") or {}
        pod = spec if info.resource.key == "pods" else spec.get("template", {}).get("spec", {})
        numbers = [p["containerPort"] for c in pod.get("containers", ()) for p in c.get("ports", ())]
        if info.resource.key == "services":
            numbers = [p["port"] for p in spec.get("ports", ())]
        if not numbers:
            raise failure("couldn't find port via --port flag or introspection")
    ports = []
    for index, number in enumerate(numbers):
        port: dict[str, Any] = {"port": number, "protocol": protocol}
        if len(numbers) > 1:
            port["name"] = f"port-{index + 1}"
        wanted = whole(str(target))
        port["targetPort"] = (target if wanted is None else wanted) if target else number
        ports.append(port)
    return ports


def _number(text: str) -> int:
    number = whole(text)
    if number is None:
        wrong = "value out of range" if is_whole(text) else "invalid syntax"
        raise failure(f'strconv.Atoi: parsing "{text}": {wrong}')
    return number


_COMMON = (OUTPUT, DRY_RUN, FIELD_MANAGER, SAVE_CONFIG)

EXPOSE = Verb(
    "expose",
    "Take a replication controller, service, deployment or pod and expose it as a new Kubernetes service",
    expose,
    (
        *_COMMON,
        RECORD,
        FILENAME,
        KUSTOMIZE,
        RECURSIVE,
        Flag("selector", help="A label selector to use for this service."),
        Flag("port", help="The port that the service should serve on."),
        Flag("target-port", help="Name or number for the port on the container."),
        Flag("protocol", help="The network protocol for the service to be created."),
        Flag("name", help="The name for the newly created object."),
        Flag("type", help="Type for this service: ClusterIP, NodePort, LoadBalancer, or ExternalName."),
        Flag("cluster-ip", help="ClusterIP to be assigned to the service."),
        Flag("external-ip", help="Additional external IP address to accept for the service."),
        Flag("labels", "l", help="Labels to apply to the service created by this call."),
        Flag("session-affinity", help="If non-empty, set the session affinity for the service to this."),
        Flag("load-balancer-ip", help="IP to assign to the LoadBalancer."),
        Flag("overrides", help="An inline JSON override for the generated object."),
        Flag("override-type", default="merge", help="The method used to override the generated object."),
    ),
    usage="expose (-f FILENAME | TYPE NAME) [--port=port] [--protocol=TCP|UDP|SCTP] [--target-port=number-or-name] [--name=name] [--external-ip=external-ip-of-service] [--type=type]",
    group="Basic Commands (Beginner)",
)
