"""Repairs that nobody declared and that are right all the same: each earns the reward."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from .playing import NAMESPACE, tried, why

N = f"-n {NAMESPACE}"


def patched(resource: str, patch: object, kind: str = "json") -> str:
    """A patch command."""
    return f"kubectl patch {resource} {N} --type={kind} -p '{json.dumps(patch)}'"


def applied(text: str) -> str:
    """``kubectl apply`` of a here-document."""
    return f"kubectl apply -f - <<'EOF'\n{text}\nEOF"


def restarted(*names: str) -> list[str]:
    """Restart Deployments and give them time."""
    return [f"kubectl rollout restart {' '.join(f'deploy/{name}' for name in names)} {N}", "sleep 120"]


def recreated(resource: str, change: str = ".") -> list[str]:
    """An object saved, deleted and created again from the file."""
    clean = "del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .status)"
    return [
        f"kubectl get {resource} {N} -o json | jq '{clean} | {change}' > /tmp/again.json",
        f"kubectl delete {resource} {N}",
        "kubectl create -f /tmp/again.json",
    ]


CONTAINER = "/spec/template/spec/containers/0"

ALLOW = f"""apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: allow-geo, namespace: {NAMESPACE}}}
spec:
  podSelector: {{matchLabels: {{io.kompose.service: geo}}}}
  policyTypes: [Ingress, Egress]
  ingress: [{{}}]
  egress: [{{}}]"""

DEFAULTS = f"""apiVersion: v1
kind: LimitRange
metadata: {{name: defaults, namespace: {NAMESPACE}}}
spec:
  limits:
  - type: Container
    default: {{memory: 512Mi}}
    defaultRequest: {{memory: 32Mi}}"""

SERVICE = f"""apiVersion: v1
kind: Service
metadata: {{name: mongodb-rate, namespace: {NAMESPACE}}}
spec:
  selector: {{io.kompose.service: mongodb-rate}}
  ports: [{{name: mongo, port: 27017}}]"""

REPAIRS: dict[str, tuple[str, str, Sequence[str]]] = {
    "target_port_by_edit_of_the_pods_port_name": (
        "service_target_port_mismatch",
        "frontend",
        [patched("service/frontend", {"spec": {"ports": [{"port": 5000, "targetPort": 5000}]}}, "merge")],
    ),
    "target_port_by_recreating_the_service": (
        "service_target_port_mismatch",
        "mongodb-rate",
        [
            *recreated(
                "service/mongodb-rate",
                ".spec.ports[0].targetPort = 27017 | del(.spec.clusterIP, .spec.clusterIPs)",
            ),
            *restarted("rate"),
        ],
    ),
    "target_port_by_a_service_of_ones_own_writing": (
        "service_target_port_mismatch",
        "mongodb-rate",
        [f"kubectl delete service mongodb-rate {N}", applied(SERVICE), *restarted("rate")],
    ),
    "target_port_by_sed": (
        "service_target_port_mismatch",
        "frontend",
        [
            f"kubectl get service frontend {N} -o yaml | sed 's/targetPort: .*/targetPort: 5000/' | kubectl apply -f -"
        ],
    ),
    "missing_service_by_expose": (
        "missing_service",
        "mongodb-rate",
        [f"kubectl expose deployment mongodb-rate --port=27017 {N}", *restarted("rate")],
    ),
    "service_port_by_replace": (
        "service_port_mismatch",
        "mongodb-rate",
        [
            f"kubectl get service mongodb-rate {N} -o json | jq '.spec.ports[0].port = 27017' | kubectl replace -f -",
            *restarted("rate"),
        ],
    ),
    "selector_by_set_selector": (
        "service_selector_mismatch",
        "memcached-rate",
        [f"kubectl set selector service memcached-rate io.kompose.service=memcached-rate {N}"],
    ),
    "wrong_pods_by_taking_the_label_from_the_stranger": (
        "service_wrong_pod_selection",
        "frontend",
        [
            patched(
                f"deploy/{name}", [{"op": "remove", "path": "/spec/template/metadata/labels/service-route"}]
            )
            for name in ("search",)
        ]
        + ["sleep 60"],
    ),
    "policy_by_an_allow_rule": ("network_policy_block", "geo", [applied(ALLOW), *restarted("geo", "search")]),
    "policy_by_emptying_it": (
        "network_policy_block",
        "geo",
        [
            patched(
                "networkpolicy/deny-all-geo",
                [
                    {"op": "add", "path": "/spec/ingress", "value": [{}]},
                    {"op": "add", "path": "/spec/egress", "value": [{}]},
                ],
            ),
            *restarted("geo", "search"),
        ],
    ),
    "quota_by_limit_range": (
        "namespace_memory_limit",
        "profile",
        [
            applied(DEFAULTS),
            patched("resourcequota/memory-limit-quota", {"spec": {"hard": {"memory": "16Gi"}}}, "merge"),
            *restarted("profile"),
        ],
    ),
    "quota_by_dropping_the_memory_key": (
        "namespace_memory_limit",
        "profile",
        [
            patched(
                "resourcequota/memory-limit-quota",
                [{"op": "replace", "path": "/spec/hard", "value": {"pods": "100"}}],
            ),
            *restarted("profile"),
        ],
    ),
    "quota_by_requests_and_limits_everywhere": (
        "namespace_memory_limit",
        "profile",
        [
            patched("resourcequota/memory-limit-quota", {"spec": {"hard": {"memory": "16Gi"}}}, "merge"),
            f"for d in $(kubectl get deploy {N} -o name); do "
            f"kubectl set resources $d {N} --requests=memory=64Mi --limits=memory=512Mi; done",
            "sleep 180",
        ],
    ),
    "image_by_set_image": (
        "faulty_image",
        "geo",
        [f"kubectl set image deploy/geo '*=ghcr.io/sregym/hotel-reservation:latest' {N}", *restarted("geo")],
    ),
    "image_by_recreating_the_deployment": (
        "faulty_image",
        "geo",
        [
            *recreated(
                "deploy/geo",
                '.spec.template.spec.containers[0].image = "ghcr.io/sregym/hotel-reservation:latest"',
            ),
            "sleep 120",
        ],
    ),
    "command_by_recreating_the_deployment": (
        "wrong_binary",
        "geo",
        [*recreated("deploy/geo", '.spec.template.spec.containers[0].command = ["geo"]'), "sleep 120"],
    ),
    "scale_by_patch": (
        "scale_to_zero",
        "mongodb-geo",
        [patched("deploy/mongodb-geo", {"spec": {"replicas": 1}}, "merge"), "sleep 60", *restarted("geo")],
    ),
    "scale_to_two": (
        "scale_to_zero",
        "search",
        [f"kubectl scale deploy/search --replicas=2 {N}", "sleep 60"],
    ),
    "secret_created": ("missing_secret", "geo", ["SECRET"]),
    "cpu_limit_of_half_a_core": (
        "cpu_limit_too_low",
        "frontend",
        [f"kubectl set resources deploy/frontend --limits=cpu=500m --requests=cpu=100m {N}", "sleep 90"],
    ),
    "cpu_limit_and_more_replicas": (
        "cpu_limit_too_low",
        "geo",
        [
            f"kubectl set resources deploy/geo --limits=cpu=1 --requests=cpu=50m {N}",
            f"kubectl scale deploy/geo --replicas=2 {N}",
            "sleep 120",
        ],
    ),
    "memory_limit_of_256_mib": (
        "resource_request_too_small",
        "geo",
        [f"kubectl set resources deploy/geo --limits=cpu=1,memory=256Mi {N}", "sleep 120"],
    ),
    "request_of_one_gib": (
        "resource_request_too_large",
        "geo",
        [
            patched(
                "deploy/geo",
                [{"op": "replace", "path": f"{CONTAINER}/resources/requests/memory", "value": "128Mi"}],
            ),
            "sleep 60",
        ],
    ),
    "readiness_probe_on_the_right_port": (
        "readiness_probe_misconfiguration",
        "frontend",
        [
            patched(
                "deploy/frontend",
                [
                    {
                        "op": "replace",
                        "path": f"{CONTAINER}/readinessProbe",
                        "value": {"tcpSocket": {"port": 5000}, "periodSeconds": 5},
                    }
                ],
            ),
            "sleep 90",
        ],
    ),
    "liveness_probe_on_the_right_port": (
        "liveness_probe_misconfiguration",
        "geo",
        [
            patched(
                "deploy/geo",
                [
                    {
                        "op": "replace",
                        "path": f"{CONTAINER}/livenessProbe",
                        "value": {"tcpSocket": {"port": 8083}, "periodSeconds": 5, "initialDelaySeconds": 15},
                    }
                ],
            ),
            "sleep 90",
        ],
    ),
    "node_selector_to_a_real_node": (
        "non_existent_node",
        "search",
        [
            patched(
                "deploy/search",
                {"spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/hostname": "sre-worker"}}}}},
                "merge",
            ),
            "sleep 90",
        ],
    ),
    "taint_off_by_patch": (
        "taint_no_toleration",
        "search",
        ["kubectl taint nodes sre-worker sre-worker2 sre-worker3 dedicated-", *restarted("search")],
    ),
    "tolerations_for_everything": (
        "taint_no_toleration",
        "search",
        [
            f"for d in $(kubectl get deploy {N} -o name); do kubectl patch $d {N} -p "
            '\'{"spec":{"template":{"spec":{"tolerations":[{"key":"dedicated","operator":"Exists"}]}}}}\'; done',
            "sleep 240",
        ],
    ),
    "nodes_uncordoned_by_patch": (
        "cordoned_nodes",
        "search",
        [
            "for n in $(kubectl get nodes -o name | grep worker); do "
            'kubectl patch $n -p \'{"spec":{"unschedulable":false}}\'; done',
            *restarted("search"),
        ],
    ),
    "wrong_pods_by_rollout_undo": (
        "service_wrong_pod_selection",
        "frontend",
        [f"kubectl rollout undo deploy/search {N}", "sleep 60"],
    ),
    "probe_by_restoring_it": (
        "liveness_probe_misconfiguration",
        "search",
        [patched("deploy/search", [{"op": "remove", "path": f"{CONTAINER}/livenessProbe"}]), "sleep 90"],
    ),
    "image_by_patch": (
        "incorrect_image",
        "memcached-rate",
        [
            patched(
                "deploy/memcached-rate",
                [
                    {
                        "op": "replace",
                        "path": f"{CONTAINER}/image",
                        "value": "docker.io/library/memcached:latest",
                    }
                ],
            ),
            "sleep 60",
        ],
    ),
    "node_selector_dropped_by_merge": (
        "non_existent_node",
        "geo",
        [
            patched("deploy/geo", {"spec": {"template": {"spec": {"nodeSelector": None}}}}, "merge"),
            "sleep 90",
        ],
    ),
    "dns_policy_default_again": (
        "wrong_dns_policy",
        "geo",
        [
            patched(
                "deploy/geo",
                {"spec": {"template": {"spec": {"dnsPolicy": "ClusterFirst", "dnsConfig": None}}}},
                "merge",
            ),
            "sleep 90",
        ],
    ),
    "account_made_again_by_root": (
        "storage_user_unregistered",
        "mongodb-rate",
        [
            f"kubectl exec deploy/mongodb-rate {N} -- mongo admin -u root -p root --quiet --eval "
            '\'db.createUser({user:"admin",pwd:"admin",roles:[{role:"userAdminAnyDatabase",db:"admin"},'
            '{role:"readWrite",db:"rate-db"}]})\'',
            *restarted("rate"),
        ],
    ),
    "role_of_more_than_before": (
        "revoke_auth_mongodb",
        "mongodb-rate",
        [
            f"kubectl exec deploy/mongodb-rate {N} -- mongo admin -u root -p root --quiet --eval "
            '\'db.grantRolesToUser("admin",[{role:"readWriteAnyDatabase",db:"admin"}])\'',
            *restarted("rate"),
        ],
    ),
    "host_alias_set_null": (
        "stale_host_alias",
        "search",
        [
            patched("deploy/search", {"spec": {"template": {"spec": {"hostAliases": None}}}}, "merge"),
            "sleep 90",
        ],
    ),
    "init_container_dropped": (
        "init_container_dependency_hang",
        "geo",
        [
            patched("deploy/geo", {"spec": {"template": {"spec": {"initContainers": None}}}}, "merge"),
            "sleep 90",
        ],
    ),
    "account_created": ("missing_service_account", "search", ["ACCOUNT"]),
    "flag_off": ("feature_flag_latent_bug", "frontend", ["FLAG"]),
}


def commands(name: str) -> tuple[str, str, list[str]]:
    """The commands; where names are drawn by the fault, they are read from the cluster as an agent would."""
    fault, target, given = REPAIRS[name]
    read = f"kubectl get deploy {target} {N} -o json"
    looked_up = {
        "SECRET": [
            f"NAMES=$({read} | jq -r '.. | .secretRef?.name, .secretKeyRef?.name, .secretName? | select(. != null)')",
            f"for n in $NAMES; do kubectl create secret generic $n --from-literal=token=x {N}; done",
            "sleep 360",
        ],
        "ACCOUNT": [
            f"kubectl create serviceaccount $({read} | jq -r .spec.template.spec.serviceAccountName) {N}",
            "sleep 60",
            f"kubectl rollout restart deploy/{target} {N}",
            "sleep 90",
        ],
        "FLAG": [f"kubectl set env deploy/{target} SEARCH_BACKEND_VERSION- {N}", "sleep 90"],
    }
    return fault, target, [line for word in given for line in looked_up.get(word, [word])]


@pytest.mark.parametrize("name", REPAIRS)
def test_a_right_repair_passes_whoever_thought_of_it(name: str) -> None:
    fault, target, lines = commands(name)
    verdict, complaints = tried(fault, target, lines)
    assert not complaints
    assert verdict.passed, why(verdict)
