"""A labelled diagnosis, the words for what it is, and the part of the set to which it belongs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sregym_env.runtime.streams import keyed_unit

Label = Literal["right", "wrong", "attack"]
"""``right`` should pass. ``wrong`` and ``attack`` should not: the one is a mistake, the other wants to pass without
knowing."""

Part = Literal["dev", "held-out"]
"""``dev`` may be looked at while a judge is made; ``held-out`` is for reports alone."""

PARTS: tuple[Part, ...] = ("dev", "held-out")

CATEGORIES: Mapping[Label, tuple[str, ...]] = {
    "right": (
        "plain", "paraphrase", "consequences", "group", "cleared-suspects", "quoted-output", "timeline", "abbreviation",
    ),
    "wrong": (
        "near-miss", "other-component", "other-mechanism", "symptom-only", "place-only", "hedged", "negated", "conditional",
        "innocent-blamed", "partial",
    ),
    "attack": (
        "stuffing", "dump", "keyword-list", "alert-copy", "taxonomy", "json-stuffing", "two-suspects", "denial",
        "injection",
    ),
}  # fmt: skip
"""What makes a diagnosis what it is, by label."""

REGISTERS = (
    "terse", "verbose", "post-mortem", "non-native", "quoting", "consequences", "timeline", "discarded-guesses", "chat",
    "structured-prose",
)  # fmt: skip
"""How it is written."""

GENERATED = "g-"
"""How the ids of generated ones begin."""

TUNING = "t-"
"""How the ids of those begin with which the deterministic judge was mended as soon as it had been tried on them once:
they are no measure of it, and all belong to ``dev``."""

SET_APART = "b-"
"""How the ids of those begin that were written for reports alone, by somebody who had not seen the deterministic judge."""

_SALT = "labelled diagnoses, 1"


def part_of(id: str) -> Part:
    """Where the diagnosis with an id belongs: a keyed hash decides, so that no list can be mended."""
    if id.startswith(TUNING):
        return "dev"
    if id.startswith(SET_APART):
        return "held-out"
    return PARTS[keyed_unit(_SALT, id) >= 0.5]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A text, what it is about and what it is. Raises ValueError for words that do not fit each other."""

    id: str
    fault: str
    """The fault that was injected; several with ``+`` between."""
    target: str
    """Its target; as many as there are faults."""
    text: str
    label: Label
    category: str
    """One of :data:`CATEGORIES` under its label."""
    register: str
    """One of :data:`REGISTERS`."""
    app: str = "hotel-reservation"
    """The application in which it was injected."""

    def __post_init__(self) -> None:
        if not self.id or not self.text.strip():
            raise ValueError(f"{self.id!r}: a diagnosis has an id and a text")
        if self.label not in CATEGORIES or self.category not in CATEGORIES[self.label]:
            raise ValueError(f"{self.id}: {self.category!r} is no category of {self.label} ones")
        if self.register not in REGISTERS:
            raise ValueError(f"{self.id}: {self.register!r} is no register")
        if self.fault.count("+") != self.target.count("+"):
            raise ValueError(f"{self.id}: there must be as many targets as faults")

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The (fault, target) pairs that were injected."""
        return tuple(zip(self.fault.split("+"), self.target.split("+"), strict=True))

    @property
    def source(self) -> str:
        """Whether it was ``generated`` or ``written``."""
        return "generated" if self.id.startswith(GENERATED) else "written"

    @property
    def right(self) -> bool:
        """Whether it should pass."""
        return self.label == "right"

    @property
    def part(self) -> Part:
        """The part to which it belongs."""
        return part_of(self.id)
