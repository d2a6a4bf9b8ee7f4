"""Records as lines of a dataset: without keys, without half characters."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

import orjson

from sregym_env.rollouts.dataset.secrets import Scrubber
from sregym_env.rollouts.runner import Rollout


def lines_of(rollout: Rollout, scrubber: Scrubber) -> tuple[bytes, bytes]:
    """The record's line and the labels' line."""
    simulated = rollout.record.backend == "sim"
    return (
        _line(rollout.record.model_dump(by_alias=True), scrubber, simulated),
        _line(rollout.labels.model_dump(by_alias=True), scrubber, simulated),
    )


def _line(document: dict[str, Any], scrubber: Scrubber, simulated: bool) -> bytes:
    line = _dumped(document)
    return _dumped(scrubber.mask(document, simulated=simulated)) if scrubber.suspects(line) else line


def _dumped(document: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(document)
    except TypeError:
        # Half characters and numbers beyond 64 bits, which a model may write and orjson refuses.
        return json.dumps(_plain(document), ensure_ascii=False, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        # As the reader of actions does it, so that the episode replays.
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value
