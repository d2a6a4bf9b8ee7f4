"""Rewrite the generated parts of README.md: a real transcript and the measured table.

Usage: ``python tools_dev/update_readme.py [transcript] [bench]`` (both by default). The transcript is an excerpt
of a golden one, so that the tests hold it true; the table is measured on this machine.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
EXCERPT = ROOT / "tests" / "transcripts" / "18_build_that_was_never_pushed.txt"
BEGINS = "$ kubectl get nodes"
"""After the briefing and the alerts."""


def transcript() -> str:
    """A golden transcript from its first look at the cluster on."""
    text = EXCERPT.read_text()
    text = text[text.index(BEGINS) :]
    return f"```console\n{text.rstrip()}\n```"


def bench() -> str:
    """The benchmark as a Markdown table."""
    from sregym_env.rollouts.bench import measure

    rows = ["| | measured | calibrated | goal | floor | |", "|---|---|---|---|---|---|"]
    for found in measure():
        promise = found.promise
        cells = (found.measured, found.calibrated, promise.goal, promise.floor)
        numbers = " | ".join(f"{_number(value)} {promise.unit}".strip() for value in cells)
        rows.append(f"| {promise.text} | {numbers} | {found.verdict} |")
    return "\n".join(rows)


def _number(value: float) -> str:
    """Three significant digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def replace(text: str, name: str, body: str) -> str:
    """Put ``body`` between the marks of a generated part."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    assert pattern.search(text), f"README.md has no part called {name}"
    return pattern.sub(lambda match: f"{match[1]}\n{body}\n\n{match[2]}", text)


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["transcript", "bench"]
    content = README.read_text()
    for part, make in (("transcript", transcript), ("bench", bench)):
        if part in wanted:
            content = replace(content, part, make())
    README.write_text(content)
