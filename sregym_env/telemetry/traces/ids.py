"""Identifiers of traces: up to 32 hexadecimal digits, however many zeros a client writes."""

from __future__ import annotations

import re

from sregym_env.kube.status import go_quote

_HEX = re.compile(r"[0-9a-fA-F]+\Z")
LONGEST = 32


def canonical_id(text: str) -> str:
    """An identifier as it is stored: 16 digits, or 32 where its upper half is not zero. Raises ValueError with the text
    of Jaeger."""
    if len(text) > LONGEST:
        raise ValueError(f"TraceID cannot be longer than 32 hex characters: {text}")
    upper, lower = (text[:-16], text[-16:]) if len(text) > 16 else ("0", text)
    for half in (upper, lower):
        if not _HEX.match(half):
            raise ValueError(f"strconv.ParseUint: parsing {go_quote(half)}: invalid syntax")
    high, low = int(upper, 16), int(lower, 16)
    return f"{high:016x}{low:016x}" if high else f"{low:016x}"
