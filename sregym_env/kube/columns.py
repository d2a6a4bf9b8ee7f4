"""``-o custom-columns`` and ``--sort-by``: output shaped by JSONPath expressions.

Errors are ``JSONPathError`` with kubectl's text (without the leading ``error: ``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from sregym_env.kube import quantity
from sregym_env.kube.jsonpath import JSONPathError, Template, compile_template, go_text_value, relaxed
from sregym_env.kube.ordering import go_sorted
from sregym_env.kube.tables import align
from sregym_env.kube.types import Manifest


class CustomColumns:
    """A parsed ``HEADER:expression,...`` specification."""

    __slots__ = ("headers", "templates")

    def __init__(self, headers: Sequence[str], templates: Sequence[Template]) -> None:
        self.headers = tuple(headers)
        self.templates = tuple(templates)

    def render(self, objects: Iterable[Manifest], *, no_headers: bool = False) -> str:
        """One aligned line per object; what is missing prints as ``<none>``."""
        lines = [] if no_headers else [list(self.headers)]
        lines += [[_cell(template, obj) for template in self.templates] for obj in objects]
        return align(lines)


def _cell(template: Template, obj: Manifest) -> str:
    parts = template.find(obj)
    texts = ["<none>"] if not parts or not parts[0] else []
    texts += [go_text_value(value) for part in parts for value in part]
    return ",".join(texts)


@lru_cache(maxsize=512)
def parse_columns(spec: str) -> CustomColumns:
    """The columns of ``NAME:.metadata.name,IMAGE:.spec.containers[0].image``."""
    if not spec:
        raise JSONPathError("custom-columns format specified but no custom columns given")
    headers, templates = [], []
    for part in spec.split(","):
        header, colon, expression = part.partition(":")
        if not colon:
            raise JSONPathError(f"unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>")
        headers.append(header)
        templates.append(compile_template(relaxed(expression)))
    return CustomColumns(headers, templates)


def parse_columns_file(text: str) -> CustomColumns:
    """The columns of a template file: a line of headers above a line of expressions."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        raise JSONPathError("invalid format")
    headers, expressions = lines[0].split(), lines[1].split()
    if len(headers) != len(expressions):
        raise JSONPathError(
            f"number of headers ({len(headers)}) and field specifications ({len(expressions)}) don't match"
        )
    return CustomColumns(headers, [compile_template(relaxed(e)) for e in expressions])


_MISSING = object()
"""Stands for a field that an object does not have, in contrast to one that is null."""


def sort_objects(objects: Sequence[Manifest], expression: str) -> list[Manifest]:
    """Objects ordered by a field, those without it first; raises when no object has it."""
    template = compile_template(relaxed(expression))
    keyed = []
    for obj in objects:
        parts = template.find(obj)
        keyed.append((parts[0][0] if parts and parts[0] else _MISSING, obj))
    if objects and all(value is _MISSING for value, _ in keyed):
        shown = relaxed(expression)
        raise JSONPathError(f'couldn\'t find any field with path "{shown}" in the list of objects')
    return [obj for _, obj in go_sorted(keyed, _comes_before)]


def _compare(a: Any, b: Any) -> int:
    if a is None or b is None:
        return (a is not None) - (b is not None)
    if isinstance(a, str) and isinstance(b, str):
        if quantity.is_valid(a) and quantity.is_valid(b):
            return quantity.compare(a, b)
        return (a > b) - (a < b)
    if isinstance(a, bool | int | float) and isinstance(b, bool | int | float):
        return (a > b) - (a < b)
    raise JSONPathError(f"unsortable type: {type(a).__name__}")


def _comes_before(x: tuple[Any, Manifest], y: tuple[Any, Manifest]) -> bool:
    # As kubectl has it, what lacks the field comes before everything, its like included; an empty one before others.
    if x[0] is _MISSING or y[0] is _MISSING:
        return x[0] is _MISSING
    return _compare(x[0], y[0]) < 0
