"""What is wrong with a configuration that is to be applied, in the words of the merge library."""

from __future__ import annotations

import json
from typing import Any

from sregym_env.kube.ownership.compare import element_of
from sregym_env.kube.ownership.fields import text
from sregym_env.kube.ownership.shape import Shape, resolved
from sregym_env.kube.schema import go_format
from sregym_env.kube.types import Json, Manifest


def complaint(shape: Shape, config: Manifest) -> str:
    """The complaints about a configuration; empty where there are none."""
    found: list[str] = []
    _check(shape, config, "", found)
    if len(found) < 2:
        return found[0] if found else ""
    return "\n".join(["errors:", *("  " + line for line in found)])


def _check(shape: Shape, value: Json, where: str, out: list[str]) -> None:
    shape = resolved(shape, value)
    if value is None or shape.kind == "untyped":
        return
    if shape.kind == "scalar":
        problem = _scalar(shape.scalar, value)
        if problem:
            out.append(f"{where}: {problem}")
    elif shape.kind == "list":
        _check_list(shape, value, where, out)
    elif not isinstance(value, dict):
        out.append(f"{where}: expected map, got &{{{go_format(value)}}}")
    else:
        _check_map(shape, value, where, out)


def _check_map(shape: Shape, value: Manifest, where: str, out: list[str]) -> None:
    for name, child in value.items():
        found = shape.child(name)
        at = f"{where}.{name}"
        if found is None:
            # The library stops reading a map at the first field that it does not know.
            out.append(f"{at}: field not declared in schema")
            return
        _check(found, child, at, out)


def _check_list(shape: Shape, value: Json, where: str, out: list[str]) -> None:
    if not isinstance(value, list):
        out.append(f"{where}: expected list, got &{{{go_format(value)}}}")
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        step = f"[{index}]"
        if not shape.atomic:
            try:
                element = element_of(shape, item)
            except ValueError as error:
                out.append(f"{where}: element {index}: {error}")
                return
            step = text(element)
            if element in seen:
                out.append(f"{where}: duplicate entries for key {step}")
            seen.add(element)
        if shape.item is not None:
            _check(shape.item, item, where + step, out)


def _scalar(wanted: str, value: Json) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if wanted == "numeric" and not number:
        return f"expected numeric (int or float), got {_go_type(value)}"
    if wanted == "string" and not isinstance(value, str):
        return f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
    if wanted == "boolean" and not isinstance(value, bool):
        return f"expected boolean, got &{{{go_format(value)}}}"
    if wanted == "untyped" and isinstance(value, dict | list):
        return f"expected any scalar, got &{{{go_format(value)}}}"
    return ""


def _go_type(value: Json) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    return "map[string]interface {}" if isinstance(value, dict) else "[]interface {}"


def _go_syntax(value: Any) -> str:
    """A value as Go's ``%#v`` prints it."""
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(name)}:{_go_syntax(value[name])}" for name in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(_go_syntax(item) for item in value) + "}"
    if value is None:
        return "interface {}(nil)"
    return json.dumps(value)
