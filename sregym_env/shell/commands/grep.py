"""``grep``, ``egrep`` and ``fgrep``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import effort
from sregym_env.shell import patterns
from sregym_env.shell.commands.arguments import UsageError, content, options, reason
from sregym_env.shell.commands.posix import CLASSES, compiled, translated
from sregym_env.shell.run import Call

MATCH_EFFORT = 3.0
"""What a match that is shown costs (units of ``runtime/effort.py``)."""

_SHORT = "EFGPivwxclLnHhoqsrRabzTUIZye:f:m:A:B:C:d:D:"
_LONG = {
    "extended-regexp": "E",
    "fixed-strings": "F",
    "basic-regexp": "G",
    "perl-regexp": "P",
    "ignore-case": "i",
    "no-ignore-case": "?",
    "invert-match": "v",
    "word-regexp": "w",
    "line-regexp": "x",
    "count": "c",
    "files-with-matches": "l",
    "files-without-match": "L",
    "line-number": "n",
    "with-filename": "H",
    "no-filename": "h",
    "only-matching": "o",
    "quiet": "q",
    "silent": "q",
    "no-messages": "s",
    "recursive": "r",
    "dereference-recursive": "R",
    "text": "a",
    "byte-offset": "b",
    "null-data": "z",
    "null": "Z",
    "initial-tab": "T",
    "regexp": "e:",
    "file": "f:",
    "max-count": "m:",
    "after-context": "A:",
    "before-context": "B:",
    "context": "C:",
    "include": "+:",
    "exclude": "-:",
    "exclude-dir": "/:",
    "color": "?::",
    "colour": "?::",
    "line-buffered": "?",
    "binary-files": "?:",
    "label": "@:",
    "directories": "d:",
}
_CLASS = re.compile(r"\[:(\w+):\]")
_PLAIN = re.compile(r"[\w /:=@%,;'\"<>~-]*", re.ASCII)
"""Expressions that stand for themselves in every syntax."""


@dataclass(slots=True)
class _Search:
    """What to look for and how to show it."""

    letters: frozenset[str]
    find: Callable[[str], Any]
    each: Callable[[str], Iterator[tuple[int, int]]]
    limit: int = -1
    before: int = 0
    after: int = 0
    names: bool = False
    end: str = "\n"
    include: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    label: str = "(standard input)"


class Grep:
    """The command; ``name`` decides the default syntax."""

    def __init__(self, name: str = "grep") -> None:
        self.name = name

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Print the lines that match; 0 when any did, 1 when none did, 2 after an error."""
        try:
            given, operands = options(args, _SHORT, _LONG, numbers=True)
            search = self._search(given, operands, ctx)
        except UsageError as error:
            text = f"{self.name}: {error}\n" if str(error) else ""
            text += f"Usage: {self.name} [OPTION]... PATTERNS [FILE]...\n"
            return ExecResult("", text + f"Try '{self.name} --help' for more information.\n", 2)
        except re.error as error:
            return ExecResult("", f"{self.name}: {error}\n", 2)
        except OSError as error:
            return ExecResult("", f"{self.name}: {reason(error)}\n", 2)
        return self._run(search, operands, ctx)

    def _search(self, given: list[tuple[str, str]], operands: list[str], ctx: Call) -> _Search:
        letters = frozenset(letter for letter, _ in given)
        sources: list[str] = []
        for letter, value in given:
            if letter == "e":
                sources += value.split("\n")
            elif letter == "f":
                text = content(ctx, value)
                sources += text.removesuffix("\n").split("\n") if text else []
        if "e" not in letters and "f" not in letters:
            if not operands:
                raise UsageError("")
            sources = operands.pop(0).split("\n")
        syntax = {"egrep": "E", "fgrep": "F"}.get(self.name, "G")
        for letter, _ in given:
            syntax = letter if letter in "EFGP" else syntax
        if syntax != "F":
            for source in sources:
                ctx.study(source)
        find, each = _matcher(
            tuple(sources), syntax, bool(letters & {"i", "y"}), "x" in letters, "w" in letters
        )
        search = _Search(letters, find, each)
        for letter, value in given:
            if letter in "mABC0":
                if not value.isdigit() and not (letter == "m" and value.lstrip("-").isdigit()):
                    what = (
                        "invalid max count" if letter == "m" else f"{value}: invalid context length argument"
                    )
                    raise UsageError(what)
                count = int(value[:9])
                if letter == "m":
                    search.limit = count
                if letter in "AC0":
                    search.after = count
                if letter in "BC0":
                    search.before = count
            elif letter == "+":
                search.include.append(value)
            elif letter == "-":
                search.exclude.append(value)
            elif letter == "/":
                search.skipped.append(value.rstrip("/"))
            elif letter == "@":
                search.label = value
        if "z" in letters:
            search.end = "\0"
        return search

    def _run(self, search: _Search, operands: list[str], ctx: Call) -> ExecResult:
        recursive = bool(search.letters & {"r", "R"})
        names = operands or (["."] if recursive else ["-"])
        search.names = "H" in search.letters or ("h" not in search.letters and (len(names) > 1 or recursive))
        if operands == ["-"] or names == ["-"]:
            search.names = "H" in search.letters
        out: list[str] = []
        errors: list[str] = []
        matched = False
        for name, text in self._inputs(search, names, bool(operands), recursive, ctx, errors):
            matched |= _one(search, search.label if name == "-" else name, text, out)
            if matched and "q" in search.letters:
                return ExecResult("", "".join(errors), 0)
        failed = bool(errors)
        shown = [] if "s" in search.letters else errors
        code = 2 if failed else 0 if matched else 1
        return ExecResult("".join(out), "".join(shown), code)

    def _inputs(
        self,
        search: _Search,
        names: list[str],
        named: bool,
        recursive: bool,
        ctx: Call,
        errors: list[str],
    ) -> Any:
        for name in names:
            if recursive and name != "-":
                path = ctx.resolve(name)
                if ctx.fs.is_folder(path):
                    prefix = name.rstrip("/") + "/" if named else ""
                    yield from self._walk(search, path, prefix or ("" if not named else "/"), ctx)
                    continue
            try:
                yield name, content(ctx, name)
            except OSError as error:
                errors.append(f"{self.name}: {name}: {reason(error)}\n")

    def _walk(self, search: _Search, path: str, prefix: str, ctx: Call) -> Any:
        for entry in sorted(ctx.fs.names(path)):
            inner = f"{path.rstrip('/')}/{entry}"
            if ctx.fs.is_folder(inner):
                if not any(fnmatchcase(entry, form) for form in search.skipped):
                    yield from self._walk(search, inner, f"{prefix}{entry}/", ctx)
                continue
            if search.include and not any(fnmatchcase(entry, form) for form in search.include):
                continue
            if any(fnmatchcase(entry, form) for form in search.exclude):
                continue
            try:
                yield prefix + entry, content(ctx, inner)
            except OSError:
                continue


