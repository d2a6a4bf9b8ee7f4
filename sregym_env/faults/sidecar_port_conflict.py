"""A second container that wants the same port."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import drop, mend, named
from sregym_env.faults.fault import Fault, fault


@fault(layer="configuration", mechanism="port_conflict", targets=components(at_request=True, by_service=True))
def sidecar_port_conflict(target: ComponentTarget, image: str = "busybox:latest") -> Fault:
    """A sidecar binds the main container's port; one of the two cannot start, so the pod is never Ready."""
    port, containers = target.component.port, target.template_path("containers")
    sidecar = {
        "name": "sidecar",
        "image": image,
        "command": ["sh", "-c", f"exec nc -lk -p {port}"],
        "ports": [{"containerPort": port}],
    }
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} has an extra container, sidecar, that listens on port {port} like the "
        "main container; the two conflict (address already in use), one crash-loops and the pod is never Ready.",
        edits=[Redeploy(target.workload, {f"{containers}/-": sidecar})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "containers", "wrong": "sidecar"},
        facts={"port": port},
        remedies=[mend(target, drop(target.workload, f"{containers}/{len(target.pod_spec['containers'])}"))],
        look=[
            f"kubectl logs {named(target.workload)} -c sidecar -n {target.namespace} --previous",
        ],
    )
