"""Every control loop and event handler of the embedded cluster, in the order in which they are woken."""

from __future__ import annotations

from sregym_env.sim import controllers, embedded, kubelet, scheduler, traffic
from sregym_env.sim.controllers.controller import Controller
from sregym_env.sim.programs import runtime
from sregym_env.sim.world import Handler, Machinery

CONTROLLERS: tuple[Controller, ...] = (*controllers.CONTROLLERS, scheduler.CONTROLLER, kubelet.CONTROLLER)

HANDLERS: dict[str, Handler] = {
    **embedded.HANDLERS,
    **kubelet.HANDLERS,
    **runtime.HANDLERS,
    **traffic.HANDLERS,
}

MACHINERY = Machinery.of(CONTROLLERS, HANDLERS)
"""What every embedded world is driven by."""
