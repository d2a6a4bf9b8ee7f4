"""The application's declaration hangs together: manifests, components, journeys and images."""

from __future__ import annotations

from collections import Counter

import pytest

from sregym_env import apps
from sregym_env.cluster.inventory import declared
from sregym_env.errors import ProblemError

APP = apps.app("hotel-reservation")
DECLARED = declared(APP)


def test_the_counts_are_those_of_the_real_application() -> None:
    kinds = Counter(manifest["kind"] for manifest in APP.manifests)
    assert kinds == {
        "Namespace": 1,
        "Deployment": 19,
        "Service": 20,
        "PersistentVolumeClaim": 6,
        "ConfigMap": 3,
        "Job": 1,
    }


def test_every_workload_is_a_component_and_the_other_way_round() -> None:
    workloads = {key for key in DECLARED if key[0] in ("deployments.apps", "jobs.batch")}
    assert workloads == {(c.workload, c.name) for c in APP.components}


@pytest.mark.parametrize("component", APP.components, ids=lambda c: c.name)
def test_a_component_agrees_with_its_manifests(component) -> None:
    spec = DECLARED[(component.workload, component.name)]["spec"]["template"]["spec"]
    container = next(c for c in spec["containers"] if c["name"] == component.container)
    if component.port:
        assert component.port in [port["containerPort"] for port in container["ports"]]
    if component.service:
        service = DECLARED[("services", component.service)]["spec"]
        assert component.port in [port["targetPort"] for port in service["ports"]]
        labels = DECLARED[(component.workload, component.name)]["spec"]["template"]["metadata"]["labels"]
        assert service["selector"].items() <= labels.items()
    if component.volume:
        claims = [
            v["persistentVolumeClaim"]["claimName"] for v in spec["volumes"] if "persistentVolumeClaim" in v
        ]
        assert component.volume in claims
        assert ("persistentvolumeclaims", component.volume) in DECLARED


def test_components_come_after_what_they_need() -> None:
    seen: set[str] = set()
    for component in APP.components:
        assert {dependency.on for dependency in component.dependencies} <= seen, component.name
        seen.add(component.name)


def test_journeys_are_a_mix_through_known_components() -> None:
    assert sum(journey.weight for journey in APP.journeys) == pytest.approx(1.0)
    for journey in APP.journeys:
        assert journey.through[0] == APP.entry
        assert set(journey.through) <= APP.serving


def test_every_image_of_a_manifest_is_declared() -> None:
    known = {image.reference for image in APP.images}
    for component in APP.components:
        for container in DECLARED[(component.workload, component.name)]["spec"]["template"]["spec"][
            "containers"
        ]:
            assert container["image"] in known or f"{container['image']}:latest" in known
        assert set(component.builds.values()) <= known


def test_configuration_keys_point_at_the_dependencies() -> None:
    import json

    images = {image.reference: image for image in APP.images}
    for component in APP.components:
        if component.config is None:
            continue
        spec = DECLARED[(component.workload, component.name)]["spec"]["template"]["spec"]
        content = json.loads(images[spec["containers"][0]["image"]].files[component.config.path])
        host, _, port = content[component.config.key].partition(":")
        assert any(d.on == host and d.port == int(port) for d in component.dependencies)


def test_critical_components_leave_out_tracing_and_load() -> None:
    assert {c.name for c in APP.components} - APP.critical == {"jaeger", "wrk2-job"}
    assert APP.critical - APP.serving == {"consul", "mongodb-geo", "mongodb-recommendation", "mongodb-user"}


def test_affected_follows_the_callers() -> None:
    assert APP.affected("mongodb-geo") == ("geo", "search", "frontend")
    assert APP.affected("frontend") == ()


def test_an_unknown_application_is_refused_with_near_names() -> None:
    with pytest.raises(ProblemError, match="did you mean hotel-reservation"):
        apps.app("hotel-reservations")
