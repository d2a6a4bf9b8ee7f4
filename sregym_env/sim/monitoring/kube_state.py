"""kube-state-metrics: what the API says of objects, as series.

Names, labels and values are those of kube-state-metrics 2.9. Every metric is a function of one object; over a range it is
taken of what the object was at each scrape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from sregym_env.kube import quantity
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.types import Manifest
from sregym_env.sim.monitoring.past import Version
from sregym_env.sim.monitoring.readings import Times
from sregym_env.sim.monitoring.scrapes import Family, Job, Question, Row, Target, steady

JOB = Job("kube-state-metrics")
INSTANCE = "prometheus-kube-state-metrics.observe:8080"

Sample = tuple[dict[str, str], float]
Samples = Callable[[Manifest], Iterator[Sample]]

PHASES = ("Pending", "Succeeded", "Failed", "Unknown", "Running")
_TRUTH = ("true", "false", "unknown")


class Metric(NamedTuple):
    """What is said of objects of one kind."""

    name: str
    type: str
    resource: str
    samples: Samples
    help: str


def _when(text: str | None) -> float:
    return parse_rfc3339(text) / 1e6 if text else 0.0


def _amount(resource: str, value: object) -> float:
    text = str(value)
    return quantity.cpu_cores(text) if resource == "cpu" else float(quantity.whole(text))


def _unit(resource: str) -> str:
    if resource == "cpu":
        return "core"
    return "byte" if "memory" in resource or "storage" in resource else "integer"


def _label_name(resource: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in resource)


def _named(label: str, obj: Manifest) -> dict[str, str]:
    """The labels by which kube-state-metrics names an object of a kind."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    return {"namespace": namespace, label: metadata["name"]} if namespace else {label: metadata["name"]}


def _created(label: str) -> Samples:
    def samples(obj: Manifest) -> Iterator[Sample]:
        yield _named(label, obj), _when(obj["metadata"].get("creationTimestamp"))

    return samples


def _number(label: str, path: str, default: float | None = None) -> Samples:
    """The number at a path of an object; with a default where there is none."""
    keys = path.split(".")

    def samples(obj: Manifest) -> Iterator[Sample]:
        value: object = obj
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, bool | int | float):
            yield _named(label, obj), float(value)
        elif default is not None:
            yield _named(label, obj), default

    return samples


def _conditions(label: str) -> Samples:
    """One series for each condition and each of its possible values."""

    def samples(obj: Manifest) -> Iterator[Sample]:
        for condition in obj.get("status", {}).get("conditions") or ():
            yield from _three(_named(label, obj), condition)

    return samples


def _three(labels: Mapping[str, str], condition: Manifest) -> Iterator[Sample]:
    for value in _TRUTH:
        told = {**labels, "condition": condition["type"], "status": value}
        yield told, float(str(condition.get("status", "")).lower() == value)


def _one_of(label: str, key: str, path: str, values: Sequence[str], default: str = "") -> Samples:
    """One series for each possible value of a text, 1 for the one that holds."""
    keys = path.split(".")

    def samples(obj: Manifest) -> Iterator[Sample]:
        value: object = obj
        for each in keys:
            value = value.get(each) if isinstance(value, dict) else None
        for possible in values:
            yield {**_named(label, obj), key: possible}, float((value or default) == possible)

    return samples


# --- pods -------------------------------------------------------------------------------------------------


def _pod(pod: Manifest) -> dict[str, str]:
    metadata = pod["metadata"]
    return {"namespace": metadata["namespace"], "pod": metadata["name"], "uid": metadata.get("uid", "")}


def _pod_info(pod: Manifest) -> Iterator[Sample]:
    spec, status = pod["spec"], pod.get("status", {})
    owner: Manifest = next(
        (o for o in pod["metadata"].get("ownerReferences") or () if o.get("controller")), {}
    )
    yield (
        {
            **_pod(pod),
            "host_ip": status.get("hostIP", ""),
            "pod_ip": status.get("podIP", ""),
            "node": spec.get("nodeName", ""),
            "created_by_kind": owner.get("kind", ""),
            "created_by_name": owner.get("name", ""),
            "priority_class": spec.get("priorityClassName", ""),
            "host_network": str(bool(spec.get("hostNetwork"))).lower(),
        },
        1.0,
    )


def _pod_owner(pod: Manifest) -> Iterator[Sample]:
    for owner in pod["metadata"].get("ownerReferences") or ():
        told = {"owner_kind": owner["kind"], "owner_name": owner["name"]}
        yield {**_pod(pod), **told, "owner_is_controller": str(bool(owner.get("controller"))).lower()}, 1.0


