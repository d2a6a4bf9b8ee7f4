"""Describing nodes, namespaces, quotas, priorities, events and leases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sregym_env.kube import quantity
from sregym_env.kube.describe.text import Reader, Sheet, events_of, go_bool, rfc1123
from sregym_env.kube.tables import age, node_roles
from sregym_env.kube.types import Manifest

_INFO = (
    ("Machine ID", "machineID"),
    ("System UUID", "systemUUID"),
    ("Boot ID", "bootID"),
    ("Kernel Version", "kernelVersion"),
    ("OS Image", "osImage"),
    ("Operating System", "operatingSystem"),
    ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"),
    ("Kubelet Version", "kubeletVersion"),
    ("Kube-Proxy Version", "kubeProxyVersion"),
)


def describe_node(obj: Manifest, reader: Reader) -> str:
    """A Node with its conditions, pods and allocated resources."""
    sheet = Sheet(reader.now())
    metadata, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Roles:\t{node_roles(obj)}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, f"CreationTimestamp:\t{rfc1123(metadata.get('creationTimestamp'))}")
    _taints(sheet, spec.get("taints") or ())
    sheet.line(0, f"Unschedulable:\t{go_bool(spec.get('unschedulable'))}")
    _lease(
        sheet, reader.get("leases.coordination.k8s.io", metadata["name"], "kube-node-lease"), metadata["name"]
    )
    _node_conditions(sheet, status.get("conditions") or ())
    sheet.line(0, "Addresses:")
    for address in status.get("addresses") or ():
        sheet.line(1, f"{address['type']}:\t{address['address']}")
    for key, title in (("capacity", "Capacity"), ("allocatable", "Allocatable")):
        if status.get(key):
            sheet.line(0, f"{title}:")
            for name in sorted(status[key]):
                sheet.line(1, f"{name}:\t{status[key][name]}")
    sheet.line(0, "System Info:")
    info = status.get("nodeInfo") or {}
    for title, key in _INFO:
        sheet.line(1, f"{title}:\t{info.get(key, '')}")
    if spec.get("podCIDR"):
        sheet.line(0, f"PodCIDR:\t{spec['podCIDR']}")
    if spec.get("podCIDRs"):
        sheet.line(0, f"PodCIDRs:\t{','.join(spec['podCIDRs'])}")
    if spec.get("providerID"):
        sheet.line(0, f"ProviderID:\t{spec['providerID']}")
    _node_pods(sheet, obj, reader)
    # The kubelet reports events about its node with the node's name as uid.
    events = [*events_of(reader, obj), *events_of(reader, obj, uid=metadata["name"])]
    sheet.events(events)
    return sheet.render()


def _taints(sheet: Sheet, taints: Sequence[Mapping[str, Any]]) -> None:
    lead = "Taints:\t"
    if not taints:
        sheet.line(0, f"{lead}<none>")
    for taint in sorted(taints, key=_taint):
        sheet.line(0, lead + _taint(taint))
        lead = "\t"


def _taint(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def _lease(sheet: Sheet, lease: Manifest | None, name: str) -> None:
    if lease is None:
        sheet.line(0, f'Lease:\tFailed to get lease: leases.coordination.k8s.io "{name}" not found')
        return
    spec = lease.get("spec") or {}
    sheet.line(0, "Lease:")
    sheet.line(1, f"HolderIdentity:\t{spec.get('holderIdentity') or '<unset>'}")
    for title, key in (("AcquireTime", "acquireTime"), ("RenewTime", "renewTime")):
        sheet.line(1, f"{title}:\t{rfc1123(spec[key]) if spec.get(key) else '<unset>'}")


def _node_conditions(sheet: Sheet, conditions: Sequence[Mapping[str, Any]]) -> None:
    if not conditions:
        return
    sheet.line(0, "Conditions:\n  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage")
    sheet.line(1, "----\t------\t-----------------\t------------------\t------\t-------")
    for c in conditions:
        sheet.line(
            1,
            f"{c['type']} \t{c['status']} \t{rfc1123(c.get('lastHeartbeatTime'))} \t"
            f"{rfc1123(c.get('lastTransitionTime'))} \t{c.get('reason', '')} \t{c.get('message', '')}",
        )


def _node_pods(sheet: Sheet, node: Manifest, reader: Reader) -> None:
    selector = f"spec.nodeName={node['metadata']['name']},status.phase!=Succeeded,status.phase!=Failed"
    pods = reader.list("pods", None, field_selector=selector)
    status = node.get("status") or {}
    allocatable = status.get("allocatable") or status.get("capacity") or {}
    sheet.line(0, f"Non-terminated Pods:\t({len(pods)} in total)")
    sheet.line(1, "Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge")
    sheet.line(1, "---------\t----\t\t------------\t----------\t---------------\t-------------\t---")
    totals: dict[str, dict[str, str]] = {"requests": {}, "limits": {}}
    for pod in pods:
        amounts = {kind: pod_resources(pod, kind) for kind in totals}
        cells = [
            _share(amounts[kind].get(name, "0"), allocatable.get(name))
            for name in ("cpu", "memory")
            for kind in ("requests", "limits")
        ]
        metadata = pod["metadata"]
        text = "\t".join(cells)
        sheet.line(1, f"{metadata['namespace']}\t{metadata['name']}\t\t{text}\t{age(pod, sheet.now)}")
        for kind, total in totals.items():
            for name, amount in amounts[kind].items():
                total[name] = quantity.add(total[name], amount) if name in total else amount
    sheet.line(0, "Allocated resources:\n  (Total limits may be over 100 percent, i.e., overcommitted.)")
    sheet.line(1, "Resource\tRequests\tLimits")
    sheet.line(1, "--------\t--------\t------")
    extended = sorted(n for n in allocatable if n not in ("cpu", "memory", "ephemeral-storage", "pods"))
    for name in ("cpu", "memory", "ephemeral-storage", *extended):
        request, limit = (totals[kind].get(name, "0") for kind in ("requests", "limits"))
        if name in ("cpu", "memory", "ephemeral-storage") or name.startswith("hugepages-"):
            row = (_share(request, allocatable.get(name)), _share(limit, allocatable.get(name)))
        else:
            row = (request, limit)
        sheet.line(1, f"{name}\t{row[0]}\t{row[1]}")


def _share(amount: str, whole: str | None) -> str:
    total = quantity.nano(whole) if whole else 0
    percent = quantity.nano(amount) * 100 // total if total else 0
    return f"{amount} ({percent}%)"


def pod_resources(pod: Manifest, kind: str) -> dict[str, str]:
    """Effective ``requests`` or ``limits`` of a pod: the larger of its containers' sum and any init container."""
    spec = pod["spec"]
    total: dict[str, str] = {}
    _add(total, ((c.get("resources") or {}).get(kind) or {} for c in spec["containers"]))
    sidecars: dict[str, str] = {}
    peak: dict[str, str] = {}
    for container in spec.get("initContainers") or ():
        amounts = (container.get("resources") or {}).get(kind) or {}
        if container.get("restartPolicy") == "Always":
            _add(total, [amounts])
            _add(sidecars, [amounts])
            amounts = sidecars
        else:
            combined = dict(amounts)
            _add(combined, [sidecars])
            amounts = combined
        for name, amount in amounts.items():
            if name not in peak or quantity.compare(amount, peak[name]) > 0:
                peak[name] = amount
    for name, amount in peak.items():
        if name not in total or quantity.compare(amount, total[name]) > 0:
            total[name] = amount
    overhead = spec.get("overhead") or {}
    _add(total, [{name: amount for name, amount in overhead.items() if kind == "requests" or name in total}])
    return total


