"""JSON as models write it: read leniently where nothing can be misread, found in prose, never raising but ValueError."""

from __future__ import annotations

import json
from typing import Any

MAX_TRIES = 200
"""Places in a text at which a document is looked for."""


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        _no_number(text)
    return number


# Models break lines inside strings, where JSON wants \n; what is meant is plain.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_number, parse_float=_finite)


def loads(text: str) -> Any:
    """The document that a text is. Raises ValueError."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def at(text: str, start: int) -> tuple[Any, int]:
    """The document that begins at an index, and the index behind it. Raises ValueError."""
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def found(text: str) -> str | None:
    """The last object or list that stands in a text, as it is written; None if there is none.

    Models think aloud and put their answer into fences; what they end with is what they mean.
    """
    thought = text.rfind("</think>")
    index = 0 if thought < 0 else thought
    last: str | None = None
    for _ in range(MAX_TRIES):
        starts = [place for place in (text.find("{", index), text.find("[", index)) if place >= 0]
        if not starts:
            break
        index = min(starts)
        try:
            _, end = at(text, index)
        except ValueError:
            index += 1
            continue
        last = text[index:end]
        index = end
    return last
