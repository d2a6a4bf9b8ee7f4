"""Every built-in kind over HTTP: created, read, watched, patched in all four ways, replaced, deleted."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from sregym_env.cluster.identity import ADMIN
from sregym_env.serve.access import Identities
from sregym_env.serve.app import Application
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import Request, Stream, parse_query
from sregym_env.serve.pace import Pace
from sregym_env.sim.bringup.deploy import bare_cluster
from tests.serve.test_api import TABLE, ask, json
from tests.sim.conformance.entries import NAMESPACE, Entry, entries

ALL = [pytest.param(entry, id=entry.resource.key) for entry in entries()]
DIVIDED = [pytest.param(entry, id=entry.resource.key) for entry in entries() if entry.resource.subresources]
GRACEFUL = (
    "pods",
    "namespaces",
    "persistentvolumeclaims",
    "persistentvolumes",
    "customresourcedefinitions.apiextensions.k8s.io",
)
"""Kinds whose objects outlive the request to delete them."""


@pytest.fixture
def bare() -> Application:
    """A bare cluster with the namespace of the tests, served in step mode."""
    world = bare_cluster()
    world.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    world.advance(2.0)
    return Application(Hosted(Pace(world, "step"), Identities({"admin": ADMIN})))


def path(entry: Entry) -> str:
    resource = entry.resource
    root = f"/apis/{resource.api_version}" if resource.group else "/api/v1"
    where = f"/namespaces/{NAMESPACE}" if resource.namespaced else ""
    return f"{root}{where}/{resource.plural}"


def watched(application: Application, target: str) -> list[Any]:
    """What a watch tells within a moment."""
    where, _, query = target.partition("?")
    request = Request("GET", where, parse_query(query.encode()), {"authorization": "Bearer admin"}, b"")

    async def read() -> bytes:
        reply = application.respond(request)
        assert isinstance(reply, Stream), reply
        parts = b""
        async for chunk in reply.chunks:
            parts += chunk
            if parts.count(b'"DELETED"'):
                break
        return parts

    async def bounded() -> bytes:
        return await asyncio.wait_for(read(), 60)

    return [orjson.loads(line) for line in asyncio.run(bounded()).splitlines()]


@pytest.mark.parametrize("entry", ALL)
def test_life(bare: Application, entry: Entry) -> None:
    base, name = path(entry), entry.name
    before = json(ask(bare, base))["metadata"]["resourceVersion"]
    made = ask(bare, base, "POST", entry.manifest(entry.rich))
    assert made.status == 201, made.body
    one = f"{base}/{name}"
    found = json(ask(bare, one))
    assert (found["kind"], found["metadata"]["name"]) == (entry.resource.kind, name)
    listed = json(ask(bare, base))
    assert listed["kind"] == f"{entry.resource.kind}List"
    assert name in [item["metadata"]["name"] for item in listed["items"]]
    table = json(ask(bare, one, accept=TABLE))
    assert len(table["rows"][0]["cells"]) == len(table["columnDefinitions"])
    changes = (
        ("application/merge-patch+json", {"metadata": {"labels": {"p": "merge"}}}),
        ("application/strategic-merge-patch+json", {"metadata": {"labels": {"p": "strategic"}}}),
        ("application/json-patch+json", [{"op": "add", "path": "/metadata/labels/p", "value": "json"}]),
        (
            "application/apply-patch+yaml",
            {**_identity(entry), "metadata": {"name": name, "labels": {"p": "apply"}}},
        ),
    )
    for kind, body in changes:
        target = f"{one}?fieldManager=test&force=true" if "apply" in kind else one
        reply = ask(bare, target, "PATCH", body, content_type=kind)
        assert reply.status == 200, reply.body
        assert json(reply)["metadata"]["labels"]["p"] in kind
    current = json(ask(bare, one))
    labels = {**current["metadata"]["labels"], "p": "put"}
    replaced = ask(bare, one, "PUT", {**current, "metadata": {**current["metadata"], "labels": labels}})
    assert replaced.status == 200 and json(replaced)["metadata"]["labels"]["p"] == "put", replaced.body
    assert json(ask(bare, f"{base}?labelSelector=p%3Dput"))["items"]
    gone = ask(bare, one, "DELETE")
    assert gone.status in (200, 202), gone.body
    if entry.resource.key not in GRACEFUL:
        assert ask(bare, one).status == 404
        query = f"watch=true&resourceVersion={before}&fieldSelector=metadata.name%3D{name}&timeoutSeconds=1"
        types = [change["type"] for change in watched(bare, f"{base}?{query}")]
        assert (types[0], types[-1]) == ("ADDED", "DELETED")
        assert types.count("MODIFIED") >= 5


def _identity(entry: Entry) -> dict[str, str]:
    return {"apiVersion": entry.resource.api_version, "kind": entry.resource.kind}


@pytest.mark.parametrize("entry", DIVIDED)
def test_subresources(bare: Application, entry: Entry) -> None:
    one = f"{path(entry)}/{entry.name}"
    ask(bare, path(entry), "POST", entry.manifest(entry.rich))
    for subresource in entry.resource.subresources:
        if subresource in ("status", "scale", "approval"):
            found = ask(bare, f"{one}/{subresource}")
            assert found.status == 200, (subresource, found.body)
            put = ask(bare, f"{one}/{subresource}", "PUT", json(found))
            assert put.status == 200, (subresource, put.body)


@pytest.mark.parametrize("entry", ALL)
def test_refused(bare: Application, entry: Entry) -> None:
    """A field that nobody knows is refused, or warned of, or dropped: whatever is asked for."""
    body = {**entry.manifest(entry.minimal), "nonsense": 1}
    assert ask(bare, f"{path(entry)}?fieldValidation=Strict", "POST", body).status == 400
    reply = ask(bare, f"{path(entry)}?fieldValidation=Warn&dryRun=All", "POST", body)
    assert reply.status == 201, reply.body
    assert any(name == "Warning" and "nonsense" in text for name, text in reply.headers)
