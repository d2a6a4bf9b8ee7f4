"""What a simulated program is, and what it can see and do.

A program is stateless code; what it remembers lies in its :class:`~sregym_env.sim.world.process.Process` or on a
volume. It reads its actual command line, environment, files and network through a :class:`Context`, so a
wrong key, a revoked role or a missing Service has the consequences it has in reality.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from sregym_env.cluster.streams import ExecResult
from sregym_env.sim.dataplane.network import Collector
from sregym_env.sim.world.process import Process

FailureKind = Literal[
    "no_such_host",
    "dns_timeout",
    "no_port",
    "refused",
    "timeout",
    "reset",
    "auth",
    "denied",
    "unavailable",
    "overload",
    "http",
    "error",
]


class Failure(NamedTuple):
    """Why a call failed: a kind to branch on and the text the client library would report."""

    kind: FailureKind
    text: str
    status: int = 0
    """HTTP status, where the failure is an HTTP answer."""


class Call(NamedTuple):
    """One kind of request to a server: an operation and its attributes (credentials, database, path ...)."""

    operation: str
    attributes: tuple[tuple[str, str], ...] = ()

    def attribute(self, name: str, default: str = "") -> str:
        """One attribute's value."""
        for key, value in self.attributes:
            if key == name:
                return value
        return default


class Again(NamedTuple):
    """How often, and after which pauses, a client tries a call again that has failed."""

    retries: int
    """Further attempts after the first at most."""
    backoff: float
    """Seconds before the first of them."""
    multiplier: float = 1.0
    """By which every further pause is longer."""


class Keeping(NamedTuple):
    """What a client does with the connections over which it calls."""

    shared: bool = True
    """Whether one connection carries as many calls at once as there are; else each carries one at a time, and others stand by in a
    pool."""
    lives: float = math.inf
    """Seconds after which the client closes a connection; 0 where it does after every call."""
    clients: int = 1
    """Processes of the client that share no connections."""


SHARED, POOLED, FRESH = Keeping(), Keeping(shared=False), Keeping(shared=False, lives=0.0)
"""One connection for everything; pools of connections that are kept; a connection for every call."""


class Holding(NamedTuple):
    """What a client holds that opens connections and never closes one."""

    host: str
    """Where to; several names, with commas between them, in turn."""
    port: int
    rate: float
    """Connections that it tries to open per second."""
    most: int
    """How many it holds at last."""


class Capacity(NamedTuple):
    """What bounds how much a process serves, beside its CPU limit, and what serving leaves behind. SI units."""

    threads: float = math.inf
    """Requests that are served at once, those that wait for callees included."""
    queue: float = math.inf
    """Requests that wait before further ones are turned away."""
    rate: float = math.inf
    """Requests per second that a limiter lets through."""
    per_request: float = 16384.0
    """Bytes held by every request in the process, waiting or served."""
    leak: float = 0.0
    """Bytes that every served request leaves behind."""
    variability: float = 1.0
    """Squared coefficient of variation of the CPU time of a request."""
    cold: float = 1.0
    """Share of its speed at the very start."""
    warm_up: float = 0.0
    """Time constant with which it reaches its full speed."""
    collector: Collector | None = None


PLENTY = Capacity()
"""A server that takes on whatever comes."""


