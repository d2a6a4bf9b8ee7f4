"""Kafka: producing from Go (``sarama``), consuming from .NET (``confluent-kafka``) and Java (``kafka-clients``).

A producer's operation is ``produce``, and ``of`` the topic. A consumer's peer has ``group/topic`` as its ``database``: to
reach the broker is to join the group, and every record is then served by the consumer as the operation
``consume TOPIC`` (:data:`~sregym_env.sim.programs.kafka.groups.DELIVERY`).
"""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.kafka import groups
from sregym_env.sim.programs.kafka.settings import advertised
from sregym_env.sim.programs.services.drivers.connecting import address, client
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import Peer, only
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import Again, Call, Failure, Flow

TIMEOUT = 10.0
"""Seconds that a request to a broker may take (``Net.ReadTimeout``, ``request.timeout.ms`` shortened by the demo)."""

AGAIN = Again(3, 0.85)
"""``Producer.Retry``: three more attempts after 100 ms each, before which the metadata are asked for, three times 250 ms apart."""


class Sarama(Plain):
    """``IBM/sarama``: an asynchronous producer, whose answer the demo's checkout awaits before it answers itself."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """Records of one topic; more than one per request where ``share`` says so."""
        host, port = _broker(ctx, peer)
        call = Call(f"{ask.operation} {ask.of}", (("client", client(ctx)),))
        flow = ctx.call(
            host,
            port,
            call,
            share=share,
            timeout=peer.timeout or TIMEOUT,
            again=AGAIN,
            required=required(ask),
        )
        lost = tuple((Failure(failure.kind, _brokers(failure)), part) for failure, part in flow.failures)
        return Flow(flow.ok, flow.latency, lost)

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Fetch the metadata."""
        failure = ctx.ask(
            *_broker(ctx, peer), Call("metadata", (("client", client(ctx)),)), peer.timeout or TIMEOUT
        )
        return None if failure is None else Failure(failure.kind, _brokers(failure))


def _broker(ctx: ProcessContext, peer: Peer) -> tuple[str, int]:
    """Where requests go: the bootstrap address only tells where the broker says that it is."""
    host, port = only(ctx, peer)
    found = ctx.peer(host, port)
    told = advertised(found) if found is not None and found.process.program == "kafka" else None
    return told or (host, port)


def _brokers(failure: Failure) -> str:
    if failure.kind == "error":
        return failure.text
    return f"kafka: client has run out of available brokers to talk to: {failure.text}"


class _Consumer(Plain):
    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """A request beside the stream of records, such as a commit."""
        host, port = only(ctx, peer)
        flow = ctx.call(
            host,
            port,
            Call(ask.operation),
            share=share,
            timeout=peer.timeout or TIMEOUT,
            required=required(ask),
        )
        lost = tuple((self._told(ctx, failure, host, port), part) for failure, part in flow.failures)
        return Flow(flow.ok, flow.latency, lost)

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Connect, join the group, and be given records from now on."""
        host, port = only(ctx, peer)
        failure = ctx.ask(host, port, Call("metadata", (("client", client(ctx)),)), peer.timeout or TIMEOUT)
        if failure is not None:
            return self._told(ctx, failure, host, port)
        broker = ctx.peer(host, port)
        group, _, topic = peer.database.partition("/")
        wanted = groups.Subscription(host, port, group, topic, self.identity(group))
        if broker is None or not groups.join(broker, ctx, wanted):
            return self._told(ctx, Failure("reset", "EOF"), host, port)
        return None

    @staticmethod
    def identity(group: str) -> str:
        """The client id that the library gives itself."""
        return "rdkafka"

    def _told(self, ctx: ProcessContext, failure: Failure, host: str, port: int) -> Failure:
        return Failure(failure.kind, self._worded(failure, host, port, address(ctx, host, port)))

    @staticmethod
    def _worded(failure: Failure, host: str, port: int, where: str) -> str:
        return failure.text


class ConfluentKafka(_Consumer):
    """``Confluent.Kafka`` over librdkafka."""

    @staticmethod
    def _worded(failure: Failure, host: str, port: int, where: str) -> str:
        name = f"{host}:{port}/bootstrap"
        match failure.kind:
            case "refused":
                return f"{name}: Connect to ipv4#{where}:{port} failed: Connection refused (after 1ms in state CONNECT)"
            case "no_such_host" | "dns_timeout":
                why = (
                    "Name or service not known"
                    if failure.kind == "no_such_host"
                    else "Temporary failure in name resolution"
                )
                return f"{name}: Failed to resolve '{host}:{port}': {why} (after 12ms in state CONNECT)"
            case "reset":
                return f"{name}: Disconnected (after 1004ms in state UP)"
            case "timeout" | "overload":
                return f"{name}: Connection setup timed out in state CONNECT (after 30029ms in state CONNECT)"
        return failure.text


class KafkaClients(_Consumer):
    """``kafka-clients`` of the Java virtual machine."""

    @staticmethod
    def identity(group: str) -> str:
        """Numbered by the process."""
        return f"consumer-{group}-1"

    @staticmethod
    def _worded(failure: Failure, host: str, port: int, where: str) -> str:
        match failure.kind:
            case "no_such_host" | "dns_timeout":
                return f"Couldn't resolve server {host}:{port} from bootstrap.servers as DNS resolution failed for {host}"
            case "reset":
                return f"Bootstrap broker {host}:{port} (id: -1 rack: null) disconnected"
            case "refused" | "timeout" | "overload":
                return f"Connection to node -1 ({host}/{where}:{port}) could not be established. Node may not be available."
        return failure.text
