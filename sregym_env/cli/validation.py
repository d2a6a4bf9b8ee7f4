"""Printing the validation matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count as count_from
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from sregym_env.cli import terminal
from sregym_env.rollouts.validate import Line, Report


def matrix(reports: Sequence[Report]) -> list[dict[str, Any]]:
    """The reports as plain JSON."""
    return [
        {
            "app": report.app,
            "fault": report.fault,
            "target": report.target,
            "passed": report.passed,
            "seconds": round(report.seconds, 3),
            "lines": [
                {
                    "name": line.name,
                    "passed": line.passed,
                    "detail": line.detail,
                    "seconds": round(line.seconds, 4),
                }
                for line in report.lines
            ],
        }
        for report in reports
    ]


TOLD_EVERY = 100
"""Pairs after which a log is told how far it is."""


@contextmanager
def watching() -> Iterator[Callable[[Report, int], None]]:
    """How far it is, on the standard error: a bar on a terminal, a line now and then in a log, and every line that fails as soon
    as it is known."""
    console = Console(stderr=True)
    count = count_from(1)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("pairs", total=None)

        def watch(report: Report, total: int) -> None:
            progress.update(task, total=total, advance=1)
            done = next(count)
            if not console.is_terminal and done % TOLD_EVERY == 0:
                console.print(f"{done} of {total} pairs")
            for line in report.lines:
                if not line.passed:
                    console.print(_failure(report, line), soft_wrap=True)

        yield watch


def _failure(report: Report, line: Line) -> str:
    return f"[red]{escape(f'{report.fault}:{report.target}')}[/] {line.name}: {escape(line.detail)}"


def print_matrix(reports: Sequence[Report]) -> None:
    """One row per pair, one column per line of the contract, then what went wrong."""
    console = terminal.console()
    if not reports:
        console.print("no pair matches")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("pair", overflow="fold")
    for number, _ in enumerate(reports[0].lines, 1):
        table.add_column(str(number), justify="center")
    table.add_column("s", justify="right")
    for report in reports:
        marks = ["[green]ok[/]" if line.passed else "[red]NO[/]" for line in report.lines]
        table.add_row(f"{report.fault}:{report.target}", *marks, f"{report.seconds:.2f}")
    console.print(table)
    for number, line in enumerate(reports[0].lines, 1):
        console.print(f"[dim]{number}[/] {line.name.replace('_', ' ')}")
    for report in reports:
        for line in report.lines:
            if not line.passed:
                console.print(_failure(report, line))
    good = sum(report.passed for report in reports)
    console.print(f"{good} of {len(reports)} pairs pass, {sum(r.seconds for r in reports):.1f} s")
