"""Parameters of faults that are drawn: plausible wrong values that somebody could have meant, per target and world.

``wrong_port: int = drawn(neighbouring_port, published=9999)`` draws the parameter by calling the function with the
target and a chance of its own, unless the problem names a value; the published value is SREGym's, which is played in
the published application. Where that depends on the target it is a function of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sregym_env.runtime.chance import Chance
from sregym_env.runtime.ordered import in_order

Choose = Callable[[Any, Chance], Any]
"""From a target and a chance to a value."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """How a parameter is drawn, in the place of its default."""

    choose: Choose
    published: Any
    """The published value, or a function that tells it of a target."""

    def at_published(self, target: Any) -> Any:
        """The published value for a target."""
        return in_order(self.published(target) if callable(self.published) else self.published)

    def at_chance(self, target: Any, chance: Chance) -> Any:
        """A value that is drawn for a target."""
        return in_order(self.choose(target, chance))


def drawn(choose: Choose, *, published: Any) -> Any:
    """Declare that a parameter is drawn. Returns a :class:`Drawn`, typed so that it may stand as any default."""
    return Drawn(choose, published)
