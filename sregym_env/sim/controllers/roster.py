"""All controllers, in the order in which one change wakes them."""

from __future__ import annotations

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

CONTROLLERS: tuple[Controller, ...] = (
    namespace.CONTROLLER,
    serviceaccount.CONTROLLER,
    deployment.CONTROLLER,
    replicaset.CONTROLLER,
    statefulset.CONTROLLER,
    daemonset.CONTROLLER,
    cronjob.CONTROLLER,
    job.CONTROLLER,
    endpoints.CONTROLLER,
    endpointslice.CONTROLLER,
    *volumebinding.CONTROLLERS,
    *provisioner.CONTROLLERS,
    *volumeprotection.CONTROLLERS,
    disruption.CONTROLLER,
    resourcequota.CONTROLLER,
    nodelifecycle.CONTROLLER,
    tainteviction.CONTROLLER,
    podgarbage.CONTROLLER,
    horizontalpodautoscaler.CONTROLLER,
    ttlafterfinished.CONTROLLER,
    garbage.CONTROLLER,
    eventttl.CONTROLLER,
)
