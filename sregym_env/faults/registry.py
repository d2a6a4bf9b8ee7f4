"""The registry of faults: every module of this package that declares a fault of its own name."""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache
from types import ModuleType

import sregym_env.faults
from sregym_env.errors import ProblemError, UsageError
from sregym_env.faults.fault import Declaration, Fault


@cache
def declarations() -> tuple[Declaration, ...]:
    """Every declared fault, by name."""
    found = []
    for module in sorted(pkgutil.iter_modules(sregym_env.faults.__path__), key=lambda m: m.name):
        declared = _declared(module.name)
        if declared is not None:
            found.append(declared)
    return tuple(found)


@cache
def declaration(name: str) -> Declaration:
    """The fault called ``name``. Raises ProblemError with near names if there is none."""
    # One fault needs one module; and what is not in the folder is never imported, whatever is asked for.
    names = {module.name for module in pkgutil.iter_modules(sregym_env.faults.__path__)}
    declared = _declared(name) if name in names else None
    if declared is None:
        known = [each.name for each in declarations()]
        near = get_close_matches(name, known, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; there are: {', '.join(known)}"
        raise ProblemError(f"no fault {name!r}{hint}")
    return declared


def _declared(name: str) -> Declaration | None:
    try:
        module = importlib.import_module(f"sregym_env.faults.{name}")
    except UsageError as error:
        raise UsageError(f"faults/{name}.py: {error}") from error
    found = getattr(module, name, None)
    _demand_named(name, module)
    return found if isinstance(found, Declaration) else None


def _demand_named(name: str, module: ModuleType) -> None:
    """Refuse faults that nobody would find: they are called otherwise than their file, or not declared."""
    for key, value in vars(module).items():
        if (
            isinstance(value, Declaration)
            and value.build.__module__ == module.__name__
            and value.name != name
        ):
            raise UsageError(
                f"faults/{name}.py declares the fault {value.name}, which would not be found: a fault has a file of its own "
                f"name; call the file {value.name}.py, or the function {name}"
            )
        if key == name and getattr(value, "__annotations__", {}).get("return") == Fault.__name__:
            raise UsageError(f"faults/{name}.py: {name} is not declared; put @fault(...) above it")
