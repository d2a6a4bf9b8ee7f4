"""Whether a record agrees with itself."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum, isclose

from sregym_env.rollouts.record import EpisodeRecord, Step

_ROUNDING = 1e-4
"""Rewards are rounded to six places, each."""


def incoherent(record: EpisodeRecord) -> Iterator[str]:
    """What does not fit together: spans, ends, calls and answers, rewards and outcome."""
    yield from _spans(record)
    yield from _ends(record)
    yield from _rewards(record)


def _spans(record: EpisodeRecord) -> Iterator[str]:
    following = None
    for t, step in enumerate(record.steps):
        first, last = step.message_span
        if step.t != t:
            yield f"step {t} is numbered {step.t}"
        if not 0 <= first < last < len(record.messages):
            yield f"the span of step {t} lies outside of the messages"
            return
        if following is not None and first != following:
            yield f"the span of step {t} does not begin where the one before ends"
        following = last + 1
        yield from _answers(record, step)
    if following is not None and following != len(record.messages):
        yield "there are messages after the last step"
    if not record.opening:
        yield "there is no message before the first step"


def _answers(record: EpisodeRecord, step: Step) -> Iterator[str]:
    first, last = step.message_span
    said, answers = record.messages[first], record.messages[first + 1 : last + 1]
    if said.role != "assistant":
        yield f"step {step.t} does not begin with what the agent said"
    if any(answer.role == "assistant" for answer in answers):
        yield f"the agent answers itself in step {step.t}"
    asked = [call.id for call in said.tool_calls]
    answered = [answer.tool_call_id for answer in answers if answer.role == "tool"]
    if asked != answered:
        yield f"calls and answers of step {step.t} do not belong together"


def _ends(record: EpisodeRecord) -> Iterator[str]:
    if any(step.terminated or step.truncated for step in record.steps[:-1]):
        yield "a step before the last one ends the episode"
    if not record.exit_reason:
        yield "the episode has not ended"
    if record.success and (record.failure is not None or not record.trainable):
        yield "it succeeded and failed"
    if not record.success and record.failure is None:
        yield "it did not succeed, and nothing says why"
    if record.trainable != (record.return_ is not None):
        yield "what is fit for training has a return, and nothing else has one"


def _rewards(record: EpisodeRecord) -> Iterator[str]:
    for step in record.steps:
        total = fsum(step.reward_terms.values())
        # What settling from outside earned is added to the last step, after its terms.
        if step is not record.steps[-1] and not isclose(total, step.reward, abs_tol=_ROUNDING):
            yield f"the terms of step {step.t} sum to {total:.6f}, its reward is {step.reward:.6f}"
    if record.return_ is None:
        return
    for name, total in (
        ("steps", fsum(step.reward for step in record.steps)),
        ("terms", fsum(record.reward_terms.values())),
    ):
        room = _ROUNDING * max(1, len(record.steps) / 10)
        # Without a step there was nowhere to note what the settling earned.
        if (record.steps or name == "terms") and not isclose(total, record.return_, abs_tol=room):
            yield f"the rewards of the {name} sum to {total:.6f}, the return is {record.return_:.6f}"
