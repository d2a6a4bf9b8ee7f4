"""Describing pods and pod templates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sregym_env.kube import quantity
from sregym_env.kube.describe.text import (
    Reader,
    Sheet,
    controller_of,
    events_of,
    go_bool,
    rfc1123,
    title_bool,
)
from sregym_env.kube.tables import format_selector, join_host_port, since
from sregym_env.kube.types import Manifest

Resolver = Callable[[Mapping[str, Any]], str]


def describe_pod(obj: Manifest, reader: Reader) -> str:
    """A pod with its containers, conditions, volumes and events."""
    sheet = Sheet(reader.now())
    spec, status, metadata = obj["spec"], obj.get("status") or {}, obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    if spec.get("priority") is not None:
        sheet.line(0, f"Priority:\t{spec['priority']}")
    for key, title in (
        ("priorityClassName", "Priority Class Name"),
        ("runtimeClassName", "Runtime Class Name"),
        ("serviceAccountName", "Service Account"),
    ):
        if spec.get(key):
            sheet.line(0, f"{title}:\t{spec[key]}")
    node = spec.get("nodeName")
    sheet.line(0, f"Node:\t{node}/{status.get('hostIP', '')}" if node else "Node:\t<none>")
    if status.get("startTime"):
        sheet.line(0, f"Start Time:\t{rfc1123(status['startTime'])}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    _status_lines(sheet, obj)
    _seccomp(sheet, 0, spec.get("securityContext"))
    sheet.line(0, f"IP:\t{status.get('podIP', '')}")
    _ips(sheet, status.get("podIPs") or ())
    controller = controller_of(obj)
    if controller:
        sheet.line(0, f"Controlled By:\t{controller}")
    if status.get("nominatedNodeName"):
        sheet.line(0, f"NominatedNodeName:\t{status['nominatedNodeName']}")
    resolve = _resolver(obj)
    if spec.get("initContainers"):
        containers(
            sheet, "Init Containers", spec["initContainers"], status.get("initContainerStatuses"), resolve
        )
    containers(sheet, "Containers", spec["containers"], status.get("containerStatuses"), resolve)
    if spec.get("ephemeralContainers"):
        ephemeral = status.get("ephemeralContainerStatuses")
        containers(sheet, "Ephemeral Containers", spec["ephemeralContainers"], ephemeral, resolve)
    _gates_and_conditions(sheet, spec, status)
    volumes(sheet, spec.get("volumes") or ())
    sheet.line(0, f"QoS Class:\t{status.get('qosClass') or qos_class(spec)}")
    sheet.labels("Node-Selectors", spec.get("nodeSelector"))
    tolerations(sheet, spec.get("tolerations") or ())
    spread_constraints(sheet, spec.get("topologySpreadConstraints") or ())
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _status_lines(sheet: Sheet, obj: Manifest) -> None:
    status, metadata = obj.get("status") or {}, obj["metadata"]
    deleted = metadata.get("deletionTimestamp")
    if deleted and status.get("phase") not in ("Succeeded", "Failed"):
        sheet.line(0, f"Status:\tTerminating (lasts {since(deleted, sheet.now)})")
        sheet.line(0, f"Termination Grace Period:\t{metadata.get('deletionGracePeriodSeconds', 0)}s")
    else:
        sheet.line(0, f"Status:\t{status.get('phase', '')}")
    if status.get("reason"):
        sheet.line(0, f"Reason:\t{status['reason']}")
    if status.get("message"):
        sheet.line(0, f"Message:\t{status['message']}")


def _seccomp(sheet: Sheet, level: int, context: Mapping[str, Any] | None) -> None:
    profile = (context or {}).get("seccompProfile")
    if profile:
        sheet.line(level, f"SeccompProfile:\t{profile['type']}")
        if profile["type"] == "Localhost":
            sheet.line(level, f"LocalhostProfile:\t{profile.get('localhostProfile', '')}")


def _ips(sheet: Sheet, ips: Sequence[Mapping[str, str]]) -> None:
    if not ips:
        sheet.line(0, "IPs:\t<none>")
        return
    sheet.line(0, "IPs:")
    for ip in ips:
        sheet.line(1, f"IP:\t{ip['ip']}")


def _gates_and_conditions(sheet: Sheet, spec: Mapping[str, Any], status: Mapping[str, Any]) -> None:
    conditions = status.get("conditions") or ()
    gates = spec.get("readinessGates") or ()
    if gates:
        sheet.line(0, "Readiness Gates:\n  Type\tStatus")
        known = {condition["type"]: condition["status"] for condition in conditions}
        for gate in gates:
            sheet.line(1, f"{gate['conditionType']} \t{known.get(gate['conditionType'], '<none>')} ")
    if conditions:
        sheet.line(0, "Conditions:\n  Type\tStatus")
        for condition in conditions:
            sheet.line(1, f"{condition['type']} \t{condition['status']} ")


def qos_class(spec: Mapping[str, Any]) -> str:
    """BestEffort, Burstable or Guaranteed, from the containers' requests and limits."""
    all_containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    requests: list[Mapping[str, str]] = []
    limits: list[Mapping[str, str]] = []
    for container in all_containers:
        resources = container.get("resources") or {}
        requests.append(_nonzero(resources.get("requests")))
        limits.append(_nonzero(resources.get("limits")))
    if not any(requests) and not any(limits):
        return "BestEffort"
    for request, limit in zip(requests, limits, strict=True):
        if set(limit) != {"cpu", "memory"}:
            return "Burstable"
        if any(quantity.compare(request.get(key, limit[key]), limit[key]) for key in limit):
            return "Burstable"
    return "Guaranteed"


