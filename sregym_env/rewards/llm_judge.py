"""A judge that asks a language model the nine questions, and takes nothing on trust.

What says nothing or talks to the grader is refused without a call (:mod:`~sregym_env.rewards.screening`). The model is
given the truth, and the diagnosis as data (:mod:`~sregym_env.rewards.asking`); its answers must be complete, and every
yes must quote the diagnosis (:mod:`~sregym_env.rewards.answers`). A model that cannot be asked or does not answer is
a :class:`~sregym_env.rewards.judge.JudgeError` and never a no.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from sregym_env.cluster.app import App
from sregym_env.errors import UsageError
from sregym_env.faults.spec import FaultSpec
from sregym_env.llm.messages import Message
from sregym_env.llm.model import Model, ModelError, Reply, Request, Sampling, Usage
from sregym_env.rewards.answers import EVIDENCE_CHARS, NoAnswer, answers, schema, unsupported
from sregym_env.rewards.asking import again, case, prompt_sha, shown, truth
from sregym_env.rewards.cache import Cache
from sregym_env.rewards.checklist import Answer, Grade, checklist, grade
from sregym_env.rewards.judge import JudgeError
from sregym_env.rewards.screening import cleaned, objection

MAX_VOTES = 9
"""More votes change no majority that means anything."""

_CUT_SHORT = ("length", "content_filter", "refusal", "context_length")
"""Reasons to stop after which a model has not answered, whatever it said until then."""

_REPEATED_CHARS = 4_000
"""What a model is shown again of an answer that was none."""


@dataclass(frozen=True, slots=True)
class LLMJudge:
    """A language model as a judge. Threads may share one; it pickles where its model does.

    Raises UsageError where votes or attempts make no sense.
    """

    model: Model
    votes: int = 1
    """How often the model is asked, an odd number; every question is decided by its own majority."""
    attempts: int = 3
    """How often a vote may be asked for, until it is one."""
    sampling: Sampling = field(default_factory=Sampling)
    """How the model draws its words; with a seed, the n-th vote draws with the n-th seed from there."""
    cache: Cache | None = None
    """Where grades are kept."""
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    """What else to record about who answers, such as the wire format and the address; never a key."""

    def __post_init__(self) -> None:
        if self.votes not in range(1, MAX_VOTES + 1, 2):
            raise UsageError(f"votes must be an odd number up to {MAX_VOTES}, not {self.votes!r}")
        if self.attempts not in range(1, 11):
            raise UsageError(f"attempts must be a number from 1 to 10, not {self.attempts!r}")

    @property
    def name(self) -> str:
        """What to record about who judged."""
        return "llm-1"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Everything that makes two judgements of one diagnosis differ."""
        return {
            "model": self.model.name,
            **self.endpoint,
            "votes": self.votes,
            "attempts": self.attempts,
            "sampling": self.sampling.model_dump(mode="json", exclude_defaults=True),
            "checklist": checklist().version,
            "prompt": prompt_sha(),
        }

    def grade(self, diagnosis: str, specs: Sequence[FaultSpec], app: App) -> Grade:
        """Grade a diagnosis. Raises JudgeError, which says what was used up all the same."""
        text = cleaned(diagnosis)
        if reason := objection(text):
            return grade(Answer(question.id, False, reason) for question in checklist().questions)
        key = self._key(text, specs, app)
        kept = self.cache.get(key) if self.cache is not None else None
        if kept is not None:
            return self._graded(kept, Usage())
        cast: list[tuple[Answer, ...]] = []
        used = Usage()
        while not _settled(cast, self.votes):
            number = len(cast)
            asked = _Asked(case(text, specs, app, number), shown(text), tuple(specs), number)
            vote, used = self._vote(asked, used)
            cast.append(vote)
        decided = _majority(cast, self.votes)
        if self.cache is not None:
            self.cache.put(key, self.model.name, decided)
        return self._graded(decided, used)

    def _graded(self, decided: tuple[Answer, ...], used: Usage) -> Grade:
        return replace(grade(decided), model=self.model.name, votes=self.votes, usage=used)

    def _key(self, text: str, specs: Sequence[FaultSpec], app: App) -> str:
        """What two gradings must share to have one answer."""
        components = [component.name for component in app.components]
        parts = {**self.settings, "truth": truth(specs), "components": components, "diagnosis": text}
        # The address is where the model is asked, not what it is.
        parts.pop("base_url", None)
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _vote(self, asked: _Asked, used: Usage) -> tuple[tuple[Answer, ...], Usage]:
        """One vote, and what has been used after it."""
        seed = self.sampling.seed
        drawn = {} if seed is None else {"seed": seed + asked.number}
        sampling = self.sampling.model_copy(update=drawn)
        messages = asked.messages
        given: tuple[Answer, ...] | None = None
        problem = ""
        for _ in range(self.attempts):
            reply, used = self._reply(Request(messages, schema=schema(), sampling=sampling), asked, used)
            said = reply.message.content
            try:
                given = answers(said)
                unfounded = unsupported(given, asked.text)
                if not unfounded:
                    return given, used
                problem = f"the evidence of {', '.join(unfounded)} does not stand in the diagnosis like that"
            except NoAnswer as error:
                problem = str(error)
            repeated = Message(role="assistant", content=said[:_REPEATED_CHARS] or "(nothing)")
            messages = (*messages, repeated, again(problem))
        if given is None:
            text = f"the judge's model gave no answer in {self.attempts} attempts: {asked.guarded(problem)}"
            raise JudgeError(text, usage=used)
        return _withdrawn(given, asked.text), used

    def _reply(self, request: Request, asked: _Asked, used: Usage) -> tuple[Reply, Usage]:
        try:
            reply = self.model.complete(request)
        except ModelError as error:
            # What is malformed is the model's own words about the truth.
            why = _LEFT_OUT if error.kind == "malformed" else asked.guarded(str(error))
            text = f"the judge's model could not be asked ({error.kind}): {why}"
            raise JudgeError(text, usage=used + error.usage) from error
        used = used + reply.usage
        if reply.finish_reason in _CUT_SHORT:
            raise JudgeError(f"the judge's model broke off: {reply.finish_reason}", usage=used)
        return reply, used


