"""Nothing that a client of the served cluster reads, and nothing new in the process's own, tells of the fault."""

from __future__ import annotations

import http.client
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from sregym_env import apps
from sregym_env.cluster.identity import ADMIN
from sregym_env.cluster.oncall import ONCALL
from sregym_env.kube.ownership.inferred import with_managed_fields
from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.types import Manifest
from sregym_env.serve.access import Identities
from sregym_env.serve.app import Application
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.incidents import Incidents
from sregym_env.serve.message import Request, Response
from sregym_env.serve.pace import Pace
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation

from .playing import APP, NAMESPACE, subject
from .test_leaks import one_of_each, telltale

N = f"-n {NAMESPACE}"
SAMPLE = one_of_each()[::4]
DOCUMENTS = (
    "/ /version /metrics /livez /readyz /healthz/etcd /logs/ /logs/kube-apiserver.log /configz /debug/pprof/ /api /apis "
    "/openapi/v3 /openid/v1/jwks /.well-known/openid-configuration /statusz /flagz /nowhere /../etc/passwd /c/1 /status "
    "/api/v1/nodes/sre-worker/proxy/configz /api/v1/nodes/sre-worker/proxy/logs/ /apis/sregym/v1/faults /api/v2 "
    "/apis/metrics.k8s.io/v1beta1/pods /apis/apps/v1/namespaces/x/deployments/none"
).split()
FORMS = ("application/json", "application/json;as=Table;v=v1;g=meta.k8s.io")


class Client:
    """Requests to a world in process, as the server answers them."""

    def __init__(self, world: EmbeddedWorld) -> None:
        users = {"agent": ONCALL, "admin": ADMIN}
        self.app = Application(Hosted(Pace(world, "step"), Identities(users)))

    def get(self, path: str, token: str = "admin", accept: str = FORMS[0]) -> str:
        """Body and headers of the answer."""
        headers = {"authorization": f"Bearer {token}", "accept": accept}
        reply = self.app.respond(Request("GET", path, {}, headers))
        assert isinstance(reply, Response)
        return f"{reply.body.decode(errors='replace')}\n{reply.headers}"

    def lists(self) -> Iterator[str]:
        """Paths of all collections."""
        groups = orjson.loads(self.get("/apis").rpartition("\n")[0])["groups"]
        for base in ("/api/v1", *(f"/apis/{v['groupVersion']}" for g in groups for v in g["versions"])):
            yield base
            for resource in orjson.loads(self.get(base).rpartition("\n")[0])["resources"]:
                if "list" in resource["verbs"]:
                    yield f"{base}/{resource['name']}"


@pytest.mark.parametrize(("fault", "target"), SAMPLE, ids=lambda value: value)
def test_nothing_served_tells(fault: str, target: str) -> None:
    world = subject(fault, target).world()
    assert isinstance(world, EmbeddedWorld)
    client = Client(world)
    paths = [*client.lists(), *DOCUMENTS]
    for path in paths:
        for token in ("admin", "agent"):
            text = client.get(path, token)
            if "sregym" not in path:  # an error names what was asked for
                assert not telltale(text, fault), path
        assert not telltale(client.get(path, accept=FORMS[1]), fault) or "sregym" in path, path


def owners(world: EmbeddedWorld) -> dict[tuple[str, str, str], tuple[Manifest, list[Any]]]:
    """Every object with its owners as clients see them, by resource, namespace and name."""
    found = {}
    for resource in BUILTIN.resources:
        if resource.storage_key != resource.key:
            continue
        for obj in world.store.list(resource.key):
            metadata = obj["metadata"]
            shown = with_managed_fields(resource, obj)["metadata"].get("managedFields") or []
            found[resource.key, metadata.get("namespace", ""), metadata["name"]] = (obj, shown)
    return found


HEALTHY: dict[int, Any] = {}


@pytest.mark.parametrize(("fault", "target"), SAMPLE, ids=lambda value: value)
def test_owners_of_fields_do_not_date_the_fault(fault: str, target: str) -> None:
    """The managers are those of a healthy system; a time is the object's creation or one its status tells."""
    world = subject(fault, target).world()
    assert isinstance(world, EmbeddedWorld)
    if not HEALTHY:
        HEALTHY[0] = owners(deployed_world(apps.app(APP), 5))
    for key, (obj, shown) in owners(world).items():
        created = obj["metadata"].get("creationTimestamp", "")
        told = repr(obj.get("status"))
        if key[0] == "leases.coordination.k8s.io":
            # Renewed by the clock, whatever is wrong.
            continue
        for entry in shown:
            if entry.get("subresource") != "status":
                assert entry["time"] == created, key
            else:
                # Heartbeats come by the clock, whatever is wrong.
                beats = key[0] == "nodes" and entry["manager"] == "kubelet"
                assert beats or entry["time"] == created or entry["time"] in told, key
        before = HEALTHY[0].get(key)
        if before is not None and key[0] not in ("events", "events.events.k8s.io"):
            ours, theirs = (
                [(e["manager"], e["operation"], e["apiVersion"]) for e in entries if "subresource" not in e]
                for entries in (shown, before[1])
            )
            assert ours == theirs, key
            marks = (obj["metadata"].get("annotations") or {}).keys()
            new = marks - (before[0]["metadata"].get("annotations") or {}).keys()
            assert not {mark for mark in new if "kubernetes.io/" not in mark}, key


