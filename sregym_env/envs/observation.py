"""Fitting what a tool printed into an observation: bounded, printable, and open about what was left out."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

HEAD_SHARE = 0.6
"""Share of a cut observation that is taken from its beginning; the rest is its end."""


def fit(text: str, budget: int) -> tuple[str, bool]:
    """The text within ``budget`` characters, and whether something was left out.

    The cut falls on line ends, and the marker says how much is missing and how to see it.
    """
    if not text.isascii() or not text.isprintable():
        text = clean(text)
    if len(text) <= budget:
        return text, False
    head_budget = max(int((budget - _MARKER_ROOM) * HEAD_SHARE), 0)
    tail_budget = max(budget - _MARKER_ROOM - head_budget, 0)
    head = _to_line_end(text[:head_budget])
    tail = _from_line_start(text[len(text) - tail_budget :])
    marker = _marker(text, head, tail)
    return f"{head}{marker}{tail}"[:budget], True


def fitted(texts: Sequence[str], budget: int) -> tuple[tuple[str, ...], bool]:
    """The answers to the calls of one action, so that they fit ``budget`` when they are :func:`joined`."""
    if len(texts) == 1:
        text, cut = fit(texts[0], budget)
        return (text,), cut
    each = budget // len(texts) - _HEADING_ROOM
    parts = [fit(text, each) for text in texts]
    return tuple(text for text, _ in parts), any(cut for _, cut in parts)


def joined(texts: Sequence[str]) -> str:
    """The observation that consists of the answers to the calls of one action."""
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"[{number}/{len(texts)}]\n{text}" for number, text in enumerate(texts, 1))


_HEADING_ROOM = 16
_MARKER_ROOM = 260


def clean(text: str) -> str:
    """Without terminal colours and control characters."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


def _to_line_end(text: str) -> str:
    end = text.rfind("\n")
    # A line longer than half of the room is cut in its middle: dropping it would leave too little.
    return text[: end + 1] if end > len(text) // 2 else text


def _from_line_start(text: str) -> str:
    start = text.find("\n")
    return text[start + 1 :] if 0 <= start < len(text) // 2 else text


def _marker(text: str, head: str, tail: str) -> str:
    hidden = len(text) - len(head) - len(tail)
    lines = text.count("\n", len(head), len(text) - len(tail))
    break_before = "" if not head or head.endswith("\n") else "\n"
    return (
        f"{break_before}[... {hidden} characters ({lines} lines) left out of {len(text)}; narrow the command to see "
        "them: pipe it to grep, head, tail or sed -n 'FROM,TOp', or ask for less (-l, --tail, -o name) ...]\n"
    )
