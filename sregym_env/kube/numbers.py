"""Numbers as people type them: digits of ASCII, and not so many that Python refuses them."""

from __future__ import annotations

LONGEST = 18
"""Digits that a signed 64-bit number always holds."""


def is_whole(text: str) -> bool:
    """Whether a text is a number of digits alone (``str.isdigit`` knows many that are none, such as a small 2)."""
    return text.isascii() and text.isdigit()


def whole(text: str) -> int | None:
    """The number, or None where it is none or does not fit 64 bits."""
    return int(text) if is_whole(text) and len(text.lstrip("0")) <= LONGEST else None
