"""gRPC's clients of other languages than Go: one connection per channel, and a status in each one's words."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.drivers.grpc_go import FAIL_FAST, GrpcGo
from sregym_env.sim.programs.services.peers import Peer, only
from sregym_env.sim.programs.services.protocols import grpc_code, grpc_text
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import Call, Failure, Flow

CODES = {
    "Canceled": (1, "CANCELLED"), "Unknown": (2, "UNKNOWN"), "InvalidArgument": (3, "INVALID_ARGUMENT"),
    "DeadlineExceeded": (4, "DEADLINE_EXCEEDED"), "NotFound": (5, "NOT_FOUND"), "PermissionDenied": (7, "PERMISSION_DENIED"),
    "ResourceExhausted": (8, "RESOURCE_EXHAUSTED"), "FailedPrecondition": (9, "FAILED_PRECONDITION"),
    "Unimplemented": (12, "UNIMPLEMENTED"), "Internal": (13, "INTERNAL"), "Unavailable": (14, "UNAVAILABLE"),
    "Unauthenticated": (16, "UNAUTHENTICATED"),
}  # fmt: skip
"""Status codes by their names in Go: their numbers and their names everywhere else."""

_ADDRESS = re.compile(r"dial tcp ([0-9a-fA-F.:\[\]]+:\d+)")
_HEAD = re.compile(r"rpc error: code = \w+ desc = ")


def described(failure: Failure) -> str:
    """What a server has said, without the code."""
    return _HEAD.sub("", failure.text, count=1)


class _Client(Plain, ABC):
    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """One RPC; calls fail fast while there is no connection."""
        host, port = only(ctx, peer)
        if not host:
            nowhere = self._status(14, "UNAVAILABLE", self._unresolved("", 0, False))
            return Flow(0.0, FAIL_FAST, ((Failure("unavailable", nowhere), 1.0),))
        flow = ctx.call(
            host, port, Call(ask.operation), share=share, timeout=peer.timeout, required=required(ask)
        )
        if not flow.failures:
            return flow
        dead = not flow.ok and all(leg.outcome != "ok" for leg in ctx.connect(host, port).legs)
        latency = min(flow.latency, FAIL_FAST) if dead else flow.latency
        lost: dict[Failure, float] = {}
        for failure, part in flow.failures:
            told = Failure(failure.kind, self._worded(failure, host, port), failure.status)
            lost[told] = lost.get(told, 0.0) + part
        return Flow(flow.ok, latency, tuple(lost.items()))

    def _worded(self, failure: Failure, host: str, port: int) -> str:
        number, name = CODES.get(grpc_code(failure), (2, "UNKNOWN"))
        if failure.text.startswith("rpc error"):
            return self._status(number, name, described(failure))
        if name == "DEADLINE_EXCEEDED":
            return self._status(number, name, self._late)
        match failure.kind:
            case "no_such_host" | "dns_timeout":
                return self._status(number, name, self._unresolved(host, port, failure.kind == "dns_timeout"))
            case "reset" | "unavailable":
                return self._status(number, name, self._cut)
        found = _ADDRESS.search(failure.text)
        return self._status(
            number,
            name,
            self._unconnected(found[1] if found else f"{host}:{port}", failure.kind == "timeout"),
        )

    _late = "Deadline exceeded"
    _cut = "Connection dropped"

    @abstractmethod
    def _status(self, number: int, name: str, text: str) -> str: ...

    @abstractmethod
    def _unresolved(self, host: str, port: int, slow: bool) -> str: ...

    @abstractmethod
    def _unconnected(self, address: str, slow: bool) -> str: ...


class GrpcJs(_Client):
    """``@grpc/grpc-js``."""

    def _status(self, number: int, name: str, text: str) -> str:
        return f"{number} {name}: {text}"

    def _unresolved(self, host: str, port: int, slow: bool) -> str:
        return f"Name resolution failed for target dns:{host}:{port}"

    def _unconnected(self, address: str, slow: bool) -> str:
        return f"No connection established. Last error: connect {'ETIMEDOUT' if slow else 'ECONNREFUSED'} {address}"


class GrpcPython(_Client):
    """``grpcio``."""

    _cut = "Socket closed"

    def _status(self, number: int, name: str, text: str) -> str:
        return (
            "<_InactiveRpcError of RPC that terminated with:\n"
            f'\tstatus = StatusCode.{name}\n\tdetails = "{text}"\n'
            f'\tdebug_error_string = "UNKNOWN:Error received from peer  {{grpc_status:{number}, grpc_message:"{text}"}}"\n>'
        )

    def _unresolved(self, host: str, port: int, slow: bool) -> str:
        cause = "Timeout while contacting DNS servers" if slow else "Domain name not found"
        return (
            f"DNS resolution failed for {host}:{port}: C-ares status is not ARES_SUCCESS qtype=A name={host} "
            f"is_balancer=0: {cause}"
        )

    def _unconnected(self, address: str, slow: bool) -> str:
        cause = (
            "FD Shutdown" if slow else "Failed to connect to remote host: connect: Connection refused (111)"
        )
        return f"failed to connect to all addresses; last error: UNKNOWN: ipv4:{address}: {cause}"


class GrpcGoStatus(GrpcGo):
    """``grpc-go``, for handlers that put a status of their own around the one that they were told."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """What becomes of an RPC; every failure is a status."""
        flow = GrpcGo.send(self, ctx, peer, ask, share)
        lost: dict[Failure, float] = {}
        for failure, part in flow.failures:
            told = (
                failure if failure.text.startswith("rpc error") else Failure(failure.kind, grpc_text(failure))
            )
            lost[told] = lost.get(told, 0.0) + part
        return Flow(flow.ok, flow.latency, tuple(lost.items()))
