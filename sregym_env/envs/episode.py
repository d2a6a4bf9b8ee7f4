"""One playing of a problem, without Gymnasium: actions in, observations out, a reward at the end.

:class:`Episode` holds what changes; it can be forked at any step. Everything it does follows from the
problem, the seed and the actions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from sregym_env.cluster.api import World
from sregym_env.cluster.forkable import demanded, forkable
from sregym_env.envs.briefing import briefing
from sregym_env.envs.failures import attributed, portable
from sregym_env.envs.observation import fit, fitted, joined
from sregym_env.envs.rules import OUTSIDE, ExitReason, Rules
from sregym_env.envs.scene import Packed, Scene
from sregym_env.envs.staged import Staged, Workstation
from sregym_env.errors import UsageError
from sregym_env.llm.model import Usage
from sregym_env.rewards.apart import Apart
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.judge import Judge, JudgeError
from sregym_env.rewards.oracle import judge_state
from sregym_env.rewards.reward import NOTHING, TERMS, potential, score
from sregym_env.rewards.verdict import Check, Verdict, conclude
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.tools.call import Action, CommandLine, ErrorType, Refusal, Submission, ToolOutcome
from sregym_env.tools.parse import parse

JUDGING_EFFORT = 4_000_000.0
"""What a grading may cost (units of ``runtime/effort.py``)."""

THINKING_SECONDS = 1.0
"""What an action costs that reaches no tool: the cluster does not wait for typing errors."""


@dataclass(frozen=True, slots=True)
class Played:
    """What one step led to."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _State:
    """Where an episode stands."""

    step: int = 0
    commands: int = 0
    tokens: int = 0
    """Of the policy's model, charged and not yet paid for."""
    paid_seconds: float = 0.0
    """Simulated seconds that have been paid for."""
    potential: float = 0.0
    results: tuple[str, ...] = ()
    """What the calls of the last action were answered."""
    step_commands: int = 0
    step_terms: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    """What the last step earned."""
    diagnosis: str | None = None
    grade: Grade | None = None
    judge_usage: Usage | None = None
    """What the judge's model used, also where it failed."""
    verdict: Verdict | None = None
    ttd: float = -1.0
    ttm: float = -1.0
    ended: int | None = None
    """When the repair was handed in: grading in place takes time that is not the agent's."""
    terminated: bool = False
    truncated: bool = False
    exit_reason: ExitReason = ""
    trainable: bool = True
    success: bool = False
    terms: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    """What all steps earned."""

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated


