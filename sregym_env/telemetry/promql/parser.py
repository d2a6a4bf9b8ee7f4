"""From the text of a query to its tree, with Prometheus's own complaints.

Prometheus's parser is made by yacc: when a word does not fit, the innermost construct that has something to say about
errors says it, and the first complaint is the one that is shown. ``_Parser._contexts`` is that nesting.

Why this is no library: the only one for Python (``promql-parser``) keeps no positions, which every complaint begins
with, accepts what 2.42 refuses, and overflows the C stack, and so ends the process, on some ten thousand parentheses
(``docs/decisions/0014-our-own-promql-parser.md``). It is what the tests compare this one with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

from sregym_env.runtime import effort
from sregym_env.telemetry.gotext import parse_float, quote
from sregym_env.telemetry.labels import NAME
from sregym_env.telemetry.promql.checks import check_types
from sregym_env.telemetry.promql.durations import parse_duration
from sregym_env.telemetry.promql.errors import ParseError
from sregym_env.telemetry.promql.lexer import Lexer, Token, unquoted
from sregym_env.telemetry.promql.signatures import SIGNATURES
from sregym_env.telemetry.promql.syntax import (
    COMPARISONS,
    SETS,
    WITH_PARAMETER,
    Aggregation,
    At,
    Binary,
    Call,
    Expr,
    Matching,
    Number,
    Paren,
    Range,
    Selector,
    String,
    Subquery,
    Unary,
    children,
)
from sregym_env.telemetry.series import Matcher, PatternError, compiled

MAX_DEPTH = 100
"""Expressions within each other. Prometheus has no such bound, only its stack."""

_TOO_DEEP = f"expressions are nested more than {MAX_DEPTH} deep"

MAX_LENGTH = 100_000
"""Bytes of a query. Prometheus takes what fits a request."""

_PRECEDENCE = {
    "or": 1, "and": 2, "unless": 2, **dict.fromkeys(COMPARISONS, 3), "+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "atan2": 5,
    "^": 6,
}  # fmt: skip
_SIGNED = 6
"""A sign binds as tightly as a multiplication: only powers are stronger."""

_NAMES_OF_METRICS = ("identifier", "metric identifier", "aggregator", "edge")
_WORDS_OF_METRICS = ("by", "without", "offset", *SETS)
_NAMES_OF_LABELS = ("identifier", "metric identifier", "aggregator", "edge", "keyword")


_CHARACTER = 1.3
"""Units of effort that a character costs."""

_REMEMBERED = 4_000
"""Bytes of queries that are worth remembering."""


def parse(query: str) -> Expr:
    """The tree of a query, its types checked. Raises ParseError."""
    effort.spend(_CHARACTER * len(query))  # the same whether it is remembered or not
    return _remembered(query) if len(query) <= _REMEMBERED else _parsed(query)


def parse_selector(text: str) -> tuple[Matcher, ...]:
    """The matchers of a series selector (``match[]``). Raises ParseError."""
    return _Parser(text).selector().matchers


def _parsed(query: str) -> Expr:
    tree = _Parser(query).whole()
    check_types(tree, query)
    return tree


@lru_cache(maxsize=512)
def _remembered(query: str) -> Expr:
    return _parsed(query)


class _Parser:
    """One parse. ``_token`` is the word that is looked at; it is read only when it is needed."""

    __slots__ = ("_contexts", "_depth", "_last", "_lexer", "_query", "_token")

    def __init__(self, query: str) -> None:
        self._query = query
        if len(query) > MAX_LENGTH:
            raise ParseError(f"a query has at most {MAX_LENGTH} characters", query)
        self._lexer = Lexer(query)
        self._token: Token | None = None
        self._last = Token("", "", 0)
        self._contexts: list[str] = [""]
        self._depth = 0

    # --- words --------------------------------------------------------------------------------------

    @property
    def _next(self) -> Token:
        if self._token is None:
            self._token = self._lexer.next()
        return self._token

    def _take(self) -> Token:
        token = self._last = self._next
        self._token = None
        return token

    def _is(self, *kinds: str) -> bool:
        return self._next.kind in kinds

    def _is_operator(self, *texts: str) -> bool:
        return self._next.kind == "operator" and self._next.word in texts

    def _is_keyword(self, *words: str) -> bool:
        return self._next.kind == "keyword" and self._next.word in words

    def _wrong(self, text: str, position: int) -> ParseError:
        return ParseError(text, self._query, position)

    def _unexpected(self, context: str | None = None, expected: str = "") -> ParseError:
        """The complaint about the next word, in a context of its own or in the innermost one."""
        token = self._next
        text = f"unexpected {token.described()}"
        where = self._contexts[-1] if context is None else context
        if where:
            text += f" in {where}"
        if expected:
            text += f", expected {expected}"
        return self._wrong(text, token.start)

    def _expect(self, kind: str) -> Token:
        if not self._is(kind):
            raise self._unexpected()
        return self._take()

    @contextmanager
    def _within(self, context: str) -> Iterator[None]:
        self._contexts.append(context)
        yield
        self._contexts.pop()

    # --- the whole ----------------------------------------------------------------------------------

    def whole(self) -> Expr:
        if self._is("end of input"):
            raise self._wrong("no expression found in input", 0)
        tree = self._expression(0)
        if not self._is("end of input"):
            raise self._unexpected()
        _check_depth(tree, self._query)
        return tree

    def selector(self) -> Selector:
        """A series selector, and nothing else."""
        if not self._is(*_NAMES_OF_METRICS, "{") and not self._names_metric():
            raise self._unexpected()
        selector = self._selector(None if self._is("{") else self._take())
        if not self._is("end of input"):
            raise self._unexpected()
        return selector

    def _names_metric(self) -> bool:
        token = self._next
        return token.kind in _NAMES_OF_METRICS or token.word in _WORDS_OF_METRICS

    # --- expressions --------------------------------------------------------------------------------

    def _expression(self, above: int) -> Expr:
        """An expression of operators that bind more tightly than ``above``."""
        self._depth += 1
        self._check_depth(self._depth)
        left = self._operand()
        links = 0
        while self._next.kind == "operator" and _PRECEDENCE.get(self._next.word, 0) > above:
            links += 1
            self._check_depth(links)
            operator = self._take()
            word = operator.word
            returns_bool, matching = self._modifier()
            right = self._expression(_PRECEDENCE[word] - (word == "^"))
            if word in SETS and matching.card == "one-to-one":
                matching = replace(matching, card="many-to-many")
            left = Binary(
                word, left, right, returns_bool, matching, operator.start, start=left.start, end=right.end
            )
        self._depth -= 1
        return left

    def _operand(self) -> Expr:
        if self._is_operator("+", "-"):
            sign = self._take()
            inner = self._expression(_SIGNED - 1)
            if isinstance(inner, Number):
                return Number(
                    -inner.value if sign.text == "-" else inner.value, start=sign.start, end=inner.end
                )
            return Unary(sign.text, inner, start=sign.start, end=inner.end)
        tree = self._primary()
        ranges = 0
        while True:
            if self._is_keyword("offset"):
                tree = self._offset(tree)
            elif self._is_operator("@"):
                tree = self._at(tree)
            elif self._is("["):
                ranges += 1
                self._check_depth(ranges)
                tree = self._bracket(tree)
            else:
                return tree

    def _check_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self._wrong(_TOO_DEEP, self._next.start)

    def _primary(self) -> Expr:
        token = self._next
        if token.kind == "number":
            self._take()
            return Number(self._number(token), start=token.start, end=token.end)
        if token.kind == "string":
            self._take()
            return String(unquoted(token.text), start=token.start, end=token.end)
        if token.kind == "(":
            self._take()
            inner = self._expression(0)
            end = self._expect(")")
            return Paren(inner, start=token.start, end=end.end)
        if token.kind == "{":
            return self._selector(None)
        if token.kind == "aggregator":
            self._take()
            if self._is("(") or self._is_keyword("by", "without"):
                return self._aggregation(token)
            if self._is_name_of_metric_here():
                return self._selector(token)
            raise self._unexpected()
        if self._names_metric():
            self._take()
            if token.kind == "identifier" and self._is("("):
                return self._call(token)
            return self._selector(token)
        raise self._unexpected()

    def _is_name_of_metric_here(self) -> bool:
        """Whether an aggregator is a metric's name, from what follows."""
        following = self._next
        return (
            following.kind in ("end of input", "{", ")", ",", "[")
            or (following.kind == "operator" and following.word in (*_PRECEDENCE, "@"))
            or following.word == "offset"
        )

    def _number(self, token: Token) -> float:
        text = token.text
        try:
            if text[:2].lower() == "0x":
                return float(_in_64_bits(int(text, 16)))
            if text.isdecimal() and text.startswith("0"):
                return float(_in_64_bits(int(text, 8)))
        except ValueError:
            pass
        found = parse_float(text)
        if found is None:
            problem = "value out of range" if _is_number(text) else "invalid syntax"
            said = f"strconv.ParseFloat: parsing {quote(text)}: {problem}"
            raise self._wrong(f"error parsing number: {said}", token.start)
        return found

    # --- calls and aggregations ---------------------------------------------------------------------

    def _arguments(self) -> tuple[Expr, ...]:
        self._expect("(")
        found: list[Expr] = []
        if not self._is(")"):
            found.append(self._expression(0))
            while self._is(","):
                comma = self._take()
                if not self._is("(") and not self._begins_expression():
                    raise self._wrong("trailing commas not allowed in function call args", comma.start)
                found.append(self._expression(0))
        self._expect(")")
        return tuple(found)

    def _call(self, name: Token) -> Call:
        arguments = self._arguments()
        if name.text not in SIGNATURES:
            raise self._wrong(f"unknown function with name {quote(name.text)}", name.start)
        return Call(name.text, arguments, start=name.start, end=self._last.end)

    def _aggregation(self, operator: Token) -> Aggregation:
        grouping: tuple[str, ...] = ()
        without = False
        with self._within("aggregation"):
            before = self._is_keyword("by", "without")
            if before:
                without = self._take().word == "without"
                grouping = self._grouping()
            arguments = self._arguments()
        end = self._last.end
        if not before and self._is_keyword("by", "without"):
            without = self._take().word == "without"
            grouping = self._grouping()
            end = self._last.end
        word = operator.word
        if not arguments:
            raise self._wrong("no arguments for aggregate expression provided", operator.start)
        wanted = 2 if word in WITH_PARAMETER else 1
        if len(arguments) != wanted:
            counts = f"expected {wanted}, got {len(arguments)}"
            text = f"wrong number of arguments for aggregate expression provided, {counts}"
            raise self._wrong(text, operator.start)
        parameter = arguments[0] if wanted == 2 else None
        return Aggregation(word, arguments[-1], parameter, grouping, without, start=operator.start, end=end)

    def _grouping(self) -> tuple[str, ...]:
        where = "grouping opts"
        if not self._is("("):
            raise self._unexpected(where, '"("')
        self._take()
        found: list[str] = []
        while not self._is(")"):
            token = self._next
            is_label = token.kind in _NAMES_OF_LABELS or token.word in (*SETS, "atan2")
            if not is_label or ":" in token.text or token.word == "without":
                raise self._unexpected(where, "label")
            found.append(self._take().text)
            if self._is(","):
                self._take()
            elif not self._is(")"):
                raise self._unexpected(where, '"," or ")"')
        self._take()
        return tuple(found)

    # --- operators ----------------------------------------------------------------------------------

    def _modifier(self) -> tuple[bool, Matching]:
        returns_bool = self._is_keyword("bool")
        if returns_bool:
            self._take()
        if not self._is_keyword("on", "ignoring"):
            return returns_bool, Matching()
        on = self._take().word == "on"
        labels = self._grouping()
        if not self._is_keyword("group_left", "group_right"):
            return returns_bool, Matching(on=on, labels=labels)
        left = self._take().word == "group_left"
        # What may follow is "(" of the labels or an expression; an expression's "(" is taken for theirs.
        include = () if self._begins_expression() else self._grouping()
        return returns_bool, Matching("many-to-one" if left else "one-to-many", on, labels, include)

    def _begins_expression(self) -> bool:
        token = self._next
        return token.kind in ("number", "string", "{") or token.word in ("+", "-") or self._names_metric()

    # --- selectors ----------------------------------------------------------------------------------

    def _selector(self, name: Token | None) -> Selector:
        start = self._next.start if name is None else name.start
        end = 0 if name is None else name.end
        matchers: list[Matcher] = []
        if self._is("{"):
            self._take()
            matchers = self._matchers()
            end = self._last.end
        if name is None:
            return Selector("", tuple(matchers), start=start, end=end)
        matchers.append(Matcher("=", NAME, name.text))
        return Selector(name.text, tuple(matchers), start=start, end=end)

    def _matchers(self) -> list[Matcher]:
        where = "label matching"
        found: list[Matcher] = []
        while not self._is("}"):
            if not self._is("identifier"):
                raise self._unexpected(where, 'identifier or "}"')
            label = self._take()
            if not self._is("=") and not self._is_operator("!=", "=~", "!~"):
                raise self._unexpected(where, "label matching operator")
            operator = self._take().text
            if not self._is("string"):
                raise self._unexpected(where, "string")
            value = unquoted(self._take().text)
            if operator in ("=~", "!~"):
                try:
                    compiled(value)
                except PatternError as error:
                    raise self._wrong(str(error), label.start) from None
            assert operator in ("=", "!=", "=~", "!~")
            found.append(Matcher(operator, label.text, value))  # type: ignore[arg-type]
            if self._is(","):
                self._take()
            elif not self._is("}"):
                raise self._unexpected(where, '"," or "}"')
        self._take()
        return found

    def _duration(self, token: Token) -> int:
        try:
            duration = parse_duration(token.text)
        except ValueError as error:
            raise self._wrong(str(error), token.start) from None
        if not duration:
            raise self._wrong("duration must be greater than 0", token.start)
        return duration

    def _offset(self, tree: Expr) -> Expr:
        self._take()
        negative = self._is_operator("-")
        if negative:
            self._take()
        if not self._is("duration"):
            raise self._unexpected("offset", "duration")
        offset = self._duration(self._take()) * (-1 if negative else 1)
        wanted = "an instant vector selector or range vector selector or a subquery"
        if not isinstance(tree, Selector | Range | Subquery):
            raise self._wrong(f"offset modifier must be preceded by {wanted}", tree.start)
        inner = tree.selector if isinstance(tree, Range) else tree
        if inner.offset:
            raise self._wrong("offset may not be set multiple times", tree.start)
        return self._modified(tree, replace(inner, offset=offset))

    def _modified(self, tree: Expr, changed: Selector | Subquery) -> Expr:
        if isinstance(tree, Range):
            assert isinstance(changed, Selector)
            return replace(tree, selector=changed, end=self._last.end)
        return replace(changed, end=self._last.end)

    def _at(self, tree: Expr) -> Expr:
        self._take()
        instant, edge = math.nan, ""
        if self._is("edge"):
            edge = self._take().word
            for mark in "()":
                if not self._is(mark):
                    raise self._unexpected("@", "timestamp")
                self._take()
        else:
            sign = self._take().text if self._is_operator("+", "-") else ""
            if not self._is("number"):
                raise self._unexpected("@", "timestamp")
            instant = self._number(self._take()) * (-1 if sign == "-" else 1)
            if not abs(instant) < 2.0**63:
                shown = "NaN" if math.isnan(instant) else f"{instant:f}"
                shown = {"inf": "+Inf", "-inf": "-Inf"}.get(shown, shown)
                raise self._wrong(f"timestamp out of bounds for @ modifier: {shown}", tree.start)
        wanted = "an instant vector selector or range vector selector or a subquery"
        if not isinstance(tree, Selector | Range | Subquery):
            raise self._wrong(f"@ modifier must be preceded by {wanted}", tree.start)
        inner = tree.selector if isinstance(tree, Range) else tree
        if inner.at is not None:
            raise self._wrong("@ <timestamp> may not be set multiple times", tree.start)
        if edge:
            at = At(edge="start" if edge == "start" else "end")
        else:
            at = At(math.floor(instant * 1000 + 0.5) if instant >= 0 else -math.floor(-instant * 1000 + 0.5))
        return self._modified(tree, replace(inner, at=at))

    def _bracket(self, tree: Expr) -> Expr:
        bracket = self._take()
        self._token = self._lexer.range_duration()
        length = self._duration(self._take())
        if self._is(":"):
            self._take()
            step = 0
            if self._is("duration"):
                step = self._duration(self._take())
                if not self._is("]"):
                    raise self._unexpected("subquery selector", '"]"')
            elif not self._is("]"):
                raise self._unexpected("subquery selector", 'duration or "]"')
            end = self._take()
            return Subquery(tree, length, step, start=tree.start, end=end.end)
        if not self._is("]"):
            raise self._unexpected("subquery or range", '":" or "]"')
        end = self._take()
        if not isinstance(tree, Selector):
            raise self._wrong("ranges only allowed for vector selectors", bracket.start)
        if tree.offset:
            raise self._wrong("no offset modifiers allowed before range", bracket.start)
        if tree.at is not None and not tree.at.edge:
            raise self._wrong("no @ modifiers allowed before range", bracket.start)
        return Range(tree, length, start=tree.start, end=end.end)


def _in_64_bits(value: int) -> int:
    if value >= 1 << 63:
        raise ValueError
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_depth(tree: Expr, query: str) -> None:
    """Chains of operators are deep too, without having been read by recursion."""
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ParseError(_TOO_DEEP, query, level[0].start)
        level = [child for node in level for child in children(node)]
