"""Differences of texts, against the real ``diff`` where there is one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sregym_env.shell.linediff import changes, unified

lines = st.lists(st.sampled_from([f"{letter}\n" for letter in "abcdef"]), max_size=40)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("abc", "abc", ""),
        ("abc", "abd", "@@ -1,3 +1,3 @@\n a\n b\n-c\n+d\n"),
        ("", "ab", "@@ -0,0 +1,2 @@\n+a\n+b\n"),
        # A run of changes slides down as far as it goes.
        ("abab", "ababab", "@@ -2,3 +2,5 @@\n b\n a\n b\n+a\n+b\n"),
        # Of two keys with the same beginning, the first stays.
        (".ab", "ac.b", "@@ -1,3 +1,4 @@\n-.\n a\n+c\n+.\n b\n"),
    ],
)
def test_unified(before: str, after: str, expected: str) -> None:
    old, new = ([f"{letter}\n" for letter in text] for text in (before, after))
    head = "--- x\n+++ y\n" if expected else ""
    assert unified(old, new, ("x", "y")) == head + expected


@given(lines, lines)
def test_changes_lead_from_one_to_the_other(before: list[str], after: list[str]) -> None:
    made: list[str] = []
    at = 0
    for change in changes(before, after):
        made += before[at : change.start]
        made += after[change.new_start : change.new_stop]
        at = change.stop
    assert made + before[at:] == after


def _real(folder: Path, before: Sequence[str], after: Sequence[str]) -> str:
    (folder / "x").write_text("".join(before))
    (folder / "y").write_text("".join(after))
    command = ["diff", "-u", "--label", "x", "--label", "y", str(folder / "x"), str(folder / "y")]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@pytest.mark.skipif(shutil.which("diff") is None, reason="no diff on this machine")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines, lines)
def test_the_real_diff_says_the_same(tmp_path: Path, before: list[str], after: list[str]) -> None:
    assert unified(before, after, ("x", "y")) == _real(tmp_path, before, after)
