"""Custom resources converted by a program in the cluster, and what happens without it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest

from sregym_env.kube.status import StatusError
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from tests.sim.admission.webhook_world import NAMESPACE, SERVICE, encoded, objects, pair

KEY = "multis.stable.example.com"


def _version(name: str, storage: bool, *fields: str) -> dict[str, Any]:
    properties = {field: {"type": "string"} for field in fields}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    return {"name": name, "served": True, "storage": storage, "schema": schema}


def _definition(bundle: str) -> dict[str, Any]:
    service = {"name": SERVICE, "namespace": NAMESPACE, "path": "/crdconvert"}
    webhook = {
        "clientConfig": {"service": service, "caBundle": encoded(bundle)},
        "conversionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": KEY},
        "spec": {
            "group": "stable.example.com",
            "scope": "Namespaced",
            "names": {"plural": "multis", "kind": "Multi"},
            "conversion": {"strategy": "Webhook", "webhook": webhook},
            "versions": [_version("v1", True, "hostPort"), _version("v2", False, "host", "port")],
        },
    }


@lru_cache(maxsize=1)
def _settled() -> EmbeddedWorld:
    world = bare_cluster()
    for manifest in objects(pair()):
        if manifest["kind"] == "Deployment":
            args = manifest["spec"]["template"]["spec"]["containers"][0]["args"]
            args[0] = "crd-conversion-webhook"
        world.cluster.create(manifest)
    world.cluster.create(_definition(pair().authority))
    world.advance(30)
    return world


@pytest.fixture
def world() -> EmbeddedWorld:
    return _settled().fork()


def _multi(version: str = "v2", **fields: str) -> dict[str, Any]:
    metadata = {"name": "m", "namespace": "default"}
    return {"apiVersion": f"stable.example.com/{version}", "kind": "Multi", "metadata": metadata, **fields}


def test_a_program_converts(world: EmbeddedWorld) -> None:
    made = world.cluster.create(_multi(host="localhost", port="80"))
    assert (made["host"], made["port"]) == ("localhost", "80")
    stored = world.store.get(KEY, "default", "m")
    assert stored is not None and stored["hostPort"] == "localhost:80"
    seen = world.cluster.get("multis.v1.stable.example.com", "m", "default")
    assert (seen["apiVersion"], seen["hostPort"]) == ("stable.example.com/v1", "localhost:80")
    again = world.cluster.get("multis.v2.stable.example.com", "m", "default")
    assert (again["host"], again["port"], again["metadata"]["uid"]) == (
        "localhost",
        "80",
        made["metadata"]["uid"],
    )


def test_an_object_that_cannot_be_converted(world: EmbeddedWorld) -> None:
    world.cluster.create(_multi("v1", hostPort="nowhere"))
    with pytest.raises(
        StatusError,
        match="failed: invalid hostPort value `nowhere`",
    ):
        world.cluster.get("multis.v2.stable.example.com", "m", "default")


def test_without_the_program_nobody_reads_the_other_version(world: EmbeddedWorld) -> None:
    world.cluster.create(_multi("v1", hostPort="a:1"))
    world.cluster.patch(
        "deployments.apps", SERVICE, {"spec": {"replicas": 0}}, namespace=NAMESPACE, type="merge"
    )
    world.advance(60)
    assert world.cluster.get("multis.v1.stable.example.com", "m", "default")["hostPort"] == "a:1"
    url = f"https://{SERVICE}.{NAMESPACE}.svc:443/crdconvert?timeout=30s"
    with pytest.raises(StatusError) as caught:
        world.cluster.list("multis.v2.stable.example.com", "default")
    assert caught.value.message.startswith(
        f'conversion webhook for stable.example.com/v1, Kind=Multi failed: Post "{url}": '
    )


def test_a_wrong_bundle_is_noticed(world: EmbeddedWorld) -> None:
    world.cluster.create(_multi("v1", hostPort="a:1"))
    other = encoded(pair(number=7).authority)
    change = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": other}}}}}
    world.cluster.patch("customresourcedefinitions.apiextensions.k8s.io", KEY, change, type="merge")
    with pytest.raises(StatusError, match="x509: certificate signed by unknown authority"):
        world.cluster.get("multis.v2.stable.example.com", "m", "default")