def _add(total: dict[str, str], items: Iterable[Mapping[str, str]]) -> None:
    for amounts in items:
        for name, amount in amounts.items():
            total[name] = quantity.add(total[name], amount) if name in total else amount


def describe_namespace(obj: Manifest, reader: Reader) -> str:
    """A Namespace with its quotas and limits."""
    sheet = Sheet(reader.now())
    metadata = obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    sheet.line(0, f"Status:\t{(obj.get('status') or {}).get('phase', '')}")
    conditions = (obj.get("status") or {}).get("conditions") or ()
    if conditions:
        sheet.line(0, "Conditions:\n  Type\tStatus\tLastTransitionTime\tReason\tMessage")
        sheet.line(1, "----\t------\t------------------\t------\t-------")
        for c in conditions:
            sheet.line(
                1,
                f"{c['type']}\t{c['status']}\t{rfc1123(c.get('lastTransitionTime'))}\t{c.get('reason', '')}\t"
                f"{c.get('message', '')}",
            )
    _quotas(sheet, reader.list("resourcequotas", metadata["name"]))
    _limit_ranges(sheet, reader.list("limitranges", metadata["name"]))
    return sheet.render()


def _quotas(sheet: Sheet, quotas: Sequence[Manifest]) -> None:
    sheet.line(0, "")
    if not quotas:
        sheet.line(0, "No resource quota.")
        return
    sheet.line(0, "Resource Quotas")
    for quota in quotas:
        sheet.line(1, f"Name:\t{quota['metadata']['name']}")
        _scopes(sheet, quota, 1)
        sheet.line(1, "Resource\tUsed\tHard")
        sheet.line(1, "--------\t---\t---")
        _quota_rows(sheet, quota, 1)


