"""``sregym``: list what there is, play it, watch the expert, validate the problem space, measure promises.

Commands import what they need when they run, so that ``sregym --help`` stays quick: all of it takes eight times as
long to import as this module.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sregym_env.cli import applications, datasets, terminal
from sregym_env.cli.commands import evaluate, run
from sregym_env.cli.errors import fail as _fail
from sregym_env.cli.errors import told_errors as _told_errors


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        # What commands print, they print behind their own work.
        with _heard(), _told_errors():
            return super().invoke(ctx)


@contextmanager
def _heard() -> Iterator[None]:
    """Whoever has closed the standard output wants to hear nothing."""
    if sys.stdout is not None:
        yield
        return
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        yield


app = typer.Typer(
    name="sregym",
    cls=_Commands,
    help="Site reliability engineering on an embedded Kubernetes cluster, for agents and people.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Problem = Annotated[str, typer.Argument(help="An id of `sregym list`, or APP/FAULT/TARGET.")]
Seed = Annotated[int, typer.Option(min=0, help="Fixes everything that is left to chance.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port of the API server; 0 for any.")]
Published = Annotated[
    bool, typer.Option("--published", help="Play the application as published, without variation and past.")
]
Noise = Annotated[bool, typer.Option("--noise", help="Let transient disturbances come and go.")]


@app.command("list")
def list_(
    what: Annotated[
        str, typer.Argument(help="problems, faults, apps, pairs, suites or mechanisms")
    ] = "problems",
    app: Annotated[str | None, typer.Option(help="Only problems or pairs of this application.")] = None,
    fault: Annotated[str | None, typer.Option(help="Only problems or pairs with this fault.")] = None,
    family: Annotated[str | None, typer.Option(help="Only pairs whose fault belongs to this family.")] = None,
    as_json: AsJson = False,
) -> None:
    """List curated problems, declared faults, applications, every (fault, target) pair, suites, or the mechanisms that a
    diagnosis in closed answers may name."""
    from sregym_env.cli.listing import listed

    with _told_errors():
        rows = listed(what, app=app, fault=fault, family=family)
    if as_json:
        _print_json(rows)
    else:
        terminal.print_table(rows)


@app.command()
def play(
    problem: Problem,
    seed: Seed = 0,
    noise: Noise = False,
    published: Published = False,
    reactive: Annotated[bool, typer.Option(help="Begin when alerts fire.")] = False,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Tell at the end what was really wrong, without asking.")
    ] = False,
) -> None:
    """Be the agent: type commands until you submit; see how both graders answer."""
    from sregym_env.cli.playing import play as play_by_hand

    with _told_errors():
        mode = "reactive" if reactive else "proactive"
        play_by_hand(problem, seed=seed, noise=noise, variation=not published, mode=mode, reveal=reveal)


@app.command()
def demo(
    problem: Problem = "latent_sector_error",
    seed: Seed = 7,
    style: Annotated[
        str, typer.Option(help="direct, thorough, dead_ends, or mixed: the seed draws.")
    ] = "mixed",
) -> None:
    """Watch the expert think, find and repair a fault."""
    from sregym_env.cli.playing import demonstrate

    with _told_errors():
        ok = demonstrate(problem, seed=seed, style=style)
    raise typer.Exit(0 if ok else 1)


app.command()(run)
app.command("eval")(evaluate)
app.command()(datasets.replay)
app.add_typer(datasets.app, name="dataset")
app.add_typer(applications.app, name="app")


@app.command()
def validate(
    app_name: Annotated[str, typer.Option("--app", help="Only this application.")] = "",
    fault: Annotated[str, typer.Option(help="Only this fault.")] = "",
    target: Annotated[str, typer.Option(help="Only this target.")] = "",
    problem: Annotated[
        str, typer.Option(help="Instead of pairs this problem, by its id: such as one of several faults.")
    ] = "",
    sample: Annotated[int, typer.Option(min=0, help="Only so many pairs, spread evenly; 0 for all.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    seed: Seed = 0,
    blind: Annotated[
        bool,
        typer.Option("--shortcuts", help="Also play every policy that looks at nothing (sregym shortcuts)."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check, for every (fault, target) pair, everything that a declared fault promises."""
    from sregym_env.cli.shortcuts import measure
    from sregym_env.cli.validation import matrix, print_matrix, watching
    from sregym_env.rollouts.validate import validate_pairs

    if problem and (app_name or fault or target or sample or blind):
        _fail(
            "--problem names what is validated: leave --app, --fault, --target, --sample and --shortcuts out"
        )
    if blind and as_json:
        _fail("--shortcuts prints tables; write JSON with `sregym shortcuts --json FILE`")

    with _told_errors(), watching() as watch:
        reports = validate_pairs(
            app=app_name,
            fault=fault,
            target=target,
            problem=problem,
            sample=sample,
            jobs=jobs,
            seed=seed,
            watch=watch,
        )
    if as_json:
        _print_json(matrix(reports))
    else:
        print_matrix(reports)
    good = bool(reports) and all(report.passed for report in reports)
    if blind:
        with _told_errors():
            good &= measure(
                app=app_name,
                fault=fault,
                target=target,
                sample=sample,
                seed=seed,
                workers=jobs,
                groups=("blind",),
            )
    raise typer.Exit(0 if good else 1)


