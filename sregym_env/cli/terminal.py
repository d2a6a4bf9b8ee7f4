"""Where the commands print: the width of a terminal, or wide lines where the output goes to a file or a pipe."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sregym_env.errors import UsageError

PIPED_WIDTH = 200


def console() -> Console:
    """The standard output."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)


def print_table(rows: list[dict[str, Any]]) -> None:
    """Rows as a table; their keys are its header."""
    out = console()
    if not rows:
        out.print("nothing to show")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0]:
        table.add_column(name.replace("_", " "), overflow="fold")
    for row in rows:
        # What is printed are values, and brackets in them are no markup.
        table.add_row(*("" if value is None else escape(str(value)) for value in row.values()))
    out.print(table)


def print_json(value: Any) -> None:
    """A value as indented JSON."""
    print(json.dumps(value, indent=2))


def print_rows(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Rows as a table or as JSON."""
    if as_json:
        print_json(rows)
    else:
        print_table(rows)


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> Any:
    """The value of an option that has few. Raises UsageError for another one."""
    if value not in allowed:
        raise UsageError(f"{name} must be {', '.join(allowed[:-1])} or {allowed[-1]}, not {value!r}")
    return value
