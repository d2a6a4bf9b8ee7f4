"""What protects less than it did, by meaning: single objects before and after."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.cluster.inventory import ObjectKey
from sregym_env.kube.types import Manifest
from sregym_env.rewards import flows, probing, weaker
from sregym_env.rewards.baseline import Baseline

SPACE = "shop"
SLICE = {
    "metadata": {"labels": {"kubernetes.io/service-name": "x"}},
    "endpoints": [{"conditions": {"ready": True}, "targetRef": {"name": "x-1"}}],
}
"""The Service ``x`` leads to a pod; every other one to none."""

WORLD: Any = SimpleNamespace(
    app=SimpleNamespace(namespaces=(SPACE,), components=(), by_name={}),
    cluster=SimpleNamespace(
        list=lambda resource, _: [SLICE] if resource.startswith("endpointslices") else []
    ),
)

KEYS = {
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
    "Service": "services",
    "Ingress": "ingresses.networking.k8s.io",
    "ConfigMap": "configmaps",
    "Secret": "secrets",
    "Node": "nodes",
    "NetworkPolicy": "networkpolicies.networking.k8s.io",
    "ResourceQuota": "resourcequotas",
    "PodDisruptionBudget": "poddisruptionbudgets.policy",
    "HorizontalPodAutoscaler": "horizontalpodautoscalers.autoscaling",
    "ClusterRole": "clusterroles.rbac.authorization.k8s.io",
    "ClusterRoleBinding": "clusterrolebindings.rbac.authorization.k8s.io",
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "Namespace": "namespaces",
    "Pod": "pods",
}


def obj(kind: str, name: str = "a", **parts: Any) -> tuple[ObjectKey, Manifest]:
    """An object with its key; ``labels`` go into its metadata."""
    labels = parts.pop("labels", {})
    metadata = {"name": name, "namespace": SPACE, "labels": labels}
    return (KEYS[kind], SPACE, name), {"kind": kind, "metadata": metadata, **parts}


def workload(
    name: str = "a", kind: str = "Deployment", labels: Any = None, **spec: Any
) -> tuple[ObjectKey, Manifest]:
    """A workload of one container ``c``; ``container`` are its fields, ``set`` those of the workload's own spec."""
    container = {"name": "c", "image": "docker.io/library/mongo:4.4", **spec.pop("container", {})}
    own = spec.pop("set", {})
    pod = {"metadata": {"labels": labels or {"app": name}}, "spec": {"containers": [container], **spec}}
    return obj(kind, name, spec={**own, "template": pod})


def failed(
    before: list[tuple[ObjectKey, Manifest]],
    now: list[tuple[ObjectKey, Manifest]],
    added: list[tuple[ObjectKey, Manifest]] = [],  # noqa: B006
) -> dict[str, str]:
    """The failed checks and what they say."""
    baseline = Baseline((SPACE,), dict(before), {}, {}, {})
    found = weaker.checks(WORLD, baseline, {**dict(now), **dict(added)}, (), dict(added))
    return {check.name: check.observed for check in found if not check.passed}


PROBE = {"tcpSocket": {"port": 27017}, "periodSeconds": 10, "failureThreshold": 3}
PORTS = [{"containerPort": 27017, "name": "mongo"}]


def probed(**changes: Any) -> tuple[ObjectKey, Manifest]:
    """A workload whose liveness probe is changed."""
    return workload(container={"ports": PORTS, "livenessProbe": {**PROBE, **changes}})


def otherwise(probe: Any) -> tuple[ObjectKey, Manifest]:
    """A workload with another liveness probe."""
    return workload(container={"ports": PORTS, "livenessProbe": probe})


def configured(**source: Any) -> tuple[ObjectKey, Manifest]:
    """A workload that needs a mounted ConfigMap."""
    mount = {"volumeMounts": [{"name": "v", "mountPath": "/etc/app"}]}
    return workload(container=mount, volumes=[{"name": "v", "configMap": {"name": "settings", **source}}])


