"""YAML files that servers read: whoever may write them may write anything."""

from __future__ import annotations

import pytest

from sregym_env.sim.programs.yaml_files import document, under

ALIASES = "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text", ["x: " + "[" * 100_000 + "]" * 100_000, "x: " + "{a: " * 50_000, ALIASES, "x: " + "9" * 5000, "x: ["],
    ids=["brackets", "maps", "aliases", "digits", "open"],
)  # fmt: skip
def test_what_no_server_could_hold_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        document(text)


def test_a_date_stays_what_was_written() -> None:
    assert under(document("a:\n  b: 2001-99-99\n"), "a", "b") == "2001-99-99"
