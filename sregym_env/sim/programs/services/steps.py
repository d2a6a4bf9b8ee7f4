"""What a service does, as data: when it starts, and with each request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sregym_env.sim.programs.services.asides import Aside
from sregym_env.sim.programs.services.peers import At
from sregym_env.sim.programs.services.values import Value

Level = Literal["debug", "info", "warning", "error", "fatal"]


NOTICED = 0.5
"""Seconds of a start from which on a port that opens later is worth an event of its own."""


@dataclass(frozen=True, slots=True)
class Say:
    """A line of the log, in the runtime's form. At the start values are put in as in :class:`Print`; with a request
    ``{error}`` and ``{code}``, the code of the protocol."""

    level: Level
    where: str
    """Source position."""
    text: str


# --- with a request -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lost:
    """What a handler does when a peer does not answer it as it should."""

    then: Literal["error", "panic", "ignore"] = "error"
    """Fail the request, kill the process, or go on without."""
    answer: str = ""
    """What its own callers are told; empty to pass on what it was told itself."""
    text: str = "{error}"
    """The last words of a process that dies of it."""
    log: Say | None = None
    """A line per failure."""
    where: str = ""
    """Source position that a panic names."""


PASSED_ON = Lost()


@dataclass(frozen=True, slots=True)
class Compute:
    """Use the CPU for a while."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to a peer."""

    peer: str
    operation: str
    """What is asked: a method, a command, a kind of statement."""
    of: str = ""
    """On what, for a store: the collection, table, key space or topic."""
    lost: Lost = PASSED_ON


@dataclass(frozen=True, slots=True)
class LookAside:
    """Ask a cache; on a miss take other steps, whose result is put into the cache."""

    cache: Ask
    """``of`` is the key space: what is warm or cold together."""
    miss: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """Several branches at once; the slowest decides how long it takes."""

    branches: tuple[tuple[Step, ...], ...]


@dataclass(frozen=True, slots=True)
class When:
    """Steps that are taken while an environment variable has a value."""

    variable: str
    value: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """Fail the request."""

    answer: str
    log: Say | None = None


Step = Compute | Ask | LookAside | Together | When | Refuse | Aside


@dataclass(frozen=True, slots=True)
class Handler:
    """What one operation does, step by step."""

    operation: str
    """``/geo.Geo/Nearby`` for gRPC, ``GET /hotels`` for HTTP, a method's name for Thrift."""
    steps: tuple[Step, ...]


# --- at the start -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class End:
    """How a start that fails ends: with a stack trace, or with a line of the highest level."""

    how: Literal["panic", "fatal"]
    where: str
    text: str = "{error}"


@dataclass(frozen=True, slots=True)
class Print:
    """A line without the logger's form; ``%{time}``, ``%{env NAME default}`` and ``%{config KEY}`` are put in."""

    text: str


@dataclass(frozen=True, slots=True)
class Pass:
    """Time that goes by."""

    seconds: float


@dataclass(frozen=True, slots=True)
class ReadConfig:
    """Read a JSON file; one that does not parse counts as empty. Nested keys are joined by dots."""

    path: str
    missing: Say
    """What is said where there is no such file, before the exit with code 1."""
    strings: bool = False
    """Whether only values that are strings are taken, as a map of strings takes them."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """Read a file of any form, of which the service understands what expressions find."""

    path: str
    missing: End
    found: tuple[tuple[str, str], ...] = ()
    """(key, regular expression with one group)."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Connect to a peer, trying again until it answers or patience ends."""

    peer: str
    again: tuple[float, ...] = ()
    """Seconds after the beginning of the process at which it is tried again."""
    every: float = 0.0
    """Or: how long it waits between two attempts, for ever."""
    patience: float = 0.0
    """Seconds after the beginning of the process at which it gives up, where it does."""
    lost: End | None = None
    log: tuple[Say, ...] = ()
    """Lines per failed attempt."""


@dataclass(frozen=True, slots=True)
class Fill:
    """Put what is missing of a service's own data into its database."""

    peer: str
    lost: End


@dataclass(frozen=True, slots=True)
class Open:
    """Listen. A port that is no number counts as 0, which programs take for unset."""

    port: Value
    unset: End
    taken: End
    more: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Register:
    """Tell a registry where one is."""

    registry: At
    name: str
    port: Value
    where: str
    lost: End
    patience: float = 10.0
    """Seconds."""


Start = Print | Say | Pass | ReadConfig | ReadText | Reach | Fill | Open | Register
