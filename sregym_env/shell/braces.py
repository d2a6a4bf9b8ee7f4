"""Brace expansion: ``{a,b}`` and ``{1..9}``, bounded before anything is made."""

from __future__ import annotations

import re

from sregym_env.shell.limits import LimitExceeded
from sregym_env.shell.syntax.tree import Literal, Part

_RANGE = re.compile(
    r"(-?\d{1,18})\.\.(-?\d{1,18})(?:\.\.(-?\d{1,18}))?\Z|([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,9}))?\Z"
)
_MOST_PIECES = 1_000_000

Token = str | Part
"""A character of plain text, or a part that braces have no business with."""
Tokens = tuple[Token, ...]


def has_braces(parts: tuple[Part, ...]) -> bool:
    """Whether some plain text of a word could be an expression in braces."""
    return any(type(part) is Literal and "{" in part.text for part in parts)


def expanded(parts: tuple[Part, ...], limit: int) -> list[tuple[Part, ...]]:
    """The words that one becomes. Raises LimitExceeded when they are too many."""
    tokens: list[Token] = []
    for part in parts:
        if type(part) is Literal:
            tokens.extend(part.text)
        else:
            tokens.append(part)
    return [_joined(found) for found in _expand(tuple(tokens), limit, 0)]


def _joined(tokens: Tokens) -> tuple[Part, ...]:
    parts: list[Part] = []
    text: list[str] = []
    for token in tokens:
        if isinstance(token, str):
            text.append(token)
            continue
        if text:
            parts.append(Literal("".join(text)))
            text = []
        parts.append(token)
    if text:
        parts.append(Literal("".join(text)))
    return tuple(parts)


def _too_many(tokens: Tokens) -> LimitExceeded:
    shown = "".join(token for token in tokens if isinstance(token, str))[:40]
    return LimitExceeded(f"{shown}: brace expansion too long")


def _expand(tokens: Tokens, limit: int, depth: int) -> list[Tokens]:
    if depth > 40:
        raise _too_many(tokens)
    found: list[list[Tokens]] = []
    """Alternatives of each piece from left to right."""
    plain: list[Token] = []
    groups = _groups(tokens)
    at = 0
    while at < len(tokens):
        group = groups.get(at)
        if group is None:
            plain.append(tokens[at])
            at += 1
            continue
        end, commas = group
        inside = tokens[at + 1 : end]
        if commas:
            alternatives: list[Tokens] = []
            for start, stop in zip([at + 1, *(c + 1 for c in commas)], [*commas, end], strict=True):
                alternatives += _expand(tokens[start:stop], limit, depth + 1)
                if len(alternatives) > limit:
                    raise _too_many(tokens)
        else:
            ranged = _range(inside, limit, tokens)
            if ranged is None:
                plain.append("{")
                at += 1
                continue
            alternatives = ranged
        if plain:
            found.append([tuple(plain)])
            plain = []
        found.append(alternatives)
        at = end + 1
    if plain:
        found.append([tuple(plain)])
    if not found:
        return [()]
    count, longest = 1, 0
    for alternatives in found:
        count *= len(alternatives)
        longest += max(len(alternative) for alternative in alternatives)
        if count > limit or count * max(longest, 1) > _MOST_PIECES * 10:
            raise _too_many(tokens)
    made: list[Tokens] = [()]
    for alternatives in found:
        made = [before + alternative for before in made for alternative in alternatives]
    return made


def _groups(tokens: Tokens) -> dict[int, tuple[int, list[int]]]:
    """Of every brace that is closed, by where it opens: where it closes, and the commas in it."""
    found: dict[int, tuple[int, list[int]]] = {}
    open_at: list[tuple[int, list[int]]] = []
    for index, token in enumerate(tokens):
        if token == "{":
            open_at.append((index, []))
        elif token == "}" and open_at:
            start, commas = open_at.pop()
            found[start] = index, commas
        elif token == "," and open_at:
            open_at[-1][1].append(index)
    return found


def _range(inside: Tokens, limit: int, whole: Tokens) -> list[Tokens] | None:
    if len(inside) > 60 or not all(isinstance(token, str) for token in inside):
        return None
    text = "".join(token for token in inside if isinstance(token, str))
    match = _RANGE.match(text)
    if match is None:
        return None
    if match[4]:
        first, last, by = ord(match[4]), ord(match[5]), int(match[6] or 1)
    else:
        first, last, by = int(match[1]), int(match[2]), int(match[3] or 1)
    by = abs(by) or 1
    if abs(last - first) // by >= limit:
        raise LimitExceeded(f"{{{text}}}: brace expansion too long")
    numbers = range(first, last + 1, by) if first <= last else range(first, last - 1, -by)
    if match[4]:
        return [tuple(chr(number)) for number in numbers]
    width = 0
    if any(re.match(r"-?0\d", part) for part in (match[1], match[2])):
        width = max(len(match[1]), len(match[2]))
    return [tuple(f"{number:0{width}d}") for number in numbers]
