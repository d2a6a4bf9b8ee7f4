"""What holds of every application: its declaration hangs together, and deployed it serves its users."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.app import App, Component
from sregym_env.cluster.inventory import Inventory, template
from sregym_env.cluster.targets import ROLLED
from sregym_env.rewards.baseline import capture
from sregym_env.rewards.oracle import judge_state
from sregym_env.sim.bringup.deploy import deployed_world

every_app = pytest.mark.parametrize(
    "app", [apps.app(name) for name in apps.names()], ids=lambda app: app.name
)
every_component = pytest.mark.parametrize(
    ("app", "component"),
    [(apps.app(name), component) for name in apps.names() for component in apps.app(name).components],
    ids=lambda value: value.name,
)

UNDECLARED = {("social-network", "media-frontend")}
"""Components whose published manifests declare another port than the one on which they listen."""
RUNNING = (*ROLLED, "jobs.batch", "cronjobs.batch")


def inventory(app: App) -> Inventory:
    return Inventory.of(deployed_world(app))


@every_app
def test_every_workload_is_a_component_and_the_other_way_round(app: App) -> None:
    found = inventory(app)
    declared = {key for key in found.declared if key[0] in RUNNING}
    made = {(app.by_name[n].workload, app.namespace_of(n), n) for n in found.made}
    assert declared | made == {(c.workload, app.namespace_of(c.name), c.name) for c in app.components}
    assert len(app.by_name) == len(app.components)


@every_component
def test_a_component_agrees_with_its_manifests(app: App, component: Component) -> None:
    found = inventory(app)
    workload = found.workload(component)
    spec, labels = template(workload)["spec"], template(workload)["metadata"]["labels"]
    container = next(c for c in spec["containers"] if c["name"] == component.container)
    if component.port and (app.name, component.name) not in UNDECLARED:
        assert component.port in [port["containerPort"] for port in container["ports"]]
    if component.service and found.declares(component):
        service = found.manifest("services", component.service, app.namespace_of(component.name))["spec"]
        assert component.offered_port in [port["port"] for port in service["ports"]]
        assert service["selector"].items() <= labels.items()
    if component.volume:
        assert component.name in found.volume_of
    running = [pod["metadata"] for pod in found.pods if labels.items() <= pod["metadata"]["labels"].items()]
    assert {pod["namespace"] for pod in running} <= {app.namespace_of(component.name)}
    assert running or component.workload.endswith(".batch")


@every_app
def test_components_come_after_what_they_need(app: App) -> None:
    seen: set[str] = set()
    for component in app.components:
        assert {dependency.on for dependency in component.dependencies} <= seen, component.name
        seen.add(component.name)


@every_app
def test_journeys_are_a_mix_through_known_components(app: App) -> None:
    assert sum(journey.weight for journey in app.journeys) == pytest.approx(1.0)
    for journey in app.journeys:
        assert journey.through[0] == app.entry
        assert set(journey.through) <= app.serving


@every_component
def test_every_image_is_declared(app: App, component: Component) -> None:
    known = {image.reference for image in app.images}
    for container in template(inventory(app).workload(component))["spec"]["containers"]:
        assert container["image"] in known or f"{container['image']}:latest" in known
    assert set(component.builds.values()) <= known


@every_app
def test_deployed_it_serves_its_users_and_satisfies_the_oracle(app: App) -> None:
    world = deployed_world(app, 3)
    health = world.traffic.health(60.0)
    assert {journey.journey for journey in health} == {journey.name for journey in app.journeys}
    assert all(journey.requests and journey.success_ratio >= app.slo.success_ratio for journey in health)
    assert not [alert for alert in world.alerts() if alert.state == "firing"]
    verdict = judge_state(world, capture(world), ())
    assert verdict.passed, [check.observed for check in verdict.failed]
