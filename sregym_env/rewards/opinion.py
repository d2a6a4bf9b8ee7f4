"""What is made of an account as a whole: what was read in it, and how it is worded, weighed together by weights that were fitted to
labelled texts (:mod:`~sregym_env.rewards.fitted`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sregym_env.rewards import checklist
from sregym_env.rewards.case import ANOTHER_CAUSE, Case
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.fitted.weights import Weights, weights
from sregym_env.rewards.fitted.wording import Told, Truth, told, topics


@dataclass(frozen=True)
class Opinion:
    """What the fitted part makes of an account of one fault, beside what was read in it."""

    case: Case
    grade: Grade
    """What the reading alone makes of it."""

    @cached_property
    def truth(self) -> Truth:
        """What names and values are to the fault."""
        case = self.case
        known = tuple(component.name for component in case.app.components)
        return Truth(case.specs[0], case.details[0], case.truth, case.bystanders, case.reached, known)

    @cached_property
    def findings(self) -> tuple[float, ...]:
        """What was read, as it is weighed (:data:`~sregym_env.rewards.fitted.weights.FINDINGS`)."""
        case = self.case
        detail = next(answer.yes for answer in self.grade.answers if answer.id == "D2-Q2")
        found = (
            self.grade.passed,
            all(case.located),
            case.understanding[0] is not None,
            any(case.readings[0]),
            bool(case.foreign),
            case.unlike(case.specs[0]),
            bool(case.contradiction(0)),
            ANOTHER_CAUSE in case.foreign,
            detail,
        )
        return tuple(float(each) for each in found)

    @cached_property
    def told(self) -> Told:
        """The wording of the account."""
        return told(self.case.statements, self.truth)

    @cached_property
    def topics(self) -> tuple[tuple[int, ...], ...]:
        """What each statement is about."""
        return topics(self.case.statements)

    @cached_property
    def scores(self) -> tuple[float, float, float]:
        """What the fitted part finds (:data:`~sregym_env.rewards.fitted.weights.SCORES`)."""
        return self.scored(weights())

    def scored(self, by: Weights) -> tuple[float, float, float]:
        """What some weights find."""
        together = sorted({feature for each in self.topics for feature in each})
        return by.scores(self.case.specs[0].mechanism, self.told, together)

    @property
    def odds(self) -> float:
        """How likely the account is right, as logarithm of the odds."""
        return weights().blended(self.findings, self.scores)

    @property
    def rejected(self) -> bool:
        """Whether an account is rejected for what no wording makes good: whom it blames or spares, or another kind of cause."""
        case = self.case
        return bool(case.innocents) or bool(case.foreign) or case.several or case.spared(case.specs[0])

    @property
    def affirms(self) -> bool:
        """Whether an account is right although it was not understood: about this mechanism before all others, and in its place."""
        return (
            not self.rejected
            and self.told.named
            and sum(len(each.text.split()) for each in self.case.statements) >= _ENOUGH
            and self.scores[2] > MORE_LIKELY
            and self.odds > weights().threshold
        )

    @cached_property
    def key_statement(self) -> str:
        """The statement that speaks most clearly of the fault's mechanism."""
        key = weights().mechanisms.index(self.case.specs[0].mechanism)
        asserted = [
            (float(weights().heard(topic)[key]), -number)
            for number, (each, topic) in enumerate(zip(self.case.statements, self.topics, strict=True))
            if each.asserts
        ]
        number = -max(asserted)[1] if asserted else 0
        return checklist.evidence(self.case.statements[number].text)


MORE_LIKELY = 0.7
"""By how much a mechanism is likelier than any other if it is what an account is about: twice as likely."""

_ENOUGH = 10
"""Words by which an account can be recognised as a whole: of a shorter one each word counts, and is read."""
