"""The parts of renewals: moulds, readers of texts, and identities that are drawn."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.runtime.chance import Chance
from sregym_env.runtime.events import EventQueue
from sregym_env.sim.bringup.renewal.identities import Identities, Range
from sregym_env.sim.bringup.renewal.mould import Walk
from sregym_env.sim.bringup.renewal.script import BETWEEN, Reader
from sregym_env.sim.world.logs import ContainerLog
from sregym_env.sim.world.shared import SharedLog


class Pair(NamedTuple):
    one: Any
    other: Any


@dataclass(frozen=True, slots=True)
class Box:
    content: Any
    label: str = "box"


@dataclass(frozen=True)
class Open:
    content: Any
    more: Any = field(default_factory=dict)


_STRINGS = st.sampled_from(("", "old", "older", "name", "kept", "0"))
_LEAVES = st.one_of(
    _STRINGS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.binary(max_size=3)
)
VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(_STRINGS, st.tuples(_STRINGS, st.integers(0, 3))), inner, max_size=4),
        st.frozensets(_STRINGS, max_size=4),
        st.sets(_STRINGS, max_size=4),
        st.builds(Pair, inner, inner),
        st.builds(Box, inner, _STRINGS),
        st.builds(Open, inner, inner),
        st.tuples(inner).map(lambda one: [one[0], one[0]]),
    ),
    max_leaves=30,
)

OTHER = {"old": "new", "older": "newer"}


def exchanged(value: Any) -> Any:
    """The same, the slow way."""
    if isinstance(value, str):
        return OTHER.get(value, value)
    if isinstance(value, dict):
        return {exchanged(key): exchanged(inner) for key, inner in value.items()}
    if isinstance(value, Pair):
        return Pair(*map(exchanged, value))
    if isinstance(value, Box):
        return Box(exchanged(value.content), exchanged(value.label))
    if isinstance(value, Open):
        return Open(exchanged(value.content), exchanged(value.more))
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(map(exchanged, value))
    return value


def kinds(value: Any) -> Any:
    """The types of a value and of what is in it; sets aside, whose order is their own."""
    inner: list[Any] = []
    if isinstance(value, dict):
        inner = [*value.values()]
    elif isinstance(value, (list, tuple)):
        inner = [*value]
    elif isinstance(value, (Box, Open)):
        inner = [value.content]
    return type(value), [kinds(one) for one in inner]


def cast(value: Any, other: dict[str, str]) -> Any:
    walk = Walk(value)
    gaps = {text: index for index, text in enumerate(text for text in walk.strings if text in other)}
    return walk.mould(gaps, {}).cast([other[text] for text in gaps])


@given(st.lists(VALUES, max_size=4))
def test_a_cast_is_the_value_with_other_strings(value: list[Any]) -> None:
    before = pickle.dumps(value)
    made = cast(value, OTHER)
    assert made == exchanged(value)
    assert kinds(made) == kinds(value)
    assert pickle.dumps(value) == before


@given(st.lists(VALUES, max_size=4))
def test_casts_share_what_has_no_gap(value: list[Any]) -> None:
    made = cast([value, "old"], OTHER)
    text = repr(value)
    if "old" not in text:
        assert made[0] is value


def test_what_stands_in_two_places_still_does() -> None:
    inner = {"name": "old"}
    made = cast([inner, [inner], (inner, inner)], OTHER)
    assert made[0] is made[1][0] is made[2][0] is made[2][1]
    assert made[0] == {"name": "new"}


def test_many_values_and_deep_ones() -> None:
    value: Any = ["old"]
    for _ in range(40):
        value = [value, {"a": value, "old": 70_000}]
    made = cast(value, OTHER)
    assert made[1]["new"] == 70_000 and made[0] is made[1]["a"]
    wide = [[f"kept {number}", "old", f"old {number}"] for number in range(1000)]
    assert cast(wide, OTHER)[999] == ["kept 999", "new", "old 999"]


def test_what_makes_itself_anew() -> None:
    log, queue = ContainerLog(), EventQueue()
    log.write(5, "old")
    log.write(6, "kept")
    queue.push(9, "old", ("kept", "old"))
    queue.push(3, "kept")
    shared: SharedLog[str] = SharedLog(keep=2)
    for text in ("kept", "old", "old", "kept", "kept"):
        shared.append(text)
    made = cast((log, queue, shared, re.compile("old")), OTHER)
    assert [line.text for line in made[0].read(10)] == ["new", "kept"]
    assert list(made[1]) == [(3, 2, "kept", ()), (9, 1, "new", (("kept", "new"),))]
    assert list(made[2]) == ["kept" if text == "kept" else "new" for text in shared]
    assert made[2].forgotten == shared.forgotten
    assert made[3].pattern == "new"
    made[1].push(4, "later")
    assert len(queue) == 2 and len(made[1]) == 3
    assert list(pickle.loads(pickle.dumps(queue))) == list(queue)


def test_numbers_under_a_key() -> None:
    inner = {"port": 5}
    walk = Walk(
        [{"port": 5, "other": 5}, {"port": 6}, {"port": "5"}, inner, ["old", inner], "kept", "old", "kept"]
    )
    made = walk.mould({"old": 0}, {"port": {5: 1}}).cast(["new", 7])
    assert made[:5] == [
        {"port": 7, "other": 5},
        {"port": 6},
        {"port": "5"},
        {"port": 7},
        ["new", {"port": 7}],
    ]
    assert made[5:] == ["kept", "new", "kept"]


# --- texts ----------------------------------------------------------------------------------------------------

UID = "0a1b2c3d-0000-4000-8000-00000000000f"
WORDS = {UID: 0, "6d5f8b9c": 1, "10.244.1.7": 2, "10.96.3.4": 3, "f" * 64: 4}
SUFFIXES = {"x7k2p": 5}
TEXTS = {"pass-word": 6, "tag": 7}
NEW = ["UID", "HASH", "10.244.1.107", "10.96.200.200", "ID", "SUFFIX", "secret", "build"]

READ = {
    UID: "UID",
    f"pvc-{UID}/x": "pvc-UID/x",
    f"a{UID}": None,
    f"{UID}0": None,
    "web-6d5f8b9c-x7k2p.17a3": "web-HASH-SUFFIX.17a3",
    "6d5f8b9c": "HASH",
    "6d5f8b9c0": None,
    "x7k2p": None,
    "web-x7k2p": "web-SUFFIX",
    "web-x7k2p2": None,
    "http://10.244.1.7:80": "http://10.244.1.107:80",
    "10.244.1.77": None,
    "110.244.1.7": None,
    "10.244.1.7.8": None,
    "10-244-1-7.default.pod": "10-244-1-107.default.pod",
    "10.244.1.7.": "10.244.1.107.",
    "10-244.1.7": None,
    "to 10.96.3.4, 10.96.3.4": "to 10.96.200.200, 10.96.200.200",
    f"containerd://{'f' * 64}": "containerd://ID",
    "mongodb://a:pass-word@b": "mongodb://a:secret@b",
    "pass-words": None,
    "stag tags tag:tag_tag": "stag tags build:build_build",
    '{"a":"\\npass-word\\ttag\\n10.244.1.7"}': '{"a":"\\nsecret\\tbuild\\n10.244.1.107"}',
    "\\tag": None,
    "nothing": None,
    "": None,
}


def reader() -> Reader:
    return Reader(WORDS, SUFFIXES, TEXTS, {"10"})


@pytest.mark.parametrize("text", READ)
def test_words_are_found_where_they_stand_alone(text: str) -> None:
    assert written([text]) == ([] if READ[text] is None else [READ[text]])


@given(st.permutations(list(READ)))
def test_many_texts_are_read_as_one_is(texts: list[str]) -> None:
    assert written(texts) == [expected for text in texts if (expected := READ[text]) is not None]


def written(texts: list[str]) -> list[str]:
    reading = reader()
    return reading.script(reading.read(texts).values()).written(NEW)


def test_secrets_and_images_follow_from_words() -> None:
    reading = reader()
    reading.knows(
        ["cGFzcy13b3Jk", "dXJpOi8vcGFzcy13b3JkQGg=", "bm90aGluZw==", "not base64"], ["shop:tag", "mongo"]
    )
    texts = ["cGFzcy13b3Jk", '{"a":"dXJpOi8vcGFzcy13b3JkQGg="}', "bm90aGluZw==", "shop:tag"]
    read = reading.read(texts)
    made = dict(zip(read, reading.script(read.values()).written(NEW), strict=True))
    assert made == {
        "cGFzcy13b3Jk": "c2VjcmV0",
        '{"a":"dXJpOi8vcGFzcy13b3JkQGg="}': '{"a":"dXJpOi8vc2VjcmV0QGg="}',
        "shop:tag": "shop:build",
    }


# --- identities -----------------------------------------------------------------------------------------------

KNOWN = Identities(
    uids=(UID, UID.replace("a", "b")),
    digits=("a" * 64, "b" * 32),
    suffixes=(("bbbbb",), ("ccccc", "ddddd", "fffff", "ggggg")),
    hashes=(("44444444", "5555555555", "bbbbbb"), ("77777777",)),
    services=tuple(f"10.96.9.{number}" for number in range(9)),
    ranges=(Range("10.244.1", "ipam:a", 40, (2, 9, 40)), Range("10.244.2", "ipam:b", 254, (254,))),
    ports=(30001, 30002),
    kept_ports=frozenset(range(30010, 32768)),
    kept_services=frozenset({"10.96.1.0"}),
    network=IPv4Network("10.96.0.0/22"),
)


@given(st.integers(0, 10**6))
def test_identities_look_like_those_they_replace(number: int) -> None:
    drawn = KNOWN.drawn(Chance((number,)))
    new = dict(zip(KNOWN.words(), drawn.words, strict=True))
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", new[uid])
        for uid in KNOWN.uids
    )
    assert all(re.fullmatch(f"[0-9a-f]{{{len(old)}}}", new[old]) for old in KNOWN.digits)
    for groups, letters in (
        (KNOWN.suffixes, "[bcdfghjklmnpqrstvwxz2-9]{5}"),
        (KNOWN.hashes, "[456789bcdf]{1,10}"),
    ):
        for group in groups:
            made = [new[word] for word in group]
            assert made == sorted({*made}) and all(re.fullmatch(letters, word) for word in made)
    services = {new[address] for address in KNOWN.services}
    assert len(services) == 9 and "10.96.1.0" not in services
    assert all(
        re.fullmatch(r"10\.96\.\d+\.\d+", address) and not address.startswith("10.96.0.")
        for address in services
    )
    assert len({*drawn.ports}) == 2 and all(30000 <= port < 30010 for port in drawn.ports)
    for node, last in zip(KNOWN.ranges, drawn.last, strict=True):
        moved = [int(new[f"{node.prefix}.{number}"].removeprefix(f"{node.prefix}.")) for number in node.used]
        assert all(2 <= number <= 254 for number in moved) and last == moved[-1]
        assert [(number - moved[0]) % 253 for number in moved] == [
            number - node.used[0] for number in node.used
        ]
    assert BETWEEN not in "".join(drawn.words)


def test_chances_differ() -> None:
    drawn = [KNOWN.drawn(Chance((number,))) for number in range(40)]
    assert len({tuple(one.words) for one in drawn}) == 40
    assert len({tuple(one.last) for one in drawn}) > 35
    assert KNOWN.drawn(Chance((7,))) == drawn[7]
