"""Judges grade the submitted diagnosis. The default one reads it against the fault spec, without a model.

:class:`SpecJudge` answers the nine questions of the checklist deterministically: it knows the application's
components, the ontology of mechanisms and the fault spec, and quotes what each answer rests on. What the
text says about itself ("this is correct", "ignore the rubric") means nothing to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

from sregym_env.cluster.app import App
from sregym_env.errors import SREGymError
from sregym_env.faults.mechanisms import MECHANISMS, Mechanism
from sregym_env.faults.spec import FaultSpec
from sregym_env.llm.model import Usage
from sregym_env.rewards.checklist import Answer, Grade, checklist, grade
from sregym_env.rewards.names import Names, names_of, unique
from sregym_env.rewards.reading import Clause, Reading, read

_EVIDENCE_CHARS = 160

_EVERYTHING = re.compile(
    r"\b(?:entire|whole) (?:cluster|application|system)|\bcluster-wide\b|\b(?:all|every)(?: the| of the)? "
    r"(?:services?|pods?|components?|deployments?|workloads?)\b"
)


_NODES = re.compile(r"\bnodes\b|\b(?:every|each|any) (?:worker )?node\b")
"""The nodes in general: the place of a cause that lies in all of them."""


class JudgeError(SREGymError):
    """The judge could not do its work; the episode has no reward."""

    def __init__(self, text: str, *, usage: Usage | None = None) -> None:
        super().__init__(text)
        self.usage = usage
        """What its model used all the same; None where none was asked."""


class Judge(Protocol):
    """Grades a diagnosis. Raises :class:`JudgeError` when it cannot, which is never a zero."""

    @property
    def name(self) -> str:
        """What to record about who judged."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """What else makes it what it is, as JSON: model, votes, prompt; never a key."""
        ...

    def grade(self, diagnosis: str, specs: Sequence[FaultSpec], app: App) -> Grade:
        """Grade ``diagnosis`` against the faults that were injected into ``app``."""
        ...


@dataclass(frozen=True, slots=True)
class SpecJudge:
    """The deterministic judge."""

    name: str = "spec-1"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Nothing can be set."""
        return {}

    def grade(self, diagnosis: str, specs: Sequence[FaultSpec], app: App) -> Grade:
        """Answer the nine questions by reading the text against the fault specs."""
        if not re.search(r"[A-Za-z]{2}", diagnosis):
            return grade(Answer(question.id, False, "empty answer") for question in checklist().questions)
        names = names_of(app)
        return grade(_answers(_Case(read(diagnosis, names), tuple(specs), names, app)))


