"""Imperative commands (``create KIND``, ``set``, ``run``, ``expose``, ...) on a small cluster of their own."""

from __future__ import annotations

import json
from pathlib import Path

from tests.parity.harness import Case

_DATA = json.loads(Path(__file__).with_suffix(".json").read_text())

IMPERATIVE_FILES: dict[str, str] = _DATA["files"]

SETUP: tuple[str | int, ...] = tuple(_DATA["setup"])
"""Commands that make the cluster, and seconds to wait between them."""

IMPERATIVE: tuple[Case, ...] = tuple(
    Case(each) if isinstance(each, str) else Case(each["line"], stdin=IMPERATIVE_FILES.get(each["stdin"], ""))
    for each in _DATA["lines"]
)
