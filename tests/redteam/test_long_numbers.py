"""A number of five thousand digits, wherever one is read: on a command line, in an environment, in arguments of a server.

Python refuses to convert it, so that whoever does without looking ends, and with it what the world was about to do.
"""

from __future__ import annotations

import json

import pytest

from sregym_env import apps
from sregym_env.cluster.forkable import demanded
from sregym_env.cluster.oncall import ONCALL
from sregym_env.runtime.numbers import DIGITS, whole
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.tools.workstation import Workstation

LONG = "9" * 5000
HOTEL, SHOP = "hotel-reservation", "astronomy-shop"


def arguments(namespace: str, workload: str, *words: str) -> str:
    """Give a workload's first container other arguments."""
    patch = [{"op": "add", "path": "/spec/template/spec/containers/0/args", "value": list(words)}]
    return f"kubectl patch deploy {workload} -n {namespace} --type=json -p '{json.dumps(patch)}'"


def settings(workload: str, *names: str) -> str:
    """Set variables of a workload of the shop."""
    return f"kubectl set env deploy/{workload} -n {SHOP} {' '.join(f'{name}={LONG}' for name in names)}"


SERVERS = {
    HOTEL: (
        arguments(HOTEL, "memcached-rate", "memcached", "-p", LONG),
        arguments(HOTEL, "memcached-profile", "-m", LONG, "-c", LONG),
        arguments(HOTEL, "mongodb-rate", "--port", LONG),
        arguments(HOTEL, "consul", "agent", "-dev", "-http-port", LONG),
    ),
    SHOP: (
        arguments(SHOP, "valkey-cart", "valkey-server", "--port", LONG),
        arguments(SHOP, "postgresql", "-p", LONG, "-c", f"max_connections={LONG}"),
        arguments(SHOP, "flagd", "start", "--management-port", LONG, "--uri", "file:./etc/flagd/demo.flagd.json"),
        settings("load-generator", "LOCUST_WEB_PORT", "LOCUST_USERS", "LOCUST_SPAWN_RATE"),
        settings("checkout", "CHECKOUT_PORT", "FLAGD_PORT"),
        f"kubectl set env deploy/cart -n {SHOP} CART_PORT={LONG} VALKEY_ADDR=valkey-cart:{LONG}",
        f"kubectl set env deploy/accounting -n {SHOP} KAFKA_ADDR=kafka:{LONG} "
        f"'DB_CONNECTION_STRING=Host=postgresql;Port={LONG};Username=a;Password=b'",
        f"kubectl set env deploy/kafka -n {SHOP} KAFKA_HEAP_OPTS=-Xmx{LONG}m KAFKA_MESSAGE_MAX_BYTES={LONG}",
        settings("frontend-proxy", "ENVOY_PORT", "FRONTEND_PORT"),
        settings("frontend", "PORT", "FLAGD_PORT"),
    ),
}  # fmt: skip

LINES = (
    "telnet frontend {n}", "nc -zv frontend {n}", "nc -zv frontend 1-{n}", "ping -s {n} frontend", "curl http://frontend:{n}/", "curl -m {n} http://frontend/",
    "kubectl get pods -o go-template='{{{{ {n} }}}}'", "kubectl get pods -o jsonpath='{{.items[{n}]}}'", "kubectl get pods -o jsonpath='{{.items[-{n}:]}}'",
    "kubectl get pods -w --request-timeout={n}", "kubectl logs deploy/geo --tail={n}", "kubectl delete pod x --grace-period={n}",
    "kubectl scale deploy geo --replicas={n}", "kubectl port-forward svc/frontend {n}:1", "kubectl exec deploy/geo -- telnet geo {n}",
    "kubectl run a --image=busybox --command -- nc -l -p {n}", "kubectl run b --image=busybox --command -- httpd -f -p {n}",
    "du -d {n} /tmp", "tree -L {n} /tmp", "split -a {n} /etc/hosts", "shift {n}", "read -u {n} x", "column -c {n} /etc/hosts", "cut -c {n} /etc/hosts",
    "tar --strip-components={n} -tf /etc/hosts", "xargs -n {n} echo < /etc/hosts", "select x in a; do break; done <<< {n}", "break {n}", "strings -n {n} /etc/hosts",
    "kubectl create cronjob c --image=busybox --schedule='{n} * * * *' -- true", "kubectl create cronjob c --image=busybox --schedule='*/{n} * * * *' -- true",
    "kubectl create pdb b --selector=a=b --min-available={n}", "kubectl create pdb b --selector=a=b --min-available={n}%",
    "kubectl create service clusterip s --tcp={n}:{n}", "kubectl create ingress i --rule=a/b=s:{n}", "sort -k {n} /etc/hosts", "diff -U {n} /etc/hosts /etc/hostname",
    "kubectl patch deploy geo --type=json -p '[{{\"op\":\"remove\",\"path\":\"/spec/template/spec/containers/{n}\"}}]'",
    "kubectl patch deploy geo -p '{{\"spec\":{{\"strategy\":{{\"rollingUpdate\":{{\"maxSurge\":\"{n}%\"}}}}}}}}'",
    "kubectl patch cm coredns -n kube-system -p '{{\"data\":{{\"Corefile\":\".:{n} {{\\n forward . 1.1.1.1:{n}\\n}}\"}}}}'; kubectl rollout restart deploy coredns -n kube-system; sleep 30",
    "kubectl create job j --image=busybox:1.36 -- sleep 60; sleep 3; kubectl annotate pod -l job-name=j batch.kubernetes.io/job-completion-index={n} --overwrite; sleep 9",
    "promql '{n}'", "promql 'up[{n}s]'", "logql --limit {n} '{{a=\"b\"}}'", "traces search frontend --limit {n}", "helm history x --max {n}",
)  # fmt: skip


@pytest.mark.parametrize("app", SERVERS)
def test_no_server_that_is_told_one_stops_the_world(app: str) -> None:
    world = demanded(deployed_world(apps.app(app), 3)).fork()
    desk = Workstation(world, ONCALL)
    for command in SERVERS[app]:
        said = desk.run(command).text
        assert "Segmentation fault" not in said and desk.defect is None, command[:120]
        assert said.startswith("deployment"), said[:200]
    for _ in range(4):
        before = world.now()
        desk.run("sleep 30")
        assert desk.defect is None, desk.defect
        assert world.now() - before >= 30_000_000


@pytest.mark.parametrize("line", LINES)
def test_no_command_that_is_told_one_ends(line: str) -> None:
    desk = Workstation(demanded(deployed_world(apps.app(HOTEL), 3)).fork(), ONCALL)
    said = desk.run(f"kubectl config set-context --current --namespace={HOTEL}; {line.format(n=LONG)}").text
    assert desk.defect is None and "Segmentation fault" not in said, desk.defect
    assert "integer string conversion" not in said


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("0012", 12), ("9" * DIGITS, 10**DIGITS - 1), ("9" * (DIGITS + 1), None), (LONG, None)]
    + [(text, None) for text in ("", "-1", "1.5", " 1", "0x10", "\u0663", "\u00b2", "1e3")],
)
def test_what_a_whole_number_is(text: str, number: int | None) -> None:
    assert whole(text, None) == number
