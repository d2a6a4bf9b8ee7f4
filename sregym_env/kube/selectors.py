"""Label and field selectors: parsing, matching and printing, with the error texts of the Go packages
``k8s.io/apimachinery/pkg/labels`` and ``.../fields``.

Parsed selectors are cached and immutable. Errors are :class:`SelectorError`; the API server wraps them
into a 400, kubectl prints them as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sregym_env.kube import names
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import go_quote, invalid_value

Labels = Mapping[str, str]


class SelectorError(ValueError):
    """A selector that cannot be parsed or names an unknown field."""


# --- label selectors --------------------------------------------------------------------------------

_IN, _NOT_IN, _EXISTS, _MISSING, _GREATER, _LESS = "in", "notin", "exists", "!", "gt", "lt"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a label selector."""

    key: str
    operator: str
    """``=``, ``==``, ``!=``, ``in``, ``notin``, ``exists``, ``!``, ``gt`` or ``lt``."""
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """Whether these labels satisfy the term."""
        value = labels.get(self.key)
        operator = self.operator
        if operator in ("=", "==", _IN):
            return value is not None and value in self.values
        if operator in ("!=", _NOT_IN):
            return value is None or value not in self.values
        if operator == _EXISTS:
            return value is not None
        if operator == _MISSING:
            return value is None
        return self._compares(value)

    def _compares(self, value: str | None) -> bool:
        if value is None:
            return False
        try:
            left, right = int(value), int(self.values[0])
        except ValueError:
            return False
        return left > right if self.operator == _GREATER else left < right

    def __str__(self) -> str:
        if self.operator == _EXISTS:
            return self.key
        if self.operator == _MISSING:
            return f"!{self.key}"
        if self.operator in (_IN, _NOT_IN):
            return f"{self.key} {self.operator} ({','.join(sorted(self.values))})"
        sign = {_GREATER: ">", _LESS: "<"}.get(self.operator, self.operator)
        return f"{self.key}{sign}{self.values[0]}"


_NO_LABELS: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A parsed label selector: all its requirements must hold. Without any it matches everything."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False
    """Matches no object at all (a null ``LabelSelector``)."""
    equalities: tuple[tuple[str, str], ...] | None = None
    """The pairs that must be equal when the selector says nothing else (an index can look them up)."""

    def matches(self, labels: Labels | None) -> bool:
        """Whether these labels satisfy every requirement."""
        if self.nothing:
            return False
        labels = labels or _NO_LABELS
        if self.equalities is not None:
            for key, value in self.equalities:  # noqa: SIM110 - twice as fast as all() here
                if labels.get(key) != value:
                    return False
            return True
        return all(requirement.matches(labels) for requirement in self.requirements)

    @property
    def empty(self) -> bool:
        """Whether it matches everything."""
        return not self.nothing and not self.requirements

    def __str__(self) -> str:
        return ",".join(str(r) for r in self.requirements)


def _selector(requirements: Iterable[Requirement]) -> LabelSelector:
    terms = tuple(sorted(requirements, key=lambda r: r.key))
    equal = all(r.operator in ("=", "==") for r in terms)
    pairs = tuple((r.key, r.values[0]) for r in terms) if equal else None
    return LabelSelector(terms, False, pairs)


EVERYTHING = LabelSelector(equalities=())
NOTHING = LabelSelector(nothing=True)


@lru_cache(maxsize=4096)
def parse_labels(text: str) -> LabelSelector:
    """Parse ``app=web,tier in (a,b),!x``; raises SelectorError with Go's text."""
    return _selector(_Parser(text).parse()) if text else EVERYTHING


def from_dict(selector: Mapping[str, Any] | None) -> LabelSelector:
    """Compile a ``LabelSelector`` object; None matches nothing, an empty one everything."""
    if selector is None:
        return NOTHING
    labels = selector.get("matchLabels")
    expressions = selector.get("matchExpressions")
    if not expressions:
        return from_labels(labels)
    terms = tuple(
        (e.get("key", ""), e.get("operator", ""), tuple(e.get("values") or ())) for e in expressions
    )
    return _from_expressions(tuple(sorted((labels or {}).items())), terms)


