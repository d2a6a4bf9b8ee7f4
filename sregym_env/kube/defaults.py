"""The defaults that the API server fills in, one pure function per kind.

:func:`apply_defaults` never mutates: it copies along the path of what it sets and returns the very same
object when everything is there already. Values are those of ``pkg/apis/*/v1/defaults.go`` of v1.32.
Defaults that need the rest of the cluster (cluster IPs, node ports, service account tokens, default
storage class, priorities) belong to admission and to the strategies of the server, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sregym_env.kube.custom import apply_schema_defaults
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Json, Manifest

_Default = Callable[[Manifest], Manifest]


def _fill(obj: Manifest, values: Mapping[str, Json]) -> Manifest:
    """``obj`` with those values that it lacks; an empty string counts as lacking, as in Go."""
    missing = [k for k in values if obj.get(k) is None or obj[k] == ""]
    if not missing:
        return obj
    return {**obj, **{k: values[k] for k in missing}}


def _fill_absent(obj: Manifest, values: Mapping[str, Json]) -> Manifest:
    """Like :func:`_fill` for pointer fields, where an empty string is a value."""
    missing = [k for k in values if obj.get(k) is None]
    return {**obj, **{k: values[k] for k in missing}} if missing else obj


def _at(obj: Manifest, key: str, change: _Default, create: bool = False) -> Manifest:
    """``obj`` with ``change`` applied to the object under ``key`` (made empty first when ``create``)."""
    old = obj.get(key)
    if old is None:
        if not create:
            return obj
        return {**obj, key: change({})}
    new = change(old)
    return obj if new is old else {**obj, key: new}


def _each(obj: Manifest, key: str, change: _Default) -> Manifest:
    """``obj`` with ``change`` applied to every element of the list under ``key``."""
    old = obj.get(key)
    if not old:
        return obj
    new = [change(item) for item in old]
    if all(a is b for a, b in zip(old, new, strict=True)):
        return obj
    return {**obj, key: new}


# --- pods -------------------------------------------------------------------------------------------

_POD_SPEC = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
}
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_CONTAINER = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_MODE = {"defaultMode": 0o644}
_FIELD_REF = {"apiVersion": "v1"}


def pull_policy(image: str) -> str:
    """The default ``imagePullPolicy``: ``Always`` for the tag ``latest`` (also when there is no tag)."""
    name, _, digest = image.partition("@")
    if digest:
        return "IfNotPresent"
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


def _http_get(action: Manifest) -> Manifest:
    return _fill(action, {"path": "/", "scheme": "HTTP"})


def _handler(handler: Manifest) -> Manifest:
    return _at(handler, "httpGet", _http_get)


def _probe(probe: Manifest) -> Manifest:
    probe = _at(_handler(probe), "grpc", lambda grpc: _fill_absent(grpc, {"service": ""}))
    missing = {k: v for k, v in _PROBE.items() if not probe.get(k)}
    return {**probe, **missing} if missing else probe


def _lifecycle(lifecycle: Manifest) -> Manifest:
    return _at(_at(lifecycle, "postStart", _handler), "preStop", _handler)


def _requests(resources: Manifest) -> Manifest:
    limits = resources.get("limits")
    if not limits:
        return resources
    requests = resources.get("requests") or {}
    missing = [k for k in limits if k not in requests]
    if not missing:
        return resources
    return {**resources, "requests": {**requests, **{k: limits[k] for k in missing}}}


def _env_source(source: Manifest) -> Manifest:
    return _at(
        _at(source, "fieldRef", _ref_version),
        "resourceFieldRef",
        lambda ref: _fill_absent(ref, {"divisor": "0"}),
    )


def _ref_version(ref: Manifest) -> Manifest:
    return _fill(ref, _FIELD_REF)


def _env(variable: Manifest) -> Manifest:
    if variable.get("value") == "":
        # Go drops the empty string when it writes the object back.
        return {k: v for k, v in variable.items() if k != "value"}
    return _at(variable, "valueFrom", _env_source) if "valueFrom" in variable else variable


def _port(port: Manifest) -> Manifest:
    return port if port.get("protocol") else {**port, "protocol": "TCP"}


def _container(container: Manifest) -> Manifest:
    made = _fill(container, _CONTAINER)
    if not made.get("imagePullPolicy"):
        made = {**made, "imagePullPolicy": pull_policy(made.get("image") or "")}
    made = _at(made, "resources", _same, create=True)
    made = _each(made, "ports", _port)
    made = _each(made, "env", _env)
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        made = _at(made, probe, _probe)
    return _at(made, "lifecycle", _lifecycle)


def _pod_container(container: Manifest) -> Manifest:
    return _at(_container(container), "resources", _requests)


def _same(obj: Manifest) -> Manifest:
    return obj


def _with_mode(source: Manifest) -> Manifest:
    return _fill_absent(source, _MODE)


def _downward(source: Manifest) -> Manifest:
    return _each(_with_mode(source), "items", _downward_item)


def _downward_item(item: Manifest) -> Manifest:
    return _env_source(item)


def _projection(source: Manifest) -> Manifest:
    source = _at(
        source, "serviceAccountToken", lambda token: _fill_absent(token, {"expirationSeconds": 3600})
    )
    return _at(source, "downwardAPI", lambda api: _each(api, "items", _downward_item))


def _projected(source: Manifest) -> Manifest:
    return _each(_with_mode(source), "sources", _projection)


_VOLUME_SOURCES: dict[str, _Default] = {
    "configMap": _with_mode,
    "secret": _with_mode,
    "projected": _projected,
    "downwardAPI": _downward,
    "hostPath": lambda source: _fill_absent(source, {"type": ""}),
    "iscsi": lambda source: _fill(source, {"iscsiInterface": "default"}),
    "azureDisk": lambda source: _fill_absent(
        source, {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"}
    ),
    "rbd": lambda source: _fill(source, {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}),
}


def _volume(volume: Manifest) -> Manifest:
    if len(volume) == 1:
        return {**volume, "emptyDir": {}}
    for key, change in _VOLUME_SOURCES.items():
        if key in volume:
            volume = _at(volume, key, change)
    if "ephemeral" in volume:
        volume = _at(volume, "ephemeral", lambda e: _at(e, "volumeClaimTemplate", _claim_template))
    return volume


def _claim_template(template: Manifest) -> Manifest:
    return _at(template, "spec", _claim_spec)


def pod_spec(spec: Manifest, container: _Default = _container) -> Manifest:
    """The defaults of a pod spec, in a Pod or in a template."""
    made = _fill_absent(_fill(spec, _POD_SPEC), {"securityContext": {}})
    if "serviceAccountName" in made and "serviceAccount" not in made:
        # The deprecated alias is always written back next to the real field.
        made = {**made, "serviceAccount": made["serviceAccountName"]}
    elif "serviceAccount" in made and made.get("serviceAccountName") != made["serviceAccount"]:
        name = made.get("serviceAccountName") or made["serviceAccount"]
        made = {**made, "serviceAccountName": name, "serviceAccount": name}
    made = _each(made, "containers", container)
    made = _each(made, "initContainers", container)
    made = _each(made, "ephemeralContainers", _container)
    made = _each(made, "volumes", _volume)
    if made.get("hostNetwork"):
        made = _each(made, "containers", _host_ports)
        made = _each(made, "initContainers", _host_ports)
    return made


def _host_ports(container: Manifest) -> Manifest:
    return _each(
        container, "ports", lambda p: p if p.get("hostPort") else {**p, "hostPort": p["containerPort"]}
    )


def _template(template: Manifest) -> Manifest:
    metadata = template.get("metadata")
    if metadata is None or "creationTimestamp" not in metadata:
        # Go writes the zero time of an embedded ObjectMeta as null.
        template = {**template, "metadata": {"creationTimestamp": None, **(metadata or {})}}
    return _at(template, "spec", pod_spec)


def _live_pod_spec(spec: Manifest) -> Manifest:
    return _fill_absent(pod_spec(spec, _pod_container), {"enableServiceLinks": True})


def _pod(obj: Manifest) -> Manifest:
    return _at(obj, "spec", _live_pod_spec)


# --- workloads -----------------------------------------------------------------------------------------

_QUARTER = "25%"


def _labels_from_template(obj: Manifest) -> Manifest:
    """ReplicationControllers take labels and selector from the template when they have none."""
    labels = ((obj.get("spec") or {}).get("template") or {}).get("metadata", {}).get("labels")
    if not labels:
        return obj
    obj = _at(obj, "spec", lambda spec: _fill_absent(spec, {"selector": labels}))
    return _at(obj, "metadata", lambda meta: _fill_absent(meta, {"labels": labels}), create=True)


def _deployment_strategy(strategy: Manifest) -> Manifest:
    strategy = _fill(strategy, {"type": "RollingUpdate"})
    if strategy["type"] != "RollingUpdate":
        return strategy
    values = {"maxSurge": _QUARTER, "maxUnavailable": _QUARTER}
    return _at(strategy, "rollingUpdate", lambda r: _fill_absent(r, values), create=True)


def _deployment_spec(spec: Manifest) -> Manifest:
    spec = _fill_absent(spec, {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600})
    return _at(_at(spec, "strategy", _deployment_strategy, create=True), "template", _template)


def _replica_set_spec(spec: Manifest) -> Manifest:
    return _at(_fill_absent(spec, {"replicas": 1}), "template", _template)


_EVENT: Manifest = {
    "eventTime": None,
    "firstTimestamp": None,
    "lastTimestamp": None,
    "source": {},
    "reportingComponent": "",
    "reportingInstance": "",
}
"""Fields of an Event that Go always writes, empty or not; clients' models require some of them."""


