"""What Loki says when a query is wrong or asks for too much."""

from __future__ import annotations

from sregym_env.errors import SREGymError
from sregym_env.telemetry.logql.labels import Labels, labels_text


class QueryError(SREGymError):
    """A query that cannot be answered: Loki's text, and the HTTP status that goes with it."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


class ParseError(QueryError):
    """A query that does not parse. ``line`` and ``column`` begin at 1; both are 0 where Loki names no place."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        place = f" at line {line}, col {column}:" if line or column else " :"
        super().__init__(f"parse error{place} {problem}")
        self.problem = problem
        self.line = line
        self.column = column


def stage_error(stage: object, problem: str) -> ParseError:
    """A stage of a pipeline that makes no sense."""
    return ParseError(f"stage '{stage}' : {problem}")


def pipeline_error(labels: Labels) -> QueryError:
    """Lines that a stage could not work on, in a metric query, which cannot pass over them in silence."""
    kind = dict(labels).get("__error__", "")
    return QueryError(
        f"pipeline error: '{kind}' for series: '{labels_text(labels)}'.\n"
        f'Use a label filter to intentionally skip this error. (e.g | __error__!="{kind}").\n'
        'To skip all potential errors you can match empty errors.(e.g __error__="")\n'
        'The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__="" )\n'
    )


def too_many_series(limit: int) -> QueryError:
    """A metric query with more series than one query may have."""
    return QueryError(
        f"maximum number of series ({limit}) reached for a single query; consider reducing query cardinality by adding "
        "more specific stream selectors, reducing the time range, or aggregating results with functions like sum(), "
        "count() or topk()"
    )


def too_large(size: int, limit: int) -> QueryError:
    """An answer that is larger than a message may be."""
    return QueryError(
        f"rpc error: code = ResourceExhausted desc = trying to send message larger than max ({size} vs. {limit})",
        500,
    )


def too_long() -> QueryError:
    """A query that would read more than one query may."""
    return QueryError(
        "request timed out, decrease the duration of the request or add more label matchers (prefer exact match over "
        "regex match) to reduce the amount of data processed",
        504,
    )
