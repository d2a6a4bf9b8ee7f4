"""A variable of a container's environment that is gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sregym_env.cluster.edits import REMOVED
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import one_of
from sregym_env.faults.commands import mend, patch, put, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision, succession
from sregym_env.faults.variables import Variable, variables

SLIPS: Mapping[str, Callable[[str, str], str]] = {
    "service": lambda stem, kind: f"{stem}_SERVICE_{kind}",
    "prefixed": lambda stem, kind: f"APP_{stem}_{kind}",
    "suffixed": lambda stem, kind: f"{stem}_{kind}_V2",
    "word": lambda stem, kind: f"{stem}_{_WORDS.get(kind, kind + '_VALUE')}",
    "joined": lambda stem, kind: f"{stem.replace('_', '')}{kind}",
    "server": lambda stem, kind: f"{stem}_SERVER_{kind}",
    "protocol": lambda stem, kind: f"{stem}_GRPC_{kind}",
    "plain": lambda stem, kind: kind,
    "dotted": lambda stem, kind: f"{stem}.{kind}".lower(),
    "case": lambda stem, kind: f"{stem}_{kind}".swapcase(),
}
"""Names under which the value stands instead, by the slip; the stem and the kind are ``CART`` and ``ADDR``."""

_WORDS: Mapping[str, str] = {
    "ADDR": "ADDRESS",
    "PORT": "LISTEN_PORT",
    "HOST": "HOSTNAME",
    "STRING": "URL",
    "suffix": "domain",
}


def _slipped(variable: str, slip: str) -> str:
    """The name instead of a variable's; empty where the variable is simply gone."""
    if not slip:
        return ""
    stem, _, kind = variable.rpartition("_")
    name = SLIPS[slip](stem, kind)
    return name.lower() if variable.islower() and slip != "case" else name


def _published(target: ComponentTarget) -> str:
    return "CART_ADDR" if target.name == "frontend" else next(iter(_needed(target)))


def _needed(target: ComponentTarget) -> dict[str, Variable]:
    """Variables without which users fare badly: names without their end are found by the pod's search domains."""
    return {name: each for name, each in variables(target).items() if not each.suffix}


@fault(
    layer="configuration",
    mechanism="missing_variable",
    targets=components(where=lambda target: bool(_needed(target))),
)
def missing_env_variable(
    target: ComponentTarget,
    variable: str = drawn(
        lambda target, chance: chance.choice("variable", list(_needed(target))), published=_published
    ),
    slip: str = drawn(one_of("", "", *SLIPS), published=""),
) -> Fault:
    """A variable that the program needs is not in its container's environment: an address of whom it asks, or its port.

    Its value is gone, or stands there under another name; ``slip`` says which. A program that needs it to start ends at
    once; another is Ready, and fails whenever it asks there.
    """
    lost = variables(target)[variable]
    path, entries = target.container_path("env"), target.declares("env")
    entry = entries[lost.index]
    instead = _slipped(variable, slip)
    changes: dict[str, Any] = {lost.path(target): REMOVED}
    if instead:
        changes[f"{path}/-"] = {"name": instead, "value": lost.value}
    told = f" (its value stands under {instead})" if instead else ""
    return Fault(
        resource=target.workload,
        cause=f"The container of {target.kind} {target.name} has no environment variable {variable}{told}, so {target.name} "
        f"has no {lost.meaning}.",
        # Some programs do not start without it: pods of before would serve on.
        **revision(target, changes, starts=True) | {"trigger": succession(target)},
        details={"field": variable, "right": lost.value},
        facts={"meaning": lost.meaning},
        remedies=[
            mend(target, put(target.workload, f"{path}/-", entry)),
            mend(target, patch(target.workload, [{"op": "add", "path": path, "value": entries}])),
        ],
        look=[show(target)],
    )
