"""nginx looks its upstreams up when it starts: an empty headless Service stops every new proxy and none that runs."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sregym_env import apps
from sregym_env.cluster import apply
from sregym_env.cluster.inventory import Inventory
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.registry import declaration
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs import nginx_config
from sregym_env.tools.workstation import Workstation

NAMESPACE = "social-network"
NAME = "user-service"


@pytest.fixture
def world() -> EmbeddedWorld:
    return deployed_world(apps.app(NAMESPACE))


def _typed(world: EmbeddedWorld, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


def _suffering(world: EmbeddedWorld) -> set[str]:
    return {each.journey for each in world.traffic.health(30.0) if each.success_ratio < 0.99}


def _proxied(world: EmbeddedWorld, way: str = "scaled") -> FaultInstance:
    instance = declaration("empty_service_crashes_new_proxy").bind(Inventory.of(world), NAME, {"way": way})
    for edit in instance.fault.earlier:
        apply.apply(world, edit)
    world.advance(60.0)
    return instance


def _ready(world: EmbeddedWorld, name: str) -> str:
    return _typed(world, f"kubectl get deploy {name} -n {NAMESPACE} --no-headers").split()[1]


@pytest.mark.parametrize("way", ["scaled", "removed"])
def test_who_runs_lives_on_and_who_starts_does_not(world: EmbeddedWorld, way: str) -> None:
    instance = _proxied(world, way)
    other = instance.parameters["beside"][0]
    assert not _suffering(world)
    assert all(finding.passed for finding in instance.cured(world))
    for edit in instance.fault.edits:
        apply.apply(world, edit)
    world.advance(300.0)
    assert not _suffering(world)
    assert not all(finding.passed for finding in instance.cured(world))
    tested = _typed(world, f"kubectl exec -n {NAMESPACE} deploy/{other} -c edge-proxy -- nginx -t")
    assert 'host not found in upstream "ledger.loyalty.svc.cluster.local:80"' in tested

    _typed(world, f"kubectl delete pods -n {NAMESPACE} -l service={NAME}")
    world.advance(120.0)
    assert "compose" in _suffering(world)
    assert "home-timeline" not in _suffering(world)
    assert (_ready(world, NAME), _ready(world, other)) == ("0/1", "1/1")
    logs = _typed(world, f"kubectl logs -n {NAMESPACE} deploy/{NAME} -c edge-proxy")
    assert "nginx: [emerg] host not found in upstream" in logs
    assert "egress-ledger.conf:2" in logs

    _typed(world, f"kubectl rollout restart deploy -n {NAMESPACE}")
    _typed(world, f"kubectl delete pods -n {NAMESPACE} -l service={other}")
    world.advance(120.0)
    assert _ready(world, other) == "0/1"


def test_a_service_with_an_address_of_its_own_does_no_harm_without_endpoints(world: EmbeddedWorld) -> None:
    instance = _proxied(world)
    gone, live, resting = instance.parameters["names"]
    pods = f"kubectl exec -n {NAMESPACE} deploy/{NAME} -c edge-proxy -- nginx -T"
    assert _typed(world, f"kubectl get endpoints {resting} -n loyalty --no-headers").split()[1] == "<none>"
    shown = _typed(world, pods)
    assert f"server {resting}.loyalty.svc.cluster.local:80;" in shown
    assert "test is successful" in shown
    assert all(finding.passed for finding in instance.cured(world))
    assert gone != live


def test_a_new_address_and_an_old_one(world: EmbeddedWorld) -> None:
    """A proxy that runs goes on with the address that it has read, also where somebody else is there by now."""
    instance = _proxied(world)
    gone = instance.parameters["names"][0]
    asked = f"kubectl exec -n {NAMESPACE} deploy/{NAME} -c edge-proxy -- curl -s -m 3 -o /dev/null -w '%{{http_code}}' http://127.0.0.1:15101/"
    assert _typed(world, asked).endswith("200")
    _typed(world, f"kubectl scale deploy/{gone} -n loyalty --replicas=0")
    world.advance(60.0)
    assert not _typed(world, asked).startswith("200")
    _typed(world, f"kubectl scale deploy/{gone} -n loyalty --replicas=1")
    world.advance(60.0)
    assert not _typed(world, asked).startswith("200")
    _typed(world, f"kubectl delete pods -n {NAMESPACE} -l service={NAME}")
    world.advance(60.0)
    assert _typed(world, asked).startswith("200")


def test_what_configurations_say() -> None:
    text = (
        'stream {\n  # upstream dead { server dead.x:1; }\n  upstream a { server a.x:80 weight=2; server "b.x:81"; '
        "server c.x:82 resolve; }\n  server { listen 1; proxy_pass a; }\n  server { listen 2; proxy_pass d.x:9; }\n"
        "  server { listen 3; set $later e.x:9; proxy_pass $later; }\n}\n"
    )
    assert nginx_config.hosts(text) == {"a.x", "b.x", "d.x"}
    for broken, why in (
        ("stream {", 'unexpected end of file, expecting "}" in nginx.conf:1'),
        ("events {\n}\n}", 'unexpected "}" in nginx.conf:3'),
        ("user nginx", 'unexpected end of file, expecting ";" or "}" in nginx.conf:1'),
    ):
        with pytest.raises(nginx_config.ConfigError, match=re.escape(why)):
            nginx_config.directives(broken, "nginx.conf")


def test_a_proxy_is_let_in_where_the_server_behind_it_is() -> None:
    app = apps.app(NAMESPACE)
    port = app.by_name[NAME].port
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "podSelector": {"matchLabels": {"service": NAME}},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": [{"protocol": "TCP", "port": port}]}],
        },
    }
    world = deployed_world(replace(app, manifests=(*app.manifests, policy)))
    assert not _suffering(world)
    instance = _proxied(world)
    assert not _suffering(world)
    found = world.cluster.get("networkpolicies.networking.k8s.io", NAME, NAMESPACE)
    opened = [each["port"] for each in found["spec"]["ingress"][0]["ports"]]
    assert opened == [port, instance.parameters["port"]]
