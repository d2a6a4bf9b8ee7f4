"""A second container that wants the same port."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of, until
from sregym_env.faults.commands import drop, mend, named
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

LISTENERS: Mapping[str, str] = {
    "exec": "exec nc -lk -p {port}",
    "plain": "nc -lk -p {port} > /dev/null",
    "announced": "echo listening on :{port}; exec nc -lk -p {port}",
    "files": "exec httpd -f -p {port} -h /tmp",
    "served": "mkdir -p /www && echo ok > /www/index.html && httpd -f -v -p {port} -h /www",
}
"""What the extra container runs."""


def _name(target: ComponentTarget, chance: Chance) -> str:
    """A name that the pod's containers have not."""
    taken = {c["name"] for kind in ("containers", "initContainers") for c in target.pod_spec.get(kind) or ()}
    names = (
        "metrics", "metrics-exporter", "exporter", "log-shipper", "proxy", "envoy", "health-proxy", "debug", "tcp-relay",
        "status", "status-page", "healthcheck", "agent", "telemetry", "gateway", "auth-proxy", "rate-limiter", "relay",
        f"{target.name}-metrics", f"{target.name}-proxy", "cache-warmer", "config-reloader", "tunnel", "statsd",
    )  # fmt: skip
    return str(until(chance, lambda by: by.choice("name", names), lambda name: name not in taken, "aux"))


@fault(layer="configuration", mechanism="port_conflict", targets=components(at_request=True, by_service=True))
def sidecar_port_conflict(
    target: ComponentTarget,
    image: str = drawn(
        one_of(
            "busybox",
            "busybox:1.28",
            "busybox:1.32",
            "busybox:1.35",
            "busybox:1.36",
            "busybox:stable",
            "busybox:1.37",
        ),
        published="busybox:latest",
    ),
    name: str = drawn(_name, published="sidecar"),
    way: str = drawn(one_of(*LISTENERS), published="exec"),
) -> Fault:
    """A sidecar binds the main container's port; one of the two cannot start, so the pod is never Ready.

    ``way`` says what listens there.
    """
    port, containers = target.component.port, target.template_path("containers")
    sidecar = {
        "name": name,
        "image": image,
        "command": ["sh", "-c", LISTENERS[way].format(port=port)],
        "ports": [{"containerPort": port}],
    }
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} has an extra container, {name}, a sidecar that listens on port {port} like the "
        "main container; the two conflict (address already in use), one crash-loops and the pod is never Ready.",
        **revision(target, {f"{containers}/-": sidecar}),
        details={"field": "containers", "wrong": name},
        facts={"port": port},
        remedies=[mend(target, drop(target.workload, f"{containers}/{len(target.pod_spec['containers'])}"))],
        look=[
            f"kubectl logs {named(target.workload)} -c {name} -n {target.namespace} --previous",
        ],
        aliases=[name],
    )
