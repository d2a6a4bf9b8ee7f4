"""The applications: one package each that declares ``APP``, found by scanning."""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache

from sregym_env.cluster.app import App
from sregym_env.errors import ProblemError


@cache
def names() -> tuple[str, ...]:
    """Names of all applications, sorted, such as ``hotel-reservation``."""
    found = (module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    return tuple(sorted(name.replace("_", "-") for name in found))


@cache
def app(name: str) -> App:
    """The application called ``name``. Raises ProblemError with near names if there is none."""
    if name not in names():
        near = get_close_matches(name, names(), n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; there are: {', '.join(names())}"
        raise ProblemError(f"no application {name!r}{hint}")
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    found: App = module.APP
    return found
