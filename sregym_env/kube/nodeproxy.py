"""What a kubelet answers through the API server's proxy (``/api/v1/nodes/NAME/proxy/...``).

Everything follows from objects: the pods of the node, and what the metrics API says that they use. Counters that nobody
keeps (bytes on the network, seconds of CPU since the start) are left out rather than made up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.kube import quantity, status
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest

PORT = 10250
"""Of the kubelet's API."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A node, the pods on it, and what the metrics API says of both."""

    node: Manifest
    pods: Sequence[Manifest]
    node_metrics: Manifest | None
    pod_metrics: Sequence[Manifest]


@dataclass(frozen=True, slots=True)
class Answer:
    """A body and its media type."""

    body: str
    media: str = "text/plain; charset=utf-8"
    code: int = 200


def node_of(text: str) -> str:
    """The node in ``[https:]NAME[:10250]``."""
    parts = text.split(":")
    return parts[1] if len(parts) == 3 else parts[0]


def answer(seen: Seen, path: str) -> Answer:
    """The kubelet's answer to a GET. Raises ServiceUnavailable where it does not answer."""
    ready = next((c for c in _conditions(seen.node) if c["type"] == "Ready"), {})
    if ready.get("status") == "Unknown":
        raise status.service_unavailable(
            f"error trying to reach service: dial tcp {_address(seen.node)}:{PORT}: i/o timeout"
        )
    path = "/" + path.strip("/")
    if path == "/healthz":
        return Answer("ok")
    if path in ("/pods", "/runningpods"):
        items = [{k: v for k, v in pod.items() if k not in ("kind", "apiVersion")} for pod in seen.pods]
        found = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}
        return Answer(json.dumps(found, separators=(",", ":")) + "\n", "application/json")
    if path == "/stats/summary":
        return Answer(json.dumps(summary(seen), indent=1), "application/json")
    if path == "/metrics/resource":
        return Answer("".join(_resource_metrics(seen)), "text/plain; version=0.0.4; charset=utf-8")
    if path == "/metrics":
        return Answer("".join(_own_metrics(seen)), "text/plain; version=0.0.4; charset=utf-8")
    return Answer("404 page not found\n", code=404)


def summary(seen: Seen) -> Manifest:
    """The ``stats/summary`` document."""
    used = {_key(each): each for each in seen.pod_metrics}
    node: dict[str, Any] = {"nodeName": seen.node["metadata"]["name"]}
    if seen.node_metrics is not None:
        node |= _amounts(seen.node_metrics["usage"], seen.node_metrics["timestamp"])
        whole = quantity.bytes_(seen.node["status"].get("capacity", {}).get("memory", "0"))
        node["memory"]["availableBytes"] = max(0, whole - node["memory"]["workingSetBytes"])
    return {"node": node, "pods": [_pod(pod, used.get(_key(pod))) for pod in seen.pods]}


def _pod(pod: Manifest, metrics: Manifest | None) -> Manifest:
    metadata = pod["metadata"]
    started = pod.get("status", {}).get("startTime")
    shown: dict[str, Any] = {
        "podRef": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata.get("uid", ""),
        },
        "startTime": started,
        "containers": [],
    }
    if metrics is None:
        return shown
    since = _started(pod)
    shown["containers"] = [
        {
            "name": each["name"],
            "startTime": since.get(each["name"], started),
            **_amounts(each["usage"], metrics["timestamp"]),
        }
        for each in metrics["containers"]
    ]
    total = {
        "cpu": f"{sum(quantity.nano(each['usage']['cpu']) for each in metrics['containers'])}n",
        "memory": str(sum(quantity.bytes_(each["usage"]["memory"]) for each in metrics["containers"])),
    }
    return {**shown, **_amounts(total, metrics["timestamp"])}


def _amounts(usage: Mapping[str, str], time: str) -> Manifest:
    return {
        "cpu": {"time": time, "usageNanoCores": quantity.nano(usage["cpu"])},
        "memory": {"time": time, "workingSetBytes": quantity.bytes_(usage["memory"])},
    }