def _nonzero(resources: Mapping[str, str] | None) -> Mapping[str, str]:
    return {
        key: value
        for key, value in (resources or {}).items()
        if key in ("cpu", "memory") and not quantity.is_zero(value)
    }


# --- containers -----------------------------------------------------------------------------------


def containers(
    sheet: Sheet,
    title: str,
    items: Sequence[Mapping[str, Any]],
    statuses: Sequence[Mapping[str, Any]] | None,
    resolve: Resolver | None,
    indent: str = "",
) -> None:
    """The containers of a pod or (indented) of a template."""
    if not items:
        sheet.line(0, f"{indent}{title}: <none>")
        return
    sheet.line(0, f"{indent}{title}:")
    known = {status["name"]: status for status in statuses or ()}
    for container in items:
        status = known.get(container["name"])
        sheet.line(1, f"{' ' if indent else ''}{container['name']}:")
        _basics(sheet, container, status)
        _command(sheet, container)
        if status is not None:
            _states(sheet, status)
        resources(sheet, container.get("resources") or {})
        for key, word in (
            ("livenessProbe", "Liveness"),
            ("readinessProbe", "Readiness"),
            ("startupProbe", "Startup"),
        ):
            if container.get(key):
                sheet.line(2, f"{word}:\t{probe_text(container[key])}")
        _env_from(sheet, container.get("envFrom") or ())
        _environment(sheet, container, resolve)
        _mounts(sheet, container)


def _basics(sheet: Sheet, container: Mapping[str, Any], status: Mapping[str, Any] | None) -> None:
    if status is not None:
        sheet.line(2, f"Container ID:\t{status.get('containerID', '')}")
    sheet.line(2, f"Image:\t{container.get('image', '')}")
    if status is not None:
        sheet.line(2, f"Image ID:\t{status.get('imageID', '')}")
    ports = container.get("ports") or ()
    shown = ", ".join(_port(port) for port in ports)
    host = ", ".join(f"{port.get('hostPort', 0)}/{port.get('protocol', 'TCP')}" for port in ports)
    plural = "s" if len(ports) > 1 else ""
    sheet.line(2, f"Port{plural}:\t{shown or '<none>'}")
    sheet.line(2, f"Host Port{plural}:\t{host or '<none>'}")
    _seccomp(sheet, 2, container.get("securityContext"))


def _port(port: Mapping[str, Any]) -> str:
    return f"{port['containerPort']}/{port.get('protocol', 'TCP')}"


