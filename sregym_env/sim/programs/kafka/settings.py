"""What a broker's environment says: ``KAFKA_MESSAGE_MAX_BYTES`` is ``message.max.bytes``, and so on."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.kube.quantity import bytes_
from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB

PORT = 9092
CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"
"""The image's, where the environment gives none."""
DEFAULT_HEAP = 1024 * MIB
"""``-Xmx1G`` of ``kafka-server-start.sh``."""

DEFAULTS: Mapping[str, str] = {
    "auto.create.topics.enable": "true",
    "group.initial.rebalance.delay.ms": "3000",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "log.dirs": "/tmp/kafka-logs",
    "log.retention.hours": "168",
    "log.segment.bytes": "1073741824",
    "message.max.bytes": "1048588",
    "node.id": "1",
    "num.partitions": "1",
    "offsets.topic.num.partitions": "50",
    "process.roles": "broker,controller",
}
"""Kafka 3.9's own, and those of the image's ``server.properties``."""

_NOT_SETTINGS = frozenset(
    ("KAFKA_HEAP_OPTS", "KAFKA_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_LOG4J_OPTS", "KAFKA_ADDR")
)


def setting(ctx: ProcessContext, name: str) -> str:
    """A broker setting: the environment's, else the default; empty where there is neither."""
    given = ctx.process.env.get("KAFKA_" + name.upper().replace(".", "_"))
    return DEFAULTS.get(name, "") if given is None else given


def number(ctx: ProcessContext, name: str) -> int:
    """A setting that is a number; the default's where what is given is none."""
    text = setting(ctx, name)
    return whole(text, int(DEFAULTS[name]), 15)


def overrides(ctx: ProcessContext) -> dict[str, str]:
    """What the environment sets, by the broker's names, sorted."""
    found = {
        name.removeprefix("KAFKA_").lower().replace("_", "."): text
        for name, text in ctx.process.env.items()
        if name.startswith("KAFKA_") and name not in _NOT_SETTINGS
    }
    return dict(sorted(found.items()))


def endpoint(text: str, listener: str) -> tuple[str, int] | None:
    """(host, port) of a named listener in ``PLAINTEXT://kafka:9092,CONTROLLER://:9093``; None where it is not there."""
    for part in text.split(","):
        name, separator, rest = part.strip().partition("://")
        host, _, port = rest.rpartition(":")
        if separator and name == listener and _is_port(port):
            return host, int(port)
    return None


def _is_port(text: str) -> bool:
    return whole(text, 65536) < 65536


def advertised(broker: ProcessContext) -> tuple[str, int] | None:
    """Where a broker tells its clients to find it; None where it is only where they found it."""
    found = endpoint(setting(broker, "advertised.listeners"), "PLAINTEXT")
    return found if found and found[0] else None


def heap(ctx: ProcessContext) -> int | None:
    """Bytes that a broker's ``KAFKA_HEAP_OPTS`` allow; None where the virtual machine does not understand them."""
    return heap_of(ctx.process.env)


def heap_of(env: Mapping[str, str]) -> int | None:
    """The same of an environment."""
    size = DEFAULT_HEAP
    for word in env.get("KAFKA_HEAP_OPTS", "").split():
        if word.startswith("-Xmx"):
            text = word[4:]
            unit = {"k": "Ki", "m": "Mi", "g": "Gi"}.get(text[-1:].lower(), "")
            digits = text[:-1] if unit else text
            if not digits.isascii() or not digits.isdecimal() or len(digits) > 14:
                return None
            size = int(bytes_(digits + unit))
    return size
