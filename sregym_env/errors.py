"""The exception tree of the project.

::

    Exception
    └── SREGymError              anything this package raises on purpose
        ├── ClusterError         the cluster refused or could not do something
        │   └── kube.status.StatusError   ... with a Kubernetes Status, as the API server words it
        ├── ProblemError         a problem (app + faults + parameters) cannot be built or played
        │   ├── AppError         an application cannot be loaded, deployed or listed
        │   └── StagingError     users are not served before the faults, or are not hurt after them
        └── UsageError           the caller passed arguments that make no sense (also a ValueError)

Bugs keep Python's own exceptions: nothing here wraps a TypeError or a KeyError.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class SREGymError(Exception):
    """Anything this package raises on purpose."""


class ClusterError(SREGymError):
    """The cluster refused a request or could not carry it out."""


class ProblemError(SREGymError):
    """A problem cannot be built or played: unknown fault, no such target, contradicting parameters."""


class AppError(ProblemError):
    """An application cannot be loaded, deployed or listed: its declaration is wrong, or the simulation."""


class StagingError(ProblemError):
    """A staged world that is no episode: its users were not served before the faults, or are not hurt after."""


class UsageError(SREGymError, ValueError):
    """The caller passed arguments that make no sense."""


@contextmanager
def told_of(path: Path) -> Iterator[None]:
    """Names a file in what the machine refuses meanwhile: a full disk and a broken one do not say whose fault they are."""
    try:
        yield
    except OSError as error:
        # A draft beside it, which gets its name at the end, is nobody's.
        draft = error.filename is not None and Path(str(error.filename)).parent == path.parent
        if error.filename is None or (draft and path.name in Path(str(error.filename)).name):
            error.filename = str(path)
        raise