def _event(obj: Manifest) -> Manifest:
    return {**_EVENT, **obj}


def _replication_controller(obj: Manifest) -> Manifest:
    return _at(_labels_from_template(obj), "spec", _replica_set_spec)


def _stateful_strategy(strategy: Manifest) -> Manifest:
    strategy = _fill(strategy, {"type": "RollingUpdate"})
    if strategy["type"] != "RollingUpdate":
        return strategy
    return _at(strategy, "rollingUpdate", lambda r: _fill_absent(r, {"partition": 0}), create=True)


def _claim_in_set(claim: Manifest) -> Manifest:
    claim = _fill(claim, {"apiVersion": "v1", "kind": "PersistentVolumeClaim"})
    metadata = claim.get("metadata") or {}
    if "creationTimestamp" not in metadata:
        claim = {**claim, "metadata": {"creationTimestamp": None, **metadata}}
    return _at(_at(claim, "spec", _claim_spec), "status", _claim_status, create=True)


def _claim_status(status: Manifest) -> Manifest:
    return _fill(status, {"phase": "Pending"})


def _stateful_set_spec(spec: Manifest) -> Manifest:
    spec = _fill_absent(spec, {"replicas": 1, "revisionHistoryLimit": 10})
    spec = _fill(spec, {"podManagementPolicy": "OrderedReady"})
    spec = _at(spec, "updateStrategy", _stateful_strategy, create=True)
    retention = {"whenDeleted": "Retain", "whenScaled": "Retain"}
    spec = _at(spec, "persistentVolumeClaimRetentionPolicy", lambda p: _fill(p, retention), create=True)
    return _at(_each(spec, "volumeClaimTemplates", _claim_in_set), "template", _template)


