"""What a run plays: a frozen plan as plain JSON, from which any worker can play any part.

A plan says how episodes are played (environment, policy, budgets) and which: groups of episodes that begin in one
state. Its id is a hash of all that, so two plans with one id lead to the same records.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import Any, Final, Literal, Self

from pydantic import Field

import sregym_env
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.envs.tasks.suites import suite
from sregym_env.errors import ProblemError, UsageError
from sregym_env.faults import problems as library
from sregym_env.faults.problems import Problem
from sregym_env.llm.messages import Frozen
from sregym_env.rollouts.runner import Budgets
from sregym_env.runtime.ordered import in_order

PLAN_VERSION: Final = "sregym-run/1"

ENV_ARGUMENTS: Final = frozenset(
    {
        "mode",
        "stage",
        "noise",
        "variation",
        "silent_alerts",
        "reward",
        "judge",
        "max_commands",
        "time_limit",
        "grade_at_limit",
        "obs_chars",
    }
)
"""Arguments of the environment that a plan may set: all that are JSON and do not choose the problem."""


class PolicyChoice(Frozen):
    """Who acts, in a form that every worker can make anew."""

    name: str
    options: dict[str, Any] = Field(default_factory=dict)


class Group(Frozen):
    """Episodes that begin in one state; the unit of work, of retries and of files."""

    index: int
    """Its number in the plan, from 0."""
    group_id: str
    """Opaque: the same for the same problem and seed."""
    problem: dict[str, Any]
    """The problem as JSON: ground truth."""
    seed: int
    samples: int = 1
    """How many episodes; the policy's seeds differ."""


