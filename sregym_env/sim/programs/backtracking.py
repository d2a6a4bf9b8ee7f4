"""How much a backtracking matcher of regular expressions does for a text, and whether the text matches.

The expression becomes instructions of a small machine (a character, a choice, a mark) that tries one way after the other, as
PCRE does. What it does from an instruction and a place on is the same whenever it comes there, so that the number of its steps
is added up and not walked: an expression that needs millions of them costs no more to look at than any other. A loop that has taken nothing is
left, as in PCRE, and what follows at that place is counted once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

LIMIT = 10_000_000
"""Steps after which PCRE gives up (``match_limit``)."""
LONGEST, LONGEST_TEXT = 256, 128
"""Characters of an expression that is taken, and of a text that is looked at; who gives more is cut off."""
MOST = 200
"""Instructions of an expression at most."""
DEEPEST = 12
"""Groups within groups at most."""
MOST_REPEATS = 64
"""What ``{m,n}`` may say at most."""

Allows = Callable[[str], bool]


class PatternError(ValueError):
    """An expression that is none, or one of a kind that is not taken."""


class Found(NamedTuple):
    """What became of a match."""

    matches: bool
    steps: int
    """At most :data:`LIMIT`, and then it was given up."""


class _Code(NamedTuple):
    """One instruction: ``char`` and ``mark`` go on with the next, ``choice`` tries ``first`` before ``second``."""

    kind: str
    allows: Allows | None = None
    first: int = 0
    second: int = 0


@lru_cache(maxsize=512)
def attempt(pattern: str, text: str) -> Found:
    """Look for an expression anywhere in a text. Raises PatternError."""
    code = _compiled(pattern)
    text = text[:LONGEST_TEXT]
    known: dict[tuple[int, int], tuple[bool, int]] = {}
    steps = 0
    for start in range(len(text) + 1):
        matched, done = _run(code, text, start, known)
        steps += done
        if matched or steps >= LIMIT:
            return Found(matched and steps < LIMIT, min(steps, LIMIT))
        if code[0].kind == "begin":
            break
    return Found(False, steps)


def size(pattern: str) -> int:
    """Instructions of an expression. Raises PatternError."""
    return len(_compiled(pattern))


def _run(
    code: tuple[_Code, ...], text: str, start: int, known: dict[tuple[int, int], tuple[bool, int]]
) -> tuple[bool, int]:
    """(whether it matches from an instruction and a place on, steps), worked out without recursion."""
    first = (0, start)
    stack = [first]
    open_: set[tuple[int, int]] = set()
    while stack:
        here = stack[-1]
        if here in known:
            stack.pop()
            continue
        ways = _ways(code, text, here)
        if ways is None:
            known[here] = (True, 1)
            open_.discard(here)
            stack.pop()
            continue
        steps, matched, ready = 1, False, True
        for way in ways:
            if way not in known:
                if way in open_:
                    # A loop that takes nothing is left.
                    continue
                open_.add(here)
                stack.append(way)
                ready = False
                break
            matched, more = known[way]
            steps += more
            if matched or steps >= LIMIT:
                break
        if ready:
            known[here] = (matched, min(steps, LIMIT))
            open_.discard(here)
            stack.pop()
    return known[first]


def _ways(code: tuple[_Code, ...], text: str, here: tuple[int, int]) -> tuple[tuple[int, int], ...] | None:
    """Where it goes on from here, in the order of its attempts; None where it has matched."""
    at, place = here
    each = code[at]
    match each.kind:
        case "char":
            fits = place < len(text) and each.allows is not None and each.allows(text[place])
            return ((at + 1, place + 1),) if fits else ()
        case "choice":
            return ((each.first, place), (each.second, place))
        case "jump":
            return ((each.first, place),)
        case "begin":
            return ((at + 1, place),) if place == 0 else ()
        case "end":
            return ((at + 1, place),) if place == len(text) else ()
        case "edge":
            before = place > 0 and _is_word(text[place - 1])
            after = place < len(text) and _is_word(text[place])
            return ((at + 1, place),) if before != after else ()
    return None


def _is_word(letter: str) -> bool:
    return letter.isascii() and (letter.isalnum() or letter == "_")


def _is_digit(letter: str) -> bool:
    return letter.isascii() and letter.isdigit()


def _is_space(letter: str) -> bool:
    return letter in " \t\n\r\f\v"


_CLASSES: dict[str, Allows] = {
    "w": _is_word, "d": _is_digit, "s": _is_space,
    "W": lambda letter: not _is_word(letter), "D": lambda letter: not _is_digit(letter), "S": lambda letter: not _is_space(letter),
}  # fmt: skip
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> tuple[_Code, ...]:
    if len(pattern) > LONGEST:
        raise PatternError("regular expression is too large")
    reader = _Reader(pattern)
    made = reader.alternatives(0)
    if reader.at < len(pattern):
        raise PatternError(f"unmatched closing parenthesis at offset {reader.at}")
    return (*_placed(made, 0), _Code("done"))


def _placed(made: list[_Code], start: int) -> list[_Code]:
    """Instructions whose goals count from their own begin, moved."""
    if start + len(made) > MOST:
        raise PatternError("regular expression is too large")
    return [
        each._replace(first=each.first + start, second=each.second + start)
        if each.kind in ("choice", "jump")
        else each
        for each in made
    ]


def _joined(one: list[_Code], other: list[_Code]) -> list[_Code]:
    return [*one, *_placed(other, len(one))]


def _either(one: list[_Code], other: list[_Code]) -> list[_Code]:
    end = len(one) + len(other) + 2
    head = [_Code("choice", first=1, second=len(one) + 2), *_placed(one, 1), _Code("jump", first=end)]
    return [*head, *_placed(other, len(head))]


def _optional(made: list[_Code], lazy: bool) -> list[_Code]:
    inside, outside = 1, len(made) + 1
    first, second = (outside, inside) if lazy else (inside, outside)
    return [_Code("choice", first=first, second=second), *_placed(made, 1)]


def _star(made: list[_Code], lazy: bool) -> list[_Code]:
    inside, outside = 1, len(made) + 2
    first, second = (outside, inside) if lazy else (inside, outside)
    return [_Code("choice", first=first, second=second), *_placed(made, 1), _Code("jump", first=0)]


class _Reader:
    """An expression as it is read."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.folded = pattern.startswith("(?i)")
        if self.folded:
            self.at = 4

    def _next(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def alternatives(self, depth: int) -> list[_Code]:
        """Sequences between bars."""
        if depth > DEEPEST:
            raise PatternError("parentheses are too deeply nested")
        made = self._sequence(depth)
        while self._next() == "|":
            self.at += 1
            made = _either(made, self._sequence(depth))
        return made

    def _sequence(self, depth: int) -> list[_Code]:
        made: list[_Code] = []
        while self._next() and self._next() not in "|)":
            made = _joined(made, self._repeated(self._atom(depth)))
        return made

    def _repeated(self, made: list[_Code]) -> list[_Code]:
        least, most = self._times()
        if (least, most) == (1, 1):
            return made
        lazy = self._next() == "?"
        if lazy or self._next() == "+":
            self.at += 1
        found: list[_Code] = []
        for _ in range(least):
            found = _joined(found, made)
        if most is None:
            return _joined(found, _star(made, lazy))
        for _ in range(most - least):
            found = _joined(found, _optional(made, lazy))
        return found

    def _times(self) -> tuple[int, int | None]:
        """How often, as the quantifier here says; None for any number."""
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        mark = self._next()
        if mark in simple and mark:
            self.at += 1
            return simple[mark]
        end = self.pattern.find("}", self.at)
        if mark != "{" or end < 0:
            return 1, 1
        low, comma, high = self.pattern[self.at + 1 : end].partition(",")
        if not all(_is_digit(letter) for letter in low + high) or not low:
            return 1, 1
        if max(len(low), len(high)) > 3 or int(low) > MOST_REPEATS or int(high or 0) > MOST_REPEATS:
            raise PatternError("number too big in {} quantifier")
        self.at = end + 1
        least = int(low)
        most = least if not comma else int(high) if high else None
        if most is not None and most < least:
            raise PatternError("numbers out of order in {} quantifier")
        return least, most

    def _atom(self, depth: int) -> list[_Code]:
        letter = self._next()
        self.at += 1
        match letter:
            case "(":
                return self._group(depth)
            case "[":
                return [_Code("char", self._set())]
            case ".":
                return [_Code("char", lambda each: each != "\n")]
            case "^":
                return [_Code("begin")]
            case "$":
                return [_Code("end")]
            case "\\":
                return self._escaped()
            case "*" | "+" | "?":
                raise PatternError(f"quantifier does not follow a repeatable item at offset {self.at - 1}")
        return [_Code("char", self._letter(letter))]

    def _letter(self, letter: str) -> Allows:
        if self.folded:
            return lambda each: each.lower() == letter.lower()
        return lambda each: each == letter

    def _group(self, depth: int) -> list[_Code]:
        if self._next() == "?":
            if self.pattern[self.at : self.at + 2] != "?:":
                raise PatternError(f"unrecognized character after (? at offset {self.at}")
            self.at += 2
        made = self.alternatives(depth + 1)
        if self._next() != ")":
            raise PatternError("missing closing parenthesis")
        self.at += 1
        return made

    def _escaped(self) -> list[_Code]:
        letter = self._next()
        if not letter:
            raise PatternError("\\ at end of pattern")
        self.at += 1
        if letter == "b":
            return [_Code("edge")]
        if letter in _CLASSES:
            return [_Code("char", _CLASSES[letter])]
        if letter.isalnum() and letter not in _CONTROLS:
            raise PatternError(f"unrecognized character follows \\ at offset {self.at - 1}")
        return [_Code("char", self._letter(_CONTROLS.get(letter, letter)))]

    def _set(self) -> Allows:
        """A class in brackets."""
        negated = self._next() == "^"
        self.at += negated
        parts: list[Allows] = []
        first = True
        while self._next() != "]" or first:
            first = False
            letter = self._next()
            if not letter:
                raise PatternError("missing terminating ] for character class")
            self.at += 1
            if letter == "\\":
                letter = self._next()
                self.at += 1
                if letter in _CLASSES:
                    parts.append(_CLASSES[letter])
                    continue
                letter = _CONTROLS.get(letter, letter)
            if self._next() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                parts.append(self._range(letter, self.pattern[self.at + 1]))
                self.at += 2
            else:
                parts.append(self._letter(letter))
        self.at += 1
        return lambda each: any(part(each) for part in parts) != negated

    def _range(self, low: str, high: str) -> Allows:
        if high < low:
            raise PatternError("range out of order in character class")
        if self.folded:
            return lambda each: low <= each.lower() <= high or low <= each.upper() <= high
        return lambda each: low <= each <= high