READ_IN_CONTAINERS = (
    "kubectl debug node/sre-worker -it --image=busybox --profile=sysadmin -- sh -c 'env; id; ps aux; ls -laR /host; "
    "cat /host/etc/* /host/etc/*/* /host/var/lib/kubelet/* /host/var/log/* /proc/1/* /etc/*; mount; hostname'",
    f"kubectl debug $(kubectl get pod {N} -l io.kompose.service=geo -o name) {N} -it --image=busybox --target=hotel-reserv-geo -- sh -c 'env; ps aux; ls -laR /proc/1'",
    f"kubectl debug $(kubectl get pod {N} -l io.kompose.service=geo -o jsonpath='{{.items[0].metadata.name}}') {N} "
    "--copy-to=copy --container=hotel-reserv-geo -- sh -c 'env; sleep 100'",
    f"sleep 20; kubectl logs copy {N}; kubectl get pod copy {N} -o yaml --show-managed-fields; kubectl describe pod copy {N}",
    f"kubectl cp {N} copy:/etc /tmp/etc; cat /tmp/etc/*; ls -laR /tmp",
    "kubectl proxy --port=8001 & sleep 1; curl -si localhost:8001/; curl -si localhost:8001/version; jobs -l; kill %1",
    f"kubectl port-forward {N} svc/frontend 5000:5000 & sleep 2; curl -si localhost:5000/; jobs; ps aux",
    f"KUBE_EDITOR='env; cat' kubectl edit deploy geo {N}",
    f"kubectl attach {N} deploy/geo; kubectl exec -it {N} deploy/consul -- sh -c 'env; set; ls -la /; cat /proc/1/status'",
    "kubectl config view --raw --flatten; kubectl config get-contexts; kubectl cluster-info; kubectl options",
    "kubectl get csr; kubectl get crd -o yaml; kubectl get validatingadmissionpolicies -o yaml; kubectl auth whoami -o yaml",
    f"kubectl kustomize /; kubectl kustomize ../../..; kubectl diff -k / {N}",
    "kubectl get pods -v=9; kubectl get nonsense -v=8; kubectl --server=https://1.2.3.4 get pods",
)


@pytest.mark.parametrize(("fault", "target"), SAMPLE[::3], ids=lambda value: value)
def test_no_console_tells(fault: str, target: str) -> None:
    workstation = Workstation(subject(fault, target).world(), ONCALL)
    for command in READ_IN_CONTAINERS:
        assert not telltale(workstation.run(command).text, fault), command


@pytest.mark.parametrize("name", ["", "7"])
def test_files_desk_and_wire_tell_nothing(name: str, tmp_path: Path) -> None:
    """Over the wire: the kubeconfig and its directory, response headers, the desk and its errors."""
    pool = Incidents(tmp_path / "files", lambda *_: None, mode="step")
    incident = pool.open("hotel-reservation/scale_to_zero/geo", seed=424242, name=name)
    thread = threading.Thread(target=pool.server.run, daemon=True)
    thread.start()
    while not pool.server.started:
        time.sleep(0.005)
    try:
        texts = [str(path.relative_to(tmp_path)) for path in (tmp_path / "files").rglob("*")]
        texts += [path.read_text() for path in (tmp_path / "files").rglob("*") if path.is_file()]
        config = yaml.safe_load(incident.kubeconfig.read_text())
        token = config["users"][0]["user"]["token"]
        base = f"/c/{name}" if name else ""
        host = incident.cluster.url.split("/")[2]
        secure = http.client.HTTPSConnection(host, context=ssl._create_unverified_context(), timeout=60)
        for path in ("/api/v1/pods?limit=1", "/nowhere", "/apis/apps/v1/deployments?continue=x", "/metrics"):
            for headers in ({}, {"Authorization": f"Bearer {token}"}, {"Authorization": "Bearer x"}):
                texts.append(asked(secure, "GET", base + path, headers))
        plain = http.client.HTTPConnection("127.0.0.1", pool.desk_port, timeout=60)
        for method in ("GET", "POST", "PUT"):
            for path in (
                "/",
                "/status",
                "/get_app",
                "/api/v1/alerts",
                "/problem",
                "/docs",
                "/openapi.json",
                "/c/9/status",
            ):
                texts.append(asked(plain, method, base + path, {}))
        for body in (b"x", b'{"solution": 1}', b'{"solution": ""}', b'{"solution": "it is geo"}'):
            texts.append(asked(plain, "POST", f"{base}/submit", {}, body))
    finally:
        pool.server.stop()
        thread.join(30)
    for text in texts:
        assert not telltale(text, "scale_to_zero"), text
        assert "424242" not in text and "mitigated" not in text, text


def asked(
    connection: http.client.HTTPConnection, method: str, path: str, headers: dict[str, str], body: bytes = b""
) -> str:
    """Status, headers and body of an answer, without the path that was asked for."""
    connection.request(method, path, body, headers)
    reply = connection.getresponse()
    return f"{reply.status} {reply.getheaders()} {reply.read().decode(errors='replace')}"
