"""What outlives a crash: everything that somebody was told is done."""

from __future__ import annotations

import asyncio
import itertools
import random
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from sregym_env.errors import UsageError
from sregym_env.serve.certificates import make
from sregym_env.serve.incidents import Incident, Incidents
from sregym_env.serve.journal import Journal, Keeper, KeptServer
from sregym_env.serve.message import Request
from tests.serve.processes import Client, posted, serving_process

PROBLEM = "hotel-reservation/scale_to_zero/geo"
KILLS = 3


def test_whatever_was_answered_outlives_kills_at_random_moments(tmp_path: Path) -> None:
    chance = random.Random(5)
    where, journal = tmp_path / "served", tmp_path / "journal"
    numbers = itertools.count()
    done: list[str] = []
    said: dict[str, Any] = {}
    problems = (PROBLEM,)
    for kill in range(KILLS):
        with serving_process(
            tmp_path, *problems, "--published", "--directory", str(where), "--journal", str(journal)
        ) as (process, now):
            assert not said or now["clusters"] == said["clusters"]
            said, problems = now, ()
            client = Client(where / "kubeconfig")
            assert set(done) <= client.config_maps()
            if kill == 1:
                assert posted(said["clusters"][0]["desk"], "geo has no replicas")["status"] == "200"
            killer = threading.Timer(chance.uniform(0.1, 0.7), process.send_signal, (signal.SIGKILL,))
            killer.start()
            try:
                for number in numbers:
                    client.create_config_map(f"written-{number}")
                    done.append(f"written-{number}")
            except OSError:
                assert process.wait(30) == -signal.SIGKILL
    assert len(done) > KILLS
    with serving_process(tmp_path, "--directory", str(where), "--journal", str(journal)) as (process, now):
        assert set(done) <= Client(where / "kubeconfig").config_maps()
        # The diagnosis was handed in before the second kill.
        assert posted(now["clusters"][0]["desk"], "")["status"] == "done"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    # All is over: nothing is kept.
    assert not journal.exists()


class Pools:
    """One pool after another on the same journal, without a network."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pool(self, **options: Any) -> Incidents:
        return Incidents(
            self._folder / "files", lambda *_: None, mode="step", journal=self._folder / "journal", **options
        )


def written(incident: Incident, name: str) -> None:
    """Write something through the application, as a client does, and wait for the answer."""
    hosted = incident.cluster.hosted
    headers = {"authorization": f"Bearer {incident.cluster.tokens['kubeconfig']}"}
    body = b'{"metadata":{"name":"%b"}}' % name.encode()
    path = "/api/v1/namespaces/hotel-reservation/configmaps"
    reply = incident.cluster.application.respond(Request("POST", path, {}, headers, body))
    assert getattr(reply, "status", 0) == 201
    asyncio.run(hosted.kept())


def test_a_pool_goes_on_where_another_stood(tmp_path: Path) -> None:
    pools = Pools(tmp_path)
    first = pools.pool()
    opened = {
        name: first.open(PROBLEM, seed=seed, variation=False, name=name)
        for seed, name in enumerate(("a", "b"))
    }
    written(opened["a"], "one")
    digests = {name: each.cluster.hosted.world.digest() for name, each in opened.items()}
    tokens = {name: dict(each.cluster.tokens) for name, each in opened.items()}
    assert first.forget()
    second = pools.pool()
    try:
        found = second.incidents
        assert {name: each.cluster.hosted.world.digest() for name, each in found.items()} == digests
        assert {name: dict(each.cluster.tokens) for name, each in found.items()} == tokens
        assert second.server.certificates == first.server.certificates
        assert (second.server.port, second.desk_port) == (first.server.port, first.desk_port)
        written(found["a"], "two")
        second.close("b")
    finally:
        assert second.forget()
    third = pools.pool()
    assert list(third.incidents) == ["a"]
    names = [
        each["metadata"]["name"]
        for each in third.incidents["a"].cluster.hosted.world.store.list("configmaps")
    ]
    assert {"one", "two"} <= set(names)
    third.close("a")
    assert not third.forget()
    assert not (tmp_path / "journal").exists()


def kept() -> KeptServer:
    return KeptServer(make(), 1, 2)


def test_a_journal_is_its_owners_alone(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.keep_server(kept())
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "journal").iterdir())
    (tmp_path / "journal").chmod(0o755)
    with pytest.raises(UsageError, match="open to others"):
        Journal(tmp_path / "journal")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda raw: b"sregym-env 0.0.0 on Python 2.7\n" + raw.partition(b"\n")[2], "was written by sregym-env 0.0.0"),
        (lambda raw: raw[:-20], "cannot be read"),
        (lambda raw: b"", "was written by"),
    ],
)  # fmt: skip
def test_what_cannot_go_on_is_told(tmp_path: Path, change: Any, told: str) -> None:
    journal = Journal(tmp_path / "journal")
    journal.keep_server(kept())
    path = tmp_path / "journal" / "server.journal"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(UsageError, match=told) as caught:
        journal.server()
    assert "remove the folder to begin anew" in str(caught.value)


def test_those_who_wait_at_once_share_a_writing() -> None:
    written: list[int] = []
    keeper = Keeper(lambda: written.append(1))

    async def change() -> None:
        keeper.change()
        await keeper.kept()

    async def many() -> None:
        await asyncio.gather(*(change() for _ in range(20)))
        assert len(written) <= 2
        await keeper.kept()

    asyncio.run(many())
    assert 1 <= len(written) <= 2


def test_a_disk_that_is_full_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise OSError(28, "No space left on device")

    keeper = Keeper(fail)
    keeper.change()
    asyncio.run(keeper.kept())
    assert "No space left on device" in caplog.text
