"""Reading the bodies of requests: JSON, YAML and protobuf, with the API server's complaints.

What Go accepts and a strict parser does not (bytes that are no UTF-8, lone surrogates) is read as Go reads it.
Depth, size and YAML aliases are bounded, so that no body costs more than its length.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import orjson
import yaml

from sregym_env.cluster.api import PatchType
from sregym_env.kube import gojson, status, yamlin
from sregym_env.kube.incoming import unrecognized
from sregym_env.kube.types import Json
from sregym_env.serve import protobuf
from sregym_env.serve.message import Request

PROTOBUF = "application/vnd.kubernetes.protobuf"
ACCEPTED = ("application/json", "application/yaml", PROTOBUF)

MAX_DEPTH = 200
"""Nesting of a body. Go bears 10,000 levels; what is stored here must be readable by recursion."""

TOO_DEEP = "exceeded max depth"

MAX_VALUES = 100_000
"""Values in a body. A thousand containers without names have a thousand complaints each; no object that anybody
writes comes near."""

MAX_YAML = 256 * 1024
"""Length of a body that is YAML and not JSON, which takes a hundred times as long to read."""

_META_TYPE = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)
_SURROGATES = re.compile("[\ud800-\udfff]")


def media_type(request: Request) -> str:
    """The body's media type, without parameters."""
    return request.header("content-type").partition(";")[0].strip().lower()


def body(request: Request, kind: str = "") -> Json:
    """The body as JSON; ``kind`` is what should be in it. Raises BadRequest, UnsupportedMediaType."""
    media = media_type(request)
    if media == PROTOBUF or request.body.startswith(protobuf.MAGIC):
        return _protobuf(request.body, kind)
    if media and media not in (*ACCEPTED, "*/*") and not media.endswith(("+json", "+yaml")):
        raise status.unsupported_media_type(ACCEPTED)
    raw = request.body
    try:
        found = _yaml(raw) if media.endswith("yaml") else parse(raw)
    except ValueError as error:
        raise unrecognized(kind, f"couldn't get version/kind; json parse error: {error}", raw) from None
    problem = _not_typed(found)
    if problem:
        raise unrecognized(kind, f"couldn't get version/kind; json parse error: {problem}", raw)
    return {} if found is None else found


def patch_body(request: Request, type: PatchType) -> Json:
    """The body of a PATCH as JSON. Raises BadRequest."""
    raw = request.body
    try:
        found = _yaml(raw) if type == "apply" else parse(raw)
    except ValueError as error:
        prefix = {"apply": "error decoding YAML: ", "merge": "error decoding patch: "}.get(type, "")
        raise status.bad_request(f"{prefix}{error}") from None
    if type == "json" and not isinstance(found, list):
        raise status.bad_request(_cannot(found, "jsonpatch.Patch"))
    if type in ("merge", "strategic") and not isinstance(found, dict):
        prefix = "error decoding patch: " if type == "merge" else ""
        raise status.bad_request(prefix + _cannot(found, "map[string]interface {}"))
    return found


def parse(raw: bytes) -> Json:
    """A JSON document as Go reads it. Raises ValueError with Go's text."""
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError:
        found = _leniently(raw)
    _check_depth(raw, found)
    if raw.count(b",") + _brackets(raw) >= MAX_VALUES and _count_values(found) > MAX_VALUES:
        text = f"Request entity too large: limit is {MAX_VALUES} values"
        raise status.StatusError(413, "RequestEntityTooLarge", text)
    return found


def duplicates(raw: bytes) -> list[str]:
    """Paths of the keys that an object has twice, as Go's strict decoder names them; for bodies that parse."""
    if raw.count(b'":') + raw.count(b'" :') <= _count_keys(raw):
        return []
    found: list[str] = []
    try:
        tree = json.loads(raw.decode(errors="replace"), object_pairs_hook=_Pairs)
    except ValueError:
        return []  # a body that is no JSON
    for path, keys in _objects("", tree):
        seen: set[str] = set()
        for key in keys:
            if key in seen:
                found.append(f"{path}.{key}" if path else key)
            seen.add(key)
    return list(dict.fromkeys(found))


class _Pairs(list[tuple[str, Any]]):
    """An object as the pairs it is written with."""