_LEFT_OUT = "(its words are left out: they are about the case)"


@dataclass(frozen=True, slots=True)
class _Asked:
    """One vote that is asked for."""

    messages: tuple[Message, ...]
    text: str
    """The diagnosis as the model is shown it."""
    specs: tuple[FaultSpec, ...]
    number: int

    def guarded(self, complaint: str) -> str:
        """A complaint for a record, which must not tell the truth: servers and models repeat what they were sent."""
        said = complaint.lower()
        telling = (
            word.lower()
            for spec in self.specs
            for word in (
                *spec.components,
                *spec.aliases,
                spec.resource_name,
                spec.field,
                spec.wrong,
                spec.right,
            )
        )
        return _LEFT_OUT if any(len(word) > 2 and word in said for word in telling) else complaint


def _withdrawn(given: tuple[Answer, ...], text: str) -> tuple[Answer, ...]:
    """Answers in which a yes that quotes what nobody wrote is a no."""
    unfounded = unsupported(given, text)
    return tuple(
        Answer(answer.id, False, f"not in the diagnosis: {answer.evidence}"[:EVIDENCE_CHARS])
        if answer.id in unfounded
        else answer
        for answer in given
    )


def _settled(cast: Sequence[tuple[Answer, ...]], votes: int) -> bool:
    """Whether the votes that are left out can change no majority."""
    yes = [sum(answer.yes for answer in answers) for answers in zip(*cast, strict=True)]
    return bool(cast) and all(2 * max(count, len(cast) - count) > votes for count in yes)


def _majority(cast: Sequence[tuple[Answer, ...]], votes: int) -> tuple[Answer, ...]:
    """Question by question what most say, with the evidence of the first who says it."""
    decided = []
    for given in zip(*cast, strict=True):
        yes = 2 * sum(answer.yes for answer in given) > votes
        decided.append(next(answer for answer in given if answer.yes is yes))
    return tuple(decided)
