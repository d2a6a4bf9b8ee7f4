"""Judges from plain JSON, so that ``gym.make(..., judge={...})``, run plans and records can say who grades."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from sregym_env.errors import UsageError
from sregym_env.llm.messages import Frozen
from sregym_env.llm.model import Sampling
from sregym_env.llm.settings import endpoint_settings
from sregym_env.rewards.cache import Cache
from sregym_env.rewards.judge import Judge, SpecJudge
from sregym_env.rewards.llm_judge import LLMJudge

KEY_VARIABLE = "SREGYM_JUDGE_API_KEY"
"""The environment variable with the key of the judge's endpoint, where ``api_key_env`` names no other and it is set."""

_RECORDED = ("name", "checklist", "prompt")
"""What a judge records about itself and cannot be given."""


class _Options(Frozen):
    """What an :class:`LLMJudge` takes beside its endpoint."""

    votes: int = Field(default=1, strict=True)
    attempts: int = Field(default=3, strict=True)
    sampling: Sampling = Sampling()
    cache: str | None = Field(default=None, min_length=1)
    """A folder."""


def judge(value: Judge | str | Mapping[str, Any] | None) -> Judge:
    """The judge that is meant: None or ``spec`` for the deterministic one, a mapping for a model, or a judge itself.

    The mapping has the options of :class:`~sregym_env.llm.settings.EndpointSettings` (``model``, ``base_url``, ``api``,
    ``budget`` ...) and ``votes``, ``attempts``, ``sampling`` and ``cache``, a folder. What a record says of its judge is
    such a mapping too. Raises UsageError for anything else.
    """
    if value is None or value == "spec":
        return SpecJudge()
    if isinstance(value, Mapping):
        return _recalled(value) if "name" in value else _of_model(value)
    if isinstance(value, str) or not callable(getattr(value, "grade", None)):
        raise UsageError(
            f"judge: {value!r} is none; give 'spec', a mapping with a model's name and address, or an object with a "
            "method grade"
        )
    return value


def _recalled(recorded: Mapping[str, Any]) -> Judge:
    """The judge that a record names. One that would judge by other questions or prompts is another judge."""
    options = {name: value for name, value in recorded.items() if name not in _RECORDED}
    made = _of_model(options) if options else SpecJudge()
    same: Mapping[str, Any] = {"name": made.name, **made.settings}
    for name in _RECORDED:
        if recorded.get(name) not in (None, same.get(name)):
            raise UsageError(
                f"judge: {name} {recorded[name]!r} was recorded; this version has {same.get(name)!r}, which grades "
                f"otherwise. To use it all the same leave out {', '.join(_RECORDED)}"
            )
    return made


def _of_model(options: Mapping[str, Any]) -> LLMJudge:
    from sregym_env.llm.endpoint import Endpoint

    own = {name: value for name, value in options.items() if name in _Options.model_fields}
    rest = {name: value for name, value in options.items() if name not in own}
    if os.environ.get(KEY_VARIABLE):
        rest.setdefault("api_key_env", KEY_VARIABLE)
    try:
        asked = _Options.model_validate(own)
    except ValidationError as error:
        raise UsageError(f"judge: {_explained(error)}") from None
    settings = endpoint_settings(rest)
    return LLMJudge(
        model=Endpoint(settings),
        votes=asked.votes,
        attempts=asked.attempts,
        sampling=asked.sampling,
        cache=None if asked.cache is None else Cache(Path(asked.cache).expanduser()),
        endpoint=settings.public,
    )


def _explained(error: ValidationError) -> str:
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problems)