def _resource_metrics(seen: Seen) -> Iterator[str]:
    starts = {_key(pod): _started(pod) for pod in seen.pods}
    name = "container_memory_working_set_bytes"
    yield f"# HELP {name} [STABLE] Current working set of the container in bytes\n# TYPE {name} gauge\n"
    for labels, each, time in _used(seen):
        yield f"{name}{{{labels}}} {quantity.bytes_(each['usage']['memory'])} {time}\n"
    name = "container_start_time_seconds"
    yield f"# HELP {name} [STABLE] Start time of the container since unix epoch in seconds\n# TYPE {name} gauge\n"
    for pod in seen.pods:
        for container, text in sorted(starts[_key(pod)].items()):
            yield f"{name}{{{_labels(pod, container)}}} {parse_rfc3339(text) // 1_000_000}\n"
    if seen.node_metrics is not None:
        name = "node_memory_working_set_bytes"
        yield f"# HELP {name} [STABLE] Current working set of the node in bytes\n# TYPE {name} gauge\n"
        time = parse_rfc3339(seen.node_metrics["timestamp"]) // 1000
        yield f"{name} {quantity.bytes_(seen.node_metrics['usage']['memory'])} {time}\n"
    name = "resource_scrape_error"
    yield f"# HELP {name} [STABLE] 1 if there was an error while getting container metrics, 0 otherwise\n"
    yield f"# TYPE {name} gauge\n{name} 0\n"


def _own_metrics(seen: Seen) -> Iterator[str]:
    states: dict[str, int] = {}
    for pod in seen.pods:
        for each in _statuses(pod):
            state = (
                "running"
                if "running" in each["state"]
                else "exited"
                if "terminated" in each["state"]
                else "created"
            )
            states[state] = states.get(state, 0) + 1
    name = "kubelet_node_name"
    yield f"# HELP {name} [ALPHA] The node's name. The count is always 1.\n# TYPE {name} gauge\n"
    yield f'{name}{{node="{seen.node["metadata"]["name"]}"}} 1\n'
    name = "kubelet_running_containers"
    yield f"# HELP {name} [ALPHA] Number of containers currently running\n# TYPE {name} gauge\n"
    for state, number in sorted(states.items()):
        yield f'{name}{{container_state="{state}"}} {number}\n'
    name = "kubelet_running_pods"
    running = sum(any("running" in each["state"] for each in _statuses(pod)) for pod in seen.pods)
    yield f"# HELP {name} [ALPHA] Number of pods that have a running pod sandbox\n# TYPE {name} gauge\n{name} {running}\n"


def _used(seen: Seen) -> Iterator[tuple[str, Manifest, int]]:
    for metrics in seen.pod_metrics:
        for each in metrics["containers"]:
            yield _labels(metrics, each["name"]), each, parse_rfc3339(metrics["timestamp"]) // 1000


def _labels(pod: Manifest, container: str) -> str:
    metadata = pod["metadata"]
    return f'container="{container}",namespace="{metadata["namespace"]}",pod="{metadata["name"]}"'


def _started(pod: Manifest) -> dict[str, str]:
    return {
        each["name"]: each["state"]["running"]["startedAt"]
        for each in _statuses(pod)
        if "running" in each["state"]
    }


def _statuses(pod: Manifest) -> Sequence[Manifest]:
    found: Sequence[Manifest] = pod.get("status", {}).get("containerStatuses") or ()
    return found


def _key(obj: Manifest) -> tuple[str, str]:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]


def _conditions(node: Manifest) -> Sequence[Manifest]:
    found: Sequence[Manifest] = node.get("status", {}).get("conditions") or ()
    return found


def _address(node: Manifest) -> str:
    addresses = node.get("status", {}).get("addresses") or ()
    return next((each["address"] for each in addresses if each["type"] == "InternalIP"), "")


def look(reader: Any, name: str) -> Seen:
    """What there is to tell of a node: ``reader`` is a ``Cluster`` that may read it all. Raises NotFound."""
    node = reader.get("nodes", name)
    pods = list(reader.list("pods", field_selector=f"spec.nodeName={name}"))
    own = {_key(pod) for pod in pods}
    try:
        of_node = next(
            (n for n in reader.list("nodes.metrics.k8s.io") if n["metadata"]["name"] == name), None
        )
        of_pods = [each for each in reader.list("pods.metrics.k8s.io") if _key(each) in own]
    except status.StatusError:
        of_node, of_pods = None, []  # the metrics API is away
    return Seen(node, pods, of_node, of_pods)
