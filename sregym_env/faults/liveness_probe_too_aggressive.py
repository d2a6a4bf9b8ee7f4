"""A liveness probe that leaves no time for the start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import REMOVED, ObjectRef
from sregym_env.cluster.inventory import template
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import mend, patch
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.faults.probes import (
    allows,
    impatient_probe,
    impatient_timings,
    published_impatience,
    timing,
    with_liveness_probe,
)
from sregym_env.faults.revisions import revision
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest


@dataclass(frozen=True, slots=True)
class _Waits:
    """Whether no probe can give up before the program listens, wherever in its period it begins.

    One that gives up sometimes may spare every container that somebody looks at.
    """

    workload: ObjectRef
    container: str
    starts: float

    def __call__(self, world: World) -> Finding:
        expected = f"at least {self.starts:g} s, or no probe"
        try:
            found = world.cluster.get(self.workload.resource, self.workload.name, self.workload.namespace)
        except StatusError:
            return Finding("time to start", False, "no workload", expected)
        own: Manifest = next(
            (c for c in template(found)["spec"]["containers"] if c["name"] == self.container), {}
        )
        # A liveness probe waits for the startup probe to pass.
        probe = own.get("startupProbe") or own.get("livenessProbe")
        granted = None if probe is None else allows(probe)
        waits = granted is None or granted >= self.starts
        shown = "no probe" if granted is None else f"{granted:g} s"
        return Finding("time to start", waits, shown, expected)


def _takes_its_time(target: ComponentTarget) -> bool:
    """Whether some probe is over before it listens, whenever the kubelet begins."""
    return bool(impatient_timings(target))


@fault(
    layer="configuration",
    mechanism="impatient_liveness_probe",
    targets=components(at_request=True, where=_takes_its_time),
)
def liveness_probe_too_aggressive(
    target: ComponentTarget,
    probe: dict[str, Any] = drawn(impatient_probe, published=published_impatience),
    grace: int = drawn(one_of(-1, -1, 5, 10), published=0),
) -> Fault:
    """The liveness probe asks the right thing too soon: the kubelet kills the container before its program has started.

    The program would be well if it were let alone. ``grace`` is the pod's termination grace period in seconds, -1 to
    leave it as it is.
    """
    changes, back = with_liveness_probe(target, probe, grace)
    startup = target.declares("startupProbe")
    if startup is not None:
        # It would keep the liveness probe waiting: whoever wrote this one found it superfluous.
        changes[target.container_path("startupProbe")] = REMOVED
        back.append({"op": "add", "path": target.container_path("startupProbe"), "value": startup})
    delay, every, failures = timing(probe)
    return Fault(
        resource=target.workload,
        cause=f"The livenessProbe of {target.kind} {target.name} leaves no time for the start (initialDelaySeconds {delay}, "
        f"periodSeconds {every}, failureThreshold {failures}), and there is no startup probe (startupProbe): the kubelet kills the container before "
        f"{target.name} has started, again and again.",
        **revision(target, changes, starts=True),
        details={
            "field": "livenessProbe",
            "wrong": f"initialDelaySeconds={delay} periodSeconds={every} failureThreshold={failures}",
        },
        facts={"delay": f"delay={delay}s", "period": f"period={every}s", "failures": f"#failure={failures}"},
        cured=[_Waits(target.workload, target.component.container, target.component.starts)],
        remedies=[mend(target, patch(target.workload, back))],
    )
