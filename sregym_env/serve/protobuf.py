"""Decoder of protobuf request bodies, which kubectl 1.32, Helm and every recent Go client send.

A body is ``k8s\\0`` and a ``runtime.Unknown`` that names the kind and holds the object. Zero values are written
by Go even where nobody set them, so the table says for each field whether zero is a value.
"""

from __future__ import annotations

import gzip
import struct
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson

from sregym_env.kube import status
from sregym_env.kube.durations import rfc3339, rfc3339_micro
from sregym_env.kube.types import Json, Manifest
from sregym_env.runtime.clock import SECOND

MAGIC = b"k8s\x00"

Value = int | bytes
Fields = dict[int, list[str]]


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, str], dict[str, Fields]]:
    data = (files("sregym_env.serve") / "data" / "proto_table-1.32.json.gz").read_bytes()
    tree = orjson.loads(gzip.decompress(data))
    messages = {
        name: {int(number): field for number, field in fields.items()}
        for name, fields in tree["messages"].items()
    }
    return tree["kinds"], messages


def decode(body: bytes) -> Manifest:
    """The object in a body, as JSON would have it. Raises BadRequest, UnsupportedMediaType."""
    api_version, kind, raw = _envelope(body)
    kinds, _ = _table()
    message = kinds.get(f"{api_version} {kind}") or kinds.get(kind)
    if message is None:
        raise status.unsupported_media_type(("application/json", "application/yaml"))
    try:
        return {"apiVersion": api_version, "kind": kind, **_message(message, raw)}
    except (IndexError, ValueError, struct.error) as error:
        raise status.bad_request(f"unable to decode the protobuf body of a {kind}: {error}") from None


def _envelope(body: bytes) -> tuple[str, str, bytes]:
    try:
        unknown = dict(_wire(body[len(MAGIC) :]))
        meta = dict(_wire(_bytes(unknown.get(1, b""))))
        return _text(meta.get(1, b"")), _text(meta.get(2, b"")), _bytes(unknown.get(2, b""))
    except (IndexError, ValueError, struct.error) as error:
        raise status.bad_request(f"unable to decode the protobuf envelope: {error}") from None


# --- the wire ------------------------------------------------------------------------------------


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("integer overflow")


def _wire(data: bytes) -> Iterator[tuple[int, Value]]:
    """(field number, value) pairs in order; length-delimited values as bytes."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        kind = tag & 7
        value: Value
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            if at + length > end:
                raise ValueError("unexpected EOF")
            value, at = data[at : at + length], at + length
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            if at + size > end:
                raise ValueError("unexpected EOF")
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wrong wireType {kind}")
        yield tag >> 3, value


def _bytes(value: Value) -> bytes:
    if isinstance(value, int):
        raise ValueError("wrong wireType 0")
    return value


def _text(value: Value) -> str:
    return _bytes(value).decode("utf-8", errors="replace")


def _integer(value: Value) -> int:
    if not isinstance(value, int):
        raise ValueError("wrong wireType 2")
    return value - (1 << 64) if value >= 1 << 63 else value


# --- messages ------------------------------------------------------------------------------------


def _message(name: str, data: bytes) -> Manifest:
    _, messages = _table()
    fields = messages[name]
    out: Manifest = {}
    for number, value in _wire(data):
        field = fields.get(number)
        if field is not None:
            _add(out, field, value)
    return out


def _add(out: Manifest, field: list[str], value: Value) -> None:
    name, type_, flags = field
    if "i" in flags:
        out.update(_one(type_, value))
    elif type_.startswith("[]"):
        out.setdefault(name, []).append(_one(type_[2:], value))
    elif type_.startswith("{}"):
        key, item = _entry(type_[2:], _bytes(value))
        out.setdefault(name, {})[key] = item
    else:
        made = _one(type_, value)
        # Go writes the zero value of a plain field; JSON with omitempty leaves it out.
        if made is None or ("p" not in flags and "o" in flags and made in ("", 0, False)):
            return
        out[name] = made


def _entry(type_: str, data: bytes) -> tuple[str, Json]:
    key, item = "", None
    for number, value in _wire(data):
        if number == 1:
            key = _text(value)
        elif number == 2:
            item = _one(type_, value)
    return key, _zero(type_) if item is None else item


def _zero(type_: str) -> Json:
    return {"string": "", "bytes": "", "int": 0, "quantity": "0"}.get(type_, [] if type_[0] == "@" else {})


def _one(type_: str, value: Value) -> Any:
    if type_[0] == "#":
        return _message(type_[1:], _bytes(value))
    if type_[0] == "@":
        return [_one(type_[3:], item) for number, item in _wire(_bytes(value)) if number == 1]
    return _LEAVES[type_](value)


def _double(value: Value) -> float:
    return float(struct.unpack("<d", _bytes(value))[0])


def _quantity(value: Value) -> str:
    return _text(dict(_wire(_bytes(value))).get(1, b"0"))


def _int_or_string(value: Value) -> int | str:
    parts = dict(_wire(_bytes(value)))
    if _integer(parts.get(1, 0)) == 0:
        number = _integer(parts.get(2, 0))
        return number - (1 << 32) if number >= 1 << 31 else number
    return _text(parts.get(3, b""))


def _instant(value: Value) -> tuple[int, int]:
    parts = dict(_wire(_bytes(value)))
    return _integer(parts.get(1, 0)), _integer(parts.get(2, 0))


def _time(value: Value) -> str | None:
    seconds, nanos = _instant(value)
    return rfc3339(seconds * SECOND) if seconds or nanos else None


def _micro_time(value: Value) -> str | None:
    seconds, nanos = _instant(value)
    return rfc3339_micro(seconds * SECOND + nanos // 1000) if seconds or nanos else None


def _raw(value: Value) -> Json:
    """``RawExtension`` and ``FieldsV1``: JSON in a message of one field."""
    raw = _bytes(dict(_wire(_bytes(value))).get(1, b""))
    return orjson.loads(raw) if raw else None


_LEAVES: dict[str, Any] = {
    "string": _text,
    "bool": lambda value: bool(_integer(value)),
    "int": _integer,
    "double": _double,
    "bytes": lambda value: b64encode(_bytes(value)).decode(),
    "quantity": _quantity,
    "intorstring": _int_or_string,
    "time": _time,
    "microtime": _micro_time,
    "duration": lambda value: _integer(dict(_wire(_bytes(value))).get(1, 0)),
    "raw": _raw,
}
