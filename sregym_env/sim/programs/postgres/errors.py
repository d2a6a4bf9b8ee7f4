"""What PostgreSQL says when it refuses: severity, SQLSTATE and message, and how they travel in a call's failure."""

from __future__ import annotations

from typing import NamedTuple

from sregym_env.sim.world.program import Failure

_KINDS = {"28": "auth", "42501": "denied", "3D": "denied", "53": "overload"}


class PgError(NamedTuple):
    """One error report of the server."""

    severity: str
    """``ERROR``, ``FATAL``."""
    code: str
    """SQLSTATE (PostgreSQL 17, appendix A)."""
    message: str
    detail: str = ""
    hint: str = ""
    position: int = -1
    """Where in the statement, in characters from its beginning; -1 for nowhere."""

    def failure(self) -> Failure:
        """As a call's failure: ``FATAL 28P01 password authentication failed ...``."""
        kind = next((kind for head, kind in _KINDS.items() if self.code.startswith(head)), "error")
        return Failure(kind, f"{self.severity} {self.code} {self.message}")  # type: ignore[arg-type]


def reported(failure: Failure) -> PgError | None:
    """The server's report behind a failure; None where the failure is the network's."""
    severity, _, rest = failure.text.partition(" ")
    code, space, message = rest.partition(" ")
    if severity not in ("ERROR", "FATAL", "PANIC") or len(code) != 5 or not space:
        return None
    return PgError(severity, code, message)


class Refused(Exception):
    """A statement that the server refuses."""

    def __init__(self, error: PgError) -> None:
        super().__init__(error.message)
        self.error = error


def refuse(code: str, message: str, *, detail: str = "", hint: str = "", position: int = -1) -> Refused:
    """An ``ERROR`` to be raised."""
    return Refused(PgError("ERROR", code, message, detail, hint, position))
