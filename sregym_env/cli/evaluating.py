"""``sregym eval``: several policies on the same problems and seeds, each beside the first."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sregym_env.cli import terminal
from sregym_env.cli.running import Asked, Kept, Meter, Played, assigned, shown, tell_lost
from sregym_env.errors import UsageError
from sregym_env.rollouts.plan import PolicyChoice
from sregym_env.rollouts.runs import Run, play
from sregym_env.rollouts.statistics import Comparison, Summary, compare, ranked, summary

_SPELLED = re.compile(r"\s*(?P<name>[^\[\],]+?)\s*(?:\[(?P<options>[^\]]*)\])?\s*(?:,|$)")


def parsed(text: str) -> dict[str, PolicyChoice]:
    """Policies by what they are called: ``NAME`` or ``NAME[KEY=VALUE;KEY=VALUE]``, with commas between.

    Raises UsageError for another text, and where one is named twice.
    """
    found: dict[str, PolicyChoice] = {}
    at = 0
    while at < len(text):
        spelled = _SPELLED.match(text, at)
        if spelled is None:
            raise UsageError(
                f"cannot read policies from {text[at:]!r}: write NAME or NAME[KEY=VALUE;KEY=VALUE], ..."
            )
        label = spelled[0].strip().rstrip(",").strip()
        if label in found:
            raise UsageError(f"policy {label} is named twice")
        options = [word for word in (spelled["options"] or "").split(";") if word.strip()]
        found[label] = PolicyChoice(
            name=spelled["name"], options=assigned(f"policy {spelled['name']}", options)
        )
        at = spelled.end()
    if not found:
        raise UsageError("no policies to compare: give --policies NAME,NAME")
    return found


def evaluate_all(
    asked: Asked,
    policies: Mapping[str, PolicyChoice],
    played: Played,
    kept: Kept,
    *,
    as_json: bool,
) -> int:
    """Play all of them and print the comparison; the exit code."""
    groups = asked.groups()
    plans = {label: asked.plan(groups, choice.name, choice.options) for label, choice in policies.items()}
    runs: dict[str, Run] = {}
    with kept.told_how_to_go_on(), played.pool() as pool:
        for label, plan in plans.items():
            folder = None if kept.out is None else kept.out / folder_name(label)
            # Of several policies the last ones may not have begun.
            resume = kept.resume and folder is not None and folder.exists()
            with Meter(plan, label) as meter:
                runs[label] = play(
                    plan,
                    pool,
                    folder=folder,
                    resume=resume,
                    redo_void=kept.redo_void,
                    title=label,
                    begun=meter.begin,
                    watch=meter.count,
                )
    summaries = ranked(summary(run.records, by="policy", name=label) for label, run in runs.items())
    comparisons = compared(runs)
    if as_json:
        print(json.dumps(told(runs, summaries, comparisons), indent=2))
    else:
        print_tables(summaries, comparisons)
    kept.write_report()
    return tell_lost(list(runs.values()))


def compared(runs: Mapping[str, Run]) -> tuple[Comparison, ...]:
    """Everybody beside the first, over the episodes that both played."""
    first, *others = runs
    return tuple(compare(runs[first].records, runs[each].records, names=(first, each)) for each in others)


def told(
    runs: Mapping[str, Run], summaries: tuple[Summary, ...], comparisons: tuple[Comparison, ...]
) -> dict[str, Any]:
    """An evaluation as plain JSON."""
    return {
        "runs": {label: run.plan.run_id for label, run in runs.items()},
        "summaries": [each.to_dict() for each in summaries],
        "comparisons": [each.to_dict() for each in comparisons],
        "given_up": {
            label: [{"group_id": each.group.group_id, "error": each.error} for each in run.given_up]
            for label, run in runs.items()
            if run.given_up
        },
    }


def print_tables(summaries: tuple[Summary, ...], comparisons: tuple[Comparison, ...]) -> None:
    """The ranking, and the differences."""
    rows = [each.row() for each in summaries]
    used = {name for row in rows for name in shown(row)}
    terminal.print_table([{name: value for name, value in row.items() if name in used} for row in rows])
    if comparisons:
        print()
        terminal.print_table([each.row() for each in comparisons])


def folder_name(label: str) -> str:
    """What a policy's folder is called."""
    return re.sub(r"[^\w.-]+", "_", label).strip("_") or "policy"
