"""``df`` in containers and on machines: of busybox, and of GNU where that is what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.shell import Shell
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.machine import mounts
from sregym_env.sim.programs.machine.mounts import Mounted
from sregym_env.sim.world import disks


def df(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``df``: the machine's disk under everything that is no tmpfs."""
    if ctx.image.toolbox == "busybox":
        human = any("h" in word for word in argv[1:] if word.startswith("-"))
        rows = _asked(ctx, [word for word in argv[1:] if not word.startswith("-")], shell)
        return ExecResult(_busybox(rows, human=human))
    try:
        given, operands = options(
            list(argv[1:]),
            "ahHikmlPTt:x:B:",
            {"human-readable": "h", "all": "a", "inodes": "i", "print-type": "T", "portability": "P", "si": "H",
             "block-size": "B:", "local": "l", "type": "t:", "exclude-type": "x:"},
        )  # fmt: skip
    except UsageError as error:
        return ExecResult(stderr=f"df: {error}\nTry 'df --help' for more information.\n", exit_code=1)
    return ExecResult(_gnu(_asked(ctx, operands, shell), dict(given)))


def _asked(ctx: ProcessContext, operands: Sequence[str], shell: Shell) -> list[Mounted]:
    """What is mounted and holds anything, or what holds these paths."""
    rows = mounts.measured(ctx)
    wanted = [shell.resolve(word) for word in operands]
    if wanted:
        holding = [
            max((row for row in rows if _holds(row.path, path)), key=lambda row: len(row.path))
            for path in wanted
        ]
        rows = list(dict.fromkeys(holding))
    return rows


def _holds(root: str, path: str) -> bool:
    return root == "/" or path == root or path.startswith(root.rstrip("/") + "/")


def _kilobytes(row: Mounted) -> tuple[int, int, int]:
    """How large it is, how much of it is in use, and how much there is for anybody."""
    return row.size >> 10, (row.size - row.free) >> 10, row.available >> 10


def _share(used: int, left: int) -> int:
    """Percent in use, rounded up."""
    return -(-used * 100 // (used + left)) if used else 0


# --- busybox ------------------------------------------------------------------------------------------


def _busybox(rows: Sequence[Mounted], *, human: bool) -> str:
    lines = [
        "Filesystem                Size      Used Available Use% Mounted on"
        if human
        else "Filesystem           1K-blocks      Used Available Use% Mounted on"
    ]
    for row in rows:
        size, used, left = _kilobytes(row)
        cells = [_short(n) if human else str(n) for n in (size, used, left)]
        width = 22 if human else 21
        lines.append(
            f"{row.device:<{width}}{cells[0]:>9}{cells[1]:>10}{cells[2]:>10}{_share(used, left):>4}% {row.path}"
        )
    return "\n".join(lines) + "\n"


def _short(kilobytes: int) -> str:
    if kilobytes >= 1 << 20:
        return f"{kilobytes / (1 << 20):.1f}G"
    return f"{kilobytes / 1024:.1f}M" if kilobytes else "0"


# --- GNU ----------------------------------------------------------------------------------------------


_LEAST = {"Filesystem": 14, "Type": 4, "Mounted on": 0}
"""Least widths of columns; the others are as wide as their heads, and five at least."""


def _gnu(rows: Sequence[Mounted], flags: Mapping[str, str]) -> str:
    table = [_heads(flags), *(_cells(row, flags) for row in rows)]
    least = [_LEAST.get(head, 4 if head.endswith("%") else 5) for head in table[0]]
    widths = [
        max(low, *map(len, column)) for low, column in zip(least, zip(*table, strict=True), strict=True)
    ]
    left = 2 if "T" in flags else 1
    return "".join(_row(cells, widths, left) for cells in table)


def _row(cells: Sequence[str], widths: Sequence[int], left: int) -> str:
    padded = [
        cell.ljust(width) if at < left else cell.rjust(width)
        for at, (cell, width) in enumerate(zip(cells[:-1], widths, strict=False))
    ]
    return " ".join((*padded, cells[-1])) + "\n"


def _heads(flags: Mapping[str, str]) -> list[str]:
    if "i" in flags:
        middle = ["Inodes", "IUsed", "IFree", "IUse%"]
    elif "h" in flags or "H" in flags:
        middle = ["Size", "Used", "Avail", "Use%"]
    elif "P" in flags:
        middle = ["1048576-blocks" if "m" in flags else "1024-blocks", "Used", "Available", "Capacity"]
    else:
        middle = ["1M-blocks" if "m" in flags else "1K-blocks", "Used", "Available", "Use%"]
    return ["Filesystem", *(["Type"] if "T" in flags else []), *middle, "Mounted on"]


def _cells(row: Mounted, flags: Mapping[str, str]) -> list[str]:
    numbers = _kilobytes(row)
    if "i" in flags:
        made, taken = row.size // disks.PER_INODE, (row.size - row.free) // disks.PER_FILE
        numbers = (made, taken, made - taken)
    human = "h" in flags or "H" in flags
    step = 1000 if "H" in flags else 1024
    shown = [
        _rounded(n if "i" in flags else n << 10, step)
        if human
        else str(-(-n // 1024) if "m" in flags and "i" not in flags else n)
        for n in numbers
    ]
    share = f"{_share(*numbers[1:])}%"
    return [row.device, *([row.kind] if "T" in flags else []), *shown, share, row.path]


def _rounded(number: int, step: int) -> str:
    """A number with a unit, rounded up: one decimal below ten."""
    power, unit = 0, 1
    while number >= unit * step and power < 4:
        unit *= step
        power += 1
    if not power:
        return str(number)
    tenths = -(-number * 10 // unit)
    text = f"{tenths // 10}.{tenths % 10}" if tenths < 100 else str(-(-number // unit))
    return text + ("KMGT" if step == 1024 else "kMGT")[power - 1]
