"""What the caller of an environment asked to play, resolved to one problem per episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from numpy.random import Generator

from sregym_env import apps
from sregym_env.envs.arguments import flag, mapping, word
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.envs.tasks.splits import By, Split, demand_within, split
from sregym_env.errors import UsageError
from sregym_env.faults import problems
from sregym_env.faults.problems import Problem
from sregym_env.faults.registry import declaration


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the caller of the environment asked to play; resolved to one problem per episode."""

    problem: str | Mapping[str, Any] | None = None
    fault: str | None = None
    app: str | None = None
    target: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str | Mapping[str, Any] | Problem, ...] = ()
    split: Split | None = None
    """Nothing but problems of this split may be played."""
    split_by: By = "family"
    noise: bool = False
    variation: bool = True
    silent_alerts: bool = False

    def demand_one(self) -> None:
        """Raise UsageError where more than one thing is asked for, or a part of a pair without its fault."""
        given = [
            name
            for name, value in (
                ("problem", self.problem),
                ("fault", self.fault),
                ("problems", self.problems or None),
            )
            if value is not None
        ]
        if len(given) > 1:
            raise UsageError(f"{given[0]}= and {given[1]}= contradict each other: pass one of them")
        if self.fault is None:
            for name in ("app", "target", "params"):
                if getattr(self, name):
                    raise UsageError(f"{name}= belongs to a (fault, target) pair: pass fault= as well")

    def demand_known(self) -> None:
        """Raise ProblemError where there is no such problem, fault or application: the first reset may be far away.

        Whether a fault fits its target is told by the cluster, when it is there.
        """
        if self.problem is not None:
            resolved(self.problem)
        elif self.fault is not None:
            problems.pair(self.app or apps.DEFAULT, self.fault, self.target or "", self.params)

    def changed(self, options: Mapping[str, Any]) -> Assignment:
        """With what ``reset(options=...)`` says instead."""
        changes = {key: check(key, options[key]) for key, check in _CHECKED.items() if key in options}
        # Who names another problem or fault wants nothing of the old one.
        nothing: dict[str, Any] = {
            "problem": None,
            "problems": (),
            "fault": None,
            "app": None,
            "target": None,
            "params": {},
        }
        if "problem" in changes:
            changed = replace(self, **{**nothing, **changes})
        elif "fault" in changes:
            changed = replace(self, **{**nothing, "app": self.app, **changes})
        else:
            changed = replace(self, **changes)
        changed.demand_one()
        return changed

    def resolve(self, chance: Generator) -> Problem:
        """The problem to play now. Raises ProblemError or UsageError."""
        problem = self._chosen(chance)
        if self.split is not None:
            demand_within(problem, self.split, self.split_by)
        return self._as_asked(problem)

    def _chosen(self, chance: Generator) -> Problem:
        chosen: Any = self.problem
        if chosen is None and self.fault is not None:
            return self._pair(chance)
        if chosen is None and self.problems:
            chosen = self.problems[int(chance.integers(len(self.problems)))]
        if chosen is None:
            raise UsageError("nothing to play: pass problem=, or fault= (with target=), or problems=")
        return resolved(chosen)

    def _pair(self, chance: Generator) -> Problem:
        """The pair that was asked for; without a target one of the fault's, drawn."""
        app, fault, target = self.app or apps.DEFAULT, self.fault or "", self.target
        if fault == problems.NO_FAULT:
            return problems.pair(app, fault, target or "", self.params)
        if not target:
            found = _targets(app, fault, self.split, self.split_by)
            if not found:
                raise UsageError(f"no target of {fault} belongs to the {self.split} split by {self.split_by}")
            target = found[int(chance.integers(len(found)))]
        return problems.pair(app, fault, target, self.params)

    def _as_asked(self, problem: Problem) -> Problem:
        """With noise and with silent alerts where they were asked for, and without variation where that was asked for."""
        changes: dict[str, Any] = {}
        if self.noise and not problem.noise_on:
            changes["noise"] = True
        if not self.variation and problem.variation:
            changes["variation"] = False
        if self.silent_alerts and not problem.silent_alerts:
            changes["silent_alerts"] = True
        return problem.model_copy(update=changes) if changes else problem


def _unchecked(name: str, value: Any) -> Any:
    """A problem tells by itself what is wrong with it, as soon as it is resolved."""
    return value


_CHECKED: Mapping[str, Callable[[str, Any], Any]] = {
    "problem": _unchecked,
    **dict.fromkeys(("fault", "app", "target"), word),
    "params": mapping,
    **dict.fromkeys(("noise", "variation", "silent_alerts"), flag),
}
"""What ``reset(options=...)`` may say of what is played, and what checks it."""


@lru_cache(maxsize=1024)
def _targets(app: str, fault: str, part: Split | None, by: By) -> tuple[str, ...]:
    """Names of a fault's targets in an application, those of a split if there is one."""
    found = pairs(app, fault)
    if part is not None:
        found = split(part, by=by, problems=found)
    return tuple(problem.faults[0].target for problem in found)


def resolved(chosen: str | Mapping[str, Any] | Problem) -> Problem:
    """A problem by its id, its JSON form, or itself.

    Raises ProblemError where it, its application or one of its faults does not exist, UsageError for anything else.
    """
    if isinstance(chosen, str):
        return problems.problem(chosen)
    if not isinstance(chosen, Mapping | Problem):
        raise UsageError(f"a problem is an id or a mapping, not {chosen!r}")
    problem = chosen if isinstance(chosen, Problem) else problems.parsed(chosen)
    apps.app(problem.app)
    for each in problem.faults:
        declaration(each.fault)
    return problem
