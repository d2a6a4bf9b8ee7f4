"""``sregym shortcuts``: what wins without understanding, measured and judged."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rich.progress import Progress

from sregym_env.cli import terminal
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.errors import UsageError, told_of
from sregym_env.rollouts.shortcuts.audit.survey import Audit, audit
from sregym_env.rollouts.shortcuts.catalog import chosen
from sregym_env.rollouts.shortcuts.playing import cases, play_all
from sregym_env.rollouts.shortcuts.table import lines, report, worst
from sregym_env.rollouts.validate import thinned


def measure(
    *,
    app: str = "",
    fault: str = "",
    target: str = "",
    sample: int = 0,
    seeds: int = 1,
    seed: int = 0,
    workers: int = 1,
    policies: tuple[str, ...] = (),
    groups: tuple[str, ...] = (),
    published: bool = False,
    json_file: Path | None = None,
) -> bool:
    """Play shortcuts over pairs, print what they earn; whether every enforced limit is kept."""
    shortcuts = chosen(policies, groups)
    problems = list(pairs(app=app or None, fault=fault or None, target=target or None))
    found = thinned(problems, sample)
    if published:
        found = [problem.model_copy(update={"variation": False}) for problem in found]
    played = cases(found, seeds, seed)
    with _progress() as progress:
        task = progress.add_task("worlds", total=len(played))
        outcomes, unplayed = play_all(
            played,
            [shortcut.name for shortcut in shortcuts],
            workers=workers,
            watch=lambda: progress.advance(task),
        )
    result = report(shortcuts, outcomes, unplayed, sampled=bool(sample or fault or target))
    terminal.print_table(lines(result["policies"]))
    out = terminal.console()
    out.print()
    terminal.print_table(worst(result))
    for each in result["unplayed"]:
        out.print(f"not played: {each['pair']} seed {each['seed']}: {each['error']}", markup=False)
    _write(json_file, result)
    return bool(result["kept"])


def survey(*, app: str, worlds: int, seed: int, workers: int, json_file: Path | None) -> bool:
    """Look at staged worlds for what gives the culprit away; whether every limit of the audit is kept."""
    if worlds < 2:
        raise UsageError(
            "an audit needs at least two worlds: it learns from one half and is tried on the other"
        )
    with _progress() as progress:
        task = progress.add_task("worlds", total=worlds)
        found: Audit = audit(
            app=app, worlds=worlds, seed=seed, workers=workers, watch=lambda: progress.advance(task)
        )
    terminal.print_table(found.rows())
    out = terminal.console()
    out.print()
    for line in found.lines():
        out.print(line, markup=False)
    _write(json_file, found.to_dict())
    return found.kept


def _progress() -> Progress:
    return Progress(transient=True, disable=not sys.stderr.isatty())


def _write(path: Path | None, value: dict[str, Any]) -> None:
    if path is not None:
        with told_of(path):
            path.write_text(json.dumps(value, indent=2) + "\n")
