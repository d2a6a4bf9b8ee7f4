"""Numbers as people and programs write them: digits of ASCII, and not so many that Python refuses them."""

from __future__ import annotations

from typing import TypeVar, overload

D = TypeVar("D")

DIGITS = 18
"""Digits that a signed 64-bit number always holds, which is what real programs read into."""


def is_whole(text: str) -> bool:
    """Whether a text is a number of digits alone (``str.isdigit`` knows many that are none, such as a small 2)."""
    return text.isascii() and text.isdigit()


@overload
def whole(text: str) -> int | None: ...


@overload
def whole(text: str, default: D, digits: int = DIGITS) -> int | D: ...


def whole(text: str, default: D | None = None, digits: int = DIGITS) -> int | D | None:
    """The number that a text is; ``default`` where it is none, or has more than ``digits``.

    Python converts no more than 4,300, so that a text of more would end whoever reads it.
    """
    if not is_whole(text):
        return default
    shown = text.lstrip("0") or "0"
    return int(shown) if len(shown) <= digits else default
