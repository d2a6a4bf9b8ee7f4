"""curl and a token: what is left when there is no client at all."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import pytest

from tests.serve.serving import Served

NS = "/api/v1/namespaces/hotel-reservation"


class Curl:
    """curl with a token, against the served cluster."""

    def __init__(self, served: Served) -> None:
        found = re.search(r"token: (\S+)", served.kubeconfig.read_text())
        assert found is not None
        self._authority = served.kubeconfig.parent / "authority.crt"
        self._authority.write_bytes(served.server.certificates.authority)
        self._token = found[1]
        self._url = served.server.url

    def __call__(self, path: str, *more: str) -> str:
        words = ["curl", "-s", "--cacert", str(self._authority), "-H", f"Authorization: Bearer {self._token}"]
        done = subprocess.run(
            [*words, *more, self._url + path], capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout


@pytest.fixture
def curl(server: Served) -> Curl:
    if shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    return Curl(server)


def test_people_read_indented_json(curl: Curl) -> None:
    told = curl(f"{NS}/services/geo")
    assert told.startswith(
        '{\n  "kind": "Service",\n  "apiVersion": "v1",\n  "metadata": {\n    "name": "geo",\n'
    )
    assert '"spec": {\n    "ports": [' in told
    listed = curl(f"{NS}/services?limit=1")
    assert listed.startswith(
        '{\n  "kind": "ServiceList",\n  "apiVersion": "v1",\n  "metadata": {\n    "resourceVersion"'
    )
    assert '"items": [\n    {\n      "metadata": {\n        "name": "consul",' in listed
    assert "\n" not in curl(f"{NS}/services/geo?pretty=false").rstrip()
    assert "\n" not in curl(f"{NS}/services/geo", "-A", "agent").rstrip()
    assert curl(f"{NS}/services/geo?pretty=true", "-A", "agent").startswith("{\n  ")


def test_refusals_are_read_as_well(curl: Curl) -> None:
    told = curl(f"{NS}/pods/nobody")
    assert (
        '{\n  "kind": "Status",\n  "apiVersion": "v1",\n  "metadata": {},\n  "status": "Failure",\n' in told
    )
    assert curl(f"{NS}/pods/nobody", "-o", "/dev/null", "-w", "%{http_code}") == "404"
    assert curl("/api/v1/nodes", "-H", "Authorization: Bearer wrong", "-w", "%{http_code}").endswith("401")


def test_yaml(curl: Curl) -> None:
    told = curl(f"{NS}/configmaps/mongo-geo-script", "-H", "Accept: application/yaml")
    assert told.startswith("apiVersion: v1\ndata:\n  k8s-geo-mongo.sh: |\n    #!/bin/bash\n")


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("merge-patch+json", {"data": {"x": "2", "y": None}}, {"x": "2"}),
        ("strategic-merge-patch+json", {"data": {"y": "2"}}, {"x": "1", "y": "2"}),
        ("json-patch+json", [{"op": "remove", "path": "/data/y"}], {"x": "1"}),
    ],
)
def test_writes(curl: Curl, kind: str, body: Any, expected: dict[str, str]) -> None:
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1", "y": "1"}}
    path = f"{NS}/configmaps"
    json_type = ("-H", "Content-Type: application/json")
    assert json.loads(curl(path, *json_type, "-d", json.dumps(made)))["metadata"]["uid"]
    patch = ("-X", "PATCH", "-H", f"Content-Type: application/{kind}", "-d", json.dumps(body))
    assert json.loads(curl(f"{path}/a", *patch))["data"] == expected
    assert json.loads(curl(f"{path}/a", "-X", "DELETE"))["status"] == "Success"


def test_yaml_is_applied(curl: Curl) -> None:
    body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: '1'\n"
    kind = ("-H", "Content-Type: application/apply-patch+yaml")
    path = f"{NS}/configmaps/a?fieldManager=curl"
    codes = [
        curl(path, "-X", "PATCH", *kind, "-d", body, "-o", "/dev/null", "-w", "%{http_code}") for _ in "ab"
    ]
    assert codes == ["201", "200"]


def test_a_watch_ends_when_it_was_asked_to(curl: Curl) -> None:
    told = curl(f"{NS}/services?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dgeo", "-N")
    (event,) = map(json.loads, told.splitlines())
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "geo")


def test_the_application_is_reached_through_the_proxy(curl: Curl) -> None:
    assert "<html" in curl(f"{NS}/services/http:frontend:5000/proxy/")
