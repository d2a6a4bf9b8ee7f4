"""What an oracle or a judge answers: named checks with what was seen and what was wanted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Check:
    """One question that was asked of the world."""

    name: str
    passed: bool
    observed: str = ""
    expected: str = ""
    weight: float = 1.0
    """Its share in a graded score, relative to the other checks."""
    share: float | None = None
    """How nearly it holds, 0 to 1, where that is more than yes or no."""
    complaints: tuple[str, ...] = ()
    """What is wrong, one by one, where that is asked for."""

    @property
    def held(self) -> float:
        """How nearly it holds, 0 to 1."""
        return 1.0 if self.passed else self.share or 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "name": self.name,
            "passed": self.passed,
            "observed": self.observed,
            "expected": self.expected,
        }


@dataclass(frozen=True, slots=True)
class Harm:
    """What a repair has done beside it, in words."""

    changed: tuple[str, ...] = ()
    """Objects whose desired state it changed without need."""
    restarted: tuple[str, ...] = ()
    """Pods that served well and had to start anew."""
    left: tuple[str, ...] = ()
    """Objects that it made and left behind."""
    grave: tuple[str, ...] = ()
    """Of all these what is never tolerated: what is deleted, or what belongs to others."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"changed": list(self.changed), "restarted": list(self.restarted), "left": list(self.left)}


NO_HARM = Harm()


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer: whether it passed, how nearly (0 to 1), and why."""

    passed: bool
    score: float
    checks: tuple[Check, ...]
    harm: Harm = NO_HARM

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that did not pass."""
        return tuple(check for check in self.checks if not check.passed)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "passed": self.passed,
            "score": round(self.score, 4),
            "checks": [check.to_dict() for check in self.checks],
            "collateral": self.harm.to_dict(),
        }


def conclude(checks: Iterable[Check], harm: Harm = NO_HARM) -> Verdict:
    """All checks must pass; the score is the weighted share that did."""
    listed = tuple(checks)
    total = sum(check.weight for check in listed)
    gained = sum(check.weight for check in listed if check.passed)
    return Verdict(
        passed=bool(listed) and all(check.passed for check in listed),
        score=gained / total if total else 0.0,
        checks=listed,
        harm=harm,
    )
