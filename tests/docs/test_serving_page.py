"""What the page about serving shows works as it stands, typed into a shell from top to bottom."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serving.md").read_text()

AGENT = """
claude() {
  case "$2" in *"curl $DESK/get_app"*) ;; *) return 9 ;; esac
  curl -sf "$DESK/get_app" && curl -sf "$DESK/api/v1/alerts" > /dev/null && kubectl get pods > /dev/null
  curl -sf -X POST "$DESK/submit" -d '{"solution": "a Service is gone"}'
  curl -sf -X POST "$DESK/submit" -d '{"solution": ""}'
}
"""
"""An agent."""


def scripts() -> list[str]:
    """The commands of the blocks that begin a server and go on."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        lines = re.findall(r"^\$ (.*(?:\n  .*)*)", block, re.MULTILINE)
        lines = [line for line in lines if not line.startswith("pip ")]
        if any("--ready-file" in line for line in lines):
            found.append("\n".join(lines))
    return found


def test_the_page_begins_servers() -> None:
    assert len(scripts()) == 2


@pytest.mark.parametrize("script", scripts(), ids=["by hand", "by an agent"])
def test_a_snippet_works_as_it_stands(script: str, tmp_path: Path) -> None:
    if shutil.which("kubectl") is None or shutil.which("curl") is None:
        pytest.skip("needs kubectl and curl")
    typed = AGENT + script.replace("/tmp/", f"{tmp_path}/")
    command = tmp_path / "bin" / "sregym"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m sregym_env.cli.main "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", typed],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert '"message":"Submission received"' in done.stdout
    if "--exit-when-done" in script:
        assert json.loads(done.stdout.splitlines()[-1])["exit_reason"] == "submitted"


def test_every_option_of_the_page_exists() -> None:
    from typer.testing import CliRunner

    from sregym_env.cli.main import app

    shown = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    shown += CliRunner().invoke(app, ["mcp", "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    for option in {
        "--ready-file",
        "--exit-when-done",
        "--healthy",
        "--admin",
        "--journal",
        "--result",
        "--step",
    }:
        assert option in PAGE and option in shown
