"""A Service that forwards to a closed port."""

from __future__ import annotations

from sregym_env.cluster.edits import JsonPatch, RecreatePods
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.choices import wrong_port as another_port
from sregym_env.faults.commands import put
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault


@fault(
    layer="network", mechanism="wrong_target_port", targets=services(where=lambda target: not target.headless)
)
def service_target_port_mismatch(
    target: ServiceTarget, wrong_port: int = drawn(another_port, published=9999)
) -> Fault:
    """The Service forwards to a port on which no container listens.

    Pods stay Ready and endpoints are populated, yet every new connection is refused.
    """
    path = f"/spec/ports/{target.port_index}/targetPort"
    return Fault(
        resource=target.service,
        cause=f"Service {target.name} forwards to targetPort {wrong_port}, but {target.components[0]} listens "
        f"on port {target.port}; every connection to the Service is refused.",
        edits=[JsonPatch(target.service, path, wrong_port)],
        trigger=[RecreatePods(caller) for caller in target.callers],
        details={"field": "targetPort", "wrong": wrong_port, "right": target.port},
        remedies=[[put(target.service, path, target.target_port)]],
        look=[f"kubectl describe service {target.name} -n {target.namespace}"],
    )
