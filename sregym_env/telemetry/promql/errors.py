"""What can be wrong with a query, in Prometheus's words and classes."""

from __future__ import annotations

from sregym_env.errors import SREGymError


class QueryError(SREGymError):
    """A query that has no answer; ``str()`` is Prometheus's text, ``type`` the API's error type."""

    type = "execution"


class ParseError(QueryError):
    """A text that is no query; ``str()`` begins with line and column (``1:5: parse error: ...``)."""

    type = "bad_data"

    def __init__(self, text: str, query: str = "", position: int = 0) -> None:
        """``position`` is the byte of ``query`` at which the error is."""
        super().__init__(f"{place(query, position)}: parse error: {text}")
        self.message = text


class BadData(QueryError):
    """Parameters that make no query."""

    type = "bad_data"


class QueryTimeout(QueryError):
    """A query that costs more than it may."""

    type = "timeout"


class TooManySamples(QueryError):
    """A query that would hold more samples than it may."""

    def __init__(self, where: str = "query execution") -> None:
        super().__init__(f"query processing would load too many samples into memory in {where}")


def place(query: str, position: int) -> str:
    """Line and column of a byte, both from 1."""
    data = query.encode(errors="replace")
    if not 0 <= position <= len(data):
        return "invalid position"
    before = data[:position]
    return f"{before.count(10) + 1}:{position - before.rfind(10)}"