def _command(sheet: Sheet, container: Mapping[str, Any]) -> None:
    for key, title in (("command", "Command"), ("args", "Args")):
        if container.get(key):
            sheet.line(2, f"{title}:")
            for word in container[key]:
                for part in word.split("\n"):
                    sheet.line(3, part)


def _states(sheet: Sheet, status: Mapping[str, Any]) -> None:
    _state(sheet, "State", status.get("state") or {})
    last = status.get("lastState") or {}
    if last.get("terminated"):
        _state(sheet, "Last State", last)
    sheet.line(2, f"Ready:\t{title_bool(status.get('ready'))}")
    sheet.line(2, f"Restart Count:\t{status.get('restartCount', 0)}")


def _state(sheet: Sheet, title: str, state: Mapping[str, Any]) -> None:
    if state.get("running") is not None:
        sheet.line(2, f"{title}:\tRunning")
        sheet.line(3, f"Started:\t{rfc1123(state['running'].get('startedAt'))}")
    elif state.get("waiting") is not None:
        sheet.line(2, f"{title}:\tWaiting")
        if state["waiting"].get("reason"):
            sheet.line(3, f"Reason:\t{state['waiting']['reason']}")
    elif state.get("terminated") is not None:
        ended = state["terminated"]
        sheet.line(2, f"{title}:\tTerminated")
        for key, word in (("reason", "Reason"), ("message", "Message")):
            if ended.get(key):
                sheet.line(3, f"{word}:\t{ended[key]}")
        sheet.line(3, f"Exit Code:\t{ended.get('exitCode', 0)}")
        if ended.get("signal"):
            sheet.line(3, f"Signal:\t{ended['signal']}")
        sheet.line(3, f"Started:\t{rfc1123(ended.get('startedAt'))}")
        sheet.line(3, f"Finished:\t{rfc1123(ended.get('finishedAt'))}")
    else:
        sheet.line(2, f"{title}:\tWaiting")


def resources(sheet: Sheet, values: Mapping[str, Any], level: int = 2) -> None:
    """Limits and requests."""
    for key, title in (("limits", "Limits"), ("requests", "Requests")):
        if values.get(key):
            sheet.line(level, f"{title}:")
            for name in sorted(values[key]):
                sheet.line(level + 1, f"{name}:\t{values[key][name]}")


def probe_text(probe: Mapping[str, Any]) -> str:
    """A probe in one line."""
    attributes = (
        f"delay={probe.get('initialDelaySeconds', 0)}s timeout={probe.get('timeoutSeconds', 1)}s "
        f"period={probe.get('periodSeconds', 10)}s #success={probe.get('successThreshold', 1)} "
        f"#failure={probe.get('failureThreshold', 3)}"
    )
    if probe.get("exec"):
        return f"exec [{' '.join(probe['exec'].get('command') or ())}] {attributes}"
    if probe.get("httpGet"):
        get = probe["httpGet"]
        host = join_host_port(get.get("host", ""), get.get("port", ""))
        return f"http-get {get.get('scheme', 'HTTP').lower()}://{host}{get.get('path', '')} {attributes}"
    if probe.get("tcpSocket"):
        socket = probe["tcpSocket"]
        return f"tcp-socket {socket.get('host', '')}:{socket.get('port', '')} {attributes}"
    if probe.get("grpc"):
        return f"grpc <pod>:{probe['grpc']['port']} {probe['grpc'].get('service') or ''} {attributes}"
    return f"unknown {attributes}"


def _env_from(sheet: Sheet, sources: Sequence[Mapping[str, Any]]) -> None:
    if not sources:
        return
    sheet.line(2, "Environment Variables from:")
    for source in sources:
        kind = "ConfigMap" if source.get("configMapRef") else "Secret"
        ref = source.get("configMapRef") or source.get("secretRef") or {}
        prefix = f" with prefix '{source['prefix']}'" if source.get("prefix") else ""
        sheet.line(3, f"{ref.get('name', '')}\t{kind}{prefix}\tOptional: {go_bool(ref.get('optional'))}")