def _pod_created(pod: Manifest) -> Iterator[Sample]:
    yield _pod(pod), _when(pod["metadata"].get("creationTimestamp"))


def _pod_started(pod: Manifest) -> Iterator[Sample]:
    started = pod.get("status", {}).get("startTime")
    if started:
        yield _pod(pod), _when(started)


def _pod_phase(pod: Manifest) -> Iterator[Sample]:
    phase = pod.get("status", {}).get("phase", "Pending")
    labels = _pod(pod)
    for possible in PHASES:
        yield {**labels, "phase": possible}, float(phase == possible)


def _pod_condition(type: str, pod: Manifest) -> Iterator[Sample]:
    for condition in pod.get("status", {}).get("conditions") or ():
        if condition["type"] == type:
            for value in _TRUTH:
                yield {**_pod(pod), "condition": value}, float(condition.get("status", "").lower() == value)


def _pod_unschedulable(pod: Manifest) -> Iterator[Sample]:
    for condition in pod.get("status", {}).get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable":
            if condition.get("status") == "False":
                yield _pod(pod), 1.0


_REASONS = ("Evicted", "NodeAffinity", "NodeLost", "Shutdown", "UnexpectedAdmissionError")


def _pod_reason(pod: Manifest) -> Iterator[Sample]:
    reason = pod.get("status", {}).get("reason", "")
    for possible in _REASONS:
        yield {**_pod(pod), "reason": possible}, float(reason == possible)


def _containers(pod: Manifest, init: bool) -> Iterator[tuple[dict[str, str], Manifest]]:
    """The statuses of a pod's containers with the labels that name each."""
    field = "initContainerStatuses" if init else "containerStatuses"
    for status in pod.get("status", {}).get(field) or ():
        yield {**_pod(pod), "container": status["name"]}, status


def _restarts(init: bool, pod: Manifest) -> Iterator[Sample]:
    for labels, status in _containers(pod, init):
        yield labels, float(status.get("restartCount", 0))


def _ready(init: bool, pod: Manifest) -> Iterator[Sample]:
    for labels, status in _containers(pod, init):
        yield labels, float(bool(status.get("ready")))


def _in_state(state: str, init: bool, pod: Manifest) -> Iterator[Sample]:
    for labels, status in _containers(pod, init):
        yield labels, float(state in (status.get("state") or {}))


def _state_reason(state: str, init: bool, pod: Manifest) -> Iterator[Sample]:
    for labels, status in _containers(pod, init):
        reason = ((status.get("state") or {}).get(state) or {}).get("reason")
        if reason:
            yield {**labels, "reason": reason}, 1.0


def _last_reason(pod: Manifest) -> Iterator[Sample]:
    for labels, status in _containers(pod, False):
        reason = ((status.get("lastState") or {}).get("terminated") or {}).get("reason")
        if reason:
            yield {**labels, "reason": reason}, 1.0


def _last_code(pod: Manifest) -> Iterator[Sample]:
    for labels, status in _containers(pod, False):
        ended = (status.get("lastState") or {}).get("terminated")
        if ended:
            yield labels, float(ended.get("exitCode", 0))


def _state_started(pod: Manifest) -> Iterator[Sample]:
    for labels, status in _containers(pod, False):
        running = (status.get("state") or {}).get("running")
        if running and running.get("startedAt"):
            yield labels, _when(running["startedAt"])


def _container_info(pod: Manifest) -> Iterator[Sample]:
    images = {each["name"]: each.get("image", "") for each in pod["spec"].get("containers") or ()}
    for labels, status in _containers(pod, False):
        told = {
            "image_spec": images.get(status["name"], ""),
            "image": status.get("image", ""),
            "image_id": status.get("imageID", ""),
            "container_id": status.get("containerID", ""),
        }
        yield {**labels, **told}, 1.0


def _resources(field: str, pod: Manifest) -> Iterator[Sample]:
    node = pod["spec"].get("nodeName", "")
    for container in pod["spec"].get("containers") or ():
        for resource, value in ((container.get("resources") or {}).get(field) or {}).items():
            told = {"resource": _label_name(resource), "unit": _unit(resource), "node": node}
            yield {**_pod(pod), "container": container["name"], **told}, _amount(resource, value)


# --- what is behind Services ------------------------------------------------------------------------------


def _service_info(service: Manifest) -> Iterator[Sample]:
    spec = service["spec"]
    told = {
        "cluster_ip": spec.get("clusterIP", ""),
        "external_name": spec.get("externalName", ""),
        "load_balancer_ip": spec.get("loadBalancerIP", ""),
    }
    yield {**_named("service", service), "uid": service["metadata"].get("uid", ""), **told}, 1.0


