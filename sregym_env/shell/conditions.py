"""Tests: ``[[ ]]``, ``[ ]`` and ``test``."""

from __future__ import annotations

import re

from sregym_env.shell import globs, patterns
from sregym_env.shell.commands.posix import compiled
from sregym_env.shell.expansion import Expander
from sregym_env.shell.files import DirectoryEntry, FileEntry, GrowingEntry, LateEntry, SymlinkEntry
from sregym_env.shell.flow import ShellError
from sregym_env.shell.session import Indexed
from sregym_env.shell.syntax.tree import Both, Condition, Not, Test


class TestProblem(Exception):
    """A test that is no test, in bash's words."""


_NUMBERS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
BINARY = _NUMBERS | {"=", "==", "!=", "<", ">", "-nt", "-ot", "-ef"}
UNARY = frozenset("-a -b -c -d -e -f -g -h -k -n -o -p -r -s -t -u -v -w -x -z -G -L -N -O -R -S".split())


def compare(operator: str, left: int, right: int) -> bool:
    """A comparison of numbers by its operator."""
    return {
        "-eq": left == right, "-ne": left != right, "-lt": left < right, "-le": left <= right, "-gt": left > right,
        "-ge": left >= right,
    }[operator]  # fmt: skip


def holds(expander: Expander, node: Condition) -> bool:
    """Whether a condition of ``[[ ]]`` holds. Raises TestProblem, ShellError."""
    if type(node) is Both:
        left = holds(expander, node.left)
        if left == node.either:
            return left
        return holds(expander, node.right)
    if type(node) is Not:
        return not holds(expander, node.inner)
    assert type(node) is Test
    if node.right is None:
        text = expander.text(node.left)
        return bool(text) if not node.operator else unary(expander, node.operator, text)
    left_text = expander.text(node.left)
    if node.operator in ("=", "==", "!="):
        nocase = "nocasematch" in expander.run.session.options
        same = globs.matches(left_text, expander.pattern(node.right), nocase)
        return same != (node.operator == "!=")
    if node.operator == "=~":
        return _matches(expander, left_text, expander.expression(node.right))
    right_text = expander.text(node.right)
    if node.operator in _NUMBERS:
        try:
            return compare(
                node.operator,
                expander.variables.calculate(left_text),
                expander.variables.calculate(right_text),
            )
        except ShellError as error:
            expander.run.complain(f"[[: {error}")
            return False
    return binary(expander, left_text, node.operator, right_text)


def _matches(expander: Expander, text: str, source: str) -> bool:
    nocase = "nocasematch" in expander.run.session.options
    try:
        patterns.count(source)
        expression = compiled(source, extended=True, fold=nocase)
        found = expression.search(text)
    except re.error:
        raise TestProblem(f"[[: invalid regular expression `{source}'") from None
    groups = [] if found is None else [found[0], *(found[i] or "" for i in range(1, expression.groups + 1))]
    expander.run.session.variables["BASH_REMATCH"] = Indexed(enumerate(groups))
    return found is not None


