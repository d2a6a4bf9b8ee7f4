"""A namespace that admits only pods of a standard which its own do not meet."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import JsonPatch, ObjectRef, RecreatePods
from sregym_env.cluster.inventory import template
from sregym_env.cluster.targets import ROLLED, ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import makers
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.faults.webhooks import remade
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

PREFIX = "pod-security.kubernetes.io/"
LEVELS = ("privileged", "baseline", "restricted")

LONG_BEFORE: tuple[Mapping[str, str], ...] = (
    {"warn": "restricted", "audit": "restricted"},
    {"warn": "restricted"},
    {"audit": "restricted", "warn": "baseline"},
    {"enforce": "privileged", "warn": "restricted"},
    {"enforce": "baseline", "warn": "restricted"},
    {"enforce": "baseline", "audit": "restricted", "warn": "restricted"},
)
"""What people write on a namespace long before anything is enforced, by mode."""

ENFORCED = 0.9
"""How often the middle standard has been enforced where all pods meet it."""


def _before(target: ComponentTarget, chance: Chance) -> dict[str, str]:
    """What does no harm, and says no less than the namespace says already."""
    said = _said(target)
    fitting = [
        each
        for each in LONG_BEFORE
        if all(_rank(level) >= _rank(said.get(mode)) for mode, level in each.items())
        and (each.get("enforce") != "baseline" or _meets_baseline(target))
    ]
    enforced = [each for each in fitting if each.get("enforce") == "baseline"]
    if enforced and chance.yes("enforced", ENFORCED):
        fitting = enforced
    return dict(chance.choice("before", fitting)) if fitting else {}


def _said(target: ComponentTarget) -> dict[str, str]:
    """What the namespace is declared to say, by mode."""
    space = target.inventory.declared.get(("namespaces", "", target.namespace)) or {"metadata": {}}
    labels = space["metadata"].get("labels") or {}
    return {key.removeprefix(PREFIX): level for key, level in labels.items() if key.startswith(PREFIX)}


def _meets_baseline(target: ComponentTarget) -> bool:
    """Whether no pod of the target's namespace has anything of its node, or a capability that others have not."""
    return not any(
        _of_its_node(template(obj)["spec"])
        for (resource, namespace, _), obj in target.inventory.declared.items()
        if namespace == target.namespace and resource in (*ROLLED, "jobs.batch")
    )


def _of_its_node(spec: Manifest) -> bool:
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    securities = [container.get("securityContext") or {} for container in containers]
    return (
        any(spec.get(field) for field in ("hostNetwork", "hostPID", "hostIPC"))
        or any("hostPath" in volume for volume in spec.get("volumes") or ())
        or any(port.get("hostPort") for container in containers for port in container.get("ports") or ())
        or any(each.get("privileged") or (each.get("capabilities") or {}).get("add") for each in securities)
    )


@fault(layer="kubernetes", mechanism="pod_security_enforced", targets=components(at_request=True))
def pod_security_restricted(
    target: ComponentTarget,
    before: dict[str, str] = drawn(_before, published={}),
    versioned: bool = drawn(one_of(True, False), published=True),
) -> Fault:
    """The application's namespace begins to enforce the Pod Security Standard "restricted", which its pods do not meet.

    Running pods go on; a pod that is replaced never comes back. ``before`` is what was said of the standards long before
    (warned of, audited, perhaps a lower one enforced) and must be said still; ``versioned`` adds the label that names the
    version of the standard.
    """
    space = ObjectRef("namespaces", target.namespace)
    earlier = [JsonPatch(space, _pointer(mode), level) for mode, level in before.items()]
    edits = [JsonPatch(space, _pointer("enforce"), "restricted")]
    if versioned:
        edits.append(JsonPatch(space, _pointer("enforce-version"), "latest"))
    label = f"kubectl label namespace {target.namespace} --overwrite {PREFIX}enforce"
    lower = before.get("enforce") or _said(target).get("enforce", "privileged")
    return Fault(
        resource=space,
        cause=f"Namespace {target.namespace} enforces the Pod Security Standard restricted (label {PREFIX}enforce), which the pods "
        f"of {target.name} do not meet: their securityContext lacks runAsNonRoot, dropped capabilities and a seccompProfile, so that they "
        f"may run as root. They are forbidden and cannot be re-created.",
        earlier=earlier,
        edits=edits,
        trigger=[RecreatePods(target.name)],
        details={"field": f"{PREFIX}enforce", "wrong": "restricted", "right": before.get("enforce")},
        remedies=[
            [f"{label}={lower}", *remade(target)],
            *([[f"{label}-", *remade(target)]] if lower == "privileged" else []),
        ],
        look=[
            makers(target),
            f"kubectl get namespace {target.namespace} --show-labels",
            f"kubectl get namespace {target.namespace} -o yaml",
        ],
        answers=["securityContext"],
        cured=[Said(target.namespace, tuple(sorted(before.items())))],
    )


def _pointer(mode: str) -> str:
    return f"/metadata/labels/{PREFIX.replace('/', '~1')}{mode}"


class Said:
    """Whether a namespace says of the standards no less than it did."""

    def __init__(self, namespace: str, before: tuple[tuple[str, str], ...]) -> None:
        self._namespace = namespace
        self._before = before

    def __call__(self, world: World) -> Finding:
        labels = world.cluster.get("namespaces", self._namespace)["metadata"].get("labels") or {}
        less = [
            f"{mode}: {labels.get(PREFIX + mode, 'nothing')}"
            for mode, level in self._before
            if _rank(labels.get(PREFIX + mode)) < _rank(level)
        ]
        wanted = ", ".join(f"{mode}: {level}" for mode, level in self._before) or "nothing"
        return Finding("what was said of the standards before", not less, "; ".join(less) or "it is", wanted)


def _rank(level: str | None) -> int:
    return LEVELS.index(level) if level in LEVELS else 0