def _service_type(service: Manifest) -> Iterator[Sample]:
    yield {**_named("service", service), "type": service["spec"].get("type", "ClusterIP")}, 1.0


def _endpoint_info(endpoints: Manifest) -> Iterator[Sample]:
    yield _named("endpoint", endpoints), 1.0


def _endpoint_count(field: str, endpoints: Manifest) -> Iterator[Sample]:
    subsets = endpoints.get("subsets") or ()
    count = sum(len(s.get(field) or ()) * len(s.get("ports") or ()) for s in subsets)
    yield _named("endpoint", endpoints), float(count)


def _endpoint_addresses(endpoints: Manifest) -> Iterator[Sample]:
    for subset in endpoints.get("subsets") or ():
        for field, ready in (("addresses", "true"), ("notReadyAddresses", "false")):
            for address in subset.get(field) or ():
                yield {**_named("endpoint", endpoints), "ip": address["ip"], "ready": ready}, 1.0


def _endpoint_ports(endpoints: Manifest) -> Iterator[Sample]:
    for subset in endpoints.get("subsets") or ():
        for port in subset.get("ports") or ():
            told = {
                "port_name": port.get("name", ""),
                "port_protocol": port.get("protocol", "TCP"),
                "port_number": str(port.get("port", "")),
            }
            yield {**_named("endpoint", endpoints), **told}, 1.0


# --- machines and volumes ---------------------------------------------------------------------------------


def _node_info(node: Manifest) -> Iterator[Sample]:
    info = node.get("status", {}).get("nodeInfo") or {}
    addresses = node.get("status", {}).get("addresses") or ()
    told = {
        "kernel_version": info.get("kernelVersion", ""),
        "os_image": info.get("osImage", ""),
        "container_runtime_version": info.get("containerRuntimeVersion", ""),
        "kubelet_version": info.get("kubeletVersion", ""),
        "kubeproxy_version": info.get("kubeProxyVersion", ""),
        "provider_id": node["spec"].get("providerID", ""),
        "pod_cidr": node["spec"].get("podCIDR", ""),
        "system_uuid": info.get("systemUUID", ""),
        "internal_ip": next((a["address"] for a in addresses if a["type"] == "InternalIP"), ""),
    }
    yield {**_named("node", node), **told}, 1.0


def _node_resources(field: str, node: Manifest) -> Iterator[Sample]:
    for resource, value in (node.get("status", {}).get(field) or {}).items():
        told = {"resource": _label_name(resource), "unit": _unit(resource)}
        yield {**_named("node", node), **told}, _amount(resource, value)


def _unschedulable(node: Manifest) -> Iterator[Sample]:
    yield _named("node", node), float(bool(node["spec"].get("unschedulable")))


def _node_taints(node: Manifest) -> Iterator[Sample]:
    for taint in node["spec"].get("taints") or ():
        told = {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}
        yield {**_named("node", node), **told}, 1.0


def _claim_info(claim: Manifest) -> Iterator[Sample]:
    spec = claim["spec"]
    told = {
        "storageclass": spec.get("storageClassName", ""),
        "volumename": spec.get("volumeName", ""),
        "volumemode": spec.get("volumeMode", ""),
    }
    yield {**_named("persistentvolumeclaim", claim), **told}, 1.0


def _claim_size(claim: Manifest) -> Iterator[Sample]:
    asked = ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")
    if asked is not None:
        yield _named("persistentvolumeclaim", claim), float(quantity.bytes_(str(asked)))


def _volume_size(volume: Manifest) -> Iterator[Sample]:
    size = (volume["spec"].get("capacity") or {}).get("storage")
    if size is not None:
        yield _named("persistentvolume", volume), float(quantity.bytes_(str(size)))


def _volume_claim(volume: Manifest) -> Iterator[Sample]:
    claim = volume["spec"].get("claimRef")
    if claim:
        told = {"claim_namespace": claim.get("namespace", ""), "name": claim.get("name", "")}
        yield {**_named("persistentvolume", volume), **told}, 1.0


# --- jobs, limits and the rest ----------------------------------------------------------------------------


def _job_condition(type: str, job: Manifest) -> Iterator[Sample]:
    for condition in job.get("status", {}).get("conditions") or ():
        if condition["type"] == type:
            for value in _TRUTH:
                told = {**_named("job_name", job), "condition": value}
                yield told, float(str(condition.get("status", "")).lower() == value)


