"""``sregym dataset`` and ``sregym replay``: make datasets of runs, export and check them, play episodes again.

The commands import what they need when they run, as those of :mod:`sregym_env.cli.main` do.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sregym_env.cli import terminal
from sregym_env.cli.errors import fail, told_errors

app = typer.Typer(
    name="dataset",
    help="Make datasets of runs, export them for trainers, look at them, check them.",
    no_args_is_help=True,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Folder = Annotated[Path, typer.Argument(help="The folder of a dataset or of a run.")]
Success = Annotated[
    bool | None, typer.Option("--success/--failure", help="Only episodes that succeeded, or that did not.")
]
Trainable = Annotated[bool, typer.Option("--trainable", help="Only episodes that are fit for training.")]
MinReturn = Annotated[float | None, typer.Option(help="Only episodes with at least this return.")]
ExitReason = Annotated[list[str] | None, typer.Option("--exit", help="Only these exit reasons.")]
Policies = Annotated[list[str] | None, typer.Option("--policy", help="Only episodes of these policies.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Only conversations of about so many tokens at most.")
]


@app.command()
def build(
    sources: Annotated[list[Path], typer.Argument(help="Folders of runs or datasets, then the new folder.")],
    success: Success = None,
    trainable: Trainable = False,
    min_return: MinReturn = None,
    exit_reason: ExitReason = None,
    policy: Policies = None,
    max_tokens: MaxTokens = None,
    dedupe: Annotated[
        str, typer.Option(help="Leave out the same actions in the same episode, task, or none.")
    ] = "episode",
    secrets: Annotated[
        str, typer.Option(help="What to do with keys that are found: mask or refuse.")
    ] = "mask",
    title: Annotated[str, typer.Option(help="Title of the dataset card.")] = "",
    description: Annotated[str, typer.Option(help="A sentence or two for the dataset card.")] = "",
    licence: Annotated[str, typer.Option(help="SPDX identifier.")] = "apache-2.0",
    parquet: Annotated[bool, typer.Option("--parquet", help="Write Parquet tables beside it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Merge runs into a new dataset: filtered, without duplicates and keys, split by fault family."""
    from sregym_env.rollouts.dataset.build import build as built_from
    from sregym_env.rollouts.dataset.filters import Filter
    from sregym_env.rollouts.dataset.parquet import write_mirror

    if len(sources) < 2:
        fail("name at least one folder to build from, and the new one")
    if not licence.strip():
        fail("--licence wants an SPDX identifier, such as apache-2.0")
    with told_errors():
        built = built_from(
            sources[:-1],
            sources[-1],
            filter=Filter(
                success=success,
                trainable=trainable or None,
                min_return=min_return,
                exit_reasons=tuple(exit_reason or ()),
                policies=tuple(policy or ()),
                max_tokens=max_tokens,
            ),
            dedupe=terminal.one_of("--dedupe", dedupe, ("episode", "task", "none")),
            secrets=terminal.one_of("--secrets", secrets, ("mask", "refuse")),
            title=title,
            description=description,
            licence=licence,
        )
        if parquet:
            write_mirror(sources[-1])
    row: dict[str, Any] = {
        **built.manifest.counts.model_dump(),
        "filtered": built.filtered,
        "duplicates": built.duplicates,
        **{f"split {split}": episodes for split, episodes in built.manifest.splits.items()},
    }
    terminal.print_rows([row], as_json)
    if not built.manifest.counts.episodes:
        print(f"sregym: no episode is left; {sources[-1]} is an empty dataset", file=sys.stderr)
        raise typer.Exit(1)


