"""Many at once: watches lose nothing, commands neither; who is too slow is told so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import orjson
import pytest

from sregym_env.rollouts.bench.client import ask
from sregym_env.rollouts.load import sequence, serving, soak
from sregym_env.serve.app import Application
from sregym_env.serve.message import Request, Stream
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.world.shared import SharedLog

NAMESPACE = "hotel-reservation"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"


def test_fifty_watches_and_twenty_commands_lose_nothing(world: EmbeddedWorld) -> None:
    pods = world.store.list("pods", NAMESPACE)
    pod = next(p["metadata"]["name"] for p in pods if p["metadata"]["name"].startswith("frontend"))
    with serving(world, NAMESPACE) as target:
        found = soak(world, target, pod, watches=50, execs=20, rounds=12)
    assert len(found.expected) > 200 and len(found.watched) == 50 and len(found.executed) == 20
    assert {event[0] for event in found.expected} == {"ADDED", "MODIFIED", "DELETED"}
    assert found.losses() == []


def test_a_loss_would_be_noticed(world: EmbeddedWorld) -> None:
    from sregym_env.rollouts.load import Soaked

    due = [("ADDED", "a-0", "1"), ("MODIFIED", "a-0", "2"), ("ADDED", "a-1", "3")]
    assert Soaked(due, [("plain", due), ("filtered", due[:2])], [(0, 0, sequence(0))]).losses() == []
    assert len(Soaked(due, [("plain", due[1:]), ("slow", due[::-1]), ("table", due * 2)]).losses()) == 3
    assert len(Soaked(due, [], [(1, 0, sequence(1)), (2, 2, b"")]).losses()) == 2


def test_one_client_asks_over_and_over(world: EmbeddedWorld) -> None:
    path = f"/api/v1/namespaces/{NAMESPACE}/pods"
    with serving(world, NAMESPACE) as target:
        assert ask(target.host, target.port, target.token, path, "application/json", 50) > 20_000
        with pytest.raises(ConnectionError, match="401"):
            ask(target.host, target.port, "nobody's", path, "application/json", 1)


def watch(application: Application, query: dict[str, list[str]]) -> AsyncIterator[bytes]:
    reply = application.respond(Request("GET", MAPS, query, {"authorization": "Bearer admin"}))
    assert isinstance(reply, Stream)
    return reply.chunks


def create(application: Application, name: str) -> None:
    body = orjson.dumps({"metadata": {"name": name}})
    headers = {"authorization": "Bearer admin", "content-type": "application/json"}
    application.respond(Request("POST", MAPS, {}, headers, body))


async def following(chunks: AsyncIterator[bytes]) -> list[dict[str, object]]:
    """The events of the next portion that is not empty."""
    while True:
        part = await asyncio.wait_for(anext(chunks), 60)
        if part:
            return [orjson.loads(line) for line in part.splitlines()]


def test_a_watch_that_falls_too_far_behind_is_told(
    application: Application, world: EmbeddedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = str(world.store.revision)
    short: SharedLog[object] = SharedLog(keep=16)
    for change in reversed(list(world.store.changes.newest_first())[:10]):
        short.append(change)
    world.store.changes = short  # type: ignore[assignment]

    async def slow() -> list[dict[str, object]]:
        chunks = watch(application, {"watch": ["1"], "resourceVersion": [start]})
        await anext(chunks)
        create(application, "seen")
        assert [event["type"] for event in await following(chunks)] == ["ADDED"]
        for number in range(200):
            create(application, f"unseen-{number}")
        return await following(chunks)

    (event,) = asyncio.run(slow())
    assert event["type"] == "ERROR"
    told = event["object"]
    assert isinstance(told, dict)
    assert (told["code"], told["reason"]) == (410, "Expired")


def test_what_happens_between_the_request_and_its_first_event_comes_once(application: Application) -> None:
    async def run() -> list[str]:
        chunks = watch(application, {"watch": ["1"]})
        create(application, "in-between")
        names = [event["object"]["metadata"]["name"] for event in await following(chunks)]  # type: ignore[index]
        create(application, "later")
        names += [event["object"]["metadata"]["name"] for event in await following(chunks)]  # type: ignore[index]
        return names

    names = asyncio.run(run())
    assert names.count("in-between") == 1 and names[-1] == "later"


def test_many_events_come_in_portions(application: Application) -> None:
    async def run() -> list[int]:
        chunks = watch(application, {"watch": ["1"]})
        await following(chunks)
        for number in range(250):
            create(application, f"map-{number}")
        return [len(await following(chunks)) for _ in range(3)]

    assert asyncio.run(run()) == [100, 100, 50]
