"""Tables as the API server renders them and as kubectl prints them.

``PRINTERS`` is the one table: for every resource its columns and a function from an object to its cells
(``k8s.io/kubernetes/pkg/printers/internalversion``). Columns marked ``wide`` are shown by ``-o wide`` only.
``render`` is kubectl's tabwriter. Ages are told from ``now``, integer microseconds since the Unix epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import Any

from sregym_env.kube.durations import human_duration, parse_rfc3339
from sregym_env.kube.jsonpath import JSONPathError, compile_template, go_text, relaxed
from sregym_env.kube.quantity import add
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest

Cell = str | int | bool | None
Row = Sequence[Cell]

PADDING = 3
MIN_WIDTH = 6


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a server-side table."""

    name: str
    wide: bool = False
    type: str = "string"
    format: str = ""


@dataclass(frozen=True, slots=True)
class Printer:
    """How one resource is shown: its columns and the cells of an object at a time."""

    columns: tuple[Column, ...]
    row: Callable[[Manifest, int], Row]
    narrow: int = field(init=False)
    """How many columns are shown without ``-o wide`` when those come first (-1 when interleaved)."""

    def __post_init__(self) -> None:
        flags = [column.wide for column in self.columns]
        count = flags.count(False)
        object.__setattr__(self, "narrow", -1 if any(flags[:count]) else count)

    def headers(self, wide: bool) -> list[str]:
        """Upper-case header names as kubectl shows them."""
        return [column.name.upper() for column in self.columns if wide or not column.wide]

    def cells(self, obj: Manifest, now: int, wide: bool) -> Row:
        """The cells of one object, without the wide ones unless asked for."""
        row = self.row(obj, now)
        if wide:
            return row
        narrow = self.narrow
        if narrow >= 0:
            return row[:narrow]
        return [cell for cell, column in zip(row, self.columns, strict=False) if not column.wide]


@lru_cache(maxsize=65536)
def _micros(stamp: str) -> int:
    return parse_rfc3339(stamp)


def since(stamp: str | None, now: int) -> str:
    """How long ago a timestamp was, as a person reads it: ``3m``, ``5h10m``; ``<unknown>`` when unset."""
    if not stamp:
        return "<unknown>"
    return _ago((now - _micros(stamp)) // 1_000_000)


@lru_cache(maxsize=65536)
def _ago(seconds: int) -> str:
    return human_duration(seconds)


def age(obj: Manifest, now: int) -> str:
    """The age of an object."""
    return since(obj["metadata"].get("creationTimestamp"), now)


def format_labels(labels: Mapping[str, str] | None) -> str:
    """``a=b,c=d`` sorted by key, or ``<none>``."""
    if not labels:
        return "<none>"
    return ",".join([f"{key}={labels[key]}" for key in sorted(labels)])


def format_selector(selector: Mapping[str, Any] | None) -> str:
    """A LabelSelector as ``metav1.FormatLabelSelector`` prints it."""
    if selector is None:
        return "<none>"
    parts = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for term in selector.get("matchExpressions") or ():
        parts.append((term["key"], _expression(term)))
    return ",".join(text for _, text in sorted(parts)) or "<none>"


def _expression(term: Mapping[str, Any]) -> str:
    key, operator = term["key"], term["operator"]
    if operator == "Exists":
        return str(key)
    if operator == "DoesNotExist":
        return f"!{key}"
    values = ",".join(sorted(term.get("values") or ()))
    return f"{key} {'in' if operator == 'In' else 'notin'} ({values})"


def access_modes(modes: Iterable[str] | None) -> str:
    """``RWO,ROX``: access modes abbreviated, in the fixed order."""
    present = tuple(modes or ())
    return ",".join(short for mode, short in _ACCESS_MODES if mode in present)


_ACCESS_MODES = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)


def _more(items: list[str], shown: int, separator: str = ",") -> str:
    text = separator.join(items[:shown])
    return f"{text} + {len(items) - shown} more..." if len(items) > shown else text


def _condition(obj: Manifest, type_: str) -> Mapping[str, Any] | None:
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if condition["type"] == type_:
            return condition  # type: ignore[no-any-return]
    return None


def _is_true(obj: Manifest, type_: str) -> bool:
    condition = _condition(obj, type_)
    return condition is not None and condition.get("status") == "True"


def _containers(template: Mapping[str, Any] | None) -> tuple[str, str]:
    containers = ((template or {}).get("spec") or {}).get("containers") or ()
    return ",".join([c["name"] for c in containers]), ",".join([c.get("image", "") for c in containers])


# --- pods -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PodSummary:
    """What the STATUS, READY and RESTARTS cells of a pod say."""

    ready: int
    total: int
    reason: str
    restarts: int
    last_restart: str
    """RFC 3339 time of the last restart, empty when unknown."""


