"""``x-kubernetes-validations``: the CEL rules of a custom resource's schema, compiled once and evaluated on writes.

Follows ``k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel`` of v1.32.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sregym_env.kube import cel
from sregym_env.kube.cel.compiler import escape
from sregym_env.kube.cel.times import duration, timestamp
from sregym_env.kube.cel.values import NONE, MapList, Optional, SetList
from sregym_env.kube.custom import ABSENT, BlockingError, Schema, correlated_items
from sregym_env.kube.registry import CustomType
from sregym_env.kube.status import FieldError, duplicate, forbidden_field, invalid_value, required
from sregym_env.kube.types import Json, Manifest

Convert = Callable[[Json], Any]

NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to "
    "complete validation"
)
_BLOCKING = frozenset(("Required value", "Too long", "Too many", "Unsupported value"))
_OUT_OF_BUDGET = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)


@dataclass(slots=True)
class Rule:
    """One compiled rule."""

    declared: Mapping[str, Any]
    program: cel.Program | None
    error: str = ""
    """Why it does not compile."""
    message: cel.Program | None = None
    message_error: str = ""
    transition: bool = False
    """Whether it asks about the old value."""
    optional_old: bool = False

    @property
    def text(self) -> str:
        """How the rule is named in messages."""
        return str(self.declared.get("message") or self.declared.get("rule") or "").strip()


@dataclass(slots=True)
class Node:
    """The rules of a schema and of the schemas below it that have any."""

    schema: Schema
    rules: list[Rule] = field(default_factory=list)
    properties: dict[str, Node] = field(default_factory=dict)
    items: Node | None = None
    extra: Node | None = None
    convert: Convert | None = None
    """From JSON to a value of the language; None where they are the same."""

    @property
    def empty(self) -> bool:
        """Whether there is no rule at all."""
        return not (self.rules or self.properties or self.items or self.extra)


# --- types -----------------------------------------------------------------------------------------


def declared_type(schema: Schema, root: bool = False) -> cel.Type:
    """The static type of values of a schema."""
    if schema.get("x-kubernetes-int-or-string"):
        return "dyn"
    kind = schema.get("type")
    if kind == "array":
        return ("list", declared_type(schema.get("items") or {}))
    if kind == "object":
        others = schema.get("additionalProperties")
        if isinstance(others, Mapping):
            return ("map", "string", declared_type(others))
        return _object_type(schema, root or bool(schema.get("x-kubernetes-embedded-resource")))
    if kind == "string":
        return _STRINGS.get(str(schema.get("format")), "string")
    return {"integer": "int", "number": "double", "boolean": "bool"}.get(str(kind), "dyn")


_STRINGS = {"byte": "bytes", "duration": "duration", "date": "timestamp", "date-time": "timestamp"}
_META = cel.ObjectType("object", {"name": "string", "generateName": "string"})


def _object_type(schema: Schema, root: bool) -> cel.Type:
    fields: dict[str, cel.Type] = {}
    for name, inner in (schema.get("properties") or {}).items():
        written = escape(name)
        if written is not None:
            fields[written] = declared_type(inner)
    if root:
        fields.update(apiVersion="string", kind="string", metadata=_META)
    return cel.ObjectType("object", fields)


def converter(schema: Schema) -> Convert | None:
    """From JSON values to those of the language: times, durations, bytes and doubles. None where nothing changes."""
    kind = schema.get("type")
    if kind == "number":
        return lambda value: float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if kind == "string":
        return _CONVERTERS.get(str(schema.get("format")))
    if kind == "array":
        inner = converter(schema.get("items") or {})
        known = schema.get("x-kubernetes-list-type")
        if known in ("set", "map"):
            return partial(_typed_items, inner, tuple(schema.get("x-kubernetes-list-map-keys") or ()))
        return None if inner is None else partial(_items, inner)
    if kind != "object":
        return None
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        inner = converter(others)
        return None if inner is None else partial(_values, inner)
    fields = {name: made for name, s in (schema.get("properties") or {}).items() if (made := converter(s))}
    return (lambda value: _fields(fields, value)) if fields else None


def _items(convert: Convert, value: Json) -> Any:
    return [convert(item) for item in value] if isinstance(value, list) else value


def _typed_items(convert: Convert | None, keys: tuple[str, ...], value: Json) -> Any:
    if not isinstance(value, list):
        return value
    items = value if convert is None else [convert(item) for item in value]
    return MapList(items, keys) if keys else SetList(items)


def _values(convert: Convert, value: Json) -> Any:
    return {key: convert(item) for key, item in value.items()} if isinstance(value, dict) else value


def _fields(fields: Mapping[str, Convert], value: Json) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: fields[key](item) if key in fields else item for key, item in value.items()}


def _parsed(parse: Callable[[str], Any]) -> Convert:
    def convert(value: Json) -> Any:
        try:
            return parse(value) if isinstance(value, str) else value
        except (cel.CelError, ValueError):
            return value

    return convert


def _decoded(text: str) -> bytes:
    return b64decode(text)


_CONVERTERS: dict[str, Convert] = {
    "byte": _parsed(_decoded),
    "duration": _parsed(duration),
    "date": _parsed(lambda text: timestamp(f"{text}T00:00:00Z")),
    "date-time": _parsed(timestamp),
}


# --- compiling -------------------------------------------------------------------------------------


def node_of(schema: Schema, root: bool = False) -> Node:
    """The rules of a schema, compiled."""
    node = Node(schema)
    declared = schema.get("x-kubernetes-validations") or ()
    if declared:
        type_ = declared_type(schema, root)
        node.rules = [compile_rule(rule, type_) for rule in declared]
        node.convert = converter(schema)
    for name, inner in (schema.get("properties") or {}).items():
        made = node_of(inner)
        if not made.empty:
            node.properties[name] = made
    if isinstance(schema.get("items"), Mapping):
        made = node_of(schema["items"])
        node.items = None if made.empty else made
    if isinstance(schema.get("additionalProperties"), Mapping):
        made = node_of(schema["additionalProperties"])
        node.extra = None if made.empty else made
    return node


def compile_rule(declared: Mapping[str, Any], type_: cel.Type) -> Rule:
    """One rule over ``self`` (and ``oldSelf``) of a type. Problems are kept in the rule."""
    source = str(declared.get("rule") or "").strip()
    optional = declared.get("optionalOldSelf") is True
    names: dict[str, cel.Type] = {"self": type_, "oldSelf": ("optional", type_) if optional else type_}
    transition = re.search(r"\boldSelf\b", source) is not None
    rule = Rule(declared, None, transition=transition, optional_old=optional)
    try:
        rule.program = cel.compile_expression(source, names, "bool")
    except cel.CompileError as error:
        rule.error = str(error) if str(error).startswith("must") else f"compilation failed: {error}"
        if rule.error == "must evaluate to bool":
            rule.error = "cel expression must evaluate to a bool"
    expression = declared.get("messageExpression")
    if expression:
        try:
            rule.message = cel.compile_expression(str(expression).strip(), names, "string")
        except cel.CompileError as error:
            text = (
                "must evaluate to string" if str(error).startswith("must") else f"compilation failed: {error}"
            )
            rule.message_error = f"messageExpression {text}"
    return rule


def rules_of(custom: CustomType) -> Node:
    """The rules of a version of a definition."""
    known = custom.cache.get("rules")
    if known is None:
        known = custom.cache["rules"] = node_of(custom.schema, root=True)
    found: Node = known
    return found


# --- evaluating ------------------------------------------------------------------------------------


class _Budget:
    """What all rules of one request may still cost."""

    __slots__ = ("left", "out")

    def __init__(self) -> None:
        self.left = cel.BUDGET
        self.out = False


def complaints(
    custom: CustomType, obj: Manifest, old: Manifest | None, found: list[FieldError]
) -> list[FieldError]:
    """What the rules say of an object; ``found`` are the complaints of the schema, which may come first."""
    node = rules_of(custom)
    if node.empty:
        return []
    if any(error.type in _BLOCKING or isinstance(error, BlockingError) for error in found):
        return [invalid_value("<nil>", None, NOT_CHECKED)]
    out: list[FieldError] = []
    _walk(node, obj, ABSENT if old is None else old, "", out, _Budget(), old is not None)
    return out


def _walk(
    node: Node, value: Json, old: Json, where: str, out: list[FieldError], budget: _Budget, update: bool
) -> None:
    if budget.out or value is None:
        return
    if node.rules:
        _evaluate(node, value, old, where, out, budget)
    if isinstance(value, dict):
        before = old if isinstance(old, dict) else {}
        for key, child in value.items():
            inner = node.properties.get(key) or (
                node.extra if key not in (node.schema.get("properties") or {}) else None
            )
            if inner is not None:
                at = f"{where}.{key}" if inner is not node.extra else f"{where}[{key}]"
                _walk(inner, child, before.get(key, ABSENT), at.lstrip("."), out, budget, update)
    elif isinstance(value, list) and node.items is not None:
        correlated = correlated_items(node.schema, old)
        for index, item in enumerate(value):
            _walk(node.items, item, correlated(item), f"{where}[{index}]", out, budget, update)


def _evaluate(node: Node, value: Json, old: Json, where: str, out: list[FieldError], budget: _Budget) -> None:
    convert = node.convert
    current = value if convert is None else convert(value)
    before = ABSENT if old is ABSENT or old is None else (old if convert is None else convert(old))
    unchanged = old is not ABSENT and old == value
    kind = str(node.schema.get("type") or "")
    for rule in node.rules:
        if rule.program is None:
            out.append(invalid_value(where or "<nil>", kind, f"rule compile error: {rule.error}"))
            continue
        names = {"self": current}
        if rule.optional_old:
            names["oldSelf"] = NONE if before is ABSENT else Optional(True, before)
        elif rule.transition:
            if before is ABSENT:
                continue
            names["oldSelf"] = before
        elif unchanged:
            continue
        error = _run(rule, names, kind, where or "<nil>", budget)
        if error is not None:
            out.append(error)
        if budget.out:
            return


def _run(rule: Rule, names: dict[str, Any], kind: str, where: str, budget: _Budget) -> FieldError | None:
    assert rule.program is not None
    try:
        result, cost = rule.program.measured(names, min(cel.COST_LIMIT, budget.left))
    except cel.CostExceeded as error:
        budget.out = True
        if budget.left < cel.COST_LIMIT:
            return invalid_value(where, kind, _OUT_OF_BUDGET)
        text = f"'{error}': no further validation rules will be run due to call cost exceeds limit for rule: {rule.text}"
        return invalid_value(where, kind, text)
    except cel.CelError as error:
        if str(error).startswith("no such overload"):
            text = (
                f"'{error}': call arguments did not match a supported operator, function or macro signature "
                f"for rule: {rule.text}"
            )
            return invalid_value(where, kind, text)
        return invalid_value(where, kind, f"{error} evaluating rule: {rule.text}")
    budget.left -= cost
    if result is True:
        return None
    return _failed(rule, names, kind, where, budget)


def _failed(rule: Rule, names: dict[str, Any], kind: str, where: str, budget: _Budget) -> FieldError:
    path = rule.declared.get("fieldPath")
    if path:
        at = normalized_path(str(path))
        where = at.lstrip(".") if where == "<nil>" else f"{where}{at}"
    text = _message(rule, names, budget)
    match rule.declared.get("reason"):
        case "FieldValueForbidden":
            return forbidden_field(where, text)
        case "FieldValueRequired":
            return required(where, text)
        case "FieldValueDuplicate":
            return duplicate(where, kind)
    return invalid_value(where, kind, text)


def normalized_path(path: str) -> str:
    """A rule's ``fieldPath`` as field errors write it: ``.spec['a-b']`` becomes ``.spec.a-b``."""
    return re.sub(r"\[['\"]([^'\"]*)['\"]\]", r".\1", path)


def _message(rule: Rule, names: dict[str, Any], budget: _Budget) -> str:
    if rule.message is not None:
        try:
            made, cost = rule.message.measured(names, min(cel.COST_LIMIT, budget.left))
            budget.left -= cost
        except cel.CelError:
            made = None
        if isinstance(made, str) and made.strip() and "\n" not in made and len(made) <= 5 * 1024:
            return made.strip()
    if rule.declared.get("message"):
        return str(rule.declared["message"]).strip()
    return f"failed rule: {rule.text}"
