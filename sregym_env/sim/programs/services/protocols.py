"""How a service is spoken to: what callers are told when it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sregym_env.sim.world.program import Call, Failure, Flow

UNAVAILABLE = "rpc error: code = Unavailable desc = "
HEALTH = "grpc.health.v1.Health/Check"
"""What gRPC's health service is asked."""
BRIEF = 0.0002
"""Seconds until a server has refused what it does not know."""


def grpc_code(failure: Failure) -> str:
    """The gRPC code a client sees for a failure."""
    text = failure.text
    if text.startswith("rpc error: code = "):
        return text[18:].partition(" ")[0]
    if failure.kind in ("timeout", "overload") and "deadline" in text:
        return "DeadlineExceeded"
    return "Unavailable"


def grpc_text(failure: Failure) -> str:
    """A transport failure as gRPC-Go reports it."""
    if grpc_code(failure) == "DeadlineExceeded":
        return "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
    return f'{UNAVAILABLE}connection error: desc = "transport: Error while dialing {failure.text}"'


class Wire(Protocol):
    """What callers are told."""

    def is_health(self, operation: str) -> bool:
        """Whether an operation is the protocol's own health check."""
        ...

    def unknown(self, call: Call, later: bool = False) -> Flow:
        """The answer to an operation that nothing serves, or only a ``later`` build."""
        ...

    def passed(self, failure: Failure, answer: str) -> Failure:
        """A failure as a handler that gives it back words it; ``answer`` is what it says instead, if anything."""
        ...

    def refused(self, answer: str) -> Failure:
        """A request that a handler refuses by itself."""
        ...

    def broken(self) -> Failure:
        """What callers see of a process that dies while it serves them."""
        ...


@dataclass(frozen=True, slots=True)
class Grpc:
    """gRPC."""

    def is_health(self, operation: str) -> bool:
        """``grpc.health.v1``."""
        return operation == HEALTH

    def unknown(self, call: Call, later: bool = False) -> Flow:
        """``Unimplemented``: the service, or of a service that is known the method."""
        service, _, method = call.operation.removeprefix("/").rpartition("/")
        said = self.unserved(service, method) if later else f"unknown service {service}"
        return Flow(0.0, BRIEF, ((Failure("error", f"rpc error: code = Unimplemented desc = {said}"), 1.0),))

    def unserved(self, service: str, method: str) -> str:
        """What a server says that knows the service and not the method: gRPC-Go."""
        return f"unknown method {method} for service {service}"

    def passed(self, failure: Failure, answer: str) -> Failure:
        """A status; what has none becomes one."""
        if answer:
            return Failure(failure.kind, UNAVAILABLE + answer)
        text = failure.text if failure.text.startswith("rpc error") else grpc_text(failure)
        return Failure(failure.kind, text)

    def refused(self, answer: str) -> Failure:
        """``Internal``."""
        return Failure("error", "rpc error: code = Internal desc = " + answer)

    def broken(self) -> Failure:
        """The connection ends."""
        return Failure("unavailable", UNAVAILABLE + "error reading from server: EOF")


@dataclass(frozen=True, slots=True)
class Http:
    """HTTP, in front of gRPC peers: errors become status 500 with their text."""

    def is_health(self, operation: str) -> bool:
        """A route like any other."""
        return False

    def unknown(self, call: Call, later: bool = False) -> Flow:
        """404."""
        return Flow(0.0, BRIEF, ((Failure("http", "404 page not found\n", 404), 1.0),))

    def passed(self, failure: Failure, answer: str) -> Failure:
        """500 with the error's text."""
        text = UNAVAILABLE + answer if answer else failure.text
        if not text.startswith("rpc error") and failure.kind != "http":
            text = grpc_text(failure)
        return Failure("http", text, 500)

    def refused(self, answer: str) -> Failure:
        """500."""
        return Failure("http", answer, 500)

    def broken(self) -> Failure:
        """The connection ends."""
        return Failure("unavailable", UNAVAILABLE + "error reading from server: EOF")


@dataclass(frozen=True, slots=True)
class Thrift:
    """Thrift: what a handler throws, its callers get in its words."""

    def is_health(self, operation: str) -> bool:
        """There are none."""
        return False

    def unknown(self, call: Call, later: bool = False) -> Flow:
        """``Invalid method name``."""
        return Flow(0.0, BRIEF, ((Failure("error", f"Invalid method name: '{call.operation}'"), 1.0),))

    def passed(self, failure: Failure, answer: str) -> Failure:
        """A ServiceException."""
        return Failure("error", answer or failure.text)

    def refused(self, answer: str) -> Failure:
        """A ServiceException."""
        return Failure("error", answer)

    def broken(self) -> Failure:
        """The connection ends."""
        return Failure("reset", "No more data to read.")


@dataclass(frozen=True, slots=True)
class Web:
    """HTTP whose handlers word their failures themselves: status 500 and a text."""

    def is_health(self, operation: str) -> bool:
        """A route like any other."""
        return False

    def unknown(self, call: Call, later: bool = False) -> Flow:
        """404, as nginx says it."""
        text = (
            "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>"
            "\r\n<hr><center>openresty</center>\r\n</body>\r\n</html>\r\n"
        )
        return Flow(0.0, BRIEF, ((Failure("http", text, 404), 1.0),))

    def passed(self, failure: Failure, answer: str) -> Failure:
        """500 with the handler's words."""
        text = answer.replace("{error}", failure.text) if answer else failure.text
        return Failure("http", text, 500)

    def refused(self, answer: str) -> Failure:
        """500."""
        return Failure("http", answer, 500)

    def broken(self) -> Failure:
        """The connection ends."""
        return Failure("reset", "EOF")
