"""`sregym serve`: which problems are played."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest

from sregym_env.cli import serving


@pytest.mark.parametrize(
    ("words", "stdin", "played"),
    [
        (["a", "b"], "c", ["a", "b"]),
        (["-"], "a\nb\n", ["a", "b"]),
        (["a", "-"], "", ["a"]),
    ],
)
def test_problems_are_read_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, words: list[str], stdin: str, played: list[str]
) -> None:
    seen: list[Sequence[str]] = []

    def keep(_where: Any, problems: Sequence[str], *_: Any) -> None:
        seen.append(problems)

    monkeypatch.setattr(serving, "_serve", keep)
    monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    serving.serve(
        words,
        copies=1,
        seed=0,
        noise=False,
        port=0,
        desk_port=0,
        speed=1.0,
        step=False,
        directory="somewhere",
    )
    assert seen == [played]