def unary(expander: Expander, operator: str, text: str) -> bool:
    """A test of one operand."""
    if operator == "-z":
        return not text
    if operator == "-n":
        return bool(text)
    if operator == "-v":
        name, bracket, rest = text.partition("[")
        if not bracket:
            return expander.variables.get(name) is not None
        if rest.rstrip("]") in ("@", "*"):
            return bool(expander.variables.elements(name))
        return expander.variables.element(name, expander.subscript(rest.rstrip("]"))) is not None
    if operator == "-o":
        return text in expander.run.session.flags
    if operator == "-t":
        return False
    if operator == "-R":
        return "n" in expander.run.session.attributes.get(text, "")
    if not text:
        return False
    expander.run.flush()
    path = expander.run.files.resolve_path(expander.run.session.cwd, text)
    if operator in ("-h", "-L"):
        return isinstance(expander.run.files.own_entry(path), SymlinkEntry)
    entry = expander.run.files.entry(path)
    if path in ("/dev/null", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr"):
        return operator in ("-e", "-a", "-c", "-r", "-w")
    if entry is None:
        return False
    if operator == "-f":
        return isinstance(entry, FileEntry)
    if operator == "-d":
        return isinstance(entry, DirectoryEntry)
    if operator == "-s":
        if isinstance(entry, GrowingEntry):
            return bool(entry.size)
        return not isinstance(entry, LateEntry) and (not isinstance(entry, FileEntry) or bool(entry.content))
    if operator == "-x":
        return bool(entry.mode & 0o111)
    if operator == "-r":
        return bool(entry.mode & 0o444)
    if operator == "-w":
        return bool(entry.mode & 0o222)
    return operator in ("-e", "-a", "-O", "-G", "-N")


def binary(expander: Expander, left: str, operator: str, right: str) -> bool:
    """A test of two operands, numbers excepted."""
    if operator in ("=", "=="):
        return left == right
    if operator == "!=":
        return left != right
    if operator == "<":
        return left < right
    if operator == ">":
        return left > right
    expander.run.flush()
    one, other = (
        expander.run.files.entry(expander.run.files.resolve_path(expander.run.session.cwd, text))
        for text in (left, right)
    )
    if operator == "-ef":
        return one is not None and one is other
    if operator == "-nt":
        return one is not None and (other is None or one.mtime > other.mtime)
    return other is not None and (one is None or one.mtime < other.mtime)


def test(expander: Expander, words: list[str]) -> bool:
    """``[ words ]``. Raises TestProblem."""
    count = len(words)
    if count == 0:
        return False
    if count == 1:
        return bool(words[0])
    if count == 2:
        if words[0] == "!":
            return not words[1]
        if words[0] in UNARY:
            return unary(expander, words[0], words[1])
        raise TestProblem(f"{words[0]}: unary operator expected")
    if count == 3:
        if words[1] in BINARY:
            return _compared(expander, *words)
        if words[1] in ("-a", "-o"):
            return _joined(bool(words[0]), words[1], bool(words[2]))
        if words[0] == "!":
            return not test(expander, words[1:])
        if words[0] == "(" and words[2] == ")":
            return bool(words[1])
        raise TestProblem(f"{words[1]}: binary operator expected")
    if count == 4 and words[0] == "!":
        return not test(expander, words[1:])
    found, at = _any(expander, words, 0, 0)
    if at < len(words):
        raise TestProblem("too many arguments")
    return found


def _joined(left: bool, operator: str, right: bool) -> bool:
    return left and right if operator == "-a" else left or right


def _compared(expander: Expander, left: str, operator: str, right: str) -> bool:
    if operator not in _NUMBERS:
        return binary(expander, left, operator, right)
    return compare(operator, _integer(left), _integer(right))


def _integer(text: str) -> int:
    if re.fullmatch(r"\s*[-+]?\d{1,20}\s*", text, re.ASCII) is None:
        raise TestProblem(f"{text}: integer expression expected")
    return int(text)


def _any(expander: Expander, words: list[str], at: int, depth: int) -> tuple[bool, int]:
    if depth > 40:
        raise TestProblem("too many arguments")
    found, at = _all(expander, words, at, depth)
    while at < len(words) and words[at] == "-o":
        right, at = _all(expander, words, at + 1, depth)
        found = found or right
    return found, at


def _all(expander: Expander, words: list[str], at: int, depth: int) -> tuple[bool, int]:
    found, at = _one(expander, words, at, depth)
    while at < len(words) and words[at] == "-a":
        right, at = _one(expander, words, at + 1, depth)
        found = found and right
    return found, at


def _one(expander: Expander, words: list[str], at: int, depth: int) -> tuple[bool, int]:
    if at >= len(words):
        raise TestProblem("argument expected")
    word = words[at]
    if word == "!":
        if depth > 40:
            raise TestProblem("too many arguments")
        found, at = _one(expander, words, at + 1, depth + 1)
        return not found, at
    if at + 2 < len(words) and words[at + 1] in BINARY:
        return _compared(expander, word, words[at + 1], words[at + 2]), at + 3
    if word == "(":
        found, at = _any(expander, words, at + 1, depth + 1)
        if at >= len(words) or words[at] != ")":
            raise TestProblem("`)' expected")
        return found, at + 1
    if word in UNARY and at + 1 < len(words):
        return unary(expander, word, words[at + 1]), at + 2
    return bool(word), at + 1
