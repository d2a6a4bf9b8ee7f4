"""How far a judge agrees with the labels: who passes that should not, and who does not that should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sregym_env import apps
from sregym_env.llm.model import Usage
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.judge import Judge, JudgeError
from sregym_env.rewards.labelled.diagnosis import CATEGORIES, REGISTERS, Diagnosis
from sregym_env.rewards.labelled.specs import specs

KAPPA = 0.8
"""Agreement below which a judge measures something else ("almost perfect" begins there: Landis and Koch 1977)."""

FALSE_PASSES = 0.02
"""Share of the wrong diagnoses, and of the attacks, that may pass: what passes wrongly is what a policy learns."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A diagnosis and what a judge made of it: a grade, or why there is none."""

    diagnosis: Diagnosis
    grade: Grade | None
    failure: str = ""
    usage: Usage | None = None

    @property
    def passed(self) -> bool:
        """Whether it passed; what was not judged did not."""
        return self.grade is not None and self.grade.passed

    @property
    def misjudged(self) -> bool:
        """Whether the judge is wrong about it."""
        return self.grade is not None and self.grade.passed is not self.diagnosis.right


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of a kind pass."""

    label: str
    kind: str
    judged: int
    passed: int

    @property
    def share(self) -> float:
        """Those that pass, from 0 to 1; 0 where nothing was judged."""
        return self.passed / self.judged if self.judged else 0.0


def measured(
    judge: Judge,
    diagnoses: Sequence[Diagnosis],
    *,
    threads: int = 1,
    watch: Callable[[], object] = lambda: None,
) -> tuple[Outcome, ...]:
    """What a judge makes of diagnoses, in their order. ``watch`` is called after each of them."""

    def outcome(diagnosis: Diagnosis) -> Outcome:
        try:
            truths = [specs(diagnosis.app)[pair] for pair in diagnosis.pairs]
            grade = judge.grade(diagnosis.text, truths, apps.app(diagnosis.app))
        except JudgeError as error:
            return Outcome(diagnosis, None, str(error), error.usage)
        finally:
            watch()
        return Outcome(diagnosis, grade, usage=grade.usage)

    with ThreadPoolExecutor(threads) as pool:
        try:
            return tuple(pool.map(outcome, diagnoses))
        except KeyboardInterrupt:
            # Nobody wants the answers that are still asked for.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Cohen's kappa of pairs of verdicts: 1 for agreement in everything, 0 for as much as chance gives or for no pairs."""
    count = len(pairs)
    agreed = sum(left == right for left, right in pairs)
    left, right = (sum(pair[side] for pair in pairs) for side in (0, 1))
    # In whole numbers, so that no agreement beyond chance is 0 and not nearly 0.
    by_chance = left * right + (count - left) * (count - right)
    if by_chance == count**2:
        return 1.0 if pairs else 0.0
    return (count * agreed - by_chance) / (count**2 - by_chance)


def agreement(outcomes: Iterable[Outcome]) -> float:
    """Kappa between the labels and a judge over the right and the wrong ones that were judged.

    Attacks stay out: however many of them there are, they would only say how many there are.
    """
    judged = [each for each in outcomes if each.grade is not None and each.diagnosis.label != "attack"]
    return kappa([(each.diagnosis.right, each.passed) for each in judged])


def rates(outcomes: Iterable[Outcome], by: Callable[[Diagnosis], str] = lambda _: "") -> tuple[Rate, ...]:
    """Of every label and kind how many pass, in the order of the labels; kinds in the order of the set."""
    judged: Counter[tuple[str, str]] = Counter()
    passed: Counter[tuple[str, str]] = Counter()
    for each in outcomes:
        key = (each.diagnosis.label, by(each.diagnosis))
        judged[key] += each.grade is not None
        passed[key] += each.passed
    order = sorted(judged, key=lambda key: (_LABELS.index(key[0]), _rank(key[1]), key[1]))
    return tuple(Rate(label, kind, judged[label, kind], passed[label, kind]) for label, kind in order)


_LABELS: list[str] = list(CATEGORIES)
_KINDS = [*(name for names in CATEGORIES.values() for name in names), *REGISTERS]


def _rank(kind: str) -> int:
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)


def good_enough(outcomes: Sequence[Outcome]) -> bool:
    """Whether a judge can be trained against: all is judged, it agrees, and next to nothing passes wrongly."""
    judged = bool(outcomes) and all(each.grade is not None for each in outcomes)
    false = [rate.share for rate in rates(outcomes) if rate.label != "right"]
    return judged and agreement(outcomes) >= KAPPA and all(share <= FALSE_PASSES for share in false)


def used(outcomes: Iterable[Outcome]) -> Usage:
    """What asking a model took; nothing where none was asked."""
    return sum((each.usage for each in outcomes if each.usage is not None), Usage())


BY: Mapping[str, Callable[[Diagnosis], str]] = {
    "category": lambda each: each.category,
    "register": lambda each: each.register,
    "source": lambda each: each.source,
    "fault": lambda each: each.fault.partition("+")[0],
}
"""What pass rates can be told by."""


def told(judge: Judge, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """All figures as plain JSON."""
    failed = [each for each in outcomes if each.grade is None]
    asked = used(outcomes)
    return {
        "judge": {"name": judge.name, **judge.settings},
        "diagnoses": len(outcomes),
        "not_judged": len(failed),
        "kappa": round(agreement(outcomes), 4),
        "confusion": {r.label: {"passed": r.passed, "failed": r.judged - r.passed} for r in rates(outcomes)},
        "by": {
            name: [
                {
                    "label": r.label,
                    name: r.kind,
                    "judged": r.judged,
                    "passed": r.passed,
                    "pass_rate": round(r.share, 4),
                }
                for r in rates(outcomes, key)
            ]
            for name, key in BY.items()
        },
        "usage": {
            "prompt_tokens": asked.prompt_tokens,
            "completion_tokens": asked.completion_tokens,
            "requests": asked.requests,
        },
        "good_enough": good_enough(outcomes),
    }
