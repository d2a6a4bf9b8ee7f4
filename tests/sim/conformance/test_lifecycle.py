"""Every built-in kind lives a whole life: created, read, changed in every way, shown, deleted; and says no."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.kube import patch as patches
from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.status import StatusError
from sregym_env.kube.tables import printer
from sregym_env.kube.types import Manifest
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.cluster import SimCluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl
from tests.sim.conformance.entries import NAMESPACE, Entry, entries

ALL = [pytest.param(entry, id=entry.resource.key) for entry in entries()]


@pytest.fixture
def world() -> EmbeddedWorld:
    """A bare cluster with the namespace of the tests."""
    made = bare_cluster()
    made.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    made.advance(2.0)
    return made


@pytest.fixture
def cluster(world: EmbeddedWorld) -> SimCluster:
    return world.cluster


def test_the_table_is_complete() -> None:
    wanted = {
        resource.key
        for resource in BUILTIN.resources
        if "create" in resource.verbs and "list" in resource.verbs and resource.group != "events.k8s.io"
    }
    assert {entry.resource.key for entry in entries()} == wanted


@pytest.mark.parametrize("entry", ALL)
def test_minimal_object(cluster: SimCluster, entry: Entry) -> None:
    made = cluster.create(entry.manifest(entry.minimal))
    metadata = made["metadata"]
    assert metadata["uid"] and metadata["resourceVersion"] and metadata["creationTimestamp"].endswith("Z")
    with pytest.raises(StatusError) as raised:
        cluster.create(entry.manifest(entry.minimal))
    assert raised.value.reason == "AlreadyExists"


@pytest.mark.parametrize("entry", ALL)
def test_life(world: EmbeddedWorld, cluster: SimCluster, entry: Entry) -> None:
    key, name, namespace = entry.resource.key, entry.name, entry.namespace
    cluster.create(entry.manifest(entry.rich))
    world.advance(1.0)
    found = cluster.get(key, name, namespace)
    assert found["kind"] == entry.resource.kind
    assert name in _names(cluster.list(key, namespace))
    label = next(iter((found["metadata"].get("labels") or {}).items()), None)
    if label is not None:
        assert name in _names(cluster.list(key, namespace, label_selector=f"{label[0]}={label[1]}"))
        assert name not in _names(cluster.list(key, namespace, label_selector=f"{label[0]}!={label[1]}"))
    assert _names(cluster.list(key, namespace, field_selector=f"metadata.name={name}")) == [name]
    _change(cluster, entry)
    _show(world, entry)
    changes = [change for change in world.store.changes if change.resource == entry.resource.storage_key]
    assert changes[0].type == "ADDED" or len(changes) > 1
    cluster.delete(key, name, namespace)
    world.advance(120.0)
    with pytest.raises(StatusError) as raised:
        cluster.get(key, name, namespace)
    assert raised.value.reason == "NotFound"


def _names(objects: list[Manifest]) -> list[str]:
    return [obj["metadata"]["name"] for obj in objects]


def _change(cluster: SimCluster, entry: Entry) -> None:
    key, name, namespace = entry.resource.key, entry.name, entry.namespace
    before = cluster.get(key, name, namespace)
    changed = cluster.patch(key, name, entry.change, namespace=namespace, type="merge")
    assert changed["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]
    patched = cluster.patch(
        key, name, {"metadata": {"labels": {"p": "strategic"}}}, namespace=namespace, type="strategic"
    )
    assert patched["metadata"]["labels"]["p"] == "strategic"
    operations = [{"op": "replace", "path": "/metadata/labels/p", "value": "json"}]
    patched = cluster.patch(key, name, operations, namespace=namespace, type="json")
    assert patched["metadata"]["labels"]["p"] == "json"
    current = cluster.get(key, name, namespace)
    labels = {**current["metadata"]["labels"], "p": "replaced"}
    replaced = cluster.replace({**current, "metadata": {**current["metadata"], "labels": labels}})
    assert replaced["metadata"]["labels"]["p"] == "replaced"
    stale = {**current, "metadata": {**current["metadata"], "labels": {"p": "stale"}}}
    with pytest.raises(StatusError) as raised:
        cluster.replace(stale)
    assert raised.value.reason == "Conflict"
    if "status" in entry.resource.subresources:
        cluster.patch(key, name, {"status": {}}, namespace=namespace, type="merge", subresource="status")
    if "scale" in entry.resource.subresources:
        scaled = cluster.patch(
            key, name, {"spec": {"replicas": 1}}, namespace=namespace, type="merge", subresource="scale"
        )
        assert scaled["kind"] == "Scale" and scaled["spec"]["replicas"] == 1


def _show(world: EmbeddedWorld, entry: Entry) -> None:
    shown = printer(entry.resource)
    row = shown.row(world.cluster.get(entry.resource.key, entry.name, entry.namespace), world.now())
    assert len(row) == len(shown.columns)
    kubectl = Kubectl(world.cluster, NAMESPACE)
    for argv in (
        ["get", entry.resource.key, entry.name, "-o", "wide"],
        ["describe", entry.resource.key, entry.name],
    ):
        done = kubectl.run(argv, "")
        assert done.exit_code == 0, done.stderr
        assert entry.name in done.stdout or entry.resource.key == "events"


@pytest.mark.parametrize(
    ("entry", "merge", "message"),
    [
        pytest.param(entry, refusal.merge, refusal.message, id=f"{entry.resource.key}-{number}")
        for entry in entries()
        for number, refusal in enumerate(entry.refused)
    ],
)
def test_refused(cluster: SimCluster, entry: Entry, merge: Any, message: str) -> None:
    body = patches.merge_patch(entry.manifest(entry.rich), merge)
    with pytest.raises(StatusError) as raised:
        cluster.create(body)
    error = raised.value
    assert error.reason == "Invalid"
    name = body["metadata"]["name"]
    assert error.message == f'{entry.resource.group_kind} "{name}" is invalid: {message}'
