"""Playing a recorded episode again, and comparing everything that was recorded.

Problem, seed, configuration and actions fix every observation, reward, verdict and digest; where one of them differs
the package has changed, or the record. A diagnosis that a model graded gets the grade that is in the record, so that
no endpoint is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, zip_longest
from typing import Any

from sregym_env.cluster.app import App
from sregym_env.envs.config import arguments
from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.rules import OUTSIDE
from sregym_env.errors import UsageError
from sregym_env.faults.spec import FaultSpec
from sregym_env.llm.messages import Message
from sregym_env.llm.model import ModelError
from sregym_env.rewards.checklist import Answer, Grade
from sregym_env.rewards.judge import Judge, JudgeError, SpecJudge
from sregym_env.rollouts.policies.policy import Turn
from sregym_env.rollouts.record import EpisodeRecord, Labels
from sregym_env.rollouts.runner import Budgets, Place, Rollout, Watcher, run_episode

Watch = Callable[[SREGymEnv, int], None]
"""Called with the environment after the reset, with -1, and after step t, with t."""

STEP_FIELDS = (
    "reward",
    "reward_terms",
    "terminated",
    "truncated",
    "tool",
    "exit_code",
    "error_type",
    "obs_truncated",
    "stage",
    "commands",
    "sim_time_s",
    "potential",
    "state_digest",
)
"""What is compared of every step besides what it was answered."""

OUTCOME_FIELDS = (
    "task_id",
    "episode_id",
    "return_",
    "reward_terms",
    "success",
    "exit_reason",
    "trainable",
    "diagnosis",
    "grade",
    "oracle",
    "ttd_s",
    "ttm_s",
    "sim_time_s",
    "commands",
    "final_digest",
)
"""What is compared of the record as a whole."""

LABEL_FIELDS = ("problem", "specs", "root_cause", "grade", "oracle")
"""What is compared of the ground truth."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that was recorded and did not happen again."""

    step: int | None
    """None for the episode as a whole, -1 for the briefing."""
    what: str
    recorded: Any
    replayed: Any

    def __str__(self) -> str:
        where = "episode" if self.step is None else "briefing" if self.step < 0 else f"step {self.step}"
        recorded, replayed = _first_difference(self.recorded, self.replayed)
        return f"{where}, {self.what}: recorded {recorded}, replayed {replayed}"


@dataclass(frozen=True, slots=True)
class Replayed:
    """An episode that was played again."""

    rollout: Rollout
    """What happened this time."""
    differences: tuple[Difference, ...]

    @property
    def equal(self) -> bool:
        """Whether everything happened again."""
        return not self.differences


def replay(record: EpisodeRecord, labels: Labels, watch: Watch | None = None) -> Replayed:
    """Play a record's actions again and compare.

    Raises UsageError for episodes of a live cluster and for labels of another episode.
    """
    if record.backend != "sim":
        raise UsageError(
            f"{record.rollout_id} was played on a live cluster, which does not do the same thing twice"
        )
    if record.rollout_id != labels.rollout_id:
        raise UsageError(f"{record.rollout_id} cannot be replayed with the labels of {labels.rollout_id}")
    env = SREGymEnv(labels.problem, judge=_judge(record, labels), **arguments(record.config))
    policy = _Recorded(record, watch)
    again = run_episode(
        env,
        policy,
        seed=record.seed,
        budgets=_budgets(record),
        place=Place(record.run_id, record.group_id, record.sample_index, record.attempt),
        digests=any(step.state_digest is not None for step in record.steps),
        watch=None if watch is None else _counting(env, watch),
    )
    briefing = _briefing(record, policy.briefing)
    return Replayed(again, (*briefing, *_differences(Rollout(record, labels), again)))


class _Recorded:
    """A policy that says again what it said."""

    def __init__(self, record: EpisodeRecord, watch: Watch | None) -> None:
        self.name = record.policy.name
        self.version = record.policy.version
        self.settings: Mapping[str, Any] = record.policy.settings
        self._record = record
        self._watch = watch
        self._steps = iter(record.steps)
        self.briefing = ""

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> Sequence[Message]:
        """The recorded opening."""
        self.briefing = briefing
        if self._watch is not None:
            self._watch(env, -1)
        return self._record.opening

    def act(self, observation: str, info: Mapping[str, Any]) -> Turn:
        """The next recorded turn."""
        step = next(self._steps, None)
        if step is None:
            raise ModelError("the record ends here", "unreachable")
        message = self._record.messages[step.message_span[0]]
        return Turn(message, step.tokens, step.usage, step.finish_reason)