def _job_failed(job: Manifest) -> Iterator[Sample]:
    status = job.get("status", {})
    count = float(status.get("failed") or 0)
    reasons = [c.get("reason", "") for c in status.get("conditions") or () if c["type"] == "Failed"]
    for reason in reasons if count else ():
        yield {**_named("job_name", job), "reason": reason}, 1.0
    if not reasons:
        yield _named("job_name", job), count


def _owner(label: str, obj: Manifest) -> Iterator[Sample]:
    for owner in obj["metadata"].get("ownerReferences") or ():
        told = {"owner_kind": owner["kind"], "owner_name": owner["name"]}
        yield (
            {**_named(label, obj), **told, "owner_is_controller": str(bool(owner.get("controller"))).lower()},
            1.0,
        )


def _suspended(cronjob: Manifest) -> Iterator[Sample]:
    yield _named("cronjob", cronjob), float(bool(cronjob["spec"].get("suspend")))


def _active(cronjob: Manifest) -> Iterator[Sample]:
    yield _named("cronjob", cronjob), float(len(cronjob.get("status", {}).get("active") or ()))


def _last_scheduled(cronjob: Manifest) -> Iterator[Sample]:
    time = cronjob.get("status", {}).get("lastScheduleTime")
    if time:
        yield _named("cronjob", cronjob), _when(time)


def _quota(quota: Manifest) -> Iterator[Sample]:
    status = quota.get("status", {})
    for type in ("hard", "used"):
        for resource, value in (status.get(type) or {}).items():
            told = {"resource": resource, "type": type}
            yield {**_named("resourcequota", quota), **told}, quantity.nano(str(value)) / 1e9


def _limits(limits: Manifest) -> Iterator[Sample]:
    for limit in limits["spec"].get("limits") or ():
        for constraint in ("min", "max", "default", "defaultRequest", "maxLimitRequestRatio"):
            for resource, value in (limit.get(constraint) or {}).items():
                told = {"resource": resource, "type": limit["type"], "constraint": constraint}
                yield {**_named("limitrange", limits), **told}, quantity.nano(str(value)) / 1e9


def _info(label: str) -> Samples:
    def samples(obj: Manifest) -> Iterator[Sample]:
        yield _named(label, obj), 1.0

    return samples


def _secret_type(secret: Manifest) -> Iterator[Sample]:
    yield {**_named("secret", secret), "type": secret.get("type", "Opaque")}, 1.0


def _rules(field: str, policy: Manifest) -> Iterator[Sample]:
    yield _named("networkpolicy", policy), float(len(policy["spec"].get(field) or ()))


def _namespace_labels(namespace: Manifest) -> Iterator[Sample]:
    labels = namespace["metadata"].get("labels") or {}
    told = {f"label_{_label_name(key)}": value for key, value in labels.items()}
    yield {"namespace": namespace["metadata"]["name"], **told}, 1.0


def _namespace_phase(namespace: Manifest) -> Iterator[Sample]:
    phase = namespace.get("status", {}).get("phase", "Active")
    for possible in ("Active", "Terminating"):
        yield {"namespace": namespace["metadata"]["name"], "phase": possible}, float(phase == possible)


_DEPLOYMENTS, _REPLICASETS = "deployments.apps", "replicasets.apps"
_SETS, _DAEMONS = "statefulsets.apps", "daemonsets.apps"
_JOBS, _CRON = "jobs.batch", "cronjobs.batch"
_CLAIMS, _VOLUMES = "persistentvolumeclaims", "persistentvolumes"
_SCALERS, _BUDGETS = "horizontalpodautoscalers.autoscaling", "poddisruptionbudgets.policy"
_POLICIES = "networkpolicies.networking.k8s.io"

