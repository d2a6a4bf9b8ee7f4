"""An address in a container's environment with the wrong port."""

from __future__ import annotations

from typing import Any

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import wrong_port
from sregym_env.faults.commands import mend, put, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.faults.variables import callee, ports
from sregym_env.runtime.chance import Chance


def _drawn_port(target: ComponentTarget, chance: Chance) -> dict[str, Any]:
    chosen = ports(target)[chance.choice("variable", list(ports(target)))]
    asked = ComponentTarget(target.inventory, callee(target, chosen))
    return {"variable": chosen.name, "port": wrong_port(asked, chance.at("port"))}


def _published_port(target: ComponentTarget) -> dict[str, Any]:
    known = ports(target)
    name = "PRODUCT_CATALOG_ADDR" if "PRODUCT_CATALOG_ADDR" in known else next(iter(known))
    return {"variable": name, "port": 8082}


@fault(
    layer="configuration",
    mechanism="wrong_variable",
    targets=components(where=lambda target: bool(ports(target))),
)
def incorrect_port_assignment(
    target: ComponentTarget, astray: dict[str, Any] = drawn(_drawn_port, published=_published_port)
) -> Fault:
    """A variable of the container tells the program a port on which the component that it asks does not serve.

    ``astray`` names the ``variable`` and the wrong ``port`` in it.
    """
    right = ports(target)[astray["variable"]]
    head, _, tail = right.value.rpartition(str(right.port))
    wrong = f"{head}{astray['port']}{tail}"
    path = f"{right.path(target)}/value"
    return Fault(
        resource=target.workload,
        cause=f"The environment variable {right.name} of {target.kind} {target.name} has the wrong value {wrong}: {right.of} "
        f"serves on port {right.port}; every connection of {target.name} to it fails.",
        **revision(target, {path: wrong}, starts=True),
        details={"field": right.name, "wrong": wrong, "right": right.value},
        facts={"asked": right.of, "port": astray["port"]},
        remedies=[mend(target, put(target.workload, path, right.value))],
        look=[show(target), f"kubectl get services -n {target.namespace}"],
    )
