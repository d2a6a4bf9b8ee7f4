"""A folder that one process at a time writes to."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from weakref import WeakValueDictionary

from sregym_env.errors import UsageError

try:
    import fcntl
except ModuleNotFoundError:  # there are no such locks on Windows
    fcntl = None  # type: ignore[assignment]


class Held:
    """A folder is held until this is dropped, or its process ends in whatever way."""

    def __init__(self, open: int) -> None:
        self._open = open

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._open)


# Locks are the process's, whose writers follow each other: one that was interrupted may be referred to for long.
_known: WeakValueDictionary[tuple[int, int], Held] = WeakValueDictionary()


def held(folder: Path) -> Held | None:
    """Hold a folder. Raises UsageError where another process does. None where locks are not known."""
    if fcntl is None:
        return None
    place = folder.stat()
    key = place.st_dev, place.st_ino
    found = _known.get(key)
    if found is not None:
        return found
    made = Held(os.open(folder, os.O_RDONLY))
    try:
        fcntl.flock(made._open, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            f"{folder} is being written by another process; wait until it is done, or choose another folder"
        ) from None
    except OSError:
        return None  # as on some network file systems
    return _known.setdefault(key, made)
