"""The applications: one package each that declares ``APP``, found by scanning.

A user's own may be a folder (:mod:`~.folders`) that the environment variable ``SREGYM_APPS`` names.
Installed distributions add their own, under names that are not taken here, through the entry point group
``sregym_env.apps``, whose names are those of the applications and whose values lead to an
:class:`~sregym_env.cluster.app.App`.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from sregym_env.cluster.app import App
from sregym_env.cluster.composed import JOINED, composed
from sregym_env.errors import AppError, ProblemError

GROUP = "sregym_env.apps"
"""The entry point group of applications in other distributions."""

FOLDERS = "SREGYM_APPS"
"""The environment variable that names folders with applications, separated as in ``PATH``."""

DEFAULT = "hotel-reservation"
"""The application that is played where none is named."""


@cache
def names() -> tuple[str, ...]:
    """Names of all applications, sorted, such as ``hotel-reservation``."""
    return tuple(sorted({*bundled(), *_installed(), *_in_folders()}))


@cache
def app(name: str) -> App:
    """The application called ``name``, or several of them in one cluster, joined by ``+``, as one.

    Raises ProblemError with near names if there is none, AppError if it cannot be loaded.
    """
    if JOINED in name:
        return composed([app(part) for part in name.split(JOINED)])
    if name in bundled():
        found: App = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").APP
        return found
    if name in _in_folders():
        made: App = _folders().load(_in_folders()[name])
        return made
    if name not in _installed():
        near = get_close_matches(name, names(), n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; there are: {', '.join(names())}"
        raise ProblemError(f"no application {name!r}{hint}")
    return _loaded(_installed()[name])


@cache
def bundled() -> tuple[str, ...]:
    """Names of the applications of this package."""
    found = (module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    return tuple(sorted(name.replace("_", "-") for name in found))


@cache
def _in_folders() -> Mapping[str, Path]:
    """Applications of the folders in ``SREGYM_APPS``. Raises AppError for a folder without one, or with a name that is taken."""
    found: dict[str, Path] = {}
    for folder in [Path(each) for each in os.environ.get(FOLDERS, "").split(os.pathsep) if each]:
        try:
            name = _folders().name_of(folder)
        except AppError as error:
            raise AppError(f"{FOLDERS}: {error}") from error
        demand_free(name, folder)
        if name in found:
            raise AppError(
                f"{folder}: application {name} is in {found[name]}, too; give one of them another name"
            )
        found[name] = folder
    return found


def demand_free(name: str, folder: Path) -> None:
    """Refuse a folder whose application has the name of one that is bundled. Raises AppError."""
    if name in bundled():
        raise AppError(
            f"{folder}: {name} is an application of this package; give your own another name in app.yaml"
        )


def _folders() -> Any:
    # What reads folders knows programs and schemas, which most who ask for an application do not need.
    return importlib.import_module(f"{__name__}.folders")


@cache
def _installed() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> App:
    where = f"application {point.name} ({point.value}, entry point of {_distribution(point)})"
    try:
        found = point.load()
    except Exception as error:  # somebody else's module may raise anything, and the other applications go on
        raise AppError(
            f"{where} cannot be loaded: {type(error).__name__}: {error}; repair it or uninstall the distribution"
        ) from error
    if not isinstance(found, App):
        raise AppError(f"{where} is a {type(found).__name__}; it must be a sregym_env.cluster.app.App")
    if found.name != point.name:
        raise AppError(f"{where} calls itself {found.name!r}; give the entry point that name")
    return found


def _distribution(point: EntryPoint) -> str:
    return "an unknown distribution" if point.dist is None else point.dist.name
