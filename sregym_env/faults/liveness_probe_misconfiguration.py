"""A liveness probe that can never pass."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import mend, patch
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.probes import asked, failing_probe, published_probe, with_liveness_probe
from sregym_env.faults.revisions import revision


@fault(layer="configuration", mechanism="failing_liveness_probe", targets=components(at_request=True))
def liveness_probe_misconfiguration(
    target: ComponentTarget,
    probe: dict[str, Any] = drawn(failing_probe(impatient=True), published=published_probe),
    grace: int = drawn(one_of(-1, -1, 5, 10), published=0),
) -> Fault:
    """The liveness probe asks for something that the program does not serve: the kubelet kills the container over and over.

    ``grace`` is the pod's termination grace period in seconds, -1 to leave it as it is.
    """
    endpoint, facts = asked(probe)
    changes, back = with_liveness_probe(target, probe, grace)
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} has a livenessProbe for {endpoint}, which {target.name} does not "
        "serve; the kubelet kills the container over and over.",
        **revision(target, changes, starts=True),
        details={"field": "livenessProbe", "wrong": endpoint.replace(" on port ", ":")},
        facts=facts,
        remedies=[mend(target, patch(target.workload, back))],
    )
