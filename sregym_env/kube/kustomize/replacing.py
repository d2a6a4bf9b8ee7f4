"""Replacements: a value of one object written into others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.kube.kustomize.errors import KustomizeError
from sregym_env.kube.kustomize.resource import Piece
from sregym_env.kube.kustomize.selecting import chosen
from sregym_env.runtime.numbers import whole

_STEP = re.compile(r"\[[^\]]*\]|(?:\\.|[^.\[])+")
_MISSING = object()


def apply_replacement(pieces: list[Piece], entry: Mapping[str, Any]) -> list[Piece]:
    """The objects with one entry of ``replacements`` carried out."""
    source = entry.get("source") or {}
    value = _source(pieces, source)
    made = list(pieces)
    for target in entry.get("targets") or ():
        if not target.get("select"):
            raise KustomizeError("target must specify resources to select")
        rejected = {at for reject in target.get("reject") or () for at in chosen(made, _exactly(reject))}
        for at in chosen(made, _exactly(target["select"])):
            if at not in rejected:
                for field in target.get("fieldPaths") or ("metadata.name",):
                    made[at] = _written(made[at], field, value, target.get("options") or {})
    return made


def _exactly(selector: Mapping[str, Any]) -> dict[str, Any]:
    plain = ("group", "version", "kind", "name", "namespace")
    return {key: re.escape(str(value)) if key in plain else value for key, value in selector.items()}


def _source(pieces: Sequence[Piece], source: Mapping[str, Any]) -> Any:
    found = chosen(pieces, _exactly({k: v for k, v in source.items() if k not in ("fieldPath", "options")}))
    if not found:
        raise KustomizeError(f"nothing selected by {_selector_text(source)}")
    if len(found) > 1:
        raise KustomizeError(f"multiple matches for selector {_selector_text(source)}")
    field = source.get("fieldPath") or "metadata.name"
    value: Any = pieces[found[0]].obj
    for step in steps_of(field):
        value = _below(value, step)
        if value is _MISSING:
            raise KustomizeError(
                f"fieldPath `{field}` is missing for replacement source {_selector_text(source)}"
            )
    options = source.get("options") or {}
    if options.get("delimiter"):
        parts = str(value).split(options["delimiter"])
        index = int(options.get("index", 0))
        if not 0 <= index < len(parts):
            raise KustomizeError(f"options.index {index} is out of bounds for value {value}")
        return parts[index]
    return value


def _selector_text(source: Mapping[str, Any]) -> str:
    field = source.get("fieldPath") or "metadata.name"
    version, group = source.get("version") or "[noVer]", source.get("group") or "[noGrp]"
    place = source.get("namespace") or "[noNs]"
    name = source.get("name") or "[noName]"
    shown = f"{source.get('kind') or '[noKind]'}.{version}.{group}/{name}.{place}"
    return f"{shown}:{field}" if source.get("fieldPath") else shown


def steps_of(text: str) -> list[str]:
    """``a.b.[name=x].0`` as steps; a dot may be escaped."""
    return [step.replace("\\.", ".") for step in _STEP.findall(text)]


def _below(value: Any, step: str) -> Any:
    if isinstance(value, list):
        at = _positions(value, step)
        return value[at[0]] if at else _MISSING
    return value.get(step, _MISSING) if isinstance(value, dict) else _MISSING


def _positions(items: Sequence[Any], step: str) -> list[int]:
    if step == "*":
        return list(range(len(items)))
    if step.startswith("["):
        key, _, wanted = step[1:-1].partition("=")
        return [
            at
            for at, item in enumerate(items)
            if (str(item.get(key)) == wanted if isinstance(item, dict) else str(item) == wanted)
        ]
    return [at] if (at := whole(step, len(items))) < len(items) else []


def _written(piece: Piece, field: str, value: Any, options: Mapping[str, Any]) -> Piece:
    made = _write(piece.obj, steps_of(field), value, options)
    if made is _MISSING:
        raise KustomizeError(f'unable to find field "{field}" in replacement target')
    return piece.changed(made)


def _write(held: Any, steps: list[str], value: Any, options: Mapping[str, Any]) -> Any:
    if not steps:
        return _inserted(held, value, options)
    step, rest = steps[0], steps[1:]
    create = bool(options.get("create"))
    if held is _MISSING or held is None:
        if not create:
            return _MISSING
        held = [] if step.startswith("[") else {}
    if isinstance(held, list):
        return _write_items(held, step, rest, value, options)
    if not isinstance(held, dict):
        return _MISSING
    made = _write(held.get(step, _MISSING), rest, value, options)
    if made is _MISSING and not (not rest and create):
        return _MISSING
    return {**held, step: made}


def _write_items(held: list[Any], step: str, rest: list[str], value: Any, options: Mapping[str, Any]) -> Any:
    positions = _positions(held, step)
    if not positions:
        if not (options.get("create") and step.startswith("[")):
            return _MISSING
        key, _, wanted = step[1:-1].partition("=")
        return [*held, _write({key: wanted}, rest, value, options)]
    made = list(held)
    for at in positions:
        written = _write(made[at], rest, value, options)
        if written is _MISSING:
            if step == "*":
                continue
            return _MISSING
        made[at] = written
    return made


def _inserted(held: Any, value: Any, options: Mapping[str, Any]) -> Any:
    delimiter = options.get("delimiter")
    if held is _MISSING and not options.get("create"):
        return _MISSING
    if not delimiter or held is _MISSING:
        return value
    parts = str(held).split(delimiter)
    index = int(options.get("index", 0))
    if index < 0:
        parts.insert(0, str(value))
    elif index >= len(parts):
        parts.append(str(value))
    else:
        parts[index] = str(value)
    return delimiter.join(parts)
