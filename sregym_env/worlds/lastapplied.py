"""What tools that apply keep with an object: the input that they have last sent, in an annotation.

``kubectl apply`` and Argo CD write ``kubectl.kubernetes.io/last-applied-configuration`` anew with every apply. Whoever edits,
patches, sets or scales leaves it as it is: it says then what was delivered, and the object what somebody has made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import orjson

from sregym_env.kube.types import Manifest

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

APPLY = "kubectl-client-side-apply"
"""The field manager of ``kubectl apply``."""

ARGO = "argocd-controller"
"""The field manager of Argo CD, which applies as ``kubectl`` does."""

APPLIERS = (APPLY, ARGO)
"""Field managers that keep their input."""

_UNKEPT = ("stringData",)
"""Fields of an input that the API server takes and does not give back."""

_TYPE = ("apiVersion", "kind")


def sent(manifest: Manifest, tool: str) -> Manifest:
    """What a tool sends: one that applies adds what it has sent. Argo CD makes namespaces without."""
    if tool not in APPLIERS or (tool == ARGO and manifest["kind"] == "Namespace"):
        return manifest
    metadata = manifest["metadata"]
    notes = {key: value for key, value in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    bare = {**manifest, "metadata": {**metadata, "annotations": notes}}
    return {**manifest, "metadata": {**metadata, "annotations": {**notes, LAST_APPLIED: _written(bare)}}}


def input_of(live: Manifest) -> str | None:
    """What an object says was last applied; None for one that nobody has applied."""
    notes: Mapping[str, str] = live["metadata"].get("annotations") or {}
    return notes.get(LAST_APPLIED)


def reapplied(live: Manifest, tool: str, change: Callable[[Manifest], Manifest]) -> Manifest:
    """What becomes of an object when a tool makes a change of it: where that one applies, its input changes as well.

    An apply writes all that its input says. So what somebody has changed past the tool, and what is still so afterwards, must
    have come into its input in the meantime.
    """
    after = change(live)
    text = input_of(live)
    if tool not in APPLIERS or text is None:
        return after
    known = config = orjson.loads(text)
    # An entry of a list may have another place in what was applied, or none: what the object says is taken over below.
    with suppress(IndexError, ValueError, TypeError, KeyError):
        config = change(known)
    found = {**_taken(config, after), **{field: known[field] for field in _TYPE}}
    notes = {**(after["metadata"].get("annotations") or {}), LAST_APPLIED: _written(found)}
    return {**after, "metadata": {**after["metadata"], "annotations": notes}}


def _written(config: Manifest) -> str:
    return orjson.dumps(config, option=orjson.OPT_SORT_KEYS).decode() + "\n"


def _taken(config: Any, live: Any) -> Any:
    """The fields that an input names, as they are in the object."""
    if isinstance(config, Mapping) and isinstance(live, Mapping):
        return {
            name: _taken(value, live[name]) if name in live else value
            for name, value in config.items()
            if name in live or name in _UNKEPT or not value
        }
    if not isinstance(config, list) or not isinstance(live, list):
        return live
    if _named(config) and _named(live):
        there = {each["name"]: each for each in live}
        return [_taken(each, there[each["name"]]) for each in config if each["name"] in there]
    if len(config) == len(live):
        return [_taken(mine, theirs) for mine, theirs in zip(config, live, strict=True)]
    return live


def _named(entries: list[Any]) -> bool:
    return all(isinstance(each, Mapping) and "name" in each for each in entries)
