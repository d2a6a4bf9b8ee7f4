"""A server that may have fewer files open than it has connections."""

from __future__ import annotations

import re

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import execute, mend, put, restore, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.runtime.chance import Chance

SHELL = ("/bin/sh", "-c")
_KEPT = re.compile(r"\bwrk .*(?:-c|--connections)[ =]?(\d+)")
_LIMITED = re.compile(r"\s*ulimit [^;&]*(?:&&|;)\s*")
OWN = 20
"""Descriptors that a front end uses for itself, about: streams, sockets to whom it asks and that it is asked on."""
LEAST = 10
"""Connections of users at a pod from which it is not the process's own that are too many."""
USUAL = (
    24,
    28,
    30,
    32,
    36,
    40,
    48,
    50,
    56,
    64,
    72,
    80,
    96,
    100,
    112,
    120,
    128,
    150,
    160,
    192,
    200,
    256,
    300,
    320,
)
"""Numbers that people write."""
FEW, MANY = 0.25, 0.75
"""Least and largest share of users' connections for which there is room."""


def _connections(target: ComponentTarget) -> float:
    """Connections that the application's users keep open to a pod of it, as their scripts say."""
    if not any(journey.through and journey.through[0] == target.name for journey in target.app.journeys):
        return 0.0
    found = (
        _KEPT.search(text)
        for (resource, _, _), manifest in target.inventory.declared.items()
        if resource == "configmaps"
        for text in (manifest.get("data") or {}).values()
    )
    return sum(int(match[1]) for match in found if match) / max(target.replicas, 1)


def _program(target: ComponentTarget) -> str:
    """The command line of its program, without what a shell does before; empty where its image alone says it."""
    command = [str(each) for each in target.container.get("command") or ()]
    if len(command) == 3 and command[0].endswith("sh") and command[1] == "-c":
        return _LIMITED.sub("", command[2]).removeprefix("exec ")
    return " ".join(command)


def _crowded(target: ComponentTarget) -> bool:
    return bool(_program(target)) and not target.container.get("args") and _connections(target) >= LEAST


def _limit(target: ComponentTarget, chance: Chance) -> int:
    """Enough for the process itself and a part of its users."""
    kept = _connections(target)
    fit = [each for each in USUAL if OWN + FEW * kept <= each <= OWN + MANY * kept]
    if fit and chance.yes("usual", 0.7):
        return int(chance.choice("number", fit))
    return round(OWN + chance.uniform("share", FEW, MANY) * kept)


def _published(target: ComponentTarget) -> int:
    return max(each for each in USUAL if each <= OWN + 0.5 * _connections(target))


def _wrapped(target: ComponentTarget, limit: int) -> list[str]:
    return [*SHELL, f"ulimit -n {limit} && exec {_program(target)}"]


@fault(
    layer="node",
    mechanism="open_files_exhausted",
    targets=components(at_request=True, where=_crowded),
    level="hard",
)
def file_descriptor_limit_too_low(
    target: ComponentTarget, limit: int = drawn(_limit, published=_published)
) -> Fault:
    """The process may have fewer files open (``ulimit -n`` in its container's command) than users keep connections to it.

    Those that it has accepted are served as ever, the others wait in the kernel's queue until their users give up. New ones wait
    as well: whatever looks at it once over HTTP times out, though its port takes connections on.
    """
    path, right = target.container_path("command"), target.container["command"]
    return Fault(
        resource=target.workload,
        cause=f"The command of {target.kind} {target.name} limits its process to {limit} open files (ulimit -n {limit}), fewer than users keep "
        f"connections to it: it cannot accept the others (too many open files), whose requests time out.",
        **revision(target, {path: _wrapped(target, limit)}, starts=True),
        details={"field": "ulimit -n", "wrong": str(limit), "right": "1048576"},
        remedies=[
            mend(target, restore(target.workload, path, right)),
            mend(target, put(target.workload, path, _wrapped(target, 65536))),
        ],
        look=[
            show(target),
            f"kubectl logs -n {target.namespace} deploy/{target.component.workload_name} --tail=40",
            execute(target, "cat /proc/1/limits"),
        ],
        aliases=["ulimit", "open files", "file descriptors"],
    )