@app.command()
def shortcuts(
    app_name: Annotated[str, typer.Option("--app", help="Only this application.")] = "",
    sample: Annotated[int, typer.Option(min=0, help="Only so many pairs, spread evenly; 0 for all.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="Worlds of every pair.")] = 1,
    seed: Seed = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    policy: Annotated[list[str] | None, typer.Option(help="Only these policies.")] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Only policies of these groups: blind, reading, diagnosis, combination, runbook."),
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="In the published application, which never varies.")
    ] = False,
    audit: Annotated[
        int,
        typer.Option(min=0, help="Play nothing: look at so many staged worlds for what tells the culprit."),
    ] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", dir_okay=False, help="Also write everything to this file.")
    ] = None,
) -> None:
    """Play policies that understand nothing, and print what they earn; fails where a stated limit is broken."""
    from sregym_env.cli.shortcuts import measure, survey

    unheeded = {
        "--policy": policy,
        "--group": group,
        "--sample": sample,
        "--seeds": seeds > 1,
        "--published": published,
    }
    if audit and any(unheeded.values()):
        _fail(
            f"--audit plays nothing: leave {', '.join(name for name, given in unheeded.items() if given)} out"
        )
    with _told_errors():
        if audit:
            kept = survey(app=app_name, worlds=audit, seed=seed, workers=workers, json_file=json_file)
        else:
            kept = measure(
                app=app_name,
                sample=sample,
                seeds=seeds,
                seed=seed,
                workers=workers,
                policies=tuple(policy or ()),
                groups=tuple(group or ()),
                published=published,
                json_file=json_file,
            )
    raise typer.Exit(0 if kept else 1)