def _environment(sheet: Sheet, container: Mapping[str, Any], resolve: Resolver | None) -> None:
    env = container.get("env") or ()
    sheet.line(2, "Environment:" if env else "Environment:\t<none>")
    for entry in env:
        source = entry.get("valueFrom")
        if source is None:
            first, *rest = (entry.get("value") or "").split("\n")
            sheet.line(3, f"{entry['name']}:\t{first}")
            for part in rest:
                sheet.line(3, f"\t{part}")
        elif source.get("fieldRef"):
            ref = source["fieldRef"]
            value = resolve(ref) if resolve else ""
            sheet.line(3, f"{entry['name']}:\t{value} ({ref.get('apiVersion', 'v1')}:{ref['fieldPath']})")
        elif source.get("resourceFieldRef"):
            ref = source["resourceFieldRef"]
            sheet.line(3, f"{entry['name']}:\t{_resource_value(container, ref)} ({ref['resource']})")
        elif source.get("secretKeyRef"):
            ref = source["secretKeyRef"]
            text = f"<set to the key '{ref['key']}' in secret '{ref.get('name', '')}'>"
            sheet.line(3, f"{entry['name']}:\t{text}\tOptional: {go_bool(ref.get('optional'))}")
        elif source.get("configMapKeyRef"):
            ref = source["configMapKeyRef"]
            text = f"<set to the key '{ref['key']}' of config map '{ref.get('name', '')}'>"
            sheet.line(3, f"{entry['name']}:\t{text}\tOptional: {go_bool(ref.get('optional'))}")


