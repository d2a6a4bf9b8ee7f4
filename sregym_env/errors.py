"""The exception tree of the project.

::

    Exception
    └── SREGymError              anything this package raises on purpose
        ├── ClusterError         the cluster refused or could not do something
        │   └── kube.status.StatusError   ... with a Kubernetes Status, as the API server words it
        ├── ProblemError         a problem (app + faults + parameters) cannot be built or played
        └── UsageError           the caller passed arguments that make no sense (also a ValueError)

Bugs keep Python's own exceptions: nothing here wraps a TypeError or a KeyError.
"""

from __future__ import annotations


class SREGymError(Exception):
    """Anything this package raises on purpose."""


class ClusterError(SREGymError):
    """The cluster refused a request or could not carry it out."""


class ProblemError(SREGymError):
    """A problem cannot be built or played: unknown fault, no such target, contradicting parameters."""


class UsageError(SREGymError, ValueError):
    """The caller passed arguments that make no sense."""
