"""One service, put together: what a binary of an image is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.services.peers import Peer
from sregym_env.sim.programs.services.protocols import Wire
from sregym_env.sim.programs.services.runtimes import Runtime
from sregym_env.sim.programs.services.steps import NOTICED, Compute, Handler, Open, Pass, Start


@dataclass(frozen=True, slots=True)
class Always:
    """A body that is the same whatever is asked. A value, so that the worlds that hold it can be pickled."""

    text: str

    def __call__(self, given: Mapping[str, str]) -> str:
        """The body."""
        return self.text


@dataclass(frozen=True, slots=True)
class Route:
    """A path of an HTTP service: checks what it is given, then is served as an operation."""

    path: str
    """As it is asked for; a part in braces, as in ``/api/products/{productId}``, stands for any one part, and a last part
    ``{*}`` for any rest."""
    check: Callable[[Mapping[str, str]], str]
    """The text of a 400 answer, or an empty string."""
    answer: Callable[[Mapping[str, str]], str]
    """The body of a 200 answer."""
    methods: Mapping[str, str] = field(default_factory=dict)
    """Operation by HTTP method; other methods behave as GET."""

    def serves(self, path: str) -> bool:
        """Whether a path is this one."""
        if "{" not in self.path:
            return path == self.path
        own, given = self.path.split("/"), path.split("/")
        if own[-1] == "{*}":
            own, given = own[:-1], given[: len(own) - 1]
        return len(own) == len(given) and all(
            mine.startswith("{") or mine == yours for mine, yours in zip(own, given, strict=True)
        )

    def operation(self, method: str) -> str:
        """What a request of a method is served as."""
        return self.methods.get(method) or self.methods.get("GET") or next(iter(self.methods.values()))


@dataclass(frozen=True, slots=True)
class Limiter:
    """A paced worker behind a bounded queue, set by the environment; none without the variables."""

    rate: str
    """Variable of the requests per second."""
    queue: str
    """Variable of how many wait."""


@dataclass(frozen=True)
class ServiceSettings:
    """One service of an application."""

    name: str
    runtime: Runtime
    wire: Wire
    memory: int
    """Resident memory at rest, bytes."""
    start: tuple[Start, ...]
    handlers: tuple[Handler, ...]
    peers: tuple[Peer, ...] = ()
    routes: tuple[Route, ...] = ()
    metrics: tuple[int, ...] = ()
    """Ports that serve ``/metrics`` alone."""
    constant: Mapping[str, str] = field(default_factory=dict)
    """Configuration values compiled in, which the file cannot change."""
    limiter: Limiter | None = None
    burns: tuple[tuple[Peer, str, float], ...] = ()
    """(who knows the flags, feature flag, cores): CPU that it burns while a flag is on."""
    ill: tuple[Peer, str] | None = None
    """(who knows the flags, feature flag) by which its health check says that it does not serve."""
    leak: float = 0.0
    """Bytes that every served request leaves behind for good."""
    slips: bool = False
    """Whether it ends before it listens, by a mistake in its program."""
    lacks: tuple[str, ...] = ()
    """Operations that only later builds serve."""
    health: bool = False
    """Whether it answers its protocol's health checks."""

    @cached_property
    def by_operation(self) -> Mapping[str, Handler]:
        """Handlers by what they serve."""
        return {handler.operation: handler for handler in self.handlers}

    @cached_property
    def by_peer(self) -> Mapping[str, Peer]:
        """Peers by the name that steps use."""
        return {peer.name: peer for peer in self.peers}

    @property
    def opens_after(self) -> float:
        """Seconds from its start until it listens, where nothing keeps it waiting; 0 where that is no time to speak of."""
        passed = 0.0
        for step in self.start:
            if isinstance(step, Open):
                return passed if passed >= NOTICED else 0.0
            passed += step.seconds if isinstance(step, Pass) else 0.0
        return 0.0

    def handler(self, operation: str) -> Handler | None:
        """What serves an operation; None where nothing does."""
        found = self.by_operation.get(operation)
        if found is None and self.routes:
            method, _, path = operation.partition(" ")
            route = next((route for route in self.routes if route.serves(path)), None)
            found = None if route is None else self.by_operation.get(route.operation(method))
        return None if found is None or found.operation in self.lacks else found

    def cpu(self, operation: str) -> float:
        """CPU seconds of a request's own work, and of asking others for their part."""
        handler = self.handler(operation)
        steps = () if handler is None else handler.steps
        return sum(step.seconds if isinstance(step, Compute) else self.runtime.per_step for step in steps)


def settings_of(ctx: ProcessContext) -> ServiceSettings:
    """The service that a process runs."""
    found = ctx.image.binaries[ctx.process.binary].settings
    assert isinstance(found, ServiceSettings)
    return found
