"""The Common Expression Language as Kubernetes v1.32 speaks it: pure, typed, bounded.

``compile_expression`` checks an expression once (results are cached) and ``Program.evaluate`` runs it::

    program = cel.compile_expression("object.spec.replicas <= 5", {"object": "dyn"}, returns="bool")
    program.evaluate({"object": deployment})

Values are JSON values; see :mod:`sregym_env.kube.cel.values` for the others and
:mod:`sregym_env.kube.cel.types` for how types are written. Nothing reads a clock or draws chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sregym_env.kube.cel.compiler import Compiler, Frame, Lazy, Run
from sregym_env.kube.cel.errors import CelError, CompileError, CostExceeded
from sregym_env.kube.cel.syntax import parse
from sregym_env.kube.cel.types import DYN, ObjectType, Type, fits, type_text
from sregym_env.kube.cel.values import Host

COST_LIMIT = 1_000_000
"""Steps that one evaluation may take (``PerCallLimit`` of the API server)."""
BUDGET = 10_000_000
"""Steps that all rules of one request may take together (``RuntimeCELCostBudget``)."""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled expression."""

    source: str
    type: Type
    """Static type of the result."""
    _run: Run

    def evaluate(self, names: Mapping[str, Any], limit: int = COST_LIMIT) -> Any:
        """The value of the expression. Raises CelError (CostExceeded when it takes too much)."""
        return self.measured(names, limit)[0]

    def measured(self, names: Mapping[str, Any], limit: int = COST_LIMIT) -> tuple[Any, int]:
        """The value and what it cost. Raises CelError."""
        frame = Frame(dict(names), limit)
        try:
            return self._run(frame), frame.cost
        except RecursionError:
            raise CostExceeded from None
        except (TypeError, ValueError, OverflowError) as error:
            # A value that a function of Python's own library has no use for (a date after year 9999).
            raise CelError(f"no such overload: {error}") from error

    def lazy(self, name: str) -> Lazy:
        """The expression as the value of a variable of others: evaluated there, at most once."""
        return Lazy(self._run, name)


def compile_expression(source: str, names: Mapping[str, Type], returns: Type = DYN) -> Program:
    """The program of an expression over names of these types. Raises CompileError with cel-go's text."""
    return _compiled(source, tuple(sorted(names.items(), key=lambda item: item[0])), returns)


@lru_cache(maxsize=4096)
def _compiled(source: str, names: tuple[tuple[str, Type], ...], returns: Type) -> Program:
    try:
        type_, run = Compiler(source, dict(names)).compile(parse(source))
    except RecursionError:
        raise CompileError("expression recursion limit exceeded: 250") from None
    if not fits(type_, returns):
        raise CompileError(f"must evaluate to {type_text(returns)}")
    return Program(source, type_, run)


__all__ = [
    "BUDGET", "COST_LIMIT", "DYN", "CelError", "CompileError", "CostExceeded", "Host", "ObjectType", "Program", "Type",
    "compile_expression",
]  # fmt: skip
