"""Command lines that agents type print what the real tools print (``tools_dev/record_shell.py`` recorded it)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.files import Files
from sregym_env.shell.shell import Shell

DATA = Path(__file__).parent / "data"
GOLDEN = json.loads((DATA / "golden.json").read_text())
KNOWN = frozenset((DATA / "differs.txt").read_text().splitlines())
"""First lines of scripts that are known to print something else."""


def _date(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    return ExecResult(datetime.fromtimestamp(0, UTC).strftime("%Y-%m-%dT%H:%M:%SZ\n"))


@pytest.fixture(scope="module")
def prototype() -> Shell:
    files = Files(
        {f"/home/oncall/{path.name}": path.read_text() for path in sorted((DATA / "files").iterdir())}
    )
    files.add_directories(["/home/oncall/tmp"])
    return Shell(
        files,
        {"date": _date},
        env={"HOME": "/home/oncall", "USER": "oncall", "PATH": "/usr/bin:/bin"},
        cwd="/home/oncall",
    )


@pytest.mark.parametrize("row", GOLDEN, ids=[str(i) for i in range(len(GOLDEN))])
def test_prints_what_the_real_tools_print(prototype: Shell, row: dict[str, str | int]) -> None:
    result = prototype.fork().run(str(row["script"]))
    same = (result.stdout, result.exit_code) == (row["stdout"], row["exit_code"])
    known = str(row["script"]).strip().split("\n")[0] in KNOWN
    assert same != known, row["script"]


def test_few_scripts_are_known_to_differ() -> None:
    assert len(GOLDEN) > 750
    assert len(KNOWN) < 0.01 * len(GOLDEN)
