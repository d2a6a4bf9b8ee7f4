"""The record of an episode: schema-versioned JSON, with the ground truth kept apart.

A record holds what is needed to replay an episode and to train on it; every text stands in it once, in
``messages``, and steps point there. What tells the answer (the problem, the fault, what the oracle and the judge
saw) goes into a :class:`Labels` record of its own, so that published trajectories cannot leak it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Self

from pydantic import AliasChoices, Field

from sregym_env.envs.observation import joined
from sregym_env.llm.messages import Frozen, Message
from sregym_env.llm.model import Tokens, Usage

SCHEMA_VERSION: Final = "sregym-episodes/1"

FailureClass = Literal["agent", "world", "judge", "ours"]
"""Whose fault it is that an episode did not succeed.

``agent``: it was played to its end and graded, and did not pass, or ran into a limit. ``world``: something outside
broke (a model endpoint, a live cluster, a worker). ``judge``: the diagnosis could not be graded. ``ours``: a defect
of this package. Only the first is an outcome; the others have no reward and are not fit for training.
"""


class Timing(Frozen):
    """Wall-clock seconds spent by the policy and by the environment."""

    policy_s: float = 0.0
    env_s: float = 0.0


class Step(Frozen):
    """One transition. Its texts are the messages of its span."""

    t: int
    message_span: tuple[int, int]
    """Indexes into ``messages``: the assistant's message that acts, and the last message that answers it."""
    reward: float
    reward_terms: dict[str, float] = Field(default_factory=dict)
    """The terms that are not zero."""
    terminated: bool = False
    truncated: bool = False
    tool: str = ""
    exit_code: int = 0
    error_type: str = ""
    obs_truncated: bool = False
    stage: str
    """What the episode waits for after the step: diagnosis, mitigation or done."""
    commands: int = 1
    """Commands that the step ran, as the budget counts them."""
    sim_time_s: float
    """Simulated seconds since the episode began."""
    potential: float | None = None
    """Of a shaped reward, the potential of the state that the step led to."""
    state_digest: str | None = None
    tokens: Tokens | None = None
    usage: Usage | None = None
    finish_reason: str | None = None
    timing: Timing | None = None


class Producer(Frozen):
    """Who acted."""

    name: str
    version: str = ""
    model: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    """Everything else that makes the policy what it is: style, sampling, endpoint, prompt; never a key."""


class Package(Frozen):
    """What produced the record."""

    sregym_env: str
    python: str


class Failure(Frozen):
    """Why an episode did not succeed."""

    kind: FailureClass
    reason: str
    """A word for statistics: ``wrong_diagnosis``, ``not_repaired``, ``max_commands``, ``rate_limited`` ..."""
    detail: str = ""


class EpisodeRecord(Frozen):
    """One episode. Every key is always present; null means "not known"."""

    schema_version: Literal["sregym-episodes/1"] = SCHEMA_VERSION
    rollout_id: str
    """The same for the same actions of the same policy in the same episode under the same configuration."""
    run_id: str = ""
    group_id: str = ""
    """Shared by the episodes that begin in one state."""
    sample_index: int = 0
    """Which member of its group."""
    attempt: int = 0
    """How often it had to be played before it could be: workers die."""
    task_id: str
    """Opaque: says which task it is without saying what is wrong."""
    episode_id: str
    backend: Literal["sim", "live"] = "sim"
    seed: int
    config: dict[str, Any]
    """How it was played: everything but the problem (:func:`sregym_env.envs.config.configuration`)."""
    policy: Producer
    package: Package
    created_at: str | None = None
    """ISO 8601; null where records are to be equal."""
    tools: tuple[dict[str, Any], ...] = ()
    """Schemas of the tools, in the OpenAI dialect."""
    messages: tuple[Message, ...]
    steps: tuple[Step, ...]
    return_: float | None = Field(
        serialization_alias="return", validation_alias=AliasChoices("return", "return_")
    )
    """Sum of the rewards; null where there is none because something else than the agent failed."""
    reward_terms: dict[str, float]
    success: bool
    exit_reason: str
    failure: Failure | None
    trainable: bool
    diagnosis: str | None
    """The text that was graded."""
    grade: dict[str, Any] | None
    """Of the diagnosis: passed, score, the judge's name, and the answers by question; why is in the labels."""
    oracle: dict[str, Any] | None
    """Of the repair: passed, score, and the checks by name; why is in the labels."""
    ttd_s: float | None
    """Simulated seconds until the diagnosis was handed in."""
    ttm_s: float | None
    """Simulated seconds until the repair was handed in."""
    sim_time_s: float
    commands: int
    usage: Usage | None
    """What the policy's model used."""
    judge_usage: Usage | None = None
    """What the judge's model used, also where it failed; null where none was asked."""
    wall_s: float | None = None
    """Real seconds; null where records are to be equal."""
    final_digest: str

    def to_json(self) -> str:
        """One line of JSON."""
        return self.model_dump_json(by_alias=True)

    def action(self, step: Step) -> str:
        """What the environment was told in a step."""
        return self.messages[step.message_span[0]].action

    def observation(self, step: Step) -> str:
        """What it answered."""
        first, last = step.message_span
        return joined([message.content for message in self.messages[first + 1 : last + 1]])

    @property
    def opening(self) -> tuple[Message, ...]:
        """The messages before the first step, the briefing among them."""
        return self.messages[: self.steps[0].message_span[0]] if self.steps else self.messages

    @property
    def actions(self) -> tuple[str, ...]:
        """What the environment was told, step by step."""
        return tuple(self.action(step) for step in self.steps)


class Labels(Frozen):
    """The ground truth of one episode."""

    schema_version: Literal["sregym-episodes/1"] = SCHEMA_VERSION
    rollout_id: str
    task_id: str
    problem: dict[str, Any]
    """Everything needed to play it again."""
    specs: tuple[dict[str, Any], ...]
    root_cause: tuple[str, ...]
    grade: dict[str, Any] | None = None
    """The judge's answers with their evidence."""
    oracle: dict[str, Any] | None = None
    """The oracle's checks with what was seen and what was wanted."""

    def to_json(self) -> str:
        """One line of JSON."""
        return self.model_dump_json(by_alias=True)

    @classmethod
    def of(cls, rollout_id: str, task_id: str, state: Mapping[str, Any], problem: Mapping[str, Any]) -> Self:
        """From an environment's privileged state."""
        return cls(
            rollout_id=rollout_id,
            task_id=task_id,
            problem=dict(problem),
            specs=tuple(state["specs"]),
            root_cause=tuple(state["root_cause"]),
            grade=state["grade"],
            oracle=state["verdict"],
        )
