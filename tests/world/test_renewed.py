"""Renewed worlds: the same up to names, and with no name of the kept one."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest

from sregym_env.cluster.identity import ADMIN
from sregym_env.runtime.chance import Chance
from sregym_env.sim.apiserver.allocation import NODE_PORTS
from sregym_env.sim.bringup.deploy import bare_cluster, deployed_world
from sregym_env.sim.bringup.plan import PUBLISHED, cluster_of
from sregym_env.sim.bringup.renewal import _DECLARED, _PARTS, Renewal, prepared, renewed
from sregym_env.sim.bringup.renewal.identities import Drawn
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.network.addressing import inquiring, learned, note, present
from sregym_env.sim.network.connections import connect
from sregym_env.sim.world import SimWorld
from sregym_env.tools.workstation import Workstation
from tests.world.renewing import SECRET_WORD, Back, busy_world, plain, unchanged
from tests.world.worlds import APP, NAMESPACE

WORLDS: dict[str, Callable[[], EmbeddedWorld]] = {
    "bare": bare_cluster,
    "published": lambda: deployed_world(APP, 3),
    "busy": busy_world,
}


@pytest.fixture(scope="module", params=WORLDS)
def renewal(request: pytest.FixtureRequest) -> Renewal:
    return prepared(WORLDS[request.param]())


@pytest.fixture(scope="module")
def busy() -> Renewal:
    return prepared(busy_world(), [SECRET_WORD])


def chance(number: int = 1) -> Chance:
    return Chance(("renewed", number))


# --- the state ------------------------------------------------------------------------------------------------


def test_what_one_of_them_finds_out_no_other_knows(renewal: Renewal) -> None:
    """Also where they begin as the very same: nothing that was known had a name in it."""
    kept = replace(present(renewal.world), cache={}, seen={}, found={})
    renewal.world.view = kept
    again = prepared(renewal.world)
    again.world.view = kept
    one, other = (again.draw(chance(number)) for number in (1, 2))
    with inquiring(one):
        note(one, "ground")
    learned(one, ("what", "they", "want"), lambda: "peace")
    assert present(one).cache and present(one).seen
    assert not present(other).cache and not present(other).seen and not kept.cache and not kept.seen


def test_with_its_own_identities_a_world_is_the_same(renewal: Renewal) -> None:
    made = renewal.with_identities(unchanged(renewal), {})
    assert made.digest() == renewal.world.digest()


def test_a_world_renewed_back_is_the_same(renewal: Renewal) -> None:
    drawn = renewal.identities.drawn(chance())
    there = prepared(renewal.with_identities(drawn, {}))
    back = dict(zip(drawn.words, renewal.identities.words(), strict=True))
    ports = dict(zip(drawn.ports, renewal.identities.ports, strict=True))
    shifts = {node.memory: shift for node, shift in drawn.shifts.items()}
    assert there.world.digest() != renewal.world.digest()
    before = Drawn(
        [back[word] for word in there.identities.words()],
        [ports[port] for port in there.identities.ports],
        {node: -shifts[node.memory] for node in there.identities.ranges},
    )
    assert there.with_identities(before, {}).digest() == renewal.world.digest()


def test_no_old_identity_is_left(renewal: Renewal) -> None:
    old = {*_identities(renewal.world)}
    text = pickle.dumps(renewal.draw(chance())).decode("latin-1")
    assert sorted(word for word in old if word in text) == []


def _identities(world: EmbeddedWorld) -> Iterator[str]:
    """What nobody has chosen, from the state as it stands."""
    state = pickle.dumps(world).decode("latin-1")
    declared = repr(world._app and world._app.manifests)
    yield from {*re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", state)}
    yield from {*re.findall(r"containerd://([0-9a-f]{64})", state)}
    for resource in world.store.resources():
        for obj in world.store.list(resource):
            metadata = obj["metadata"]
            if "generateName" in metadata and metadata["name"][-1].isalnum():
                yield metadata["name"]
            labels = metadata.get("labels") or {}
            yield from (value for label, value in labels.items() if label.endswith("-hash"))
    for service in world.store.list("services"):
        address = service["spec"].get("clusterIP", "")
        if address.count(".") == 3 and not address.endswith((".0.1", ".0.10")):
            yield address
        ports = (port.get("nodePort") for port in service["spec"].get("ports", ()))
        yield from (f'"nodePort":{port}' for port in ports if port and str(port) not in declared)


def test_every_part_of_a_world_is_thought_of() -> None:
    fixed = {
        "clock",
        "streams",
        "epoch",
        "acting",
        "inquiry",
        "audit",
        "unread",
        "_machinery",
        "_programs",
        "_logs_owned",
        "view",
    }
    assert {*SimWorld.__slots__} == {*_PARTS, *_DECLARED, *fixed, "store", "__weakref__"}


def test_addresses_move_together(busy: Renewal) -> None:
    drawn = busy.identities.drawn(chance())
    made = busy.with_identities(drawn, {})
    shifts = {node.prefix: (node, shift) for node, shift in drawn.shifts.items()}
    names = dict(zip(busy.identities.words(), drawn.words, strict=True))
    after = {pod["metadata"]["uid"]: pod for pod in made.store.list("pods")}
    moved = 0
    for pod in busy.world.store.list("pods"):
        if not pod["spec"].get("hostNetwork") and pod["status"].get("podIP"):
            prefix, _, last = pod["status"]["podIP"].rpartition(".")
            other = after[names[pod["metadata"]["uid"]]]
            node, shift = shifts[prefix]
            assert other["status"]["podIP"] == f"{prefix}.{node.moved(int(last), shift)}"
            moved += shift > 0
    assert moved > 20


def test_a_network_of_another_size_and_names_of_machines() -> None:
    plan = replace(PUBLISHED, service_cidr="10.100.16.0/21")
    kept = prepared(cluster_of(plan, seed=-1), ["sre-worker2"])
    made = kept.draw(chance(12), {"sre-worker2": "ip-10-0-7-91"})
    network = IPv4Network(plan.service_cidr)
    before = {s["metadata"]["name"]: s["spec"]["clusterIP"] for s in kept.world.store.list("services")}
    after = {s["metadata"]["name"]: s["spec"]["clusterIP"] for s in made.store.list("services")}
    assert all(IPv4Address(address) in network for address in after.values())
    assert {name for name in before if before[name] != after[name]} == {"metrics-server"}
    assert made.store.get("nodes", "", "ip-10-0-7-91") is not None
    made.reseed(5)
    Workstation(made, ADMIN).run("kubectl -n kube-system delete pod --all")
    made.advance(120)
    here = [p for p in made.store.list("pods", "kube-system") if p["spec"]["nodeName"] == "ip-10-0-7-91"]
    assert here and all(pod["status"]["phase"] == "Running" for pod in here)
    assert b"sre-worker2" not in pickle.dumps(made)


def test_endpoints_stay_in_order(busy: Renewal) -> None:
    for number in range(12):
        for endpoints in busy.draw(chance(number)).store.list("endpoints"):
            for subset in endpoints.get("subsets", ()):
                addresses = [IPv4Address(entry["ip"]) for entry in subset.get("addresses", ())]
                assert addresses == sorted(addresses)


def test_order_of_equal_pods_is_kept(busy: Renewal) -> None:
    drawn = busy.identities.drawn(chance(2))
    names = dict(zip(busy.identities.words(), drawn.words, strict=True))
    made = busy.with_identities(drawn, {})
    for namespace in ("billing", "kube-system", NAMESPACE):
        before = [names[pod["metadata"]["uid"]] for pod in busy.world.store.list("pods", namespace)]
        assert [pod["metadata"]["uid"] for pod in made.store.list("pods", namespace)] == before


# --- what it does ---------------------------------------------------------------------------------------------

READS = (
    "kubectl get pods -A -o wide",
    "kubectl get all -A",
    "kubectl get events -A",
    "kubectl get pods -A -o yaml",
    "kubectl get nodes -o yaml",
    "kubectl get pv,pvc -A -o yaml",
    "kubectl get svc,endpoints,endpointslices -A -o yaml",
    "kubectl get rs,sts,ds,controllerrevisions,leases -A -o yaml",
    "kubectl describe pods -A",
    "kubectl describe deployments -A",
    "kubectl describe svc -A",
    f"kubectl rollout history deployment/frontend -n {NAMESPACE}",
    f"for p in $(kubectl get pods -n {NAMESPACE} -o name); do kubectl logs --tail=40 -n {NAMESPACE} $p; done",
    f"kubectl exec -n {NAMESPACE} deploy/frontend -- env",
    f"kubectl exec -n {NAMESPACE} deploy/frontend -- cat /etc/hosts",
    f"kubectl exec -n {NAMESPACE} deploy/geo -- nslookup frontend",
    f"curl -s http://frontend.{NAMESPACE}.svc.cluster.local:5000/hotels?inDate=2015-04-09",
    "curl -s http://sre-worker:$(kubectl -n billing get svc web -o jsonpath='{.spec.ports[0].nodePort}')/",
)
BILLING = (
    "for p in $(kubectl get pods -n billing -o name); do kubectl logs -n billing $p; done",
    "for p in $(kubectl get pods -n billing -l app=web -o name); do kubectl exec -n billing $p -- env; done",
    "kubectl -n billing get secrets -o yaml",
)
WRITES = (
    f"kubectl -n {NAMESPACE} rollout restart deployment/frontend",
    f"kubectl -n {NAMESPACE} scale deployment/rate --replicas=3",
    "sleep 20",
    f"kubectl -n {NAMESPACE} rollout undo deployment/geo",
    f"kubectl -n {NAMESPACE} delete pod -l io.kompose.service=user",
    "kubectl -n billing scale deployment/web --replicas=2",
    "kubectl -n billing delete pod --all",
    "sleep 60",
    f"kubectl -n {NAMESPACE} create deployment new --image=nginx",
    f"kubectl -n {NAMESPACE} expose deployment new --port=80 --type=NodePort",
    f"kubectl -n {NAMESPACE} delete deployment search",
    "kubectl -n kube-system rollout restart daemonset/kube-proxy",
    "kubectl -n billing rollout undo statefulset/db",
    "sleep 90",
)


def test_actions_have_the_same_outcome(renewal: Renewal) -> None:
    drawn = renewal.identities.drawn(chance(3))
    back = Back(renewal, drawn)
    old = Workstation(renewal.world.fork(), ADMIN)
    new = Workstation(renewal.with_identities(drawn, {}), ADMIN)
    for line in (*READS, *BILLING, *WRITES, *READS):
        assert back(new.run(line).text) == plain(old.run(line).text), line


def test_what_comes_later_does_not_collide(busy: Renewal) -> None:
    world = busy.draw(chance(4))
    world.reseed(77)
    desk = Workstation(world, ADMIN)
    taken = {pod["metadata"]["name"] for pod in world.store.list("pods")}
    for name, size in (("rate", 12), ("user", 12), ("profile", 12), ("search", 12), ("geo", 12)):
        desk.run(f"kubectl -n {NAMESPACE} scale deployment/{name} --replicas={size}")
        desk.run(
            f"kubectl -n {NAMESPACE} expose deployment/{name} --name={name}-out --port=80 --type=NodePort"
        )
    world.advance(60)
    pods = world.store.list("pods")
    assert len({pod["metadata"]["name"] for pod in pods} - taken) >= 50
    assert _unique(pod["metadata"]["uid"] for pod in pods)
    running = [pod for pod in pods if pod["status"].get("phase") == "Running"]
    assert _unique(pod["status"]["podIP"] for pod in running if not pod["spec"].get("hostNetwork"))
    services = world.store.list("services")
    assert _unique(s["spec"]["clusterIP"] for s in services if s["spec"]["clusterIP"] != "None")
    ports = [port["nodePort"] for s in services for port in s["spec"]["ports"] if "nodePort" in port]
    assert len(ports) >= 6 and _unique(iter(ports)) and all(port in NODE_PORTS for port in ports)


def _unique(found: Iterator[Any]) -> bool:
    listed = list(found)
    return len(listed) == len({*listed})


@pytest.mark.parametrize("number", range(3))
def test_users_are_served_as_before(number: int) -> None:
    world = renewed(deployed_world(APP, number), chance(number))
    world.reseed(number + 100)
    names = {pod["metadata"]["name"] for pod in world.store.list("pods", NAMESPACE)}
    world.advance(600)
    for health in world.traffic.health(600):
        assert health.success_ratio > 0.999 and health.requests > 0
    assert {pod["metadata"]["name"] for pod in world.store.list("pods", NAMESPACE)} == names
    assert not world.alerts()


def test_what_the_network_derived_is_what_it_would_derive(busy: Renewal) -> None:
    made = busy.draw(chance(11))
    assert made.view is not None and made.view.epoch == made.epoch
    anew = made.fork()
    anew.view = None
    hosts = [
        (
            f"{service['metadata']['name']}.{service['metadata']['namespace']}",
            service["spec"]["ports"][0]["port"],
        )
        for service in made.store.list("services")
    ]
    hosts += [(process.ip, process.listening[0]) for process in made.processes.values() if process.listening]
    addresses = {process.ip for process in busy.world.processes.values() if not process.host_network}
    hosts += [(address, 80) for address in sorted(addresses)]
    for source in list(made.processes.values())[::3]:
        for host, port in hosts:
            assert connect(made, source, host, port) == connect(anew, source, host, port)
    assert present(anew).cache.items() <= present(made).cache.items()


# --- values ---------------------------------------------------------------------------------------------------


def test_the_kept_world_stays_as_it_is(busy: Renewal) -> None:
    before = busy.world.digest()
    world = busy.draw(chance(5), {SECRET_WORD: "0therW0rd"})
    desk = Workstation(world, ADMIN)
    for line in (
        "kubectl delete pods --all -A",
        "kubectl -n billing delete pvc --all --wait=false",
        "sleep 200",
    ):
        desk.run(line)
    assert busy.world.digest() == before
    assert busy.with_identities(unchanged(busy), {}).digest() == before


def test_draws_are_values(busy: Renewal) -> None:
    worlds = [busy.draw(chance(number)) for number in (6, 7, 6)]
    digests = [world.digest() for world in worlds]
    assert digests[0] == digests[2] != digests[1]
    for world in worlds:
        world.reseed(1)
    copies = [worlds[0].fork(), pickle.loads(pickle.dumps(worlds[0])), worlds[2]]
    for copy in copies:
        Workstation(copy, ADMIN).run(f"kubectl -n {NAMESPACE} rollout restart deployment/geo")
        copy.advance(90)
    assert len({copy.digest() for copy in copies}) == 1


PROGRAM = """
from sregym_env import apps
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.bringup.renewal import renewed
world = renewed(deployed_world(apps.app("hotel-reservation"), 1), Chance((5,)), {"955b78124": "0a1b2c3d4"})
print(world.digest())
"""


def test_the_same_in_every_process() -> None:
    def printed(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert printed("1") == printed("2") != ""


# --- opaque texts ---------------------------------------------------------------------------------------------


def test_texts_are_replaced_wherever_they_stand(busy: Renewal) -> None:
    other = "0ther-W0rd"
    world = busy.draw(chance(8), {SECRET_WORD: other})
    state = pickle.dumps(world)
    for text in (SECRET_WORD, b64encode(SECRET_WORD.encode()).decode()):
        assert text.encode() not in state
    desk = Workstation(world, ADMIN)
    secret = "kubectl -n billing get secret db -o jsonpath="
    assert desk.run(f"{secret}'{{.data.password}}' | base64 -d").text == other
    assert (
        desk.run(f"{secret}'{{.data.uri}}' | base64 -d").text
        == f"mongodb://billing:{other}@db.billing.svc:27017/x"
    )
    assert f"{other}=key" in desk.run("kubectl -n billing get cm settings -o yaml").text
    assert f"started {other} db-0" in desk.run("kubectl -n billing logs db-0").text
    assert desk.run("kubectl -n billing exec db-0 -- printenv PASSWORD").text.strip() == other
    # A client that applies what it applied before finds nothing to change.
    applied = "{.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}"
    for name in ("configmap/settings", "cronjob/report"):
        line = f"kubectl -n billing get {name} -o jsonpath='{applied}' | kubectl apply -f -"
        assert desk.run(line).text.endswith(" unchanged\n"), name


def test_builds_of_the_application_are_replaced_with_its_declaration() -> None:
    kept = deployed_world(APP, 1)
    world = renewed(kept, chance(9), {"mongo:4.4.6": "mongo:4.4.13", "955b78124": "0a1b2c3d4"})
    assert "mongo:4.4.13" in {image.reference for image in world.app.images}
    assert "mongo:4.4.6" not in world.images and "mongo:4.4.6" not in str(world.app.manifests)
    assert kept.app is APP
    desk = Workstation(world, ADMIN)
    desk.run(f"kubectl -n {NAMESPACE} rollout restart deployment/mongodb-geo")
    world.advance(120)
    pods = world.store.list("pods", NAMESPACE)
    ids = {
        status["imageID"]
        for pod in pods
        for status in pod["status"]["containerStatuses"]
        if status["image"].endswith("mongo:4.4.13")
    }
    # What ran before, and what was started since, are the same image.
    assert len(ids) == 1
    assert all(health.success_ratio > 0.999 for health in world.traffic.health(30))
    assert pickle.loads(pickle.dumps(world)).digest() == world.digest()


def test_texts_must_have_been_prepared(busy: Renewal) -> None:
    with pytest.raises(ValueError, match="another"):
        busy.draw(chance(), {"another": "text"})


def test_tokens_of_service_accounts_are_renewed() -> None:
    world = deployed_world(APP, 1)
    desk = Workstation(world, ADMIN)
    desk.run(
        "kubectl apply -f - <<'EOF'\n"
        "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/service-account-token\n"
        "metadata: {name: token, annotations: {kubernetes.io/service-account.name: default}}\nEOF"
    )
    world.advance(5)
    renewal = prepared(world)
    assert renewal.with_identities(unchanged(renewal), {}).digest() == world.digest()
    made = Workstation(renewal.draw(chance(10)), ADMIN)
    read = "kubectl get secret token -o jsonpath='{.data.token}' | base64 -d | cut -d. -f"
    old, new = desk.run(f"{read}1-3").text, made.run(f"{read}1-3").text
    assert [len(part) for part in new.split(".")] == [len(part) for part in old.split(".")]
    assert all(one != other for one, other in zip(old.split("."), new.split("."), strict=True))
    claims = made.run(f"{read}2 | base64 -d").text
    uid = made.run("kubectl get sa default -o jsonpath='{.metadata.uid}'").text
    assert uid and uid in claims
