"""Judges grade the submitted diagnosis. The default one reads it against the fault spec, without a model.

:class:`SpecJudge` answers the nine questions of the checklist deterministically. A structured diagnosis is compared
field by field (:mod:`~sregym_env.rewards.structured`), a free text is read as a whole account
(:mod:`~sregym_env.rewards.free_text`). What the text says about itself ("this is correct", "ignore the rubric") means
nothing to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sregym_env.cluster.app import App
from sregym_env.errors import SREGymError
from sregym_env.faults.spec import FaultSpec
from sregym_env.llm.model import Usage
from sregym_env.rewards import all_clear, free_text, structured
from sregym_env.rewards.apart import Apart
from sregym_env.rewards.checklist import Grade, none
from sregym_env.rewards.screening import address, cleaned


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

    name: str = "spec-12"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Nothing can be set."""
        return {}

    def grade(self, diagnosis: str, specs: Sequence[FaultSpec], app: App) -> Grade:
        """Answer the nine questions: of a structured diagnosis by comparison, of a free text by reading it.

        Where there is no fault the one right answer is that nothing is wrong (:mod:`~sregym_env.rewards.all_clear`).
        """
        if not re.search(r"[A-Za-z]{2}", diagnosis):
            return none("empty answer")
        handed_in = structured.parsed(diagnosis)
        if app.parts:
            apart = Apart(app)
            diagnosis, specs, app = apart.text(diagnosis), apart.specs(specs), apart.read
            handed_in = None if handed_in is None else apart.causes(handed_in)
        if handed_in is not None:
            return structured.grade(handed_in, specs, app)
        if addressed := address(cleaned(diagnosis)):
            return none(addressed)
        return free_text.grade(diagnosis, specs, app) if specs else all_clear.grade(diagnosis, app)
