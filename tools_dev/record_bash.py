"""Records what a real bash prints for the scripts of the differential corpus (``tests/shell/data/differential.txt``).

Every script runs in a fresh directory with an empty environment. Both streams go to one pipe, so that the recorded
text has the order of a terminal, and once more to two, so that each is known by itself.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

DATA = Path(__file__).parent.parent / "tests" / "shell" / "data"


def scripts() -> list[str]:
    """The scripts of the corpus."""
    return (DATA / "differential.txt").read_text().rstrip("\n").split("\n----\n")


def run(script: str, *, joined: bool) -> subprocess.CompletedProcess[bytes]:
    """A script in a real bash, in a directory of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env={"HOME": folder, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if joined else subprocess.PIPE,
            timeout=20,
            check=False,
        )


def recorded(script: str) -> dict[str, str | int]:
    """What a real bash makes of a script."""
    done = run(script, joined=False)
    text = run(script, joined=True).stdout
    return {
        "script": script,
        "text": text.decode("utf-8", "surrogateescape"),
        "stdout": done.stdout.decode("utf-8", "surrogateescape"),
        "stderr": done.stderr.decode("utf-8", "surrogateescape"),
        "exit_code": done.returncode,
    }


if __name__ == "__main__":
    rows = [recorded(script) for script in scripts()]
    (DATA / "differential.json").write_text(json.dumps(rows, indent=1, ensure_ascii=True) + "\n")
