"""Workloads that somebody has bound to machines: stores to the one that holds their data, others to a pool of some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sregym_env.cluster.app import Component
from sregym_env.cluster.inventory import local_volumes
from sregym_env.runtime.chance import Chance
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.worlds import changes
from sregym_env.worlds.variation.words import few

Form = Literal["selector", "affinity", "avoiding"]
"""How it is said: by node selector, by node affinity, or by naming the machines that are avoided."""

BOUND = (0.03, 0.15)
"""Share of an application's workloads that somebody has bound, where that can be, from and to."""

ENOUGH = 2
"""Machines that a pool must have: one may be emptied at any time."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A workload is bound to machines on which it can be anyway, and is rolled out for it."""

    component: str
    chance: Chance
    pools: Chance
    """Draws the application's two pools of machines; the same for all that are bound."""

    def do(self, world: EmbeddedWorld) -> None:
        """Bind it; nothing where there are no machines to choose from, or what it has are others' choice."""
        component = world.app.by_name[self.component]
        nodes, form = self._wanted(world, component)
        if not nodes:
            return
        change = changes.bound(world.app, component.name, nodes, form, self.chance)
        if change is not None:
            changes.happen(world, change)

    def _wanted(self, world: EmbeddedWorld, component: Component) -> tuple[Sequence[str], Form]:
        """The machines that it is bound to, or from which it is kept, and how that is said."""
        if component.volume:
            holding = [
                each.node
                for each in local_volumes(world.app, world.cluster)
                if each.component == component.name
            ]
            form: Form = "selector" if self.chance.yes("selector", 0.6) else "affinity"
            return holding if all(holding) else [], form
        if component.workload != "deployments.apps":
            return [], "affinity"
        lasting = _lasting(world)
        if len(lasting) < ENOUGH:
            return [], "affinity"
        one = few(
            self.pools,
            "pool",
            lasting,
            self.pools.between("size", ENOUGH, max(ENOUGH, len(lasting) - ENOUGH)),
        )
        other = [node for node in lasting if node not in one]
        pool = other if len(other) >= ENOUGH and self.chance.yes("other pool", 0.5) else one
        avoided = [node for node in lasting if node not in pool]
        if avoided and self.chance.yes("avoiding", 0.25):
            return sorted(avoided), "avoiding"
        return sorted(pool), "affinity"


def _lasting(world: EmbeddedWorld) -> list[str]:
    """Machines that take any pod, and will be there in the present."""
    going = {each.subject for each in world.plan.upkeep if each.kind in ("leave", "cordon", "retire")}
    found = []
    for node in world.cluster.list("nodes"):
        spec, name = node["spec"], node["metadata"]["name"]
        if not spec.get("taints") and not spec.get("unschedulable") and name not in going:
            found.append(name)
    return found
