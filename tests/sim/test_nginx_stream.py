"""nginx as a proxy of connections: it looks its upstreams up when it starts, and lives on with what it has found."""

from __future__ import annotations

import re

import pytest

from sregym_env import apps
from sregym_env.cluster.oncall import ONCALL
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.programs import nginx_config
from sregym_env.tools.workstation import Workstation

NAMESPACE = "hotel-reservation"

MANIFESTS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: edge}
data:
  nginx.conf: |
    events { worker_connections 64; }
    stream {
      include /etc/edge/route-*.conf;
      server { listen 8100; proxy_pass frontend.hotel-reservation.svc.cluster.local:5000; }
      server { listen 8300; proxy_pass 127.0.0.1:8300; }
    }
  route-a.conf: |
    upstream team {
      server behind.hotel-reservation.svc.cluster.local:80;
    }
    server { listen 8200; proxy_pass team; }
---
apiVersion: v1
kind: Service
metadata: {name: behind}
spec:
  clusterIP: None
  selector: {app: behind}
  ports: [{port: 80}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: behind}
spec:
  replicas: 1
  selector: {matchLabels: {app: behind}}
  template:
    metadata: {labels: {app: behind}}
    spec:
      containers: [{name: web, image: "nginx:1.27-alpine"}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: edge}
spec:
  replicas: 1
  selector: {matchLabels: {app: edge}}
  template:
    metadata: {labels: {app: edge}}
    spec:
      containers:
        - name: nginx
          image: nginx:1.27-alpine
          command: [nginx, -c, /etc/edge/nginx.conf, -g, "daemon off;"]
          volumeMounts: [{name: config, mountPath: /etc/edge}]
      volumes: [{name: config, configMap: {name: edge}}]
"""


def _typed(world: EmbeddedWorld, line: str) -> str:
    return Workstation(world, ONCALL).run(line).text


@pytest.fixture
def world() -> EmbeddedWorld:
    world = deployed_world(apps.app(NAMESPACE))
    # What nginx looks up is there before it starts.
    _typed(world, f"kubectl apply -n {NAMESPACE} -f - <<'EOF'\n{MANIFESTS}EOF")
    world.advance(60.0)
    _typed(world, f"kubectl delete pods -l app=edge -n {NAMESPACE}")
    world.advance(30.0)
    return world


def _asked(world: EmbeddedWorld, port: int) -> str:
    line = f"kubectl exec -n {NAMESPACE} deploy/edge -- curl -s -m 3 -o /dev/null -w '%{{http_code}}' http://127.0.0.1:{port}/"
    return _typed(world, line)[:3]


def _scaled(world: EmbeddedWorld, replicas: int) -> None:
    _typed(world, f"kubectl scale deploy/behind -n {NAMESPACE} --replicas={replicas}")
    world.advance(60.0)


def _renewed(world: EmbeddedWorld) -> str:
    _typed(world, f"kubectl delete pods -l app=edge -n {NAMESPACE}")
    world.advance(90.0)
    return _typed(world, f"kubectl get deploy edge -n {NAMESPACE} --no-headers").split()[1]


def test_a_proxy_that_runs_goes_on_with_the_addresses_it_has_read(world: EmbeddedWorld) -> None:
    assert _asked(world, 8100) == "200"
    assert _asked(world, 8200) == "200"
    _scaled(world, 0)
    assert _asked(world, 8100) == "200"
    assert _asked(world, 8200) == "000"
    _scaled(world, 1)
    assert _asked(world, 8200) == "000"
    assert _renewed(world) == "1/1"
    assert _asked(world, 8200) == "200"


def test_a_proxy_that_starts_needs_an_address_for_every_upstream(world: EmbeddedWorld) -> None:
    _scaled(world, 0)
    lost = 'host not found in upstream "behind.hotel-reservation.svc.cluster.local:80" in /etc/edge/route-a.conf:2'
    tested = _typed(world, f"kubectl exec -n {NAMESPACE} deploy/edge -- nginx -t")
    assert f"nginx: [emerg] {lost}" in tested
    assert "nginx.conf test failed" in tested
    assert _asked(world, 8100) == "200"
    assert _renewed(world) == "0/1"
    assert f"nginx: [emerg] {lost}" in _typed(world, f"kubectl logs -n {NAMESPACE} deploy/edge")


def test_the_configuration_is_shown_with_all_that_it_includes(world: EmbeddedWorld) -> None:
    shown = _typed(world, f"kubectl exec -n {NAMESPACE} deploy/edge -- nginx -T")
    assert "# configuration file /etc/edge/nginx.conf:" in shown
    assert "# configuration file /etc/edge/route-a.conf:" in shown
    assert "test is successful" in shown


def test_a_proxy_of_itself_closes_the_connection(world: EmbeddedWorld) -> None:
    assert _asked(world, 8300) == "000"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("stream {", 'unexpected end of file, expecting "}" in nginx.conf:1'),
        ("events {\n}\n}", 'unexpected "}" in nginx.conf:3'),
        ("user nginx", 'unexpected end of file, expecting ";" or "}" in nginx.conf:1'),
        ("a {" * 50_000, 'unknown directive "a" in'),
    ],
)
def test_what_is_no_configuration(text: str, why: str) -> None:
    with pytest.raises(nginx_config.ConfigError, match=re.escape(why)):
        nginx_config.directives(text, "nginx.conf")


def test_files_that_include_each_other_twice_are_too_much(world: EmbeddedWorld) -> None:
    twice = {
        f"{number}.conf": f"include {number + 1}.conf; include {number + 1}.conf;" for number in range(40)
    }
    data = {**twice, "40.conf": "worker_processes 1;", "nginx.conf": "include 0.conf;"}
    world.cluster.patch("configmaps", "edge", {"data": data}, namespace=NAMESPACE, type="merge")
    world.advance(120.0)
    tested = _typed(world, f"kubectl exec -n {NAMESPACE} deploy/edge -- nginx -t -c /etc/edge/nginx.conf")
    assert "Cannot allocate memory" in tested
