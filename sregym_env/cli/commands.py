"""The options of ``sregym run`` and ``sregym eval``, and what they mean together.

What the commands need is imported when they run, so that ``sregym --help`` stays quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sregym_env.cli.errors import told_errors
from sregym_env.errors import UsageError

_PLAYED = "What is played"
_HOW = "How it is played"
_WHERE = "Where it is played"
_RESULT = "What becomes of it"

Names = Annotated[
    list[str] | None,
    typer.Argument(
        help="Ids of `sregym list`, APP/FAULT/TARGET, or patterns of either such as 'hotel*/*/geo'."
    ),
]
Suites = Annotated[
    list[str] | None,
    typer.Option("--suite", help="smoke, lite, curated, all, or an application.", rich_help_panel=_PLAYED),
]
Episodes = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Episodes in all, spread evenly over the problems; one of each if left out.",
        rich_help_panel=_PLAYED,
    ),
]
Rounds = Annotated[
    int,
    typer.Option(
        min=1, help="Instead of --episodes: episodes of every problem. Seeds differ.", rich_help_panel=_PLAYED
    ),
]
Samples = Annotated[
    int,
    typer.Option(
        min=1, help="Times that every episode is played from its beginning.", rich_help_panel=_PLAYED
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, help="Fixes everything that is left to chance.", rich_help_panel=_PLAYED)
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", help="KEY=VALUE for the policy; values are JSON or text.", rich_help_panel=_HOW),
]
Model = Annotated[str, typer.Option(help="Of policy llm: the model's name.", rich_help_panel=_HOW)]
BaseUrl = Annotated[str, typer.Option(help="Of policy llm: where the model is served.", rich_help_panel=_HOW)]
Api = Annotated[
    str, typer.Option(help="Of policy llm: the dialect that is spoken there.", rich_help_panel=_HOW)
]
Noise = Annotated[
    bool, typer.Option("--noise", help="Let transient disturbances come and go.", rich_help_panel=_HOW)
]
Published = Annotated[
    bool,
    typer.Option(
        "--published",
        help="Play the application as published, without variation and past.",
        rich_help_panel=_HOW,
    ),
]
Env = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        help="KEY=VALUE for the environment: mode, stage, reward, judge, max_commands, time_limit, grade_at_limit, "
        "obs_chars; values are JSON or text.",
        rich_help_panel=_HOW,
    ),
]
BudgetSteps = Annotated[
    int | None, typer.Option(min=1, help="Turns that an episode may take.", rich_help_panel=_HOW)
]
BudgetSim = Annotated[
    float | None, typer.Option(help="Simulated seconds that an episode may take.", rich_help_panel=_HOW)
]
BudgetTokens = Annotated[
    int | None, typer.Option(min=1, help="Tokens that an episode may take.", rich_help_panel=_HOW)
]
BudgetWall = Annotated[
    float | None,
    typer.Option(
        help="Real seconds that an episode may take; results then depend on the machine.",
        rich_help_panel=_HOW,
    ),
]
Digests = Annotated[
    bool,
    typer.Option("--digests", help="Record a digest of the world after every step.", rich_help_panel=_HOW),
]
Timing = Annotated[
    bool,
    typer.Option(
        "--timing", help="Record real seconds; no two runs are the same then.", rich_help_panel=_HOW
    ),
]
Workers = Annotated[
    int, typer.Option(min=1, help="Processes; more than one needs Ray.", rich_help_panel=_WHERE)
]
Concurrency = Annotated[
    int,
    typer.Option(
        min=1, help="Groups at once per process, for policies that wait for a model.", rich_help_panel=_WHERE
    ),
]
Address = Annotated[
    str, typer.Option(help="Of a Ray cluster, or auto; without, this machine.", rich_help_panel=_WHERE)
]
GroupSeconds = Annotated[
    float | None,
    typer.Option(help="Real seconds after which a worker is taken to hang.", rich_help_panel=_WHERE),
]
Out = Annotated[
    Path | None, typer.Option(file_okay=False, help="Folder of the dataset.", rich_help_panel=_RESULT)
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with what the folder holds of this run.", rich_help_panel=_RESULT),
]
RedoVoid = Annotated[
    bool,
    typer.Option(
        "--redo-void",
        help="With --resume: also play again what has no outcome, because an endpoint or the judge failed.",
        rich_help_panel=_RESULT,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(dir_okay=False, help="HTML file to write about it; needs --out.", rich_help_panel=_RESULT),
]
By = Annotated[
    str, typer.Option(help="What to sum up by: policy, task, seed, exit_reason ...", rich_help_panel=_RESULT)
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of a table.", rich_help_panel=_RESULT)
]


def _worlds(noise: bool, published: bool) -> dict[str, bool]:
    """Arguments of the environment; what is as by default stays out of the plan."""
    return {**({"noise": True} if noise else {}), **({"variation": False} if published else {})}


def _as_it_was(out: Path | None, **given: object) -> None:
    """Refuse what a run that goes on by its own plan would not heed. Raises UsageError."""
    named = ", ".join(f"--{name.replace('_', '-')}" for name, value in given.items() if value)
    if named:
        raise UsageError(
            f"--resume goes on as the run in {out} was begun and heeds no {named}: leave that out, or name the problems, too, "
            "and another --out for a run of its own"
        )


def run(
    problems: Names = None,
    suite: Suites = None,
    episodes: Episodes = None,
    rounds: Rounds = 1,
    samples: Samples = 1,
    seed: Seed = 0,
    policy: Annotated[
        str, typer.Option(help="Who plays; llm where a model is given.", rich_help_panel=_HOW)
    ] = "",
    option: Options = None,
    model: Model = "",
    base_url: BaseUrl = "",
    api: Api = "",
    noise: Noise = False,
    published: Published = False,
    env: Env = None,
    budget_steps: BudgetSteps = None,
    budget_sim_seconds: BudgetSim = None,
    budget_tokens: BudgetTokens = None,
    budget_wall_seconds: BudgetWall = None,
    digests: Digests = False,
    timing: Timing = False,
    workers: Workers = 1,
    concurrency: Concurrency = 1,
    address: Address = "",
    group_seconds: GroupSeconds = None,
    out: Out = None,
    resume: Resume = False,
    redo_void: RedoVoid = False,
    report: Report = None,
    by: By = "policy",
    as_json: AsJson = False,
) -> None:
    """Play episodes with a policy, on as many processes as you like, and sum up what came of them.

    Exits with 1 where some could not be played.
    """
    from sregym_env.cli.running import Asked, Kept, Played, given_once, run_all
    from sregym_env.rollouts.runner import Budgets

    with told_errors():
        if resume and not problems and not suite:
            _as_it_was(
                out, episodes=episodes, rounds=rounds != 1, samples=samples != 1, seed=seed, policy=policy, option=option, model=model,
                base_url=base_url, api=api, noise=noise, published=published, env=env, budget_steps=budget_steps,
                budget_sim_seconds=budget_sim_seconds, budget_tokens=budget_tokens, budget_wall_seconds=budget_wall_seconds,
                digests=digests, timing=timing,
            )  # fmt: skip
        told = {"model": model, "base_url": base_url, "api": api}
        asked = Asked(
            words=tuple(problems or ()),
            suites=tuple(suite or ()),
            episodes=episodes,
            rounds=rounds,
            samples=samples,
            seed=seed,
            env=given_once(_worlds(noise, published), "--env", env),
            budgets=Budgets(budget_steps, budget_sim_seconds, budget_tokens, budget_wall_seconds),
            digests=digests,
            timing=timing,
        )
        code = run_all(
            asked,
            policy or ("llm" if model else "expert"),
            given_once({name: value for name, value in told.items() if value}, "--option", option),
            Played(workers, concurrency, address or None, group_seconds),
            Kept(out, resume, redo_void, report),
            by=by,
            as_json=as_json,
        )
    raise typer.Exit(code)


def evaluate(
    policies: Annotated[
        str,
        typer.Option(
            help="Who plays, with commas between; options in brackets: 'expert,llm[model=NAME;base_url=URL]'. The "
            "others are compared with the first.",
            rich_help_panel=_HOW,
        ),
    ],
    problems: Names = None,
    suite: Suites = None,
    episodes: Episodes = None,
    rounds: Rounds = 1,
    samples: Samples = 1,
    seed: Seed = 0,
    noise: Noise = False,
    published: Published = False,
    env: Env = None,
    budget_steps: BudgetSteps = None,
    budget_sim_seconds: BudgetSim = None,
    budget_tokens: BudgetTokens = None,
    budget_wall_seconds: BudgetWall = None,
    digests: Digests = False,
    timing: Timing = False,
    workers: Workers = 1,
    concurrency: Concurrency = 1,
    address: Address = "",
    group_seconds: GroupSeconds = None,
    out: Out = None,
    resume: Resume = False,
    redo_void: RedoVoid = False,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Compare policies on the same problems and seeds, with intervals of the differences.

    Exits with 1 where some episodes could not be played.
    """
    from sregym_env.cli.evaluating import evaluate_all, parsed
    from sregym_env.cli.running import Asked, Kept, Played, given_once
    from sregym_env.rollouts.runner import Budgets

    with told_errors():
        asked = Asked(
            words=tuple(problems or ()),
            suites=tuple(suite or ()),
            episodes=episodes,
            rounds=rounds,
            samples=samples,
            seed=seed,
            env=given_once(_worlds(noise, published), "--env", env),
            budgets=Budgets(budget_steps, budget_sim_seconds, budget_tokens, budget_wall_seconds),
            digests=digests,
            timing=timing,
        )
        code = evaluate_all(
            asked,
            parsed(policies),
            Played(workers, concurrency, address or None, group_seconds),
            Kept(out, resume, redo_void, report),
            as_json=as_json,
        )
    raise typer.Exit(code)
