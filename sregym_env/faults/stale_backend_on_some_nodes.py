"""A machine that sends requests to pods that are gone."""

from __future__ import annotations

from collections.abc import ItemsView
from dataclasses import dataclass

from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import ServiceRulesStuck
from sregym_env.cluster.edits import ObjectRef, Restart
from sregym_env.cluster.inventory import template
from sregym_env.cluster.targets import ROLLED, ServiceTarget, services
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.kube.status import StatusError
from sregym_env.runtime.chance import Chance

PROXY = ObjectRef("daemonsets.apps", "kube-proxy", "kube-system")
LABEL = "k8s-app=kube-proxy"


@dataclass(frozen=True, slots=True)
class _Follows:
    """Whether a machine forwards what is sent to a Service to who is behind it now, by the rules that its kube-proxy shows."""

    node: str
    service: ObjectRef

    def __call__(self, world: World) -> Finding:
        expected = f"{self.node} forwards service/{self.service.name} to its endpoints"
        try:
            address = world.cluster.get("services", self.service.name, self.service.namespace)["spec"][
                "clusterIP"
            ]
            asked = _addresses(world, self.service)
            told = _forwarded(world, self.node, address)
        except (StatusError, KeyError) as error:
            return Finding("rules", False, str(error), expected)
        if told is None:
            return Finding("rules", False, f"no kube-proxy on {self.node}", expected)
        lost = sorted(told - asked)
        observed = f"also to {', '.join(lost)}" if lost else "to nobody" if asked and not told else "as asked"
        return Finding("rules", bool(told) == bool(asked) and not lost, observed, expected)


def _addresses(world: World, service: ObjectRef) -> set[str]:
    """Addresses of whoever is behind a Service."""
    slices = world.cluster.list(
        "endpointslices.discovery.k8s.io",
        service.namespace,
        label_selector=f"kubernetes.io/service-name={service.name}",
    )
    return {
        address
        for piece in slices
        for endpoint in piece.get("endpoints") or ()
        for address in endpoint.get("addresses") or ()
    }


def _forwarded(world: World, node: str, address: str) -> set[str] | None:
    """Addresses to which a machine forwards what is sent to one; None where nobody there can tell."""
    pods = world.cluster.list("pods", PROXY.namespace, label_selector=LABEL)
    name = next((p["metadata"]["name"] for p in pods if p["spec"].get("nodeName") == node), "")
    if not name:
        return None
    lines = world.cluster.exec("kube-system", name, ["iptables-save", "-t", "nat"]).stdout.splitlines()
    chains = {line.rpartition("-j ")[2] for line in lines if f" -d {address}/32 " in line}
    ends = {line.rpartition("-j ")[2] for line in lines if line.split()[1:2] and line.split()[1] in chains}
    return {
        line.rpartition("--to-destination ")[2].rpartition(":")[0]
        for line in lines
        if "--to-destination" in line and line.split()[1] in ends
    }


def _machines(target: ServiceTarget) -> list[str]:
    """Machines on which a caller of the Service stands, those first that bear most of them."""
    names = _callers(target)
    stand: dict[str, int] = {}
    for pod in target.inventory.pods:
        labels = (pod["metadata"].get("labels") or {}).items()
        if (pod.get("status") or {}).get("phase") == "Running" and any(its <= labels for its in names):
            node = pod["spec"]["nodeName"]
            stand[node] = stand.get(node, 0) + 1
    return sorted(stand, key=lambda node: (-stand[node], node))


def _callers(target: ServiceTarget) -> list[ItemsView[str, str]]:
    """Labels of the pods that call it by the Service with every request: of components, and of the users' load."""
    app = target.app
    callers = [
        each
        for each in app.components
        if (each.name in app.serving or each.kind == "load")
        and any(
            need.on == target.component.name and need.via == "service" and need.essential
            for need in each.dependencies
        )
    ]
    labels = [
        (template(target.inventory.workload(each)).get("metadata") or {}).get("labels") for each in callers
    ]
    # By no labels nobody is found: a Job may leave them to the cluster.
    return [its.items() for its in labels if its]


def _machine(target: ServiceTarget, chance: Chance) -> str:
    return str(chance.choice("node", _machines(target)))


def _passes_the_rules(target: ServiceTarget) -> bool:
    """Whether somebody calls it by the Service's address, and its pods come and go by rollouts.

    Who cannot reach a cache may die of it and be out of the way, so that the pods elsewhere serve everybody.
    """
    its = target.component
    return (
        not target.headless and its.workload in ROLLED and its.kind != "memcached" and bool(_machines(target))
    )


@fault(
    layer="network",
    mechanism="stale_service_rules",
    targets=services(at_request=True, where=_passes_the_rules),
    level="hard",
)
def stale_backend_on_some_nodes(
    target: ServiceTarget, node: str = drawn(_machine, published=lambda target: _machines(target)[0])
) -> Fault:
    """kube-proxy on one machine is stuck: clients there still connect to the pods that an ordinary rollout has replaced.

    Service, endpoints and pods are right, and clients on other machines are served. Everything that is rolled out from now on
    is lost to the machine as well, until another kube-proxy starts there.
    """
    return Fault(
        resource=PROXY,
        cause=f"kube-proxy on node {node} is stuck and has stopped updating its rules: clients there are still sent to the old "
        f"pods of {target.components[0]} that are gone since its last rollout, while Service {target.name} and its endpoints are right.",
        disturbances=[ServiceRulesStuck(node)],
        trigger=[Restart(target.workload)],
        details={"field": "rules", "wrong": "stale"},
        facts={"node": node, "target": target.name},
        remedies=[
            [
                f"kubectl delete pod -n kube-system -l {LABEL} --field-selector spec.nodeName={node}",
                "kubectl rollout status ds/kube-proxy -n kube-system --timeout=120s",
            ]
        ],
        look=[
            f"kubectl get pods -n {target.namespace} -o wide",
            f"kubectl get endpoints {target.name} -n {target.namespace}",
            f"kubectl get pods -n kube-system -l {LABEL} -o wide",
            f"kubectl exec -n kube-system $(kubectl get pods -n kube-system -l {LABEL} --field-selector spec.nodeName={node} -o name) "
            "-- iptables-save -t nat",
        ],
        aliases=[node, "kube-proxy"],
        cured=[_Follows(node, target.service)],
    )
