"""A Service that offers another port than its clients use."""

from __future__ import annotations

from sregym_env.cluster.edits import JsonPatch, RecreatePods
from sregym_env.cluster.targets import ServiceTarget, services
from sregym_env.faults.choices import wrong_port
from sregym_env.faults.commands import put
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault


@fault(
    layer="network",
    mechanism="wrong_service_port",
    targets=services(where=lambda target: not target.headless),
)
def service_port_mismatch(
    target: ServiceTarget,
    wrong: int = drawn(
        wrong_port, published=lambda target: target.manifest["spec"]["ports"][target.port_index]["port"] + 10
    ),
) -> Fault:
    """The Service is offered on another port than the one its clients are configured with.

    Pods and endpoints are healthy, but connections to the port that clients use time out.
    """
    path = f"/spec/ports/{target.port_index}/port"
    right = target.manifest["spec"]["ports"][target.port_index]["port"]
    return Fault(
        resource=target.service,
        cause=f"Service {target.name} is offered on port {wrong} instead of {right}, the service port its clients "
        "use; their connections time out.",
        edits=[JsonPatch(target.service, path, wrong)],
        trigger=[RecreatePods(caller) for caller in target.callers],
        details={"field": "service port", "wrong": wrong, "right": right},
        remedies=[[put(target.service, path, right)]],
        look=[f"kubectl describe service {target.name} -n {target.namespace}"],
    )