class Flow(NamedTuple):
    """What becomes of many equal calls: the share that succeeds, the mean latency, and why the rest fails.

    ``ok + sum(share of failures) == 1``. Latency is the mean over all calls, seconds.
    """

    ok: float = 1.0
    latency: float = 0.0
    failures: tuple[tuple[Failure, float], ...] = ()


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request, as curl, a probe or a user sends it."""

    method: str
    path: str
    """Path with query."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    client: str = ""
    """``ip:port`` of the client as the server sees it."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One HTTP answer."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float = 0.0


class Usage(NamedTuple):
    """What a process uses while it serves: CPU cores and resident bytes."""

    cpu: float
    memory: int


class Context(Protocol):
    """A running process's view of the world. Implemented by ``sim/processes/context.py``."""

    process: Process

    def now(self) -> int:
        """Microseconds since the Unix epoch."""
        ...

    def wall(self) -> int:
        """What its machine's clock says, microseconds since the Unix epoch."""
        ...

    def read(self, path: str) -> str:
        """A file as the process sees it: mounted volumes over the image's files.

        Raises FileNotFoundError, or OSError with errno EIO where the disk fails.
        """
        ...

    def list_dir(self, path: str) -> list[str]:
        """Names in a directory, sorted. Raises FileNotFoundError."""
        ...

    def log(self, text: str, *, delay: float = 0.0) -> None:
        """Write lines to the container's log, ``delay`` seconds from now at most a start-up's length."""
        ...

    def listen(self, *ports: int) -> None:
        """Accept connections on more TCP ports (EADDRINUSE raises OSError: another container of the pod has it)."""
        ...

    def update(self, **state: Any) -> None:
        """Change keys of the program's own state."""
        ...

    def set_memory(self, resident: int) -> None:
        """Change the resident memory, bytes; beyond the container's limit the kernel kills the process."""
        ...

    def exit(self, code: int, *, delay: float = 0.0) -> None:
        """End the process with an exit code, ``delay`` seconds from now."""
        ...

    def wake_in(self, delay: float, reason: str) -> None:
        """Have :meth:`Program.wake` called with ``reason`` in ``delay`` seconds, if this run still lives."""
        ...

    def volume(self, path: str) -> Any:
        """The frozen content of the persistent volume mounted at ``path`` (None if empty).

        Raises OSError with errno EIO when this read hits a failing part of the disk.
        """
        ...

    def write_volume(self, path: str, content: Any) -> None:
        """Replace the content of the persistent volume (or emptyDir) mounted at ``path``."""
        ...

    def call(
        self,
        host: str,
        port: int,
        call: Call,
        *,
        share: float = 1.0,
        timeout: float = 0.0,
        again: Again | None = None,
        required: bool = True,
        fail_fast: float = 0.0,
        cancels: bool = False,
        waits: bool = True,
        beside: Sequence[tuple[str, int]] = (),
        keeping: Keeping = SHARED,
    ) -> Flow:
        """Call a server and learn what becomes of such calls.

        ``share`` is the fraction of the current request's executions that make this call: the load on the
        callee, not a factor on the answer. ``timeout`` caps the wait for an attempt, 0 for the transport's own. ``again`` is the
        client's policy of retries, ``required`` whether the request fails with the call, ``fail_fast`` the most that is waited where
        no connection can stand, ``cancels`` whether the server learns that its caller has given up,
        ``waits`` whether the request waits for the answer, ``beside`` further addresses, any of which an attempt may take, ``keeping`` what the client does with its
        connections.
        """
        ...

    def crash(self, text: str, code: int, *, share: float) -> None:
        """While serving: a ``share`` of these requests kills the process after logging ``text``."""
        ...

    def log_per_request(self, template: str, *, share: float, low: float = 0.0, elapsed: float = 0.0) -> None:
        """While serving: a ``share`` of these requests writes this line (``{time}`` is its timestamp), ``elapsed`` seconds
        after it came.

        Which ones: requests are thought of as lying between 0 and 1, and those write it that lie from ``low`` on. So two
        lines of the same requests stand together, and an answer and an error do not.
        """
        ...

    def chance(self, name: str) -> float:
        """The next number in [0, 1) of this process's own stream."""
        ...


Command = Callable[[Any, Sequence[str], str], ExecResult]
"""A command that ``kubectl exec`` finds in a container: (context, argv, stdin) -> result."""


class Program(Protocol):
    """Stateless behaviour of one kind of executable.

    A few programs have more, which is looked for by its name where it is asked for: ``account``, the account that their images have
    for them (:mod:`~sregym_env.sim.containers.accounts`); ``title`` and ``kin``, what they call themselves and whom they have
    started (:mod:`~sregym_env.sim.programs.children`); ``entries`` and ``following``, files beside the image's and what their
    commands go on to print (:mod:`~sregym_env.sim.programs.toolbox`).
    """

    name: str

    def start(self, ctx: Context) -> None:
        """Begin a run: read configuration, connect, listen, log; or log and exit."""
        ...

    def wake(self, ctx: Context, reason: str) -> None:
        """Continue something that :meth:`Context.wake_in` deferred."""
        ...

    def serve(self, ctx: Context, call: Call, port: int) -> Flow:
        """What becomes of such calls arriving at ``port``. Must not change state."""
        ...

    def learned(self, ctx: Context, what: Any) -> None:
        """Remember what serving requests has taught it; programs that learn nothing are given nothing."""
        ...

    def attend(self, ctx: Context) -> tuple[tuple[float, str], ...]:
        """See to a connection over which it is given work (:data:`~sregym_env.sim.world.process.SUBSCRIPTION`); lines per second, and
        the line, that it writes while that is gone."""
        ...

    def request(self, ctx: Context, request: HttpRequest, port: int) -> HttpResponse | None:
        """Answer one HTTP request, or None where the port does not speak HTTP."""
        ...

    def typed(self, ctx: Context, text: str, port: int) -> str:
        """Answer what somebody types at a port that speaks no HTTP; empty for no answer."""
        ...

    def certificate(self, ctx: Context, port: int) -> str:
        """The certificate chain (PEM) presented on a port; empty where the port speaks no TLS."""
        ...

    def handshake_failed(self, ctx: Context, client: str, text: str) -> None:
        """A client (``ip:port``) gave up a TLS handshake; ``text`` is what Go's server would log."""
        ...

    def terminate(self, ctx: Context) -> tuple[float, int]:
        """On SIGTERM: seconds until it exits, and its exit code (143 if it does not handle the signal)."""
        ...

    def usage(self, ctx: Context, rates: Mapping[str, float]) -> Usage:
        """Resources used while serving ``rates`` requests per second per operation."""
        ...

    def capacity(self, ctx: Context) -> Capacity:
        """What bounds how much it serves."""
        ...

    @property
    def commands(self) -> Mapping[str, Command]:
        """Commands found beside the image's general toolbox."""
        ...