def _daemon_strategy(strategy: Manifest) -> Manifest:
    strategy = _fill(strategy, {"type": "RollingUpdate"})
    if strategy["type"] != "RollingUpdate":
        return strategy
    values = {"maxSurge": 0, "maxUnavailable": 1}
    return _at(strategy, "rollingUpdate", lambda r: _fill_absent(r, values), create=True)


def _daemon_set_spec(spec: Manifest) -> Manifest:
    spec = _fill_absent(spec, {"revisionHistoryLimit": 10})
    return _at(_at(spec, "updateStrategy", _daemon_strategy, create=True), "template", _template)


def _job_spec(spec: Manifest) -> Manifest:
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec = {**spec, "completions": 1, "parallelism": 1}
    values: dict[str, Json] = {
        "parallelism": 1,
        "backoffLimit": 2147483647 if spec.get("backoffLimitPerIndex") is not None else 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed",
    }
    return _at(_fill_absent(spec, values), "template", _template)


def _job(obj: Manifest) -> Manifest:
    obj = _at(obj, "spec", _job_spec)
    labels = ((obj.get("spec") or {}).get("template") or {}).get("metadata", {}).get("labels")
    if not labels:
        return obj
    return _at(obj, "metadata", lambda meta: _fill_absent(meta, {"labels": labels}), create=True)


def _cron_job_spec(spec: Manifest) -> Manifest:
    values = {"suspend": False, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1}
    spec = _fill(_fill_absent(spec, values), {"concurrencyPolicy": "Allow"})
    return _at(spec, "jobTemplate", _job_template)


