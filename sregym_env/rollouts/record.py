"""The record of an episode: schema-versioned JSON, with the ground truth kept apart.

A record holds what is needed to replay an episode and to train on it. The truth goes into a
:class:`Labels` record of its own, so that published trajectories cannot leak answers.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

SCHEMA_VERSION: Final = "sregym-episodes/1"


class Record(BaseModel):
    """Frozen, closed pydantic records."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Message(Record):
    """One chat message, as OpenAI's format has it."""

    role: Literal["system", "user", "assistant"]
    content: str


class Timing(Record):
    """Wall-clock seconds spent by the policy and by the environment."""

    policy_s: float = 0.0
    env_s: float = 0.0


class Step(Record):
    """One transition."""

    t: int
    action_text: str
    observation: str
    obs_truncated: bool
    reward: float
    terminated: bool
    truncated: bool
    tool: str
    exit_code: int
    error_type: str
    stage: str
    sim_time_s: float
    message_span: tuple[int, int]
    """Indexes into ``messages`` of the action and the observation."""
    state_digest: str | None = None
    timing: Timing | None = None


class Policy(Record):
    """Who acted."""

    name: str
    version: str = ""
    seed: int | None = None


class Package(Record):
    """What produced the record."""

    sregym_env: str
    python: str


class EpisodeRecord(Record):
    """One episode. Every key is always present; null means "not known"."""

    schema_version: Literal["sregym-episodes/1"] = SCHEMA_VERSION
    rollout_id: str
    task_id: str
    episode_id: str
    backend: Literal["sim", "live"] = "sim"
    seed: int
    options: dict[str, Any] = Field(default_factory=dict)
    policy: Policy
    package: Package
    messages: tuple[Message, ...]
    steps: tuple[Step, ...]
    return_: float = Field(serialization_alias="return", validation_alias=AliasChoices("return", "return_"))
    reward_terms: dict[str, float]
    success: bool
    exit_reason: str
    trainable: bool
    diagnosis: dict[str, Any] | None
    """The submitted text and its grade."""
    oracle: dict[str, Any] | None
    """The verdict on the mitigation."""
    ttl_s: float
    ttm_s: float
    sim_time_s: float
    final_digest: str

    def to_json(self) -> str:
        """One line of JSON."""
        return self.model_dump_json(by_alias=True)


class Labels(Record):
    """The ground truth of one episode."""

    schema_version: Literal["sregym-episodes/1"] = SCHEMA_VERSION
    rollout_id: str
    problem: dict[str, Any]
    specs: tuple[dict[str, Any], ...]
    root_cause: tuple[str, ...]

    def to_json(self) -> str:
        """One line of JSON."""
        return self.model_dump_json(by_alias=True)