_NO_STATE: Mapping[str, Any] = {}


def pod_summary(pod: Manifest) -> PodSummary:
    """The pod's state as ``printPod`` sums it up."""
    spec, status = pod["spec"], pod.get("status") or _NO_STATE
    phase = status.get("phase", "")
    reason = status.get("reason") or phase
    conditions = status.get("conditions") or ()
    for condition in conditions:
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    total = len(spec["containers"])
    ready = restarts = 0
    last = ""
    initializing = False
    inits = spec.get("initContainers")
    if inits:
        sidecars = frozenset(c["name"] for c in inits if c.get("restartPolicy") == "Always")
        total += len(sidecars)
        statuses = status.get("initContainerStatuses") or ()
        start = _init_summary(statuses, sidecars, len(inits))
        ready, initializing = start.ready, bool(start.reason)
        reason = start.reason or reason
        restarts, last = start.restarts, start.last_restart
        if not initializing or _true(conditions, "Initialized"):
            own = [s for s in statuses if s["name"] in sidecars]
            restarts, last = _restarts(own)
    if not initializing or _true(conditions, "Initialized"):
        running = False
        for container in reversed(status.get("containerStatuses") or ()):
            restarts += container.get("restartCount", 0)
            ended = (container.get("lastState") or _NO_STATE).get("terminated")
            if ended and (ended.get("finishedAt") or "") > last:
                last = ended["finishedAt"]
            state = container.get("state") or _NO_STATE
            waiting, terminated = state.get("waiting"), state.get("terminated")
            if waiting and waiting.get("reason"):
                reason = waiting["reason"]
            elif terminated:
                reason = terminated.get("reason") or _exit_reason(terminated)
            elif container.get("ready") and "running" in state:
                running = True
                ready += 1
        if reason == "Completed" and running:
            reason = "Running" if _true(conditions, "Ready") else "NotReady"
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif phase not in ("Succeeded", "Failed"):
            reason = "Terminating"
    return PodSummary(ready, total, reason, restarts, last)


def _true(conditions: Iterable[Mapping[str, Any]], type_: str) -> bool:
    return any(c["type"] == type_ and c.get("status") == "True" for c in conditions)


def _restarts(statuses: Iterable[Mapping[str, Any]]) -> tuple[int, str]:
    count, last = 0, ""
    for status in statuses:
        count += status.get("restartCount", 0)
        ended = (status.get("lastState") or _NO_STATE).get("terminated")
        if ended:
            last = max(last, ended.get("finishedAt") or "")
    return count, last


def _init_summary(statuses: Sequence[Mapping[str, Any]], sidecars: frozenset[str], count: int) -> PodSummary:
    """Readiness of sidecars, and the reason why initialisation has not finished ("" when it has)."""
    ready = 0
    for i, status in enumerate(statuses):
        state = status.get("state") or _NO_STATE
        terminated, waiting = state.get("terminated"), state.get("waiting")
        if terminated and terminated.get("exitCode", 0) == 0:
            continue
        if status["name"] in sidecars and status.get("started"):
            ready += bool(status.get("ready"))
            continue
        if terminated:
            reason = "Init:" + (terminated.get("reason") or _exit_reason(terminated))
        elif waiting and waiting.get("reason") not in (None, "", "PodInitializing"):
            reason = "Init:" + waiting["reason"]
        else:
            reason = f"Init:{i}/{count}"
        restarts, last = _restarts(statuses[: i + 1])
        return PodSummary(ready, count, reason, restarts, last)
    return PodSummary(ready, count, "", *_restarts(statuses))


def _exit_reason(terminated: Mapping[str, Any]) -> str:
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _pod(obj: Manifest, now: int) -> Row:
    summary = pod_summary(obj)
    restarts = str(summary.restarts)
    if summary.restarts and summary.last_restart:
        restarts = f"{restarts} ({since(summary.last_restart, now)} ago)"
    spec, status = obj["spec"], obj.get("status") or _NO_STATE
    ips = status.get("podIPs")
    gates = spec.get("readinessGates")
    gate_text = "<none>"
    if gates:
        conditions = status.get("conditions") or ()
        gate_text = f"{sum(_true(conditions, g['conditionType']) for g in gates)}/{len(gates)}"
    return (
        obj["metadata"]["name"],
        f"{summary.ready}/{summary.total}",
        summary.reason,
        restarts,
        age(obj, now),
        (ips[0]["ip"] if ips else status.get("podIP")) or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        gate_text,
    )


# --- workloads ------------------------------------------------------------------------------------


def _deployment(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or _NO_STATE
    names, images = _containers(spec.get("template"))
    return (
        obj["metadata"]["name"],
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 1)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age(obj, now),
        names,
        images,
        format_selector(spec.get("selector")),
    )


