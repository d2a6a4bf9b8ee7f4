"""Every control loop and event handler of the embedded cluster, in the order in which they are woken."""

from __future__ import annotations

from sregym_env.sim import dns, embedded, kubelet, scheduler, traffic
from sregym_env.sim.controllers import (
    cronjob,
    daemonset,
    deployment,
    disruption,
    endpoints,
    endpointslice,
    eventttl,
    garbage,
    horizontalpodautoscaler,
    job,
    namespace,
    nodelifecycle,
    podgarbage,
    provisioner,
    replicaset,
    resourcequota,
    serviceaccount,
    statefulset,
    tainteviction,
    ttlafterfinished,
    volumebinding,
    volumeprotection,
)
from sregym_env.sim.controllers.controller import Controller
from sregym_env.sim.programs import runtime
from sregym_env.sim.world import Handler, Machinery

CONTROLLERS: tuple[Controller, ...] = (
    deployment.CONTROLLER,
    replicaset.CONTROLLER,
    statefulset.CONTROLLER,
    daemonset.CONTROLLER,
    job.CONTROLLER,
    cronjob.CONTROLLER,
    scheduler.CONTROLLER,
    kubelet.CONTROLLER,
    endpointslice.CONTROLLER,
    endpoints.CONTROLLER,
    *volumebinding.CONTROLLERS,
    *provisioner.CONTROLLERS,
    *volumeprotection.CONTROLLERS,
    namespace.CONTROLLER,
    serviceaccount.CONTROLLER,
    garbage.CONTROLLER,
    podgarbage.CONTROLLER,
    ttlafterfinished.CONTROLLER,
    resourcequota.CONTROLLER,
    disruption.CONTROLLER,
    horizontalpodautoscaler.CONTROLLER,
    nodelifecycle.CONTROLLER,
    tainteviction.CONTROLLER,
    eventttl.CONTROLLER,
    dns.CONTROLLER,
)

HANDLERS: dict[str, Handler] = {
    **embedded.HANDLERS,
    **kubelet.HANDLERS,
    **runtime.HANDLERS,
    **traffic.HANDLERS,
}

MACHINERY = Machinery.of(CONTROLLERS, HANDLERS)
"""What every embedded world is driven by."""
