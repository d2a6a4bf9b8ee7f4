"""The identities that a world has drawn: where they stand, and others in their place.

Identities are found by where the API puts them (UIDs, generated names, hashes, addresses), and then wherever else
the same text stands: in messages, logs, environments and the memory of programs.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import shake_256
from ipaddress import IPv4Network

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.ids import hash_of, suffix_of, uid_of
from sregym_env.sim.apiserver.allocation import NODE_PORTS
from sregym_env.sim.embedded import EmbeddedWorld

BEFORE = r"(?:(?<![0-9A-Za-z\\])|(?<=\\[nrt]))"
"""Where a word may begin; texts within JSON hold line ends as ``\\n``."""

AFTER = r"(?![0-9A-Za-z])"

UID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

SUFFIX = "[bcdfghjklmnpqrstvwxz2-9]{5}"
HASH = "[456789bcdf]{6,10}"
"""What :func:`~sregym_env.runtime.ids.name_suffix` and ``safe_hash`` draw; one hash in half a million is shorter."""

_UIDS = re.compile(f"{BEFORE}{UID}{AFTER}")
_CONTAINERS = re.compile(rf"containerd://([0-9a-f]{{64}}){AFTER}")
_COMMITS = re.compile(rf"{BEFORE}([0-9a-f]{{40}}){AFTER}")
_TOKEN_VOLUMES = re.compile(rf"kube-api-access-({SUFFIX}){AFTER}")
_HASHED = re.compile(rf"-({HASH}){AFTER}")
_SUFFIXED = re.compile(rf"-({SUFFIX}){AFTER}")
_PORTS = re.compile(r'odePort\\?": ?(\d{5})')
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-."
_WORDS = re.compile(r"[0-9A-Za-z]+")

HASH_LABELS = ("pod-template-hash", "controller-revision-hash", "controller.kubernetes.io/hash")
NODE_PORT_FIELDS = ("nodePort", "healthCheckNodePort")

LONGEST_STEM = 58
"""The API server adds a suffix to so many letters of ``generateName`` at most."""

_FIRST_ADDRESS, _ADDRESSES = 2, 253
"""What the kubelets' sandboxes give to pods of a node's range, in turn: 2 to 254."""

_STATIC = 256
"""So many of the lowest service addresses are never drawn."""

_DRAWN = 65_000
"""Above them, so many are, as far as the range reaches."""


@dataclass(frozen=True, slots=True)
class Range:
    """A node's addresses for pods, and those of them that have been in use."""

    prefix: str
    """The first three numbers."""
    memory: str
    """Key in the world's memory under which the last address given stands."""
    last: int
    """The last address given; 0 before the first."""
    used: tuple[int, ...]
    """Last numbers, sorted."""

    def moved(self, number: int, shift: int) -> int:
        """A last number, moved on by some places in the order in which they are given."""
        return _FIRST_ADDRESS + (number - _FIRST_ADDRESS + shift) % _ADDRESSES if number else 0


def addresses(first: Collection[str]) -> str:
    """A pattern for IPv4 addresses that begin with one of these numbers, also in the form with dashes that pods have
    in the DNS (its group ``dot`` is what stands between the numbers)."""
    begin = "|".join(sorted(first))
    return rf"(?:{begin})(?P<dot>[.-])\d{{1,3}}(?P=dot)\d{{1,3}}(?P=dot)\d{{1,3}}(?!\.?\d)"


