"""``topic-writer``: a team's own tool that writes records into a topic, with as many producers as it is told.

A producer of librdkafka has one connection to a broker, and a broker reads one request of a connection at a time: how many
records are on their way at once is how many producers are open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import orjson

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.sim.network import addressing
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.kafka.settings import advertised
from sregym_env.sim.programs.services.drivers.connecting import address
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.program import Call, Failure, Usage

NAME = "topic_writer"
AT_REST = 26 * MIB
"""Assumed resident memory without records."""
MOST_BYTES, MOST_WORKERS, MOST_RATE = 1 << 30, 512, 1000.0
"""What it takes at most for its settings."""
SPEAKS = 60.0
"""Seconds between two lines of its log."""


class Writing(NamedTuple):
    """What its environment tells it."""

    host: str
    port: int
    topic: str
    record: int
    """Bytes of a record."""
    rate: float
    """Records per second."""
    workers: int
    """Threads that write."""
    reuse: bool
    """Whether they share a producer; else each opens one for every record, and closes none before the record is written."""

    @property
    def producers(self) -> int:
        """Producers that are open at once."""
        return 1 if self.reuse else self.workers

    @property
    def in_flight(self) -> int:
        """Bytes of records that are on their way at once."""
        return self.producers * self.record


def told(env: Mapping[str, str]) -> Writing | None:
    """The settings in an environment; None where it is not told where to write."""
    host, _, port = env.get("KAFKA_ADDR", "").rpartition(":")
    topic = env.get("KAFKA_TOPIC", "")
    if not host or not topic or whole(port, 65536) > 65535:
        return None
    return Writing(
        host,
        int(port),
        topic,
        min(_number(env, "RECORD_BYTES", 1024), MOST_BYTES),
        min(float(_number(env, "RECORDS_PER_MINUTE", 60)) / 60.0, MOST_RATE),
        min(max(_number(env, "WORKERS", 1), 1), MOST_WORKERS),
        env.get("REUSE_PRODUCER", "true").strip().lower() in ("true", "1", "yes", "on"),
    )


def _number(env: Mapping[str, str], name: str, default: int) -> int:
    return whole(env.get(name, ""), default, 9)


class TopicWriter(Quiet):
    """The tool; everything it does its environment says."""

    name = NAME

    def start(self, ctx: ProcessContext) -> None:
        """Read the environment, and write from then on."""
        found = told(ctx.process.env)
        if found is None:
            _say(ctx, "fatal", "KAFKA_ADDR (host:port) and KAFKA_TOPIC must be set")
            ctx.exit(1, delay=0.2)
            return
        ctx.set_memory(AT_REST + found.in_flight)
        if ctx.over_limit:
            return
        _say(ctx, "info", "writing", broker=f"{found.host}:{found.port}", topic=found.topic, record_bytes=found.record,
             workers=found.workers, reuse_producer=found.reuse)  # fmt: skip
        ctx.update(writing=tuple(found))
        ctx.wake_in(SPEAKS, "speak")

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Say how it is going."""
        found = writing(ctx.process)
        if found is None:
            return
        lived = (ctx.now() - ctx.process.started_at) / SECOND
        opened = 1 if found.reuse else max(int(lived * found.rate), found.workers)
        failure = ctx.ask(*_broker(ctx, found), Call("metadata"), 10.0)
        if failure is None:
            _say(
                ctx,
                "info",
                "delivered",
                topic=found.topic,
                producers_opened=opened,
                producers_open=found.producers,
            )
        else:
            _fail(ctx, found, opened, failure)
        ctx.wake_in(SPEAKS, "speak")

    def offers(self, ctx: ProcessContext) -> tuple[tuple[str, float, str, int, Call], ...]:
        """Its records."""
        found = writing(ctx.process)
        if found is None or found.rate <= 0.0:
            return ()
        call = Call(f"produce {found.topic}", (("bytes", str(found.record)), ("address", ctx.process.ip)))
        return (("", found.rate, *_broker(ctx, found), call),)

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A tenth of a second of CPU for every hundred megabytes (assumed)."""
        found = writing(ctx.process)
        sent = 0.0 if found is None else found.rate * found.record
        return Usage(0.002 + sent / (1000.0 * MIB), ctx.process.memory)


def writing(process: Process) -> Writing | None:
    """What a process of the tool is about; None for any other."""
    found = process.state.get("writing") if process.program == NAME else None
    return None if found is None else Writing(*found)


def on_their_way(broker: ProcessContext) -> tuple[int, int]:
    """(bytes of records that are on their way to a broker at once, of the largest of them), of all who write there with this tool."""
    addressing.note(broker.world, "offering")
    total = largest = 0
    for process in broker.world.processes.values():
        found = writing(process)
        if found is not None:
            writer = ProcessContext(broker.world, process)
            there = writer.peer(*_broker(writer, found))
            if there is not None and there.process.key == broker.process.key:
                total, largest = total + found.in_flight, max(largest, found.record)
    return total, largest


def _broker(ctx: ProcessContext, found: Writing) -> tuple[str, int]:
    """Where records go: where the broker that was found says that it is."""
    there = ctx.peer(found.host, found.port)
    place = advertised(there) if there is not None and there.process.program == "kafka" else None
    return place or (found.host, found.port)


def _fail(ctx: ProcessContext, found: Writing, opened: int, failure: Failure) -> None:
    host, port = found.host, found.port
    why = {
        "refused": f"Connect to ipv4#{address(ctx, host, port)}:{port} failed: Connection refused (after 1ms in state CONNECT)",
        "no_such_host": f"Failed to resolve '{host}:{port}': Name or service not known (after 12ms in state CONNECT)",
        "reset": "Disconnected while requesting ApiVersion (after 4ms in state APIVERSION_QUERY)",
    }.get(failure.kind, "Connection setup timed out in state CONNECT (after 30029ms in state CONNECT)")
    time = ctx.wall()
    stamp = f"%3|{time // SECOND}.{time % SECOND // 1000:03d}|FAIL|rdkafka#producer-{opened}| [thrd:{host}:{port}/bootstrap]: "
    ctx.log(f"{stamp}{host}:{port}/bootstrap: {why}")


def _say(ctx: ProcessContext, level: str, message: str, **more: object) -> None:
    stamp = rfc3339(ctx.wall() // SECOND * SECOND)
    ctx.log(orjson.dumps({"time": stamp, "level": level, "msg": message, **more}).decode())
