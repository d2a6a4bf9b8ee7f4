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


@dataclass(frozen=True, slots=True)
class Checklist:
    """All questions in order, and the score at which a diagnosis is right."""

    version: str
    threshold: float
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
        )
        for dimension in document["dimensions"]
        for question in dimension["questions"]
    )
    return Checklist(str(document["version"]), float(document["threshold"]), questions)


def grade(answers: Iterable[Answer]) -> Grade:
    """Weigh the answers. Raises KeyError unless there is exactly one for every question."""
    by_id = {answer.id: answer for answer in answers}
    listed = checklist()
    if len(by_id) != len(listed.questions):
        raise KeyError(f"{len(listed.questions)} answers wanted, {len(by_id)} given")
    ordered = tuple(by_id[question.id] for question in listed.questions)
    pairs = zip(listed.questions, ordered, strict=True)
    score = round(sum(question.weight for question, answer in pairs if answer.yes), 4)
    return Grade(ordered, score, score >= listed.threshold)
