"""The world as one value, and what every part of the simulation agrees on.

In: nothing of the other rooms. Out: :class:`SimWorld` (object store, event queue, chance, processes, logs, volumes),
and the shapes of what acts on it: control loops (:class:`Controller`), event handlers, programs
(:mod:`~sregym_env.sim.world.program`). The rooms above are stateless functions over it.
"""

from sregym_env.sim.world.simworld import (
    CUSTOM,
    Controller,
    Handler,
    LogKey,
    Machinery,
    Reconcile,
    SimWorld,
    Wake,
    is_custom,
)

__all__ = [
    "CUSTOM",
    "Controller",
    "Handler",
    "LogKey",
    "Machinery",
    "Reconcile",
    "SimWorld",
    "Wake",
    "is_custom",
]
