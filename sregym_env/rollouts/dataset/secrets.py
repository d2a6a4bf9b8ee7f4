"""Finding keys in what will be published, and masking them.

Two kinds: whatever has the shape of a provider's key, and the values of this process's own variables that are named
like keys. What a simulated cluster shows is no secret: its tokens and certificates are made from the seed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

_LEFT, _RIGHT = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9_-])"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a kind of key looks like."""

    marks: tuple[str, ...]
    """One of these is in every such key: looking for a word is much quicker than for a pattern."""
    pattern: re.Pattern[str]


def _shape(pattern: str, *marks: str) -> Shape:
    return Shape(marks, re.compile(pattern))


SHAPES: Final[Mapping[str, Shape]] = {
    "ANTHROPIC_KEY": _shape(rf"{_LEFT}sk-ant-[A-Za-z0-9_-]{{16,}}", "sk-ant-"),
    "OPENAI_KEY": _shape(rf"{_LEFT}sk-(?!ant-)[A-Za-z0-9_-]{{16,}}", "sk-"),
    "HUGGINGFACE_TOKEN": _shape(rf"{_LEFT}hf_[A-Za-z0-9]{{20,}}{_RIGHT}", "hf_"),
    "GITHUB_TOKEN": _shape(
        rf"{_LEFT}(?:gh[pousr]_[A-Za-z0-9]{{30,}}|github_pat_[A-Za-z0-9_]{{30,}})",
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    "GITLAB_TOKEN": _shape(rf"{_LEFT}glpat-[A-Za-z0-9_-]{{20,}}", "glpat-"),
    "AWS_KEY": _shape(rf"{_LEFT}(?:AKIA|ASIA)[A-Z0-9]{{16}}{_RIGHT}", "AKIA", "ASIA"),
    "GOOGLE_KEY": _shape(rf"{_LEFT}AIza[A-Za-z0-9_-]{{35}}{_RIGHT}", "AIza"),
    "SLACK_TOKEN": _shape(rf"{_LEFT}xox[abeprs]-[A-Za-z0-9-]{{10,}}", "xox"),
    "STRIPE_KEY": _shape(rf"{_LEFT}[rs]k_live_[A-Za-z0-9]{{16,}}", "k_live_"),
    "PROVIDER_KEY": _shape(
        rf"{_LEFT}(?:gsk_|xai-|nvapi-|pplx-|tgp_v1_|r8_|fw_)[A-Za-z0-9_-]{{20,}}",
        *("gsk_", "xai-", "nvapi-", "pplx-", "tgp_v1_", "r8_", "fw_"),
    ),
    "HEADER": _shape(
        r"""(?:[Aa]uthorization["']?\s*[:=]\s*["']?[Bb]earer|[Xx]-[Aa]pi-[Kk]ey["']?\s*[:=]\s*["']?)"""
        r"""\s*(?![$<{]|eyJ|MASKED_)[^\s"'\\]{12,}""",
        *("uthorization", "-api-key", "-Api-Key"),
    ),
}
"""What is masked, by the names of the masks."""

WORLDLY: Final[Mapping[str, Shape]] = {
    "JWT": _shape(rf"{_LEFT}eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}", "eyJ"),
    "PRIVATE_KEY": _shape(
        r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[^-]{16,}-----END (?:[A-Z]+ )?PRIVATE KEY-----",
        "PRIVATE KEY",
    ),
}
"""The same for what only a real cluster keeps secret."""

_MARKS: Final = tuple(
    mark.encode() for shapes in (SHAPES, WORLDLY) for shape in shapes.values() for mark in shape.marks
)

_NAMED_LIKE_KEYS = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)", re.I
)

_MIN_VALUE = 12
"""Shorter values of variables are words that occur by chance."""


def own_values(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Values of this process's variables that are named like keys, the longest first."""
    variables = os.environ if environment is None else environment
    found = {
        value.strip()
        for name, value in variables.items()
        if _NAMED_LIKE_KEYS.search(name) and len(value.strip()) >= _MIN_VALUE and not value.startswith("/")
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


@dataclass(slots=True)
class Scrubber:
    """Replaces what looks like a key by ``MASKED_...``, and counts.

    The mask is a plain word to a shell, so that an action that held a key replays as it was.
    """

    values: tuple[str, ...] = field(default_factory=own_values)
    found: dict[str, int] = field(default_factory=dict)
    """Masked texts by name."""

    def mask(self, value: Any, *, simulated: bool) -> Any:
        """JSON without keys; the very same value where there is none. ``simulated``: of an embedded cluster."""
        if isinstance(value, str):
            return self._text(value, simulated)
        if isinstance(value, dict):
            return {
                self._text(key, simulated): self.mask(inner, simulated=simulated)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.mask(inner, simulated=simulated) for inner in value]
        return value

    def suspects(self, line: bytes) -> bool:
        """Whether there may be something to mask in a line of JSON."""
        if any(mark in line for mark in _MARKS):
            return True
        # A line of JSON has quotes and the like escaped.
        return any(orjson.dumps(value)[1:-1] in line for value in self.values)

    def _text(self, text: str, simulated: bool) -> str:
        # What is short holds no key.
        if len(text) < _MIN_VALUE:
            return text
        for value in self.values:
            if value in text:
                self._count("OWN_VALUE", text.count(value))
                text = text.replace(value, "MASKED_OWN_VALUE")
        for shapes in (SHAPES,) if simulated else (SHAPES, WORLDLY):
            for name, shape in shapes.items():
                if any(mark in text for mark in shape.marks):
                    text, times = shape.pattern.subn(f"MASKED_{name}", text)
                    self._count(name, times)
        return text

    def _count(self, name: str, times: int) -> None:
        if times:
            self.found[name] = self.found.get(name, 0) + times
