"""Lists of lines from the data files, and draws from the half of a list that is a part's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import yaml

from sregym_env.rewards.labelled.diagnosis import Part
from sregym_env.runtime.chance import Chance

Lines = tuple[str, ...]

_SLOT = re.compile(r"<(\w+)>")


@lru_cache(maxsize=1)
def wordings() -> Mapping[str, Mapping[str, Lines]]:
    """By fault and kind (``plain``, ``para``, ``pron`` ...) how engineers put it."""
    return MappingProxyType({fault: _lists(lists) for fault, lists in _loaded("wordings.yaml").items()})


@lru_cache(maxsize=1)
def frames() -> Mapping[str, Lines]:
    """By name what stands around a cause."""
    return _lists(_loaded("frames.yaml"))


def half(lines: Sequence[str], part: Part) -> Sequence[str]:
    """The lines that a part may use: every second one, for nobody is to know the held-out ones from the others."""
    return lines[0 if part == "dev" else 1 :: 2]


def filled(line: str, slots: Mapping[str, str]) -> str:
    """A line with its slots filled. Raises KeyError for a slot that there is not, or that has nothing in it here."""

    def value(found: re.Match[str]) -> str:
        if not (known := slots.get(found[1])):
            raise KeyError(f"nothing for <{found[1]}> of {line!r}")
        return known

    return _SLOT.sub(value, line)


@dataclass(frozen=True, slots=True)
class Draw:
    """Chance for one diagnosis of a part."""

    chance: Chance
    part: Part

    def line(self, name: str, lines: Sequence[str]) -> str:
        """One of the part's lines of a list."""
        return self.chance.choice(name, half(lines, self.part))

    def frame(self, name: str) -> str:
        """One of the part's frames of a name."""
        return self.line(name, frames()[name])

    def nth_wording(self, fault: str, kind: str, number: int) -> str:
        """The part's wordings of a fault in turn, so that a few texts do not say the same."""
        lines = half(wordings()[fault][kind], self.part)
        return lines[number % len(lines)]

    def wording(self, fault: str, kind: str) -> str:
        """One of the part's wordings of a fault."""
        return self.line(f"{fault} {kind}", wordings()[fault][kind])


def _lists(lists: Mapping[str, str]) -> Mapping[str, Lines]:
    return MappingProxyType({name: tuple(text.splitlines()) for name, text in lists.items()})


def _loaded(name: str) -> Any:
    text = files("sregym_env.rewards.labelled").joinpath("data", name).read_text("utf-8")
    # The C loader reads the same ten times as fast, where there is one.
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