def _job_template(template: Manifest) -> Manifest:
    metadata = template.get("metadata")
    if metadata is None or "creationTimestamp" not in metadata:
        template = {**template, "metadata": {"creationTimestamp": None, **(metadata or {})}}
    # Defaults of the job inside are applied when the Job is made; the pod template's are applied here.
    return _at(template, "spec", lambda spec: _at(spec, "template", _template))


def _spec(change: _Default) -> _Default:
    def apply(obj: Manifest) -> Manifest:
        return _at(obj, "spec", change)

    return apply


# --- services and storage ---------------------------------------------------------------------------------


def _service_port(port: Manifest) -> Manifest:
    port = _port(port)
    target = port.get("targetPort")
    if target is None or target in (0, ""):
        port = {**port, "targetPort": port.get("port")}
    return port


def _service_spec(spec: Manifest) -> Manifest:
    spec = _fill(spec, {"sessionAffinity": "None", "type": "ClusterIP"})
    if spec["sessionAffinity"] == "ClientIP":
        spec = _at(spec, "sessionAffinityConfig", _client_ip_config, create=True)
    external = spec["type"] in ("NodePort", "LoadBalancer")
    if external or (spec["type"] == "ClusterIP" and spec.get("externalIPs")):
        spec = _fill(spec, {"externalTrafficPolicy": "Cluster"})
    if spec["type"] != "ExternalName":
        spec = _fill(spec, {"internalTrafficPolicy": "Cluster"})
    if spec["type"] == "LoadBalancer":
        spec = _fill_absent(spec, {"allocateLoadBalancerNodePorts": True})
    if spec["type"] != "ExternalName":
        families = spec.get("ipFamilies") or ["IPv4"]
        spec = _fill(spec, {"ipFamilyPolicy": "SingleStack"})
        spec = _fill_absent(spec, {"ipFamilies": families})
    return _each(spec, "ports", _service_port)


def _client_ip_config(config: Manifest) -> Manifest:
    return _at(config, "clientIP", lambda c: _fill_absent(c, {"timeoutSeconds": 10800}), create=True)


def _endpoints(obj: Manifest) -> Manifest:
    return _each(obj, "subsets", lambda subset: _each(subset, "ports", _port))


def _endpoint_slice(obj: Manifest) -> Manifest:
    return _each(obj, "ports", lambda p: _fill_absent(_port(p), {"name": ""}))


def _claim_spec(spec: Manifest) -> Manifest:
    return _fill_absent(spec, {"volumeMode": "Filesystem"})


def _claim(obj: Manifest) -> Manifest:
    return _at(_at(obj, "spec", _claim_spec), "status", _claim_status, create=True)


def _volume_spec(spec: Manifest) -> Manifest:
    spec = _fill(spec, {"persistentVolumeReclaimPolicy": "Retain"})
    spec = _fill_absent(spec, {"volumeMode": "Filesystem"})
    return _at(spec, "hostPath", lambda source: _fill_absent(source, {"type": ""}))


def _persistent_volume(obj: Manifest) -> Manifest:
    obj = _at(obj, "spec", _volume_spec)
    return _at(obj, "status", lambda s: _fill(s, {"phase": "Pending"}), create=True)