def _one(search: _Search, name: str, text: str, out: list[str]) -> bool:
    """Search one input; whether something was selected."""
    letters, find = search.letters, search.find
    end = search.end
    lines = text.split(end)
    if lines[-1] == "":
        lines.pop()
    inverted = "v" in letters
    limit = search.limit
    if limit == 0:
        return False
    chosen: list[int] = []
    for index, line in enumerate(lines):
        if (find(line) is None) == inverted:
            chosen.append(index)
            if len(chosen) == limit:
                break
    found = bool(chosen)
    label = f"{name}:" if search.names else ""
    if letters & {"q"}:
        return found
    if letters & {"l", "L"}:
        listed = found if "l" in letters else not found
        if listed:
            out.append(f"{name}\n")
        return listed if "L" in letters else found
    if "c" in letters:
        out.append(f"{label}{len(chosen)}\n")
        return found
    if "\0" in text and "a" not in letters and end == "\n":
        if found:
            out.append(f"Binary file {name} matches\n")
        return found
    _show(search, name, lines, chosen, out)
    return found


def _show(search: _Search, name: str, lines: list[str], chosen: list[int], out: list[str]) -> None:
    letters, end = search.letters, search.end
    numbered, offsets = "n" in letters, "b" in letters
    starts: list[int] = []
    if offsets:
        position = 0
        for line in lines:
            starts.append(position)
            position += len(line.encode()) + 1

    def lead(index: int, mark: str, extra: int = 0) -> str:
        parts = f"{name}{mark}" if search.names else ""
        if numbered:
            parts += f"{index + 1}{mark}"
        if offsets:
            parts += f"{starts[index] + extra}{mark}"
        return parts

    if "o" in letters:
        if "v" in letters:
            return
        for index in chosen:
            line = lines[index]
            for start, stop in search.each(line):
                effort.spend(MATCH_EFFORT)
                if stop > start:
                    out.append(f"{lead(index, ':', len(line[:start].encode()))}{line[start:stop]}{end}")
        return
    if not search.before and not search.after:
        if not (numbered or offsets or search.names):
            out.extend(lines[index] + end for index in chosen)
        else:
            out.extend(f"{lead(index, ':')}{lines[index]}{end}" for index in chosen)
        return
    selected = set(chosen)
    shown_to = -1
    for index in chosen:
        first = max(index - search.before, shown_to + 1)
        if shown_to >= 0 and first > shown_to + 1:
            out.append("--\n")
        last = min(index + search.after, len(lines) - 1)
        for at in range(first, last + 1):
            if at > index and at in selected:
                last = at - 1
                break
            out.append(f"{lead(at, ':' if at in selected else '-')}{lines[at]}{end}")
        shown_to = max(shown_to, last)


