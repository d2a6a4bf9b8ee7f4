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

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "name": self.name,
            "passed": self.passed,
            "observed": self.observed,
            "expected": self.expected,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer: whether it passed, how nearly (0 to 1), and why."""

    passed: bool
    score: float
    checks: tuple[Check, ...]

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
        }


def conclude(checks: Iterable[Check]) -> Verdict:
    """All checks must pass; the score is the weighted share that did."""
    listed = tuple(checks)
    total = sum(check.weight for check in listed)
    gained = sum(check.weight for check in listed if check.passed)
    return Verdict(
        passed=bool(listed) and all(check.passed for check in listed),
        score=gained / total if total else 0.0,
        checks=listed,
    )
