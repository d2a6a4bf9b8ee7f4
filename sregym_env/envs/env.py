"""The Gymnasium environment: text in, text out, one problem per episode."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from inspect import signature
from typing import Any, cast, get_args

import gymnasium

from sregym_env.cluster.deploy import Backend
from sregym_env.envs.arguments import flag, mapping, number, one_of, typed, whole, word
from sregym_env.envs.assignment import Assignment, resolved
from sregym_env.envs.config import configuration
from sregym_env.envs.episode import Episode
from sregym_env.envs.rules import Rules
from sregym_env.envs.spaces import Text
from sregym_env.envs.staging import cleared, stage
from sregym_env.envs.tasks.splits import SPLITS, WAYS, By, Split, split_of
from sregym_env.envs.tasks.suites import suite
from sregym_env.errors import UsageError
from sregym_env.faults.problems import Problem, parsed
from sregym_env.rewards import judges
from sregym_env.rewards.judge import Judge
from sregym_env.rewards.oracle import Patience
from sregym_env.rewards.reward import rule
from sregym_env.tools.parse import MAX_ACTION_CHARS
from sregym_env.tools.tool import ToolFormat, schemas, text_help

MIN_OBSERVATION_CHARS = 1_000
"""Shorter observations could not even say what was left out."""

NOISE_PATIENCE = 600.0
"""Seconds the oracle waits longer where disturbances come and go: one period of the noise, and the kubelet's longest
back-off: a client that crashed on what the noise took starts again only then."""

EARLIEST, LATEST = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 10**6 for year in (2025, 9000))
"""Between which ``reset(options={"present": ...})`` may be: there is the Kubernetes that is played, and dates do not end yet."""

OPTIONS = frozenset(
    {
        "problem",
        "fault",
        "app",
        "target",
        "params",
        "noise",
        "variation",
        "silent_alerts",
        "mode",
        "stage",
        "present",
    }
)
"""Keys that ``reset(options=...)`` understands."""


class SREGymEnv(gymnasium.Env[str, str]):
    """A cluster with a fault in it, and a shell to find and repair it with.

    Args:
        problem: a curated problem's id, or a problem as a mapping.
        fault, app, target, params: a (fault, target) pair, instead of ``problem``; without a target the seed draws one.
        problems: a list of problems, or the name of a suite (:func:`~sregym_env.envs.tasks.suites.suite`), of which
            the seed draws one per episode, instead of ``problem``.
        split, split_by: play nothing but problems of ``train``, ``validation`` or ``test``, split by ``family`` or by
            ``target`` (:mod:`~sregym_env.envs.tasks.splits`).
        mode: ``proactive``, or ``reactive``: the episode begins when alerts fire, and lists them.
        stage: ``e2e``, ``diagnosis`` or ``mitigation``.
        noise: whether transient disturbances that are not the cause come and go.
        variation: whether every (problem, seed) has a world of its own, with a past; False for the application as it is
            published, struck as SREGym's injectors strike.
        silent_alerts: whether the rules of alerts read labels that an upgrade has renamed some time before, so that no alert
            fires, whatever happens; only with ``mode="proactive"`` and on the embedded cluster.
        reward: a preset (``composite``, ``sparse``, ``graded``, ``shaped``) or its fields
            (:class:`~sregym_env.rewards.reward.RewardRule`).
        judge: who grades the diagnosis: ``spec``, the deterministic one and the default; a mapping with a model's name and
            address (:func:`~sregym_env.rewards.judges.judge`); or a judge.
        backend: where it is played, e.g. :class:`~sregym_env.live.backend.LiveBackend`; the embedded cluster by default.
        max_commands: commands after which the episode is truncated: every kubectl, curl and alerts that a line runs
            counts, and every action as one at least.
        time_limit: simulated seconds after which it is truncated.
        grade_at_limit: whether at a limit the repair is judged as it stands, as if it had been handed in.
        obs_chars: length of an observation at most; a longer one is cut with a note that says so.
        render_mode: ``ansi`` for a transcript.
        raise_errors: let defects of the environment raise instead of ending the episode as ``infra``.
        compact: whether the world is kept packed between calls: a tenth of the memory, and every step some 40 ms longer.
            For thousands of environments in one process that mostly wait for a model.
        salt: a secret that goes into the opaque names of tasks and episodes in :meth:`state` and in records, so that nobody
            who knows this package can tell the problem from them; by default the variable ``SREGYM_SALT``.

    Raises UsageError for arguments that are unknown, contradict each other or make no sense, ProblemError for problems,
    faults and applications that there are not; what does not fit the cluster is told by :meth:`reset`.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        problem: str | Mapping[str, Any] | None = None,
        *,
        fault: str | None = None,
        app: str | None = None,
        target: str | None = None,
        params: Mapping[str, Any] | None = None,
        problems: str | Sequence[str | Mapping[str, Any] | Problem] = (),
        split: str | None = None,
        split_by: str = "family",
        mode: str = "proactive",
        stage: str = "e2e",
        noise: bool = False,
        variation: bool = True,
        silent_alerts: bool = False,
        reward: str | Mapping[str, Any] | None = None,
        judge: Judge | str | Mapping[str, Any] | None = None,
        backend: Backend | None = None,
        max_commands: int = 60,
        time_limit: float = 4 * 3600.0,
        grade_at_limit: bool = False,
        obs_chars: int = 16_000,
        render_mode: str | None = None,
        raise_errors: bool = False,
        compact: bool = False,
        salt: str | None = None,
        **unknown: Any,
    ) -> None:
        _refuse_unknown(unknown)
        one_of("split", split, (None, *SPLITS))
        one_of("split_by", split_by, WAYS)
        if split is None and split_by != "family":
            raise UsageError(f"split_by={split_by!r} says how a split is made: pass split= as well")
        obs_chars = whole("obs_chars", obs_chars, MIN_OBSERVATION_CHARS)
        if render_mode not in (None, "ansi"):
            raise UsageError(f"no render mode {render_mode!r}; there is ansi")
        self.render_mode = render_mode
        self.observation_space = Text(obs_chars)
        self.action_space = Text(MAX_ACTION_CHARS, min_length=1)
        self._assignment = Assignment(
            problem=problem,
            fault=word("fault", fault),
            app=word("app", app),
            target=word("target", target),
            params=mapping("params", params),
            problems=_listed(problems, split, split_by),
            split=cast(Split | None, split),
            split_by=cast(By, split_by),
            noise=flag("noise", noise),
            variation=flag("variation", variation),
            silent_alerts=flag("silent_alerts", silent_alerts),
        )
        self._assignment.demand_one()
        self._assignment.demand_known()
        self._rules = Rules(
            mode=one_of("mode", mode, ("proactive", "reactive")),
            stage=one_of("stage", stage, ("e2e", "diagnosis", "mitigation")),
            reward=rule(reward),
            max_commands=whole("max_commands", max_commands, 1),
            time_limit=number("time_limit", time_limit, 1),
            grade_at_limit=flag("grade_at_limit", grade_at_limit),
            observation_chars=obs_chars,
        )
        self._judge: Judge = judges.judge(judge)
        if backend is not None and not callable(getattr(backend, "deploy", None)):
            raise UsageError(
                f"backend: {backend!r} makes no worlds; give a sregym_env.live.backend.LiveBackend, or nothing for the "
                "embedded cluster"
            )
        if backend is not None and compact:
            raise UsageError(
                "compact=True packs worlds of the embedded cluster; a backend's own cannot be packed"
            )
        self._backend = backend
        self._compact = flag("compact", compact)
        self._raise_errors = flag("raise_errors", raise_errors)
        self._salt = os.environ.get("SREGYM_SALT", "") if salt is None else str(word("salt", salt))
        self._episode: Episode | None = None
        self._observation = ""
        self._transcript: list[str] = []

    # --- Gymnasium --------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Set up a problem: deploy, inject, wait for the symptoms; returns the briefing.

        The seed fixes everything; without one the environment's own generator draws it. ``options`` may
        replace, for this episode, any of ``problem``, ``fault``, ``app``, ``target``, ``params``, ``noise``,
        ``variation``, ``silent_alerts``, ``mode`` and ``stage``; ``present`` is the instant (microseconds since 1970) from which the world's
        clock is set, instead of the one that the seed draws. Raises ProblemError or UsageError where they make no sense.
        """
        super().reset(seed=seed)
        # Before the problem is drawn, so that what that takes shifts no world.
        world_seed = seed if seed is not None else int(self.np_random.integers(2**31))
        options = mapping("options", options)
        assignment, rules = self._with_options(options)
        problem = assignment.resolve(self.np_random)
        if problem.noise_on:
            rules = _patient(rules)
        if problem.silent_alerts and (rules.mode == "reactive" or self._backend is not None):
            raise UsageError(
                'silent_alerts=True needs the embedded cluster and mode="proactive": nobody is called by alerts that stay silent'
            )
        # Not before the options are known to make sense: a refused reset leaves the episode as it was.
        self._leave()
        staged = stage(
            problem,
            world_seed,
            mode=rules.mode,
            backend=self._backend,
            salt=self._salt,
            present=_present(options.get("present")),
        )
        self._episode = Episode(staged, rules, self._judge)
        observation, info = self._episode.begin()
        self._observation = observation
        self._transcript = [observation] if self.render_mode == "ansi" else []
        self._rest()
        return observation, info

    def demand_options(self, options: Mapping[str, Any] | None) -> None:
        """Raise ProblemError or UsageError where ``reset(options=options)`` would, as far as nothing has to be drawn for it."""
        given = mapping("options", options)
        assignment, _ = self._with_options(given)
        assignment.demand_known()
        _present(given.get("present"))

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out one command line or tool call. Bad input is answered, never raised."""
        episode = self._current()
        try:
            played = episode.play(typed(action))
        except (
            Exception
        ) as error:  # a rollout of thousands goes on; the episode says that it is not to be used
            if self._raise_errors:
                raise
            played = episode.abort(error)
        if self.render_mode == "ansi":
            self._transcript.append(f"$ {action}\n{played.observation}")
        self._observation = played.observation
        self._rest()
        return played.observation, played.reward, played.terminated, played.truncated, played.info

    def render(self) -> str | None:
        """The transcript of the episode so far, in ``ansi`` mode."""
        return "\n".join(self._transcript) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Leave the cluster that was played on as healthy as may be."""
        self._leave()

    # --- beyond Gymnasium -------------------------------------------------------------------------

    def finish(self, reason: str = "max_steps") -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Settle an episode that somebody else ends: an outer ``TimeLimit``, a trainer's context length, a deadline.

        A diagnosis that was handed in is paid; with ``grade_at_limit`` the repair is judged as it stands. The return
        is that of a step; an episode that is over earns nothing more. ``reason``: one of
        :data:`~sregym_env.envs.episode.OUTSIDE`; ``infra`` says that something broke and voids the episode.
        """
        episode = self._current()
        try:
            played = episode.finish(reason)
        except UsageError:
            raise
        except Exception as error:  # as in a step: the rollout goes on, the episode is not to be used
            if self._raise_errors:
                raise
            played = episode.abort(error)
        self._observation = played.observation
        self._rest()
        return played.observation, played.reward, played.terminated, played.truncated, played.info

    def charge(self, tokens: int) -> None:
        """Say how many tokens the policy's model has used: the next step pays for them (``token_cost``).

        Raises UsageError for what is no number of tokens.
        """
        self._current().charge(whole("tokens", tokens, 0))

    @property
    def observation(self) -> str:
        """The last observation."""
        return self._observation

    @property
    def results(self) -> tuple[str, ...]:
        """What the tool calls of the last action were answered, one by one; ``observation`` is their join."""
        return self._current().results

    @property
    def terms(self) -> dict[str, float]:
        """What the last step earned, by term, without those that are zero."""
        return {name: value for name, value in self._current().terms.items() if value}

    @property
    def terms_total(self) -> dict[str, float]:
        """What all steps of the episode earned, by term."""
        return dict(self._current().terms_total)

    @property
    def potential(self) -> float | None:
        """Privileged: of a shaped reward, the potential of the present."""
        return self._current().potential

    @property
    def problems(self) -> tuple[str | Mapping[str, Any] | Problem, ...]:
        """The problems of which the seed draws one, as they were given; empty where it draws none."""
        return self._assignment.problems

    def config(self) -> dict[str, Any]:
        """How the episode is played, as JSON: everything but the problem. ``SREGymEnv(**arguments(config))``, in
        :mod:`~sregym_env.envs.config`, plays the same way."""
        episode = self._current()
        played = parsed(episode.staged.problem_json)
        return configuration(
            episode.rules,
            self._judge,
            noise=played.noise_on,
            variation=played.variation,
            silent_alerts=played.silent_alerts,
            backend="sim" if self._backend is None else "live",
        )

    def tools(self, format: ToolFormat = "openai") -> list[dict[str, Any]]:
        """The tools' schemas in a dialect: openai, openai_responses, anthropic, mcp or text. Raises UsageError for others."""
        return schemas(one_of("format", format, get_args(ToolFormat)))

    def tools_text(self) -> str:
        """The tools described in words, for a prompt."""
        return text_help()

    def fork(self) -> SREGymEnv:
        """An independent environment in the same state, for search and for groups of rollouts.

        Raises UsageError on a backend whose worlds cannot be copied; so does :meth:`snapshot`.
        """
        copy = object.__new__(SREGymEnv)
        copy.__dict__.update(self.__dict__)
        copy._episode = None if self._episode is None else self._episode.fork()
        copy._transcript = list(self._transcript)
        # Gymnasium's generators cannot be shared: drawing in one environment would move the other on.
        copy._np_random = None
        if self._np_random is not None:
            copy._np_random, _ = gymnasium.utils.seeding.np_random(0)
            copy._np_random.bit_generator.state = self._np_random.bit_generator.state
        return copy

    def snapshot(self) -> Snapshot:
        """The present, to :meth:`restore` later, any number of times."""
        return Snapshot(self._current().fork(), tuple(self._transcript), self._observation)

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot of this environment or of one with the same arguments. Raises UsageError for what is none."""
        if not isinstance(snapshot, Snapshot):
            raise UsageError(f"restore() takes what snapshot() returned, not {snapshot!r}")
        self._episode = snapshot.episode.fork()
        self._transcript = list(snapshot.transcript)
        self._observation = snapshot.observation
        self._rest()

    def state(self) -> dict[str, Any]:
        """Privileged: the truth, verdicts and a digest of the world. Not for agents."""
        state = self._current().state()
        self._rest()
        return state

    @property
    def episode(self) -> Episode:
        """Privileged: the episode being played, its world included. Raises before the first reset."""
        return self._current()

    def _leave(self) -> None:
        """Be done with the episode: a cluster that goes on gets its faults taken back."""
        if self._episode is not None and self._backend is not None:
            cleared(self._episode.staged)
            self._episode = None

    def _rest(self) -> None:
        """Pack the world until the next call, where that is wanted."""
        if self._compact and self._episode is not None:
            self._episode.rest()

    def _current(self) -> Episode:
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("call reset() before anything else")
        return self._episode

    def _with_options(self, options: Mapping[str, Any]) -> tuple[Assignment, Rules]:
        unknown = sorted(set(options) - OPTIONS)
        if unknown:
            raise UsageError(f"unknown reset option {unknown[0]!r}; there are {', '.join(sorted(OPTIONS))}")
        rules = self._rules
        if "mode" in options:
            rules = replace(rules, mode=one_of("mode", options["mode"], ("proactive", "reactive")))
        if "stage" in options:
            rules = replace(
                rules, stage=one_of("stage", options["stage"], ("e2e", "diagnosis", "mitigation"))
            )
        return self._assignment.changed(options), rules


def _present(value: Any) -> int | None:
    """An instant from which a world can be set. Raises UsageError for others: a time in seconds, a clock that was never set."""
    if value is None:
        return None
    present = whole("present", value, 1)
    if not EARLIEST <= present < LATEST:
        raise UsageError(
            f"present is the microseconds since 1970 of an instant between the years 2025 and 9000, not {value!r}"
        )
    return present


class Snapshot:
    """An episode at one moment. Opaque; see :meth:`SREGymEnv.restore`."""

    __slots__ = ("episode", "observation", "transcript")

    def __init__(self, episode: Episode, transcript: tuple[str, ...], observation: str = "") -> None:
        self.episode = episode
        self.transcript = transcript
        self.observation = observation


def _listed(
    problems: str | Sequence[str | Mapping[str, Any] | Problem], split: str | None, by: str
) -> tuple[str | Mapping[str, Any] | Problem, ...]:
    """The problems to draw from: a suite's where it is named, without those of other splits."""
    if isinstance(problems, Mapping) or not isinstance(problems, Iterable):
        raise UsageError(f"problems must be a list of problems or the name of a suite, not {problems!r}")
    listed = suite(problems) if isinstance(problems, str) else tuple(problems)
    # All of them now: what is wrong with one would else be told by the seed that draws it.
    known = tuple(map(resolved, listed))
    if split is None or not listed:
        return listed
    kept = tuple(
        each for each, problem in zip(listed, known, strict=True) if split_of(problem, cast(By, by)) == split
    )
    if not kept:
        raise UsageError(f"none of the {len(listed)} problems belongs to the {split} split by {by}")
    return kept


def _refuse_unknown(unknown: Mapping[str, Any]) -> None:
    if unknown:
        name = next(iter(unknown))
        known = sorted(set(signature(SREGymEnv).parameters) - {"unknown"})
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"unknown argument {name!r}; {hint}there are {', '.join(known)}")


def _patient(rules: Rules) -> Rules:
    return replace(rules, patience=Patience(noise=NOISE_PATIENCE))