def _objects(path: str, value: Any) -> Iterator[tuple[str, list[str]]]:
    if isinstance(value, _Pairs):
        yield path, [key for key, _ in value]
        for key, item in value:
            yield from _objects(f"{path}.{key}" if path else key, item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _objects(f"{path}[{index}]", item)


def _count_values(value: Json) -> int:
    """How many values there are in a document, lists and objects included."""
    number, waiting = 0, [value]
    while waiting:
        found = waiting.pop()
        number += 1
        if isinstance(found, dict):
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
    return number


def _count_keys(raw: bytes) -> int:
    """How many keys the objects of a document have, of several alike one. Strings may make a document look as
    if it had more, never fewer, so equality means that there are no doubles."""
    try:
        waiting = [orjson.loads(raw)]
    except orjson.JSONDecodeError:
        return 0
    number = 0
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            number += len(value)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return number


def _protobuf(raw: bytes, kind: str) -> Json:
    if not raw.startswith(protobuf.MAGIC):
        text = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        raise unrecognized(kind, text, raw)
    return protobuf.decode(raw)


def _leniently(raw: bytes) -> Json:
    complaint = gojson.syntax_error(raw)
    if complaint is not None:
        raise ValueError(complaint)
    if _brackets(raw) > MAX_DEPTH and _deepest(raw) > MAX_DEPTH:
        raise ValueError(TOO_DEEP)
    found = json.loads(raw.decode(errors="replace"), parse_int=_integer, parse_float=_float)
    return _sound(found)


def _integer(text: str) -> int | float:
    if len(text) < 19:
        return int(text)
    value = _float(text)
    number = int(value)
    return int(text) if -(2**63) <= number < 2**63 and len(text) < 21 else value


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return value


def _sound(value: Json) -> Json:
    """The value with U+FFFD in the place of what no text may contain."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_SURROGATES.sub("\ufffd", key): _sound(item) for key, item in value.items()}
    return value


# --- bounds ----------------------------------------------------------------------------------------


def _brackets(raw: bytes) -> int:
    return raw.count(b"{") + raw.count(b"[")


def _check_depth(raw: bytes, value: Json) -> None:
    if _brackets(raw) > MAX_DEPTH and depth(value) > MAX_DEPTH:
        raise ValueError(TOO_DEEP)


def depth(value: Json, enough: int = MAX_DEPTH + 1) -> int:
    """How deeply a value is nested, counted up to ``enough``."""
    level = [value]
    for reached in range(enough):
        inner: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        if not inner:
            return reached
        level = [item for item in inner if isinstance(item, dict | list)]
        if not level:
            return reached + 1
    return enough


_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def _deepest(raw: bytes) -> int:
    """How deeply the brackets of a JSON document are nested."""
    reached = deepest = 0
    for byte in _STRINGS.sub(b"", raw):
        if byte in b"{[":
            reached += 1
            deepest = max(deepest, reached)
        elif byte in b"}]":
            reached -= 1
    return deepest


# --- types -----------------------------------------------------------------------------------------


def _not_typed(value: Json) -> str:
    """Go's complaint where the document has no place for an API version and a kind."""
    if value is None:
        return ""
    if not isinstance(value, dict):
        return _cannot(value, _META_TYPE)
    for key in ("apiVersion", "kind"):
        found = value.get(key)
        if found is not None and not isinstance(found, str):
            return f"json: cannot unmarshal {_name(found)} into Go struct field .{key} of type string"
    return ""


def _cannot(value: Json, into: str) -> str:
    return f"json: cannot unmarshal {_name(value)} into Go value of type {into}"


def _name(value: Json) -> str:
    names = {bool: "bool", int: "number", float: "number", str: "string", dict: "object"}
    return names.get(type(value), "array")


# --- YAML ------------------------------------------------------------------------------------------


def _yaml(raw: bytes) -> Json:
    if raw.lstrip()[:1] in (b"{", b"["):
        try:
            return parse(raw)
        except ValueError:
            pass
    if len(raw) > MAX_YAML:
        text = f"Request entity too large: limit is {MAX_YAML}"
        raise status.StatusError(413, "RequestEntityTooLarge", text)
    try:
        return yamlin.load(raw.decode(errors="replace"))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"yaml: {yamlin.complaint(error)}") from None
