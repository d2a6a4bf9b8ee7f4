"""Records what the real tools print for the command lines of ``tests/shell/data``: the shell's golden outputs.

Run on a Debian 12 machine with bash, gawk (as ``awk``), GNU sed, grep, coreutils, findutils and diffutils,
``column`` of util-linux, ``jq`` 1.6 and ``bc``: ``python tools_dev/record_shell.py``. Each command line runs
in a fresh copy of ``tests/shell/data/files`` with an empty directory ``tmp``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "tests" / "shell" / "data"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "HOME": "/home/oncall",
    "USER": "oncall",
    "TZ": "UTC",
}


def scripts() -> list[str]:
    """Every script of the corpus: the lines of ``commands.txt``, then the blocks of ``scripts.txt``."""
    lines = (DATA / "commands.txt").read_text().splitlines()
    blocks = (DATA / "scripts.txt").read_text().split("\n%%\n")
    return [line for line in lines if line] + [block.strip("\n") + "\n" for block in blocks]


def record(script: str) -> dict[str, str | int]:
    """Run one script with the real bash and keep what it printed."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "work"
        shutil.copytree(DATA / "files", place)
        (place / "tmp").mkdir()
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=place,
            env=ENVIRONMENT,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
    return {
        "script": script,
        "stdout": done.stdout.decode("utf-8", "replace"),
        "stderr": done.stderr.decode("utf-8", "replace"),
        "exit_code": done.returncode,
    }


def main() -> None:
    """Write ``golden.json``."""
    rows = [record(script) for script in scripts()]
    (DATA / "golden.json").write_text(json.dumps(rows, indent=0, ensure_ascii=False) + "\n")
    print(f"{len(rows)} scripts recorded")


if __name__ == "__main__":
    main()
