"""A policy that knows the answer and plays it as an engineer would: looks, thinks aloud, repairs, verifies."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from random import Random
from typing import Any, cast

from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import ProblemError, UsageError
from sregym_env.faults.fault import FaultInstance
from sregym_env.rollouts.policies.move import Move, form
from sregym_env.rollouts.policies.narrative.case import STYLES, Case, Style
from sregym_env.rollouts.policies.narrative.course import played
from sregym_env.rollouts.policies.policy import Turn

DIAGNOSES = ("structured", "text")
"""Forms in which a diagnosis can be handed in: closed answers, or prose."""


class ExpertPolicy:
    """Plays a declared solution in the manner of an engineer, from the symptom to the cause, and says why at each step.

    It is privileged: it reads the problem's truth from the environment. What it says rests on what was printed.

    ``style``: ``direct``, ``thorough``, ``dead_ends`` (goes after an innocent component first), or ``mixed``: the seed
    draws one. ``calls``: ``tools`` for thoughts with tool calls, ``text`` for bare command lines. ``alternative`` picks
    one of the declared repairs, from 0; without it the seed does. ``diagnosis``: ``structured`` for closed answers, which the
    deterministic judge grades exactly, or ``text`` for prose. Raises UsageError for a style or a form there is not.
    """

    name = "expert"
    version = "3"

    def __init__(
        self,
        style: str = "mixed",
        calls: str = "tools",
        alternative: int | None = None,
        diagnosis: str = "structured",
    ) -> None:
        if diagnosis not in DIAGNOSES:
            raise UsageError(f"no form of diagnosis {diagnosis!r}; there are {', '.join(DIAGNOSES)}")
        if style not in (*STYLES, "mixed"):
            raise UsageError(f"no style {style!r} of the expert; there are {', '.join((*STYLES, 'mixed'))}")
        if alternative is not None and (not isinstance(alternative, int) or isinstance(alternative, bool)):
            raise UsageError(f"alternative must be a whole number, not {alternative!r}")
        if alternative is not None and alternative < 0:
            raise UsageError(
                f"alternative must be at least 0, not {alternative!r}: repairs are counted from 0"
            )
        self.settings: Mapping[str, Any] = {
            "style": style,
            "calls": form(calls),
            "alternative": alternative,
            "diagnosis": diagnosis,
        }
        self._play: Generator[Move, str, None] | None = None
        self._turns = 0
        self._dedicated = False

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> None:
        """Get to know the truth, and decide on a manner. Raises ProblemError where no cause has the repair that is wanted."""
        _demand_repair(self.settings["alternative"], env)
        style = self.settings["style"]
        drawn = Random(f"expert {seed}").choice(STYLES) if style == "mixed" else style
        chance = Random(f"expert {drawn} {seed}")
        staged = env.episode.staged
        case = Case(
            app=staged.app,
            instances=tuple(cast(FaultInstance, cause) for cause in staged.causes),
            style=cast(Style, drawn),
            alternative=self.settings["alternative"],
            stage=env.episode.rules.stage,
            budget=env.episode.rules.max_commands,
            chance=chance,
            structured=self.settings["diagnosis"] == "structured",
        )
        self._dedicated = chance.random() < 0.5
        self._turns = 0
        self._play = played(case)

    def act(self, observation: str, info: Mapping[str, Any]) -> str | Turn:
        """The next thing to say and do."""
        assert self._play is not None, "begin() comes first"
        try:
            move = next(self._play) if self._turns == 0 else self._play.send(observation)
        except StopIteration:
            move = Move("", "mitigation")
        self._turns += 1
        return move.made(self.settings["calls"], self._turns, self._dedicated)


def _demand_repair(alternative: int | None, env: SREGymEnv) -> None:
    """Refuse a repair that there is not; of several causes one must have it."""
    causes = [cast(FaultInstance, cause) for cause in env.episode.staged.causes]
    most = max((len(cause.remedies) for cause in causes), default=0)
    if alternative is not None and causes and alternative >= most:
        told = ", ".join(f"{cause.name} has {len(cause.remedies)}" for cause in causes)
        raise ProblemError(f"no repair {alternative} of the expert (alternative, from 0): {told}")
