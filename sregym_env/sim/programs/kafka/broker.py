"""``kafka``: one KRaft node, broker and controller."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.runtime.numbers import whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.files import Entry, FileEntry
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.kafka import groups, producing, tools
from sregym_env.sim.programs.kafka.settings import (
    PORT,
    advertised,
    endpoint,
    heap,
    number,
    overrides,
    setting,
)
from sregym_env.sim.world.process import Process
from sregym_env.sim.world.program import Call, Command, Failure, Flow, HttpRequest, HttpResponse, Usage

VERSION = "3.9.1"
LIVE = 110 * MIB
"""Assumed heap that a broker with a few topics holds on to."""
BESIDE = 150 * MIB
"""Assumed resident memory beside the heap: metaspace, threads, code."""
START_SECONDS = 6.0
"""Assumed time from the start of the virtual machine to an open port."""
REJOIN_SECONDS = 5.0
"""Seconds until consumers that have lost their broker have found it again (back-off, and the group's first rebalance)."""
COPIES = 2
"""How often a record in flight is on the heap: in the request's buffer and in the batch that is validated (assumed)."""
TOO_LARGE = "kafka server: Message was too large, server rejected it to avoid allocation error"
CONSUMED_WITHIN = 300.0
"""Seconds that a consumer may spend on what it was given (``max.poll.interval.ms``)."""


class Kafka(Quiet):
    """The broker; ``settings`` of its binary hold its version."""

    name = "kafka"
    account = "appuser"
    """The image's user."""

    def start(self, ctx: ProcessContext) -> None:
        """Format the log directory, start the virtual machine with its heap, and open the listeners."""
        ctx.log(
            "===> User\nuid=1000(appuser) gid=1000(appuser) groups=1000(appuser)\n===> Configuring ...\n===> Launching ... "
        )
        size = heap(ctx)
        if size is None:
            given = ctx.process.env.get("KAFKA_HEAP_OPTS", "")
            word = next((word for word in given.split() if word.startswith("-Xmx")), given)
            ctx.log(
                f"Invalid maximum heap size: {word}\nError: Could not create the Java Virtual Machine.\n"
                "Error: A fatal exception has occurred. Program will exit."
            )
            ctx.exit(1, delay=0.3)
            return
        ctx.set_memory(BESIDE + min(size, 2 * LIVE))
        if ctx.over_limit:
            return
        _log(
            ctx,
            "INFO",
            "Registered kafka:type=kafka.Log4jController MBean",
            "kafka.utils.Log4jControllerRegistration$",
            1.1,
        )
        if size < LIVE:
            _log(ctx, "ERROR", "Exiting Kafka due to fatal exception", "kafka.Kafka$", 2.0)
            ctx.log("java.lang.OutOfMemoryError: Java heap space", delay=2.0)
            ctx.exit(1, delay=2.1)
            return
        if not self._valid(ctx):
            return
        _log(ctx, "INFO", "Starting controller", "kafka.server.ControllerServer", 1.6)
        ctx.wake_in(START_SECONDS, "ready")

    def _valid(self, ctx: ProcessContext) -> bool:
        """Whether the listeners make sense; the broker says why not, and ends."""
        given = setting(ctx, "listeners")
        told = setting(ctx, "advertised.listeners")
        wrong = ""
        if endpoint(given, "PLAINTEXT") is None:
            wrong = f"Error creating broker listeners from '{given}': Unable to parse PLAINTEXT"
        elif told and not all("://" in part for part in told.split(",")):
            wrong = (
                f"Error creating broker listeners from '{told}': Unable to parse {told} to a broker endpoint"
            )
        if not wrong:
            return True
        _log(ctx, "ERROR", "Exiting Kafka due to fatal exception", "kafka.Kafka$", 1.4)
        ctx.log(f"java.lang.IllegalArgumentException: {wrong}", delay=1.4)
        ctx.exit(1, delay=1.5)
        return False

    def wake(self, ctx: ProcessContext, reason: str) -> None:
        """Open the listeners; then let the consumers of the broker that was here before find this one."""
        if reason == "rejoin":
            if groups.rejoin(ctx):
                ctx.wake_in(REJOIN_SECONDS, "rejoin")
            return
        if reason != "ready":
            return
        data = endpoint(setting(ctx, "listeners"), "PLAINTEXT") or ("", PORT)
        control = endpoint(setting(ctx, "listeners"), "CONTROLLER")
        try:
            ctx.listen(data[1], *((control[1],) if control else ()))
        except OSError:
            _log(ctx, "ERROR", "Exiting Kafka due to fatal exception", "kafka.Kafka$")
            ctx.log(
                f"org.apache.kafka.common.KafkaException: Socket server failed to bind to 0.0.0.0:{data[1]}: "
                "Address already in use."
            )
            ctx.exit(1)
            return
        told = advertised(ctx) or (ctx.process.hostname, data[1])
        node = setting(ctx, "node.id")
        for text, logger in (
            (f"Awaiting socket connections on 0.0.0.0:{data[1]}.", "kafka.network.DataPlaneAcceptor"),
            (f"[BrokerLifecycleManager id={node}] Successfully registered broker {node} with broker epoch 6", "kafka.server.BrokerLifecycleManager"),
            (f"[SocketServer listenerType=BROKER, nodeId={node}] Enabling request processing.", "kafka.network.SocketServer"),
            (f"[BrokerServer id={node}] Transition from STARTING to STARTED", "kafka.server.BrokerServer"),
            (f"Kafka version: {VERSION}", "org.apache.kafka.common.utils.AppInfoParser"),
            (f"[KafkaRaftServer nodeId={node}] Kafka Server started", "kafka.server.KafkaRaftServer"),
        ):  # fmt: skip
            _log(ctx, "INFO", text, logger)
        ctx.update(advertised=told)
        ctx.wake_in(REJOIN_SECONDS, "rejoin")

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """Append records and hand them to the groups; or answer what a client asks beside that."""
        kind, _, topic = call.operation.partition(" ")
        if kind != groups.PRODUCE:
            return Flow(1.0, 0.003)
        size = whole(call.attribute("bytes"), 0, 15)
        if size > number(ctx, "message.max.bytes"):
            return Flow(0.0, 0.004, ((Failure("error", TOO_LARGE), 1.0),))
        fatal = _fatal(ctx, size)
        if fatal:
            ctx.crash(_last_words(ctx, call.attribute("address")), 1, share=fatal)
        if fatal == 1.0:
            return Flow(0.0, 0.5, ((Failure("reset", "EOF"), 1.0),))
        if topic not in groups.topics(ctx):
            if setting(ctx, "auto.create.topics.enable") == "false":
                text = "kafka server: Request was for a topic or partition that does not exist on this broker"
                return Flow(0.0, 0.004, ((Failure("error", text), 1.0),))
            ctx.settle_entry("topics", topic, number(ctx, "num.partitions"))
        for name, group in groups.groups(ctx).items():
            if group.topic == topic:
                self._deliver(ctx, name, group)
        return Flow(1.0, 0.004)

    @staticmethod
    def _deliver(ctx: ProcessContext, name: str, group: groups.Group) -> None:
        """Give every record to a group's member, and learn its pace. The producer does not wait."""
        process = groups.member(ctx, group)
        pace = 0.0
        way = None if process is None else groups.way(ctx, process)
        if process is not None and way is not None:
            flow = ctx.call(
                process.ip,
                groups.DELIVERY,
                Call(f"{groups.CONSUME} {group.topic}"),
                timeout=CONSUMED_WITHIN,
                waits=False,
                back=way,
            )
            pace = max(flow.latency, groups.FASTEST) if flow.ok or flow.latency < CONSUMED_WITHIN else 0.0
        ctx.learn((name, pace))

    def learned(self, ctx: ProcessContext, what: tuple[str, float]) -> None:
        """Note the pace of a group's member."""
        groups.pace(ctx, *what)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """It takes HTTP for a request of impossible size, and hangs up."""
        return None

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """A controlled shutdown."""
        node = setting(ctx, "node.id")
        _log(
            ctx,
            "INFO",
            f"[BrokerServer id={node}] Transition from STARTED to SHUTTING_DOWN",
            "kafka.server.BrokerServer",
        )
        _log(ctx, "INFO", f"[BrokerServer id={node}] shut down completed", "kafka.server.BrokerServer", 1.2)
        return 1.5, 143

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Replication, cleaning and heartbeats at rest; a fifth of a millisecond per record."""
        return Usage(0.015 + 0.0002 * sum(rates.values()), ctx.process.memory)

    def title(self, process: Process) -> list[str]:
        """What the image's scripts have put in their place: the virtual machine."""
        heap_options = process.env.get("KAFKA_HEAP_OPTS", "-Xmx1G -Xms1G").split()
        return [_JAVA, *heap_options, *_MACHINE, "-cp", "/opt/kafka/bin/../libs/*", "kafka.Kafka", PROPERTIES]

    def entries(self, ctx: ProcessContext) -> Mapping[str, Entry]:
        """Its tools, and the settings that the image's wrapper has written of the environment."""
        made = ctx.process.started_at / SECOND
        found: dict[str, Entry] = {
            path: FileEntry(text.encode(), 0o755, made) for path, text in tools.SCRIPTS.items()
        }
        return {
            **found,
            PROPERTIES: FileEntry(_properties(ctx).encode(), 0o644, made),
        }

    @property
    def commands(self) -> Mapping[str, Command]:
        """What lies in ``/opt/kafka/bin``."""
        return tools.COMMANDS


PROPERTIES = "/opt/kafka/config/server.properties"
_JAVA = "/opt/java/openjdk/bin/java"
_MACHINE = (
    "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15", "-Djava.awt.headless=true", "-Dkafka.logs.dir=/opt/kafka/bin/../logs",
    "-Dlog4j.configuration=file:/opt/kafka/config/log4j.properties",
)  # fmt: skip
"""What ``kafka-run-class.sh`` tells the virtual machine."""


def _properties(ctx: ProcessContext) -> str:
    return "\n" + "".join(f"{name}={text}\n" for name, text in overrides(ctx).items())


_OUT_OF_MEMORY = (
    "[{time|%Y-%m-%d %H:%M:%S,%L}] ERROR [KafkaApi-%node] Unexpected error handling request RequestHeader(apiKey=PRODUCE, "
    "apiVersion=11, clientId=rdkafka, correlationId=5, headerVersion=2) with context RequestContext(connectionId='%own:%port-%client:%from-%number', "
    "clientAddress=/%client, listenerName=ListenerName(PLAINTEXT), securityProtocol=PLAINTEXT) (kafka.server.KafkaApis)\n"
    "java.lang.OutOfMemoryError: Java heap space\n"
    "\tat java.base/java.nio.HeapByteBuffer.<init>(HeapByteBuffer.java:71)\n"
    "\tat java.base/java.nio.ByteBuffer.allocate(ByteBuffer.java:391)\n"
    "\tat org.apache.kafka.common.memory.MemoryPool$1.tryAllocate(MemoryPool.java:30)\n"
    "\tat org.apache.kafka.common.network.NetworkReceive.readFrom(NetworkReceive.java:103)\n"
    "[{time|%Y-%m-%d %H:%M:%S,%L}] ERROR Encountered fatal fault: Uncaught exception in thread "
    "'data-plane-kafka-network-thread-%node-ListenerName(PLAINTEXT)-PLAINTEXT-1' "
    "(org.apache.kafka.server.fault.ProcessTerminatingFaultHandler)"
)


def _last_words(ctx: ProcessContext, client: str) -> str:
    """What a broker says that finds no room for a client's record."""
    bits = keyed_bits(ctx.process.key[0], ctx.process.restart, client)
    words = {
        "%node": setting(ctx, "node.id"), "%own": ctx.process.ip, "%client": client, "%from": str(32768 + bits % 28000),
        "%port": str((endpoint(setting(ctx, "listeners"), "PLAINTEXT") or ("", PORT))[1]), "%number": str(bits // 28000 % 900),
    }  # fmt: skip
    text = _OUT_OF_MEMORY
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text


def _fatal(ctx: ProcessContext, size: int) -> float:
    """Share of records of a size for which there is no room on the heap: while it is full, small ones find some more often."""
    total, largest = producing.on_their_way(ctx)
    if not _exhausted(ctx, max(size, total)):
        return 0.0
    return min(size / max(size, largest, 1), 1.0)


def _exhausted(ctx: ProcessContext, in_flight: int) -> bool:
    """Whether records of that many bytes at once are more than the heap has room for."""
    return LIVE + COPIES * in_flight > (heap(ctx) or 0)


def _log(ctx: ProcessContext, level: str, text: str, logger: str, delay: float = 0.0) -> None:
    """``[2026-08-06 12:00:00,123] INFO text (logger)``."""
    if ctx.world.unread:
        return
    time = ctx.wall() + seconds(delay)
    stamp = rfc3339(time // SECOND * SECOND).removesuffix("Z").replace("T", " ")
    ctx.log(f"[{stamp},{time % SECOND // 1000:03d}] {level} {text} ({logger})", delay=delay)
