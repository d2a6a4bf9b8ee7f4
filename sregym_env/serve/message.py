"""HTTP requests and responses as plain values, independent of any web framework."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import orjson

from sregym_env.kube import status
from sregym_env.kube.types import Json

JSON = "application/json"

_NUMBER = re.compile(r"[+-]?[0-9]+")

QueryValues = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Request:
    """One request, its body read."""

    method: str
    path: str
    query: QueryValues = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower-case name."""
    body: bytes = b""
    too_large: bool = False
    """Whether the body was over the limit and has not been read."""

    def first(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else default

    def flag(self, name: str) -> bool:
        """Whether a query parameter is given and not ``false`` or ``0``, as the API server reads it."""
        values = self.query.get(name)
        return values is not None and values[0].lower() not in ("false", "0")

    def number(self, name: str) -> int | None:
        """A query parameter as a whole number, None where it is missing. Raises BadRequest for anything else."""
        values = self.query.get(name)
        if values is None:
            return None
        text = values[0]
        if _NUMBER.fullmatch(text) is None:
            raise status.bad_request(f"strconv.ParseInt: parsing {status.go_quote(text)}: invalid syntax")
        if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
            raise status.bad_request(f"strconv.ParseInt: parsing {status.go_quote(text)}: value out of range")
        return int(text)

    def header(self, name: str) -> str:
        """A header by lower-case name, empty where missing."""
        return self.headers.get(name, "")


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer that goes on: every chunk is sent as soon as it is there."""

    chunks: AsyncIterator[bytes]
    content_type: str = JSON


Reply = Response | Stream


def json_response(value: Json, code: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """A JSON document as a response."""
    return Response(code, encode(value) + b"\n", JSON, headers)


def encode(value: Json) -> bytes:
    """A value as compact JSON. What the fast encoder refuses (depth, large numbers) takes a little longer."""
    try:
        return orjson.dumps(value)
    except TypeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode(errors="replace")


def text_response(text: str, code: int = 200) -> Response:
    """Plain text as a response."""
    return Response(code, text.encode(), "text/plain; charset=utf-8")


def parse_query(raw: bytes) -> dict[str, list[str]]:
    """The parameters of a query string, blank ones included."""
    return parse_qs(raw.decode("latin-1"), keep_blank_values=True, errors="replace")
