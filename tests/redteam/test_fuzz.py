"""Whatever is typed, the environment answers: nothing raises, nothing hangs, the contract of ``step`` holds."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import gymnasium
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sregym_env  # noqa: F401
from sregym_env.cluster.oncall import ONCALL
from sregym_env.envs.env import SREGymEnv
from sregym_env.tools.workstation import Workstation
from tests.effort import at_most

from . import soup
from .playing import NAMESPACE, subject

SLOWEST = 4.0
"""Seconds of processor time that no single action may take; hardly any takes one."""


def fresh() -> SREGymEnv:
    """An environment in which defects raise."""
    made = gymnasium.make(
        "SREGym/Pair-v0",
        fault="wrong_binary",
        target="geo",
        raise_errors=True,
        max_commands=10**9,
        time_limit=1e18,
    ).unwrapped
    assert isinstance(made, SREGymEnv)
    made.reset(seed=1)
    return made


def checked(env: SREGymEnv, action: Any, keys: list[str]) -> bool:
    """Play an action and check what came back; whether the episode is over."""
    with at_most(SLOWEST):
        observation, reward, terminated, truncated, info = env.step(action)
    assert env.observation_space.contains(observation), observation[:200]
    assert isinstance(reward, float) and 0.0 <= reward <= 1.0
    assert list(info) == keys
    json.dumps(info)
    return terminated or truncated


@pytest.mark.parametrize("seed", range(24))
def test_soup_is_answered(seed: int) -> None:
    chance = Random(seed)
    env = fresh()
    keys = list(env.reset(seed=seed % 3)[1])
    for _ in range(40):
        if checked(env, soup.action(chance), keys):
            env.reset(seed=seed % 3)


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_any_text_is_answered(text: str) -> None:
    env = fresh()
    keys = list(env.reset(seed=1)[1])
    checked(env, text, keys)


@settings(max_examples=30)
@given(st.binary(max_size=300))
def test_any_bytes_are_answered(data: bytes) -> None:
    env = fresh()
    keys = list(env.reset(seed=1)[1])
    checked(env, data.decode("latin-1"), keys)
    checked(env, data.decode("utf-8", "surrogateescape"), keys)


CORPUS: list[Any] = [
    "", " ", "\x00", "\ud800", "\u202e", "x" * 10_000_000, "kubectl " + "get " * 100_000, "{" * 50_000, "[" * 50_000,
    '{"a":' * 20_000, "(" * 20_000, "$(" * 5_000, "`" * 9_999, "echo " + "a " * 30_000, "\n" * 60_000, "| " * 10_000,
    "<tool_call>" * 5_000, "```bash\n" * 5_000, "<think>" * 10_000, "submit " + "x" * 60_000, "kubectl get pods " + "-n x " * 5_000,
    "kubectl apply -f - <<'EOF'\n" + "a: &a [x]\n" + "b: [*a,*a]\n" * 3_000 + "EOF",
    "kubectl apply -f - <<'EOF'\na: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)) + "EOF",
    "kubectl apply -f - <<'EOF'\n" + "- " * 20_000 + "EOF",
    "kubectl apply -f - <<'EOF'\n!!python/object/apply:os.system ['id']\nEOF",
    "kubectl patch deploy/geo -n hotel-reservation -p '" + "[" * 20_000 + "'",
    "kubectl patch deploy/geo -n hotel-reservation -p '" + '{"spec":' * 3_000 + "1" + "}" * 3_000 + "'",
    "kubectl patch deploy/geo -n hotel-reservation --type=merge -p '" + '{"spec":' * 700 + "1" + "}" * 700 + "'",
    "kubectl run x --image=nginx --overrides='" + "[" * 20_000 + "'",
    "kubectl apply --validate=false -f - <<'EOF'\n" + '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":'
    + '{"a":' * 800 + "1" + "}" * 800 + "}\nEOF",
    "kubectl annotate deploy/geo -n hotel-reservation --overwrite kubectl.kubernetes.io/last-applied-configuration='"
    + "[" * 20_000 + "'; kubectl get deploy geo -n hotel-reservation -o yaml | kubectl apply -f -",
    "jq -n --argjson a '" + "[" * 20_000 + "' '$a'", "echo '" + "[" * 20_000 + "' | jq .", "jq '" + "(" * 5_000 + "'",
    "jq -n 'def f: [f]; f'", "awk 'function f(x) { return f(x) } BEGIN { f(1) }'", "awk 'BEGIN { x = \"a\"; while (1) x = x x }'",
    "awk '" + "(" * 5_000 + "'", "sed '" + "{" * 5_000 + "'", "sed ':a;s/a/aa/;ta' <<< a", "sed -E 's/" + "(" * 3_000 + "/x/'", "bc <<< '9^9^9^9'",
    "expr " + "9" * 5000 + " \\* " + "9" * 5000, "echo $((9**9**9))", "find / " + "-name x -o " * 3_000, "sort -t '' <<< a", "xargs -P 99999 < /dev/zero",
    f"kubectl scale deploy/geo --replicas=2147483647 -n {NAMESPACE}",
    f"kubectl scale deploy/geo --replicas={'9' * 400} -n {NAMESPACE}", "date -d @²", f"date -d @{'9' * 5000}",
    f"date -d '{'9' * 5000} days ago'", f"kubectl expose deploy/geo --port=² -n {NAMESPACE}",
    f"kubectl expose deploy/geo --port={'9' * 5000} -n {NAMESPACE}", f"kubectl run x --image=nginx --port={'9' * 5000}",
    f"kubectl port-forward deploy/geo {'9' * 5000}:80 -n {NAMESPACE}", "kubectl run x --image=nginx --port=²",
    f"kubectl get --raw '/api/v1/namespaces/{NAMESPACE}/pods/x/log?tailLines=abc'",
    f"kubectl logs deploy/geo --since={'9' * 5000}s -n {NAMESPACE}",
    f"kubectl scale deploy --all --replicas=1000 -n {NAMESPACE}",
    f"kubectl scale deploy/geo --replicas=99999999999999999999 -n {NAMESPACE}",
    f"kubectl get pods -n {NAMESPACE} -o jsonpath='{'{' * 500}'",
    f"kubectl get pods -n {NAMESPACE} -o go-template='{'{{range .items}}' * 200}'",
    f"kubectl get pods -n {NAMESPACE} -o jsonpath='{{range .items[*]}}{{range .spec.containers[*]}}{'{.name}' * 500}{{end}}{{end}}'",
    f"kubectl get pods -n {NAMESPACE} -l '{'a,' * 5000}'",
    f"kubectl annotate deploy/geo x={'y' * 60_000} -n {NAMESPACE}",
    f"kubectl create cm big -n {NAMESPACE} --from-literal=a={'y' * 60_000}",
    f"kubectl exec deploy/geo -n {NAMESPACE} -- sh -c 'while true; do :; done'",
    f"kubectl exec deploy/geo -n {NAMESPACE} -- sleep 999999",
    f"kubectl exec deploy/mongodb-geo -n {NAMESPACE} -- mongo --eval 'while(true){{}}'",
    f"kubectl exec deploy/mongodb-geo -n {NAMESPACE} -- mongo --eval 'var s=\"a\"; for(var i=0;i<99;i++) s+=s'",
    f"kubectl exec deploy/mongodb-geo -n {NAMESPACE} -- mongo --eval 'function f(){{return f()}}; f()'",
    f"kubectl exec deploy/mongodb-geo -n {NAMESPACE} -- mongo --eval '{'(' * 5000}'",
    f"kubectl exec deploy/mongodb-geo -n {NAMESPACE} -- mongo --eval '/(a+)+$/.test(\"{'a' * 40}!\")'",
    f"for i in $(seq 1 200); do kubectl run x$i --image=nginx -n {NAMESPACE}; done",
    f"kubectl create cronjob c --schedule='* * * * *' --image=nginx -n {NAMESPACE}; for i in 1 2 3 4 5 6; do sleep 600; done",
    "sleep 999999999999; sleep 1e400", "timeout 999999999 sleep 600", "x=a; for i in $(seq 60); do x=$x$x; done; echo ${#x}",
    "f() { f | f & }; f", "cat " + "a" * 60_000, "grep -E '(a+)+$' <<< " + "a" * 60 + "!", "echo " + "a" * 60 + "! | sed -E 's/(a|a)*b//'",
    "[[ " + "a" * 60 + "! =~ ^(a+)+$ ]]", "case " + "a" * 200 + " in " + "*a" * 60 + "b) ;; esac", "echo " + "a" * 60 + "! | awk '/(a+)+$/'",
    "jq -n '[limit(1000000; repeat(1))] | length'", "jq -n '\"a\" * 100000000 | length'", "printf '%0*d' 999999999 1", "seq inf",
    "yes | sort | uniq | head", "kubectl exec deploy/geo -n hotel-reservation -- yes", "tr -dc a < /dev/zero", "date -d @999999999999999999",
    "curl -m nan http://x", "curl " + "http://x " * 2_000, "alerts " + "-x " * 5_000, 7, None, b"kubectl get pods", ["kubectl"], {"a": 1},
]  # fmt: skip


@pytest.mark.parametrize("index", range(len(CORPUS)))
def test_known_troublemakers_are_answered(index: int) -> None:
    env = fresh()
    keys = list(env.reset(seed=1)[1])
    checked(env, CORPUS[index], keys)
    checked(env, f"kubectl get pods -n {NAMESPACE}", keys)


SAMPLES: list[dict[str, Any]] = [
    {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "p"}, "spec": {
        "podSelector": {"matchLabels": {"io.kompose.service": "geo"}}, "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}],
                     "ports": [{"port": 80, "endPort": 90, "protocol": "TCP"}]}], "egress": [{"to": [{"namespaceSelector": {}}]}]}},
    {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"}, "spec": {
        "minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "search"},
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]}},
    {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": {"schedule": "*/1 * * * *", "jobTemplate": {
        "spec": {"backoffLimit": 2, "template": {"spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "hashicorp/consul:1.22.3", "command": ["sh", "-c", "exit 1"]}]}}}}}},
    {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "d"}, "spec": {
        "minAvailable": "50%", "selector": {"matchLabels": {"io.kompose.service": "geo"}}}},
    {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "1", "memory": "512Mi"}, "defaultRequest": {"cpu": "10m"}, "max": {"cpu": "2"}}]}},
    {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {
        "hard": {"pods": "100", "requests.cpu": "100"}, "scopes": ["NotTerminating"]}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pp"}, "spec": {"containers": [
        {"name": "c", "image": "memcached:latest", "livenessProbe": {"exec": {"command": ["ls"]}},
         "resources": {"limits": {"memory": "64Mi"}}, "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
         "volumeMounts": [{"name": "e", "mountPath": "/x", "subPath": "y"}]}], "volumes": [{"name": "e", "emptyDir": {"sizeLimit": "1Mi"}}],
        "hostAliases": [{"ip": "1.2.3.4", "hostnames": ["x"]}], "tolerations": [{"key": "x", "operator": "Exists"}]}},
    {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s"}, "spec": {"serviceName": "s", "replicas": 2,
        "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
            {"name": "c", "image": "memcached:latest", "ports": [{"containerPort": 11211}], "readinessProbe": {"tcpSocket": {"port": 11211}}}],
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
                                           "labelSelector": {"matchLabels": {"a": "b"}}}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"],
                                                                      "resources": {"requests": {"storage": "1Gi"}}}}]}},
]  # fmt: skip

STORED = (
    "deployments.apps", "services", "configmaps", "persistentvolumeclaims", "jobs.batch", "pods", "replicasets.apps",
    "endpoints", "endpointslices.discovery.k8s.io", "serviceaccounts", "nodes", "daemonsets.apps",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(16))
def test_bent_objects_break_no_control_loop(seed: int) -> None:
    chance = Random(seed)
    world = subject("wrong_binary", "geo").world()
    workstation = Workstation(world, ONCALL)
    for _ in range(6):
        document = chance.choice(SAMPLES)
        document = {**document, "metadata": {**document["metadata"], "namespace": NAMESPACE}}
        if chance.random() < 0.5:
            document = chance.choice(world.cluster.list(chance.choice(STORED)))
        for _ in range(chance.randrange(4)):
            document = soup.mutated(chance, document)
        verb = chance.choice(["apply", "replace", "create", "replace --force"])
        validate = chance.choice(["true", "false"])
        workstation.run(f"kubectl {verb} --validate={validate} -f - <<'EOF'\n{json.dumps(document)}\nEOF")
        world.advance(chance.choice([1, 30, 400]))
        for command in (
            f"kubectl describe all -n {NAMESPACE}",
            "kubectl get all -A -o wide",
            "alerts",
            "kubectl describe nodes",
        ):
            workstation.run(command)
