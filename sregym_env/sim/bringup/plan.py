"""Clusters by plan: one as a :class:`~sregym_env.sim.world.plan.ClusterPlan` has it, up and with its life before it."""

from __future__ import annotations

from sregym_env.runtime.clock import MINUTE
from sregym_env.sim.bringup import populate
from sregym_env.sim.bringup.assembly import MACHINERY
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.machines import power
from sregym_env.sim.programs.system_images import SYSTEM_IMAGES, of_version
from sregym_env.sim.world.plan import (
    PUBLISHED,
    SLOT,
    ClusterPlan,
    Machine,
    Pace,
    Upkeep,
)

SETTLED = 15 * MINUTE
"""How long after its birth all that is there from the start runs."""


def cluster_of(plan: ClusterPlan, seed: int | None = None) -> EmbeddedWorld:
    """A fresh cluster, ``SETTLED`` after its birth, with its system pods running and nothing deployed.

    Everything else that the plan says of its machines lies ahead, as events: run it until ``plan.present`` to have
    it live through them. ``seed``: of its streams, if not the plan's own.
    """
    images = {image.reference: image for image in (*SYSTEM_IMAGES, *of_version(plan.version))}
    made = EmbeddedWorld(
        plan.seed if seed is None else seed, start=plan.born, machinery=MACHINERY, images=images
    )
    # A world without a plan is the published one.
    if plan is not PUBLISHED:
        made.memory[SLOT] = plan
        made.store.pace = plan.pace
    power.keep_up(made, plan)
    populate.populate(made)
    made.run_until(plan.born + SETTLED)
    return made


__all__ = ["PUBLISHED", "SETTLED", "ClusterPlan", "Machine", "Pace", "Upkeep", "cluster_of"]
