"""What is special about Hotel Reservation's declaration: its size, its configuration file, its call graph."""

from __future__ import annotations

import json
from collections import Counter

from sregym_env import apps
from sregym_env.cluster.inventory import declared

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


def test_configuration_keys_point_at_the_dependencies() -> None:
    images = {image.reference: image for image in APP.images}
    for component in APP.components:
        if component.config is None:
            continue
        key = (component.workload, APP.namespace, component.name)
        spec = DECLARED[key]["spec"]["template"]["spec"]
        content = json.loads(images[spec["containers"][0]["image"]].files[component.config.path])
        host, _, port = content[component.config.key].partition(":")
        assert any(d.on == host and d.port == int(port) for d in component.dependencies)


def test_critical_components_leave_out_tracing_and_load() -> None:
    assert {c.name for c in APP.components} - APP.critical == {"jaeger", "wrk2-job"}
    assert APP.critical - APP.serving == {"consul", "mongodb-geo", "mongodb-recommendation", "mongodb-user"}


def test_affected_follows_the_callers() -> None:
    assert APP.affected("mongodb-geo") == ("geo", "search", "frontend")
    assert APP.affected("frontend") == ()
