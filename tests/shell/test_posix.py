"""POSIX expressions mean the same to the quick and to the linear matcher, and hostile ones end soon."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sregym_env.shell.commands.posix import compiled


@pytest.mark.parametrize(
    ("source", "extended", "text", "matched"),
    [
        ("a+", False, "xa+", "a+"),
        ("a+", True, "xaa", "aa"),
        (r"a\+", False, "xaa", "aa"),
        (r"\(ab\)*c", False, "ababc", "ababc"),
        ("*a", False, "*a", "*a"),
        ("[]a]+", True, "x]a", "]a"),
        ("[[:digit:]]{2}", True, "a123", "12"),
        ("a{,2}", True, "aaa", "aa"),
        ("{", True, "a{b", "{"),
        ("a^b$c", False, "a^b$c", "a^b$c"),
        (r"\<geo\>", False, "a geo-1", "geo"),
        ("a**", True, "aaa", "aaa"),
        (r"[\.]", True, "\\", "\\"),
    ],
)
def test_matches(source: str, extended: bool, text: str, matched: str) -> None:
    found = compiled(source, extended=extended).search(text)
    assert found is not None
    assert found[0] == matched


@given(st.text(alphabet="ab*+?()[]{}|^$.\\1,-", max_size=12), st.text(alphabet="ab-", max_size=12))
@settings(max_examples=300, deadline=None)
def test_both_matchers_agree(source: str, text: str) -> None:
    try:
        expression = compiled(source, extended=True)
    except re.error:
        return
    quick, linear = expression._quick.search(text), expression._linear.search(text)
    assert (quick and quick.span()) == (linear and linear.span())