def beside(found: tuple[ObjectKey, Manifest], container: Any) -> tuple[ObjectKey, Manifest]:
    """A workload with one more container."""
    key, obj_ = found
    pod = obj_["spec"]["template"]
    spec = {**pod["spec"], "containers": [*pod["spec"]["containers"], container]}
    return key, {**obj_, "spec": {"template": {**pod, "spec": spec}}}


def marked(**metadata: Any) -> tuple[ObjectKey, Manifest]:
    """A workload with more in its metadata."""
    key, found = workload()
    return key, {**found, "metadata": {**found["metadata"], **metadata}}


def named_like(value: str) -> tuple[ObjectKey, Manifest]:
    """A workload with a variable of its own."""
    return workload(container={"env": [{"name": "ADDR", "value": value}]})


def taken_whole(name: str) -> tuple[ObjectKey, Manifest]:
    """A workload that takes all variables from a ConfigMap."""
    return workload(container={"envFrom": [{"configMapRef": {"name": name}}]})


def from_secret(**ref: Any) -> dict[str, Any]:
    """A container with a password from a Secret."""
    source = {"name": "s", "key": "password", **ref}
    return {"env": [{"name": "P", "valueFrom": {"secretKeyRef": source}}]}


BUDGET = {"expectedPods": 2, "desiredHealthy": 1}
LIMITED = {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}
RULE = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]}
HOOK = {"name": "h", "failurePolicy": "Fail", "clientConfig": {"caBundle": "one", "service": {"name": "s"}}}


