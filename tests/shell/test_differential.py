"""Scripts print what a real bash prints, errors and output in the order of a terminal.

``differential.json`` holds what bash 5.2 printed (``tools_dev/record_bash.py``); where there is a bash, it is asked again.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sregym_env.shell.files import Files
from sregym_env.shell.shell import Shell
from tools_dev import record_bash

ROWS = json.loads((record_bash.DATA / "differential.json").read_text())
_WHERE = re.compile(r"^(?:\S*bash|sh|environment|main): (?:-c: )?(?:line \d+: )?", re.MULTILINE)


def plain(text: str) -> str:
    """A text without the line numbers of bash's complaints, which an interactive shell does not print."""
    return _WHERE.sub("bash: ", text)


def ours(script: str) -> tuple[str, str, int]:
    """What the interpreter prints as a terminal shows it, its output alone, and the exit code."""
    files = Files()
    files.add_directories(["/home/u"])
    shell = Shell(files, {}, env={"HOME": "/home/u", "PATH": "/usr/bin:/bin"}, cwd="/home/u")
    done = shell.call(["bash", "-c", script])
    return plain(done.text), done.stdout, done.exit_code


@pytest.mark.parametrize("row", ROWS, ids=[str(index) for index in range(len(ROWS))])
def test_prints_what_bash_has_printed(row: dict[str, str | int]) -> None:
    expected = (plain(str(row["text"])), row["stdout"], row["exit_code"])
    assert ours(str(row["script"])) == expected, row["script"]


def test_the_record_is_that_of_the_corpus() -> None:
    assert [row["script"] for row in ROWS] == record_bash.scripts()
    ordered = [row for row in ROWS if row["stdout"] and row["stderr"]]
    assert len(ordered) >= 40


def _is_recorded_version() -> bool:
    if shutil.which("bash") is None:
        return False
    asked = subprocess.run(["bash", "-c", "echo $BASH_VERSION"], capture_output=True, text=True, check=False)
    return asked.stdout.startswith("5.2")


@pytest.mark.skipif(not _is_recorded_version(), reason="no bash 5.2 on this machine")
@pytest.mark.parametrize("part", range(4))
def test_the_real_bash_still_says_so(part: int, tmp_path: Path) -> None:
    for row in ROWS[part::40]:
        assert record_bash.recorded(str(row["script"])) == row