METRICS: tuple[Metric, ...] = (
    Metric("kube_pod_info", "gauge", "pods", _pod_info, "Information about pod."),
    Metric("kube_pod_owner", "gauge", "pods", _pod_owner, "Information about the Pod's owner."),
    Metric("kube_pod_created", "gauge", "pods", _pod_created, "Unix creation timestamp"),
    Metric("kube_pod_start_time", "gauge", "pods", _pod_started, "Start time in unix timestamp for a pod."),
    Metric("kube_pod_status_phase", "gauge", "pods", _pod_phase, "The pods current phase."),
    Metric("kube_pod_status_ready", "gauge", "pods", partial(_pod_condition, "Ready"), "Describes whether the pod is ready to serve requests."),
    Metric("kube_pod_status_scheduled", "gauge", "pods", partial(_pod_condition, "PodScheduled"), "Describes the status of the scheduling process for the pod."),
    Metric("kube_pod_status_unschedulable", "gauge", "pods", _pod_unschedulable, "Describes the unschedulable status for the pod."),
    Metric("kube_pod_status_reason", "gauge", "pods", _pod_reason, "The pod status reasons"),
    Metric("kube_pod_container_info", "gauge", "pods", _container_info, "Information about a container in a pod."),
    Metric("kube_pod_container_status_restarts_total", "counter", "pods", partial(_restarts, False), "The number of container restarts per container."),
    Metric("kube_pod_container_status_ready", "gauge", "pods", partial(_ready, False), "Describes whether the containers readiness check succeeded."),
    Metric("kube_pod_container_status_running", "gauge", "pods", partial(_in_state, "running", False), "Describes whether the container is currently in running state."),
    Metric("kube_pod_container_status_waiting", "gauge", "pods", partial(_in_state, "waiting", False), "Describes whether the container is currently in waiting state."),
    Metric("kube_pod_container_status_terminated", "gauge", "pods", partial(_in_state, "terminated", False), "Describes whether the container is currently in terminated state."),
    Metric("kube_pod_container_status_waiting_reason", "gauge", "pods", partial(_state_reason, "waiting", False), "Describes the reason the container is currently in waiting state."),
    Metric("kube_pod_container_status_terminated_reason", "gauge", "pods", partial(_state_reason, "terminated", False), "Describes the reason the container is currently in terminated state."),
    Metric("kube_pod_container_status_last_terminated_reason", "gauge", "pods", _last_reason, "Describes the last reason the container was in terminated state."),
    Metric("kube_pod_container_status_last_terminated_exitcode", "gauge", "pods", _last_code, "Describes the exit code for the last container in terminated state."),
    Metric("kube_pod_container_state_started", "gauge", "pods", _state_started, "Start time in unix timestamp for a pod container."),
    Metric("kube_pod_init_container_status_restarts_total", "counter", "pods", partial(_restarts, True), "The number of restarts for the init container."),
    Metric("kube_pod_init_container_status_ready", "gauge", "pods", partial(_ready, True), "Describes whether the init containers readiness check succeeded."),
    Metric("kube_pod_init_container_status_running", "gauge", "pods", partial(_in_state, "running", True), "Describes whether the init container is currently in running state."),
    Metric("kube_pod_init_container_status_waiting_reason", "gauge", "pods", partial(_state_reason, "waiting", True), "Describes the reason the init container is currently in waiting state."),
    Metric("kube_pod_init_container_status_terminated_reason", "gauge", "pods", partial(_state_reason, "terminated", True), "Describes the reason the init container is currently in terminated state."),
    Metric("kube_pod_container_resource_limits", "gauge", "pods", partial(_resources, "limits"), "The number of requested limit resource by a container."),
    Metric("kube_pod_container_resource_requests", "gauge", "pods", partial(_resources, "requests"), "The number of requested request resource by a container."),
    Metric("kube_deployment_created", "gauge", _DEPLOYMENTS, _created("deployment"), "Unix creation timestamp"),
    Metric("kube_deployment_spec_replicas", "gauge", _DEPLOYMENTS, _number("deployment", "spec.replicas", 1), "Number of desired pods for a deployment."),
    Metric("kube_deployment_spec_paused", "gauge", _DEPLOYMENTS, _number("deployment", "spec.paused", 0), "Whether the deployment is paused and will not be processed by the deployment controller."),
    Metric("kube_deployment_status_replicas", "gauge", _DEPLOYMENTS, _number("deployment", "status.replicas", 0), "The number of replicas per deployment."),
    Metric("kube_deployment_status_replicas_available", "gauge", _DEPLOYMENTS, _number("deployment", "status.availableReplicas", 0), "The number of available replicas per deployment."),
    Metric("kube_deployment_status_replicas_ready", "gauge", _DEPLOYMENTS, _number("deployment", "status.readyReplicas", 0), "The number of ready replicas per deployment."),
    Metric("kube_deployment_status_replicas_unavailable", "gauge", _DEPLOYMENTS, _number("deployment", "status.unavailableReplicas", 0), "The number of unavailable replicas per deployment."),
    Metric("kube_deployment_status_replicas_updated", "gauge", _DEPLOYMENTS, _number("deployment", "status.updatedReplicas", 0), "The number of updated replicas per deployment."),
    Metric("kube_deployment_status_observed_generation", "gauge", _DEPLOYMENTS, _number("deployment", "status.observedGeneration", 0), "The generation observed by the deployment controller."),
    Metric("kube_deployment_metadata_generation", "gauge", _DEPLOYMENTS, _number("deployment", "metadata.generation", 0), "Sequence number representing a specific generation of the desired state."),
    Metric("kube_deployment_status_condition", "gauge", _DEPLOYMENTS, _conditions("deployment"), "The current status conditions of a deployment."),
    Metric("kube_replicaset_created", "gauge", _REPLICASETS, _created("replicaset"), "Unix creation timestamp"),
    Metric("kube_replicaset_owner", "gauge", _REPLICASETS, partial(_owner, "replicaset"), "Information about the ReplicaSet's owner."),
    Metric("kube_replicaset_spec_replicas", "gauge", _REPLICASETS, _number("replicaset", "spec.replicas", 1), "Number of desired pods for a ReplicaSet."),
    Metric("kube_replicaset_status_replicas", "gauge", _REPLICASETS, _number("replicaset", "status.replicas", 0), "The number of replicas per ReplicaSet."),
    Metric("kube_replicaset_status_ready_replicas", "gauge", _REPLICASETS, _number("replicaset", "status.readyReplicas", 0), "The number of ready replicas per ReplicaSet."),
    Metric("kube_statefulset_created", "gauge", _SETS, _created("statefulset"), "Unix creation timestamp"),
    Metric("kube_statefulset_replicas", "gauge", _SETS, _number("statefulset", "spec.replicas", 1), "Number of desired pods for a StatefulSet."),
    Metric("kube_statefulset_status_replicas", "gauge", _SETS, _number("statefulset", "status.replicas", 0), "The number of replicas per StatefulSet."),
    Metric("kube_statefulset_status_replicas_ready", "gauge", _SETS, _number("statefulset", "status.readyReplicas", 0), "The number of ready replicas per StatefulSet."),
    Metric("kube_statefulset_status_replicas_available", "gauge", _SETS, _number("statefulset", "status.availableReplicas", 0), "The number of available replicas per StatefulSet."),
    Metric("kube_statefulset_status_replicas_updated", "gauge", _SETS, _number("statefulset", "status.updatedReplicas", 0), "The number of updated replicas per StatefulSet."),
    Metric("kube_daemonset_created", "gauge", _DAEMONS, _created("daemonset"), "Unix creation timestamp"),
    Metric("kube_daemonset_status_desired_number_scheduled", "gauge", _DAEMONS, _number("daemonset", "status.desiredNumberScheduled", 0), "The number of nodes that should be running the daemon pod."),
    Metric("kube_daemonset_status_current_number_scheduled", "gauge", _DAEMONS, _number("daemonset", "status.currentNumberScheduled", 0), "The number of nodes running at least one daemon pod and are supposed to."),
    Metric("kube_daemonset_status_number_ready", "gauge", _DAEMONS, _number("daemonset", "status.numberReady", 0), "The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and ready."),
    Metric("kube_daemonset_status_number_available", "gauge", _DAEMONS, _number("daemonset", "status.numberAvailable", 0), "The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and available"),
    Metric("kube_daemonset_status_number_unavailable", "gauge", _DAEMONS, _number("daemonset", "status.numberUnavailable", 0), "The number of nodes that should be running the daemon pod and have none of the daemon pod running and available"),
    Metric("kube_daemonset_status_number_misscheduled", "gauge", _DAEMONS, _number("daemonset", "status.numberMisscheduled", 0), "The number of nodes running a daemon pod but are not supposed to."),
    Metric("kube_job_created", "gauge", _JOBS, _created("job_name"), "Unix creation timestamp"),
    Metric("kube_job_owner", "gauge", _JOBS, partial(_owner, "job_name"), "Information about the Job's owner."),
    Metric("kube_job_spec_completions", "gauge", _JOBS, _number("job_name", "spec.completions"), "The desired number of successfully finished pods the job should be run with."),
    Metric("kube_job_status_active", "gauge", _JOBS, _number("job_name", "status.active", 0), "The number of actively running pods."),
    Metric("kube_job_status_succeeded", "gauge", _JOBS, _number("job_name", "status.succeeded", 0), "The number of pods which reached Phase Succeeded."),
    Metric("kube_job_status_failed", "gauge", _JOBS, _job_failed, "The number of pods which reached Phase Failed and the reason for failure."),
    Metric("kube_job_complete", "gauge", _JOBS, partial(_job_condition, "Complete"), "The job has completed its execution."),
    Metric("kube_job_failed", "gauge", _JOBS, partial(_job_condition, "Failed"), "The job has failed its execution."),
    Metric("kube_cronjob_created", "gauge", _CRON, _created("cronjob"), "Unix creation timestamp"),
    Metric("kube_cronjob_spec_suspend", "gauge", _CRON, _suspended, "Suspend flag tells the controller to suspend subsequent executions."),
    Metric("kube_cronjob_status_active", "gauge", _CRON, _active, "Active holds pointers to currently running jobs."),
    Metric("kube_cronjob_status_last_schedule_time", "gauge", _CRON, _last_scheduled, "LastScheduleTime keeps information of when was the last time the job was successfully scheduled."),
    Metric("kube_node_created", "gauge", "nodes", _created("node"), "Unix creation timestamp"),
    Metric("kube_node_info", "gauge", "nodes", _node_info, "Information about a cluster node."),
    Metric("kube_node_spec_unschedulable", "gauge", "nodes", _unschedulable, "Whether a node can schedule new pods."),
    Metric("kube_node_spec_taint", "gauge", "nodes", _node_taints, "The taint of a cluster node."),
    Metric("kube_node_status_condition", "gauge", "nodes", _conditions("node"), "The condition of a cluster node."),
    Metric("kube_node_status_capacity", "gauge", "nodes", partial(_node_resources, "capacity"), "The capacity for different resources of a node."),
    Metric("kube_node_status_allocatable", "gauge", "nodes", partial(_node_resources, "allocatable"), "The allocatable for different resources of a node that are available for scheduling."),
    Metric("kube_persistentvolumeclaim_info", "gauge", _CLAIMS, _claim_info, "Information about persistent volume claim."),
    Metric("kube_persistentvolumeclaim_status_phase", "gauge", _CLAIMS, _one_of("persistentvolumeclaim", "phase", "status.phase", ("Lost", "Bound", "Pending"), "Pending"), "The phase the persistent volume claim is currently in."),
    Metric("kube_persistentvolumeclaim_resource_requests_storage_bytes", "gauge", _CLAIMS, _claim_size, "The capacity of storage requested by the persistent volume claim."),
    Metric("kube_persistentvolume_status_phase", "gauge", _VOLUMES, _one_of("persistentvolume", "phase", "status.phase", ("Pending", "Available", "Bound", "Released", "Failed"), "Pending"), "The phase indicates if a volume is available, bound to a claim, or released by a claim."),
    Metric("kube_persistentvolume_capacity_bytes", "gauge", _VOLUMES, _volume_size, "Persistentvolume capacity in bytes."),
    Metric("kube_persistentvolume_claim_ref", "gauge", _VOLUMES, _volume_claim, "Information about the Persistent Volume Claim Reference."),
    Metric("kube_service_created", "gauge", "services", _created("service"), "Unix creation timestamp"),
    Metric("kube_service_info", "gauge", "services", _service_info, "Information about service."),
    Metric("kube_service_spec_type", "gauge", "services", _service_type, "Type about service."),
    Metric("kube_endpoint_created", "gauge", "endpoints", _created("endpoint"), "Unix creation timestamp"),
    Metric("kube_endpoint_info", "gauge", "endpoints", _endpoint_info, "Information about endpoint."),
    Metric("kube_endpoint_address_available", "gauge", "endpoints", partial(_endpoint_count, "addresses"), "Number of addresses available in endpoint."),
    Metric("kube_endpoint_address_not_ready", "gauge", "endpoints", partial(_endpoint_count, "notReadyAddresses"), "Number of addresses not ready in endpoint."),
    Metric("kube_endpoint_address", "gauge", "endpoints", _endpoint_addresses, "Information about Endpoint available and non available addresses."),
    Metric("kube_endpoint_ports", "gauge", "endpoints", _endpoint_ports, "Information about the Endpoint ports."),
    Metric("kube_namespace_created", "gauge", "namespaces", _created("namespace"), "Unix creation timestamp"),
    Metric("kube_namespace_labels", "gauge", "namespaces", _namespace_labels, "Kubernetes labels converted to Prometheus labels."),
    Metric("kube_namespace_status_phase", "gauge", "namespaces", _namespace_phase, "kubernetes namespace status phase."),
    Metric("kube_configmap_info", "gauge", "configmaps", _info("configmap"), "Information about configmap."),
    Metric("kube_configmap_created", "gauge", "configmaps", _created("configmap"), "Unix creation timestamp"),
    Metric("kube_secret_info", "gauge", "secrets", _info("secret"), "Information about secret."),
    Metric("kube_secret_type", "gauge", "secrets", _secret_type, "Type about secret."),
    Metric("kube_resourcequota", "gauge", "resourcequotas", _quota, "Information about resource quota."),
    Metric("kube_limitrange", "gauge", "limitranges", _limits, "Information about limit range."),
    Metric("kube_networkpolicy_created", "gauge", _POLICIES, _created("networkpolicy"), "Unix creation timestamp of network policy"),
    Metric("kube_networkpolicy_spec_ingress_rules", "gauge", _POLICIES, partial(_rules, "ingress"), "Number of ingress rules on the networkpolicy"),
    Metric("kube_networkpolicy_spec_egress_rules", "gauge", _POLICIES, partial(_rules, "egress"), "Number of egress rules on the networkpolicy"),
    Metric("kube_horizontalpodautoscaler_spec_min_replicas", "gauge", _SCALERS, _number("horizontalpodautoscaler", "spec.minReplicas", 1), "Lower limit for the number of pods that can be set by the autoscaler, default 1."),
    Metric("kube_horizontalpodautoscaler_spec_max_replicas", "gauge", _SCALERS, _number("horizontalpodautoscaler", "spec.maxReplicas"), "Upper limit for the number of pods that can be set by the autoscaler; cannot be smaller than MinReplicas."),
    Metric("kube_horizontalpodautoscaler_status_current_replicas", "gauge", _SCALERS, _number("horizontalpodautoscaler", "status.currentReplicas", 0), "Current number of replicas of pods managed by this autoscaler."),
    Metric("kube_horizontalpodautoscaler_status_desired_replicas", "gauge", _SCALERS, _number("horizontalpodautoscaler", "status.desiredReplicas", 0), "Desired number of replicas of pods managed by this autoscaler."),
    Metric("kube_horizontalpodautoscaler_status_condition", "gauge", _SCALERS, _conditions("horizontalpodautoscaler"), "The condition of this autoscaler."),
    Metric("kube_poddisruptionbudget_status_current_healthy", "gauge", _BUDGETS, _number("poddisruptionbudget", "status.currentHealthy", 0), "Current number of healthy pods."),
    Metric("kube_poddisruptionbudget_status_desired_healthy", "gauge", _BUDGETS, _number("poddisruptionbudget", "status.desiredHealthy", 0), "Minimum desired number of healthy pods."),
    Metric("kube_poddisruptionbudget_status_pod_disruptions_allowed", "gauge", _BUDGETS, _number("poddisruptionbudget", "status.disruptionsAllowed", 0), "Number of pod disruptions that are currently allowed."),
)  # fmt: skip
"""What kube-state-metrics says, by resource."""

