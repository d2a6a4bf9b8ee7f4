"""HTTP requests and responses as plain values, independent of any web framework."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import orjson

from sregym_env.kube.types import Json

JSON = "application/json"

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
        """Whether a query parameter is given and true, as Go's ``strconv.ParseBool`` reads it."""
        return self.first(name).lower() in ("1", "t", "true")

    def number(self, name: str) -> int | None:
        """A query parameter as a whole number, None where it is missing or is none."""
        text = self.first(name)
        return int(text) if text.lstrip("-").isdigit() else None

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


def json_response(value: Json, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """A JSON document as a response."""
    return Response(status, orjson.dumps(value) + b"\n", JSON, headers)


def text_response(text: str, status: int = 200) -> Response:
    """Plain text as a response."""
    return Response(status, text.encode(), "text/plain; charset=utf-8")


def parse_query(raw: bytes) -> dict[str, list[str]]:
    """The parameters of a query string, blank ones included."""
    return parse_qs(raw.decode("latin-1"), keep_blank_values=True)