@dataclass(frozen=True)
class Identities:
    """Everything that a world has drawn and that another one like it would have drawn differently.

    Siblings are names that differ in a suffix or hash only. Theirs keep their order: it decides which of several equal
    pods goes first.
    """

    uids: tuple[str, ...]
    digits: tuple[str, ...]
    """Hexadecimal numbers: ids of containers, machines and commits."""
    suffixes: tuple[tuple[str, ...], ...]
    """By siblings, sorted."""
    hashes: tuple[tuple[str, ...], ...]
    """The same."""
    services: tuple[str, ...]
    """Cluster IPs."""
    ranges: tuple[Range, ...]
    ports: tuple[int, ...]
    """Node ports."""
    kept_ports: frozenset[int]
    """Node ports that somebody has chosen."""
    kept_services: frozenset[str]
    """Cluster IPs that somebody has chosen."""
    network: IPv4Network
    """Of cluster IPs."""

    @property
    def first_numbers(self) -> frozenset[str]:
        """What addresses begin with."""
        return _first_numbers((str(self.network), *(known.prefix for known in self.ranges)))

    def words(self) -> list[str]:
        """All of them but the node ports, in the order in which others are drawn."""
        return [
            *self.uids,
            *self.digits,
            *(suffix for siblings in self.suffixes for suffix in siblings),
            *(word for siblings in self.hashes for word in siblings),
            *self.services,
            *(f"{known.prefix}.{number}" for known in self.ranges for number in known.used),
        ]

    def drawn(self, chance: Chance) -> Drawn:
        """Others."""
        source = _Source(chance)
        # Moved together, so that addresses given later are as far from these as they would have been.
        shifts = {known: next(source.numbers(known.memory)) % _ADDRESSES for known in self.ranges}
        words = [
            *(uid_of(digits) for digits in source.digits("uid", len(self.uids), 32)),
            *self._digits(source),
            *_in_order(self.suffixes, source.numbers("suffix"), suffix_of),
            *_in_order(self.hashes, source.numbers("hash"), _hash),
            *self._services(source),
            *(
                f"{known.prefix}.{known.moved(number, shift)}"
                for known, shift in shifts.items()
                for number in known.used
            ),
        ]
        return Drawn(words, self._ports(source), shifts)

    def _digits(self, source: _Source) -> Iterator[str]:
        longest = max(map(len, self.digits), default=0)
        found = source.digits("digits", len(self.digits), longest)
        return (new[: len(old)] for old, new in zip(self.digits, found, strict=True))

    def _services(self, source: _Source) -> list[str]:
        found: dict[str, None] = {}
        numbers = source.numbers("service")
        first = int(self.network.network_address) + _STATIC
        count = min(_DRAWN, self.network.num_addresses - 2 * _STATIC)
        while len(found) < len(self.services):
            address = ".".join(map(str, (first + next(numbers) % count).to_bytes(4)))
            if address not in self.kept_services:
                found[address] = None
        return list(found)

    def _ports(self, source: _Source) -> list[int]:
        found: dict[int, None] = {}
        numbers = source.numbers("port")
        while len(found) < len(self.ports):
            port = NODE_PORTS[next(numbers) % len(NODE_PORTS)]
            if port not in self.kept_ports:
                found[port] = None
        return list(found)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Identities in place of others."""

    words: list[str]
    ports: list[int]
    shifts: dict[Range, int]
    """By how many places the addresses of each node have moved."""

    @property
    def last(self) -> list[int]:
        """The last address given, by node."""
        return [known.moved(known.last, shift) for known, shift in self.shifts.items()]


class _Source:
    """Plenty of chance for the price of a few hashes."""

    __slots__ = ("_key",)

    def __init__(self, chance: Chance) -> None:
        self._key = f"{chance.bits('identities')}:{chance.bits('more identities')}"

    def digits(self, name: str, count: int, length: int) -> list[str]:
        """Hexadecimal numbers of some length."""
        text = shake_256(f"{self._key}:{name}".encode()).hexdigest((count * length + 1) // 2)
        return [text[at * length : (at + 1) * length] for at in range(count)]

    def numbers(self, name: str) -> Iterator[int]:
        """64 random bits, again and again."""
        block = 0
        while True:
            yield from struct.unpack("<32Q", shake_256(f"{self._key}:{name}:{block}".encode()).digest(256))
            block += 1


def _in_order(
    groups: Iterable[tuple[str, ...]], numbers: Iterator[int], made: Callable[[int], str]
) -> Iterator[str]:
    """For each group as many different words, sorted as the group is."""
    for group in groups:
        if len(group) == 1:
            yield made(next(numbers))
            continue
        found: set[str] = set()
        while len(found) < len(group):
            found.add(made(next(numbers)))
        yield from sorted(found)


def _hash(bits: int) -> str:
    return hash_of(bits >> 32)


# --- finding them ----------------------------------------------------------------------------------------


def found(world: EmbeddedWorld, text: str, static: str) -> Identities:
    """The identities of a world.

    ``text`` is everything that stands in it; what stands in ``static`` text (the application's declaration) was
    chosen by somebody and is no identity.
    """
    ranges = _ranges(world)
    network = IPv4Network(world.plan.service_cidr)
    pattern = re.compile(BEFORE + addresses(_first_numbers((str(network), *ranges))))
    chosen = {*_WORDS.findall(static), *_UIDS.findall(static), *_seen(pattern, static)}
    names = _Names(world)
    names.look(text)
    services, used = _addresses(_seen(pattern, text) - chosen, network)
    ports = {*_node_ports(world)}
    # What stands in a manifest that was applied was asked for.
    kept = {port for port in ports if str(port) in chosen} | ports.intersection(
        map(int, _PORTS.findall(text))
    )
    return Identities(
        uids=tuple(sorted({*_UIDS.findall(text)} - chosen)),
        digits=tuple(
            sorted({*_CONTAINERS.findall(text), *_COMMITS.findall(text), *_machine_ids(world)} - chosen)
        ),
        suffixes=names.groups(names.suffixes, chosen),
        hashes=names.groups(names.hashes, chosen),
        services=services,
        ranges=tuple(
            Range(prefix, memory, last, tuple(sorted(used.get(prefix, ()))))
            for prefix, memory in ranges.items()
            if (last := world.memory.get(memory, 0))
        ),
        ports=tuple(sorted(ports - kept)),
        kept_ports=frozenset(kept),
        kept_services=frozenset(word for word in chosen if "." in word),
        network=network,
    )


def _first_numbers(networks: Iterable[str]) -> frozenset[str]:
    return frozenset(network.partition(".")[0] for network in networks)


def _seen(pattern: re.Pattern[str], text: str) -> set[str]:
    return {match[0].replace("-", ".") for match in pattern.finditer(text)}


def _addresses(known: Iterable[str], network: IPv4Network) -> tuple[tuple[str, ...], dict[str, list[int]]]:
    """Cluster IPs, and the last numbers of addresses that a pod may have, by the first three."""
    services: list[str] = []
    others: dict[str, list[int]] = {}
    first = int(network.network_address)
    for address in sorted(known):
        numbers = [int(number) for number in address.split(".")]
        if max(numbers) > 255:
            continue
        place = int.from_bytes(numbers) - first
        if 0 <= place < network.num_addresses:
            if place >= _STATIC:
                services.append(address)
        elif 0 <= numbers[3] - _FIRST_ADDRESS < _ADDRESSES:
            others.setdefault(address.rpartition(".")[0], []).append(numbers[3])
    return tuple(services), others


def _ranges(world: EmbeddedWorld) -> dict[str, str]:
    """The nodes' ranges, by their first three numbers: keys in the memory for the addresses given."""
    return {
        node["spec"]["podCIDR"].rpartition(".")[0]: f"ipam:{node['metadata']['name']}"
        for node in world.store.list("nodes")
        if node["spec"].get("podCIDR")
    }


def _node_ports(world: EmbeddedWorld) -> Iterator[int]:
    for service in world.store.list("services"):
        spec = service["spec"]
        if "healthCheckNodePort" in spec:
            yield spec["healthCheckNodePort"]
        for port in spec.get("ports") or ():
            if port.get("nodePort"):
                yield port["nodePort"]


def _machine_ids(world: EmbeddedWorld) -> Iterator[str]:
    for node in world.store.list("nodes"):
        identity = node.get("status", {}).get("nodeInfo", {}).get("machineID")
        if identity:
            yield identity


class _Names:
    """Generated names: what they begin with, and how they end."""

    def __init__(self, world: EmbeddedWorld) -> None:
        self.suffixes: dict[str, str] = {}
        """The name that each belongs to, without it."""
        self.hashes: dict[str, str] = {}
        """The same."""
        self._given: set[str] = set()
        """Names that somebody has chosen."""
        self._owners: set[str] = set()
        """Names of what may have made others: every object of the API that was ever spoken of."""
        for resource in world.store.resources():
            for obj in world.store.list(resource):
                self._read(resource, obj)
        for slot, entries in world.memory.items():
            if slot.startswith("events:"):
                self._owners.update(entry.rpartition(".")[0] for entry in entries if isinstance(entry, str))

    def _read(self, resource: str, obj: Manifest) -> None:
        metadata = obj["metadata"]
        name = metadata["name"]
        self._owners.add(name)
        stem = metadata.get("generateName", "")[:LONGEST_STEM]
        if stem and name[:-5] == stem:
            self.suffixes.setdefault(name[-5:], stem)
        elif resource not in ("replicasets.apps", "controllerrevisions.apps"):
            self._given.add(name)
        for label, value in (metadata.get("labels") or {}).items():
            if label in HASH_LABELS:
                word = value.rpartition("-")[2]
                self.hashes.setdefault(word, _without(name, word) or value)

    def look(self, text: str) -> None:
        """Find names of what is no more, too."""
        for suffix in _TOKEN_VOLUMES.findall(text):
            self.suffixes.setdefault(suffix, "kube-api-access-")
        for match in _HASHED.finditer(text):
            stem = self._owner(text, match.start())
            if stem and f"{stem}-{match[1]}" not in self._given:
                self.hashes.setdefault(match[1], stem)
                self._owners.add(f"{stem}-{match[1]}")
        for match in _SUFFIXED.finditer(text):
            stem = self._owner(text, match.start())
            if stem and f"{stem}-{match[1]}" not in self._given:
                self.suffixes.setdefault(match[1], f"{stem}-")

    def _owner(self, text: str, end: int) -> str:
        """The known name that ends there, if there is one."""
        begin = max(0, end - 254)
        before = text[begin:end]
        begin = len(before.rstrip(_NAME_LETTERS))
        name = before[begin:]
        if name in self._owners:
            return name
        # A line end within JSON looks like a letter of the name.
        name = name[1:] if before[begin - 1 : begin] == "\\" else name.rpartition(".")[2]
        return name if name in self._owners else ""

    @staticmethod
    def groups(stems: Mapping[str, str], chosen: Collection[str]) -> tuple[tuple[str, ...], ...]:
        """Words by what stands before them, all sorted."""
        grouped: dict[str, list[str]] = {}
        for word, stem in sorted(stems.items()):
            if word not in chosen:
                grouped.setdefault(stem, []).append(word)
        return tuple(tuple(words) for _, words in sorted(grouped.items()))


def _without(name: str, word: str) -> str:
    """What stands before a word in a name."""
    return name.partition(f"-{word}")[0] if f"-{word}" in name else ""