def from_labels(labels: Labels | None) -> LabelSelector:
    """Compile a plain label map (``Service.spec.selector``); an empty one matches everything."""
    if not labels:
        return EVERYTHING
    return _from_pairs(tuple(labels.items()) if len(labels) == 1 else tuple(sorted(labels.items())))


@lru_cache(maxsize=4096)
def _from_pairs(pairs: tuple[tuple[str, str], ...]) -> LabelSelector:
    return _selector(Requirement(key, "=", (value,)) for key, value in pairs)


_OPERATORS = {"In": _IN, "NotIn": _NOT_IN, "Exists": _EXISTS, "DoesNotExist": _MISSING}
_NODE_OPERATORS = {**_OPERATORS, "Gt": _GREATER, "Lt": _LESS}


@lru_cache(maxsize=4096)
def _from_expressions(
    pairs: tuple[tuple[str, str], ...], terms: tuple[tuple[str, str, tuple[str, ...]], ...]
) -> LabelSelector:
    requirements = [Requirement(key, "=", (value,)) for key, value in pairs]
    for key, operator, values in terms:
        made = _NODE_OPERATORS.get(operator)
        if made is None:
            raise SelectorError(f'"{operator}" is not a valid label selector operator')
        requirements.append(Requirement(key, made, values))
    return _selector(requirements)


def from_expressions(expressions: Iterable[Mapping[str, Any]]) -> LabelSelector:
    """Compile ``matchExpressions`` alone, as node affinity terms use them (``Gt`` and ``Lt`` too)."""
    terms = tuple((e["key"], e["operator"], tuple(e.get("values") or ())) for e in expressions)
    return _from_expressions((), terms)


# --- the label selector parser -------------------------------------------------------------------------

_TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^=!(),<> \t\r\n]+)")
_SPECIAL = frozenset(("=", "==", "!=", "!", "(", ")", ",", "<", ">"))
_BINARY = "in, notin, =, ==, !=, gt, lt"


