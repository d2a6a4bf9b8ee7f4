"""The names of a whole namespace are denied: who looks one up hears so, whoever asks, and other namespaces do not."""

from __future__ import annotations

from sregym_env.cluster.oncall import ONCALL
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import subject

FAULT, NAMESPACE = "stale_coredns_config", "hotel-reservation"


def test_every_name_of_the_namespace_is_denied_and_no_other() -> None:
    workstation = Workstation(subject(FAULT, NAMESPACE).world(), ONCALL)

    def looked_up(name: str) -> tuple[int, str]:
        answer = workstation.run(f"kubectl exec -n {NAMESPACE} deploy/mongodb-geo -- getent hosts {name}")
        return answer.exit_code, answer.text

    for service in ("consul", "mongodb-rate", "jaeger"):
        code, text = looked_up(f"{service}.{NAMESPACE}.svc.cluster.local")
        assert code, text
    assert looked_up("kubernetes.default.svc.cluster.local")[0] == 0


def test_the_services_themselves_are_as_they_were() -> None:
    workstation = Workstation(subject(FAULT, NAMESPACE).world(), ONCALL)
    for service in ("consul", "mongodb-rate"):
        endpoints = workstation.run(f"kubectl get endpoints {service} -n {NAMESPACE} -o json").text
        assert '"addresses"' in endpoints
    assert "Running" in workstation.run("kubectl get pods -n kube-system -l k8s-app=kube-dns").text
