"""What kubectl says about things that are not there, word for word as version 1.32 does."""

from __future__ import annotations

import pytest

from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: gone}\nspec: {containers: [{name: c, image: x}]}\n"
UNKNOWN_FIELD = POD.replace("spec: {", "spec: {nonsense: 1, ")
REQUEST = """\
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: me}
spec: {request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWE1IOENBUUF3SFRFTU1Bb0dBMVVFQ2d3RGMzSmxNUTB3Q3dZRFZRUUREQVJxWVc1bE1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUU5bXVrc1NvZW9uQldqODl3WjRBSzZ3Ly84YzRaMlRIUGZlcmVWS2NxCmg3b2dYbHNpc3FHby9jT01RdjNoRkZjWDc4TWtkaGw2ajdOb0wrNnFZUWliRGFBQU1Bb0dDQ3FHU000OUJBTUMKQTBnQU1FVUNJRWZZUW1taWlEUDhTamFiZ0RKVEUrTnZjaEIybDU2eUtsdDE0Y3N0VUQrbUFpRUE5YXJRaExUMwpreU9zOHU3L0Q2SXBZZVhGdGdtaDFxNFhISjFiWDVNdTl2Yz0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth]}
"""
NOWHERE = 'Error from server (NotFound): namespaces "nowhere" not found\n'
NOT_A_PATCH = "Error from server (BadRequest): json: cannot unmarshal {} into Go value of type map[string]interface {{}}\n"


@pytest.fixture(scope="module")
def world() -> EmbeddedWorld:
    return bare_cluster()


@pytest.mark.parametrize(
    ("line", "stdin", "code", "stderr"),
    [
        ("get pod x -n nowhere", "", 1, NOWHERE),
        ("describe pod x -n nowhere", "", 1, NOWHERE),
        ("exec x -n nowhere -- ls", "", 1, NOWHERE),
        ("delete pod x -n nowhere", "", 1, 'Error from server (NotFound): pods "x" not found\n'),
        (
            "delete -f -",
            POD,
            1,
            'Error from server (NotFound): error when deleting "STDIN": pods "gone" not found\n',
        ),
        (
            "scale deploy/nothing --replicas=3",
            "",
            1,
            'error: no objects passed to scale deployments.apps "nothing" not found\n',
        ),
        ("patch ns default -p nonsense", "", 1, NOT_A_PATCH.format("string")),
        ("patch ns default -p 5", "", 1, NOT_A_PATCH.format("number")),
        ("patch ns default -p x --dry-run=client", "", 1, "error: invalid JSON document\n"),
        ("create -f - --validate=warn", UNKNOWN_FIELD, 0, 'Warning: unknown field "spec.nonsense"\n'),
        (
            "certificate approve nothing",
            "",
            1,
            'Error from server (NotFound): certificatesigningrequests.certificates.k8s.io "nothing" not found\n',
        ),
        (
            "certificate approve",
            "",
            1,
            "error: one or more CSRs must be specified as <name> or -f <filename>\n",
        ),
    ],
)
def test_says_what_is_missing(world: EmbeddedWorld, line: str, stdin: str, code: int, stderr: str) -> None:
    done = Kubectl(world.fork().cluster).run(line.split(), stdin)
    assert (done.exit_code, done.stderr) == (code, stderr)


def test_a_certificate_request_is_approved_once(world: EmbeddedWorld) -> None:
    kubectl = Kubectl(world.fork().cluster)
    kubectl.run(["create", "-f", "-"], REQUEST)
    for _ in range(2):
        done = kubectl.run(["certificate", "approve", "me"])
        assert done.stdout == "certificatesigningrequest.certificates.k8s.io/me approved\n"
    assert "Approved" in kubectl.run(["get", "csr"]).stdout
    assert kubectl.run(["certificate", "deny", "me"]).exit_code == 1


def test_a_rules_review_lists_what_the_caller_may_do(world: EmbeddedWorld) -> None:
    done = Kubectl(world.fork().cluster).run(["auth", "can-i", "--list"])
    first = done.stdout.splitlines()[1].split()
    assert first == ["*.*", "[]", "[]", "[*]"]
