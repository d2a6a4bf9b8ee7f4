"""What every adapter needs: an episode played by named tools, whose reward is there whenever it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sregym_env.envs.arguments import one_of, whole
from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.tasks.splits import SPLITS, WAYS, By, Split, split
from sregym_env.envs.tasks.suites import suite
from sregym_env.errors import UsageError
from sregym_env.faults.problems import Problem
from sregym_env.llm.messages import Message, call

NOT_BEGUN = "no episode has begun: call reset first"


class Session:
    """One environment, one episode at a time.

    The arguments are those of :class:`~sregym_env.envs.env.SREGymEnv` but for what is played, which :meth:`begin` is
    told.
    """

    def __init__(self, **arguments: Any) -> None:
        self._env = SREGymEnv(problems="smoke", **arguments)
        self._begun = False
        self._over = False
        self._total = 0.0
        self._info: Mapping[str, Any] = {}

    @property
    def env(self) -> SREGymEnv:
        """The environment, privileged parts and all."""
        return self._env

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self._over

    @property
    def info(self) -> Mapping[str, Any]:
        """The environment's last info."""
        return self._info

    @property
    def episode_id(self) -> str:
        """The episode's opaque name, for records and not for agents."""
        return str(self._env.state()["episode_id"])

    def begin(self, problem: str | Mapping[str, Any], seed: int) -> str:
        """Set an episode up; the briefing. ``problem``: an id, its JSON form, or that as a string."""
        text, self._info = self._env.reset(seed=seed, options={"problem": _problem(problem)})
        self._begun, self._over, self._total = True, False, 0.0
        return text

    def say(self, text: str) -> str:
        """Carry out what a model wrote: a command line, or tool calls in any dialect that is understood."""
        if not self._begun:
            raise UsageError(NOT_BEGUN)
        observation, reward, terminated, truncated, self._info = self._env.step(text)
        self._total += reward
        self._over = terminated or truncated
        return observation

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool by name."""
        called = Message(role="assistant", tool_calls=(call("call", tool, **arguments),))
        return self.say(called.action)

    def reward(self, reason: str = "max_steps") -> float | None:
        """What the episode earned; ends it for ``reason`` if it goes on.

        None where something else than the agent failed: such an episode must not be trained on.
        """
        if not self._begun:
            return None
        if not self._over:
            _, reward, *_, self._info = self._env.finish(reason)
            self._total += reward
            self._over = True
        return round(self._total, 6) if self._info["trainable"] else None

    def metrics(self) -> dict[str, float]:
        """Numbers about the episode so far. Raises UsageError before there is one."""
        if not self._begun:
            raise UsageError(NOT_BEGUN)
        info = self._info
        numbers = {
            "success": float(info["is_success"]),
            "diagnosed": float(info["Diagnosis"]),
            "mitigated": float(info["Mitigation"]),
            "commands": float(info["commands"]),
            "sim_time_s": float(info["sim_time_s"]),
        }
        timed = {"ttd_s": info["TTD"], "ttm_s": info["TTM"]}
        return {**numbers, **{name: value for name, value in timed.items() if value >= 0}}


def rows(
    what: str = "lite", *, part: Split | None = None, by: By = "family", seeds: Iterable[int] = (0,)
) -> list[dict[str, Any]]:
    """A task table: for every problem of a suite, or of its part in a split, and every seed, a row.

    ``task`` is an opaque number, ``problem`` the problem as a JSON string: scalar columns, as every table wants them.
    Raises UsageError and ProblemError for what there is not.
    """
    one_of("part", part, (None, *SPLITS))
    one_of("by", by, WAYS)
    if not isinstance(seeds, Iterable) or isinstance(seeds, str):
        raise UsageError(f"seeds must be a list of whole numbers, not {seeds!r}")
    # Each of them for every problem: an iterator would be empty after the first.
    listed = [whole("seeds", seed, 0) for seed in seeds]
    if not listed:
        raise UsageError("seeds must hold one at least")
    problems = suite(what) if part is None else split(part, by=by, problems=suite(what))
    return [
        {"task": index, "problem": problem.model_dump_json(), "seed": seed}
        for index, (problem, seed) in enumerate((problem, seed) for problem in problems for seed in listed)
    ]


def _problem(value: str | Mapping[str, Any]) -> str | Mapping[str, Any]:
    if isinstance(value, Problem):
        return value.model_dump(mode="json")
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            parsed: Mapping[str, Any] = json.loads(value)
        except ValueError as error:
            raise UsageError(f"the problem is no JSON ({error}): {value[:200]}") from None
        return parsed
    return value
