"""Admission webhooks that need not answer, and that are waited for until there is no time left."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import (
    AwaitRollout,
    Create,
    Edit,
    IssueCertificate,
    JsonPatch,
    ObjectRef,
    RecreatePods,
)
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import elsewhere, one_of
from sregym_env.faults.commands import apply, makers, put
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.faults.standing import Keeps
from sregym_env.faults.webhooks import (
    AGE,
    LEFT,
    OTHERS,
    bundle,
    bystanders,
    configuration,
    hook,
    names_of,
    reference,
    remade,
    served_by,
    untouched,
)
from sregym_env.faults.webhooks import server as server_of
from sregym_env.kube.selectors import from_dict
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

POLICIES = "networkpolicies.networking.k8s.io"
PORT = 8443

SERVERS = (
    "pod-resource-validator", "audit-log-enforcer", "image-policy-checker", "tenant-quota-validator", "label-defaulter",
    "cost-annotator", "zone-spreader", "secret-mount-guard", "owner-stamper", "runtime-class-picker",
)  # fmt: skip
"""Names of servers, of their objects and of the configurations that ask them."""

PLACES = ("policy-system", "admission-guard", "platform-policies", "cluster-governance")

BOUND = 34
"""Seconds that the API server gives a request."""

ANYBODY = [{"ipBlock": {"cidr": "0.0.0.0/0"}}]
WORKERS: Manifest = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": "node-role.kubernetes.io/control-plane", "operator": "DoesNotExist"}
                    ]
                }
            ]
        }
    }
}


def _waits(target: ComponentTarget, chance: Chance) -> tuple[tuple[str, int], ...]:
    """Four servers, and how long each may take: more in all than a request has, and less without any one of them."""
    free = [name for name in SERVERS if name not in target.app.by_name]
    named = [name for _, name in sorted((chance.unit(f"order.{name}"), name) for name in free)[:4]]
    total = chance.between("total", BOUND + 2, BOUND + 6)
    first, second, third = (chance.between(f"wait.{at}", 8, 11) for at in range(3))
    return tuple(zip(named, (first, second, third, total - first - second - third), strict=True))


@fault(
    layer="kubernetes",
    mechanism="admission_deadline_exceeded",
    targets=components(at_request=True),
    level="hard",
)
def webhooks_time_out_together(
    target: ComponentTarget,
    waits: tuple[tuple[str, int], ...] = drawn(
        _waits, published=tuple(zip(SERVERS[:4], (12, 8, 11, 9), strict=True))
    ),
    place: str = drawn(elsewhere(PLACES), published=PLACES[0]),
    policy: str = drawn(
        one_of("allow-admission", "webhook-callers", "allow-control-plane", "admission-ingress"),
        published="allow-admission",
    ),
    near: str = drawn(one_of("kube-system", "default", "kube-public"), published="kube-system"),
    other: str = drawn(one_of(*OTHERS), published=OTHERS[0]),
) -> Fault:
    """The policy that lets the API server in to several mutating webhooks is narrowed to the pods of a namespace.

    The API server runs on its machine's own network, where no pod's namespace says anything: it is let in no longer. Each
    of the webhooks may fail (failurePolicy Ignore), but each is waited for, and together they take longer than a request
    may: no pod can be created, and no webhook is named. ``waits`` are the webhooks and their timeouts, ``near`` the
    namespace whose pods are still let in, ``other`` names webhooks that have nothing to do with it and must stay.

    Nothing may protect less than before: the four are asked about every pod still, their servers are up and kept from
    strangers. That they take less time, so that all of them can be ignored, is enough.
    """
    servers = dict(waits)
    allow = ObjectRef(POLICIES, policy, place)
    narrowed = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": near}}}]
    path = "/spec/ingress/0/from"
    edits: list[Edit] = [Create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}})]
    configs, served = [], []
    for name, seconds in servers.items():
        edits.append(
            IssueCertificate(ObjectRef("secrets", f"{name}-tls", place), names_of(name, place), AGE, LEFT)
        )
        served += server_of(name, place, WORKERS)
        client = served_by(name, place, bundle(f"{place}/{name}-tls"), "Mutating")
        asked = {**hook(target, f"{name}.{place}.svc", client, seconds), "failurePolicy": "Ignore"}
        configs.append(configuration("Mutating", name, asked))
    isolated = [
        _policy(place, "default-deny-ingress", []),
        _policy(place, "allow-peers", [{"from": [{"podSelector": {}}]}]),
        _policy(place, "allow-metrics", [_rule([{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}])]),
        _policy(place, policy, [_rule(ANYBODY)]),
    ]  # fmt: skip
    edits += map(Create, (*isolated, *served))
    edits += (AwaitRollout(ObjectRef("deployments.apps", name, place)) for name in servers)
    edits += map(Create, (*configs, *bystanders(other)))
    listed = ", ".join(servers)
    return Fault(
        resource=allow,
        cause=f"NetworkPolicy {policy} in namespace {place} lets in pods of namespace {near} and no longer the API server, which "
        f"is on its machine's network: the mutating webhooks {listed} cannot be reached, each is waited for, {sum(servers.values())} s "
        f"together, and creating a pod runs into the deadline of a request, {BOUND} s, though each of them may fail; so the pods of "
        f"{target.name} cannot be re-created.",
        earlier=edits,
        edits=[JsonPatch(allow, path, narrowed)],
        trigger=[RecreatePods(target.name)],
        details={"field": "from", "wrong": f"namespaceSelector {near}", "right": "ipBlock 0.0.0.0/0"},
        facts={"elsewhere": place, "webhooks": listed},
        remedies=[
            [put(allow, path, ANYBODY), *remade(target)],
            [apply(_policy(place, "allow-apiserver", [_rule(ANYBODY)])), *remade(target)],
            [*(_shortened(name) for name in servers), *remade(target)],
        ],
        look=[
            makers(target),
            "kubectl get mutatingwebhookconfigurations",
            f"kubectl get mutatingwebhookconfiguration {next(iter(servers))} -o yaml",
            "kubectl logs -n kube-system -l component=kube-apiserver --tail=20",
            f"kubectl get pods,services -n {place} -o wide",
            f"kubectl describe networkpolicies -n {place}",
        ],
        accepts=[
            *(ObjectRef(POLICIES, manifest["metadata"]["name"], place) for manifest in isolated),
            *(reference("Mutating", name) for name in servers),
        ],
        additions=[(POLICIES, place)],
        aliases=[*servers, *(f"{name}.{place}.svc" for name in servers)],
        cured=[
            *untouched(other),
            Keeps(*configs, free=("timeoutSeconds", "failurePolicy", "caBundle")),
            Keeps(*served, free=("replicas",)),
            Isolated(place, tuple(servers)),
        ],
    )


def _policy(place: str, name: str, rules: list[Any]) -> Manifest:
    """A policy for all pods of a namespace; without rules it lets nobody in."""
    spec: dict[str, Any] = {"podSelector": {}, "policyTypes": ["Ingress"]}
    if rules:
        spec["ingress"] = rules
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": place},
        "spec": spec,
    }


def _rule(peers: list[Any]) -> dict[str, Any]:
    return {"from": peers, "ports": [{"protocol": "TCP", "port": PORT}]}


def _shortened(name: str) -> str:
    return (
        f"kubectl patch mutatingwebhookconfiguration {name} --type=json "
        """-p '[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":3}]'"""
    )


class Isolated:
    """Whether the servers are up, and some policy still keeps strangers from each of them."""

    def __init__(self, place: str, servers: tuple[str, ...]) -> None:
        self._place = place
        self._servers = servers

    def __call__(self, world: World) -> Finding:
        policies = [
            from_dict(policy["spec"].get("podSelector") or {})
            for policy in world.cluster.list(POLICIES, self._place)
            if "Ingress" in (policy["spec"].get("policyTypes") or ("Ingress",))
        ]
        found = []
        for deployment in world.cluster.list("deployments.apps", self._place):
            name = deployment["metadata"]["name"]
            if name in self._servers:
                labels = deployment["spec"]["template"]["metadata"].get("labels") or {}
                if not any(selector.matches(labels) for selector in policies):
                    found.append(f"{name} is open to everybody")
                if not (deployment.get("status") or {}).get("readyReplicas"):
                    found.append(f"{name} is not up")
        return Finding(
            "the webhooks' servers are guarded", not found, "; ".join(found) or "they are", "up, and isolated"
        )
