"""Sets of labels: how they are kept, printed and made from what is found in a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from sregym_env.kube.status import go_quote

Labels = tuple[tuple[str, str], ...]
"""Names and values, ordered by name: what tells one stream or series from another."""

ERROR = "__error__"
ERROR_DETAILS = "__error_details__"

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
_UNFIT = re.compile(r"[^a-zA-Z0-9_]")


def make_labels(values: Mapping[str, str] | Iterable[tuple[str, str]]) -> Labels:
    """The labels of a mapping or of pairs."""
    pairs = values.items() if isinstance(values, Mapping) else values
    return tuple(sorted(pairs))


def labels_text(labels: Labels) -> str:
    """``{app="web", pod="web-1"}``, as Prometheus prints them."""
    return "{" + ", ".join(f"{name}={go_quote(value)}" for name, value in labels) + "}"


def is_label_name(text: str) -> bool:
    """Whether a text can be a label's name."""
    return _NAME.match(text) is not None


@lru_cache(maxsize=4096)
def sanitised(key: str) -> str:
    """The label that a key of a line becomes: what cannot stand in a name becomes ``_``; empty for an empty key."""
    key = key.strip()
    if not key:
        return ""
    if key[0].isdigit() and key[0].isascii():
        key = f"_{key}"
    return _UNFIT.sub("_", key)
