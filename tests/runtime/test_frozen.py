"""Changing frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from sregym_env.runtime.frozen import evolve


@dataclass(frozen=True, slots=True)
class Thing:
    name: str
    size: int = 1
    parts: tuple[str, ...] = field(default_factory=tuple)


@pytest.mark.parametrize("changes", [{}, {"size": 2}, {"name": "b", "parts": ("x",)}])
def test_evolve_makes_what_replace_makes(changes: dict[str, object]) -> None:
    thing = Thing("a", 3, ("p",))
    made = evolve(thing, **changes)
    assert made == replace(thing, **changes)  # type: ignore[arg-type]
    assert made is not thing
    assert thing == Thing("a", 3, ("p",))


def test_evolve_knows_no_other_fields() -> None:
    with pytest.raises(AttributeError):
        evolve(Thing("a"), weight=3)
