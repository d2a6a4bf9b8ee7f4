"""Nodes, namespaces, events, metrics and the API server's own state in a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from sregym_env.kube.quantity import add
from sregym_env.kube.tables.cells import NO_FIELDS, age, find_condition, since
from sregym_env.kube.tables.layout import Printer, Row
from sregym_env.kube.types import Manifest


def node_status(node: Manifest) -> str:
    """``Ready``, ``NotReady``, ``Unknown``, with ``,SchedulingDisabled`` when cordoned."""
    condition = find_condition(node, "Ready")
    if condition is None:
        text = "Unknown"
    else:
        text = "Ready" if condition.get("status") == "True" else "NotReady"
    return f"{text},SchedulingDisabled" if node.get("spec", {}).get("unschedulable") else text


def node_roles(node: Manifest) -> str:
    """The roles in the node's labels, sorted, or ``<none>``."""
    roles = set()
    for key, value in (node["metadata"].get("labels") or {}).items():
        if key.startswith("node-role.kubernetes.io/"):
            roles.add(key.removeprefix("node-role.kubernetes.io/"))
        elif key == "kubernetes.io/role" and value:
            roles.add(value)
    roles.discard("")
    return ",".join(sorted(roles)) or "<none>"


def _node(obj: Manifest, now: int) -> Row:
    status = obj.get("status") or NO_FIELDS
    info = status.get("nodeInfo") or NO_FIELDS
    addresses: dict[str, str] = {}
    for address in status.get("addresses") or ():
        addresses.setdefault(address["type"], address["address"])
    return (
        obj["metadata"]["name"],
        node_status(obj),
        node_roles(obj),
        age(obj, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", "<none>"),
        addresses.get("ExternalIP", "<none>"),
        info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>",
        info.get("containerRuntimeVersion") or "<unknown>",
    )


def _namespace(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], (obj.get("status") or NO_FIELDS).get("phase", ""), age(obj, now))


def event_times(event: Manifest) -> tuple[str | None, str | None, int]:
    """First and last time of an event and how often it was seen, whichever API wrote it."""
    first = event.get("firstTimestamp") or event.get("eventTime")
    last = event.get("lastTimestamp") or first
    count = event.get("count") or 1
    series = event.get("series")
    if series:
        last, count = series.get("lastObservedTime"), series.get("count", count)
    return first, last, count


def event_source(event: Manifest) -> str:
    """``kubelet, node-1``: who reported an event, and from where."""
    source = event.get("source") or NO_FIELDS
    component = source.get("component") or event.get("reportingComponent") or ""
    instance = source.get("host") or event.get("reportingInstance") or ""
    if source.get("component"):
        instance = source.get("host") or ""
    return f"{component}, {instance}" if instance else component


def _event(obj: Manifest, now: int) -> Row:
    first, last, count = event_times(obj)
    involved = obj.get("involvedObject") or obj.get("regarding") or NO_FIELDS
    kind = involved.get("kind", "").lower()
    return (
        since(last, now),
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{involved['name']}" if involved.get("name") else kind,
        involved.get("fieldPath", ""),
        event_source(obj),
        (obj.get("message") or obj.get("note") or "").strip(),
        since(first, now),
        count,
        obj["metadata"]["name"],
    )


def _runtime_class(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], obj["handler"], age(obj, now))


def _component_status(obj: Manifest, now: int) -> Row:
    for condition in obj.get("conditions") or ():
        if condition["type"] == "Healthy":
            status = "Healthy" if condition["status"] == "True" else "Unhealthy"
            return (obj["metadata"]["name"], status, condition.get("message", ""), condition.get("error", ""))
    return (obj["metadata"]["name"], "Unknown", "", "")


def _api_service(obj: Manifest, now: int) -> Row:
    service = obj["spec"].get("service")
    condition = find_condition(obj, "Available")
    available = "Unknown"
    if condition is not None:
        available = condition["status"]
        if available != "True" and condition.get("reason"):
            available = f"{available} ({condition['reason']})"
    target = f"{service['namespace']}/{service['name']}" if service else "Local"
    return (obj["metadata"]["name"], target, available, age(obj, now))


def _total(usages: Iterable[Mapping[str, str]], resource: str) -> str:
    texts = [usage[resource] for usage in usages if resource in usage]
    return reduce(add, texts) if texts else "0"


def _pod_metrics(obj: Manifest, now: int) -> Row:
    usages = [container["usage"] for container in obj.get("containers") or ()]
    return (obj["metadata"]["name"], _total(usages, "cpu"), _total(usages, "memory"), obj.get("window", ""))


def _node_metrics(obj: Manifest, now: int) -> Row:
    usage = obj.get("usage") or {}
    return (obj["metadata"]["name"], usage.get("cpu", ""), usage.get("memory", ""), obj.get("window", ""))


_METRICS = "Name|CPU|Memory|Window"

PRINTERS: Mapping[str, Printer] = {
    "nodes": Printer.of(
        "Name|Status|Roles|Age|Version|Internal-IP*|External-IP*|OS-Image*|Kernel-Version*|Container-Runtime*",
        _node,
    ),
    "namespaces": Printer.of("Name|Status|Age", _namespace),
    "events": Printer.of(
        "Last Seen|Type|Reason|Object|Subobject*|Source*|Message|First Seen*|Count*|Name*", _event
    ),
    "runtimeclasses.node.k8s.io": Printer.of("Name|Handler|Age", _runtime_class),
    "componentstatuses": Printer.of("Name|Status|Message|Error", _component_status),
    "apiservices.apiregistration.k8s.io": Printer.of("Name|Service|Available|Age", _api_service),
    "pods.metrics.k8s.io": Printer.of(_METRICS, _pod_metrics),
    "nodes.metrics.k8s.io": Printer.of(_METRICS, _node_metrics),
}
"""Printers by resource key."""
