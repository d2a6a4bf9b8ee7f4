"""The tools in ``/opt/kafka/bin``: each asks a broker that ``--bootstrap-server`` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

import orjson

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.kafka import groups, producing
from sregym_env.sim.programs.kafka.settings import (
    CLUSTER_ID,
    PORT,
    advertised,
    endpoint,
    number,
    overrides,
    setting,
)
from sregym_env.sim.world.program import Call, Command

INTERNAL = "__consumer_offsets"
PLACE = "/opt/kafka/bin/"

Options = Mapping[str, tuple[str, ...]]
Tool = Callable[[ProcessContext, Options], ExecResult]

_FLAGS = frozenset(
    "list describe create delete alter all-groups all-topics from-beginning members state verbose reset-offsets execute "
    "dry-run to-latest to-earliest if-exists if-not-exists under-replicated-partitions unavailable-partitions help "
    "version offsets exclude-internal exclude-internal-topics status replication".split()
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
        if "state" not in options:
            return ExecResult("".join(f"{name}\n" for name in sorted(known)))
        # One may name the states that one wants to see: the parser takes these for words of their own.
        asked = {word.lower() for each in options.get("", ()) for word in each.split(",")}
        states = [(name, "Stable" if groups.members(broker, name) else "Empty") for name in sorted(known)]
        return ExecResult(
            _table([("GROUP", "STATE"), *(row for row in states if not asked or row[1].lower() in asked)])
        )
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
    members = groups.members(broker, name)
    if "state" in options:
        told = advertised(broker) or ("localhost", PORT)
        rows = [("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"),
                (name, f"{told[0]}:{told[1]}  ({node})", "range" if active else "", "Stable" if active else "Empty",
                 str(len(members)))]  # fmt: skip
        return "\n" + _table(rows)
    if "members" in options:
        if not members:
            return f"\nConsumer group '{name}' has no active members.\n"
        more = ("ASSIGNMENT",) if "verbose" in options else ()
        rows = [("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", *more)]
        for each in members:
            assigned = (f"{group.topic}(0)" if each.assigned else "-",) if more else ()
            rows.append(
                (name, each.member_id, f"/{each.host}", each.client_id, str(int(each.assigned)), *assigned)
            )
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
    end = groups.end_offset(broker, topic)
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


# --- what lies in the log -----------------------------------------------------------------------------------

ORDER_BYTES = 310
"""Assumed bytes of a record in the log, its batch's header included, of whom nobody knows how large his records are."""
COMMITS = 5
"""Seconds between two commits of a consumer (``auto.commit.interval.ms``)."""


def _java_hash(text: str) -> int:
    """``String.hashCode``, by which a group finds the partition of its offsets."""
    value = 0
    for letter in text:
        value = (31 * value + ord(letter)) & 0xFFFFFFFF
    return value & 0x7FFFFFFF


