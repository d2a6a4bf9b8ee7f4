"""A filter of requests in a proxy: rules with regular expressions over the path, in the configuration of a WebAssembly module.

The module has PCRE2 in it, without its compiler: expressions are interpreted, step by step, with the processor's time of the proxy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from sregym_env.sim.programs import backtracking

KIND = "envoy.filters.http.wasm"
STEP = 20e-9
"""Seconds of a step of the matcher, interpreted in WebAssembly (assumed)."""
SLOW = 0.01
"""Seconds from which on an evaluation is told in the log."""
MOST_RULES = 32
MOST_SIZE = 200
"""Instructions of all rules together at most."""


class FilterError(Exception):
    """A configuration that the module does not take."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is not let through."""

    id: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the filter makes of a path."""

    denied: str
    """The rule by which it is refused; empty where it passes."""
    seconds: float
    """Processor time."""
    slowest: str
    """The rule that took the most of it, with how many steps; empty where none takes long."""
    steps: int


def rules_of(filters: Any) -> tuple[Rule, ...]:
    """The rules of the first such filter of a listener that is not switched off. Raises FilterError."""
    for each in filters if isinstance(filters, list) else ():
        if isinstance(each, Mapping) and each.get("name") == KIND and not each.get("disabled"):
            try:
                text = each["typed_config"]["config"]["configuration"]["value"]
            except (KeyError, TypeError):
                raise FilterError("request-filter: no configuration") from None
            return _read(text)
    return ()


def _read(text: Any) -> tuple[Rule, ...]:
    try:
        found = orjson.loads(str(text))
        listed = found["rules"] if found.get("enabled", True) is not False else []
        rules = tuple(
            Rule(str(each["id"])[:32], str(each["pattern"]))
            for each in listed
            if each.get("enabled", True) is not False
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise FilterError("request-filter: configuration is no JSON with rules") from None
    if len(rules) > MOST_RULES:
        raise FilterError(f"request-filter: more than {MOST_RULES} rules")
    size = 0
    for rule in rules:
        try:
            size += backtracking.size(rule.pattern)
        except backtracking.PatternError as error:
            raise FilterError(f"request-filter: rule {rule.id}: PCRE2 compile error: {error}") from None
    if size > MOST_SIZE:
        raise FilterError("request-filter: rules are too large")
    return rules


def outcome(rules: tuple[Rule, ...], path: str) -> Outcome:
    """What becomes of a path: the first rule that matches refuses it. One on which the matcher gives up does not match."""
    path = path.partition("?")[0]
    total = 0
    most, slowest, denied = 0, "", ""
    for rule in rules:
        found = backtracking.attempt(rule.pattern, path)
        total += found.steps
        if found.steps > most:
            most, slowest = found.steps, rule.id
        if found.matches:
            denied = rule.id
            break
    return Outcome(denied, total * STEP, slowest if most * STEP >= SLOW else "", most)
