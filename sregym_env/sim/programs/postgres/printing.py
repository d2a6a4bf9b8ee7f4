"""Tables as psql prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sregym_env.sim.programs.postgres.errors import PgError
from sregym_env.sim.programs.postgres.execute import Result
from sregym_env.sim.programs.postgres.expressions import NUMERIC, shown

_DISPLAY = 60
_RIGHT_CUT = 10
"""How much of a line is shown around an error, and how near its end (libpq's ``reportErrorPosition``)."""


@dataclass(frozen=True, slots=True)
class Format:
    """``\\pset``."""

    aligned: bool = True
    tuples_only: bool = False
    expanded: bool = False
    csv: bool = False
    separator: str = "|"
    record: str = "\n"
    null: str = ""
    footer: bool = True


def table(result: Result, format: Format, title: str = "", footers: Sequence[str] = ()) -> str:
    """A result's rows; ``footers`` stand in the place of the number of rows."""
    fields = result.fields or ()
    names = [each.name for each in fields]
    rows = [[format.null if value is None else shown(value) for value in row] for row in result.rows]
    if format.csv:
        lines = rows if format.tuples_only else [names, *rows]
        return "".join(",".join(map(_csv, row)) + "\n" for row in lines)
    right = [each.type.partition("(")[0] in NUMERIC for each in fields]
    if format.expanded:
        return _expanded(names, rows, format, title)
    counted = (
        [f"({len(rows)} row{'' if len(rows) == 1 else 's'})"]
        if format.footer and not footers
        else list(footers)
    )
    if not format.aligned:
        lines_ = [format.separator.join(row) for row in rows]
        if not format.tuples_only:
            lines_ = [*([title] if title else []), format.separator.join(names), *lines_, *counted]
        return "".join(line + format.record for line in lines_)
    return _aligned(names, rows, right, format, title, counted)


def _csv(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\n\r') else cell


def _aligned(
    names: list[str],
    rows: list[list[str]],
    right: list[bool],
    format: Format,
    title: str,
    footers: Sequence[str],
) -> str:
    if not names and not format.tuples_only:
        return "--\n" + "".join(f"{line}\n" for line in footers) + "\n"
    cells = [[cell.split("\n") for cell in row] for row in rows]
    widths = [
        max([0 if format.tuples_only else len(name), *(len(part) for row in cells for part in row[index])])
        for index, name in enumerate(names)
    ]
    out: list[str] = []
    if not format.tuples_only:
        if title:
            total = sum(widths) + 3 * len(widths) - 1
            out.append(f"{' ' * max((total - len(title)) // 2, 0)}{title}")
        out.append("|".join(f" {_centred(name, width)} " for name, width in zip(names, widths, strict=True)))
        out.append("+".join("-" * (width + 2) for width in widths))
    for row in cells:
        height = max(map(len, row), default=1)
        for line in range(height):
            out.append(_line(row, line, widths, right))
    text = "".join(f"{line}\n" for line in out)
    if not format.tuples_only:
        text += "".join(f"{line}\n" for line in footers)
    return text + "\n"


def _line(row: list[list[str]], line: int, widths: list[int], right: list[bool]) -> str:
    parts = []
    for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
        text = cell[line] if line < len(cell) else ""
        more = line + 1 < len(cell)
        last = index == len(row) - 1
        if right[index]:
            padded = f"{text:>{width}}"
        else:
            padded = text if last and not more else f"{text:<{width}}"
        parts.append(f" {padded}{'+' if more else '' if last else ' '}")
    return "|".join(parts)


def _centred(name: str, width: int) -> str:
    before = (width - len(name)) // 2
    return f"{' ' * before}{name}{' ' * (width - len(name) - before)}"


def _expanded(names: list[str], rows: list[list[str]], format: Format, title: str) -> str:
    if not rows:
        return "(0 rows)\n" + ("\n" if format.aligned else "") if not format.tuples_only else ""
    if not format.aligned:
        blocks = [
            "".join(f"{name}{format.separator}{cell}\n" for name, cell in zip(names, row, strict=True))
            for row in rows
        ]
        return "\n".join(blocks)
    width = max(map(len, names))
    cells = max((len(part) for row in rows for cell in row for part in cell.split("\n")), default=0)
    out = [title] if title else []
    for number, row in enumerate(rows, 1):
        if not format.tuples_only:
            head = f"-[ RECORD {number} ]"
            rule = "-" * (width + 1) + "+" + "-" * (cells + 1)
            out.append(head + rule[len(head) :])
        for name, cell in zip(names, row, strict=True):
            first, *more = cell.split("\n")
            out.append(f"{name:<{width}} | {first}" + ("+" if more else ""))
            out += [f"{'':<{width}} | {part}" for part in more]
        if format.tuples_only and number < len(rows):
            out.append("")
    return "".join(f"{line}\n" for line in out) + "\n"


def report(error: PgError, sql: str, prefix: str = "") -> str:
    """An error as psql prints it, with the line at which it stands."""
    out = [f"{prefix}{error.severity}:  {error.message}"]
    if error.position >= 0 and sql:
        out += _marked(sql, error.position)
    if error.detail:
        out.append(f"DETAIL:  {error.detail}")
    if error.hint:
        out.append(f"HINT:  {error.hint}")
    return "".join(f"{line}\n" for line in out)


def _marked(sql: str, position: int) -> list[str]:
    begin = sql.rfind("\n", 0, position) + 1
    end = sql.find("\n", position)
    end = len(sql) if end < 0 else end
    number = sql.count("\n", 0, position) + 1
    first, last = begin, end
    if last - first > _DISPLAY:
        if first + _DISPLAY >= position + _RIGHT_CUT:
            last = first + _DISPLAY
        else:
            last = min(last, position + _RIGHT_CUT)
            first = max(first, last - _DISPLAY)
    head = f"LINE {number}: " + ("..." if first > begin else "")
    text = sql[first:last].replace("\t", " ").replace("\r", " ")
    return [f"{head}{text}{'...' if last < end else ''}", " " * (len(head) + position - first) + "^"]