class RunPlan(Frozen):
    """Everything that determines the records of a run."""

    schema_version: Literal["sregym-run/1"] = PLAN_VERSION
    run_id: str
    package: str
    """Version of this package: another one may simulate differently."""
    env: dict[str, Any]
    """Arguments of the environment, of :data:`ENV_ARGUMENTS`."""
    policy: PolicyChoice
    budgets: Budgets
    digests: bool
    """Whether records hold a digest of the world after every step."""
    timing: bool
    """Whether records hold wall-clock seconds, which are never the same twice."""
    groups: tuple[Group, ...]

    @classmethod
    def of(
        cls,
        groups: Iterable[Group],
        *,
        policy: PolicyChoice,
        env: Mapping[str, Any] | None = None,
        budgets: Budgets = Budgets(),
        digests: bool = False,
        timing: bool = False,
    ) -> Self:
        """A plan with its id. Raises UsageError where it holds nothing to play, or what is not plain JSON."""
        if not isinstance(policy, PolicyChoice):
            raise UsageError(f"a plan's policy is a PolicyChoice(name=..., options=...), not {policy!r}")
        unknown = sorted(set(env or {}) - ENV_ARGUMENTS)
        if unknown:
            raise UsageError(
                f"a plan cannot set the environment's {unknown[0]!r}; there are {', '.join(sorted(ENV_ARGUMENTS))}"
            )
        _demand_json("the environment's arguments", env or {})
        _demand_json(f"the options of policy {policy.name}", policy.options)
        plan = cls(
            run_id="",
            package=sregym_env.__version__,
            # In order, as they come back from JSON: a run that goes on is written as one that was never interrupted.
            env=in_order(env or {}),
            policy=policy.model_copy(update={"options": in_order(policy.options)}),
            budgets=budgets,
            digests=digests,
            timing=timing,
            groups=tuple(groups),
        )
        if not plan.groups:
            raise UsageError("nothing to play: the plan has no episodes")
        return plan.model_copy(update={"run_id": _hash(plan.to_json(), size=8)})

    @property
    def episodes(self) -> int:
        """How many episodes there are."""
        return sum(group.samples for group in self.groups)

    def without_groups(self) -> Self:
        """How it is played, and the id, without what: all that a worker needs besides a group."""
        return self.model_copy(update={"groups": ()})

    def to_json(self) -> str:
        """One line of JSON; equal plans give equal text."""
        return _canonical(self.model_dump(mode="json"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Back from :meth:`to_json`. Raises UsageError for a text that is no plan, or one with another id than its own."""
        try:
            plan = cls.model_validate_json(text)
        except ValueError as error:
            raise UsageError(f"this is no plan of a run: {error}") from error
        if _hash(plan.model_copy(update={"run_id": ""}).to_json(), size=8) != plan.run_id:
            raise UsageError(
                f"the plan of run {plan.run_id} has been changed: its id is not that of its content"
            )
        return plan

    def differences(self, other: RunPlan) -> tuple[str, ...]:
        """Names of the parts in which two plans differ."""
        mine, theirs = self.model_dump(mode="json"), other.model_dump(mode="json")
        return tuple(name for name in mine if name != "run_id" and mine[name] != theirs[name])


def groups(
    problems: Iterable[Problem],
    *,
    rounds: int = 1,
    episodes: int | None = None,
    samples: int = 1,
    seed: int = 0,
) -> tuple[Group, ...]:
    """Every problem ``rounds`` times, or ``episodes`` spread evenly over all of them, the first ones getting what is
    left over; each time with another seed, problem by problem.

    Of a single problem the seeds count up from ``seed``; of several each has seeds of its own that follow from
    ``seed`` and the problem, whatever else is played and in whatever order. A problem that is given twice is played
    once. Raises UsageError for counts below one.
    """
    for name, count in (("rounds", rounds), ("episodes", episodes), ("samples", samples)):
        if count is not None and count < 1:
            raise UsageError(f"{name} must be at least 1, not {count}")
    problems = tuple(problems)
    for each in problems:
        if not isinstance(each, Problem):
            raise UsageError(
                f"groups are of problems, as named() and sregym_env.suite() return them, not {each!r}"
            )
    played = {_canonical(each.model_dump(mode="json")): each for each in problems}
    made: list[Group] = []
    if episodes is not None and played:
        rounds, left = divmod(episodes, len(played))
    else:
        left = 0
    for place, (text, problem) in enumerate(played.items()):
        for number in range(rounds + (place < left)):
            chosen = seed + number if len(played) == 1 else episode_seed(seed, text, number)
            made.append(
                Group(
                    index=len(made),
                    group_id=_hash(text, str(chosen)),
                    problem=problem.model_dump(mode="json"),
                    seed=chosen,
                    samples=samples,
                )
            )
    return tuple(made)


def episode_seed(root: int, problem: str, number: int) -> int:
    """The seed of the so-many-th episode of a problem (as canonical JSON) under a root seed; below 2**31.

    Episodes of a problem follow each other, so that no two are the same and every variant of its world is met.
    """
    return (int(_hash(str(root), problem, size=4), 16) + number) & 0x7FFF_FFFF


def member_seed(seed: int, sample: int) -> int:
    """The policy's seed in one member of a group: the episode's own in the first one."""
    return seed if sample == 0 else int(_hash("member", str(seed), str(sample), size=4), 16) & 0x7FFF_FFFF


def named(words: Sequence[str], suites: Sequence[str] = ()) -> tuple[Problem, ...]:
    """The problems that words name, and those of suites, each once.

    Words are ids, ``APP/FAULT/TARGET``, or patterns of either with ``*``, ``?`` and ``[]``. Raises ProblemError where a
    word or a suite names nothing.
    """
    found: dict[str, Problem] = {}
    for word in words:
        for problem in _matching(word) if _is_pattern(word) else (_known(word),):
            found.setdefault(problem.id, problem)
    for name in suites:
        for problem in suite(name):
            found.setdefault(problem.id, problem)
    return tuple(found.values())


def _known(word: str) -> Problem:
    problem = library.problem(word)
    if word.count("/") == 2:
        app, fault, target = word.split("/")
        pairs(app, fault, target)  # tells of a target that there is not
    return problem


def _matching(pattern: str) -> tuple[Problem, ...]:
    known = pairs() if "/" in pattern else library.curated()
    found = tuple(each for each in known if fnmatchcase(each.id, pattern))
    if not found:
        what = "pair APP/FAULT/TARGET" if "/" in pattern else "curated problem"
        raise ProblemError(
            f"no {what} matches {pattern!r}; see `sregym list {'pairs' if '/' in pattern else 'problems'}`"
        )
    return found


def _is_pattern(word: str) -> bool:
    return any(sign in word for sign in "*?[")


def _demand_json(what: str, value: Mapping[str, Any]) -> None:
    try:
        same = json.loads(json.dumps(dict(value), allow_nan=False)) == dict(value)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{what} must be plain JSON, so that workers can be told: {error}") from error
    if not same:
        raise UsageError(f"{what} must be plain JSON (text keys, lists instead of tuples): {dict(value)!r}")


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _hash(*parts: str, size: int = 6) -> str:
    return blake2b("\x1f".join(parts).encode(), digest_size=size).hexdigest()
