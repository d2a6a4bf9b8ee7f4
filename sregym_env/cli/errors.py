"""How commands tell what went wrong: one line on the standard error, and exit code 2."""

from __future__ import annotations

import errno
import os
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
    except BrokenPipeError:
        raise  # whoever read has read enough
    except OSError as error:
        fail(_told(error))


def _told(error: OSError) -> str:
    # Of two files, as where one gets the name of the other, the second is the one that was asked for.
    name = error.filename2 or error.filename
    if name is not None:
        return (
            f"{os.fsdecode(name) if isinstance(name, str | bytes) else name}: {error.strerror}; name another"
        )
    # Everything that is written elsewhere names its file.
    return f"standard output: {error.strerror}" if error.errno in _OF_STREAMS else str(error)


_OF_STREAMS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def fail(text: str) -> NoReturn:
    """Say what is wrong, and exit with 2."""
    print(f"sregym: {text}", file=sys.stderr)
    raise typer.Exit(2)
