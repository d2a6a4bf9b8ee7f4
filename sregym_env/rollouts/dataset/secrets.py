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

_LEFT, _RIGHT = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9_-])"

SHAPES: Final[Mapping[str, str]] = {
    "ANTHROPIC_KEY": rf"{_LEFT}sk-ant-[A-Za-z0-9_-]{{16,}}",
    "OPENAI_KEY": rf"{_LEFT}sk-(?!ant-)[A-Za-z0-9_-]{{16,}}",
    "HUGGINGFACE_TOKEN": rf"{_LEFT}hf_[A-Za-z0-9]{{20,}}{_RIGHT}",
    "GITHUB_TOKEN": rf"{_LEFT}(?:gh[pousr]_[A-Za-z0-9]{{30,}}|github_pat_[A-Za-z0-9_]{{30,}})",
    "GITLAB_TOKEN": rf"{_LEFT}glpat-[A-Za-z0-9_-]{{20,}}",
    "AWS_KEY": rf"{_LEFT}(?:AKIA|ASIA)[A-Z0-9]{{16}}{_RIGHT}",
    "GOOGLE_KEY": rf"{_LEFT}AIza[A-Za-z0-9_-]{{35}}{_RIGHT}",
    "SLACK_TOKEN": rf"{_LEFT}xox[abeprs]-[A-Za-z0-9-]{{10,}}",
    "STRIPE_KEY": rf"{_LEFT}[rs]k_live_[A-Za-z0-9]{{16,}}",
    "PROVIDER_KEY": rf"{_LEFT}(?:gsk_|xai-|nvapi-|pplx-|tgp_v1_|r8_|fw_)[A-Za-z0-9_-]{{20,}}",
    "HEADER": r"""(?:[Aa]uthorization["']?\s*[:=]\s*["']?[Bb]earer|[Xx]-[Aa]pi-[Kk]ey["']?\s*[:=]\s*["']?)"""
    r"""\s*(?![$<{]|eyJ|MASKED_)[^\s"'\\]{12,}""",
}
"""Names of masks, and what is masked by them."""

WORLDLY: Final[Mapping[str, str]] = {
    "JWT": rf"{_LEFT}eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}",
    "PRIVATE_KEY": r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[^-]{16,}-----END (?:[A-Z]+ )?PRIVATE KEY-----",
}
"""The same for what only a real cluster keeps secret."""

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

    @property
    def total(self) -> int:
        """Masked texts."""
        return sum(self.found.values())

    def _text(self, text: str, simulated: bool) -> str:
        # What is short holds no key.
        if len(text) < _MIN_VALUE:
            return text
        for value in self.values:
            if value in text:
                self._count("OWN_VALUE", text.count(value))
                text = text.replace(value, "MASKED_OWN_VALUE")
        for pattern in (_ANY,) if simulated else (_ANY, _ANY_WORLDLY):
            text = pattern.sub(self._masked, text)
        return text

    def _masked(self, match: re.Match[str]) -> str:
        name = match.lastgroup or ""
        self._count(name, 1)
        return f"MASKED_{name}"

    def _count(self, name: str, times: int) -> None:
        self.found[name] = self.found.get(name, 0) + times


def _any(shapes: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{shape})" for name, shape in shapes.items()))


_ANY = _any(SHAPES)
_ANY_WORLDLY = _any(WORLDLY)
