"""A cluster of fifty machines with two thousand pods beside the largest application."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sregym_env import apps
from sregym_env.cluster.deploy import deploy
from sregym_env.cluster.oncall import ONCALL
from sregym_env.kube.types import Manifest
from sregym_env.sim.bringup.plan import PUBLISHED, Machine, cluster_of
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation

MACHINES, TEAMS, PODS = 50, 40, 2000

NAMESPACE = "fleet"


def fleet(machines: int = MACHINES, pods: int = PODS, app: str = "astronomy-shop") -> EmbeddedWorld:
    """The cluster with its pods running: so many ``pods`` in :data:`TEAMS` Deployments, besides those of ``app``."""
    workers = (
        Machine(f"sre-worker{number}", f"172.18.1.{number}", f"10.244.{number}.0/24")
        for number in range(1, machines + 1)
    )
    plan = replace(PUBLISHED, machines=(PUBLISHED.first, *workers), key="large")
    world = cluster_of(plan, -1)
    world.run_until(plan.present)
    world.app = apps.app(app)
    deploy(world)
    world.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for number in range(TEAMS):
        replicas = pods // TEAMS + (number < pods % TEAMS)
        world.cluster.create(_deployment(f"service-{number:02d}", replicas))
    world.advance(300.0)
    return world


def shell() -> Callable[[str], object]:
    """What types a line on the workstation of that cluster."""
    return Workstation(fleet(), ONCALL).run


def _deployment(name: str, replicas: int) -> Manifest:
    resources = {"requests": {"cpu": "10m", "memory": "8Mi"}}
    container = {"name": "main", "image": "registry.k8s.io/pause:3.9", "resources": resources}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}},
        },
    }
