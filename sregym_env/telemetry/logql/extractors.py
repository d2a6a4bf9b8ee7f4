"""Stages that find labels in lines: ``json``, ``logfmt``, ``regexp``, ``pattern`` and ``unpack``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import orjson

from sregym_env.telemetry.logql.errors import stage_error
from sregym_env.telemetry.logql.labels import is_label_name, sanitised
from sregym_env.telemetry.logql.patterns import parse_pattern
from sregym_env.telemetry.logql.regexes import compiled
from sregym_env.telemetry.logql.row import DUPLICATE, Row
from sregym_env.telemetry.logql.syntax import Parse

Step = Callable[[Row], bool]
"""A stage at work: changes the row and says whether the line stays."""

JSON_ERROR = "JSONParserErr"
LOGFMT_ERROR = "LogfmtParserErr"
_NO_OBJECT = "Value looks like object, but can't find closing '}' symbol"
_MALFORMED = "Malformed JSON error"
_REPLACEMENT = "\ufffd"
"""What stands for bytes that are no text; values with it are left empty."""

_MAX_LABELS = 1000
"""Labels that one line may have; Loki has no such bound, and no log has so many."""

_MAX_KEY = 512
"""Characters of a label's name at most."""


class _Number(str):
    """A number as a line writes it."""

    __slots__ = ()


_CERTAIN = frozenset((str, bool, int, type(None)))
"""Types of values that JSON writes in one way only."""

_DECODER = json.JSONDecoder(parse_float=_Number, parse_int=_Number, parse_constant=_Number)


def extractor(stage: Parse) -> Step:
    """The stage at work. Raises ParseError for an expression that makes no sense."""
    match stage.kind:
        case "json":
            return _json_fields(stage) if stage.fields else _json
        case "logfmt":
            return _logfmt_fields(stage) if stage.fields else _logfmt(stage.flags)
        case "regexp":
            return _regexp(stage.pattern)
        case "pattern":
            return _pattern(stage.pattern)
        case _:
            return _unpack


# --- JSON ---------------------------------------------------------------------------------------------


def _decoded(line: str) -> Any:
    """The value of a line, its numbers as it writes them. Raises ValueError."""
    try:
        value, _ = _DECODER.raw_decode(line, len(line) - len(line.lstrip()))
    except RecursionError:
        raise ValueError(_MALFORMED) from None
    return value


