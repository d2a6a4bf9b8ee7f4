"""A readiness probe that can never pass."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, restore
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.probes import asked, failing_probe, published_probe
from sregym_env.faults.revisions import revision


@fault(layer="configuration", mechanism="failing_readiness_probe", targets=components(by_service=True))
def readiness_probe_misconfiguration(
    target: ComponentTarget,
    probe: dict[str, Any] = drawn(failing_probe(impatient=False), published=published_probe),
) -> Fault:
    """The readiness probe asks for something that the program does not serve: the pods never become Ready and the Service has no endpoints."""
    endpoint, facts = asked(probe)
    field = target.container_path("readinessProbe")
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} has a readinessProbe for {endpoint}, which {target.name} does not "
        "serve; the pods never become Ready and the Service has no endpoints.",
        **revision(target, {field: probe}),
        details={"field": "readinessProbe", "wrong": endpoint.replace(" on port ", ":")},
        facts=facts,
        remedies=[mend(target, restore(target.workload, field, target.declares("readinessProbe")))],
    )
