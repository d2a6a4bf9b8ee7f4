"""``tr``: sets of characters, and what becomes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.commands.lines import refused
from sregym_env.shell.run import Call

_CLASSES: Mapping[str, str] = {
    "alpha": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "digit": "0123456789",
    "alnum": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "lower": "abcdefghijklmnopqrstuvwxyz", "space": "\t\n\v\f\r ",
    "blank": "\t ", "punct": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "xdigit": "0123456789ABCDEFabcdef",
    "cntrl": "".join(map(chr, (*range(32), 127))), "print": "".join(map(chr, range(32, 127))),
    "graph": "".join(map(chr, range(33, 127))),
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _set(text: str, size: int) -> list[str]:
    """The characters of a set of ``tr``; ``size`` is how many ``[x*]`` fills up to."""
    out: list[str] = []
    at = 0

    def one(at: int) -> tuple[str, int]:
        if text[at] == "\\" and at + 1 < len(text):
            octal = re.compile(r"[0-7]{1,3}").match(text, at + 1)
            if octal:
                return chr(int(octal[0], 8) & 255), octal.end()
            return _ESCAPES.get(text[at + 1], text[at + 1]), at + 2
        return text[at], at + 1

    while at < len(text):
        known = re.compile(r"\[:(\w+):\]").match(text, at)
        if known:
            if known[1] not in _CLASSES:
                raise UsageError(f"invalid character class '{known[1]}'")
            out += _CLASSES[known[1]]
            at = known.end()
            continue
        repeated = re.compile(r"\[(.)\*(\d*)\]", re.DOTALL).match(text, at)
        if repeated:
            out += [repeated[1]] * min(int(repeated[2] or max(0, size - len(out))), 100_000)
            at = repeated.end()
            continue
        first, at = one(at)
        if at + 1 < len(text) and text[at] == "-":
            last, at = one(at + 1)
            if ord(last) < ord(first):
                raise UsageError(
                    f"range-endpoints of '{first}-{last}' are in reverse collating sequence order"
                )
            out += [chr(code) for code in range(ord(first), min(ord(last), ord(first) + 70_000) + 1)]
        else:
            out.append(first)
    return out


def tr(args: list[str], call: Call) -> ExecResult:
    """``tr [-cds] set1 [set2]``."""
    long = {"complement": "c", "delete": "d", "squeeze-repeats": "s", "truncate-set1": "t"}
    try:
        given, operands = options(args, "cCdst", long)
        letters = {letter.lower() for letter, _ in given}
        if not operands:
            raise UsageError("missing operand")
        if len(operands) == 1 and not letters & {"d", "s"}:
            raise UsageError(
                f"missing operand after '{operands[0]}'\nTwo strings must be given when translating."
            )
        first = _set(operands[0], 0)
        second = _set(operands[1], len(first)) if len(operands) > 1 else []
    except UsageError as error:
        return refused(call, error)
    text = call.stdin
    members = set(first)
    complement = "c" in letters

    def chosen(char: str) -> bool:
        return (char in members) != complement

    if "d" in letters:
        text = "".join([char for char in text if not chosen(char)])
        squeezed = set(second)
    elif second:
        if complement:
            text = "".join([char if char in members else second[-1] for char in text])
        else:
            padded = second + [second[-1]] * (len(first) - len(second))
            text = text.translate(
                {ord(a): b for a, b in zip(reversed(first), reversed(padded[: len(first)]), strict=True)}
            )
        squeezed = set(second)
    else:
        squeezed = set()
        if "s" in letters:
            text = "".join(
                [char for i, char in enumerate(text) if not (i and char == text[i - 1] and chosen(char))]
            )
    if "s" in letters and squeezed:
        text = "".join(
            [char for i, char in enumerate(text) if not (i and char == text[i - 1] and char in squeezed)]
        )
    return ExecResult(text)