@dataclass(frozen=True)
class _Case:
    """A diagnosis beside the truth, with what the questions have in common."""

    reading: Reading
    specs: tuple[FaultSpec, ...]
    names: Names
    app: App

    @cached_property
    def truth(self) -> frozenset[str]:
        """Components at fault."""
        return frozenset(name for spec in self.specs for name in spec.components)

    @cached_property
    def tolerated(self) -> frozenset[str]:
        """Components that a right account of the cause may well mention: victims, callers, the prose's own."""
        told = " ".join(f"{spec.cause} {spec.wrong} {spec.right} {spec.resource_name}" for spec in self.specs)
        mentioned = self.names.components(self.names.normalise(told))
        affected = [name for spec in self.specs for name in spec.affected]
        callers = [c.name for c in self.app.components if any(d.on in self.truth for d in c.dependencies)]
        needs = [d.on for c in self.app.components if c.name in self.truth for d in c.dependencies]
        return frozenset([*mentioned, *affected, *callers, *needs]) - self.truth

    @cached_property
    def touched_by_calls(self) -> frozenset[str]:
        """Components that need a faulty one, however indirectly."""
        reached = set(self.truth)
        grew = True
        while grew:
            callers = {
                c.name
                for c in self.app.components
                if c.name not in reached and any(d.on in reached for d in c.dependencies)
            }
            reached |= callers
            grew = bool(callers)
        return frozenset(reached)

    @cached_property
    def claims(self) -> tuple[Clause, ...]:
        return self.reading.claims

    def at_fault_in(self, clause: Clause) -> list[str]:
        """Faulty components that a clause names, directly or by an alias of the fault's place."""
        named = [name for name in clause.components if name in self.truth]
        for spec in self.specs:
            # An alias that is itself a component's name was read as that component, and may be a healthy one.
            if any(_says(alias, clause.text) for alias in spec.aliases if not self.names.find(alias.lower())):
                named.extend(spec.components)
            elif spec.resource_kind == "Node" and _NODES.search(clause.text):
                if any(_states(mechanism, clause.text) for mechanism in self.mechanisms):
                    named.extend(spec.components)
        return unique(named)

    @cached_property
    def found(self) -> frozenset[str]:
        """Faulty components that the claims name."""
        return frozenset(name for clause in self.claims for name in self.at_fault_in(clause))

    @cached_property
    def blamed(self) -> list[str]:
        """Everything the claims name, in reading order."""
        return unique(name for clause in self.claims for name in clause.components)

    @cached_property
    def wrongly_blamed(self) -> list[str]:
        """Components blamed although they are healthy; victims named beside the culprit are not blamed."""
        wrong: list[str] = []
        for clause in self.claims:
            right = self.at_fault_in(clause)
            equals = _listed_together(clause, self.truth)
            for name in clause.components:
                if name in self.truth or (right and name in self.tolerated and name not in equals):
                    continue
                if not right and name in self.tolerated and self.found:
                    continue
                wrong.append(name)
        return unique(wrong)

    @cached_property
    def scattered(self) -> bool:
        """Whether so many are blamed that nobody is: a list of suspects locates nothing."""
        if len(self.wrongly_blamed) > max(_SUSPECTS, 2 * len(self.truth)):
            return True
        # Not only claims: suspects who are listed beside one claim are guesses as well.
        named = unique(name for clause in self.asserted for name in clause.components)
        if self.guessed and not self.truth.intersection(named):
            return True
        return len(named) > max(_SUSPECTS + len(self.truth | self.tolerated), len(self.app.components) // 2)

    @cached_property
    def guessed(self) -> bool:
        """Whether so many kinds of cause are claimed that none is."""
        return len(self.other_mechanisms) > _SUSPECTS or len(self._unrelated(self.asserted)) > 2 * _SUSPECTS

    @cached_property
    def asserted(self) -> tuple[Clause, ...]:
        """Everything stated that is neither an effect nor cleared."""
        return tuple(clause for clause in self.reading.clauses if clause.role in ("cause", "plain"))

    @cached_property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        return tuple(MECHANISMS[spec.mechanism] for spec in self.specs)

    @cached_property
    def explained(self) -> str:
        """The first clause that states the mechanism; empty if none does."""
        for clause in self.reading.clauses:
            if clause.role in ("cause", "plain") and any(_states(m, clause.text) for m in self.mechanisms):
                return clause.text
        if self.found and (told := self._told_in_other_words()):
            return told
        # Some mechanisms read like effects ("... causing an OOM kill"); they count once the place is right.
        for clause in self.reading.clauses:
            if (
                clause.role == "effect"
                and self.found
                and any(_states(m, clause.text) for m in self.mechanisms)
            ):
                return clause.text
        return ""

    def _told_in_other_words(self) -> str:
        """All statements, where they share most of the content words of a fault's own account."""
        said = _content_words(self.reading.statements)
        for spec in self.specs:
            own = _content_words(self.names.normalise(spec.cause)) - set(spec.components)
            if len(own & said) >= _RETOLD_SHARE * len(own) > 1:
                return self.reading.statements
            kin = (MECHANISMS[key] for key in MECHANISMS[spec.mechanism].kin)
            if _names_detail(spec, self.reading.text, self.names) and any(
                _states(mechanism, self.reading.statements) for mechanism in kin
            ):
                return self.reading.statements
        return ""

    @cached_property
    def other_mechanisms(self) -> list[str]:
        """Mechanisms that are claimed and have nothing to do with the true ones."""
        return self._unrelated(clause for clause in self.claims if clause.role != "effect")

    def _unrelated(self, clauses: Iterable[Clause]) -> list[str]:
        """Mechanisms that clauses state and that are not akin to the true ones."""
        prose = " ".join(
            f"{s.cause} {s.field} {s.wrong} {s.right} {s.resource_kind} {s.resource_name}" for s in self.specs
        ).lower()
        right = {m.key for m in self.mechanisms} | {kin for m in self.mechanisms for kin in m.kin}
        beside: list[str] = []
        alone: list[str] = []
        for clause in clauses:
            at_home = any(_states(m, clause.text) for m in self.mechanisms)
            for key, mechanism in MECHANISMS.items():
                related = key in right or bool(right.intersection(mechanism.kin)) or _states(mechanism, prose)
                if not related and _states(mechanism, clause.text):
                    (beside if at_home else alone).append(key)
        return unique(alone) + (unique(beside) if len(set(beside)) > _INCIDENTAL else [])


_SUSPECTS = 2
"""Wrong components, or wrong kinds of cause, beyond which a diagnosis is a list of guesses."""

_RETOLD_SHARE = 0.6
"""Share of the content words of the true account that makes a text a retelling of it."""

_INCIDENTAL = 2
"""Phrases of other mechanisms that one clause may contain by chance."""


def _states(mechanism: Mechanism, text: str) -> bool:
    return any(pattern.search(text) for pattern in _compiled(mechanism.phrases))


@lru_cache(maxsize=256)
def _compiled(phrases: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(phrase) for phrase in phrases)


def _content_words(text: str) -> set[str]:
    """Words that carry meaning, cut to a stem-like prefix."""
    return {word[:6] for word in re.findall(r"[a-z0-9][a-z0-9._-]*[a-z0-9]", text) if len(word) > 3}


def _says(value: str, text: str) -> bool:
    """Whether a text contains a name or value as a word of its own."""
    word = value.strip().lower()
    # A dot may follow, as at the end of a sentence; before the word it is part of a longer name.
    return len(word) > 1 and re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", text) is not None


def _listed_together(clause: Clause, truth: frozenset[str]) -> set[str]:
    """Components that stand in a bare list with a faulty one, and so are blamed alike."""
    alike: set[str] = set()
    run: list[str] = []
    previous_end = None
    for mention in clause.mentions:
        between = "" if previous_end is None else clause.text[previous_end : mention.start]
        joined = previous_end is not None and _LIST_GLUE.fullmatch(between) is not None
        run = [*run, mention.component] if joined else [mention.component]
        if truth.intersection(run):
            alike.update(run)
        previous_end = mention.end
    return alike - truth


_LIST_GLUE = re.compile(r"(?:[\s,/&+\"']|and|or|the|services?|deployments?|pods?|as well as|also)*")


# --- the nine questions ---------------------------------------------------------------------------


def _answers(case: _Case) -> Iterator[Answer]:
    """All nine. Who blames everybody has located nothing; who names every kind of cause has explained nothing."""
    for answer in _plain_answers(case):
        guess = case.guessed if answer.id.startswith("D2") else case.scattered
        if answer.yes and guess:
            yield Answer(answer.id, False, "a list of guesses")
        else:
            yield answer


def _plain_answers(case: _Case) -> Iterator[Answer]:
    found, wrong = sorted(case.found), case.wrongly_blamed
    blamed = ", ".join(case.blamed) or "nobody"
    quote = _quote(case)
    yield Answer("D1-Q1", bool(found), quote if found else f"blames {blamed}")
    yield Answer("D1-Q2", _puts_origin_right(case), quote if found else f"blames {blamed}")
    yield Answer(
        "D1-Q3", bool(case.found) and not wrong, f"also blames {', '.join(wrong)}" if wrong else quote
    )
    explained = case.explained
    yield Answer("D2-Q1", bool(explained), _cut(explained) if explained else "the mechanism is not stated")
    detail = _detail(case)
    yield Answer("D2-Q2", bool(detail), detail or "no concrete detail")
    others = case.other_mechanisms
    yield Answer(
        "D2-Q3",
        bool(explained) and not others,
        f"also claims {', '.join(others)}" if others else _cut(explained) or "no cause is stated",
    )
    yield Answer("D3-Q1", bool(found) and not wrong, f"blames {blamed}" if wrong or not found else quote)
    missed = sorted(case.truth - case.found)
    yield Answer("D3-Q2", not missed, f"misses {', '.join(missed)}" if missed else quote)
    yield _extent(case)


def _puts_origin_right(case: _Case) -> bool:
    """The first component blamed is at fault, or stands in one clause with the one that is."""
    if not case.found:
        return False
    for clause in case.claims:
        if case.at_fault_in(clause):
            first = clause.components[:1]
            return len(case.wrongly_blamed) <= 1 or bool(first and first[0] in case.truth)
        if any(name not in case.tolerated for name in clause.components):
            return False
    return False


def _detail(case: _Case) -> str:
    """The mutated field, value or object that the text names; empty if none."""
    # A right value beside a wrong place and a wrong cause was met by chance.
    if not case.found and not case.explained:
        return ""
    text = case.reading.text
    for spec in case.specs:
        if word := _names_detail(spec, text, case.names):
            return word
        absent_or_added = not spec.wrong or not spec.right
        if case.explained and absent_or_added and _says(spec.resource_kind, text):
            return spec.resource_kind
    return ""


def _names_detail(spec: FaultSpec, text: str, names: Names) -> str:
    for word in _detail_words(spec, names):
        if _says(word, text) or _says(_humanised(word), text):
            return word
    return ""


def _detail_words(spec: FaultSpec, names: Names) -> Iterator[str]:
    field = re.split(r"[./\[\]]+", spec.field.strip("./[]")) if spec.field else []
    last = next((part for part in reversed(field) if part and not part.isdigit()), "")
    values = (last, spec.field, spec.wrong, spec.right)
    yield from (value for value in values if len(value) > 1 or value.isdigit())
    for value in (spec.wrong, spec.right):
        words = [word for word in re.split(r"[\s,;:=\[\]{}\"']+", value) if len(word) > 3]
        yield from (word for word in words if not names.find(word.lower()))
    if not names.find(spec.resource_name.lower()):
        yield spec.resource_name


def _humanised(word: str) -> str:
    """``targetPort`` as ``target port``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", word).lower()


def _extent(case: _Case) -> Answer:
    if not case.found:
        return Answer("D3-Q3", False, "the component at fault is not named")
    touched = case.truth | case.tolerated
    sweeping = _EVERYTHING.search(case.reading.statements)
    # Where half of the application does suffer, "all services" is fair.
    if sweeping is not None and len(touched) * 2 < len(case.app.components) and len(case.truth) == 1:
        return Answer("D3-Q3", False, f"claims {sweeping.group()}")
    reachable = case.touched_by_calls
    strangers = [name for name in case.reading.effects if name not in touched and name not in reachable]
    if len(strangers) > len(touched.intersection(case.reading.effects)):
        return Answer("D3-Q3", False, f"says that {', '.join(strangers)} suffer")
    return Answer("D3-Q3", True, _quote(case))


def _quote(case: _Case) -> str:
    for clause in case.claims:
        if case.at_fault_in(clause):
            return _cut(clause.text)
    return _cut(case.claims[0].text) if case.claims else ""


def _cut(text: str) -> str:
    return text if len(text) <= _EVIDENCE_CHARS else f"{text[: _EVIDENCE_CHARS - 3]}..."
