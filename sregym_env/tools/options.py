"""Options of our own commands: flags, values and what is left, with complaints a person can act on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sregym_env.kube.durations import parse_rfc3339
from sregym_env.telemetry.promql.durations import parse_duration

SECOND_MS = 1000


class Misuse(ValueError):
    """Words that make no command; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for."""

    words: tuple[str, ...]
    """What is no option."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Every option that was given, by its long name, with its values; a flag has one that is empty."""

    def has(self, name: str) -> bool:
        """Whether an option was given."""
        return name in self.values

    def value(self, name: str, default: str = "") -> str:
        """The last value of an option."""
        return self.values[name][-1] if name in self.values else default

    def number(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number within bounds. Raises Misuse."""
        text = self.value(name)
        if not text:
            return default
        if not text.isascii() or not text.isdigit() or len(text) > 9 or not low <= int(text) <= high:
            raise Misuse(f"--{name} must be a whole number from {low} to {high}, not {shown(text)}")
        return int(text)

    def duration(self, name: str, default: int) -> int:
        """Milliseconds of a duration such as ``15m``. Raises Misuse."""
        text = self.value(name)
        if not text:
            return default
        try:
            found = parse_duration(text) if not text.isdigit() else int(text[:12]) * SECOND_MS
        except ValueError as error:
            raise Misuse(f"--{name}: {error}; a duration is written like 90s, 15m or 1h30m") from None
        if found <= 0:
            raise Misuse(f"--{name} must be longer than nothing")
        return found

    def instant(self, name: str, now_ms: int) -> int:
        """Milliseconds of an instant: RFC 3339, seconds since the epoch, or how long ago. Raises Misuse."""
        text = self.value(name)
        if not text or text == "now":
            return now_ms
        digits, _, rest = text.partition(".")
        if digits.isascii() and digits.isdigit() and 9 <= len(digits) <= 10 and (not rest or rest.isdigit()):
            return int(digits) * 1000 + int((rest + "000")[:3])
        try:
            return parse_rfc3339(text) // 1000
        except ValueError:
            pass
        try:
            return now_ms - parse_duration(text.removeprefix("-"))
        except ValueError:
            raise Misuse(
                f"--{name}: cannot read {shown(text)}; write 2026-08-06T10:00:00Z, seconds since 1970, or how long ago (5m)"
            ) from None


def shown(text: str) -> str:
    """What was typed, short enough to be repeated."""
    return f'"{text}"' if len(text) <= 60 else f'"{text[:60]}..."'


def parsed(words: Sequence[str], flags: Mapping[str, str], valued: Mapping[str, str]) -> Options:
    """Words as options. ``flags`` and ``valued`` map what may be typed, dashes included, to long names. Raises Misuse."""
    values: dict[str, tuple[str, ...]] = {}
    left: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            left += rest
            break
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name in valued:
            if not equals:
                if not rest:
                    raise Misuse(f"{name} needs a value")
                value = rest.pop(0)
            values[valued[name]] = (*values.get(valued[name], ()), value)
        elif name in flags and not equals:
            values[flags[name]] = ("",)
        elif word.startswith("-") and len(word) > 1 and not word[1:2].isdigit() and " " not in word:
            raise Misuse(f"unknown option: {shown(word)}")
        else:
            left.append(word)
    return Options(tuple(left), values)


__all__ = ["Misuse", "Options", "parsed", "shown"]