@app.command()
def export(
    folder: Folder,
    out: Annotated[Path, typer.Argument(help="Folder of the exported files.")],
    format: Annotated[
        str,
        typer.Option(help="openai, trl, trl-preference, sharegpt, atif, minari, tasks or sessions"),
    ] = "openai",
    split: Annotated[
        list[str] | None,
        typer.Option(help="train, validation, test or mixed; all but mixed, a file each, if left out."),
    ] = None,
    success: Success = None,
    trainable: Trainable = False,
    min_return: MinReturn = None,
    exit_reason: ExitReason = None,
    policy: Policies = None,
    max_tokens: MaxTokens = None,
    text_calls: Annotated[
        bool, typer.Option("--text-calls", help="Write command lines said as text as tool calls.")
    ] = False,
    drop_thoughts: Annotated[
        bool, typer.Option("--drop-thoughts", help="Leave out the words beside tool calls.")
    ] = False,
    mask_errors: Annotated[
        bool, typer.Option("--mask-errors", help="openai: weight 0 for turns that were not understood.")
    ] = False,
    pairs: Annotated[str, typer.Option(help="trl-preference: best or all pairs of a group.")] = "best",
    margin: Annotated[float, typer.Option(min=0, help="trl-preference: least difference of returns.")] = 0.05,
    atif_version: Annotated[str, typer.Option(help="atif: 1.7 or 1.8.")] = "1.7",
    minari_id: Annotated[str, typer.Option(help="minari: id of the dataset.")] = "",
    as_json: AsJson = False,
) -> None:
    """Write the episodes in the format of a trainer, and a report of what that format has no place for."""
    from sregym_env.rollouts.dataset import exporters
    from sregym_env.rollouts.dataset.filters import Filter
    from sregym_env.rollouts.dataset.reader import open_dataset

    with told_errors():
        settings = exporters.Settings(
            text_calls=text_calls,
            thoughts="drop" if drop_thoughts else "keep",
            mask_errors=mask_errors,
            margin=margin,
            pairs=terminal.one_of("--pairs", pairs, ("best", "all")),
            atif_version=terminal.one_of("--atif-version", atif_version, ("1.7", "1.8")),
            minari_id=minari_id,
        )
        exported = exporters.export(
            open_dataset(folder),
            out,
            format,
            splits=tuple(split or ()),
            filter=Filter(
                success=success,
                trainable=trainable or None,
                min_return=min_return,
                exit_reasons=tuple(exit_reason or ()),
                policies=tuple(policy or ()),
                max_tokens=max_tokens,
            ),
            settings=settings,
        )
    rows = [each.to_dict() for each in exported]
    if not as_json:
        told = ("; ".join(f"{times} {what}" for what, times in row["losses"].items()) for row in rows)
        rows = [{**row, "losses": text} for row, text in zip(rows, told, strict=True)]
    terminal.print_rows(rows, as_json)


@app.command()
def stats(
    folder: Folder,
    by: Annotated[str, typer.Option(help="family, split, problem, app, policy or exit")] = "family",
    as_json: AsJson = False,
) -> None:
    """Count episodes, successes, lengths and (estimated) tokens."""
    from sregym_env.rollouts.dataset.reader import open_dataset
    from sregym_env.rollouts.dataset.stats import statistics

    with told_errors():
        rows = statistics(open_dataset(folder), by)
    terminal.print_rows(rows, as_json)


@app.command()
def validate(folder: Folder, as_json: AsJson = False) -> None:
    """Check hashes, records, labels and splits, and that no episode tells its answer or a key."""
    from sregym_env.rollouts.dataset.validation import validate as findings_of

    with told_errors():
        found = findings_of(folder)
    if found or as_json:
        terminal.print_rows([finding.to_dict() for finding in found], as_json)
    else:
        print(f"{folder} is sound")
    raise typer.Exit(1 if found else 0)


def replay(
    path: Annotated[Path, typer.Argument(help="A dataset's folder, or one of its files of episodes.")],
    episode: Annotated[
        list[str] | None, typer.Option(help="Only these rollout ids (or what they begin with).")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    limit: Annotated[int, typer.Option(min=0, help="At most so many episodes; 0 for all.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Play recorded episodes again and compare every observation, reward, verdict and digest."""
    from sregym_env.rollouts.dataset.loose import rollouts_of
    from sregym_env.rollouts.replays import replay_all

    with told_errors():
        chosen = (each for each in rollouts_of(path) if _asked_for(each.record.rollout_id, episode))
        rows = [each.to_dict() for each in replay_all(chosen, jobs=jobs, limit=limit)]
    if not rows:
        fail(f"nothing to replay: no such episode in {path}")
    if not as_json:
        rows = [{**row, "differences": "\n".join(row["differences"])} for row in rows]
    terminal.print_rows(rows, as_json)
    raise typer.Exit(0 if all(row["equal"] for row in rows) else 1)


def _asked_for(rollout_id: str, episodes: list[str] | None) -> bool:
    return not episodes or any(rollout_id.startswith(each) for each in episodes)
