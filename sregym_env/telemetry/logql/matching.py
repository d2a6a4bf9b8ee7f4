"""Whether values of labels are what a matcher wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sregym_env.telemetry.logql.regexes import anchored
from sregym_env.telemetry.logql.syntax import Matcher


def predicate(matcher: Matcher) -> Callable[[str], bool]:
    """Whether a value matches; a label that is not there has the value "". Raises QueryError for a wrong pattern."""
    wanted = matcher.value
    match matcher.operation:
        case "=":
            return wanted.__eq__
        case "!=":
            return wanted.__ne__
    pattern = anchored(wanted)
    if matcher.operation == "=~":
        return lambda value: pattern.match(value) is not None
    return lambda value: pattern.match(value) is None


def all_match(matchers: Iterable[Matcher], labels: Mapping[str, str]) -> bool:
    """Whether a stream with these labels is one of those that a selector names."""
    return all(predicate(matcher)(labels.get(matcher.name, "")) for matcher in matchers)
