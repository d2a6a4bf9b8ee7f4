"""``sort``, ``paste`` and ``wc`` as GNU's: keys, serial pasting, widths."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import effort
from sregym_env.runtime.numbers import whole
from sregym_env.shell import crowds
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.files import encoded
from sregym_env.shell.run import Call

COMPARISON_EFFORT = 3.0
"""What it costs to compare two lines by their keys (units of ``runtime/effort.py``)."""

FURTHEST = 1 << 30
"""A field beyond all that lines have."""

_KEY = re.compile(r"(\d+)(?:\.(\d+))?([bdfghinMrV]*)(?:,(\d+)(?:\.(\d+))?([bdfghinMrV]*))?$")
_NUMBER = re.compile(r"\s*(-?\d*(?:\.\d+)?)([KMGTPE]?)")
_MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
_LONG = {
    "numeric-sort": "n",
    "reverse": "r",
    "unique": "u",
    "human-numeric-sort": "h",
    "general-numeric-sort": "g",
    "version-sort": "V",
    "ignore-case": "f",
    "dictionary-order": "d",
    "stable": "s",
    "ignore-leading-blanks": "b",
    "month-sort": "M",
    "check": "c",
    "key": "k:",
    "field-separator": "t:",
    "output": "o:",
    "zero-terminated": "z",
    "merge": "m",
    "buffer-size": "S:",
    "temporary-directory": "T:",
}


@dataclass(frozen=True, slots=True)
class _Key:
    first: int = 1
    first_char: int = 1
    last: int = 0
    """0 is the end of the line."""
    last_char: int = 0
    options: str = ""


@dataclass(slots=True)
class _Order:
    options: str = ""
    separator: str = ""
    output: str = ""
    keys: list[_Key] = field(default_factory=list)


class Sort:
    """``sort``."""

    name = "sort"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Sort the lines of files or of the input."""
        try:
            order, files = _order(args)
        except (UsageError, ValueError) as error:
            return ExecResult("", f"sort: {error}\n", 2)
        lines: list[str] = []
        for path in files or ["-"]:
            try:
                lines += _lines(ctx, path)
            except OSError:
                return ExecResult("", f"sort: cannot read: {path}: No such file or directory\n", 2)
        compare = _comparison(order)
        ordered = sorted(lines, key=cmp_to_key(compare))
        if "c" in order.options:
            for index, (before, line) in enumerate(pairwise(lines), 2):
                if compare(before, line) > 0:
                    return ExecResult(
                        "", f"sort: {files[0] if files else '-'}:{index}: disorder: {line}\n", 1
                    )
            return ExecResult("", "", 0)
        if "u" in order.options:
            equal = _comparison(order, last_resort=False)
            ordered = [line for i, line in enumerate(ordered) if i == 0 or equal(ordered[i - 1], line)]
        text = "".join(f"{line}\n" for line in ordered)
        if order.output:
            ctx.fs.put_text(ctx.resolve(order.output), text)
            return ExecResult("", "", 0)
        return ExecResult(text, "", 0)


def _order(args: list[str]) -> tuple[_Order, list[str]]:
    given, files = options(args, "bcCdfghiMnrsuVzmk:t:o:S:T:", _LONG)
    order = _Order()
    for letter, value in given:
        if letter in "kto":
            _put(order, letter, value)
        elif letter not in "STm":
            order.options += letter.lower() if letter == "C" else letter
    return order, files


def _put(order: _Order, letter: str, value: str) -> None:
    if letter == "t":
        order.separator = "\t" if value in ("\\t", "\t") else "\0" if value == "\\0" else value
        if len(order.separator) > 1:
            raise ValueError(f"multi-character tab '{value}'")
    elif letter == "o":
        order.output = value
    else:
        match = _KEY.match(value)
        if match is None or match[1] == "0":
            raise ValueError(f"invalid number at field start: invalid count at start of '{value}'")
        options = match[3] + (match[6] or "")
        field, place, last, end = (
            whole(match[group] or least, FURTHEST)
            for group, least in ((1, "1"), (2, "1"), (4, "0"), (5, "0"))
        )
        order.keys.append(_Key(field, place, last, end, options))


def _comparison(order: _Order, last_resort: bool = True) -> Callable[[str, str], int]:
    keys = order.keys or [_Key()]
    # Sorting compares a line many times; its keys are worked out once.
    ready: dict[tuple[int, str], Any] = {}

    def prepared(index: int, key: _Key, line: str) -> Any:
        found = ready.get((index, line))
        if found is None:
            letters = key.options or order.options
            found = ready[index, line] = _ranked(_extract(key, line, order.separator, letters), letters)
        return found

    reversed_ = "r" in order.options

    compared = 0

    def compare(left: str, right: str) -> int:
        nonlocal compared
        compared += 1
        if not compared & 31:
            effort.spend(32 * COMPARISON_EFFORT)
        for index, key in enumerate(keys):
            a, b = prepared(index, key, left), prepared(index, key, right)
            if a != b:
                down = "r" in (key.options or order.options)
                return (1 if a > b else -1) * (-1 if down else 1)
        if not last_resort or "s" in order.options or "u" in order.options or left == right:
            return 0
        return (1 if left > right else -1) * (-1 if reversed_ else 1)

    return compare


def _extract(key: _Key, line: str, separator: str, options: str) -> str:
    if key == _Key(options=key.options):
        return line
    spans = _spans(line, separator)
    if key.first > len(spans):
        return ""
    start, end = spans[key.first - 1]
    if key.first_char > 1 or "b" in options:
        while not separator and start < end and line[start] in " \t":
            start += 1
        start += key.first_char - 1
    stop = len(line)
    if key.last and key.last <= len(spans):
        low, stop = spans[key.last - 1]
        if key.last_char:
            while not separator and low < stop and line[low] in " \t":
                low += 1
            stop = min(low + key.last_char, stop)
    return line[start:stop]


