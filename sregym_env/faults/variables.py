"""What the faults of a container's environment have in common: which of its variables the program needs for its users."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sregym_env.cluster.app import Component, Dependency
from sregym_env.cluster.targets import ComponentTarget


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the container's own environment."""

    index: int
    """Where it stands in the container's list."""
    name: str
    value: str
    meaning: str
    """What it tells the program."""
    host: str = ""
    """The name in it under which a component is looked up; of a suffix of names its namespace; empty for a port alone."""
    of: str = ""
    """The component that it leads to; empty for a port on which the program itself serves."""
    port: int = 0
    """The port in it; 0 for none."""

    @property
    def suffix(self) -> bool:
        """Whether it is what names end with, and no name."""
        return self.value.startswith(".")

    def path(self, target: ComponentTarget) -> str:
        """JSON pointer of its entry."""
        return target.container_path("env", self.index)


def variables(target: ComponentTarget) -> dict[str, Variable]:
    """The needed variables, by name, in the container's order.

    Needed are addresses of what the component cannot serve its users without, and the port on which it serves. A
    variable in which others are put in, ``$(NAME)``, or that is put in others is none of them: what its loss does depends on those.
    """
    component = target.component
    literal = [
        (index, entry["name"], str(entry.get("value", "")))
        for index, entry in enumerate(target.declares("env") or ())
        if "valueFrom" not in entry
    ]
    mentioned = " ".join(value for _, _, value in literal)
    found: dict[str, Variable] = {}
    for index, name, value in literal:
        if "$(" in value or f"$({name})" in mentioned:
            continue
        told = next(_addresses(target, index, name, value), None)
        if told is not None:
            found[name] = told
    for index, name, value in literal:
        if not name.endswith("_PORT") or not value.isdigit() or f"$({name})" in mentioned:
            continue
        # FRONTEND_HOST and FRONTEND_PORT make an address together.
        beside = found.get(f"{name.removesuffix('PORT')}HOST")
        if beside is not None:
            found[name] = Variable(index, name, value, f"port of {beside.of}", of=beside.of, port=int(value))
        elif value == str(component.port):
            found[name] = Variable(index, name, value, "port to serve on", port=component.port)
    return dict(sorted(found.items(), key=lambda item: item[1].index))


def addresses(target: ComponentTarget) -> dict[str, Variable]:
    """Needed variables with the name of a host, or the end of one, in them."""
    return {name: each for name, each in variables(target).items() if each.host}


def ports(target: ComponentTarget) -> dict[str, Variable]:
    """Needed variables that say on which port another component is asked."""
    return {name: each for name, each in variables(target).items() if each.of and each.port}


def callee(target: ComponentTarget, variable: Variable) -> Component:
    """The component that a variable leads to; the target's own for its own port."""
    return target.app.by_name[variable.of] if variable.of else target.component


def _addresses(target: ComponentTarget, index: int, name: str, value: str) -> Iterator[Variable]:
    for dependency in target.component.dependencies:
        if not _needed(dependency):
            continue
        for host in dict.fromkeys((dependency.host or dependency.on, dependency.on)):
            match = re.search(rf"(?<![\w.-]){re.escape(host)}(?![\w-])(?::(\d+))?", value)
            if match is not None:
                port = int(match[1] or 0)
                yield Variable(index, name, value, f"address of {dependency.on}", host, dependency.on, port)
        if value.startswith(f".{target.namespace}."):
            yield Variable(index, name, value, "domain of what it asks", target.namespace, dependency.on)


def _needed(dependency: Dependency) -> bool:
    at_request = "request" in dependency.at and not dependency.cached
    return dependency.essential and dependency.via == "service" and at_request