def _resource_value(container: Mapping[str, Any], ref: Mapping[str, Any]) -> str:
    kind, _, name = ref["resource"].partition(".")
    amount = ((container.get("resources") or {}).get(kind) or {}).get(name)
    if amount is None:
        return "node allocatable" if kind == "limits" else "0"
    divisor = ref.get("divisor") or "1"
    unit = quantity.nano(divisor) or quantity.nano("1")
    return str(-(-quantity.nano(amount) // unit))


def _resolver(pod: Manifest) -> Resolver:
    """Values of downward-API fields; describe fills in those of the metadata only."""
    metadata = pod["metadata"]

    def resolve(ref: Mapping[str, Any]) -> str:
        path = ref["fieldPath"]
        _, _, name = path.partition(".")
        if path in ("metadata.name", "metadata.namespace", "metadata.uid"):
            return str(metadata.get(name, ""))
        for part in ("labels", "annotations"):
            values = metadata.get(part) or {}
            if path == f"metadata.{part}":
                return "\n".join(f'{key}="{values[key]}"' for key in sorted(values))
        return ""

    return resolve


def _mounts(sheet: Sheet, container: Mapping[str, Any]) -> None:
    mounts = container.get("volumeMounts") or ()
    sheet.line(2, "Mounts:" if mounts else "Mounts:\t<none>")
    for mount in sorted(mounts, key=lambda m: m["mountPath"]):
        marks = ["ro" if mount.get("readOnly") else "rw"]
        if mount.get("subPath"):
            marks.append(f'path="{mount["subPath"]}"')
        sheet.line(3, f"{mount['mountPath']} from {mount['name']} ({','.join(marks)})")
    devices = container.get("volumeDevices") or ()
    if devices:
        sheet.line(2, "Devices:")
        for device in sorted(devices, key=lambda d: d["devicePath"]):
            sheet.line(3, f"{device['devicePath']} from {device['name']}")


# --- volumes --------------------------------------------------------------------------------------


def volumes(sheet: Sheet, items: Sequence[Mapping[str, Any]], indent: str = "") -> None:
    """The volumes of a pod or template."""
    if not items:
        sheet.line(0, f"{indent}Volumes:\t<none>")
        return
    sheet.line(0, f"{indent}Volumes:")
    for volume in items:
        sheet.line(1, f"{' ' if indent else ''}{volume['name']}:")
        volume_source(sheet, volume)


def volume_source(sheet: Sheet, volume: Mapping[str, Any]) -> None:
    """Where a volume (of a pod or a PersistentVolume) comes from."""
    for key, write in _VOLUME_SOURCES.items():
        if volume.get(key) is not None:
            for text in write(volume[key]):
                sheet.line(2, text)
            return
    sheet.line(1, "<unknown>")


def _lines(kind: str, source: Mapping[str, Any], *fields: tuple[str, str, Any]) -> list[str]:
    out = [f"Type:\t{kind}"]
    for title, key, default in fields:
        value = source.get(key, default)
        out.append(f"{title}:\t{go_bool(value) if isinstance(value, bool) else value}")
    return out


def _projected(source: Mapping[str, Any]) -> list[str]:
    out = ["Type:\tProjected (a volume that contains injected data from multiple sources)"]
    for part in source.get("sources") or ():
        if part.get("secret"):
            out.append(f"SecretName:\t{part['secret'].get('name', '')}")
            out.append(f"SecretOptionalName:\t{_optional(part['secret'])}")
        elif part.get("downwardAPI"):
            out.append("DownwardAPI:\ttrue")
        elif part.get("configMap"):
            out.append(f"ConfigMapName:\t{part['configMap'].get('name', '')}")
            out.append(f"ConfigMapOptional:\t{_optional(part['configMap'])}")
        elif part.get("serviceAccountToken"):
            out.append(
                f"TokenExpirationSeconds:\t{part['serviceAccountToken'].get('expirationSeconds', 3600)}"
            )
    return out


def _optional(source: Mapping[str, Any]) -> str:
    return "<nil>" if source.get("optional") is None else go_bool(source["optional"])


def _downward(source: Mapping[str, Any]) -> list[str]:
    out = ["Type:\tDownwardAPI (a volume populated by information about the pod)", "Items:"]
    for item in source.get("items") or ():
        ref = item.get("fieldRef") or {}
        path = ref.get("fieldPath") or (item.get("resourceFieldRef") or {}).get("resource", "")
        out.append(f"  {path} -> {item['path']}")
    return out


def _ephemeral(source: Mapping[str, Any]) -> list[str]:
    out = [
        "Type:\tEphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)"
    ]
    template = source.get("volumeClaimTemplate")
    if not template:
        return out
    metadata, spec = template.get("metadata") or {}, template["spec"]
    out += [f"StorageClass:\t{spec.get('storageClassName', '')}", f"Volume:\t{spec.get('volumeName', '')}"]
    for title, key in (("Labels", "labels"), ("Annotations", "annotations")):
        # kubectl indents each part of such a line by itself.
        sign = "=" if key == "labels" else ": "
        marks = [f"{name}{sign}{value}" for name, value in sorted((metadata.get(key) or {}).items())] or [
            "<none>"
        ]
        out += [f"{title}:\t    {marks[0]}", *(f"    \t    {mark}" for mark in marks[1:])]
    return [*out, "Capacity:\t", "Access Modes:\t", f"VolumeMode:\t{spec.get('volumeMode', 'Filesystem')}"]


def _csi(source: Mapping[str, Any]) -> list[str]:
    persistent = "volumeHandle" in source
    out = ["Type:\tCSI (a Container Storage Interface (CSI) volume source)", f"Driver:\t{source['driver']}"]
    out.append(f"FSType:\t{source.get('fsType', '')}")
    if persistent:
        out.append(f"VolumeHandle:\t{source['volumeHandle']}")
    out.append(f"ReadOnly:\t{go_bool(source.get('readOnly'))}")
    attributes = source.get("volumeAttributes") or {}
    lead = "VolumeAttributes:\t"
    if not attributes:
        out.append(f"{lead}<none>")
    for key in sorted(attributes):
        # kubectl indents each part of such a line by itself.
        out.append(f"{lead}    {key}={attributes[key]}")
        lead = "    \t"
    return out


_VOLUME_SOURCES: dict[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "hostPath": lambda s: _lines(
        "HostPath (bare host directory volume)", s, ("Path", "path", ""), ("HostPathType", "type", "")
    ),
    "emptyDir": lambda s: _lines(
        "EmptyDir (a temporary directory that shares a pod's lifetime)",
        s,
        ("Medium", "medium", ""),
        ("SizeLimit", "sizeLimit", "<unset>"),
    ),
    "secret": lambda s: _lines(
        "Secret (a volume populated by a Secret)",
        s,
        ("SecretName", "secretName", ""),
        ("Optional", "optional", False),
    ),
    "configMap": lambda s: _lines(
        "ConfigMap (a volume populated by a ConfigMap)",
        s,
        ("Name", "name", ""),
        ("Optional", "optional", False),
    ),
    "persistentVolumeClaim": lambda s: _lines(
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        s,
        ("ClaimName", "claimName", ""),
        ("ReadOnly", "readOnly", False),
    ),
    "projected": _projected,
    "downwardAPI": _downward,
    "nfs": lambda s: _lines(
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        s,
        ("Server", "server", ""),
        ("Path", "path", ""),
        ("ReadOnly", "readOnly", False),
    ),
    "local": lambda s: _lines(
        "LocalVolume (a persistent volume backed by local storage on a node)", s, ("Path", "path", "")
    ),
    "csi": _csi,
    "ephemeral": _ephemeral,
}


# --- placement ------------------------------------------------------------------------------------


def tolerations(sheet: Sheet, items: Iterable[Mapping[str, Any]], indent: str = "") -> None:
    """Tolerations, sorted by key."""
    lead = f"{indent}Tolerations:\t"
    ordered = sorted(items, key=lambda t: t.get("key", ""))
    if not ordered:
        sheet.line(0, f"{lead}<none>")
    for toleration in ordered:
        sheet.line(0, lead + _toleration(toleration))
        lead = f"{indent}\t"


def _toleration(toleration: Mapping[str, Any]) -> str:
    key, value, effect = (toleration.get(name, "") for name in ("key", "value", "effect"))
    text: str = key + (f"={value}" if value else "") + (f":{effect}" if effect else "")
    if toleration.get("operator") == "Exists" and not value:
        text += " op=Exists" if text else "op=Exists"
    if toleration.get("tolerationSeconds") is not None:
        text += f" for {toleration['tolerationSeconds']}s"
    return text


def spread_constraints(sheet: Sheet, items: Sequence[Mapping[str, Any]], indent: str = "") -> None:
    """Topology spread constraints, sorted by topology key; nothing when there are none."""
    lead = f"{indent}Topology Spread Constraints:\t"
    for item in sorted(items, key=lambda c: c["topologyKey"]):
        text = (
            f"{item['topologyKey']}:{item['whenUnsatisfiable']} when max skew {item['maxSkew']} is exceeded"
        )
        if item.get("labelSelector"):
            text += f" for selector {format_selector(item['labelSelector'])}"
        sheet.line(0, lead + text)
        lead = f"{indent}\t"


def template(sheet: Sheet, spec: Mapping[str, Any] | None) -> None:
    """A pod template inside a workload."""
    sheet.line(0, "Pod Template:")
    if not spec:
        sheet.line(0, "  <unset>")
        return
    metadata, pod = spec.get("metadata") or {}, spec.get("spec") or {}
    sheet.labels("Labels", metadata.get("labels"), "  ")
    if metadata.get("annotations"):
        sheet.annotations(metadata["annotations"], "  ")
    if pod.get("serviceAccountName"):
        sheet.line(0, f"  Service Account:\t{pod['serviceAccountName']}")
    if pod.get("initContainers"):
        containers(sheet, "Init Containers", pod["initContainers"], None, None, "  ")
    containers(sheet, "Containers", pod.get("containers") or (), None, None, "  ")
    volumes(sheet, pod.get("volumes") or (), "  ")
    spread_constraints(sheet, pod.get("topologySpreadConstraints") or (), "  ")
    if pod.get("priorityClassName"):
        sheet.line(0, f"  Priority Class Name:\t{pod['priorityClassName']}")
    sheet.labels("Node-Selectors", pod.get("nodeSelector"), "  ")
    tolerations(sheet, pod.get("tolerations") or (), "  ")