def _spans(line: str, separator: str) -> list[tuple[int, int]]:
    """Where the fields lie; without a separator a field begins with the blanks before it."""
    if not separator:
        return [match.span() for match in re.finditer(r"[ \t]*[^ \t]+", line)]
    spans, start = [], 0
    for part in line.split(separator):
        spans.append((start, start + len(part)))
        start += len(part) + 1
    return spans


def _ranked(text: str, options: str) -> Any:
    if "n" in options or "h" in options or "g" in options:
        match = _NUMBER.match(text)
        digits, suffix = match.groups() if match else ("", "")
        number = float(digits) if digits not in ("", "-", ".") else 0.0
        if "h" in options:
            return ((number > 0) - (number < 0)) * ("KMGTPE".find(suffix) + 1 if suffix else 0), number
        return number
    if "M" in options:
        name = text.strip()[:3].upper()
        return _MONTHS.index(name) if name in _MONTHS else -1
    if "b" in options:
        text = text.lstrip(" \t")
    if "f" in options:
        text = text.upper()
    if "d" in options:
        text = re.sub(r"[^A-Za-z0-9 \t]", "", text)
    if "V" in options:
        return [
            (0, int(part), "") if part.isdecimal() and len(part) < 4300 else (1, 0, part)
            for part in re.findall(r"\d+|\D+", text)
        ]
    return text


class Paste:
    """``paste``."""

    name = "paste"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Join lines of files side by side, or with ``-s`` those of each file in a row."""
        serial, delimiters, files, rest = False, "\t", [], list(args)
        while rest:
            word = rest.pop(0)
            if word.startswith("-") and len(word) > 1:
                body = word[1:] if not word.startswith("--") else {"--serial": "s"}.get(word, "?")
                while body:
                    letter, body = body[0], body[1:]
                    if letter == "d":
                        delimiters = body or (rest.pop(0) if rest else "")
                        body = ""
                    elif letter == "s":
                        serial = True
                    else:
                        return ExecResult("", f"paste: invalid option -- '{letter}'\n", 1)
            else:
                files.append(word)
        delimiters = delimiters.replace("\\t", "\t").replace("\\n", "\n").replace("\\0", "")
        try:
            columns = _columns(ctx, files or ["-"])
        except OSError as error:
            return ExecResult("", f"paste: {error.filename or 'file'}: No such file or directory\n", 1)
        if serial:
            rows = columns
        else:
            longest = max(map(len, columns))
            rows = [[c[i] if i < len(c) else "" for c in columns] for i in range(longest)]
        return ExecResult("".join(f"{_joined(row, delimiters)}\n" for row in rows), "", 0)


def _columns(ctx: Call, files: list[str]) -> list[list[str]]:
    inputs = files.count("-")
    if inputs < 2:
        return [_lines(ctx, path) for path in files]
    # Several dashes take the lines of the input in turn.
    lines = _lines(ctx, "-")
    turns = iter(range(inputs))
    return [lines[next(turns) :: inputs] if path == "-" else _lines(ctx, path) for path in files]


def _joined(parts: list[str], delimiters: str) -> str:
    if not delimiters:
        return "".join(parts)
    joined = parts[0] if parts else ""
    for index, part in enumerate(parts[1:]):
        joined += delimiters[index % len(delimiters)] + part
    return joined


class Wc:
    """``wc``."""

    name = "wc"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Count lines, words, characters and bytes."""
        wanted, files = "", []
        names = {"--lines": "l", "--words": "w", "--chars": "m", "--bytes": "c", "--max-line-length": "L"}
        for word in args:
            if word.startswith("-") and len(word) > 1:
                wanted += names.get(word, word[1:])
            else:
                files.append(word)
        unknown = next((letter for letter in wanted if letter not in "lwmcL"), "")
        if unknown:
            return ExecResult("", f"wc: invalid option -- '{unknown}'\n", 1)
        shown = [letter for letter in "lwmcL" if letter in (wanted or "lwc")]
        rows: list[tuple[dict[str, int], str]] = []
        errors = ""
        for path in files or ["-"]:
            try:
                rows.append((_counts(_content(ctx, path)), path if files else ""))
            except OSError:
                errors += f"wc: {path}: No such file or directory\n"
        if len(files) > 1:
            total = {letter: sum(counts[letter] for counts, _ in rows) for letter in "lwmcL"}
            rows.append((total, "total"))
        if len(shown) == 1 and len(rows) < 2:
            width = 1
        elif not files:
            width = 7
        else:
            width = max((len(str(counts["c"])) for counts, _ in rows), default=1)
        lines = [
            " ".join([*(f"{counts[letter]:>{width}}" for letter in shown), *([name] if name else [])])
            for counts, name in rows
        ]
        return ExecResult("".join(f"{line}\n" for line in lines), errors, 1 if errors else 0)


def _counts(text: str) -> dict[str, int]:
    found = dict.fromkeys("lwmcL", 0)
    for times, part in crowds.parts(text):
        found["l"] += times * part.count("\n")
        found["w"] += times * len(part.split())
        found["m"] += times * len(part)
        found["c"] += times * len(encoded(part))
        found["L"] = max(found["L"], *(len(line) for line in part.split("\n")))
    return found


def _content(ctx: Call, path: str) -> str:
    if path in ("-", "/dev/stdin"):
        return ctx.stdin
    text = ctx.fs.read_text(ctx.resolve(path))
    ctx.charge(len(text))
    return text


def _lines(ctx: Call, path: str) -> list[str]:
    text = _content(ctx, path)
    return text.removesuffix("\n").split("\n") if text else []
