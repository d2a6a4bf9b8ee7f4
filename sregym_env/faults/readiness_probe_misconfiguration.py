"""A readiness probe that can never pass."""

from __future__ import annotations

from sregym_env.cluster.edits import RecreatePods, Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, restore
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.probes import closed_port, http_probe


@fault(layer="configuration", mechanism="failing_readiness_probe", targets=components(by_service=True))
def readiness_probe_misconfiguration(target: ComponentTarget, path: str = "/healthz", port: int = 0) -> Fault:
    """The readiness probe asks for an HTTP endpoint that the program does not serve: the pods never become Ready and the Service has no endpoints.

    Port 0 is the likeliest one on which the component does not listen.
    """
    port = port or closed_port(target)
    endpoint = f"{path} on port {port}"
    probe = http_probe(path, port)
    field = target.container_path("readinessProbe")
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} has a readinessProbe for {endpoint}, which {target.name} does not "
        "serve; the pods never become Ready and the Service has no endpoints.",
        edits=[Redeploy(target.workload, {field: probe})],
        trigger=[RecreatePods(name) for name in target.dependents],
        details={"field": "readinessProbe", "wrong": endpoint.replace(" on port ", ":")},
        facts={"path": path, "port": port},
        remedies=[mend(target, restore(target.workload, field, target.declares("readinessProbe")))],
    )