def _flat(line: str) -> dict[str, Any]:
    """An object of texts, truths and whole numbers, which cannot be written in two ways, at a fifth of the cost; any
    other as ``_decoded`` reads it. Raises ValueError."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict) or not all(type(item) in _CERTAIN for item in value.values()):
        value = _decoded(line)
    return cast("dict[str, Any]", value)


def _json(row: Row) -> bool:
    line = row.line
    if not line.lstrip().startswith("{"):
        row.fail(JSON_ERROR, _NO_OBJECT)
        return True
    try:
        value = _flat(line)
    except ValueError:
        row.fail(JSON_ERROR, _MALFORMED)
        return True
    _flatten(row, value, "")
    return True


def _flatten(row: Row, value: dict[str, Any], prefix: str) -> None:
    labels, base = row.labels, row.base
    for key, item in value.items():
        name = prefix + (sanitised(key) if not prefix else _inner(key))
        if len(labels) >= _MAX_LABELS or len(name) > _MAX_KEY:
            return
        if isinstance(item, str):
            text = item if _REPLACEMENT not in item else ""
        elif item is True or item is False:
            text = "true" if item else "false"
        elif isinstance(item, int):
            text = str(item)
        elif isinstance(item, dict):
            _flatten(row, item, f"{name}_")
            continue
        else:
            # Lists and nulls become no labels.
            continue
        labels[name + DUPLICATE if name in base else name] = text


def _inner(key: str) -> str:
    """A key below another: a digit may begin it."""
    return sanitised(f"_{key}")[1:]


_PATH = re.compile(r'\.?([A-Za-z_][\w-]*)|\[(?:([0-9]{1,9})|"((?:[^"\\]|\\.)*)")\]')


def _path(expression: str) -> tuple[str | int, ...]:
    """``a.b[0]["c"]`` in its parts. Raises ValueError."""
    parts: list[str | int] = []
    at = 0
    while at < len(expression):
        found = _PATH.match(expression, at)
        if found is None or (not at and expression[0] == "."):
            raise ValueError(f"unexpected char {expression[at]}")
        name, index, quoted = found.groups()
        parts.append(name or quoted if index is None else int(index))
        at = found.end()
    if not parts:
        raise ValueError("syntax error: unexpected $end, expecting LSB or FIELD")
    return tuple(parts)


def _json_fields(stage: Parse) -> Step:
    paths: list[tuple[str, tuple[str | int, ...]]] = []
    for field in stage.fields:
        try:
            paths.append((field.name, _path(field.expression)))
        except ValueError as error:
            raise stage_error(stage, f"cannot parse expression [{field.expression}]: {error}") from None

    def step(row: Row) -> bool:
        line = row.line
        if not line:
            return True
        if line.lstrip()[:1] not in ('"', "{", "["):
            row.fail(JSON_ERROR)
            return True
        try:
            value = _decoded(line)
        except ValueError:
            row.fail(JSON_ERROR)
            value = None
        for name, path in paths:
            found, item = _at(value, path)
            if found:
                row.extract(name, _value_text(item))
            elif name not in row.labels:
                row.labels[name] = ""
        return True

    return step


def _at(value: Any, path: Sequence[str | int]) -> tuple[bool, Any]:
    for part in path:
        if isinstance(part, int):
            if not isinstance(value, list) or part >= len(value):
                return False, None
        elif not isinstance(value, dict) or part not in value:
            return False, None
        value = value[part]
    return True, value


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return "".join(_written(value))
    except RecursionError:
        return ""


def _written(value: Any) -> list[str]:
    """A list or an object as JSON without spaces, numbers as the line wrote them."""
    if isinstance(value, _Number):
        return [value]
    if isinstance(value, dict):
        out = ["{"]
        for key, item in value.items():
            out += [",", json.dumps(key, ensure_ascii=False), ":", *_written(item)]
        return [out[0], *out[2:], "}"] if len(out) > 1 else ["{}"]
    if isinstance(value, list):
        out = ["["]
        for item in value:
            out += [",", *_written(item)]
        return [out[0], *out[2:], "]"] if len(out) > 1 else ["[]"]
    return [json.dumps(value, ensure_ascii=False)]


def _unpack(row: Row) -> bool:
    line = row.line
    if not line:
        return True
    if not line.lstrip().startswith("{"):
        row.fail(JSON_ERROR, "expecting json object(6), but it is not")
        return True
    try:
        value = _decoded(line)
    except ValueError:
        row.fail(JSON_ERROR, _MALFORMED)
        return True
    entry: str | None = None
    for key, item in value.items():
        if not isinstance(item, str) or isinstance(item, _Number):
            continue
        if key == "_entry":
            entry = item
        elif is_label_name(key) and len(row.labels) < _MAX_LABELS:
            row.extract(key, item if _REPLACEMENT not in item else "")
    if entry is not None:
        row.line = entry
    return True


# --- logfmt -------------------------------------------------------------------------------------------

_PAIR = re.compile(r'[\x00-\x20]*([^\x00-\x20="]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\x00-\x20="]*)))?')
_GAP = re.compile(r"[\x00-\x20]*")
_WORD = re.compile(r"[^\x00-\x20]*")


def _pairs(line: str, strict: bool) -> tuple[list[tuple[str, str]], str]:
    """Keys and values, and what is wrong with the line; where that does not matter, the rest of the line is read."""
    found: list[tuple[str, str]] = []
    problem = ""
    at, end = 0, len(line)
    while at < end:
        pair = _PAIR.match(line, at)
        if pair is None:
            gap = _GAP.match(line, at)
            at = gap.end() if gap else at
            if at >= end:
                break
            problem = f"unexpected '{line[at]}'"
        else:
            following = line[pair.end() : pair.end() + 1]
            key, quoted, plain = pair.groups()
            at = pair.end()
            if quoted is not None:
                found.append((key, _unquoted(quoted)))
                continue
            if following not in ("=", '"'):
                found.append((key, plain or ""))
                continue
            if following == '"' and line[at - 1] == "=":
                problem, at = "unterminated quoted value", end
            else:
                problem = f"unexpected '{following}'" if following == "=" else "unexpected '\"'"
        if strict:
            return found, f"logfmt syntax error at pos {at + 1} : {problem}"
        rest = _WORD.match(line, at)
        at = rest.end() if rest else end
    return found, ""


_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _unquoted(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPED.sub(
        lambda found: chr(int(found[1], 16)) if found[1] else _ESCAPES.get(found[2], found[2]), text
    )


def _logfmt(flags: Sequence[str]) -> Step:
    strict, keep_empty = "--strict" in flags, "--keep-empty" in flags

    def step(row: Row) -> bool:
        pairs, problem = _pairs(row.line, strict)
        labels, base = row.labels, row.base
        for key, value in pairs[:_MAX_LABELS]:
            name = sanitised(key)
            if not name or len(name) > _MAX_KEY:
                continue
            if _REPLACEMENT in value:
                value = ""
            if value or keep_empty:
                labels[name + DUPLICATE if name in base else name] = value
        if problem:
            row.fail(LOGFMT_ERROR, problem)
        return True

    return step


def _logfmt_fields(stage: Parse) -> Step:
    wanted: dict[str, str] = {}
    for field in stage.fields:
        if not field.expression or re.search(r'[\s="]', field.expression):
            raise stage_error(
                stage,
                f"cannot parse expression [{field.expression}]: syntax error: unexpected $end, expecting KEY",
            )
        wanted[sanitised(field.expression)] = field.name
    strict = "--strict" in stage.flags

    def step(row: Row) -> bool:
        for name in wanted.values():
            if name not in row.base:
                row.labels[name] = ""
        pairs, problem = _pairs(row.line, strict)
        for key, value in pairs:
            name = wanted.get(sanitised(key), "")
            if name:
                row.extract(name, value if _REPLACEMENT not in value else "")
        if problem:
            row.fail(LOGFMT_ERROR, problem)
        return True

    return step


# --- regular expressions and patterns -----------------------------------------------------------------


def _regexp(text: str) -> Step:
    pattern = compiled(text)
    names = [(name, index) for name, index in sorted(pattern.groupindex.items(), key=lambda item: item[1])]

    def step(row: Row) -> bool:
        found = pattern.search(row.line)
        if found is not None:
            for name, index in names:
                row.extract(name, found.group(index) or "")
        return True

    return step


def _pattern(text: str) -> Step:
    pattern = parse_pattern(text)

    def step(row: Row) -> bool:
        for name, value in pattern.captures(row.line):
            row.extract(name, value)
        return True

    return step