_SCOPES = {
    "Terminating": "Matches all pods that have an active deadline. These pods have a limited lifespan on a node "
    "before being actively terminated by the system.",
    "NotTerminating": "Matches all pods that do not have an active deadline. These pods usually include long "
    "running pods whose container command is not expected to terminate.",
    "BestEffort": "Matches all pods that do not have resource requirements set. These pods have a best effort "
    "quality of service.",
    "NotBestEffort": "Matches all pods that have at least one resource requirement set. These pods have a "
    "burstable or guaranteed quality of service.",
}


def _scopes(sheet: Sheet, quota: Manifest, level: int) -> None:
    scopes = sorted(quota["spec"].get("scopes") or ())
    if not scopes:
        return
    sheet.line(level, f"Scopes:\t{', '.join(scopes)}")
    for scope in scopes:
        if scope in _SCOPES:
            sheet.line(level, f"{'* ' if level else ' * '}{_SCOPES[scope]}")


def _quota_rows(sheet: Sheet, quota: Manifest, level: int) -> None:
    status = quota.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    for name in sorted(hard):
        sheet.line(level, f"{name}\t{used.get(name, '0')}\t{hard[name]}")


def _limit_ranges(sheet: Sheet, ranges: Sequence[Manifest]) -> None:
    sheet.line(0, "")
    if not ranges:
        sheet.line(0, "No LimitRange resource.")
        return
    sheet.line(0, "Resource Limits")
    sheet.line(0, " Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio")
    sheet.line(0, " ----\t--------\t---\t---\t---------------\t-------------\t-----------------------")
    for item in ranges:
        _limit_rows(sheet, item, " ")


def _limit_rows(sheet: Sheet, limit_range: Manifest, lead: str) -> None:
    keys = ("min", "max", "defaultRequest", "default", "maxLimitRequestRatio")
    for limit in limit_range["spec"].get("limits") or ():
        names = sorted({name for key in keys for name in limit.get(key) or ()})
        for name in names:
            cells = "\t".join((limit.get(key) or {}).get(name, "-") for key in keys)
            sheet.line(0, f"{lead}{limit['type']}\t{name}\t{cells}")


def describe_resource_quota(obj: Manifest, reader: Reader) -> str:
    """A ResourceQuota."""
    sheet = Sheet(reader.now())
    sheet.line(0, f"Name:\t{obj['metadata']['name']}")
    sheet.line(0, f"Namespace:\t{obj['metadata'].get('namespace', '')}")
    _scopes(sheet, obj, 0)
    sheet.line(0, "Resource\tUsed\tHard")
    sheet.line(0, "--------\t----\t----")
    _quota_rows(sheet, obj, 0)
    return sheet.render()


def describe_limit_range(obj: Manifest, reader: Reader) -> str:
    """A LimitRange."""
    sheet = Sheet(reader.now())
    sheet.line(0, f"Name:\t{obj['metadata']['name']}")
    sheet.line(0, f"Namespace:\t{obj['metadata'].get('namespace', '')}")
    sheet.line(0, "Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio")
    sheet.line(0, "----\t--------\t---\t---\t---------------\t-------------\t-----------------------")
    _limit_rows(sheet, obj, "")
    return sheet.render()


def describe_priority_class(obj: Manifest, reader: Reader) -> str:
    """A PriorityClass."""
    sheet = Sheet(reader.now())
    sheet.line(0, f"Name:\t{obj['metadata']['name']}")
    sheet.line(0, f"Value:\t{obj.get('value', 0)}")
    sheet.line(0, f"GlobalDefault:\t{go_bool(obj.get('globalDefault'))}")
    sheet.line(0, f"PreemptionPolicy:\t{obj.get('preemptionPolicy', 'PreemptLowerPriority')}")
    sheet.line(0, f"Description:\t{obj.get('description', '')}")
    sheet.annotations(obj["metadata"].get("annotations"))
    sheet.events(events_of(reader, obj))
    return sheet.render()
