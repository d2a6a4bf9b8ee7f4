"""A liveness probe that can never pass."""

from __future__ import annotations

from sregym_env.cluster.edits import Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, patch
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.probes import http_probe


@fault(layer="configuration", mechanism="failing_liveness_probe", targets=components(at_request=True))
def liveness_probe_misconfiguration(
    target: ComponentTarget, path: str = "/healthz", port: int = 8080
) -> Fault:
    """The liveness probe asks for an HTTP endpoint that the program does not serve: the kubelet kills the container over and over."""
    endpoint = f"{path} on port {port}"
    probe = http_probe(path, port)
    field = target.container_path("livenessProbe")
    grace = target.template_path("terminationGracePeriodSeconds")
    return Fault(
        resource=target.workload,
        cause=f"Deployment {target.name} has a livenessProbe for {endpoint}, which {target.name} does not "
        "serve; the kubelet kills the container over and over.",
        edits=[Redeploy(target.workload, {field: probe, grace: 0})],
        details={"field": "livenessProbe", "wrong": endpoint.replace(" on port ", ":")},
        remedies=[
            mend(
                target,
                patch(
                    target.workload,
                    [{"op": "remove", "path": field}, {"op": "add", "path": grace, "value": 30}],
                ),
            )
        ],
    )