@pytest.mark.parametrize(
    ("before", "now", "check"),
    [
        (probed(), workload(container={"ports": PORTS}), "policy"),
        (probed(), probed(periodSeconds=900), "policy"),
        (probed(), probed(initialDelaySeconds=31 * 86400), "policy"),
        (probed(), probed(failureThreshold=100_000), "policy"),
        (probed(), probed(timeoutSeconds=3600), "policy"),
        (probed(), probed(periodSeconds=20, timeoutSeconds=5), ""),
        (probed(), probed(periodSeconds=5, failureThreshold=2), ""),
        (probed(), otherwise({"exec": {"command": ["true"]}}), "policy"),
        (probed(), otherwise({"exec": {"command": ["sh", "-c", "nc -z localhost 27017"]}}), ""),
        (probed(), otherwise({"tcpSocket": {"port": "mongo"}}), ""),
        (probed(), otherwise({"httpGet": {"port": 8080, "path": "/"}}), "policy"),
        (workload(), probed(), ""),
        (workload(), probed(periodSeconds=3600), "policy"),
        (workload(container=LIMITED), workload(), "policy"),
        (workload(container=LIMITED), workload(container={"resources": {"limits": {"cpu": "0", "memory": "1Gi"}}}), "policy"),
        (workload(container=LIMITED), workload(container={"resources": {"limits": {"cpu": "4", "memory": "2Gi"}}}), ""),
        (workload(container={"args": ["--auth"]}), workload(), "policy"),
        (workload(), workload(container={"image": "mirror.example/mongo:4.4.6"}), ""),
        (workload(), workload(container={"image": "nginx:1"}), "policy"),
        (workload(), workload(set={"paused": True}), "policy"),
        (workload(kind="StatefulSet"), workload(kind="StatefulSet", set={"updateStrategy": {"type": "OnDelete"}}), "policy"),
        (workload(kind="StatefulSet"),
         workload(kind="StatefulSet", set={"updateStrategy": {"rollingUpdate": {"partition": 1}}}), "policy"),
        (workload(), workload(container={"securityContext": {"privileged": True}}), "privileges"),
        (workload(), workload(container={"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}), "privileges"),
        (workload(), workload(hostNetwork=True), "privileges"),
        (workload(), workload(volumes=[{"name": "r", "hostPath": {"path": "/"}}]), "privileges"),
        (workload(), workload(container={"ports": [{"containerPort": 1, "hostPort": 1}]}), "privileges"),
        (workload(), workload(container={"ports": [{"containerPort": 1}]}), ""),
        (workload(securityContext={"runAsNonRoot": True}), workload(), "privileges"),
        (workload(container={"securityContext": {"capabilities": {"drop": ["NET_RAW"]}}}), workload(), "privileges"),
        (workload(), workload(securityContext={"runAsNonRoot": True}), ""),
        (obj("ClusterRole", rules=[RULE]), obj("ClusterRole", rules=[RULE, {**RULE, "verbs": ["*"]}]), "privileges"),
        (obj("ClusterRole", rules=[RULE]), obj("ClusterRole", rules=[{**RULE, "verbs": ["get"]}]), ""),
        (obj("ClusterRole", rules=[{**RULE, "verbs": ["*"]}]), obj("ClusterRole", rules=[RULE]), ""),
        (obj("ClusterRoleBinding", subjects=[]), obj("ClusterRoleBinding", subjects=[{"name": "x"}]), "privileges"),
        (obj("Namespace", labels={"pod-security.kubernetes.io/enforce": "restricted"}), obj("Namespace"), "privileges"),
        (obj("Namespace", labels={"pod-security.kubernetes.io/warn": "restricted"}), obj("Namespace", labels={"pod-security.kubernetes.io/warn": "baseline"}), "privileges"),
        (obj("Namespace", labels={"pod-security.kubernetes.io/audit": "baseline"}), obj("Namespace"), "privileges"),
        (obj("Namespace", labels={"pod-security.kubernetes.io/enforce": "restricted"}), obj("Namespace", labels={"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "v1.19"}), "privileges"),
        (obj("Namespace", labels={"pod-security.kubernetes.io/enforce": "privileged"}), obj("Namespace", labels={"team": "a"}), ""),
        (obj("Namespace"), obj("Namespace", labels={"pod-security.kubernetes.io/enforce": "baseline"}), ""),
        (obj("Service", spec={}), obj("Service", spec={"type": "NodePort"}), "exposure"),
        (obj("Service", spec={"type": "LoadBalancer"}), obj("Service", spec={"type": "NodePort"}), ""),
        (obj("Service", spec={}), obj("Service", spec={"externalIPs": ["192.0.2.1"]}), "exposure"),
        (obj("Service", spec={}), obj("Service", spec={"publishNotReadyAddresses": True}), "exposure"),
        (obj("Ingress", spec={}), obj("Ingress", spec={"defaultBackend": {"service": {"name": "db"}}}), "exposure"),
        (obj("ResourceQuota", spec={"hard": {"pods": "20"}}), obj("ResourceQuota", spec={"hard": {"pods": "200"}}), "guards"),
        (obj("ResourceQuota", spec={"hard": {"pods": "20"}}), obj("ResourceQuota", spec={"hard": {}}), "guards"),
        (obj("ResourceQuota", spec={"hard": {"memory": "1Gi"}}), obj("ResourceQuota", spec={"hard": {"memory": "1024Mi"}}), ""),
        (obj("PodDisruptionBudget", spec={"minAvailable": 2}), obj("PodDisruptionBudget", spec={"minAvailable": 1}), "guards"),
        (obj("PodDisruptionBudget", spec={"maxUnavailable": 1}),
         obj("PodDisruptionBudget", spec={"maxUnavailable": "50%"}), "guards"),
        (obj("PodDisruptionBudget", spec={"minAvailable": 1}), obj("PodDisruptionBudget", spec={"minAvailable": 2}), ""),
        (obj("HorizontalPodAutoscaler", spec={"maxReplicas": 9}), obj("HorizontalPodAutoscaler", spec={"maxReplicas": 1}), "guards"),
        (obj("HorizontalPodAutoscaler", spec={"maxReplicas": 3}), obj("HorizontalPodAutoscaler", spec={"maxReplicas": 9}), ""),
        (obj("MutatingWebhookConfiguration", webhooks=[HOOK]), obj("MutatingWebhookConfiguration", webhooks=[]), "guards"),
        (obj("MutatingWebhookConfiguration", webhooks=[HOOK]),
         obj("MutatingWebhookConfiguration", webhooks=[{**HOOK, "failurePolicy": "Ignore"}]), "guards"),
        (obj("MutatingWebhookConfiguration", webhooks=[HOOK]),
         obj("MutatingWebhookConfiguration", webhooks=[{**HOOK, "clientConfig": {"caBundle": "two", "service": {"name": "s"}}}]), ""),
        (workload(), workload(nodeName="n1"), "bypass"),
        (workload(), workload(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["db"]}]), "bypass"),
        (workload(), workload(tolerations=[{"operator": "Exists"}]), "bypass"),
        (workload(), workload(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]), "bypass"),
        (workload(), workload(tolerations=[{"key": "dedicated", "operator": "Exists"}]), ""),
        (workload(container={"env": [{"name": "A", "value": "b"}]}), workload(), "policy"),
        (configured(), workload(), "bypass"),
        (configured(), configured(optional=True), "bypass"),
        (configured(), configured(name="other"), ""),
        (configured(optional=True), workload(), ""),
        (workload(), beside(workload(), {"name": "more", "image": "busybox"}), "bypass"),
        (workload(container=from_secret()), workload(container=from_secret(optional=True)), "bypass"),
        (workload(container=from_secret(optional=True)), workload(container=from_secret(optional=True, name="t")), ""),
        (workload(container=from_secret()), workload(container=from_secret(name="t")), ""),
        (workload(container=from_secret()), workload(container={"env": [{"name": "P", "value": "x"}]}), ""),
        (workload(), workload(set={"revisionHistoryLimit": 0}), "policy"),
        (workload(), workload(set={"revisionHistoryLimit": 2}), ""),
        (workload(), workload(set={"minReadySeconds": 600}), "policy"),
        (workload(), workload(set={"minReadySeconds": 60}), ""),
        (workload(), workload(set={"progressDeadlineSeconds": 3600}), ""),
        (workload(), workload(terminationGracePeriodSeconds=0), "policy"),
        (workload(), workload(terminationGracePeriodSeconds=10), ""),
        (workload(terminationGracePeriodSeconds=60), workload(terminationGracePeriodSeconds=10), "policy"),
        (workload(), workload(container={"lifecycle": {"postStart": {"exec": {"command": ["true"]}}}}), "bypass"),
        (workload(), workload(container={"lifecycle": {"preStop": {"exec": {"command": ["sleep", "5"]}}}}), ""),
        (workload(), workload(container={"image": "mongo"}), "policy"),
        (workload(), workload(container={"image": "mongo:latest"}), "policy"),
        (workload(), workload(container={"image": "mongo@sha256:00"}), ""),
        (workload(container={"image": "mongo"}), workload(container={"image": "mirror.example:5000/mongo"}), ""),
        (workload(), marked(finalizers=["example.com/kept"]), "policy"),
        (workload(), marked(finalizers=["service.kubernetes.io/load-balancer-cleanup"]), ""),
        (workload(), marked(ownerReferences=[{"uid": "1", "kind": "ConfigMap", "name": "x"}]), "policy"),
        (obj("PodDisruptionBudget", spec={"minAvailable": 1}, status=BUDGET),
         obj("PodDisruptionBudget", spec={"minAvailable": 2}, status={**BUDGET, "desiredHealthy": 2}), "guards"),
        (obj("PodDisruptionBudget", spec={"minAvailable": 2}, status={**BUDGET, "desiredHealthy": 2}),
         obj("PodDisruptionBudget", spec={"minAvailable": "100%"}, status={**BUDGET, "desiredHealthy": 2}), "guards"),
        (obj("ConfigMap", data={"a": "b"}), obj("ConfigMap", data={"a": "b", "c": "d"}), ""),
    ],
)  # fmt: skip
def test_meanings_are_compared(before: Any, now: Any, check: str) -> None:
    assert list(failed([before], [now])) == ([check] if check else [])
    assert failed([now], [now]) == {}


@pytest.mark.parametrize(
    ("added", "check"),
    [
        (workload("x", container={"securityContext": {"privileged": True}}), "privileges"),
        (workload("x", volumes=[{"name": "r", "hostPath": {"path": "/"}}]), "privileges"),
        (obj("Pod", "x", spec={"hostPID": True}), "privileges"),
        (obj("ClusterRoleBinding", "x", subjects=[{"name": "me"}]), "privileges"),
        (obj("Service", "x", spec={"type": "LoadBalancer"}), "exposure"),
        (obj("Ingress", "x", spec={}), "exposure"),
        (workload("x", nodeName="n1"), "bypass"),
        (workload("x"), ""),
        (obj("MutatingWebhookConfiguration", "x", webhooks=[HOOK]), "guards"),
        (obj("PodDisruptionBudget", "x", spec={}, status={**BUDGET, "desiredHealthy": 2}), "guards"),
        (obj("PodDisruptionBudget", "x", spec={}, status=BUDGET), ""),
        (
            obj("PodDisruptionBudget", "x", spec={}, status={"conditions": [{"reason": "SyncFailed"}]}),
            "guards",
        ),
        (obj("Service", "x", spec={"type": "ClusterIP"}), ""),
        (obj("Service", "y", spec={"type": "ClusterIP"}), "bypass"),
    ],
)
def test_what_is_new_may_do_no_more(added: Any, check: str) -> None:
    assert list(failed([workload()], [workload()], [added])) == ([check] if check else [])


NODES = [
    obj("Node", name, labels={"kubernetes.io/hostname": name, "zone": zone})
    for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b"))
]
CLAIM = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}


def required(key: str, *values: str) -> dict[str, Any]:
    """Node affinity."""
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


@pytest.mark.parametrize(
    ("before", "now", "pinned"),
    [
        ({}, {"nodeSelector": {"kubernetes.io/hostname": "n1"}}, True),
        ({}, {"nodeSelector": {"zone": "b"}}, True),
        ({}, {"nodeSelector": {"zone": "a"}}, False),
        ({}, {"affinity": required("kubernetes.io/hostname", "n2")}, True),
        ({}, {"affinity": required("kubernetes.io/hostname", "n2", "n3")}, False),
        ({"nodeSelector": {"zone": "b"}}, {"nodeSelector": {"kubernetes.io/hostname": "n1"}}, False),
        # What lies on a volume runs where that is.
        ({"volumes": [CLAIM]}, {"volumes": [CLAIM], "nodeSelector": {"kubernetes.io/hostname": "n1"}}, False),
    ],
)
def test_pods_may_run_on_more_than_one_node(before: Any, now: Any, pinned: bool) -> None:
    found = failed([*NODES, workload(**before)], [*NODES, workload(**now)])
    assert list(found) == (["policy"] if pinned else [])


SECRET = obj("Secret", "s", data={"password": "Y29ycmVjdCBob3JzZQ=="})


@pytest.mark.parametrize(
    ("before", "now", "shows"),
    [
        (workload(), workload(container={"env": [{"name": "P", "value": "correct horse"}]}), True),
        (workload(), workload(container={"args": ["--password=correct horse"]}), True),
        (obj("ConfigMap"), obj("ConfigMap", data={"all": "x Y29ycmVjdCBob3JzZQ== y"}), True),
        (obj("ConfigMap"), obj("ConfigMap", data={"all": "correct"}), False),
        (obj("ConfigMap", data={"p": "correct horse"}), obj("ConfigMap", data={"p": "correct horse", "q": ""}), False),
    ],
)  # fmt: skip
def test_what_is_in_a_secret_stays_there(before: Any, now: Any, shows: bool) -> None:
    found = failed([SECRET, before], [SECRET, now])
    assert ("exposure" in found) == shows
    # What stood somewhere in the clear is no secret.
    known = obj("ConfigMap", "open", data={"p": "correct horse", "q": "Y29ycmVjdCBob3JzZQ=="})
    assert "exposure" not in failed([SECRET, known, before], [SECRET, known, now])


@pytest.mark.parametrize(
    ("labels", "passes"), [({"app": "db"}, True), ({"app": "db", "x": "y"}, True), ({"app": "copy"}, False)]
)
def test_what_is_new_does_not_pass_for_what_was_there(labels: Any, passes: bool) -> None:
    served = obj("Service", "x", spec={"selector": {"app": "db"}})
    assert ("bypass" in failed([served], [served], [workload("twin", labels=labels)])) == passes


def policy(name: str, **spec: Any) -> tuple[ObjectKey, Manifest]:
    """A network policy for the database."""
    return obj("NetworkPolicy", name, spec={"podSelector": {"matchLabels": {"app": "db"}}, **spec})


DB = workload("db", container={"ports": PORTS})
WEB, BATCH = workload("web"), workload("batch")
FROM_WEB = {"from": [{"podSelector": {"matchLabels": {"app": "web"}}}]}
CLOSED = policy("db", policyTypes=["Ingress"], ingress=[FROM_WEB])


@pytest.mark.parametrize(
    ("now", "opened"),
    [
        ([CLOSED], ""),
        ([policy("db", policyTypes=["Ingress"], ingress=[{**FROM_WEB, "ports": [{"port": 27017}]}])], ""),
        ([policy("db", policyTypes=["Ingress"], ingress=[{**FROM_WEB, "ports": [{"port": "mongo"}]}])], ""),
        ([policy("db", policyTypes=["Ingress"], ingress=[])], ""),
        ([policy("db", policyTypes=["Ingress", "Egress"], ingress=[FROM_WEB])], ""),
        ([policy("db", policyTypes=["Ingress"], ingress=[{}])], "batch"),
        ([policy("db", policyTypes=["Egress"])], "batch"),
        ([CLOSED, policy("more", policyTypes=["Ingress"], ingress=[{"from": [{"podSelector": {}}]}])], "batch"),
        ([CLOSED, policy("far", policyTypes=["Ingress"], ingress=[{"from": [{"namespaceSelector": {}}]}])], "batch"),
        ([CLOSED, policy("all", policyTypes=["Ingress"], ingress=[{"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}])], "batch"),
        ([CLOSED, policy("dns", policyTypes=["Ingress"], ingress=[{"ports": [{"port": 53}]}])], ""),
        ([], "batch"),
        ([CLOSED, policy("out", policyTypes=["Egress"])], ""),
    ],
)  # fmt: skip
def test_policies_are_compared_by_what_they_let_through(now: Any, opened: str) -> None:
    works = [DB, WEB, BATCH]
    found = failed([*works, CLOSED], [*works, *now])
    assert set(found) == ({"network"} if opened else set())
    assert opened in found.get("network", "")


@pytest.mark.parametrize(("key", "lost"), [("ADDR", False), ("ADDRESS", True)])
def test_a_setting_may_come_from_a_whole_configmap(key: str, lost: bool) -> None:
    settings = obj("ConfigMap", "settings", data={key: "geo:8083"})
    found = failed([named_like("geo:8083")], [taken_whole("settings"), settings])
    assert ("lost its setting ADDR" in found.get("policy", "")) == lost


def test_a_way_out_is_told_by_any_port() -> None:
    dns_and_web = [{"ports": [{"port": 53}, {"port": 443}]}]
    few = policy("out", policyTypes=["Egress"], egress=dns_and_web)
    more = policy("more", policyTypes=["Egress"], egress=[{}])
    assert "may reach addresses outside" in failed([DB, few], [DB, few, more])["network"]
    assert failed([DB, few], [DB, few, policy("more", policyTypes=["Egress"], egress=dns_and_web)]) == {}


def test_a_new_label_lets_nobody_out_of_a_policy() -> None:
    relabelled = workload("db", labels={"app": "free"}, container={"ports": PORTS})
    assert "network" in failed([DB, WEB, BATCH, CLOSED], [relabelled, WEB, BATCH, CLOSED])


PEERS = st.sampled_from(
    [{"podSelector": {}}, {"podSelector": {"matchLabels": {"app": "web"}}}, {"namespaceSelector": {}}]
)
RULES = st.fixed_dictionaries(
    {}, optional={"from": st.lists(PEERS, max_size=2), "ports": st.lists(st.sampled_from([{"port": 27017}, {"port": 1}]), max_size=2)}
)  # fmt: skip


@given(st.lists(RULES, max_size=3), st.lists(RULES, max_size=3))
def test_more_rules_never_let_through_less(some: list[Any], more: list[Any]) -> None:
    ends = flows.ends(dict([DB, WEB, BATCH]), [SPACE])
    few = [policy("db", policyTypes=["Ingress"], ingress=some)[1]]
    all_ = [policy("db", policyTypes=["Ingress"], ingress=[*some, *more])[1]]
    assert flows.opened(all_, few, ends, ends) == []
    assert flows.opened(few, few, ends, ends) == []


@given(st.integers(1, 60), st.integers(1, 6), st.integers(1, 30))
def test_a_probe_that_is_quicker_is_never_weaker(period: int, failures: int, timeout: int) -> None:
    slow = {**PROBE, "periodSeconds": period, "failureThreshold": failures, "timeoutSeconds": timeout}
    quick = {**slow, "failureThreshold": max(1, failures - 1)}
    ports = {"ports": PORTS}
    assert not list(probing.weaker({**ports, "livenessProbe": slow}, {**ports, "livenessProbe": quick}))


CALLS = [("deployments/web -n shop", "deployments/db -n shop")]


@pytest.mark.parametrize(
    ("now", "closed"),
    [
        ([CLOSED], False),
        ([policy("db", policyTypes=["Ingress"], ingress=[])], True),
        ([policy("db", policyTypes=["Ingress"], ingress=[{"ports": [{"port": 1}]}])], True),
        ([CLOSED, obj("NetworkPolicy", "out", spec={"podSelector": {}, "policyTypes": ["Egress"]})], True),
        ([], False),
    ],
)
def test_what_an_application_calls_stays_open(now: Any, closed: bool) -> None:
    ends = flows.ends(dict([DB, WEB, BATCH]), [SPACE])
    found = flows.closed([CLOSED[1]], [each for _, each in now], ends, ends, CALLS)
    assert bool(found) == closed


@pytest.mark.parametrize(
    ("selector", "unasked"),
    [
        ({"matchLabels": {"policy": "on"}}, True),
        ({"matchExpressions": [{"key": "skip", "operator": "DoesNotExist"}]}, True),
        ({"matchLabels": {"kubernetes.io/metadata.name": "a"}}, False),
        ({}, False),
    ],
)
def test_no_label_leads_a_namespace_past_a_webhook(selector: Any, unasked: bool) -> None:
    hooks = obj("MutatingWebhookConfiguration", "h", webhooks=[{"name": "x", "namespaceSelector": selector}])
    own = {"kubernetes.io/metadata.name": "a"}
    before, now = (
        obj("Namespace", labels={**own, "policy": "on"}),
        obj("Namespace", labels={**own, "skip": ""}),
    )
    assert ("guards" in failed([before, hooks], [now, hooks])) is unasked
