"""What went wrong with one HTTP request, and whether another may do better. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from sregym_env.llm.model import FailureKind
from sregym_env.llm.retry import wished_pause, worth_retrying
from sregym_env.llm.wire.wire import Reported

SHOWN = 400
"""Characters of a server's own words that go into an error."""

_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum (?:context|model) length|(?:prompt|input)s? (?:is|are) too long"
    r"|too many (?:input |prompt )?tokens|string_above_max_length|longer than the (?:maximum|model)",
    re.IGNORECASE,
)

_STATUS_OF_CODE = (
    ("rate_limit", 429),
    ("overloaded", 529),
    ("authentication", 401),
    ("permission", 403),
    ("not_found", 404),
    ("invalid", 400),
    ("badrequest", 400),
    ("bad_request", 400),
    ("context_length", 400),
)
"""Words in the code of an error that comes without a status, and the status that it would have had."""


class Failed(Exception):
    """One HTTP request that led to no answer."""

    def __init__(
        self,
        text: str,
        kind: FailureKind,
        *,
        retry: bool = False,
        status: int = 0,
        wished: float | None = None,
    ) -> None:
        super().__init__(text)
        self.kind = kind
        self.retry = retry
        self.status = status
        self.wished = wished
        """Seconds that the server asks to wait."""
        self.attempts = 1
        """HTTP requests that it took to get here."""


def refused(status: int, headers: Mapping[str, str], body: str, now: float, hint: str = "") -> Failed:
    """The failure that a status other than 2xx means.

    ``headers`` by lower-case name; ``now`` the wall clock; ``hint``: what we know of the reason.
    """
    words, code = _told(body)
    kind = _kind(status, f"{code} {words}")
    retry = worth_retrying(status, headers)
    if "insufficient_quota" in code:
        # 429 says to come back later, but nobody's account fills up by waiting.
        kind, retry = "rejected", False
    if status == 404 and "model" not in words.lower():
        hint = "does the base URL end in its version, e.g. /v1?"
    text = f"HTTP {status}: {words[:SHOWN].strip() or 'no explanation'}{f' ({hint})' if hint else ''}"
    return Failed(text, kind, retry=retry, status=status, wished=wished_pause(headers, now))


def reported(error: Reported) -> Failed:
    """The failure that a server reports in an answer that says 200."""
    code = error.code.lower()
    status = int(code) if code.isdecimal() and len(code) == 3 else 0
    status = status or next((number for word, number in _STATUS_OF_CODE if word in code), 500)
    text = f"the server reported {error.code or 'an error'}: {str(error)[:SHOWN]}"
    return Failed(text, _kind(status, f"{code} {error}"), retry=worth_retrying(status, {}), status=status)


def _kind(status: int, words: str) -> FailureKind:
    if status == 413 or (400 <= status < 429 and _TOO_LONG.search(words)):
        return "context_length"
    if status == 429:
        return "rate_limited"
    if status == 408:
        return "timeout"
    return "server" if status >= 500 or status == 409 else "rejected"


def _told(body: str) -> tuple[str, str]:
    """A server's explanation and its code, in whichever way it gives them."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return body, ""
    if not isinstance(document, dict):
        return body, ""
    error = document.get("error")
    fields = error if isinstance(error, dict) else document
    words = fields.get("message") or fields.get("detail") or (error if isinstance(error, str) else "") or body
    code = fields.get("code") or fields.get("type") or ""
    return (words if isinstance(words, str) else json.dumps(words)), str(code)
