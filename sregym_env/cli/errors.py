"""How commands tell what went wrong: one line on the standard error, and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from sregym_env.errors import SREGymError


@contextmanager
def told_errors() -> Iterator[None]:
    """Prints the project's own errors, and the machine's, as one line and exits with 2."""
    try:
        yield
    except SREGymError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}; name another" if error.filename else str(error))


def fail(text: str) -> NoReturn:
    """Say what is wrong, and exit with 2."""
    print(f"sregym: {text}", file=sys.stderr)
    raise typer.Exit(2)