class _RecordedJudge:
    """A judge that answers what is in the record."""

    def __init__(self, record: EpisodeRecord, labels: Labels) -> None:
        settings = dict(record.config["judge"])
        self.name: str = settings.pop("name")
        self.settings: Mapping[str, Any] = settings
        self._grade = labels.grade
        self._failure = record.failure
        self._usage = record.judge_usage

    def grade(self, diagnosis: str, specs: Sequence[FaultSpec], app: App) -> Grade:
        """The recorded grade, or the recorded failure."""
        known = self._grade
        if known is None:
            detail = "the record has no grade" if self._failure is None else self._failure.detail
            raise JudgeError(detail.removeprefix("JudgeError: "), usage=self._usage)
        answers = tuple(
            Answer(each["id"], each["answer"] == "yes", each["evidence"]) for each in known["answers"]
        )
        model, votes = known.get("model", ""), known.get("votes", 0)
        return Grade(answers, known["score"], known["passed"], model, votes, self._usage)


def _judge(record: EpisodeRecord, labels: Labels) -> Judge:
    """The deterministic judge itself where it judged, so that it is compared too."""
    judge = SpecJudge()
    same = record.config["judge"] == {"name": judge.name, **judge.settings}
    return judge if same else _RecordedJudge(record, labels)


def _budgets(record: EpisodeRecord) -> Budgets:
    """What ends the replay where something from outside ended the episode."""
    if not _ended_outside(record):
        return Budgets()
    return Budgets(steps=len(record.steps)) if record.steps else Budgets(wall_seconds=1e-9)


def _ended_outside(record: EpisodeRecord) -> bool:
    return record.exit_reason in OUTSIDE and record.exit_reason != "infra"


def _counting(env: SREGymEnv, watch: Watch) -> Watcher:
    steps = count()
    return lambda action, observation, info: watch(env, next(steps))


def _differences(recorded: Rollout, again: Rollout) -> Iterator[Difference]:
    was, now = recorded.record, again.record
    for t, (old, new) in enumerate(zip_longest(was.steps, now.steps)):
        if old is None or new is None:
            yield Difference(None, "steps", len(was.steps), len(now.steps))
            break
        yield from _compared(t, "observation", was.observation(old), now.observation(new))
        for name in STEP_FIELDS:
            yield from _compared(t, name, getattr(old, name), getattr(new, name))
    for name in OUTCOME_FIELDS:
        # Which of the reasons from outside it was cannot be played again.
        if name != "exit_reason" or not (_ended_outside(was) and _ended_outside(now)):
            yield from _compared(None, name, getattr(was, name), getattr(now, name))
    for name in LABEL_FIELDS:
        old, new = getattr(recorded.labels, name), getattr(again.labels, name)
        yield from _compared(None, f"label {name}", old, new)


def _briefing(record: EpisodeRecord, briefing: str) -> Iterator[Difference]:
    """Policies say more than the briefing before they begin, but the briefing is part of it."""
    told = [message.content for message in record.opening if message.role != "assistant"]
    if not any(briefing.strip() in text for text in told):
        yield Difference(-1, "text", told[-1] if told else "", briefing)


def _compared(step: int | None, what: str, recorded: Any, replayed: Any) -> Iterator[Difference]:
    if recorded != replayed:
        yield Difference(step, what, recorded, replayed)


def _first_difference(recorded: Any, replayed: Any) -> tuple[str, str]:
    """Both values in short: of long texts the first line that differs."""
    if not (isinstance(recorded, str) and isinstance(replayed, str)):
        return _shortened(repr(recorded)), _shortened(repr(replayed))
    lines = zip_longest(recorded.split("\n"), replayed.split("\n"))
    for number, (old, new) in enumerate(lines, 1):
        if old != new:
            where = f"line {number} " if "\n" in recorded + replayed else ""
            told = ["nothing" if line is None else _shortened(repr(line)) for line in (old, new)]
            return f"{where}{told[0]}", told[1]
    return repr(recorded), repr(replayed)


def _shortened(text: str, limit: int = 160) -> str:
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