def _offsets_of(broker: ProcessContext, topic: str, count: int) -> list[int]:
    """Records in each partition of a topic."""
    if topic != INTERNAL:
        # Without keys a producer fills one partition, then another: each has its share.
        end = groups.end_offset(broker, topic)
        return [end // count + (index < end % count) for index in range(count)]
    found = [0] * count
    for name, group in groups.groups(broker).items():
        since = group.paces[0][0] if group.paces else broker.now()
        taken, passed = groups.position(broker, group).committed, (broker.now() - since) // SECOND
        found[_java_hash(name) % count] += 1 + min(taken, passed // COMMITS)
    return found


def _bytes_of(broker: ProcessContext, topic: str, records: int) -> int:
    """Bytes that records of a topic take in the log."""
    if topic == INTERNAL:
        return records * 112
    sizes = [
        found.record
        for each in broker.world.processes.values()
        if (found := producing.writing(each)) and found.topic == topic
    ]
    return records * (max(sizes) + 70 if sizes else ORDER_BYTES)


def _get_offsets(ctx: ProcessContext, broker: ProcessContext, options: Options) -> ExecResult:
    known = _partitions(broker)
    wanted, at = _one(options, "topic"), _one(options, "time") or "latest"
    places = {part for each in options.get("partitions", ()) for part in each.split(",")}
    pairs = [each.split(":") for given in options.get("topic-partitions", ()) for each in given.split(",")]
    out = []
    for topic, count in known.items():
        # Of regular expressions people write alternatives and ".*".
        if (
            wanted and not any(fnmatchcase(topic, each.replace(".*", "*")) for each in wanted.split("|"))
        ) or (topic == INTERNAL and "exclude-internal-topics" in options):
            continue
        for place, end in enumerate(_offsets_of(broker, topic, count)):
            named = any(pair[0] in ("", topic) and pair[1:] in ([], [str(place)]) for pair in pairs)
            if (places and str(place) not in places) or (pairs and not named):
                continue
            out.append(f"{topic}:{place}:{0 if at in ('-2', 'earliest', '-4', 'earliest-local') else end}\n")
    if not out:
        text = "Error occurred: Could not match any topic-partitions with the specified filters\n"
        return ExecResult(stderr=text, exit_code=1)
    return ExecResult("".join(out))


def _log_dirs(ctx: ProcessContext, broker: ProcessContext, options: Options) -> ExecResult:
    if "describe" not in options:
        return ExecResult(stderr='Missing required argument "[describe]"\n', exit_code=1)
    node = setting(broker, "node.id")
    asked = [part for each in options.get("topic-list", ()) for part in each.split(",") if part]
    brokers = [part for each in options.get("broker-list", ()) for part in each.split(",") if part]
    if brokers and node not in brokers:
        unknown = ",".join(brokers)
        return ExecResult(
            stderr=f"ERROR: The given brokers do not exist from --broker-list: {unknown}. Current existent brokers: {node}\n"
        )
    rows = [
        {
            "partition": f"{topic}-{place}",
            "size": _bytes_of(broker, topic, end),
            "offsetLag": 0,
            "isFuture": False,
        }
        for topic, count in _partitions(broker).items()
        if not asked or topic in asked
        for place, end in enumerate(_offsets_of(broker, topic, count))
    ]
    found = {"partitions": rows, "error": None, "logDir": setting(broker, "log.dirs")}
    document = {
        "brokers": [{"broker": int(node) if node.isdecimal() else 1, "logDirs": [found]}],
        "version": 1,
    }
    return ExecResult(
        f"Querying brokers for log directories information\nReceived log directory information from brokers {node}\n"
        f"{orjson.dumps(document).decode()}\n"
    )


def _quorum(ctx: ProcessContext, broker: ProcessContext, options: Options) -> ExecResult:
    node = setting(broker, "node.id")
    epoch, end = 1 + broker.process.restart, (broker.now() - broker.process.started_at) // (SECOND // 2)
    if "replication" in options:
        rows = [("NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status"),
                (node, "AAAAAAAAAAAAAAAAAAAAAA", str(end), "0", *(str(broker.now() // 1000),) * 2, "Leader")]  # fmt: skip
        return ExecResult("".join("\t".join(f"{cell:<22}" for cell in row) + "\n" for row in rows))
    if "status" not in options:
        return ExecResult(
            stderr="One of --status or --replication must be specified with describe sub-command\n",
            exit_code=1,
        )
    told = advertised(broker) or (broker.process.hostname, PORT)
    voters = f'[{{"id": {node}, "directoryId": null, "endpoints": ["CONTROLLER://{told[0]}:9093"]}}]'
    lines = (
        ("ClusterId", setting(broker, "cluster.id") or CLUSTER_ID), ("LeaderId", node), ("LeaderEpoch", epoch), ("HighWatermark", end),
        ("MaxFollowerLag", 0), ("MaxFollowerLagTimeMs", 0), ("CurrentVoters", voters), ("CurrentObservers", "[]"),
    )  # fmt: skip
    return ExecResult("".join(f"{name + ':':<24}{text}\n" for name, text in lines))


def _cluster(ctx: ProcessContext, broker: ProcessContext, options: Options) -> ExecResult:
    if options.get("", ("",))[0] != "cluster-id":
        usage = "usage: kafka-cluster [-h] {cluster-id,unregister,list-endpoints} ...\nkafka-cluster: error: too few arguments\n"
        return ExecResult(stderr=usage, exit_code=1)
    return ExecResult(f"Cluster ID: {setting(broker, 'cluster.id') or CLUSTER_ID}\n")


_TOOLS: Mapping[str, Command] = {
    "kafka-topics.sh": _asking("topic", _topics),
    "kafka-consumer-groups.sh": _asking("consumer group", _groups),
    "kafka-console-consumer.sh": _asking("consumer", _consume),
    "kafka-broker-api-versions.sh": _asking("api versions", _versions),
    "kafka-configs.sh": _asking("config", _configs),
    "kafka-get-offsets.sh": _asking("offsets", _get_offsets),
    "kafka-log-dirs.sh": _asking("log dirs", _log_dirs),
    "kafka-metadata-quorum.sh": _asking("metadata quorum", _quorum),
    "kafka-cluster.sh": _asking("cluster", _cluster),
}
_CLASSES: Mapping[str, str] = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-console-consumer.sh": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-broker-api-versions.sh": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-get-offsets.sh": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-log-dirs.sh": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-metadata-quorum.sh": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-cluster.sh": "org.apache.kafka.tools.ClusterTool",
}
"""What the scripts start."""
SCRIPTS: Mapping[str, str] = {
    PLACE + name: f'#!/bin/bash\nexec $(dirname $0)/kafka-run-class.sh {started} "$@"\n'
    for name, started in _CLASSES.items()
}
"""The scripts as somebody sees them who looks into them."""
COMMANDS: Mapping[str, Command] = {
    **_TOOLS,
    # They are not on the image's PATH: people write where they lie.
    **{PLACE + name: tool for name, tool in _TOOLS.items()},
}
"""By name, and by path."""
