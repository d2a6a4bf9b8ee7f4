"""Pods that want a port of their node which another pod has on every node."""

from __future__ import annotations

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import AwaitRollout, Create, ObjectRef
from sregym_env.cluster.targets import ComponentTarget, components, scheduled
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import drop, mend, restore, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.faults.revisions import revision
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest

AGENTS = (
    ("gpu-metrics", 9400), ("host-metrics", 9256), ("node-cache", 9253), ("log-forwarder", 24224), ("trace-agent", 8126),
    ("statsd-node", 8125), ("node-health", 20257), ("disk-watch", 9633), ("kernel-events", 9435), ("net-probe", 9427),
    ("secrets-driver", 9808), ("image-cleaner", 8899),
)  # fmt: skip
"""Agents that run on every node, and the port that each has of it; 9100 is taken by the cluster's own monitoring."""


@fault(layer="kubernetes", mechanism="host_port_conflict", targets=components(where=scheduled))
def host_port_conflict(
    target: ComponentTarget,
    agent: tuple[str, int] = drawn(one_of(*AGENTS), published=AGENTS[0]),
    place: str = drawn(one_of("kube-system", "default"), published="kube-system"),
) -> Fault:
    """The container asks for a port of its node that an agent has on every node, so its pods stay Pending.

    ``agent`` is a DaemonSet in another namespace, which does its work and must stay.
    """
    name, port = agent
    daemons = ObjectRef("daemonsets.apps", name, place)
    ports = target.declares("ports")
    path = target.container_path("ports")
    asked = {"containerPort": target.component.port or port, "hostPort": port}
    wrong = [{**ports[0], "hostPort": port}, *ports[1:]] if ports else [asked]
    return Fault(
        resource=target.workload,
        cause=f"The container of {target.kind} {target.name} asks for hostPort {port}, which the pods of DaemonSet {name} "
        f"(namespace {place}) have on every node; its pods find no node with that port free and stay Pending.",
        **revision(
            target, {path: wrong}, before=[Create(_daemons(name, place, port)), AwaitRollout(daemons)]
        ),
        details={"field": "hostPort", "wrong": port},
        facts={"agent": name, "port": port},
        remedies=[
            mend(target, restore(target.workload, path, ports)),
            *([mend(target, drop(target.workload, f"{path}/0/hostPort"))] if ports else []),
        ],
        look=[show(target), "kubectl get daemonsets -A"],
        aliases=[name],
        cured=[_Stays(daemons)],
    )


def _daemons(name: str, place: str, port: int) -> Manifest:
    labels = {"app": name}
    container = {
        "name": "agent",
        "image": "busybox:1.36",
        "command": [
            "sh",
            "-c",
            f"mkdir -p /www && echo ok > /www/index.html && exec httpd -f -p {port} -h /www",
        ],
        "ports": [{"containerPort": port, "hostPort": port}],
        "resources": {"requests": {"cpu": "5m", "memory": "16Mi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": place},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "tolerations": [{"operator": "Exists"}]},
            },
        },
    }


class _Stays:
    """Whether the agent that has the port is still there, on that port."""

    def __init__(self, daemons: ObjectRef) -> None:
        self._daemons = daemons

    def __call__(self, world: World) -> Finding:
        where = self._daemons
        expected = f"daemonset/{where.name} runs on every node"
        try:
            status = world.cluster.get(where.resource, where.name, where.namespace).get("status") or {}
        except StatusError:
            return Finding("others' agents stay", False, "it is gone", expected)
        wanted, there = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
        return Finding("others' agents stay", wanted > 0 and there > 0, f"{there} of {wanted} run", expected)
