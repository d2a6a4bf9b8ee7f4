"""Signatures of functions, and the table in which an expression finds them.

Every module of functions adds its own to a table; :mod:`sregym_env.kube.cel.library` puts the table together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.cel.types import Type, fits, matches
from sregym_env.kube.cel.values import Host

Result = Type | Callable[[list[Type]], Type]


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function; a method has its receiver as the first parameter."""

    parameters: tuple[Type, ...]
    returns: Any
    run: Callable[..., Any]
    costly: bool = False
    """Whether the work grows with the size of the arguments."""

    def accepts(self, types: Sequence[Type]) -> bool:
        """Whether arguments of these types fit."""
        return len(types) == len(self.parameters) and all(map(fits, types, self.parameters))

    def takes(self, values: Sequence[Any]) -> bool:
        """Whether these arguments fit."""
        return all(map(matches, values, self.parameters))

    def result(self, types: list[Type]) -> Type:
        """Type of what it returns."""
        return self.returns(types) if callable(self.returns) else self.returns


class Overloads:
    """The overloads of global functions and of methods, in the order in which they were added."""

    __slots__ = ("_functions", "_methods")

    def __init__(self) -> None:
        self._functions: dict[str, list[Overload]] = {}
        self._methods: dict[str, list[Overload]] = {}

    def function(
        self,
        name: str,
        parameters: Sequence[Type],
        returns: Result,
        run: Callable[..., Any],
        *,
        costly: bool = False,
    ) -> None:
        """Add an overload of a global function or operator."""
        self._functions.setdefault(name, []).append(Overload(tuple(parameters), returns, run, costly))

    def method(
        self,
        name: str,
        parameters: Sequence[Type],
        returns: Result,
        run: Callable[..., Any],
        *,
        costly: bool = False,
    ) -> None:
        """Add an overload of a method."""
        self._methods.setdefault(name, []).append(Overload(tuple(parameters), returns, run, costly))

    def host_method(self, type_name: str, name: str, parameters: Sequence[Type], returns: Result) -> None:
        """Add a method of a :class:`~sregym_env.kube.cel.values.Host`: its Python method ``cel_NAME``."""

        def run(owner: Host, *arguments: Any) -> Any:
            return getattr(owner, f"cel_{name}")(*arguments)

        self.method(name, (type_name, *parameters), returns, run)

    def is_global(self, name: str) -> bool:
        """Whether there is a global function of that name (``sets.contains``)."""
        return name in self._functions

    def of(self, name: str, member: bool) -> Sequence[Overload]:
        """The signatures of a function or method; empty where there is none."""
        return (self._methods if member else self._functions).get(name, ())
