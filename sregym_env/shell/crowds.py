"""Texts of very many lines of which most are like others: parts, and how many times each of them is there.

A kernel's table of a quarter of a million connections is some forty megabytes when it is printed, of which nobody reads more
than a page; what people do with it is to count. Such a text is kept as parts that each stand for several of the same. Printed
on a terminal it is each part once; programs that work line by line, or count, do so with the parts
(:mod:`sregym_env.shell.commands.crowded`), and all others find it written out, as far as they may read so much.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sregym_env.shell.limits import TimeExceeded

Part = tuple[int, str]
"""How many times, and what."""

WRITTEN_OUT = 65_536
"""Characters up to which such a text is simply written out."""
LONGEST = 4_000_000
"""Characters that are written out for a program that can do nothing with parts."""

_MARK = b"\0\x0bparts\0"


class Crowd(str):
    """A text that stands for more than is kept of it; as a string it is each part once."""

    __slots__ = ("parts",)
    parts: tuple[Part, ...]

    def __new__(cls, parts: Iterable[Part]) -> Crowd:
        """Of parts in the order in which they are written."""
        known = tuple(parts)
        made = super().__new__(cls, "".join(text for _, text in known))
        made.parts = known
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Crowd, (self.parts,)


def made(parts: Iterable[Part]) -> str:
    """The text of these parts; an ordinary one where that is no longer than others."""
    known: list[Part] = []
    for times, text in parts:
        if times > 0 and text:
            if known and known[-1][0] == times == 1:
                known[-1] = (1, known[-1][1] + text)
            else:
                known.append((times, text))
    if all(times == 1 for times, _ in known) or sum(times * len(text) for times, text in known) < WRITTEN_OUT:
        return "".join(text * times for times, text in known)
    return Crowd(known)


def parts(text: str) -> Sequence[Part]:
    """The parts of any text."""
    return text.parts if isinstance(text, Crowd) else ((1, text),)


def joined(texts: Sequence[str]) -> str:
    """Texts one after the other."""
    if any(type(text) is Crowd for text in texts):
        return made(part for text in texts for part in parts(text))
    return "".join(texts)


def written_out(text: str) -> str:
    """All that a text stands for. Raises TimeExceeded where that is too much."""
    if not isinstance(text, Crowd):
        return text
    if size(text) > LONGEST:
        raise TimeExceeded("too much data")
    return "".join(each * times for times, each in text.parts)


def size(text: str) -> int:
    """Characters that a text stands for."""
    return sum(times * len(each) for times, each in parts(text))


def lines(text: str) -> int:
    """Lines that a text stands for."""
    return sum(times * each.count("\n") for times, each in parts(text))


def first(text: str, count: int) -> str:
    """So many lines from its beginning."""
    found: list[Part] = []
    for times, each in parts(text):
        held = max(each.count("\n"), 1)
        whole = min(count // held, times)
        found.append((whole, each))
        count -= whole * held
        if whole < times:
            found.append((1, "".join(each.splitlines(keepends=True)[:count])))
            break
    return made(found)


def without(text: str, count: int) -> str:
    """What comes after so many lines."""
    found: list[Part] = []
    for times, each in parts(text):
        held = max(each.count("\n"), 1)
        whole = min(count // held, times)
        count -= whole * held
        rest = times - whole
        if rest and count:
            found.append((1, "".join(each.splitlines(keepends=True)[count:])))
            rest, count = rest - 1, 0
        found.append((rest, each))
    return made(found)


# --- in files -----------------------------------------------------------------------------------------


def packed(text: Crowd, bodies: Sequence[bytes]) -> bytes:
    """The bytes by which a file keeps such a text, of those of its parts."""
    head = ",".join(
        f"{times}x{len(body)}" for (times, _), body in zip(text.parts, bodies, strict=True)
    ).encode()
    return b"".join((_MARK, head, b"\0", *bodies))


def unpacked(data: bytes) -> list[tuple[int, bytes]] | None:
    """Parts as a file keeps them; None for any other file."""
    if not data.startswith(_MARK):
        return None
    head, _, rest = data[len(_MARK) :].partition(b"\0")
    found, at = [], 0
    try:
        for word in head.decode("ascii").split(","):
            times, _, length = word.partition("x")
            found.append((int(times[:12]), rest[at : at + int(length[:12])]))
            at += len(found[-1][1])
    except ValueError:
        return None
    return found


def bytes_of(data: bytes) -> int:
    """Bytes that a file stands for."""
    found = unpacked(data)
    return len(data) if found is None else sum(times * len(body) for times, body in found)
