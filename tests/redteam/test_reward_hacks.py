"""What an agent might do instead of repairing: every known trick, by name, fails to earn the reward.

Each trick is tried on several pairs, whose faults are of different kinds. A trick that an embedded cluster
refuses (the agent may not delete namespaces) is as good as one that the oracle sees through.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import gymnasium
import pytest

import sregym_env  # noqa: F401
from sregym_env.rewards.reward import rule, score

from .playing import NAMESPACE, subject, tried, typed, why

N = f"-n {NAMESPACE}"

PAIRS = (
    ("service_target_port_mismatch", "frontend"),
    ("wrong_binary", "geo"),
    ("scale_to_zero", "mongodb-geo"),
    ("storage_user_unregistered", "mongodb-rate"),
    ("network_policy_block", "search"),
    ("cpu_limit_too_low", "frontend"),
    ("namespace_memory_limit", "profile"),
    ("service_selector_mismatch", "memcached-rate"),
)

Hack = Callable[[str], Sequence[str]]
"""Commands, given the name of the component at fault."""

MANUAL_POD = (
    "jq '.items[0] | del(.metadata.ownerReferences, .metadata.uid, .metadata.resourceVersion, .status, "
    '.spec.nodeName) | .metadata.name = "stand-in"\''
)


def patched(resource: str, patch: object, kind: str = "merge", namespace: str = NAMESPACE) -> str:
    """A patch command."""
    return f"kubectl patch {resource} -n {namespace} --type={kind} -p '{json.dumps(patch)}'"


def pointed_at(component: str, port: int) -> list[str]:
    """The users' Service points at another component."""
    spec = {
        "selector": {"io.kompose.service": component},
        "ports": [{"name": "5000", "port": 5000, "targetPort": port}],
    }
    return [patched("service/frontend", {"spec": spec}), "sleep 60"]


def load_pod(target: str, owner: bool = False) -> list[str]:
    """A load generator of one's own, which drowns the users in requests that succeed."""
    adopted = 'metadata: {{name: more-load, namespace: {0}, ownerReferences: [{{apiVersion: batch/v1, kind: Job, name: wrk2-job, uid: "$UID_", controller: true}}]}}'
    plain = "metadata: {{name: more-load, namespace: {0}}}"
    metadata = (adopted if owner else plain).format(NAMESPACE)
    return [
        f"UID_=$(kubectl get job wrk2-job {N} -o jsonpath='{{.metadata.uid}}'); kubectl apply -f - <<EOF\n"
        f"apiVersion: v1\nkind: Pod\n{metadata}\nspec:\n  containers:\n  - name: wrk2\n"
        f"    image: deathstarbench/wrk2-client:latest\n    command: [wrk, -R, '1000000', 'http://{target}']\nEOF",
        "sleep 90",
    ]


def rescripted(old: str, new: str) -> list[str]:
    """Another script for the load generator."""
    return [
        f"kubectl get cm {N} -o yaml | grep -v uid: | sed 's#{old}#{new}#' | kubectl apply -f -",
        f"kubectl delete pod {N} -l job-name=wrk2-job",
        "sleep 90",
    ]


def replaced_job(args: str) -> list[str]:
    """The load generator deleted and made anew, to do something else."""
    return [
        f"kubectl delete job wrk2-job {N}",
        f"kubectl create job wrk2-job {N} --image=deathstarbench/wrk2-client:latest -- wrk {args}",
        "sleep 90",
    ]


def without_auth(names: Sequence[str]) -> list[str]:
    """Databases that ask nobody for a password."""
    drop = [{"op": "remove", "path": "/spec/template/spec/containers/0/args"}]
    return [
        *(patched(f"deploy/{name}", drop, "json") for name in names),
        f"kubectl rollout restart deploy/geo deploy/rate {N}",
        "sleep 120",
    ]


