"""``sregym run``: from what was asked to a plan, a pool that plays it, and a table of what came of it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from time import monotonic
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from sregym_env.cli import terminal
from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.reader import open_dataset
from sregym_env.rollouts.plan import Group, PolicyChoice, RunPlan, groups, named
from sregym_env.rollouts.pool import GroupResult, LocalPool, Player, Pool
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.report import demand_place, write_report
from sregym_env.rollouts.runner import Budgets
from sregym_env.rollouts.runs import Run, play, saved_plan
from sregym_env.rollouts.statistics import summarise

LINE_SECONDS = 60.0
"""How often progress is told where there is no terminal to draw it on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be played, and how, whoever plays."""

    words: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    episodes: int | None = None
    rounds: int = 1
    samples: int = 1
    seed: int = 0
    env: Mapping[str, Any] = field(default_factory=dict)
    budgets: Budgets = field(default_factory=Budgets)
    digests: bool = False
    timing: bool = False

    def groups(self) -> tuple[Group, ...]:
        """The groups that are meant. Raises UsageError where nothing is named, ProblemError for what there is not."""
        if not self.words and not self.suites:
            raise UsageError("nothing to play: name problems (`sregym list`), or a suite with --suite")
        if self.episodes is not None and self.rounds != 1:
            raise UsageError("--episodes and --rounds both say how much is played: give one of them")
        return groups(
            named(self.words, self.suites),
            rounds=self.rounds,
            episodes=self.episodes,
            samples=self.samples,
            seed=self.seed,
        )

    def plan(self, chosen: Sequence[Group], policy: str, options: Mapping[str, Any]) -> RunPlan:
        """The plan for a policy. Raises UsageError for an environment or a policy that cannot be made."""
        plan = RunPlan.of(
            chosen,
            policy=PolicyChoice(name=policy, options=dict(options)),
            env=self.env,
            budgets=self.budgets,
            digests=self.digests,
            timing=self.timing,
        )
        # What makes no sense is told before any worker begins.
        Player(plan.without_groups())
        return plan


@dataclass(frozen=True, slots=True)
class Played:
    """Where episodes are played."""

    workers: int = 1
    concurrency: int = 1
    address: str | None = None
    group_seconds: float | None = None

    @contextmanager
    def pool(self) -> Iterator[Pool]:
        """What plays: this process alone, or actors. Raises UsageError where Ray is needed and not installed."""
        if self.workers == 1 and self.address is None:
            if self.group_seconds is not None:
                raise UsageError(
                    "--group-seconds needs processes that can be ended: give --workers 2 or more"
                )
            yield LocalPool(self.concurrency)
            return
        try:
            from sregym_env.rollouts.ray import GROUP_SECONDS, RolloutPool
        except ModuleNotFoundError as error:
            if error.name != "ray":
                raise
            raise UsageError(
                "more than one worker needs Ray: pip install 'sregym-env[ray]' (or --workers 1)"
            ) from error
        # Ray tells of dead workers on the standard output, which is for results.
        with (
            redirect_stdout(sys.stderr),
            RolloutPool(
                self.workers,
                address=self.address,
                episodes_per_worker=self.concurrency,
                group_seconds=self.group_seconds or GROUP_SECONDS,
            ) as pool,
        ):
            yield pool


@dataclass(frozen=True, slots=True)
class Kept:
    """What becomes of it."""

    out: Path | None = None
    resume: bool = False
    redo_void: bool = False
    report: Path | None = None

    def __post_init__(self) -> None:
        for name, given in (("--resume", self.resume), ("--report", self.report)):
            if given and self.out is None:
                raise UsageError(f"{name} needs --out, the folder of the dataset")
        if self.redo_void and not self.resume:
            raise UsageError("--redo-void needs --resume: what has no outcome is in a folder")
        if self.report is not None:
            demand_place(self.report)  # hours before it is written

    @contextmanager
    def told_how_to_go_on(self) -> Iterator[None]:
        """Whoever interrupts a run is told how it goes on; exits with 130."""
        try:
            yield
        except KeyboardInterrupt:
            how = (
                f"go on with: sregym ... --resume --out {quote(str(self.out))}"
                if self.out
                else "nothing was kept: give --out"
            )
            print(f"\nsregym: interrupted; {how}", file=sys.stderr)
            raise SystemExit(130) from None

    def write_report(self) -> None:
        """Write the report that was asked for."""
        if self.report is not None and self.out is not None:
            write_report(self.out, self.report)


def run_all(
    asked: Asked,
    policy: str,
    options: Mapping[str, Any],
    played: Played,
    kept: Kept,
    *,
    by: str,
    as_json: bool,
) -> int:
    """Play it and print what came of it; the exit code."""
    out = kept.out
    if kept.resume and out is not None and not asked.words and not asked.suites:
        plan = saved_plan(out)
    else:
        plan = asked.plan(asked.groups(), policy, options)
    summarise((), by)  # what it cannot sum up by is told before hours are spent
    single = plan.episodes == 1
    whole: list[EpisodeRecord] = []
    with kept.told_how_to_go_on(), played.pool() as pool, Meter(plan) as meter:

        def watch(result: GroupResult) -> None:
            meter.count(result)
            if single:
                whole.extend(rollout.record for rollout in result.rollouts)

        run = play(
            plan,
            pool,
            folder=out,
            resume=kept.resume,
            redo_void=kept.redo_void,
            begun=meter.begin,
            watch=watch,
        )
    if single and run.resumed and out is not None:
        whole = list(open_dataset(out).episodes())
    if single and whole:
        print(whole[0].to_json()) if as_json else terminal.print_table([row(whole[0])])
    elif as_json:
        print(json.dumps(told(run, by, out), indent=2))
    else:
        print_run(run, by, out)
    kept.write_report()
    return tell_lost([run])


def told(run: Run, by: str, out: Path | None) -> dict[str, Any]:
    """A run as plain JSON."""
    return {
        "run_id": run.plan.run_id,
        "folder": None if out is None else str(out),
        "episodes": len(run.records),
        "resumed": run.resumed,
        "summaries": [summary.to_dict() for summary in summarise(run.records, by)],
        "given_up": [
            {"group_id": each.group.group_id, "attempt": each.attempt, "error": each.error}
            for each in run.given_up
        ],
    }


def print_run(run: Run, by: str, out: Path | None) -> None:
    """A table, and where the dataset is."""
    terminal.print_table([shown(summary.row()) for summary in summarise(run.records, by)])
    if out is not None:
        console = terminal.console()
        went_on = f", {run.resumed} of them from before" if run.resumed else ""
        console.print(f"{len(run.records)} episodes in {out}{went_on} (run {run.plan.run_id})")


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what no episode has: tokens and costs where no model played."""
    return {name: value for name, value in row.items() if value not in (None, "") or name == "success_%"}