class Episode:
    """A problem being played."""

    def __init__(self, staged: Staged, rules: Rules, judge: Judge) -> None:
        self._kept: Scene | Packed = Scene(staged, staged.world, staged.workstation)
        self.rules = rules
        self._judge = judge
        if rules.reward.preset == "graded":
            self._kept = replace(self._kept, untouched=self._kept_untouched())
        # Only now: where the world cannot be copied, the verdict on the untouched one has taken time.
        self._started = self.world.now()
        self._state = _State(potential=self._potential())
        self.failure: BaseException | None = None
        """What went wrong inside the environment, if it did."""

    def fork(self) -> Episode:
        """An independent episode with the same past and, given the same actions, the same future.

        Raises UsageError where the world cannot be copied.
        """
        # Past the constructor, which would copy or judge the world as if nobody had acted yet.
        copy = object.__new__(Episode)
        # What is packed never changes.
        copy._kept = self._kept if isinstance(self._kept, Packed) else self._kept.fork()
        copy.rules = self.rules
        copy._judge = self._judge
        copy._started = self._started
        copy._state = self._state
        copy.failure = self.failure
        return copy

    def __getstate__(self) -> dict[str, Any]:
        kept = self._kept if isinstance(self._kept, Packed) else self._kept.lasting()
        return {**self.__dict__, "_kept": kept, "failure": portable(self.failure)}

    def rest(self) -> None:
        """Keep the world packed until somebody asks for it. Raises UsageError where it cannot be."""
        if not isinstance(self._kept, Packed):
            self._kept = Packed.of(self._kept)

    @property
    def _scene(self) -> Scene:
        if isinstance(self._kept, Packed):
            self._kept = self._kept.unpacked()
        return self._kept

    @property
    def staged(self) -> Staged:
        """The problem as it was set up."""
        return self._scene.staged

    @property
    def world(self) -> World:
        """The world as it is now."""
        return self._scene.world

    @property
    def workstation(self) -> Workstation:
        """Where the agent's command lines run."""
        return self._scene.workstation

    @property
    def seconds(self) -> float:
        """Simulated seconds since the episode began, until it was handed in."""
        ended = self._state.ended
        return ((self._now() if ended is None else ended) - self._started) / SECOND

    def _now(self) -> int:
        return self._kept.now if isinstance(self._kept, Packed) else self._kept.world.now()

    @property
    def digest(self) -> str:
        """A hash of the world, empty where that is no value."""
        value = forkable(self.world)
        return "" if value is None else value.digest()

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._state.over

    # --- playing ----------------------------------------------------------------------------------

    def begin(self) -> tuple[str, dict[str, Any]]:
        """The briefing and the first info."""
        rules = self.rules
        alerts = self.world.alerts() if rules.mode == "reactive" else ()
        text = briefing(
            self.staged.app, mode=rules.mode, stage=rules.stage, alerts=alerts, commands=rules.max_commands
        )
        observation, cut = fit(text, rules.observation_chars)
        self._state = replace(self._state, results=(observation,))
        return observation, self._info(ToolOutcome("", tool=""), observation, cut)

    def play(self, text: str) -> Played:
        """One action, whatever it looks like."""
        if self._state.over:
            self._state = replace(self._state, step_terms=NOTHING, step_commands=0)
            return self._result(
                [ToolOutcome("The episode is over; reset the environment.", 1, "forbidden")], 0.0
            )
        self._state = replace(self._state, step=self._state.step + 1, step_commands=0)
        with effort.bounded():
            outcomes = self._carry_out(self._parsed(text))
        self._enforce_limits()
        return self._result(outcomes, self._settle_step())

    def charge(self, tokens: int) -> None:
        """Tokens that the policy's model has used; the next step pays for them."""
        self._state = replace(self._state, tokens=self._state.tokens + tokens)

    def finish(self, reason: str) -> Played:
        """End from outside: a trainer's limit, a deadline, a broken model.

        What was earned is paid; with ``grade_at_limit`` the repair is judged as it stands. ``infra`` pays nothing, and
        what had been paid is void. An episode that is over stays as it is. Raises UsageError for a reason there is not.
        """
        if reason not in OUTSIDE:
            raise UsageError(f"cannot finish an episode for {reason!r}; there are {', '.join(OUTSIDE)}")
        if reason == "infra" and not self._state.over:
            self._void()
        if self._state.over:
            self._state = replace(self._state, step_terms=NOTHING, step_commands=0)
            return self._result([ToolOutcome("The episode is over.")], 0.0)
        self._state = replace(self._state, step_commands=0)
        self._truncate(cast(ExitReason, reason))
        return self._result([ToolOutcome("The episode ends here.")], self._settle_step())

    def abort(self, failure: BaseException) -> Played:
        """End because the environment itself failed: no reward, not fit for training."""
        self.failure = failure
        self._void()
        return self._result([ToolOutcome("The environment failed; this episode ends here.", 1, "infra")], 0.0)

    def _void(self) -> None:
        """End without an outcome."""
        self._state = replace(
            self._state,
            terminated=False,
            truncated=True,
            exit_reason="infra",
            trainable=False,
            step_terms=NOTHING,
            terms=NOTHING,
            success=False,
        )

    def _parsed(self, text: str) -> Sequence[Action]:
        """What an action means; a text that is too much for the reader is refused."""
        try:
            return parse(text)
        except (effort.EffortExceeded, RecursionError, MemoryError):
            return (Refusal("The action is nested too deeply to be understood.", "parse_error", ""),)

    def _carry_out(self, actions: Sequence[Action]) -> list[ToolOutcome]:
        outcomes = []
        for action in actions:
            if self._state.over:
                outcomes.append(ToolOutcome("not carried out: the episode is over", 1, "forbidden"))
            else:
                outcome = self._one(action)
                outcomes.append(outcome)
                self._count(outcome.commands)
        return outcomes

    def _count(self, commands: int) -> None:
        state = self._state
        self._state = replace(
            state, commands=state.commands + commands, step_commands=state.step_commands + commands
        )

    def _one(self, action: Action) -> ToolOutcome:
        if isinstance(action, Refusal):
            self._think()
            return ToolOutcome(action.text, 2, action.error_type, action.tool)
        if isinstance(action, Submission):
            return self._submit(action)
        return self._run(action)

    def _think(self) -> None:
        """Let the time pass that an action takes by itself, as far as the world gets in it."""
        with suppress(effort.EffortExceeded):
            self.world.advance(THINKING_SECONDS)

    def _run(self, action: CommandLine) -> ToolOutcome:
        outcome = self.workstation.run(action.line, max(0, self.rules.max_commands - self._state.commands))
        for submission in outcome.submissions:
            if self._state.over:
                submitted = ToolOutcome("not carried out: the episode is over\n", 1, "forbidden", "submit")
            else:
                submitted = self._submit(submission)
            outcome = replace(submitted, text=outcome.text + submitted.text, commands=outcome.commands)
        return outcome

    def _enforce_limits(self) -> None:
        if self._state.over:
            return
        if self._state.commands >= self.rules.max_commands:
            self._truncate("max_commands")
        elif self.seconds >= self.rules.time_limit:
            self._truncate("time_limit")

    def _truncate(self, reason: ExitReason) -> None:
        """End at a limit: what stands repaired is judged where the rules say so."""
        self._state = replace(self._state, truncated=True, exit_reason=reason, ended=self.world.now())
        if self.rules.grade_at_limit and self.rules.stage != "diagnosis" and self._state.trainable:
            self._state = replace(self._state, verdict=self._judged(self.world))

    # --- submissions ------------------------------------------------------------------------------

    def _submit(self, submission: Submission) -> ToolOutcome:
        stage = submission.stage or self._waiting_for()
        self._think()
        if stage == "diagnosis":
            return self._submit_diagnosis(submission.text)
        return self._submit_mitigation()

    @property
    def waiting_for(self) -> Literal["diagnosis", "mitigation", "done"]:
        """What is to be handed in next."""
        return "done" if self._state.over else self._waiting_for()

    def _waiting_for(self) -> Literal["diagnosis", "mitigation"]:
        if self.rules.stage == "mitigation" or self._state.diagnosis is not None:
            return "mitigation"
        return "diagnosis"

    def _submit_diagnosis(self, text: str) -> ToolOutcome:
        if self.rules.stage == "mitigation":
            return _refused("No diagnosis is asked for; hand in the repair with: submit mitigation")
        if self._state.diagnosis is not None:
            return _refused("A diagnosis has been handed in already; the first one counts.")
        if not text.strip():
            return _refused('The diagnosis is empty. usage: submit diagnosis "TEXT"')
        app = self.staged.app
        if app.parts and (doubt := Apart(app).doubt(text)):
            return _refused(f"submit diagnosis: {doubt}")
        state = replace(self._state, diagnosis=text, ttd=self.seconds)
        try:
            grade = self._judge.grade(text, self.staged.specs, self.staged.app)
            state = replace(state, grade=grade, judge_usage=grade.usage)
        except JudgeError as error:
            self.failure = error
            state = replace(state, trainable=False, judge_usage=error.usage)
        if self.rules.stage == "diagnosis":
            state = replace(state, terminated=True, exit_reason="submitted")
        self._state = state
        rest = "" if state.terminated else " Now repair the system, then: submit mitigation"
        return ToolOutcome(f"Diagnosis received.{rest}\n", tool="submit")

    def _submit_mitigation(self) -> ToolOutcome:
        if self.rules.stage == "diagnosis":
            return _refused('No repair is asked for; hand in the diagnosis with: submit diagnosis "TEXT"')
        self._state = replace(
            self._state,
            ttm=self.seconds,
            ended=self.world.now(),
            terminated=True,
            exit_reason="submitted",
        )
        self._state = replace(self._state, verdict=self._judged(self.world))
        return ToolOutcome("Mitigation received. The episode is over.\n", tool="submit")

    def _judged(self, world: World) -> Verdict:
        """The oracle's verdict; a world too busy to be looked at in a bounded time is no healthy one."""
        try:
            with effort.bounded(own=JUDGING_EFFORT, world=JUDGING_EFFORT):
                return judge_state(world, self.staged.baseline, self.staged.causes, self.rules.patience)
        except (effort.EffortExceeded, RecursionError) as error:
            seen = f"what runs in the cluster leaves no room to check it ({type(error).__name__})"
            return conclude([Check("judged", False, seen, "a cluster that can be watched for some minutes")])

    def _kept_untouched(self) -> World | Verdict:
        """The world as it is before the agent comes, or what the oracle makes of it where it cannot be copied."""
        value = forkable(self.world)
        # In place this only takes time: the oracle is destructive only where everything else has passed.
        return self._judged(self.world) if value is None else value.fork()

    def _potential(self) -> float:
        """How well the users are, where the reward asks for it."""
        rule = self.rules.reward
        return rule.shaping * potential(self.world, self.staged.baseline) if rule.shaped else 0.0

    def _settle_step(self) -> float:
        """What the step earned: its costs, its shaping, and at the end what the verdicts pay."""
        rule, state = self.rules.reward, self._state
        seconds = self.seconds
        terms = {
            **NOTHING,
            # Not -cost: no cost would be -0.0, which prints and hashes differently.
            "command_cost": 0.0 - rule.command_cost * state.step_commands,
            "time_cost": 0.0 - rule.second_cost * (seconds - state.paid_seconds),
            "token_cost": 0.0 - rule.token_cost * state.tokens,
        }
        after = 0.0
        if rule.shaped:
            # Nothing comes after a terminal state, something would have come after a truncated one.
            after = 0.0 if state.terminated else self._potential()
            terms["shaping"] = rule.gamma * after - state.potential
        if state.over:
            terms.update(self._settle_accounts())
        terms = {name: round(value, 6) for name, value in terms.items()}
        if not self._state.trainable:
            terms = dict(NOTHING)
        self._state = replace(
            self._state,
            tokens=0,
            paid_seconds=seconds,
            potential=after,
            step_terms=terms,
            terms={name: round(self._state.terms[name] + value, 6) for name, value in terms.items()},
        )
        return round(sum(terms.values()), 6)

    def _settle_accounts(self) -> dict[str, float]:
        """What the verdicts pay."""
        state = self._state
        if not state.trainable:
            return {}
        untouched = self._scene.untouched
        if untouched is not None and not isinstance(untouched, Verdict):
            # A grading takes long, and only partial credit asks what the untouched world looked like.
            failed = state.verdict is not None and not state.verdict.passed
            untouched = self._aged(untouched) if failed else None
        reward = score(
            self.rules.reward,
            self.rules.stage,
            state.verdict,
            state.grade,
            untouched,
            healthy=not self.staged.specs,
        )
        self._state = replace(state, success=reward.success)
        return {name: reward.terms[name] for name in ("mitigation", "diagnosis", "collateral")}

    def _aged(self, untouched: World) -> Verdict:
        """The oracle's verdict on a world in which nobody acted, when it is as old as the one that was handed in."""
        # A copy: forks of this episode judge the same world at other ages.
        aged = demanded(untouched).fork()
        with suppress(effort.EffortExceeded), effort.bounded(own=JUDGING_EFFORT, world=JUDGING_EFFORT):
            aged.advance(self.seconds)
        return self._judged(aged)

    # --- results ----------------------------------------------------------------------------------

    @property
    def results(self) -> tuple[str, ...]:
        """What the calls of the last action were answered, one by one; the briefing before the first."""
        return self._state.results

    @property
    def terms(self) -> Mapping[str, float]:
        """What the last step earned, by term."""
        return self._state.step_terms

    @property
    def terms_total(self) -> Mapping[str, float]:
        """What all steps earned, by term."""
        return self._state.terms

    @property
    def potential(self) -> float | None:
        """The potential of the present, where the reward is shaped."""
        return self._state.potential if self.rules.reward.shaped else None

    def _result(self, outcomes: Sequence[ToolOutcome], reward: float) -> Played:
        results, cut = fitted([outcome.text for outcome in outcomes], self.rules.observation_chars)
        self._state = replace(self._state, results=results)
        observation = joined(results)
        state = self._state
        info = self._info(_told(outcomes), observation, cut)
        return Played(observation, reward, state.terminated, state.truncated, info)

    def _info(self, outcome: ToolOutcome, observation: str, cut: bool) -> dict[str, Any]:
        """The same flat keys and types at every step; fresh, deterministic, without wall-clock."""
        state = self._state
        return {
            "step": state.step,
            "commands": state.commands,
            "step_commands": state.step_commands,
            "tool": outcome.tool,
            "exit_code": outcome.exit_code,
            "error_type": outcome.error_type,
            "obs_chars": len(observation),
            "obs_truncated": cut,
            "sim_time_s": self.seconds,
            "stage": self.waiting_for,
            "is_success": state.success,
            "Diagnosis": state.grade is not None and state.grade.passed,
            "Mitigation": state.verdict is not None and state.verdict.passed,
            "TTD": state.ttd,
            "TTM": state.ttm,
            **{f"reward_{name}": state.terms[name] for name in TERMS},
            "exit_reason": state.exit_reason,
            "trainable": state.trainable,
            "grade": self._grade_json() if state.over else "",
        }

    def _grade_json(self) -> str:
        """Every named check and answer, as JSON: why the episode earned what it earned."""
        state = self._state
        return json.dumps(
            {
                "oracle": None if state.verdict is None else state.verdict.to_dict(),
                "judge": None if state.grade is None else {"name": self._judge.name, **state.grade.to_dict()},
            },
            sort_keys=True,
        )

    def state(self) -> dict[str, Any]:
        """Privileged: everything about the episode, the truth included. Not for agents."""
        state = self._state
        return {
            "task_id": self.staged.task_id,
            "episode_id": self.staged.episode_id,
            "specs": [spec.model_dump(mode="json") for spec in self.staged.specs],
            "root_cause": [spec.root_cause for spec in self.staged.specs],
            "diagnosis": state.diagnosis,
            "judge": self._judge.name,
            "judge_usage": None if state.judge_usage is None else state.judge_usage.model_dump(mode="json"),
            "failure": attributed(self.failure),
            "grade": None if state.grade is None else state.grade.to_dict(),
            "verdict": None if state.verdict is None else state.verdict.to_dict(),
            "digest": self.digest,
            "step": state.step,
            "sim_time_s": self.seconds,
            "exit_reason": state.exit_reason,
            "trainable": state.trainable,
        }


def _refused(text: str) -> ToolOutcome:
    return ToolOutcome(f"{text}\n", 1, "forbidden", "submit")


def _told(outcomes: Sequence[ToolOutcome]) -> ToolOutcome:
    """Several outcomes of one action as one: the last failure's code, the last one's tool."""
    if len(outcomes) == 1:
        return outcomes[0]
    failed: ErrorType = next((o.error_type for o in reversed(outcomes) if o.error_type), "")
    code = next((o.exit_code for o in reversed(outcomes) if o.exit_code), 0)
    return ToolOutcome("", code, failed, outcomes[-1].tool)