def _replicaset(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or _NO_STATE
    names, images = _containers(spec.get("template"))
    selector = spec.get("selector")
    text = (
        format_labels(selector) if obj.get("kind") == "ReplicationController" else format_selector(selector)
    )
    return (
        obj["metadata"]["name"],
        spec.get("replicas", 1),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age(obj, now),
        names,
        images,
        text,
    )


def _statefulset(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or _NO_STATE
    names, images = _containers(spec.get("template"))
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 1)}"
    return (obj["metadata"]["name"], ready, age(obj, now), names, images)


def _daemonset(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or _NO_STATE
    names, images = _containers(spec.get("template"))
    return (
        obj["metadata"]["name"],
        status.get("desiredNumberScheduled", 0),
        status.get("currentNumberScheduled", 0),
        status.get("numberReady", 0),
        status.get("updatedNumberScheduled", 0),
        status.get("numberAvailable", 0),
        format_labels(spec["template"]["spec"].get("nodeSelector")),
        age(obj, now),
        names,
        images,
        format_selector(spec.get("selector")),
    )


def _job(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or _NO_STATE
    succeeded = status.get("succeeded", 0)
    if spec.get("completions") is not None:
        completions = f"{succeeded}/{spec['completions']}"
    elif spec.get("parallelism", 0) > 1:
        completions = f"{succeeded}/1 of {spec['parallelism']}"
    else:
        completions = f"{succeeded}/1"
    start, end = status.get("startTime"), status.get("completionTime")
    duration = since(start, _micros(end) if end else now) if start else ""
    names, images = _containers(spec.get("template"))
    return (
        obj["metadata"]["name"],
        _job_status(obj),
        completions,
        duration,
        age(obj, now),
        names,
        images,
        format_selector(spec.get("selector")),
    )


def _job_status(obj: Manifest) -> str:
    for type_ in ("Complete", "Failed"):
        if _is_true(obj, type_):
            return type_
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for type_ in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if _is_true(obj, type_):
            return type_
    return "Running"


def _cronjob(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or _NO_STATE
    last = status.get("lastScheduleTime")
    names, images = _containers(spec["jobTemplate"]["spec"].get("template"))
    suspend = spec.get("suspend")
    return (
        obj["metadata"]["name"],
        spec["schedule"],
        spec.get("timeZone") or "<none>",
        "<unset>" if suspend is None else str(bool(suspend)),
        len(status.get("active") or ()),
        since(last, now) if last else "<none>",
        age(obj, now),
        names,
        images,
        format_selector(spec["jobTemplate"]["spec"].get("selector")),
    )


def _hpa(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or _NO_STATE
    target = spec["scaleTargetRef"]
    return (
        obj["metadata"]["name"],
        f"{target['kind']}/{target['name']}",
        _hpa_targets(spec.get("metrics") or (), status.get("currentMetrics") or ()),
        str(spec["minReplicas"]) if spec.get("minReplicas") is not None else "<unset>",
        spec["maxReplicas"],
        status.get("currentReplicas", 0),
        age(obj, now),
    )


def _hpa_targets(specs: Sequence[Mapping[str, Any]], statuses: Sequence[Mapping[str, Any]]) -> str:
    if not specs:
        return "<none>"
    texts = [_hpa_target(m, statuses[i] if i < len(statuses) else _NO_STATE) for i, m in enumerate(specs)]
    return _more(texts, 2, ", ")


_METRIC_FIELDS = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _hpa_target(metric: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    field = _METRIC_FIELDS.get(metric["type"])
    if field is None:
        return "<unknown type>"
    source = metric.get(field) or _NO_STATE
    target = source.get("target") or _NO_STATE
    current = (status.get(field) or _NO_STATE).get("current") or _NO_STATE
    prefix = f"{source['name']}: " if field in ("resource", "containerResource") else ""
    if target.get("averageValue") is not None:
        suffix = " (avg)" if field in ("external", "object") else ""
        return f"{prefix}{current.get('averageValue', '<unknown>')}/{target['averageValue']}{suffix}"
    if prefix:
        now_ = current.get("averageUtilization")
        wanted = target.get("averageUtilization")
        shown = "<unknown>" if now_ is None else f"{now_}%"
        return f"{prefix}{shown}/{'<auto>' if wanted is None else f'{wanted}%'}"
    return f"{current.get('value', '<unknown>')}/{target.get('value', '<unset>')}"


def _pdb(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    return (
        obj["metadata"]["name"],
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        (obj.get("status") or _NO_STATE).get("disruptionsAllowed", 0),
        age(obj, now),
    )


def _controller_revision(obj: Manifest, now: int) -> Row:
    controller = "<none>"
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            group = owner["apiVersion"].rpartition("/")[0]
            kind = owner["kind"].lower()
            controller = f"{kind}.{group}/{owner['name']}" if group else f"{kind}/{owner['name']}"
    return (obj["metadata"]["name"], controller, obj.get("revision", 0), age(obj, now))


def _pod_template(obj: Manifest, now: int) -> Row:
    template = obj.get("template") or _NO_STATE
    names, images = _containers(template)
    return (
        obj["metadata"]["name"],
        names,
        images,
        format_labels((template.get("metadata") or _NO_STATE).get("labels")),
    )


# --- network --------------------------------------------------------------------------------------


def external_ips(service: Manifest) -> str:
    """The EXTERNAL-IP cell of a service."""
    spec = service["spec"]
    ips = spec.get("externalIPs") or []
    kind = spec.get("type", "ClusterIP")
    if kind == "ExternalName":
        return str(spec.get("externalName", ""))
    if kind == "LoadBalancer":
        ingress = load_balancer(service)
        both = [*([ingress] if ingress else []), *ips]
        return ",".join(both) or "<pending>"
    return ",".join(ips) or "<none>"


def load_balancer(obj: Manifest) -> str:
    """Addresses of ``status.loadBalancer``, joined by commas."""
    ingress = ((obj.get("status") or _NO_STATE).get("loadBalancer") or _NO_STATE).get("ingress") or ()
    return ",".join(i.get("ip") or i.get("hostname") or "" for i in ingress)


def _service_ports(ports: Iterable[Mapping[str, Any]]) -> str:
    texts = []
    for port in ports:
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        texts.append(f"{port['port']}{node}/{port.get('protocol', 'TCP')}")
    return ",".join(texts) or "<none>"


def _service(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    kind = spec.get("type", "ClusterIP")
    return (
        obj["metadata"]["name"],
        kind,
        spec.get("clusterIP") or "<none>",
        external_ips(obj),
        _service_ports(spec.get("ports") or ()),
        age(obj, now),
        format_labels(spec.get("selector")),
    )


def join_host_port(host: str, port: int) -> str:
    """``10.0.0.1:80``; IPv6 hosts in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def format_endpoints(endpoints: Manifest, port_names: frozenset[str] | None = None) -> str:
    """The first three addresses of an Endpoints object, ``<none>`` when it has no subsets."""
    subsets = endpoints.get("subsets") or ()
    if not subsets:
        return "<none>"
    found: list[str] = []
    for subset in subsets:
        addresses = [a["ip"] for a in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        if not ports:
            found.extend(addresses)
        for port in ports:
            if port_names is None or port.get("name", "") in port_names:
                found.extend(join_host_port(ip, port["port"]) for ip in addresses)
    return _more(found, 3)


def _endpoints(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], format_endpoints(obj), age(obj, now))


def _endpoint_slice(obj: Manifest, now: int) -> Row:
    ports = ["*" if p.get("port") is None else str(p["port"]) for p in obj.get("ports") or ()]
    addresses = [ip for e in obj.get("endpoints") or () for ip in e.get("addresses") or ()]
    return (
        obj["metadata"]["name"],
        obj["addressType"],
        _more(ports, 3) if ports else "<unset>",
        _more(addresses, 3) if addresses else "<unset>",
        age(obj, now),
    )


def _network_policy(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], format_selector(obj["spec"].get("podSelector") or {}), age(obj, now))


def _ingress(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    hosts = [rule["host"] for rule in spec.get("rules") or () if rule.get("host")]
    return (
        obj["metadata"]["name"],
        spec.get("ingressClassName") or "<none>",
        _more(hosts, 3) if hosts else "*",
        load_balancer(obj),
        "80, 443" if spec.get("tls") else "80",
        age(obj, now),
    )


def _ingress_class(obj: Manifest, now: int) -> Row:
    parameters = obj["spec"].get("parameters")
    text = "<none>"
    if parameters:
        group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") else ""
        text = f"{parameters['kind']}{group}/{parameters['name']}"
    return (obj["metadata"]["name"], obj["spec"].get("controller", ""), text, age(obj, now))


# --- cluster --------------------------------------------------------------------------------------


def node_status(node: Manifest) -> str:
    """``Ready``, ``NotReady``, ``Unknown``, with ``,SchedulingDisabled`` when cordoned."""
    condition = _condition(node, "Ready")
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
    status = obj.get("status") or _NO_STATE
    info = status.get("nodeInfo") or _NO_STATE
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
    return (obj["metadata"]["name"], (obj.get("status") or _NO_STATE).get("phase", ""), age(obj, now))


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
    source = event.get("source") or _NO_STATE
    component = source.get("component") or event.get("reportingComponent") or ""
    instance = source.get("host") or event.get("reportingInstance") or ""
    if source.get("component"):
        instance = source.get("host") or ""
    return f"{component}, {instance}" if instance else component


def _event(obj: Manifest, now: int) -> Row:
    first, last, count = event_times(obj)
    involved = obj.get("involvedObject") or obj.get("regarding") or _NO_STATE
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


# --- configuration and storage --------------------------------------------------------------------


def _config_map(obj: Manifest, now: int) -> Row:
    count = len(obj.get("data") or ()) + len(obj.get("binaryData") or ())
    return (obj["metadata"]["name"], count, age(obj, now))


def _secret(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], obj.get("type", "Opaque"), len(obj.get("data") or ()), age(obj, now))


def _service_account(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], len(obj.get("secrets") or ()), age(obj, now))


def _phase(obj: Manifest) -> str:
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return str((obj.get("status") or _NO_STATE).get("phase", ""))


def _pvc(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or _NO_STATE
    volume = spec.get("volumeName", "")
    capacity = (status.get("capacity") or _NO_STATE).get("storage", "0") if volume else ""
    return (
        obj["metadata"]["name"],
        _phase(obj),
        volume,
        capacity,
        access_modes(status.get("accessModes")) if volume else "",
        spec.get("storageClassName")
        or (obj["metadata"].get("annotations") or {}).get("volume.beta.kubernetes.io/storage-class", ""),
        spec.get("volumeAttributesClassName") or "<unset>",
        age(obj, now),
        spec.get("volumeMode") or "<unset>",
    )


def _pv(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    claim = spec.get("claimRef")
    return (
        obj["metadata"]["name"],
        (spec.get("capacity") or _NO_STATE).get("storage", "0"),
        access_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim['name']}" if claim else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or "<unset>",
        (obj.get("status") or _NO_STATE).get("reason", ""),
        age(obj, now),
        spec.get("volumeMode") or "<unset>",
    )


def is_default_class(obj: Manifest) -> bool:
    """Whether a StorageClass is annotated as the default one."""
    annotations = obj["metadata"].get("annotations") or {}
    return any(
        annotations.get(f"storageclass{beta}.kubernetes.io/is-default-class") == "true"
        for beta in ("", ".beta")
    )


def _storage_class(obj: Manifest, now: int) -> Row:
    name = obj["metadata"]["name"]
    return (
        f"{name} (default)" if is_default_class(obj) else name,
        obj["provisioner"],
        obj.get("reclaimPolicy", "Delete"),
        obj.get("volumeBindingMode", "Immediate"),
        _bool(obj.get("allowVolumeExpansion", False)),
        age(obj, now),
    )


def _bool(value: object) -> bool:
    return bool(value)


def _resource_quota(obj: Manifest, now: int) -> Row:
    status = obj.get("status") or _NO_STATE
    hard, used = status.get("hard") or {}, status.get("used") or {}
    requests: list[str] = []
    limits: list[str] = []
    for key in sorted(hard):
        text = f"{key}: {used.get(key, '0')}/{hard[key]}"
        (limits if key.startswith("limits") else requests).append(text)
    return (obj["metadata"]["name"], ", ".join(requests), ", ".join(limits), age(obj, now))


def _volume_attachment(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    return (
        obj["metadata"]["name"],
        spec["attacher"],
        (spec.get("source") or _NO_STATE).get("persistentVolumeName", ""),
        spec["nodeName"],
        bool((obj.get("status") or _NO_STATE).get("attached")),
        age(obj, now),
    )


def _csi_node(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], len(obj["spec"].get("drivers") or ()), age(obj, now))


def _csi_driver(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    tokens = ",".join(t.get("audience", "") for t in spec.get("tokenRequests") or ())
    return (
        obj["metadata"]["name"],
        _bool(spec.get("attachRequired", True)),
        _bool(spec.get("podInfoOnMount", False)),
        _bool(spec.get("storageCapacity", False)),
        tokens or "<unset>",
        _bool(spec.get("requiresRepublish", False)),
        ",".join(spec.get("volumeLifecycleModes") or ("Persistent",)),
        age(obj, now),
    )


# --- access, admission, scheduling ----------------------------------------------------------------


def _binding(obj: Manifest, now: int) -> Row:
    subjects = obj.get("subjects") or ()
    role = obj["roleRef"]

    def of(kind: str) -> str:
        return ", ".join(
            f"{s.get('namespace', '')}/{s['name']}" if kind == "ServiceAccount" else s["name"]
            for s in subjects
            if s["kind"] == kind
        )

    return (
        obj["metadata"]["name"],
        f"{role['kind']}/{role['name']}",
        age(obj, now),
        of("User"),
        of("Group"),
        of("ServiceAccount"),
    )


def _lease(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], (obj.get("spec") or _NO_STATE).get("holderIdentity", ""), age(obj, now))


def _priority_class(obj: Manifest, now: int) -> Row:
    return (
        obj["metadata"]["name"],
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age(obj, now),
        obj.get("preemptionPolicy", "PreemptLowerPriority"),
    )


def _webhooks(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], len(obj.get("webhooks") or ()), age(obj, now))


def _admission_policy(obj: Manifest, now: int) -> Row:
    spec = obj.get("spec") or _NO_STATE
    kind = spec.get("paramKind")
    return (
        obj["metadata"]["name"],
        len(spec.get("validations") or ()),
        f"{kind['apiVersion']}/{kind['kind']}" if kind else "<unset>",
        age(obj, now),
    )


def _admission_binding(obj: Manifest, now: int) -> Row:
    spec = obj.get("spec") or _NO_STATE
    ref = spec.get("paramRef")
    text = "<unset>"
    if ref:
        name = ref.get("name") or "*"
        text = f"{ref['namespace']}/{name}" if ref.get("namespace") else name
    return (obj["metadata"]["name"], spec.get("policyName", ""), text, age(obj, now))


def _runtime_class(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], obj["handler"], age(obj, now))


def _signing_request(obj: Manifest, now: int) -> Row:
    spec, status = obj["spec"], obj.get("status") or _NO_STATE
    conditions = {c["type"] for c in status.get("conditions") or ()}
    text = "Denied" if "Denied" in conditions else "Approved" if "Approved" in conditions else "Pending"
    text += ",Failed" if "Failed" in conditions else ""
    text += ",Issued" if status.get("certificate") else ""
    seconds = spec.get("expirationSeconds")
    return (
        obj["metadata"]["name"],
        age(obj, now),
        spec.get("signerName") or "<none>",
        spec.get("username", ""),
        "<none>" if seconds is None else human_duration(seconds),
        text,
    )


def _component_status(obj: Manifest, now: int) -> Row:
    for condition in obj.get("conditions") or ():
        if condition["type"] == "Healthy":
            status = "Healthy" if condition["status"] == "True" else "Unhealthy"
            return (obj["metadata"]["name"], status, condition.get("message", ""), condition.get("error", ""))
    return (obj["metadata"]["name"], "Unknown", "", "")


def _api_service(obj: Manifest, now: int) -> Row:
    service = obj["spec"].get("service")
    condition = _condition(obj, "Available")
    available = "Unknown"
    if condition is not None:
        available = condition["status"]
        if available != "True" and condition.get("reason"):
            available = f"{available} ({condition['reason']})"
    target = f"{service['namespace']}/{service['name']}" if service else "Local"
    return (obj["metadata"]["name"], target, available, age(obj, now))


def _flow_schema(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    condition = _condition(obj, "Dangling")
    method = spec.get("distinguisherMethod")
    return (
        obj["metadata"]["name"],
        spec["priorityLevelConfiguration"]["name"],
        spec.get("matchingPrecedence", 0),
        method["type"] if method else "<none>",
        age(obj, now),
        condition["status"] if condition else "?",
    )


def _priority_level(obj: Manifest, now: int) -> Row:
    spec = obj["spec"]
    limited = spec.get("limited") or {}
    queuing = (limited.get("limitResponse") or {}).get("queuing") or {}
    shares = limited.get("nominalConcurrencyShares", "<none>" if spec["type"] == "Exempt" else 30)
    return (
        obj["metadata"]["name"],
        spec["type"],
        shares,
        queuing.get("queues", "<none>"),
        queuing.get("handSize", "<none>"),
        queuing.get("queueLengthLimit", "<none>"),
        age(obj, now),
    )


def _created_at(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], obj["metadata"].get("creationTimestamp") or "<unknown>")


def _name_age(obj: Manifest, now: int) -> Row:
    return (obj["metadata"]["name"], age(obj, now))


def _total(usages: Iterable[Mapping[str, str]], resource: str) -> str:
    texts = [usage[resource] for usage in usages if resource in usage]
    return reduce(add, texts) if texts else "0"


def _pod_metrics(obj: Manifest, now: int) -> Row:
    usages = [container["usage"] for container in obj.get("containers") or ()]
    return (obj["metadata"]["name"], _total(usages, "cpu"), _total(usages, "memory"), obj.get("window", ""))


def _node_metrics(obj: Manifest, now: int) -> Row:
    usage = obj.get("usage") or {}
    return (obj["metadata"]["name"], usage.get("cpu", ""), usage.get("memory", ""), obj.get("window", ""))


def _printer(columns: str, row: Callable[[Manifest, int], Row]) -> Printer:
    """Columns separated by ``|``; those only ``-o wide`` shows end in ``*``."""
    out = []
    for text in columns.split("|"):
        name = text.removesuffix("*")
        out.append(Column(name, wide=text.endswith("*"), format="name" if name == "Name" else ""))
    return Printer(tuple(out), row)


_WORKLOAD = "Containers*|Images*|Selector*"
_REPLICAS = f"Name|Desired|Current|Ready|Age|{_WORKLOAD}"
_METRICS = "Name|CPU|Memory|Window"
_BINDING = "Name|Role|Age|Users*|Groups*|ServiceAccounts*"
DEFAULT = _printer("Name|Created At", _created_at)
"""What the API server shows of a resource that has no printer of its own."""
CUSTOM = _printer("Name|Age", _name_age)
"""What it shows of a custom resource without printer columns."""

PRINTERS: dict[str, Printer] = {
    "pods": _printer("Name|Ready|Status|Restarts|Age|IP*|Node*|Nominated Node*|Readiness Gates*", _pod),
    "deployments.apps": _printer(f"Name|Ready|Up-to-date|Available|Age|{_WORKLOAD}", _deployment),
    "replicasets.apps": _printer(_REPLICAS, _replicaset),
    "replicationcontrollers": _printer(_REPLICAS, _replicaset),
    "statefulsets.apps": _printer("Name|Ready|Age|Containers*|Images*", _statefulset),
    "daemonsets.apps": _printer(
        f"Name|Desired|Current|Ready|Up-to-date|Available|Node Selector|Age|{_WORKLOAD}", _daemonset
    ),
    "controllerrevisions.apps": _printer("Name|Controller|Revision|Age", _controller_revision),
    "podtemplates": _printer("Name|Containers|Images|Pod Labels", _pod_template),
    "jobs.batch": _printer(f"Name|Status|Completions|Duration|Age|{_WORKLOAD}", _job),
    "cronjobs.batch": _printer(
        f"Name|Schedule|Timezone|Suspend|Active|Last Schedule|Age|{_WORKLOAD}", _cronjob
    ),
    "horizontalpodautoscalers.autoscaling": _printer(
        "Name|Reference|Targets|MinPods|MaxPods|Replicas|Age", _hpa
    ),
    "poddisruptionbudgets.policy": _printer(
        "Name|Min Available|Max Unavailable|Allowed Disruptions|Age", _pdb
    ),
    "services": _printer("Name|Type|Cluster-IP|External-IP|Port(s)|Age|Selector*", _service),
    "endpoints": _printer("Name|Endpoints|Age", _endpoints),
    "endpointslices.discovery.k8s.io": _printer("Name|AddressType|Ports|Endpoints|Age", _endpoint_slice),
    "networkpolicies.networking.k8s.io": _printer("Name|Pod-Selector|Age", _network_policy),
    "ingresses.networking.k8s.io": _printer("Name|Class|Hosts|Address|Ports|Age", _ingress),
    "ingressclasses.networking.k8s.io": _printer("Name|Controller|Parameters|Age", _ingress_class),
    "nodes": _printer(
        "Name|Status|Roles|Age|Version|Internal-IP*|External-IP*|OS-Image*|Kernel-Version*|Container-Runtime*",
        _node,
    ),
    "namespaces": _printer("Name|Status|Age", _namespace),
    "events": _printer(
        "Last Seen|Type|Reason|Object|Subobject*|Source*|Message|First Seen*|Count*|Name*", _event
    ),
    "configmaps": _printer("Name|Data|Age", _config_map),
    "secrets": _printer("Name|Type|Data|Age", _secret),
    "serviceaccounts": _printer("Name|Secrets|Age", _service_account),
    "persistentvolumeclaims": _printer(
        "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode*", _pvc
    ),
    "persistentvolumes": _printer(
        "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age"
        "|VolumeMode*",
        _pv,
    ),
    "storageclasses.storage.k8s.io": _printer(
        "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age", _storage_class
    ),
    "volumeattachments.storage.k8s.io": _printer("Name|Attacher|PV|Node|Attached|Age", _volume_attachment),
    "csinodes.storage.k8s.io": _printer("Name|Drivers|Age", _csi_node),
    "csidrivers.storage.k8s.io": _printer(
        "Name|AttachRequired|PodInfoOnMount|StorageCapacity|TokenRequests|RequiresRepublish|Modes|Age",
        _csi_driver,
    ),
    "resourcequotas": _printer("Name|Request|Limit|Age", _resource_quota),
    "rolebindings.rbac.authorization.k8s.io": _printer(_BINDING, _binding),
    "clusterrolebindings.rbac.authorization.k8s.io": _printer(_BINDING, _binding),
    "leases.coordination.k8s.io": _printer("Name|Holder|Age", _lease),
    "priorityclasses.scheduling.k8s.io": _printer(
        "Name|Value|Global-Default|Age|PreemptionPolicy", _priority_class
    ),
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _printer("Name|Webhooks|Age", _webhooks),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _printer("Name|Webhooks|Age", _webhooks),
    "validatingadmissionpolicies.admissionregistration.k8s.io": _printer(
        "Name|Validations|ParamKind|Age", _admission_policy
    ),
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": _printer(
        "Name|PolicyName|ParamRef|Age", _admission_binding
    ),
    "runtimeclasses.node.k8s.io": _printer("Name|Handler|Age", _runtime_class),
    "certificatesigningrequests.certificates.k8s.io": _printer(
        "Name|Age|SignerName|Requestor|RequestedDuration|Condition", _signing_request
    ),
    "componentstatuses": _printer("Name|Status|Message|Error", _component_status),
    "apiservices.apiregistration.k8s.io": _printer("Name|Service|Available|Age", _api_service),
    "flowschemas.flowcontrol.apiserver.k8s.io": _printer(
        "Name|PriorityLevel|MatchingPrecedence|DistinguisherMethod|Age|MissingPL", _flow_schema
    ),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": _printer(
        "Name|Type|NominalConcurrencyShares|Queues|HandSize|QueueLengthLimit|Age", _priority_level
    ),
    "pods.metrics.k8s.io": _printer(_METRICS, _pod_metrics),
    "nodes.metrics.k8s.io": _printer(_METRICS, _node_metrics),
}
PRINTERS["events.events.k8s.io"] = PRINTERS["events"]


def printer(resource: Resource, definition: Manifest | None = None) -> Printer:
    """How a resource is shown; ``definition`` is its CustomResourceDefinition when it is a custom one."""
    if definition is not None:
        return _custom_printer(definition, resource.version)
    return PRINTERS.get(resource.key) or (CUSTOM if resource.custom else DEFAULT)


def _custom_printer(definition: Manifest, version: str) -> Printer:
    for served in definition["spec"].get("versions") or ():
        if served["name"] == version and served.get("additionalPrinterColumns"):
            return _from_columns(served["additionalPrinterColumns"])
    return CUSTOM


def _from_columns(declared: Sequence[Mapping[str, Any]]) -> Printer:
    columns = [Column("Name", format="name")]
    columns += [Column(c["name"], wide=c.get("priority", 0) > 0, type=c["type"]) for c in declared]
    templates = [(compile_template(relaxed(c["jsonPath"])), c["type"]) for c in declared]

    def row(obj: Manifest, now: int) -> Row:
        cells: list[Cell] = [obj["metadata"]["name"]]
        for template, kind in templates:
            try:
                values = [value for part in template.find(obj) for value in part]
            except JSONPathError:
                values = []
            if not values:
                cells.append(None)
            elif kind == "date":
                cells.append(since(values[0], now))
            else:
                cells.append(go_text(values[0]))
        return cells

    return Printer(tuple(columns), row)


def table_object(
    printer_: Printer, objects: Iterable[Manifest], now: int, resource_version: str = ""
) -> Manifest:
    """The ``meta.k8s.io/v1`` Table the API server would send for these objects."""
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": resource_version},
        "columnDefinitions": [
            {
                "name": column.name,
                "type": column.type,
                "format": column.format,
                "description": "",
                "priority": int(column.wide),
            }
            for column in printer_.columns
        ],
        "rows": [
            {
                "cells": list(printer_.row(obj, now)),
                "object": {
                    "kind": "PartialObjectMetadata",
                    "apiVersion": "meta.k8s.io/v1",
                    "metadata": obj["metadata"],
                },
            }
            for obj in objects
        ],
    }


def cell_text(cell: Cell) -> str:
    """A cell as kubectl prints it: cut at the first line break, booleans in Go's spelling."""
    if isinstance(cell, str):
        if "\n" in cell or "\r" in cell or "\f" in cell:
            end = min(i for i in (cell.find(c) for c in "\n\r\f") if i >= 0)
            return cell[:end] + "..."
        return cell
    if cell is True:
        return "true"
    if cell is False:
        return "false"
    return "" if cell is None else str(cell)


def align(lines: Sequence[Sequence[str]], padding: int = PADDING, min_width: int = MIN_WIDTH) -> str:
    """kubectl's tabwriter over rows of equal length: cells padded to their column, the last one bare."""
    if not lines:
        return ""
    widths = [max(min_width, max(map(len, cells)) + padding) for cells in list(zip(*lines, strict=True))[:-1]]
    pattern = "".join(f"%-{width}s" for width in widths) + "%s\n"
    return "".join([pattern % tuple(line) for line in lines])