def row(record: EpisodeRecord) -> dict[str, Any]:
    """One episode in one row."""
    return {
        "return": record.return_,
        "success": record.success,
        "exit": record.exit_reason,
        "steps": len(record.steps),
        "commands": record.commands,
        "sim_time_s": round(record.sim_time_s, 1),
        "mitigation": record.reward_terms["mitigation"],
        "diagnosis": record.reward_terms["diagnosis"],
        "failure": None if record.failure is None else f"{record.failure.kind}: {record.failure.reason}",
    }


def tell_lost(runs: Sequence[Run]) -> int:
    """What could not be played, and what kept episodes from an outcome, on the standard error; the exit code."""
    for run in runs:
        for each in run.given_up:
            problem = each.group.problem.get("id")
            _say(
                f"gave up {problem}, seed {each.group.seed}, after {each.attempt + 1} attempts: {each.error}"
            )
    causes = Counter(_lost_to(record) for run in runs for record in run.records if record.return_ is None)
    for cause, count in causes.most_common(TOLD_CAUSES):
        _say(f"{count} {'episode has' if count == 1 else 'episodes have'} no outcome: {cause}")
    if len(causes) > TOLD_CAUSES:
        _say(f"and {len(causes) - TOLD_CAUSES} further reasons; the records have them (failure.detail)")
    return 1 if any(run.given_up or not _any_outcome(run) for run in runs) else 0


TOLD_CAUSES = 5
"""Of the reasons for which episodes have no outcome, how many are told."""


def _say(text: str) -> None:
    print(f"sregym: {text}", file=sys.stderr)


def _any_outcome(run: Run) -> bool:
    return not run.records or any(record.return_ is not None for record in run.records)


def _lost_to(record: EpisodeRecord) -> str:
    failure = record.failure
    if failure is None:
        return f"it was ended from outside ({record.exit_reason})"
    return f"{failure.kind}: {failure.reason}" + (f" ({failure.detail})" if failure.detail else "")


class Meter:
    """Progress with a success rate, on the standard error: a bar on a terminal, else a line now and then."""

    def __init__(self, plan: RunPlan, label: str = "") -> None:
        self._total = plan.episodes
        self._label = label or plan.policy.name
        self._played = self._won = self._scored = self._lost = self._known = 0
        self._began = self._told = monotonic()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task(self._label, total=self._total, note="")

    def begin(self, known: int) -> None:
        """So many episodes need not be played."""
        self._known = known
        self._progress.update(self._task, completed=known)

    def count(self, result: GroupResult) -> None:
        """A group has come."""
        scored = [rollout.record for rollout in result.rollouts if rollout.record.trainable]
        self._played += len(result.rollouts)
        self._scored += len(scored)
        self._won += sum(record.success for record in scored)
        self._lost += result.error is not None
        self._progress.update(self._task, completed=self._known + self._played, note=self.note())
        if self._progress.disable and monotonic() - self._told >= LINE_SECONDS:
            self._told = monotonic()
            print(
                f"{self._label}: {self._known + self._played} of {self._total} episodes, {self.note()}",
                file=sys.stderr,
                flush=True,
            )

    def note(self) -> str:
        """How it goes."""
        seconds = max(monotonic() - self._began, 1e-9)
        parts = [f"{self._won / self._scored:.0%} solved"] if self._scored else []
        parts.append(f"{self._played / seconds:.1f}/s")
        if self._lost:
            parts.append(f"{self._lost} given up")
        return ", ".join(parts)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


def assigned(option: str, words: Sequence[str] | None) -> dict[str, Any]:
    """``KEY=VALUE`` words as a mapping; values are JSON, or text where they are none; of a key that is given twice the last holds. Raises UsageError."""
    found: dict[str, Any] = {}
    for word in words or ():
        key, sign, value = word.partition("=")
        key = key.strip()
        if not sign or not key:
            raise UsageError(f"{option} wants KEY=VALUE, not {word!r}")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


def given_once(own: Mapping[str, Any], option: str, words: Sequence[str] | None) -> dict[str, Any]:
    """What options of their own say, and :func:`assigned` ones. Raises UsageError for what both say."""
    found = assigned(option, words)
    if twice := sorted(own.keys() & found.keys()):
        raise UsageError(
            f"{option} {twice[0]}=... contradicts an option of its own that says {twice[0]}, too; give one of them"
        )
    return {**own, **found}
