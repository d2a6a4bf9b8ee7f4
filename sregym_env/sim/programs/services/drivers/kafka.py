"""Kafka: producing from Go (``sarama``), consuming from .NET (``confluent-kafka``) and Java (``kafka-clients``).

A producer's operation is ``produce``, and ``of`` the topic. A consumer's peer has ``group/topic`` as its ``database``: to
reach the broker is to join the group, and every record is then served by the consumer as the operation
``consume TOPIC`` (:data:`~sregym_env.sim.programs.kafka.groups.DELIVERY`).
"""

from __future__ import annotations

from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.kafka import groups
from sregym_env.sim.programs.kafka.settings import advertised
from sregym_env.sim.programs.services.drivers.connecting import address, client
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import Peer, only
from sregym_env.sim.programs.services.steps import Ask, Level, Say
from sregym_env.sim.world.program import Again, Call, Failure, Flow

TIMEOUT = 10.0
"""Seconds that a request to a broker may take (``Net.ReadTimeout``, ``request.timeout.ms`` shortened by the demo)."""

FETCH_WAIT = 0.5
"""Seconds that a broker keeps a request for records that are not there yet (``fetch.max.wait.ms``)."""
Often = tuple[float, Say]
"""Seconds from one line to the next, and what it says."""

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


class Consumer(Plain):
    """What libraries have in common that join a group."""

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

    def trouble(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Why the broker cannot be connected to now; None where it can."""
        host, port = only(ctx, peer)
        flow = ctx.call(
            host, port, Call("metadata", (("client", client(ctx)),)), timeout=peer.timeout or TIMEOUT
        )
        return flow.failures[0][0] if flow.failures and flow.ok <= 0.0 else None

    def parted(self, ctx: ProcessContext, peer: Peer, why: Failure | None, joined: float) -> tuple[Say, ...]:
        """What is said once when the broker is lost to which it had been connected for ``joined`` seconds."""
        return ()

    def missing(self, ctx: ProcessContext, peer: Peer, why: Failure) -> tuple[Often, ...]:
        """What is said again and again until it is back."""
        return ()

    def returned(self, ctx: ProcessContext, peer: Peer) -> tuple[Say, ...]:
        """What is said once when it has joined its group again."""
        return ()

    def _told(self, ctx: ProcessContext, failure: Failure, host: str, port: int) -> Failure:
        return Failure(failure.kind, self._worded(failure, host, port, address(ctx, host, port)))

    @staticmethod
    def _worded(failure: Failure, host: str, port: int, where: str) -> str:
        return failure.text


def _rdkafka(severity: int, kind: str, thread: str, text: str) -> Say:
    """As librdkafka writes it: severity of syslog, seconds, kind, client, thread."""
    return Say("error", "", f"%{severity}|{{time_s}}|{kind}|rdkafka#consumer-1| [thrd:{thread}]: {text}")


class ConfluentKafka(Consumer):
    """``Confluent.Kafka`` over librdkafka, which writes to the console itself: its own threads notice, the program does not."""

    def parted(self, ctx: ProcessContext, peer: Peer, why: Failure | None, joined: float) -> tuple[Say, ...]:
        """Both connections go, the coordinator's and the one for records."""
        host, port = only(ctx, peer)
        up = f"Disconnected (after {int(joined * 1000)}ms in state UP)"
        said = [
            _rdkafka(6, "FAIL", "GroupCoordinator", f"GroupCoordinator: {host}:{port}: {up}"),
            _rdkafka(6, "FAIL", f"{host}:{port}/bootstrap", f"{host}:{port}/1: {up}"),
        ]
        if why is not None:
            told = self._failed(ctx, peer, why)
            said += [
                _rdkafka(3, "FAIL", f"{host}:{port}/bootstrap", told),
                _rdkafka(3, "ERROR", "app", f"rdkafka#consumer-1: {told}"),
                _rdkafka(3, "ERROR", f"{host}:{port}/bootstrap", "1/1 brokers are down"),
            ]
        return tuple(said)

    def missing(self, ctx: ProcessContext, peer: Peer, why: Failure) -> tuple[Often, ...]:
        """Identical errors are told of every thirty seconds; it tries again every ten at most (``reconnect.backoff.max.ms``)."""
        host, port = only(ctx, peer)
        told = self._failed(ctx, peer, why)
        if why.kind not in ("timeout", "overload"):
            told = f"{told.removesuffix(')')}, 3 identical error(s) suppressed)"
        return ((30.0, _rdkafka(3, "FAIL", f"{host}:{port}/bootstrap", told)),)

    def _failed(self, ctx: ProcessContext, peer: Peer, why: Failure) -> str:
        """An attempt to connect, by the name that the broker has since it was known."""
        host, port = only(ctx, peer)
        text = self._worded(why, host, port, address(ctx, host, port))
        return text.replace("/bootstrap: ", "/1: ", 1)

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


class KafkaClients(Consumer):
    """``kafka-clients`` of the Java virtual machine."""

    def parted(self, ctx: ProcessContext, peer: Peer, why: Failure | None, joined: float) -> tuple[Say, ...]:
        """The connection goes, with the request for records that waited on it, and with it the coordinator."""
        host, port = only(ctx, peer)
        gone = "due to cause: coordinator unavailable. isDisconnected: true. Rediscovery will be attempted."
        session, epoch = keyed_bits(*ctx.process.key, "session") % 2**31, int(joined / FETCH_WAIT)
        return (
            self._says(peer, "info", "NetworkClient", "Node 1 disconnected."),
            self._says(
                peer,
                "info",
                "FetchSessionHandler",
                f"Error sending fetch request (sessionId={session}, epoch={epoch}) to node 1:\n"
                "org.apache.kafka.common.errors.DisconnectException",
            ),
            self._says(
                peer,
                "info",
                "consumer.internals.ConsumerCoordinator",
                f"Group coordinator {host}:{port} (id: 2147483646 rack: null) is unavailable or invalid {gone}",
            ),
        )

    def missing(self, ctx: ProcessContext, peer: Peer, why: Failure) -> tuple[Often, ...]:
        """It tries every second (``reconnect.backoff.max.ms``), or for ten where nothing answers
        (``socket.connection.setup.timeout.ms``)."""
        host, port = only(ctx, peer)
        if why.kind in ("timeout", "overload"):
            silent = "Disconnecting from node 1 due to socket connection setup timeout. The timeout value is 10000 ms."
            return ((10.0, self._says(peer, "info", "NetworkClient", silent)),)
        if why.kind in ("no_such_host", "dns_timeout"):
            unknown = f"Error connecting to node {host}:{port} (id: 1 rack: null): java.net.UnknownHostException: {host}"
            return ((1.0, self._says(peer, "warning", "NetworkClient", unknown)),)
        text = self._worded(why, host, port, address(ctx, host, port))
        return ((1.0, self._says(peer, "warning", "NetworkClient", text.replace("node -1", "node 1"))),)

    def returned(self, ctx: ProcessContext, peer: Peer) -> tuple[Say, ...]:
        """It finds the coordinator, joins, and is given the partition."""
        host, port = only(ctx, peer)
        topic = peer.database.partition("/")[2]
        coordinator = "consumer.internals.ConsumerCoordinator"
        return (
            self._says(
                peer,
                "info",
                coordinator,
                f"Discovered group coordinator {host}:{port} (id: 2147483646 rack: null)",
            ),
            self._says(peer, "info", coordinator, "(Re-)joining group"),
            self._says(peer, "info", coordinator, f"Adding newly assigned partitions: {topic}-0"),
        )

    def _says(self, peer: Peer, level: Level, where: str, text: str) -> Say:
        group = peer.database.partition("/")[0]
        head = f"[Consumer clientId={self.identity(group)}, groupId={group}]"
        return Say(level, f"org.apache.kafka.clients.{where}", f"{head} {text}")

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