def _storage_class(obj: Manifest) -> Manifest:
    return _fill_absent(obj, {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"})


# --- the rest -----------------------------------------------------------------------------------------------


def _namespace(obj: Manifest) -> Manifest:
    name = (obj.get("metadata") or {}).get("name")
    if name:
        obj = _at(obj, "metadata", lambda m: _at(m, "labels", lambda ls: _named(ls, name), create=True))
    obj = _at(obj, "spec", lambda s: _fill_absent(s, {"finalizers": ["kubernetes"]}), create=True)
    return _at(obj, "status", lambda s: _fill(s, {"phase": "Active"}), create=True)


def _named(labels: Manifest, name: str) -> Manifest:
    key = "kubernetes.io/metadata.name"
    return labels if labels.get(key) == name else {**labels, key: name}


def _secret(obj: Manifest) -> Manifest:
    return _fill(obj, {"type": "Opaque"})


def _limit_item(item: Manifest) -> Manifest:
    limits = item.get("default") or {}
    requests = item.get("defaultRequest") or {}
    if item.get("type") != "Container":
        return item
    low, high = item.get("min") or {}, item.get("max") or {}
    limits = {**{k: v for k, v in high.items() if k not in limits}, **limits}
    requests = {**{k: v for k, v in limits.items() if k not in requests}, **requests}
    requests = {**requests, **{k: v for k, v in low.items() if k not in requests}}
    out = item
    for key, value in (("default", limits), ("defaultRequest", requests)):
        if value and out.get(key) != value:
            out = {**out, key: value}
    return out


_RBAC_GROUP = "rbac.authorization.k8s.io"


def _binding(obj: Manifest) -> Manifest:
    obj = _at(obj, "roleRef", lambda ref: _fill(ref, {"apiGroup": _RBAC_GROUP}))
    return _each(obj, "subjects", _subject)


def _subject(subject: Manifest) -> Manifest:
    if subject.get("kind") in ("User", "Group"):
        return _fill(subject, {"apiGroup": _RBAC_GROUP})
    return subject


_CPU_80 = [
    {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
    }
]


def _hpa_v2_spec(spec: Manifest) -> Manifest:
    spec = _fill_absent(spec, {"minReplicas": 1})
    if not spec.get("metrics"):
        spec = {**spec, "metrics": _CPU_80}
    return _at(spec, "behavior", _hpa_behavior)


_SCALE_UP = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}


def _hpa_behavior(behavior: Manifest) -> Manifest:
    behavior = _at(behavior, "scaleUp", lambda r: _fill_absent(r, _SCALE_UP), create=True)
    return _at(behavior, "scaleDown", lambda r: _fill_absent(r, _SCALE_DOWN), create=True)


def _hpa_v1_spec(spec: Manifest) -> Manifest:
    return _fill_absent(spec, {"minReplicas": 1})


def _network_policy_spec(spec: Manifest) -> Manifest:
    if not spec.get("policyTypes"):
        types = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        spec = {**spec, "policyTypes": types}
    for direction in ("ingress", "egress"):
        spec = _each(spec, direction, lambda rule: _each(rule, "ports", _port))
    return spec


def _network_policy(obj: Manifest) -> Manifest:
    return _at(obj, "spec", _network_policy_spec)


def _priority_class(obj: Manifest) -> Manifest:
    return _fill_absent(obj, {"preemptionPolicy": "PreemptLowerPriority"})


def _webhook(defaults: Mapping[str, Json]) -> _Default:
    def apply(webhook: Manifest) -> Manifest:
        webhook = _fill_absent(webhook, {**defaults, "namespaceSelector": {}, "objectSelector": {}})
        webhook = _at(webhook, "clientConfig", lambda c: _at(c, "service", _webhook_service))
        return _each(webhook, "rules", lambda rule: _fill_absent(rule, {"scope": "*"}))

    return apply


def _webhook_service(service: Manifest) -> Manifest:
    return _fill_absent(service, {"port": 443})


_WEBHOOK = {"failurePolicy": "Fail", "matchPolicy": "Equivalent", "timeoutSeconds": 10}
_validating = _webhook(_WEBHOOK)
_mutating = _webhook({**_WEBHOOK, "reinvocationPolicy": "Never"})


def _policy_spec(spec: Manifest) -> Manifest:
    spec = _fill_absent(spec, {"failurePolicy": "Fail"})
    return _at(spec, "matchConstraints", _match_resources)


def _match_resources(match: Manifest) -> Manifest:
    match = _fill_absent(match, {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}})
    for field in ("resourceRules", "excludeResourceRules"):
        match = _each(match, field, lambda rule: _fill_absent(rule, {"scope": "*"}))
    return match


def _crd_spec(spec: Manifest) -> Manifest:
    spec = _at(spec, "names", _crd_names)
    return _at(spec, "conversion", lambda c: _fill(c, {"strategy": "None"}), create=True)


def _crd_names(names: Manifest) -> Manifest:
    kind = names.get("kind") or ""
    return _fill(names, {"singular": kind.lower(), "listKind": f"{kind}List"}) if kind else names


def _csi_driver_spec(spec: Manifest) -> Manifest:
    values: dict[str, Json] = {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "volumeLifecycleModes": ["Persistent"],
        "requiresRepublish": False,
        "seLinuxMount": False,
    }
    return _fill_absent(spec, values)


def _api_service_spec(spec: Manifest) -> Manifest:
    return _at(spec, "service", _webhook_service)


def _ingress_class_spec(spec: Manifest) -> Manifest:
    return _at(spec, "parameters", lambda found: _fill_absent(found, {"scope": "Cluster"}))


