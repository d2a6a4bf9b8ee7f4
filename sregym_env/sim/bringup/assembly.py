"""Every control loop and event handler of the embedded cluster, in the order in which they are woken."""

from __future__ import annotations

from sregym_env.sim import embedded, scheduler
from sregym_env.sim.cluster import SimCluster
from sregym_env.sim.controllers import (
    apiservice,
    argocd,
    certificates,
    clusterroleaggregation,
    cronjob,
    customresourcedefinition,
    daemonset,
    deployment,
    disruption,
    endpoints,
    endpointslice,
    endpointslicemirroring,
    eventttl,
    flowcontrol,
    garbage,
    horizontalpodautoscaler,
    job,
    leaderelection,
    namespace,
    nodelifecycle,
    podgarbage,
    provisioner,
    replicaset,
    resourcequota,
    serviceaccount,
    serviceaccounttoken,
    statefulset,
    tainteviction,
    ttlafterfinished,
    validatingadmissionpolicy,
    volumebinding,
    volumeexpand,
    volumeprotection,
)
from sregym_env.sim.machines import kubelet, power
from sregym_env.sim.monitoring.kernel_figures import KernelFigures
from sregym_env.sim.monitoring.telemetry import SimTelemetry
from sregym_env.sim.network import dns
from sregym_env.sim.processes import lifecycle
from sregym_env.sim.programs.registry import PROGRAMS, TOOLBOX_PROGRAMS
from sregym_env.sim.users import traffic
from sregym_env.sim.world import Controller, Handler, Machinery

CONTROLLERS: tuple[Controller, ...] = (
    deployment.CONTROLLER,
    replicaset.CONTROLLER,
    replicaset.REPLICATION,
    statefulset.CONTROLLER,
    daemonset.CONTROLLER,
    job.CONTROLLER,
    cronjob.CONTROLLER,
    scheduler.CONTROLLER,
    kubelet.CONTROLLER,
    kubelet.PROBER,
    endpointslice.CONTROLLER,
    endpoints.CONTROLLER,
    endpointslicemirroring.CONTROLLER,
    *volumebinding.CONTROLLERS,
    *provisioner.CONTROLLERS,
    *volumeprotection.CONTROLLERS,
    volumeexpand.CONTROLLER,
    customresourcedefinition.CONTROLLER,
    validatingadmissionpolicy.CONTROLLER,
    namespace.CONTROLLER,
    serviceaccount.CONTROLLER,
    serviceaccounttoken.CONTROLLER,
    clusterroleaggregation.CONTROLLER,
    garbage.CONTROLLER,
    podgarbage.CONTROLLER,
    ttlafterfinished.CONTROLLER,
    resourcequota.CONTROLLER,
    disruption.CONTROLLER,
    horizontalpodautoscaler.CONTROLLER,
    nodelifecycle.CONTROLLER,
    tainteviction.CONTROLLER,
    apiservice.CONTROLLER,
    certificates.CONTROLLER,
    flowcontrol.CONTROLLER,
    eventttl.CONTROLLER,
    leaderelection.CONTROLLER,
    argocd.CONTROLLER,
    dns.CONTROLLER,
)

HANDLERS: dict[str, Handler] = {
    **embedded.HANDLERS,
    **kubelet.HANDLERS,
    **power.HANDLERS,
    **lifecycle.HANDLERS,
    **traffic.HANDLERS,
}

MACHINERY = Machinery.of(
    CONTROLLERS,
    HANDLERS,
    PROGRAMS,
    TOOLBOX_PROGRAMS,
    SimCluster,
    SimTelemetry,
    place=f"{__name__}:MACHINERY",
    figures=KernelFigures,
)
"""What every embedded world is driven by."""