@app.command("judge-eval")
def judge_eval(
    part: Annotated[
        str, typer.Option(help="dev, to look at, or held-out, for a report on a judge that is finished.")
    ] = "dev",
    model: Annotated[str, typer.Option(help="Of a model as the judge: its name; without, the rules.")] = "",
    base_url: Annotated[str, typer.Option(help="Of a model as the judge: where it is served.")] = "",
    api: Annotated[str, typer.Option(help="Of a model as the judge: the dialect that is spoken there.")] = "",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="KEY=VALUE for the judge, such as votes=3; values are JSON or text."),
    ] = None,
    sample: Annotated[int, typer.Option(min=0, help="Only so many, spread evenly; 0 for all.")] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Diagnoses at a time, for a model.")] = 4,
    misses: Annotated[int, typer.Option(min=0, help="Show so many that are misjudged.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure a judge with labelled diagnoses; fails where it is not good enough to be trained against."""
    from sregym_env.cli.judging import chosen, evaluate

    with _told_errors():
        judge = chosen(model, base_url, api, option)
        good = evaluate(
            judge,
            part,
            sample=sample,
            threads=threads if model else 1,
            misses=misses,
            as_json=as_json,
        )
    raise typer.Exit(0 if good else 1)


@app.command()
def bench(
    against: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Another checkout to compare with, in turns."),
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds of a comparison; 5 if left out.")] = None,
    only: Annotated[str, typer.Option(help="Only promises whose short name contains this.")] = "",
    as_json: AsJson = False,
) -> None:
    """Measure what the design promises, beside the promises; or compare with another checkout."""
    from sregym_env.rollouts.bench import measurable

    if rounds and against is None:
        _fail("--rounds is for comparisons: give --against, or leave it out")
    if not measurable(only):
        _fail(
            f"no promise is called {only!r}; there are {', '.join(dict.fromkeys(each.name for each in measurable()))}"
        )
    if against is not None:
        from sregym_env.rollouts.bench.against import ROUNDS, compare

        rows = [comparison.to_dict() for comparison in compare(against, rounds=rounds or ROUNDS, only=only)]
        failing = {"slower", "worse"}
    else:
        from sregym_env.rollouts.bench import measure

        rows = [measurement.to_dict() for measurement in measure(only)]
        failing = {"below floor"}
    if as_json:
        _print_json(rows)
    else:
        terminal.print_table(rows)
    raise typer.Exit(1 if any(row["verdict"] in failing for row in rows) else 0)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A dataset of `sregym run`, finished or not.")],
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    episodes: Annotated[int, typer.Option(min=0, help="How many can be replayed step by step.")] = 12,
    truth: Annotated[bool, typer.Option("--truth/--no-truth", help="Say what was wrong.")] = True,
) -> None:
    """Write a report of a run: one HTML file, with every number's interval and episodes to replay."""
    from sregym_env.cli.reporting import report as write

    with _told_errors():
        write(folder, out, episodes=episodes, truth=truth)


@app.command()
def serve(
    problems: Annotated[
        list[str] | None,
        typer.Argument(
            help="Ids of `sregym list`, or APP/FAULT/TARGET; with --healthy, applications; - reads them from standard input."
        ),
    ] = None,
    copies: Annotated[int, typer.Option(min=1, help="How often to serve each; the seeds count up.")] = 1,
    seed: Seed = 0,
    noise: Noise = False,
    published: Published = False,
    port: Port = 0,
    desk_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of /submit, /status and /get_app; 0 for any.")
    ] = 0,
    speed: Annotated[
        float | None, typer.Option(min=0.001, help="Virtual seconds per second; 1 if left out.")
    ] = None,
    step: Annotated[bool, typer.Option("--step", help="Let time stand still between requests.")] = False,
    healthy: Annotated[
        bool, typer.Option("--healthy", help="Serve applications in which nothing is wrong.")
    ] = False,
    admin: Annotated[
        bool, typer.Option("--admin", help="Also write a kubeconfig with all rights: admin.kubeconfig.")
    ] = False,
    directory: Annotated[str, typer.Option(help="Where kubeconfigs are written; removed at the end.")] = "",
    ready_file: Annotated[
        str, typer.Option(help="Written when everything answers, as JSON: where it is. Removed at the end.")
    ] = "",
    exit_when_done: Annotated[
        bool, typer.Option("--exit-when-done", help="End when every repair has been handed in.")
    ] = False,
    journal: Annotated[
        str,
        typer.Option(
            help="A folder, yours alone, in which everything is kept: after a crash the same command goes on from it."
        ),
    ] = "",
) -> None:
    """Serve the clusters of problems over HTTPS on the loopback interface, to real kubectl and real agents."""
    if step and speed is not None:
        _fail(
            "--step lets time stand still between requests, so that it has no --speed; leave one of them out"
        )
    try:
        from sregym_env.cli.serving import Wanted
        from sregym_env.cli.serving import serve as serve_problems
    except ModuleNotFoundError as error:
        _fail(f"{error.name} is not installed; install sregym-env[serve]")

    with _told_errors():
        serve_problems(
            problems or (),
            Wanted(
                copies=copies,
                seed=seed,
                noise=noise,
                variation=not published,
                healthy=healthy,
                admin=admin,
                port=port,
                desk_port=desk_port,
                speed=1.0 if speed is None else speed,
                step=step,
                directory=directory,
                ready_file=ready_file,
                exit_when_done=exit_when_done,
                journal=journal,
            ),
        )


@app.command("mcp")
def model_context(
    problem: Problem,
    seed: Seed = 0,
    noise: Noise = False,
    published: Published = False,
    max_commands: Annotated[int, typer.Option(min=1, help="Commands after which the episode ends.")] = 60,
    result: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Where to write how the episode ended, as JSON.")
    ] = None,
) -> None:
    """Serve the tools of one episode to an MCP client, over standard input and output."""
    try:
        from sregym_env.cli.model_context import serve as serve_tools
    except ModuleNotFoundError as error:
        _fail(f"{error.name} is not installed; install sregym-env[mcp]")

    with _told_errors():
        serve_tools(
            problem, seed=seed, noise=noise, variation=not published, max_commands=max_commands, report=result
        )


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


if __name__ == "__main__":
    app()