class _Parser:
    """The recursive descent of ``labels.Parser``."""

    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(text)
        self.position = 0

    def look(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.look()
        self.position += 1
        return token

    def parse(self) -> list[Requirement]:
        out: list[Requirement] = []
        while token := self.look():
            if token in _SPECIAL and token != "!":
                raise SelectorError(f"found '{token}', expected: !, identifier, or 'end of string'")
            try:
                out.append(self.requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            after = self.take()
            if not after:
                break
            if after != ",":
                raise SelectorError(f"found '{after}', expected: ',' or 'end of string'")
            token = self.look()
            if not token or (token in _SPECIAL and token != "!"):
                raise SelectorError(f"found '{token}', expected: identifier after ','")
        return out

    def requirement(self) -> Requirement:
        key = self.take()
        negated = key == "!"
        if negated:
            key = self.take()
        if not key or key in _SPECIAL:
            raise SelectorError(f"found '{key}', expected: identifier")
        if complaints := names.qualified_name(key):
            raise SelectorError(str(invalid_value("<nil>", key, "; ".join(complaints))))
        if self.look() in ("", ","):
            return Requirement(key, _MISSING if negated else _EXISTS)
        if negated:
            return Requirement(key, _MISSING)
        operator = self.take()
        if operator in (_IN, _NOT_IN):
            return self.checked(Requirement(key, operator, self.value_set()))
        if operator in ("=", "==", "!=", "<", ">"):
            operator = {"<": _LESS, ">": _GREATER}.get(operator, operator)
            return self.checked(Requirement(key, operator, (self.exact_value(),)))
        raise SelectorError(f"found '{operator}', expected: {_BINARY}")

    def exact_value(self) -> str:
        if self.look() in ("", ","):
            return ""
        token = self.take()
        if token in _SPECIAL:
            raise SelectorError(f"found '{token}', expected: identifier")
        return token

    def value_set(self) -> tuple[str, ...]:
        token = self.take()
        if token != "(":
            raise SelectorError(f"found '{token}' expected: '('")
        token = self.look()
        if token == ")":
            self.take()
            return ()
        if not token or (token in _SPECIAL and token != ","):
            raise SelectorError(f"found '{token}', expected: ',', ')' or identifier")
        values: set[str] = set()
        while True:
            token = self.take()
            if token == ",":
                if not values:
                    values.add("")
                if self.look() == ")":
                    values.add("")
                    break
                if self.look() == ",":
                    self.take()
                    values.add("")
                continue
            if not token or token in _SPECIAL:
                raise SelectorError(f"found '{token}', expected: ',', or identifier")
            values.add(token)
            after = self.look()
            if after == ")":
                break
            if after != ",":
                raise SelectorError(f"found '{after}', expected: ',' or ')'")
        self.take()
        return tuple(sorted(values))

    @staticmethod
    def checked(made: Requirement) -> Requirement:
        if made.operator in (_IN, _NOT_IN) and not made.values:
            raise SelectorError(
                "values: Invalid value: []string{}: for 'in', 'notin' operators, values set can't be empty"
            )
        if made.operator in (_GREATER, _LESS) and not re.fullmatch(r"[+-]?\d+", made.values[0]):
            raise SelectorError(
                f"values[0]: Invalid value: {go_quote(made.values[0])}: "
                "for 'Gt', 'Lt' operators, the value must be an integer"
            )
        for index, value in enumerate(made.values):
            if complaints := names.label_value(value):
                where = f"values[{index}][{made.key}]"
                raise SelectorError(str(invalid_value(where, value, "; ".join(complaints))))
        return made


# --- field selectors ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """A parsed field selector: (field, equal?, value) terms that must all hold."""

    terms: tuple[tuple[str, bool, str], ...] = ()

    def matches(self, obj: Mapping[str, Any]) -> bool:
        """Whether the object satisfies every term."""
        return all((field_value(obj, name) == value) == equal for name, equal, value in self.terms)

    def required(self, name: str) -> str | None:
        """The value that a field must equal, if the selector says so."""
        for field, equal, value in self.terms:
            if equal and field == name:
                return value
        return None

    @property
    def empty(self) -> bool:
        """Whether it matches everything."""
        return not self.terms

    def __str__(self) -> str:
        return ",".join(f"{f}{'=' if e else '!='}{_escape(v)}" for f, e, v in self.terms)


_EVENT_SHORT = {"source": ("source", "component"), "name": ("metadata", "name")}


def field_value(obj: Mapping[str, Any], name: str) -> str:
    """The value of a selectable field as text; an absent one is empty, an absent boolean false."""
    path = _EVENT_SHORT.get(name) or name.split(".")
    value: Any = obj
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    if value is None:
        return "false" if name in ("spec.unschedulable", "spec.hostNetwork") else ""
    if value is True or value is False:
        return "true" if value else "false"
    return str(value)


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")


@lru_cache(maxsize=4096)
def parse_fields(text: str) -> FieldSelector:
    """Parse ``status.phase=Running,spec.nodeName!=x``; raises SelectorError with Go's text."""
    terms = []
    for part in re.split(r"(?<!\\),", text):
        if not part:
            continue
        found = re.match(r"(.*?)(!=|==|=)(.*)\Z", part, re.DOTALL)
        if found is None:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
        name, operator, value = found.groups()
        plain = re.sub(r"\\(.)", r"\1", value)
        terms.append((name, operator != "!=", plain))
    return FieldSelector(tuple(terms))


def parse_fields_of(resource: Resource, text: str) -> FieldSelector:
    """Parse a field selector and check that the resource supports its fields."""
    selector = parse_fields(text)
    for name, _, _ in selector.terms:
        if name not in resource.field_selectors:
            if resource.group == "" or resource.custom:
                raise SelectorError(f"field label not supported: {name}")
            known = ", ".join(go_quote(f) for f in ("metadata.name", "metadata.namespace"))
            raise SelectorError(f"{go_quote(name)} is not a known field selector: only {known}")
    return selector
