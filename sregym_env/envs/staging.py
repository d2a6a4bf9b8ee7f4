"""Setting the stage: which problem is played, and the world at the moment the agent is called.

A staged problem is kept for a while, so that the members of a group of rollouts (same problem, same seed)
start from forks of one world.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from numpy.random import Generator

from sregym_env import apps, noise
from sregym_env.cluster.api import ForkableWorld, User, World
from sregym_env.cluster.inventory import Inventory
from sregym_env.envs.briefing import Mode
from sregym_env.envs.episode import Solution, Staged
from sregym_env.errors import ProblemError, UsageError
from sregym_env.faults import problems
from sregym_env.faults.fault import FaultInstance
from sregym_env.faults.problems import Problem
from sregym_env.faults.registry import declaration
from sregym_env.rewards.baseline import Baseline, ObjectKey, capture
from sregym_env.rewards.checks import failing_journeys
from sregym_env.rewards.verdict import Check
from sregym_env.sim.deploy import deployed_world
from sregym_env.tools.workstation import Workstation

ONCALL = User("oncall", ("sregym:oncall", "system:authenticated"))
"""The identity of the agent."""

SYMPTOM_LIMIT = 300.0
"""Simulated seconds in which a fault's symptoms are awaited."""

ALERT_LIMIT = 1200.0
"""The same for an alert to fire, before a reactive episode begins."""

EVIDENCE_SECONDS = 30.0
"""How long the symptoms last before the agent is called, so that logs and events tell of them."""

LOOK_SECONDS = 10.0

KEPT = 16
"""Staged problems kept per process."""

DEFAULT_APP = "hotel-reservation"


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the caller of the environment asked to play; resolved to one problem per episode."""

    problem: str | Mapping[str, Any] | None = None
    fault: str | None = None
    app: str | None = None
    target: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str | Mapping[str, Any], ...] = ()
    noise: bool = False

    def changed(self, options: Mapping[str, Any]) -> Assignment:
        """With what ``reset(options=...)`` says instead."""
        changes = {
            key: options[key] for key in ("problem", "fault", "app", "target", "params", "noise") if key in options
        }
        if "problem" in changes:
            return replace(self, **{"fault": None, "target": None, "params": {}, **changes})
        if "fault" in changes:
            return replace(self, **{"problem": None, "target": None, "params": {}, **changes})
        return replace(self, **changes)

    def resolve(self, chance: Generator) -> Problem:
        """The problem to play now. Raises ProblemError or UsageError."""
        chosen: Any = self.problem
        if chosen is None and self.fault is not None:
            return self._noisy(_pair(self.app or DEFAULT_APP, self.fault, self.target or "", self.params))
        if chosen is None and self.problems:
            chosen = self.problems[int(chance.integers(len(self.problems)))]
        if chosen is None:
            raise UsageError("nothing to play: pass problem=, or fault= (with target=), or problems=")
        if isinstance(chosen, Problem):
            return self._noisy(chosen)
        if isinstance(chosen, Mapping):
            return self._noisy(Problem.model_validate(chosen))
        return self._noisy(problems.problem(chosen))

    def _noisy(self, problem: Problem) -> Problem:
        return problem.model_copy(update={"noise": True}) if self.noise else problem