@lru_cache(maxsize=512)
def _matcher(
    sources: tuple[str, ...], syntax: str, fold: bool, whole: bool, word: bool
) -> tuple[Callable[[str], Any], Callable[[str], Iterator[tuple[int, int]]]]:
    """How to find the first match of a line (None if there is none) and the spans of all. Raises ``re.error``."""
    if not sources:
        return (lambda _: None), (lambda _: iter(()))
    if len(sources) == 1 and not (fold or whole or word):
        plain = sources[0]
        if syntax == "F" or _PLAIN.fullmatch(plain):
            return (lambda line: True if plain in line else None), _occurrences(plain)
    if len(sources) == 1 and syntax in "GE" and not (whole or word):
        expression = compiled(sources[0], extended=syntax == "E", fold=fold)
        return expression.search, lambda line: (found.span() for found in expression.finditer(line))
    parts = [_translation(source, syntax) for source in sources]
    joined = parts[0] if len(parts) == 1 else "|".join(f"(?:{part})" for part in parts)
    if whole:
        joined = f"^(?:{joined})$"
    elif word:
        joined = rf"(?:^|\W)(?P<word>{joined})(?:\W|$)"
    elif len(parts) == 1 and syntax == "P" and r"\K" in joined:
        head, _, tail = joined.partition(r"\K")
        joined = f"{head}(?P<word>{tail})"
        word = True
    pattern = patterns.compiled(joined, re.IGNORECASE if fold else 0)
    if not word:
        return pattern.search, lambda line: (found.span() for found in pattern.finditer(line))
    return pattern.search, lambda line: _words(pattern, line)


def _words(pattern: Any, line: str) -> Iterator[tuple[int, int]]:
    group = pattern.groupindex["word"]
    position = 0
    while position <= len(line) and (found := pattern.search(line, position)) is not None:
        start, stop = found.span(group)
        yield start, stop
        position = stop if stop > position else position + 1


def _occurrences(plain: str) -> Callable[[str], Iterator[tuple[int, int]]]:
    def each(line: str) -> Iterator[tuple[int, int]]:
        position = line.find(plain) if plain else -1
        while position >= 0:
            yield position, position + len(plain)
            position = line.find(plain, position + len(plain))

    return each


def _translation(source: str, syntax: str) -> str:
    if syntax == "F":
        return re.escape(source)
    if syntax == "P":
        text = _CLASS.sub(lambda found: CLASSES.get(found[1], found[0]), source)
        return text.replace(r"\h", r"[ \t]")
    return translated(source, extended=syntax == "E")
