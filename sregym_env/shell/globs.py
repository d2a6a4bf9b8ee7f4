"""Patterns of the shell: ``*``, ``?``, ``[...]``, ``@(a|b)``, matched in linear time, and the files they name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sregym_env.shell.files import Files
from sregym_env.shell.patterns import compiled

_SPECIAL = re.compile(r"[*?\[\\]|[@+!](?=\()")
_CLASSES = {
    "alpha": "A-Za-z", "digit": "0-9", "alnum": "A-Za-z0-9", "upper": "A-Z", "lower": "a-z", "space": " \\t\\n\\r\\f\\v",
    "blank": " \\t", "punct": "!-/:-@\\[-`{-~", "xdigit": "0-9A-Fa-f", "print": " -~", "graph": "!-~",
    "cntrl": "\\x00-\\x1f\\x7f", "word": "A-Za-z0-9_",
}  # fmt: skip
_LOOK_COST = 200
"""What one name in a directory costs, in characters read."""
_LONGEST = 4000
"""Characters of a pattern; a longer one stands for itself."""


def quoted(text: str) -> str:
    """A pattern that matches a text and nothing else."""
    return re.sub(r"([*?\[\]\\@+!(|)])", r"\\\1", text) if _MAY.search(text) else text


_MAY = re.compile(r"[*?\[\]\\@+!(|)]")


def is_pattern(text: str) -> bool:
    """Whether a text with a wildcard in it could match something else than itself."""
    return _SPECIAL.search(text) is not None


def _set(pattern: str, at: int) -> tuple[str, int] | None:
    """The expression for the ``[...]`` at ``at`` and where it ends; None where it does not."""
    start = at + 1
    negated = pattern[start : start + 1] in ("!", "^")
    start += negated
    out: list[str] = []
    index = start
    while index < len(pattern):
        char = pattern[index]
        if char == "]" and index > start:
            body = "".join(out)
            return f"[{'^' if negated else ''}{body}]", index + 1
        if char == "[" and pattern[index + 1 : index + 2] in (":", ".", "="):
            kind = pattern[index + 1]
            end = pattern.find(f"{kind}]", index + 2)
            if end > 0:
                name = pattern[index + 2 : end]
                out.append(_CLASSES.get(name, "") if kind == ":" else re.escape(name))
                index = end + 2
                continue
        if char == "\\" and index + 1 < len(pattern):
            index += 1
            out.append("\\" + pattern[index] if not pattern[index].isalnum() else pattern[index])
        elif char == "-" and out and index + 1 < len(pattern) and pattern[index + 1] != "]":
            out.append("-")
        else:
            out.append("\\" + char if char in "\\[]^&~|-" else char)
        index += 1
    return None


def _translated(pattern: str, lazy: bool) -> str:
    """The regular expression of a pattern."""
    out: list[str] = []
    ends: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char in "?*+@!" and pattern.startswith("(", at + 1) and _closes(pattern, at + 1):
            if char == "!":
                end = _closes(pattern, at + 1)
                out.append(_anything_but(pattern[at + 2 : end], lazy))
                at = end + 1
                continue
            out.append("(?:")
            ends.append({"?": ")?", "*": ")*", "+": ")+", "@": ")"}[char])
            at += 2
            continue
        if char == "*":
            while pattern.startswith("*", at + 1):
                at += 1
            out.append(".*?" if lazy else ".*")
        elif char == "?":
            out.append(".")
        elif char == "[":
            found = _set(pattern, at)
            if found is None:
                out.append(r"\[")
            else:
                out.append(found[0])
                at = found[1]
                continue
        elif char == "\\" and at + 1 < len(pattern):
            at += 1
            out.append(re.escape(pattern[at]))
        elif ends and char == "|":
            out.append("|")
        elif ends and char == ")":
            out.append(ends.pop())
        else:
            out.append(re.escape(char))
        at += 1
    return "".join(out)


def _closes(pattern: str, at: int) -> int:
    depth = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "(":
            depth += 1
        elif pattern[at] == ")":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return 0


def _anything_but(inner: str, lazy: bool) -> str:
    """``!(...)`` as an expression: exact where what it excludes are plain words, which is what people write."""
    words = inner.split("|")
    if any(is_pattern(word) for word in words):
        return ".*?" if lazy else ".*"
    return _excluding(sorted(set(words)))


def _excluding(words: list[str]) -> str:
    """An expression for every text that is none of the words; linear matchers know no look-ahead."""
    if not words:
        return ".*"
    firsts = sorted({word[0] for word in words if word})
    branches = []
    if "" not in words:
        branches.append("")
    others = "".join("\\" + char if not char.isalnum() else char for char in firsts)
    branches.append(f"[^{others}].*" if firsts else ".+")
    for char in firsts:
        branches.append(re.escape(char) + _excluding([word[1:] for word in words if word[:1] == char]))
    return f"(?:{'|'.join(branches)})"


@lru_cache(maxsize=2048)
def expression(pattern: str, lazy: bool = False, nocase: bool = False) -> Any:
    """A compiled pattern that must match a whole text; its one group is the text. Raises ``re.error``."""
    source = re.escape(pattern) if len(pattern) > _LONGEST else _translated(pattern, lazy)
    return compiled(f"({source})", re.DOTALL | (re.IGNORECASE if nocase else 0))


@lru_cache(maxsize=2048)
def _around(pattern: str, kind: str) -> Any:
    """Expressions that split a text in what a pattern takes off and what is left."""
    lazy = kind == "#"
    source = re.escape(pattern) if len(pattern) > _LONGEST else _translated(pattern, lazy)
    # The rest is matched greedily where the shortest piece comes off, and lazily where the longest does.
    forms = {
        "#": f"(?:{source})(.*)",
        "##": f"(?:{source})(.*?)",
        "%": f"(.*)(?:{source})",
        "%%": f"(.*?)(?:{source})",
    }
    return compiled(forms[kind], re.DOTALL)


def unescaped(pattern: str) -> str:
    """A pattern without wildcards as the text it matches."""
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL) if "\\" in pattern else pattern


def matches(text: str, pattern: str, nocase: bool = False) -> bool:
    """Whether a pattern matches a whole text."""
    if not nocase:
        if pattern == "*":
            return True
        if not _SPECIAL.search(pattern):
            return text == pattern
    return expression(pattern, False, nocase).fullmatch(_safe(text)) is not None


def removed(text: str, pattern: str, kind: str) -> str:
    """``${text#pattern}`` and its kin; ``kind`` is the operator."""
    if not pattern:
        return text
    if not _SPECIAL.search(pattern):
        if kind[0] == "#":
            return text.removeprefix(pattern)
        return text.removesuffix(pattern)
    found = _around(pattern, kind).fullmatch(_safe(text))
    if found is None:
        return text
    start, stop = found.span(1)
    return text[start:stop]


def replaced(text: str, pattern: str, replacement: str, kind: str, expands: bool) -> str:
    """``${text/pattern/replacement}`` and its kin. ``expands``: ``&`` in the replacement is what was matched."""
    if not pattern:
        plain = unescaped(replacement) if expands else replacement
        return plain + text if kind == "/#" else text + plain if kind == "/%" else text
    if not _SPECIAL.search(pattern) and not (expands and "&" in replacement):
        plain = unescaped(pattern)
        replacement = unescaped(replacement) if expands else replacement
        if kind == "//":
            return text.replace(plain, replacement)
        if kind == "/":
            return text.replace(plain, replacement, 1)
        if kind == "/#":
            return replacement + text[len(plain) :] if text.startswith(plain) else text
        return text[: len(text) - len(plain)] + replacement if text.endswith(plain) else text
    safe = _safe(text)
    finder = expression(pattern)
    if kind == "/#":
        found = compiled(f"\\A{_translated(pattern, False)}", re.DOTALL).search(safe)
        spans = [found.span()] if found else []
    elif kind == "/%":
        found = _around(pattern, "%%").fullmatch(safe)
        spans = [(found.end(1), len(text))] if found else []
    else:
        spans = []
        for match in finder.finditer(safe):
            if match.end() > match.start():
                spans.append(match.span())
                if kind == "/":
                    break
    out: list[str] = []
    at = 0
    for start, stop in spans:
        out.append(text[at:start])
        out.append(_filled(replacement, text[start:stop]) if expands else replacement)
        at = stop
    return "".join([*out, text[at:]])


def _filled(replacement: str, matched: str) -> str:
    return re.sub(r"\\(.)|&", lambda m: m[1] if m[1] is not None else matched, replacement, flags=re.DOTALL)


def _safe(text: str) -> str:
    """A text as the matcher takes it: characters that stand for bytes are replaced, one for one."""
    if text.isascii():
        return text
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


# --- files ------------------------------------------------------------------------------------------


def files_named(
    files: Files,
    cwd: str,
    pattern: str,
    *,
    dotglob: bool,
    globstar: bool,
    limit: int,
    looked: Callable[[int], None],
) -> list[str]:
    """The paths that a pattern names, sorted; nothing where it names none. ``looked`` is told what looking costs."""
    absolute = pattern.startswith("/")
    parts = [part for part in pattern.split("/") if part]
    folders_only = pattern.endswith("/")
    found: list[tuple[str, str]] = [("/" if absolute else "", "/" if absolute else cwd)]
    """(path as it is shown, absolute path)"""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        further: list[tuple[str, str]] = []
        for shown, folder in found:
            further += _step(files, shown, folder, part, last and not folders_only, dotglob, globstar)
            looked(_LOOK_COST * (1 + len(files.names(folder)) if is_pattern(part) else 1))
            if len(further) > limit:
                break
        found = further
    return sorted({shown + ("/" if folders_only else "") for shown, _ in found})


def _step(
    files: Files, shown: str, folder: str, part: str, last: bool, dotglob: bool, globstar: bool
) -> list[tuple[str, str]]:
    if part == "**" and globstar:
        below = [(shown, folder)] if not last else []
        root = folder.rstrip("/")
        for path, entry in files.walk(folder):
            inner = path[len(root) + 1 :]
            if any(piece.startswith(".") for piece in inner.split("/")) and not dotglob:
                continue
            if last or type(entry).__name__ == "DirectoryEntry":
                below.append(
                    (shown + inner if not shown or shown.endswith("/") else f"{shown}/{inner}", path)
                )
        return below
    prefix = shown if not shown or shown.endswith("/") else f"{shown}/"
    if not is_pattern(part):
        plain = unescaped(part)
        path = files.resolve_path(folder, plain)
        known = files.own_entry(path) is not None if last else files.is_folder(path)
        return [(prefix + plain, path)] if known else []
    hidden = dotglob or unescaped(part).startswith(".")
    matched = []
    for name in files.names(folder):
        if name.startswith(".") and not hidden:
            continue
        if matches(name, part):
            path = f"{folder.rstrip('/')}/{name}"
            if last or files.is_folder(path):
                matched.append((prefix + name, path))
    return matched
