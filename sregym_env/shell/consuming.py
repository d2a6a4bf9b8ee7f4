"""What a command leaves of a standard input that it shares with the commands after it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sregym_env.runtime.numbers import whole
from sregym_env.shell.files import encoded
from sregym_env.shell.reading import reads_input

BLOCK = 8192
"""Bytes that ``head`` reads at once (``BUFSIZ``); of a pipe, what it does not print is lost."""

_QUITS = re.compile(r"(\d*)q\Z")


def rest_of(argv: Sequence[str], text: str, *, seekable: bool) -> str:
    """What the next command finds of ``text`` after ``argv`` has read from it.

    ``seekable``: it is a file, in which a command can go back to where it has stopped.
    """
    if not reads_input(argv):
        return text
    name = argv[0].rpartition("/")[2]
    if name == "head":
        return _after_head(argv[1:], text, seekable)
    if name == "sed" and any(word in ("-u", "--unbuffered") for word in argv[1:]):
        quits = next((match for word in argv[1:] if (match := _QUITS.match(word))), None)
        return _after_lines(text, int(quits[1] or 1)) if quits else ""
    return ""


def _after_lines(text: str, count: int) -> str:
    at = 0
    for _ in range(count):
        found = text.find("\n", at)
        if found < 0:
            return ""
        at = found + 1
    return text[at:]


def _after_head(words: Sequence[str], text: str, seekable: bool) -> str:
    unit, count = _asked(words)
    if count is None:
        return ""
    data = encoded(text)
    if unit == "c":
        rest = data[count:]
    else:
        left = encoded(_after_lines(text, count)) if count else data
        used = len(data) - len(left)
        rest = left if seekable else data[-(-used // BLOCK) * BLOCK :]
    return rest.decode("utf-8", "surrogateescape")


def _asked(words: Sequence[str]) -> tuple[str, int | None]:
    """What ``head`` counts, and how many; None for what it can only tell at the end."""
    unit, value = "n", "10"
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.startswith(("--lines=", "--bytes=")):
            unit, value = word[2].replace("l", "n").replace("b", "c"), word.partition("=")[2]
        elif word[:2] in ("-n", "-c"):
            unit, value = word[1], word[2:] or (rest.pop(0) if rest else "")
        elif word[:1] == "-" and word[1:].isdecimal():
            unit, value = "n", word[1:]
    return unit, whole(value, None)
