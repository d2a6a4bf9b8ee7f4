"""The nine questions, their weights, and how answers become a score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

from sregym_env.llm.model import Usage


@dataclass(frozen=True, slots=True)
class Question:
    """One yes/no question."""

    id: str
    text: str
    dimension: str
    weight: float
    """What a yes adds to the composite score."""
    required: bool = False
    """Whether a diagnosis that does not have it cannot pass."""


@dataclass(frozen=True, slots=True)
class Checklist:
    """All questions in order, and the score at which a diagnosis is right."""

    version: str
    threshold: float
    place: float
    """What a diagnosis that does not pass keeps of the first dimension, as a share."""
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question and what it rests on."""

    id: str
    yes: bool
    evidence: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"id": self.id, "answer": "yes" if self.yes else "no", "evidence": self.evidence}


@dataclass(frozen=True, slots=True)
class Grade:
    """A graded diagnosis: the nine answers, the composite score in [0, 1], and whether that passes."""

    answers: tuple[Answer, ...]
    score: float
    passed: bool
    model: str = ""
    """The model that was asked; empty where none was."""
    votes: int = 0
    """Of how many votes the answers are the majority; 0 where no model was asked."""
    usage: Usage | None = None
    """What asking took, nothing where the answers were known; None where no model was asked."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: what was answered and by whom, and not what that took, which differs the next time."""
        asked = {"model": self.model, "votes": self.votes} if self.model else {}
        return {
            "passed": self.passed,
            "score": self.score,
            **asked,
            "answers": [answer.to_dict() for answer in self.answers],
        }


@lru_cache(maxsize=1)
def checklist() -> Checklist:
    """The checklist that ships with the package."""
    document = yaml.safe_load(files("sregym_env.rewards").joinpath("checklist.yaml").read_text("utf-8"))
    questions = tuple(
        Question(
            question["id"],
            question["text"],
            dimension["id"],
            dimension["weight"] / len(dimension["questions"]),
            question.get("required", False),
        )
        for dimension in document["dimensions"]
        for question in dimension["questions"]
    )
    return Checklist(
        str(document["version"]), float(document["threshold"]), float(document["place"]), questions
    )


@lru_cache(maxsize=1)
def optional() -> frozenset[str]:
    """The questions that need not be answered yes."""
    return frozenset(question.id for question in checklist().questions if not question.required)


def grade(answers: Iterable[Answer], located: float = 1.0) -> Grade:
    """Weigh the answers. Raises KeyError unless there is exactly one for every question.

    ``located``: the share of the faults whose place is named, by which a diagnosis that does not pass is paid.
    """
    by_id = {answer.id: answer for answer in answers}
    listed = checklist()
    if len(by_id) != len(listed.questions):
        raise KeyError(f"{len(listed.questions)} answers wanted, {len(by_id)} given")
    ordered = tuple(by_id[question.id] for question in listed.questions)
    pairs = list(zip(listed.questions, ordered, strict=True))
    score = round(sum(question.weight for question, answer in pairs if answer.yes), 4)
    if score >= listed.threshold and all(answer.yes for question, answer in pairs if question.required):
        return Grade(ordered, score, True)
    first = listed.questions[0].dimension
    place = sum(question.weight for question, answer in pairs if answer.yes and question.dimension == first)
    return Grade(ordered, round(place * listed.place * located, 4), False)


def all_or_none(right: bool, evidence: str) -> Grade:
    """The grade where there is one thing to say: whether it is said, for all questions alike."""
    return grade(Answer(question.id, right, evidence) for question in checklist().questions)


def none(reason: str) -> Grade:
    """The grade of what says nothing: every answer is no, for one reason."""
    return all_or_none(False, reason)


def evidence(text: str) -> str:
    """As much of a text as is quoted as evidence."""
    return text if len(text) <= _EVIDENCE_CHARS else f"{text[: _EVIDENCE_CHARS - 3]}..."


_EVIDENCE_CHARS = 160
