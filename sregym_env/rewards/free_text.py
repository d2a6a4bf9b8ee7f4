"""Grading a free text: read as a whole account, and compared with the faults by precision as much as by recall.

What is claimed is taken from the text before the truth is looked at: every asserted statement of a mechanism, wherever it
stands, is a claim about somebody. Claims that are a fault's own say that it is understood; all others count against.

Beside this reading stands a fitted one (:mod:`~sregym_env.rewards.fitted`), which has learnt of labelled texts how right
accounts sound. It may affirm an account whose words nobody listed, say that another cause was misheard, and deny an account
that as a whole tells of something else. What is rejected for its form, or for whom it blames, stays rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sregym_env.cluster.app import App
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards import checklist
from sregym_env.rewards.case import Case
from sregym_env.rewards.checklist import Answer, Grade
from sregym_env.rewards.fitted.weights import weights
from sregym_env.rewards.names import Names, names_of
from sregym_env.rewards.opinion import Opinion
from sregym_env.rewards.reading.account import Statement, read
from sregym_env.rewards.reading.blame import everyone, groups

_EVERYTHING = re.compile(
    r"\b(?:entire|whole) (?:cluster|application|system)|\bcluster-wide\b|\b(?:all|every)(?: the| of the)? "
    r"(?:services?|components?|deployments?|workloads?)\b|\beverything\b(?! (?:else )?(?:on|at|created|made|started|scheduled|there|since|that)\b| in (?:that|this|its) )"
    # What is said of those who need something is no more than that.
    r"(?! (?:(?:that|which) (?:\w+ly )?(?:needs|uses|depends|relies|calls|asks|reads|talks|connects|is behind)|"
    r"needing|using|depending|relying|calling|asking|reading|talking|connecting|behind|downstream|upstream)\b)"
)


def grade(diagnosis: str, specs: Sequence[FaultSpec], app: App) -> Grade:
    """The nine answers to a text."""
    names = names_of(app)
    return _graded(Case(_read(diagnosis, names), tuple(specs), names, app))


def opinion(diagnosis: str, spec: FaultSpec, app: App) -> Opinion:
    """What the fitted part makes of a text beside one fault."""
    names = names_of(app)
    case = Case(_read(diagnosis, names), (spec,), names, app)
    return Opinion(case, checklist.grade(_answers(case), case.located_share))


def formless(case: Case) -> str:
    """Why a text is no account at all; empty where it is one."""
    if case.guessing:
        return "a list of guesses"
    return "copied output without a word of its own" if case.copied else ""


def _graded(case: Case) -> Grade:
    if why := formless(case):
        return checklist.none(why)
    heard = tuple(_answers(case))
    verdict = checklist.grade(heard, case.located_share)
    if len(case.specs) != 1 or case.specs[0].mechanism not in weights().mechanisms:
        # Of several faults at once, and of a new mechanism, too little has been told to learn from.
        return verdict
    fitted = Opinion(case, verdict)
    if fitted.passes:
        return verdict if verdict.passed else checklist.grade(_affirmed(heard, fitted))
    if fitted.read:
        return checklist.grade(_denied(heard), case.located_share)
    return verdict


@lru_cache(maxsize=128)
def _read(diagnosis: str, names: Names) -> tuple[Statement, ...]:
    """The statements of a text: the same objects for the same text, whatever it is compared with."""
    return tuple(read(diagnosis, names))


def _affirmed(heard: Sequence[Answer], opinion: Opinion) -> Iterator[Answer]:
    """The answers to an account that was recognised by its wording as a whole."""
    spec, details = opinion.case.specs[0], opinion.case.details[0]
    text = " . ".join(each.text for each in opinion.case.statements)
    detail = details.given(text) or _kind_told(spec, text)
    for answer in heard:
        if answer.id == "D2-Q2":
            yield Answer(answer.id, bool(detail), detail or "no concrete detail")
        elif answer.id == "D3-Q3" and opinion.findings[1]:
            yield answer
        else:
            yield Answer(answer.id, True, opinion.key_statement)


def _denied(heard: Sequence[Answer]) -> Iterator[Answer]:
    """The answers to an account in which all was read that is asked for, and which as a whole tells of something else."""
    for answer in heard:
        denied = answer.id == "D2-Q3"
        yield Answer(answer.id, False, "as a whole it tells of something else") if denied else answer


def _answers(case: Case) -> Iterator[Answer]:
    located, wrong = any(case.located), case.innocents
    quote = _quote(case)
    blamed_words = f"also blames {', '.join(wrong)}" if wrong else "the place is not named as a cause"
    yield Answer("D1-Q1", located, quote if located else blamed_words)
    origin = located and not (wrong and case.accused and case.accused[0] in wrong)
    yield Answer("D1-Q2", origin, quote if origin else blamed_words)
    yield Answer("D1-Q3", located and not wrong, quote if located and not wrong else blamed_words)
    missing = [
        spec.resource_name
        for spec, claim in zip(case.specs, case.understanding, strict=True)
        if claim is None
    ]
    untrue = [found for number in range(len(case.specs)) if (found := case.contradiction(number))]
    understood = not missing
    why = (
        f"gives {untrue[0]}"
        if untrue
        else f"the mechanism is not stated for {len(missing)} of {len(case.specs)} faults"
    )
    yield Answer("D2-Q1", understood, _said(case) if understood else why)
    detail = _detail(case)
    yield Answer("D2-Q2", bool(detail), detail or "no concrete detail")
    others = case.foreign
    free = understood and not others
    yield Answer(
        "D2-Q3", free, _said(case) if free else f"also claims {', '.join(others)}" if others else why
    )
    yield Answer("D3-Q1", located and not wrong, quote if located and not wrong else blamed_words)
    missed = [
        name
        for spec, found in zip(case.specs, case.located, strict=True)
        if not found
        for name in spec.components
    ]
    yield Answer("D3-Q2", not missed, f"misses {', '.join(missed)}" if missed else quote)
    yield _extent(case)


def _said(case: Case) -> str:
    claim = next(claim for claim in case.understanding if claim is not None)
    return checklist.evidence(case.statements[claim.statement].text)


def _detail(case: Case) -> str:
    """The detail that is given of a fault that is understood, for all of them; empty where one lacks it."""
    text = " . ".join(each.text for each in case.statements)
    found = [
        details.given(text) or _kind_told(spec, text)
        for spec, details, claim in zip(case.specs, case.details, case.understanding, strict=True)
        if claim is not None
    ]
    return ", ".join(dict.fromkeys(found)) if found and all(found) else ""


def _kind_told(spec: FaultSpec, text: str) -> str:
    # Of what is gone, or too much, the kind says enough.
    absent = not spec.wrong or not spec.right
    kind = re.escape(spec.resource_kind.lower())
    return spec.resource_kind if absent and re.search(rf"(?<!\w){kind}s?(?!\w)", text) else ""


def _extent(case: Case) -> Answer:
    if not any(case.located):
        return Answer("D3-Q3", False, "the place is not named as a cause")
    said = " . ".join(
        each.masked for each in case.statements if each.label not in ("cleared", "remedy", "quoted")
    )
    sweeping = _EVERYTHING.search(said)
    # Where half of the application does suffer, "all services" is fair.
    if sweeping is not None and len(case.reached) * 2 < len(case.app.components) and len(case.truth) == 1:
        return Answer("D3-Q3", False, f"claims {sweeping.group()}")
    effects = [name for each in case.statements for name in _victims(each)]
    strangers = list(dict.fromkeys(name for name in effects if name not in case.suffering))
    if len(strangers) > len({name for name in effects if name in case.suffering}):
        return Answer("D3-Q3", False, f"says that {', '.join(strangers)} suffer")
    return Answer("D3-Q3", True, _quote(case))


def _victims(each: Statement) -> list[str]:
    if each.label == "effect":
        return everyone(groups(each))
    return [
        name
        for clause in each.clauses
        if clause.role == "effect" and clause.asserted
        for name in everyone(groups(each, clause))
    ]


def _quote(case: Case) -> str:
    for number, spec in enumerate(case.specs):
        claim = case.understanding[number]
        if claim is not None:
            return checklist.evidence(case.statements[claim.statement].text)
        for each in case.statements:
            if set(spec.components) & {name for m in each.mentions for name in m.components}:
                return checklist.evidence(each.text)
    return checklist.evidence(case.statements[0].text) if case.statements else ""
