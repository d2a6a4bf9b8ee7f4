"""A webhook that is well and not trusted: what is verified against what, and what a repair may be."""

from __future__ import annotations

import pytest

from sregym_env.cluster.oncall import ONCALL
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE, subject, tried

CONFIG = "validatingwebhookconfiguration pod-policy"
IN_CONFIG = f"kubectl get {CONFIG} -o jsonpath='{{.webhooks[0].clientConfig.caBundle}}' | base64 -d"
OWN, SERVED = (
    f"kubectl get secret pod-policy-tls -n kube-system -o jsonpath='{{.data.{key}\\.crt}}' | base64 -d"
    for key in ("ca", "tls")
)
RESTARTED = [
    f"kubectl rollout restart deploy/geo -n {NAMESPACE}",
    f"kubectl rollout status deploy/geo -n {NAMESPACE} --timeout=120s",
]


@pytest.fixture
def workstation() -> Workstation:
    return Workstation(subject("webhook_ca_mismatch", "geo").world(), ONCALL)


def test_pods_are_refused_with_the_words_of_go(workstation: Workstation) -> None:
    events = workstation.run(f"kubectl get events -n {NAMESPACE} --field-selector reason=FailedCreate").text
    assert (
        'failed calling webhook "check.pod-policy.example.com": failed to call webhook: Post '
        '"https://pod-policy.kube-system.svc:443/pods?timeout=10s": tls: failed to verify certificate: x509: '
        "certificate signed by unknown authority" in events
    )


def test_the_server_is_well_and_its_certificate_valid(workstation: Workstation) -> None:
    assert "1/1" in workstation.run("kubectl get deploy pod-policy -n kube-system").text
    checked = workstation.run(f"{SERVED} | openssl x509 -noout -checkend 86400")
    assert checked.exit_code == 0


def test_the_authority_beside_the_server_has_signed_and_the_one_of_the_configuration_has_not(
    workstation: Workstation,
) -> None:
    for line, name in ((IN_CONFIG, "cluster-policy-ca"), (OWN, "platform-services-ca")):
        assert (
            workstation.run(f"{line} | openssl x509 -noout -subject").text.strip() == f"subject=CN = {name}"
        )
    workstation.run(f"{IN_CONFIG} > other.pem")
    workstation.run(f"{OWN} > own.pem")
    workstation.run(f"{SERVED} > served.pem")
    assert workstation.run("openssl verify -CAfile own.pem served.pem").exit_code == 0
    assert workstation.run("openssl verify -CAfile other.pem served.pem").exit_code != 0


def test_the_server_logs_that_it_is_not_trusted(workstation: Workstation) -> None:
    logged = workstation.run("kubectl logs deploy/pod-policy -n kube-system").text
    assert "TLS handshake error" in logged and "bad certificate" in logged


@pytest.mark.parametrize(
    "others", ["validatingwebhookconfiguration route-audit", "mutatingwebhookconfiguration debug-toolbox"]
)
def test_what_is_others_must_stay(others: str) -> None:
    lines = [f"kubectl delete {CONFIG}", f"kubectl delete {others}", *RESTARTED]
    verdict, complaints = tried("webhook_ca_mismatch", "geo", lines)
    assert not complaints
    assert [check.name for check in verdict.failed if check.name.startswith("cause")] == [
        "cause: what is others' stays"
    ]


def test_scaled_to_nothing_is_no_repair() -> None:
    lines = [f"kubectl scale deploy geo --replicas=0 -n {NAMESPACE}", f"kubectl delete {CONFIG}"]
    verdict, _ = tried("webhook_ca_mismatch", "geo", lines)
    assert not verdict.passed