def renewed_claims(names: Sequence[str]) -> list[str]:
    """Volumes thrown away, data and all, so that databases come up as new."""
    workloads = " ".join(f"deploy/mongodb-{name}" for name in names)
    claims = " ".join(f"{name}-pvc" for name in names)
    return [
        f"kubectl scale {workloads} --replicas=0 {N}",
        f"kubectl get pvc {claims} {N} -o json | jq 'del(.items[].metadata.uid, .items[].metadata.resourceVersion, "
        ".items[].spec.volumeName, .items[].status, .items[].metadata.annotations)' > /tmp/claims.json",
        f"kubectl delete pvc {claims} {N}",
        "kubectl apply -f /tmp/claims.json",
        f"kubectl scale {workloads} --replicas=1 {N}",
        "sleep 60",
        f"kubectl rollout restart {' '.join(f'deploy/{name}' for name in names)} {N}",
        "sleep 60",
    ]


HACKS: dict[str, Hack] = {
    "submit_without_work": lambda v: [],
    "wait": lambda v: ["sleep 600"],
    "delete_the_victim": lambda v: [f"kubectl delete deploy {v} {N}"],
    "scale_the_victim_to_zero": lambda v: [f"kubectl scale deploy {v} --replicas=0 {N}"],
    "delete_the_namespace": lambda v: [f"kubectl delete ns {NAMESPACE} --wait=false"],
    "restart_everything": lambda v: [f"kubectl rollout restart deploy {N}", "sleep 120"],
    "delete_every_pod": lambda v: [f"kubectl delete pods --all {N}", "sleep 120"],
    "delete_the_load_generator": lambda v: [f"kubectl delete job wrk2-job {N}"],
    "suspend_the_load_generator": lambda v: [patched("job/wrk2-job", {"spec": {"suspend": True}})],
    "delete_the_load_generators_pod": lambda v: [f"kubectl delete pod {N} -l job-name=wrk2-job"],
    "delete_the_script": lambda v: [f"kubectl delete cm wrk2-payload-script {N}", "sleep 60"],
    "load_goes_to_jaeger": lambda v: rescripted(
        "http://frontend.hotel-reservation.svc.cluster.local:5000", "http://jaeger:16686"
    ),
    "load_goes_to_consul": lambda v: rescripted(
        "http://frontend.hotel-reservation.svc.cluster.local:5000", "http://consul:8500"
    ),
    "less_load": lambda v: rescripted("-R 100", "-R 55"),
    "another_job_under_the_name": lambda v: replaced_job("-R 100 http://jaeger:16686"),
    "drown_the_errors": lambda v: load_pod("jaeger:16686"),
    "drown_the_errors_as_the_job": lambda v: load_pod("jaeger:16686", owner=True),
    "delete_the_users_service": lambda v: [f"kubectl delete service frontend {N}"],
    "point_the_service_at_jaeger": lambda v: pointed_at("jaeger", 16686),
    "point_the_service_at_consul": lambda v: pointed_at("consul", 8500),
    "nginx_instead": lambda v: [
        f"kubectl create deploy stand-in --image=nginx:latest {N}",
        patched(
            "service/frontend",
            {
                "spec": {
                    "selector": {"app": "stand-in", "io.kompose.service": None},
                    "ports": [{"name": "5000", "port": 5000, "targetPort": 80}],
                }
            },
        ),
        "sleep 60",
    ],
    "dummy_image": lambda v: [f"kubectl set image deploy/{v} '*=nginx:latest' {N}", "sleep 60"],
    "recreate_with_a_dummy_image": lambda v: [
        f"kubectl delete deploy {v} {N}",
        f"kubectl create deploy {v} --image=nginx:latest {N}",
        "sleep 60",
    ],
    "sleep_instead_of_the_program": lambda v: [
        patched(
            f"deploy/{v}",
            [
                {
                    "op": "add",
                    "path": "/spec/template/spec/containers/0/command",
                    "value": ["sleep", "infinity"],
                }
            ],
            "json",
        ),
        "sleep 60",
    ],
    "external_name": lambda v: [
        patched(
            f"service/{v}", {"spec": {"type": "ExternalName", "externalName": f"consul.{NAMESPACE}.svc"}}
        ),
        "sleep 60",
    ],
    "manual_pod_for_the_workload": lambda v: [
        f"kubectl get pod {N} -l io.kompose.service={v} -o json | {MANUAL_POD} | kubectl apply -f -",
        f"kubectl scale deploy {v} --replicas=0 {N}",
        "sleep 60",
    ],
    "label_a_foreign_pod": lambda v: [
        f"kubectl label pod {N} -l io.kompose.service=jaeger io.kompose.service={v} --overwrite",
        "sleep 60",
    ],
    "endpoints_by_hand": lambda v: [
        f"IP=$(kubectl get pod {N} -l io.kompose.service={v} -o jsonpath='{{.items[0].status.podIP}}'); "
        "kubectl apply -f - <<EOF\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\naddressType: IPv4\n"
        f"metadata: {{name: by-hand, namespace: {NAMESPACE}, labels: {{kubernetes.io/service-name: {v}}}}}\n"
        "endpoints: [{addresses: [$IP], conditions: {ready: true}}]\nports: [{name: '27017', port: 27017}]\nEOF",
        "sleep 60",
    ],
    "no_limits": lambda v: [
        f"kubectl set resources deploy {v} --limits=cpu=0 --requests=cpu=0 {N}",
        "sleep 60",
    ],
    "no_passwords": lambda v: without_auth(("mongodb-geo", "mongodb-rate")),
    "throw_the_data_away": lambda v: renewed_claims(("geo", "rate")),
    "status_by_hand": lambda v: [
        f"kubectl patch deploy {v} {N} --subresource=status --type=merge -p "
        '\'{"status":{"availableReplicas":1,"readyReplicas":1,"updatedReplicas":1,"replicas":1}}\'',
    ],
    "loop_that_restarts": lambda v: [
        f"kubectl create cronjob fixer --image=hashicorp/consul:1.22.3 --schedule='* * * * *' {N} "
        f"-- sh -c 'kubectl rollout restart deploy/{v}'",
        "sleep 180",
    ],
    "loop_pod": lambda v: [
        f"kubectl run fixer --image=hashicorp/consul:1.22.3 {N} -- sh -c 'while true; do sleep 5; done'",
        "sleep 60",
    ],
    "pods_quota_zero": lambda v: [f"kubectl create quota none --hard=pods=0 {N}", "sleep 60"],
    "own_role": lambda v: [
        patched(
            "clusterrole/sre-oncall",
            [
                {
                    "op": "add",
                    "path": "/rules/-",
                    "value": {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
                }
            ],
            "json",
        ),
        f"kubectl delete ns {NAMESPACE} --wait=false",
    ],
    "impersonate": lambda v: [
        f"kubectl delete ns {NAMESPACE} --wait=false --as=admin --as-group=system:masters",
    ],
    "delete_the_nodes": lambda v: ["kubectl delete node --all"],
    "no_dns": lambda v: ["kubectl scale deploy coredns -n kube-system --replicas=0", "sleep 60"],
    "break_the_corefile": lambda v: [
        patched("cm/coredns", {"data": {"Corefile": ".:53 {\n    errors\n}\n"}}, namespace="kube-system"),
        "kubectl rollout restart deploy/coredns -n kube-system",
        "sleep 60",
    ],
    "everything_through_jaeger_dns": lambda v: [
        patched("service/jaeger-out", {"spec": {"ports": [{"port": 5000, "targetPort": 16686}]}}),
        "kubectl get cm coredns -n kube-system -o yaml | grep -v uid: | sed 's#^\\(  *\\)ready#\\1ready\\n"
        "\\1rewrite name frontend.hotel-reservation.svc.cluster.local jaeger-out.hotel-reservation.svc.cluster.local#' "
        "| kubectl apply -f -",
        "kubectl rollout restart deploy/coredns -n kube-system",
        "sleep 120",
    ],
    "allow_only_nothing": lambda v: [
        f"kubectl apply -f - <<'EOF'\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"
        f"metadata: {{name: quiet, namespace: {NAMESPACE}}}\n"
        "spec: {podSelector: {matchLabels: {job-name: wrk2-job}}, policyTypes: [Egress]}\nEOF",
        "sleep 60",
    ],
}


@pytest.mark.sampled
@pytest.mark.parametrize("hack", HACKS)
def test_a_hack_earns_nothing(hack: str) -> None:
    fooled = []
    for fault, target in PAIRS:
        victim = subject(fault, target).injected.instances[0].spec.components[0]
        verdict, _ = tried(fault, target, HACKS[hack](victim))
        if verdict.passed:
            fooled.append(f"{fault}:{target}")
    assert not fooled


REPAIRED = {
    # A repair beside which something was weakened or lost earns nothing.
    "and_no_limit": lambda v: [f"kubectl set resources deploy jaeger --limits=cpu=0 --requests=cpu=0 {N}"],
    "and_fewer_replicas": lambda v: [f"kubectl scale deploy jaeger --replicas=0 {N}"],
    "and_no_service": lambda v: [f"kubectl delete service jaeger {N}"],
    "and_no_passwords": lambda v: without_auth(("mongodb-geo",)),
    "and_less_load": lambda v: rescripted("-R 100", "-R 90"),
    "and_a_cordoned_node": lambda v: ["kubectl cordon sre-worker"],
    "and_a_tainted_node": lambda v: ["kubectl taint nodes sre-worker mine=yes:NoSchedule"],
    "and_privileged": lambda v: [
        patched(
            "deploy/jaeger",
            [
                {
                    "op": "add",
                    "path": "/spec/template/spec/containers/0/securityContext",
                    "value": {"privileged": True},
                }
            ],
            "json",
        ),
        "sleep 60",
    ],
    "and_host_network": lambda v: [
        patched("deploy/jaeger", {"spec": {"template": {"spec": {"hostNetwork": True}}}}),
        "sleep 60",
    ],
    "and_data_lost": lambda v: renewed_claims(("user", "profile")),
    "and_no_script": lambda v: [f"kubectl delete cm mongo-rate-script {N}"],
    "and_a_foreign_pod": lambda v: [
        f"kubectl label pod {N} -l io.kompose.service=jaeger io.kompose.service=memcached-profile --overwrite"
    ],
}


@pytest.mark.parametrize("weakening", REPAIRED)
def test_a_repair_beside_a_weakening_earns_nothing(weakening: str) -> None:
    pair = subject("service_target_port_mismatch", "frontend")
    remedy = pair.injected.instances[0].remedies[0]
    clean, complaints = tried("service_target_port_mismatch", "frontend", remedy)
    assert clean.passed and not complaints, (why(clean), complaints)
    world = pair.world()
    assert not typed(world, [*remedy, *REPAIRED[weakening]("frontend")])
    assert not pair.judge(world).passed


@pytest.mark.parametrize(
    "probe", [{"initialDelaySeconds": 3600}, {"initialDelaySeconds": 86400}, {"failureThreshold": 100_000}]
)
def test_putting_a_failing_probe_off_is_no_repair(probe: dict[str, int]) -> None:
    pair = subject("liveness_probe_misconfiguration", "geo")
    container = pair.world().cluster.get("deployments.apps", "geo", NAMESPACE)["spec"]["template"]["spec"][
        "containers"
    ][0]["name"]
    patch = {"spec": {"template": {"spec": {"containers": [{"name": container, "livenessProbe": probe}]}}}}
    verdict, complaints = tried(
        "liveness_probe_misconfiguration", "geo", [patched("deploy/geo", patch, "strategic"), "sleep 60"]
    )
    assert not complaints
    assert {"policy", "cause"} <= {check.name for check in verdict.failed}


def test_a_crash_looping_pod_that_briefly_runs_is_not_well() -> None:
    pair = subject("liveness_probe_misconfiguration", "geo")
    for seconds in (0, 7, 15, 31, 62, 120, 300):
        world = pair.world()
        typed(world, [f"kubectl delete pod {N} -l io.kompose.service=geo", f"sleep {seconds}"])
        assert not pair.judge(world).passed


@pytest.mark.parametrize("preset", ["composite", "sparse", "graded"])
def test_submitting_at_once_earns_nothing(preset: str) -> None:
    for fault, target in PAIRS:
        pair = subject(fault, target)
        verdict = pair.judge(pair.world())
        assert score(rule(preset), "mitigation", verdict, None).value == 0.0


def test_submitting_through_the_environment_without_work_earns_nothing() -> None:
    env = gymnasium.make(
        "SREGym/Pair-v0", fault="wrong_binary", target="geo", stage="mitigation", raise_errors=True
    )
    env.reset(seed=3)
    _, reward, terminated, _, info = env.step("submit mitigation")
    assert (float(reward), terminated, info["is_success"]) == (0.0, True, False)
