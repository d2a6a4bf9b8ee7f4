"""Write docs/faults.md from the declarations. A test holds it current."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from sregym_env import apps
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.faults.drawn import Drawn
from sregym_env.faults.problems import NO_FAULT, curated
from sregym_env.faults.published import ABSENT
from sregym_env.faults.registry import declarations

PAGE = Path(__file__).parents[1] / "docs" / "faults.md"


def page() -> str:
    """The page of every fault: what it is, its parameters, its targets, the curated problems that use it."""
    targets = Counter(pair.faults[0].fault for app in apps.bundled() for pair in pairs(app))
    used: dict[str, list[str]] = {}
    for problem in curated():
        for choice in problem.faults:
            if problem.id not in used.setdefault(choice.fault, []):
                used[choice.fault].append(problem.id)
    parts = [
        "# Faults",
        "",
        f"{len(declarations())} faults on {sum(targets.values())} (fault, target) pairs. Generated from the "
        "declarations by `python tools_dev/update_docs.py`.",
    ]
    for declared in declarations():
        parts += ["", f"## {declared.name}", "", declared.description, ""]
        parts.append(f"- layer: {declared.layer}; level: {declared.level}; targets: {targets[declared.name]}")
        if declared.defaults:
            listed = ", ".join(
                f"`{name}={_published(default)}`" for name, default in declared.defaults.items()
            )
            parts.append(f"- parameters, drawn unless they are given; published: {listed}")
        if declared.name in used:
            parts.append("- curated problems: " + ", ".join(f"`{name}`" for name in used[declared.name]))
    return "\n".join((*parts, *_healthy(), *_table())) + "\n"


def _healthy() -> list[str]:
    """The problems in which nothing is wrong."""
    known = ", ".join(f"`{problem.id}`" for problem in curated() if not problem.faults)
    return [
        "",
        "## Nothing is wrong",
        "",
        "An application that has lived and lives on, with innocent changes and perhaps something that was noticed and has passed: "
        "a pod that was lost or stood still, packets that were lost, more users than usual. Users are served when the agent is "
        "called, whatever alerts still fire. The right answer is that nothing is wrong (`submit diagnosis --mechanism "
        "nothing_wrong`, or in words), and to change nothing.",
        "",
        f"- for any application: `APP/{NO_FAULT}`",
        f"- curated problems: {known}",
    ]


def _table() -> list[str]:
    """Every published id, and what it is here."""
    here = {
        problem.id: " and ".join(
            f"`{choice.fault}`" + (f" on {choice.target}" if choice.target else "")
            for choice in problem.faults[:3]
        )
        + (f" and {len(problem.faults) - 3} more" if len(problem.faults) > 3 else "")
        for problem in curated()
        if problem.faults
    }
    rows = {**{id: f"not here: {why}" for id, why in ABSENT.items()}, **here}
    return [
        "",
        "## The benchmark's ids",
        "",
        f"Of {len(rows)} published ids {len(here)} can be played.",
        "",
        "| id | here |",
        "|---|---|",
        *(f"| `{id}` | {rows[id]} |" for id in sorted(rows)),
    ]


def _published(default: Any) -> str:
    """The published value of a parameter; dots where it depends on the target."""
    published = default.published if isinstance(default, Drawn) else default
    return "..." if callable(published) else repr(published)


if __name__ == "__main__":
    PAGE.write_text(page())
