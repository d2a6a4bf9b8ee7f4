"""What is made of an account as a whole: what was read in it, and how it is worded, weighed together by weights that were fitted to
labelled texts (:mod:`~sregym_env.rewards.fitted`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log

import numpy as np

from sregym_env.rewards import checklist
from sregym_env.rewards.case import ANOTHER_CAUSE, Case
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.fitted.weights import Floats, Weights, weights
from sregym_env.rewards.fitted.wording import Told, Truth, told, topics


@dataclass(frozen=True)
class Opinion:
    """What is made of an account of one fault by its wording, beside what was read in it."""

    case: Case
    grade: Grade
    """What the reading alone makes of it."""
    by: Weights = field(default_factory=weights)

    # --- what was heard --------------------------------------------------------------------------

    @cached_property
    def truth(self) -> Truth:
        """What names and values are to the fault."""
        case = self.case
        known = tuple(component.name for component in case.app.components)
        return Truth(case.specs[0], case.details[0], case.truth, case.bystanders, case.reached, known)

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
        return self.by.scores(self.case.specs[0].mechanism, self.told, self._together)

    @cached_property
    def _together(self) -> list[int]:
        return sorted({feature for each in self.topics for feature in each})

    @cached_property
    def _heard(self) -> tuple[Floats, ...]:
        """How likely each statement is about each mechanism, as logarithms beside the fault's own."""
        own = self.by.mechanisms.index(self.case.specs[0].mechanism)
        heard = [self.by.heard(topic) for topic in self.topics]
        return tuple(each - each[own] for each in heard)

    @cached_property
    def _at_large(self) -> Floats:
        heard = self.by.heard(self._together)
        return np.asarray(heard - heard[self.by.mechanisms.index(self.case.specs[0].mechanism)])

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Other kinds of cause that the account claims, without those that were misheard in it."""
        return tuple(key for key in self.case.foreign if not self._misheard(key))

    def _misheard(self, key: str) -> bool:
        """Whether words that stand for another mechanism belong to the fault's own account: by all of its wording it is about the
        fault's, and no statement in which they stand is rather about the other one."""
        if self.words < SHORT:
            return False
        if key == ANOTHER_CAUSE:
            return self.scores[2] > _SURELY
        if key not in self.by.mechanisms:
            return False
        number = self.by.mechanisms.index(key)
        claims = [claim for claim in self.case.claims if claim.key == key]
        return self._at_large[number] < -_AT_LARGE and all(
            self._heard[claim.statement][number] < _IN_PASSING and not self.case.alternative(claim)
            for claim in claims
        )

    @cached_property
    def torn(self) -> bool:
        """Whether some statement is about another mechanism beyond doubt: two accounts in one."""
        rest = self.by.excluding(self.case.specs[0].mechanism)
        return any(
            float(heard[rest].max()) > _BEYOND_DOUBT
            for each, heard in zip(self.case.statements, self._heard, strict=True)
            if not _SYMPTOM.search(each.text)
        )

    def weighed(self, by: Weights) -> Opinion:
        """The same account by other weights; what they have no part in is not looked for again."""
        other = replace(self, by=by)
        other.__dict__.update({"told": self.told, "topics": self.topics})
        return other

    # --- what is made of it ----------------------------------------------------------------------

    @cached_property
    def words(self) -> int:
        """How long the account is."""
        return sum(len(each.text.split()) for each in self.case.statements)

    @cached_property
    def read(self) -> bool:
        """Whether the account passes by what was read in it, without what was misheard."""
        if self.grade.passed:
            return True
        failed = {answer.id for answer in self.grade.answers if not answer.yes} - checklist.optional()
        heard = self.case.understanding[0] is not None and not self.foreign
        return heard and failed == {"D2-Q3"}

    @cached_property
    def findings(self) -> tuple[float, ...]:
        """What was read, as it is weighed (:data:`~sregym_env.rewards.fitted.weights.FINDINGS`)."""
        case = self.case
        detail = next(answer.yes for answer in self.grade.answers if answer.id == "D2-Q2")
        found = (
            self.read,
            all(case.located),
            case.understanding[0] is not None,
            any(case.readings[0]),
            bool(self.foreign),
            case.unlike(case.specs[0]),
            bool(case.contradiction(0)),
            ANOTHER_CAUSE in self.foreign,
            detail,
            log(max(_ENOUGH, self.words)),
        )
        return tuple(float(each) for each in found)

    @property
    def odds(self) -> float:
        """How likely the account is right, as logarithm of the odds."""
        return self.by.blended(self.findings, self.scores)

    @property
    def rejected(self) -> bool:
        """Whether an account is rejected for what no wording makes good: whom it blames or spares, or another kind of cause."""
        case = self.case
        return bool(case.innocents) or bool(self.foreign) or case.several or case.spared(case.specs[0])

    @property
    def affirms(self) -> bool:
        """Whether an account is right although it was not understood: about this mechanism before all others, and in its place."""
        return (
            not self.rejected
            and self.told.named
            and self.words >= _ENOUGH
            and self.scores[2] > MORE_LIKELY
            and self.odds > (LIKELY if self.words >= SHORT and all(self.case.located) else self.by.threshold)
        )

    @property
    def passes(self) -> bool:
        """Whether an account is right, by all that was found in it."""
        if self.torn:
            return False
        return self.odds > UNLIKELY or self.words < SHORT if self.read else self.affirms

    @cached_property
    def key_statement(self) -> str:
        """The statement that speaks most clearly of the fault's mechanism."""
        key = self.by.mechanisms.index(self.case.specs[0].mechanism)
        asserted = [
            (float(self.by.heard(topic)[key]), -number)
            for number, (each, topic) in enumerate(zip(self.case.statements, self.topics, strict=True))
            if each.asserts
        ]
        number = -max(asserted)[1] if asserted else 0
        return checklist.evidence(self.case.statements[number].text)


MORE_LIKELY = 1.0
"""By how much a mechanism is likelier than any other if it is what an account is about: nearly three times as likely."""

LIKELY = 0.5
"""Logarithm of the odds above which an account of some length is affirmed that accuses whoever is at fault. One that only names it must be likelier
(:attr:`~sregym_env.rewards.fitted.weights.Weights.threshold`): a description of the application names everybody."""

UNLIKELY = -0.25
"""Logarithm of the odds below which an account is denied in which all that is asked for was read."""

SHORT = 45
"""Words below which an account is right by a word or two, and these are read: it is not denied by its wording, nothing in it counts
as misheard, and to be affirmed it must be as likely as one that accuses nobody."""

_ENOUGH = 10
"""Words by which an account can be recognised as a whole: of a shorter one each word counts, and is read."""

_AT_LARGE, _IN_PASSING, _SURELY = 1.5, 1.0, 2.0
"""By how much the fault's own mechanism must be likelier in the whole account than another one that was heard in it, by how much that
one may be likelier in the sentence in which it was heard, and by how much the own one must be likelier than all others where
what was heard is no mechanism."""

_SYMPTOM = re.compile(
    r"^(?:\S+ ){1,7}?(?:fails?|failed|failing|errors?|tim(?:e|es|ed|ing) out|refused|unavailable|unreachable)(?: with (?:\S+ ){0,3}\S+)?\W*$"
    r"|^(?:that|this|those|these) (?:\S+ ){1,4}\S+$|^df (?:\S+ )+used\W*$"
)
"""A few words on how requests fare, on what was just named, or on how full a disk is, which are about no mechanism, whatever they are mostly heard with."""

_BEYOND_DOUBT = 4.5
"""By how much another mechanism is likelier in a sentence that is about that one and not about the fault's own."""
