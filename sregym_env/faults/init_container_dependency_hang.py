"""An init container that waits for ever."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import names_of, one_of, until, variant
from sregym_env.faults.commands import mend, named, restore
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

SCRIPTS: Mapping[str, str] = {
    "nslookup": "until nslookup {host}; do echo 'still waiting on {service}'; sleep {pause}; done",
    "lookup": "while ! nslookup {host} > /dev/null 2>&1; do echo waiting for {service}; sleep {pause}; done; echo ready",
    "dial": "until nc -z -w 2 {host} {port}; do echo \"$(date) {service}:{port} not reachable yet\"; sleep {pause}; done",
    "knock": "while ! nc -z {short} {port}; do echo 'waiting for {short}:{port} ...'; sleep {pause}; done",
    "fetch": "until wget -q -O /dev/null -T 3 http://{host}:{port}/health; do echo {service} is not up; sleep {pause}; done",
    "count": "n=0; until nslookup {host}; do n=$((n+1)); echo \"attempt $n: {service} is not there\"; sleep {pause}; done",
    "seek": "echo looking for {service}; until nslookup {short}; do sleep {pause}; done; echo found {service}",
}  # fmt: skip
"""Ways to wait for a Service."""

SERVICES = (
    "redis", "redis-master", "postgres", "postgresql", "mysql", "rabbitmq", "kafka", "kafka-headless", "vault", "etcd",
    "config-server", "config-service", "feature-flags", "auth", "auth-service", "keycloak", "elasticsearch", "zookeeper",
    "minio", "schema-registry", "db-migrations", "identity", "settings", "secrets-broker", "bootstrap", "discovery",
    "license-server", "eureka", "message-bus", "migrations", "gateway", "cache",
)  # fmt: skip
"""Services that applications wait for, and this one has never had."""


def _service(target: ComponentTarget, chance: Chance) -> str:
    """A Service that there is not: of another application, or one of this one under another name."""
    have = names_of(target.inventory, "services", target.namespace)
    own = [component.service for component in target.app.components if component.service]

    def draw(by: Chance) -> str:
        return (
            variant(by.choice("own", own), by)
            if own and by.yes("near", 0.4)
            else by.choice("service", SERVICES)
        )

    return str(until(chance, draw, lambda name: name not in have, SERVICES[0]))


def _init(target: ComponentTarget, chance: Chance) -> str:
    """A name that the pod's containers have not."""
    taken = {c["name"] for kind in ("containers", "initContainers") for c in target.pod_spec.get(kind) or ()}
    names = (
        "wait-for-db", "wait-for-config", "wait-for-deps", "init-config", "wait", "check-dependencies", "init-wait",
        "preflight", "wait-for-services", f"init-{target.name}", "dependency-check", "bootstrap", "init", "setup",
        "wait-for-it", "prestart", "startup-gate", f"{target.name}-init", "await-backend", "dns-check",
    )  # fmt: skip
    return str(until(chance, lambda by: by.choice("name", names), lambda name: name not in taken, "init-0"))


@fault(layer="configuration", mechanism="blocked_init_container", targets=components())
def init_container_dependency_hang(
    target: ComponentTarget,
    service: str = drawn(_service, published="legacy-config-service"),
    name: str = drawn(_init, published="wait-for-legacy-config"),
    way: str = drawn(one_of(*SCRIPTS), published="nslookup"),
    port: int = drawn(one_of(80, 443, 3306, 5432, 5672, 6379, 8080, 8200, 8500, 8888, 9092, 9200, 50051), published=80),
    pause: int = drawn(one_of(1, 2, 3, 4, 5, 8, 10), published=5),
    image: str = drawn(
        one_of("busybox", "busybox:1.28", "busybox:1.32", "busybox:1.35", "busybox:1.36", "busybox:stable",
               "alpine:3.19", "alpine:3.20", "busybox:1.36.1", "alpine:latest"),
        published="busybox:1.28",
    ),
) -> Fault:  # fmt: skip
    """An init container waits for a Service that does not exist, so the pod never gets past it.

    ``way`` says how it looks for the Service, every ``pause`` seconds.
    """
    host = f"{service}.{target.namespace}.svc.cluster.local"
    script = SCRIPTS[way].format(host=host, short=service, service=service, port=port, pause=pause)
    path, declared = target.template_path("initContainers"), target.template_declares("initContainers")
    init = {"name": name, "image": image, "command": ["sh", "-c", script]}
    return Fault(
        resource=target.workload,
        cause=f"The init container {name} of {target.kind} {target.name} waits for the Service "
        f"{service}, which does not exist; the pods hang in Init:0/{len(declared or ()) + 1}.",
        **revision(target, {path: [init, *(declared or ())]}),
        details={"field": "initContainers", "wrong": f"{name} waits for {service}"},
        facts={"init": name},
        remedies=[mend(target, restore(target.workload, path, declared))],
        look=[f"kubectl logs {named(target.workload)} -c {name} -n {target.namespace} --tail=10"],
        aliases=[name, service],
    )
