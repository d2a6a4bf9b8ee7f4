"""The tools in ``/opt/kafka/bin``: each asks a broker that ``--bootstrap-server`` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.numbers import whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.kafka import groups
from sregym_env.sim.programs.kafka.settings import PORT, advertised, endpoint, number, overrides, setting
from sregym_env.sim.programs.totals import served
from sregym_env.sim.world.program import Call, Command

INTERNAL = "__consumer_offsets"
PLACE = "/opt/kafka/bin/"

Options = Mapping[str, tuple[str, ...]]
Tool = Callable[[ProcessContext, Options], ExecResult]

_FLAGS = frozenset(
    "list describe create delete alter all-groups all-topics from-beginning members state verbose reset-offsets execute "
    "dry-run to-latest to-earliest if-exists if-not-exists under-replicated-partitions unavailable-partitions help "
    "version offsets exclude-internal".split()
)


def _options(argv: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    words = list(argv[1:])
    while words:
        name, equals, given = words.pop(0).partition("=")
        if not name.startswith("--"):
            found[""] = (*found.get("", ()), name)
            continue
        name = name[2:]
        if name not in _FLAGS and not equals and words:
            given = words.pop(0)
        found[name] = (*found.get(name, ()), given)
    return found


def _one(options: Options, name: str) -> str:
    return options.get(name, ("",))[-1]


def _broker(ctx: ProcessContext, options: Options, tool: str) -> ProcessContext | ExecResult:
    """The broker that a tool is told to ask; or what it says without one."""
    given = _one(options, "bootstrap-server")
    if not given:
        return ExecResult(stderr='Missing required argument "[bootstrap-server]"\n', exit_code=1)
    first = given.split(",")[0]
    host, colon, text = first.rpartition(":")
    if not colon or not text.isdecimal():
        return ExecResult(
            stderr='Exception in thread "main" org.apache.kafka.common.KafkaException: Failed to create new KafkaAdminClient\n'
            f"Caused by: org.apache.kafka.common.config.ConfigException: Invalid url in bootstrap.servers: {first}\n",
            exit_code=1,
        )
    port = whole(text, 0, 5)
    found = _reached(ctx, host, port)
    if isinstance(found, ProcessContext):
        told = advertised(found)
        if told is None or told == (host, port):
            return found
        # The bootstrap address only tells where the broker says it is.
        host, port = told
        found = _reached(ctx, host, port)
        if isinstance(found, ProcessContext):
            return found
    name = {"topics": "listTopics"}.get(tool, "listNodes")
    if found in ("no_such_host", "dns_timeout"):
        return ExecResult(
            stderr=f"WARN Couldn't resolve server {host}:{port} from bootstrap.servers as DNS resolution failed for {host} "
            '(org.apache.kafka.clients.ClientUtils)\nException in thread "main" org.apache.kafka.common.KafkaException: '
            "Failed to create new KafkaAdminClient\nCaused by: org.apache.kafka.common.config.ConfigException: No resolvable "
            "bootstrap urls given in bootstrap.servers\n",
            exit_code=1,
        )
    return ExecResult(
        stderr=f"WARN [AdminClient clientId=adminclient-1] Connection to node -1 ({host}/{host}:{port}) could not be "
        "established. Node may not be available. (org.apache.kafka.clients.NetworkClient)\n"
        f"Error while executing {tool} command : Timed out waiting for a node assignment. Call: {name}\n",
        exit_code=1,
    )


def _reached(ctx: ProcessContext, host: str, port: int) -> ProcessContext | str:
    failure = ctx.ask(host, port, Call("metadata"), 10.0)
    if failure is not None:
        return failure.kind
    found = ctx.peer(host, port)
    return found if found is not None and found.process.program == "kafka" else "reset"


def _asking(tool: str, answer: Callable[[ProcessContext, ProcessContext, Options], ExecResult]) -> Command:
    def command(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
        options = _options(argv)
        if "version" in options:
            return ExecResult("3.9.1\n")
        broker = _broker(ctx, options, tool)
        return broker if isinstance(broker, ExecResult) else answer(ctx, broker, options)

    return command


# --- topics -------------------------------------------------------------------------------------------------


def _partitions(broker: ProcessContext) -> dict[str, int]:
    found = dict(groups.topics(broker))
    if groups.groups(broker):
        found[INTERNAL] = number(broker, "offsets.topic.num.partitions")
    return dict(sorted(found.items()))


def _topics(ctx: ProcessContext, broker: ProcessContext, options: Options) -> ExecResult:
    known = _partitions(broker)
    name = _one(options, "topic")
    if "list" in options:
        return ExecResult("".join(f"{topic}\n" for topic in known))
    if "create" in options:
        return _create(broker, name, options, known)
    if "delete" in options or "describe" in options:
        if name and name not in known and "if-exists" not in options:
            return ExecResult(
                f"Error while executing topic command : Topic '{name}' does not exist as expected\n",
                "java.lang.IllegalArgumentException: Topic '" + name + "' does not exist as expected\n",
                1,
            )
    if "delete" in options:
        broker.update(
            topics={topic: count for topic, count in groups.topics(broker).items() if topic != name}
        )
        return ExecResult()
    if "describe" in options:
        node = setting(broker, "node.id")
        out = []
        for topic, count in known.items():
            if name and topic != name:
                continue
            configs = (
                "compression.type=producer,cleanup.policy=compact,segment.bytes=104857600"
                if topic == INTERNAL
                else ""
            )
            out.append(
                f"Topic: {topic}\tTopicId: {_id(broker, topic)}\tPartitionCount: {count}\tReplicationFactor: 1\tConfigs: {configs}\n"
            )
            out += [
                f"\tTopic: {topic}\tPartition: {index}\tLeader: {node}\tReplicas: {node}\tIsr: {node}\tElr: \tLastKnownElr: \n"
                for index in range(count)
            ]
        return ExecResult("".join(out))
    text = "Command must include exactly one action: --list, --describe, --create, --alter or --delete\n"
    return ExecResult(stderr=text, exit_code=1)


def _create(broker: ProcessContext, name: str, options: Options, known: Mapping[str, int]) -> ExecResult:
    if not name:
        return ExecResult(stderr='Missing required argument "[topic]"\n', exit_code=1)
    if name in known:
        if "if-not-exists" in options:
            return ExecResult()
        return ExecResult(
            f"Error while executing topic command : Topic '{name}' already exists.\n",
            f"ERROR org.apache.kafka.common.errors.TopicExistsException: Topic '{name}' already exists.\n "
            "(org.apache.kafka.tools.TopicCommand)\n",
            1,
        )
    given = _one(options, "partitions")
    count = whole(given, 0) if 0 < whole(given, 0) <= 1000 else number(broker, "num.partitions")
    broker.update(topics={**groups.topics(broker), name: count})
    return ExecResult(f"Created topic {name}.\n")


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def _id(broker: ProcessContext, topic: str) -> str:
    bits = keyed_bits(broker.process.key[0], topic, 0) << 64 | keyed_bits(broker.process.key[0], topic, 1)
    return "".join(_ALPHABET[bits >> 6 * place & 63] for place in range(22))


# --- groups -------------------------------------------------------------------------------------------------


def _groups(ctx: ProcessContext, broker: ProcessContext, options: Options) -> ExecResult:
    known = groups.groups(broker)
    if "list" in options:
        return ExecResult("".join(f"{name}\n" for name in sorted(known)))
    wanted = sorted(known) if "all-groups" in options else list(options.get("group", ()))
    if "describe" in options:
        return ExecResult("".join(_described(broker, name, options) for name in wanted))
    if "delete" in options:
        return _deleted(broker, wanted)
    text = (
        "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, --delete-offsets, "
        "--validate-regex\n"
    )
    return ExecResult(stderr=text, exit_code=1)


def _deleted(broker: ProcessContext, wanted: Sequence[str]) -> ExecResult:
    known = dict(groups.groups(broker))
    out = []
    for name in wanted:
        if name not in known:
            why = "GroupIdNotFoundException: The group id does not exist."
        elif groups.member(broker, known[name]) is not None:
            why = "GroupNotEmptyException: The group is not empty."
        else:
            del known[name]
            out.append(f"Deletion of requested consumer groups ('{name}') was successful.\n")
            continue
        out.append(
            f"\nError: Deletion of some consumer groups failed:\n* Group '{name}' could not be deleted due to: "
            f"org.apache.kafka.common.errors.{why}\n"
        )
    broker.update(groups=known)
    return ExecResult("".join(out))


def _described(broker: ProcessContext, name: str, options: Options) -> str:
    group = groups.groups(broker).get(name)
    if group is None:
        return f"\nError: Consumer group '{name}' does not exist.\n"
    active = groups.member(broker, group) is not None
    node = setting(broker, "node.id")
    if "state" in options:
        told = advertised(broker) or ("localhost", PORT)
        rows = [("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"),
                (name, f"{told[0]}:{told[1]}  ({node})", "range" if active else "", "Stable" if active else "Empty",
                 "1" if active else "0")]  # fmt: skip
        return "\n" + _table(rows)
    if "members" in options:
        if not active:
            return f"\nConsumer group '{name}' has no active members.\n"
        rows = [("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"),
                (name, group.member_id, f"/{group.host}", group.client_id, "1")]  # fmt: skip
        return "\n" + _table(rows)
    head = (
        "GROUP",
        "TOPIC",
        "PARTITION",
        "CURRENT-OFFSET",
        "LOG-END-OFFSET",
        "LAG",
        "CONSUMER-ID",
        "HOST",
        "CLIENT-ID",
    )
    where = groups.position(broker, group)
    offsets = (str(where.committed), str(where.end), str(where.lag))
    who = (group.member_id, f"/{group.host}", group.client_id) if active else ("-", "-", "-")
    notice = "" if active else f"\nConsumer group '{name}' has no active members.\n"
    return f"{notice}\n{_table([head, (name, group.topic, '0', *offsets, *who)])}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(
        " ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) + "\n" for row in rows
    )


# --- the rest -----------------------------------------------------------------------------------------------


def _consume(ctx: ProcessContext, broker: ProcessContext, options: Options) -> ExecResult:
    topic = _one(options, "topic")
    if not topic:
        return ExecResult(stderr='Missing required argument "[topic]"\n', exit_code=1)
    end = int(served(broker, f"produce {topic}"))
    if "from-beginning" not in options:
        return ExecResult(stderr="Processed a total of 0 messages\n")
    given = _one(options, "max-messages")
    most = min(end, whole(given, end), 20)
    # The records are Protocol Buffers, of which a terminal shows the texts.
    out = [f"\n${_uuid(broker, topic, index)}\x12$\x1a\x05\n\x03USD\n" for index in range(most)]
    return ExecResult("".join(out), f"Processed a total of {most} messages\n")


def _uuid(broker: ProcessContext, topic: str, index: int) -> str:
    text = "".join(f"{keyed_bits(broker.process.key[0], topic, index, part):016x}" for part in range(2))
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:32]}"


def _versions(ctx: ProcessContext, broker: ProcessContext, options: Options) -> ExecResult:
    told = advertised(broker) or endpoint(setting(broker, "listeners"), "PLAINTEXT") or ("localhost", PORT)
    node = setting(broker, "node.id")
    apis = ("Produce(0): 0 to 11 [usable: 11]", "Fetch(1): 0 to 17 [usable: 17]", "ListOffsets(2): 0 to 9 [usable: 9]",
            "Metadata(3): 0 to 12 [usable: 12]", "OffsetCommit(8): 0 to 9 [usable: 9]", "OffsetFetch(9): 0 to 9 [usable: 9]",
            "FindCoordinator(10): 0 to 6 [usable: 6]", "JoinGroup(11): 0 to 9 [usable: 9]")  # fmt: skip
    lines = ",\n".join(f"\t{api}" for api in apis)
    return ExecResult(f"{told[0]}:{told[1]} (id: {node} rack: null) -> (\n{lines}\n)\n")


def _configs(ctx: ProcessContext, broker: ProcessContext, options: Options) -> ExecResult:
    node = setting(broker, "node.id")
    kind, name = _one(options, "entity-type").removesuffix("s"), _one(options, "entity-name")
    if "topic" in options or kind == "topic":
        # Nobody sets any: those of the broker hold for all.
        known = _partitions(broker)
        wanted = _one(options, "topic") or name
        if wanted and wanted not in known:
            return ExecResult(f"The topic '{wanted}' doesn't exist and doesn't have dynamic config.\n")
        return ExecResult(
            "".join(f"Dynamic configs for topic {each} are:\n" for each in known if wanted in ("", each))
        )
    lines = [f"Dynamic configs for broker {node} are:\n"]
    if "all" in options or "all" in _one(options, ""):
        lines = [f"All configs for broker {node} are:\n"]
        lines += [
            f"  {name}={text} sensitive=false synonyms={{}}\n" for name, text in overrides(broker).items()
        ]
    return ExecResult("".join(lines))


_TOOLS: Mapping[str, Command] = {
    "kafka-topics.sh": _asking("topic", _topics),
    "kafka-consumer-groups.sh": _asking("consumer group", _groups),
    "kafka-console-consumer.sh": _asking("consumer", _consume),
    "kafka-broker-api-versions.sh": _asking("api versions", _versions),
    "kafka-configs.sh": _asking("config", _configs),
}
COMMANDS: Mapping[str, Command] = {
    **_TOOLS,
    # They are not on the image's PATH: people write where they lie.
    **{PLACE + name: tool for name, tool in _TOOLS.items()},
}
"""By name, and by path."""
