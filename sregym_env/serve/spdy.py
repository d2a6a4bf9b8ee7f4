"""The few frames of SPDY/3.1 that ``kubectl port-forward`` sends inside a WebSocket.

Reading is incremental, since frames and WebSocket messages have nothing to do with each other. Header blocks
are compressed with one stream per direction and the dictionary of the SPDY/3 specification.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

SYN_STREAM, SYN_REPLY, RST_STREAM, SETTINGS, PING, GOAWAY, HEADERS, WINDOW_UPDATE = 1, 2, 3, 4, 6, 7, 8, 9
FLAG_FIN = 1

MAX_FRAME = 1024 * 1024
"""The longest frame taken, in bytes."""

MAX_HEADERS = 64 * 1024
"""The longest block of headers taken, decompressed."""

_VERSION = 3
_HEAD = struct.Struct(">II")

_WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age "
    "allow authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status"
).split()
_MORE_WORDS = ("200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin")
_TAIL = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized"
    "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


@lru_cache(maxsize=1)
def dictionary() -> bytes:
    """The compression dictionary of the SPDY/3 specification."""
    words = (*_WORDS, *_MORE_WORDS)
    return b"".join(struct.pack(">I", len(word)) + word.encode() for word in words) + _TAIL.encode()


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: ``type`` 0 is data."""

    type: int
    stream: int = 0
    fin: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    data: bytes = b""
    """Payload of data and ping frames."""


class Reader:
    """Takes bytes in any portions and gives whole frames."""

    def __init__(self) -> None:
        self._buffer = b""
        self._inflate = zlib.decompressobj(zdict=dictionary())

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete. Raises ValueError, zlib.error on nonsense."""
        self._buffer += data
        while len(self._buffer) >= _HEAD.size:
            head, tail = _HEAD.unpack_from(self._buffer)
            length = tail & 0xFFFFFF
            if length > MAX_FRAME:
                raise ValueError("frame too long")
            end = _HEAD.size + length
            if len(self._buffer) < end:
                return
            body, self._buffer = self._buffer[_HEAD.size : end], self._buffer[end:]
            yield self._frame(head, tail >> 24, body)

    def _frame(self, head: int, flags: int, body: bytes) -> Frame:
        fin = bool(flags & FLAG_FIN)
        if not head >> 31:
            return Frame(0, head, fin, data=body)
        kind = head & 0xFFFF
        if kind in (SYN_STREAM, SYN_REPLY, HEADERS):
            stream = struct.unpack_from(">I", body)[0] & 0x7FFFFFFF
            block = body[10:] if kind == SYN_STREAM else body[4:]
            return Frame(kind, stream, fin, self._headers(block))
        if kind in (RST_STREAM, WINDOW_UPDATE):
            return Frame(kind, struct.unpack_from(">I", body)[0] & 0x7FFFFFFF)
        return Frame(kind, data=body)

    def _headers(self, block: bytes) -> dict[str, str]:
        raw = self._inflate.decompress(block, MAX_HEADERS)
        if self._inflate.unconsumed_tail:
            raise ValueError("headers too long")
        count, at = struct.unpack_from(">I", raw)[0], 4
        texts = []
        for _ in range(2 * count):
            length = struct.unpack_from(">I", raw, at)[0]
            at += 4
            texts.append(raw[at : at + length].decode("latin-1"))
            at += length
        return {name.lower(): value for name, value in zip(texts[::2], texts[1::2], strict=True)}


class Writer:
    """Makes frames; keeps the compression state of one direction."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(zdict=dictionary())

    def headers(self, kind: int, stream: int, headers: Mapping[str, str], *, fin: bool = False) -> bytes:
        """A SYN_STREAM, SYN_REPLY or HEADERS frame."""
        raw = struct.pack(">I", len(headers))
        for name, value in headers.items():
            for text in (name.encode(), value.encode()):
                raw += struct.pack(">I", len(text)) + text
        block = self._deflate.compress(raw) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        body = struct.pack(">I", stream) + (b"\0" * 6 if kind == SYN_STREAM else b"") + block
        return control(kind, body, FLAG_FIN if fin else 0)


def control(kind: int, body: bytes, flags: int = 0) -> bytes:
    """A control frame."""
    return _HEAD.pack(1 << 31 | _VERSION << 16 | kind, flags << 24 | len(body)) + body


def data(stream: int, payload: bytes, *, fin: bool = False) -> bytes:
    """A data frame."""
    return _HEAD.pack(stream, (FLAG_FIN if fin else 0) << 24 | len(payload)) + payload