DEFAULT_PRECEDENCE = 1000
"""``matchingPrecedence`` of a FlowSchema that names none."""


def _flow_schema_spec(spec: Manifest) -> Manifest:
    return spec if spec.get("matchingPrecedence") else {**spec, "matchingPrecedence": DEFAULT_PRECEDENCE}


def _priority_level_spec(spec: Manifest) -> Manifest:
    values: dict[str, Json] = {"nominalConcurrencyShares": 30, "lendablePercent": 0}
    spec = _at(
        spec, "limited", lambda limited: _at(_fill_absent(limited, values), "limitResponse", _limit_response)
    )
    shares: dict[str, Json] = {"nominalConcurrencyShares": 0, "lendablePercent": 0}
    return _at(spec, "exempt", lambda exempt: _fill_absent(exempt, shares))


def _limit_response(response: Manifest) -> Manifest:
    missing = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}
    return _at(response, "queuing", lambda q: {**q, **{k: v for k, v in missing.items() if not q.get(k)}})


def _node(obj: Manifest) -> Manifest:
    status = obj.get("status")
    if status and status.get("capacity") and not status.get("allocatable"):
        return {**obj, "status": {**status, "allocatable": status["capacity"]}}
    return obj


_DEFAULTS: dict[tuple[str, str], _Default] = {
    ("v1", "Pod"): _pod,
    ("v1", "PodTemplate"): lambda obj: _at(obj, "template", _template),
    ("v1", "ReplicationController"): _replication_controller,
    ("v1", "Event"): _event,
    ("v1", "Service"): _spec(_service_spec),
    ("v1", "Endpoints"): _endpoints,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("v1", "PersistentVolume"): _persistent_volume,
    ("v1", "Namespace"): _namespace,
    ("v1", "Secret"): _secret,
    ("v1", "Node"): _node,
    ("v1", "LimitRange"): _spec(lambda spec: _each(spec, "limits", _limit_item)),
    ("apps/v1", "Deployment"): _spec(_deployment_spec),
    ("apps/v1", "ReplicaSet"): _spec(_replica_set_spec),
    ("apps/v1", "StatefulSet"): _spec(_stateful_set_spec),
    ("apps/v1", "DaemonSet"): _spec(_daemon_set_spec),
    ("batch/v1", "Job"): _job,
    ("batch/v1", "CronJob"): _spec(_cron_job_spec),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): _spec(_hpa_v2_spec),
    ("autoscaling/v1", "HorizontalPodAutoscaler"): _spec(_hpa_v1_spec),
    ("networking.k8s.io/v1", "NetworkPolicy"): _network_policy,
    ("discovery.k8s.io/v1", "EndpointSlice"): _endpoint_slice,
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): _binding,
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): _binding,
    ("storage.k8s.io/v1", "StorageClass"): _storage_class,
    ("storage.k8s.io/v1", "CSIDriver"): _spec(_csi_driver_spec),
    ("scheduling.k8s.io/v1", "PriorityClass"): _priority_class,
    ("networking.k8s.io/v1", "IngressClass"): _spec(_ingress_class_spec),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"): _spec(_flow_schema_spec),
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"): _spec(_priority_level_spec),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): _spec(_crd_spec),
    ("apiregistration.k8s.io/v1", "APIService"): _spec(_api_service_spec),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"): lambda obj: _each(
        obj, "webhooks", _validating
    ),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"): lambda obj: _each(
        obj, "webhooks", _mutating
    ),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"): _spec(_policy_spec),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"): _spec(
        lambda spec: _at(spec, "matchResources", _match_resources)
    ),
}


def apply_defaults(resource: Resource, obj: Manifest) -> Manifest:
    """The object with the defaults of its kind, and with ``apiVersion`` and ``kind`` set.

    The object must have been decoded (see :func:`sregym_env.kube.schema.decode`).
    """
    if obj.get("apiVersion") != resource.api_version or obj.get("kind") != resource.kind:
        rest = {k: v for k, v in obj.items() if k not in ("apiVersion", "kind")}
        obj = {"apiVersion": resource.api_version, "kind": resource.kind, **rest}
    if resource.custom_type is not None:
        filled: Manifest = apply_schema_defaults(resource.custom_type.schema, obj)
        return filled
    change = _DEFAULTS.get((resource.api_version, resource.kind))
    return obj if change is None else change(obj)