_KINDS = {"pods": "pod", "nodes": "node", _DEPLOYMENTS: "deployment"}


def _targets(question: Question) -> Sequence[Target]:
    return (Target(JOB, INSTANCE),)


def _rows(metric: Metric, question: Question, target: Target, times: Times) -> Iterator[Row]:
    for versions in question.objects(metric.resource):
        metadata = versions[0].obj["metadata"]
        if not question.wants("namespace", metadata.get("namespace", _namespace_of(metric, metadata))):
            continue
        label = _KINDS.get(metric.resource)
        if label is not None and not question.wants(label, metadata["name"]):
            continue
        yield from _over_time(metric.samples, versions, times, question)


def _namespace_of(metric: Metric, metadata: Manifest) -> str:
    return str(metadata["name"]) if metric.resource == "namespaces" else ""


def _over_time(
    samples: Samples, versions: Sequence[Version], times: Times, question: Question
) -> Iterator[Row]:
    """What a metric says of one object at each scrape."""
    newest = versions[0]
    if newest.start <= times[0] and newest.end > times[-1]:
        for labels, value in samples(newest.obj):
            if question.wants_all(labels):
                yield labels, steady(times, value), None
        return
    found: dict[tuple[tuple[str, str], ...], Row] = {}
    for version in reversed(versions):
        held = (times >= version.start) & (times < version.end)
        if not held.any():
            continue
        for labels, value in samples(version.obj):
            if not question.wants_all(labels):
                continue
            key = tuple(labels.items())
            row = found.get(key)
            if row is None:
                row = found[key] = (labels, np.zeros(len(times)), np.zeros(len(times), dtype=np.bool_))
            row[1][held] = value
            assert row[2] is not None
            row[2][held] = True
    yield from found.values()


FAMILIES: tuple[Family, ...] = tuple(
    Family(metric.name, metric.type, metric.help, _targets, partial(_rows, metric)) for metric in METRICS
)
"""What Prometheus gets of it."""
