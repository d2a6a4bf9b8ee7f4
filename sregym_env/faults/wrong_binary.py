"""A container that runs another service's program."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.commands import mend, put, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision


def _siblings(target: ComponentTarget) -> list[str]:
    """Commands of the components that run a build of the same image and serve elsewhere, in the app's order."""
    image = _repository(target)
    others = [
        ComponentTarget(target.inventory, c)
        for c in target.app.components
        if c.name != target.name and c.port != target.component.port
    ]
    return [
        _program(other.container["command"])
        for other in others
        if other.component.container and "command" in other.container and _repository(other) == image
    ]


def _program(command: list[str]) -> str:
    """The program that a command runs: a shell that first sets something goes on with it."""
    return command[-1].rpartition("exec ")[2] if command[0].endswith("/sh") else command[0]


def _repository(target: ComponentTarget) -> str:
    """Its image without the tag: builds of one program differ in that."""
    image: str = target.container["image"].partition("@")[0]
    path, colon, tag = image.rpartition(":")
    return path if colon and "/" not in tag else image


@fault(
    layer="configuration",
    mechanism="wrong_command",
    targets=components(
        at_request=True, where=lambda target: "command" in target.container and bool(_siblings(target))
    ),
)
def wrong_binary(
    target: ComponentTarget,
    binary: str = drawn(
        lambda target, chance: chance.choice("binary", _siblings(target)),
        published=lambda target: _siblings(target)[0],
    ),
) -> Fault:
    """The container runs another program of its image than the one it should.

    The pod is Running and Ready, but nothing serves on the component's port, and its name in the service
    registry belongs to nobody.
    """
    right = target.container["command"]
    proper = _program(right)
    at = len(right) - 1 if right[0].endswith("/sh") else 0
    wrong = [each.replace(proper, binary) if index == at else each for index, each in enumerate(right)]
    path = target.container_path("command")
    return Fault(
        resource=target.workload,
        cause=f"The container of {target.kind} {target.name} runs the command {binary} instead of {proper}, so "
        f"the {target.name} service is not there although its pod is Running.",
        **revision(target, {path: wrong}, starts=True),
        details={"field": "command", "wrong": binary},
        facts={"proper": proper},
        remedies=[mend(target, put(target.workload, path, right))],
        look=[show(target)],
    )
