"""A login that its registry refuses: pods that run serve on, new ones are not pulled, and a cached image hides it only."""

from __future__ import annotations

import pytest

from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.registry import declaration
from sregym_env.kube.pulling import logins
from sregym_env.runtime.chance import Chance
from sregym_env.tools.workstation import Workstation
from tests.redteam.playing import NAMESPACE, subject, tried

FAULT = declaration("registry_credentials_expired")
TARGET = "geo"
COPY = (
    "NEW=$(kubectl get secret geo-robot -n hotel-reservation -o jsonpath='{.data.\\.dockerconfigjson}'); "
    'kubectl patch secret geo-regcred -n hotel-reservation -p "{\\"data\\":{\\".dockerconfigjson\\":\\"$NEW\\"}}"'
)


@pytest.fixture
def workstation() -> Workstation:
    return Workstation(subject("registry_credentials_expired", TARGET).world(), ONCALL)


def _pods(workstation: Workstation) -> str:
    return workstation.run(f"kubectl get pods -n {NAMESPACE} -l io.kompose.service={TARGET}").text


def test_the_registry_refuses_and_containerd_says_how(workstation: Workstation) -> None:
    told = workstation.run(f"kubectl describe pods -n {NAMESPACE} -l io.kompose.service={TARGET}").text
    assert "failed to authorize: failed to fetch oauth token: unexpected status from GET request to" in told
    assert "account=pull&scope=repository%3A" in told
    assert "403 Forbidden" in told


def test_the_valid_login_in_the_pull_secret_is_taken_at_the_next_attempt(workstation: Workstation) -> None:
    assert "ImagePullBackOff" in _pods(workstation) or "ErrImagePull" in _pods(workstation)
    workstation.run(COPY)
    workstation.run("sleep 330")
    assert "1/1" in _pods(workstation)


def test_nobody_is_let_in_with_an_invented_login(workstation: Workstation) -> None:
    made = "kubectl create secret docker-registry geo-regcred --docker-server=ghcr.io --docker-username=admin --docker-password=admin"
    workstation.run(f"{made} -n {NAMESPACE} --dry-run=client -o yaml | kubectl replace -f -")
    workstation.run("sleep 330")
    assert "0/1" in _pods(workstation)


def test_an_image_of_the_cache_hides_it_only() -> None:
    line = (
        f"kubectl patch deploy {TARGET} -n {NAMESPACE} --type=json "
        '-p \'[{"op":"replace","path":"/spec/template/spec/containers/0/imagePullPolicy","value":"IfNotPresent"}]\''
    )
    verdict, _ = tried("registry_credentials_expired", TARGET, [line, "sleep 60"])
    assert "cause: pull secret" in {check.name for check in verdict.failed}


def test_a_valid_login_stands_in_another_secret(every_inventory: Inventory) -> None:
    for target in FAULT.targets.find(every_inventory):
        instance = FAULT.bind(every_inventory, target.name, None, Chance(("login", 1)))
        (valid,) = (edit.manifest for edit in instance.fault.edits if hasattr(edit, "manifest"))
        found = logins([valid], target.container["image"])
        assert found == (instance.parameters["after"],)
        assert instance.parameters["before"] not in found
