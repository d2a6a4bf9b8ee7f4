"""A variable of a container's environment that is given twice."""

from __future__ import annotations

from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import names_of, until, variant
from sregym_env.faults.commands import drop, mend, put, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision
from sregym_env.faults.variables import Variable, addresses
from sregym_env.runtime.chance import Chance

_SPACES = (
    "{}-prod", "{}-v2", "{}-staging", "{}-blue", "{}-next", "{}-green", "{}-dev", "prod-{}", "default", "apps", "services", "prod",
)  # fmt: skip
"""Other namespaces that a suffix of names may lead to."""


def _first(target: ComponentTarget) -> str:
    return next(iter(addresses(target)))


def _elsewhere(target: ComponentTarget, chance: Chance, of: Variable) -> str:
    """A host that does not serve: the pod itself, or a name under which the component is known elsewhere."""
    if not of.suffix:
        if chance.yes("local", 0.4):
            return str(chance.choice("local", ("localhost", "localhost", "127.0.0.1", "0.0.0.0")))
        taken = names_of(target.inventory, "services", target.namespace)
        return str(
            until(
                chance,
                lambda by: variant(of.host, by),
                lambda name: name not in taken,
                f"{of.host}-next",
            )
        )
    return str(chance.choice("space", _SPACES)).format(of.host)


def _drawn_host(target: ComponentTarget, chance: Chance) -> dict[str, str]:
    chosen = addresses(target)[chance.choice("variable", list(addresses(target)))]
    return {"variable": chosen.name, "host": _elsewhere(target, chance, chosen)}


def _published_host(target: ComponentTarget) -> dict[str, str]:
    first = addresses(target)[_first(target)]
    return {"variable": first.name, "host": _SPACES[0].format(first.host) if first.suffix else "localhost"}


@fault(
    layer="configuration",
    mechanism="wrong_variable",
    targets=components(where=lambda target: bool(addresses(target))),
    level="hard",
)
def env_variable_shadowing(
    target: ComponentTarget, astray: dict[str, str] = drawn(_drawn_host, published=_published_host)
) -> Fault:
    """A variable is given twice, and the later entry, which leads nowhere, wins over the right one.

    ``astray`` names the ``variable`` and the wrong ``host`` in its second value.
    """
    right = addresses(target)[astray["variable"]]
    wrong = right.value.replace(right.host, astray["host"], 1)
    path, count = target.container_path("env"), len(target.declares("env"))
    last = f"{path}/{count}"
    return Fault(
        resource=target.workload,
        cause=f"The container of {target.kind} {target.name} is given the environment variable {right.name} twice, and the wrong "
        f"value, {wrong}, is the later one and takes effect, so {target.name} looks for its {right.meaning} where nobody serves.",
        **revision(target, {f"{path}/-": {"name": right.name, "value": wrong}}, starts=True),
        details={"field": right.name, "wrong": wrong, "right": right.value},
        facts={"meaning": right.meaning},
        remedies=[
            mend(target, drop(target.workload, last)),
            mend(target, put(target.workload, f"{last}/value", right.value)),
        ],
        look=[show(target)],
    )
