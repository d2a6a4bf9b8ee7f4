"""A liveness probe that can never pass."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.edits import Redeploy
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, patch
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.probes import closed_port, http_probe


@fault(layer="configuration", mechanism="failing_liveness_probe", targets=components(at_request=True))
def liveness_probe_misconfiguration(target: ComponentTarget, path: str = "/healthz", port: int = 0) -> Fault:
    """The liveness probe asks for an HTTP endpoint that the program does not serve: the kubelet kills the container over and over.

    Port 0 is the likeliest one on which the component does not listen.
    """
    port = port or closed_port(target)
    endpoint = f"{path} on port {port}"
    probe = http_probe(path, port)
    field = target.container_path("livenessProbe")
    grace = target.template_path("terminationGracePeriodSeconds")
    declared = target.declares("livenessProbe")
    patience = target.template_declares("terminationGracePeriodSeconds")
    back: dict[str, Any] = {"op": "remove", "path": field}
    if declared is not None:
        back = {"op": "replace", "path": field, "value": declared}
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} has a livenessProbe for {endpoint}, which {target.name} does not "
        "serve; the kubelet kills the container over and over.",
        # Without grace: a program that ignores SIGTERM would serve on for half a minute each time.
        edits=[Redeploy(target.workload, {field: probe, grace: 0})],
        details={"field": "livenessProbe", "wrong": endpoint.replace(" on port ", ":")},
        facts={"path": path, "port": port},
        remedies=[
            mend(
                target,
                patch(
                    target.workload,
                    [back, {"op": "add", "path": grace, "value": 30 if patience is None else patience}],
                ),
            )
        ],
    )
