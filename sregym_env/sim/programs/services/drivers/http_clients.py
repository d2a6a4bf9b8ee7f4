"""HTTP's clients: Go's ``net/http``, Node's ``fetch``, Rust's ``reqwest``, Python's ``openai``; and a server's resolver."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import Peer, only
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import FRESH, POOLED, Call, Failure, Flow

_ADDRESS = re.compile(r"dial tcp ([0-9a-fA-F.:\[\]]+:\d+)")


class _Client(Plain, ABC):
    patience = 0.0
    """Seconds that it waits for an answer; 0 for the transport's own."""
    keeping = POOLED

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """One request; every status beyond 299 is a failure."""
        host, port = only(ctx, peer)
        flow = ctx.call(
            host,
            port,
            Call(ask.operation),
            share=share,
            timeout=peer.timeout or self.patience,
            required=required(ask),
            keeping=self.keeping,
        )
        if not flow.failures:
            return flow
        lost: dict[Failure, float] = {}
        for failure, part in flow.failures:
            method, _, path = ask.operation.partition(" ")
            url = f"http://{host}:{port}{path}"
            told = Failure("error", self._worded(failure, method, url))
            lost[told] = lost.get(told, 0.0) + part
        return Flow(flow.ok, flow.latency, tuple(lost.items()))

    @abstractmethod
    def _worded(self, failure: Failure, method: str, url: str) -> str: ...


class GoHttp(_Client):
    """``net/http`` with OpenTelemetry's transport."""

    def _worded(self, failure: Failure, method: str, url: str) -> str:
        if failure.status:
            return f"expected 200, got {failure.status}"
        cause = "EOF" if failure.kind in ("reset", "unavailable") else failure.text
        return f'{method.capitalize()} "{url}": {cause}'


class NodeFetch(_Client):
    """undici's ``fetch``: the cause is not in the message."""

    def _worded(self, failure: Failure, method: str, url: str) -> str:
        if failure.status:
            return f"HTTP error! status: {failure.status}"
        found = _ADDRESS.search(failure.text)
        match failure.kind:
            case "no_port":
                cause = f"connect EADDRNOTAVAIL {found[1] if found else url}"
            case "refused":
                cause = f"connect ECONNREFUSED {found[1] if found else url}"
            case "no_such_host":
                cause = f"getaddrinfo ENOTFOUND {url.split('/')[2].partition(':')[0]}"
            case "dns_timeout":
                cause = f"getaddrinfo EAI_AGAIN {url.split('/')[2].partition(':')[0]}"
            case "timeout" | "overload":
                cause = "Headers Timeout Error"
            case _:
                cause = "other side closed"
        return f"fetch failed: {cause}"


class Reqwest(_Client):
    """``reqwest``; the services make a client, with a pool of its own, for every request."""

    keeping = FRESH

    def _worded(self, failure: Failure, method: str, url: str) -> str:
        if failure.status:
            return f"HTTP status {'server' if failure.status >= 500 else 'client'} error ({failure.status}) for url ({url})"
        causes = ""
        if failure.kind == "no_port":
            causes = (
                ": client error (Connect): tcp connect error: Cannot assign requested address (os error 99)"
            )
        return f"error sending request for url ({url}){causes}"


class OpenAiPython(_Client):
    """``openai`` for Python, which tries three times in all."""

    def _worded(self, failure: Failure, method: str, url: str) -> str:
        if failure.status == 429:
            return f"openai.RateLimitError: Error code: 429 - {failure.text}"
        if failure.status:
            return f"openai.InternalServerError: Error code: {failure.status}"
        if failure.kind in ("timeout", "overload"):
            return "openai.APITimeoutError: Request timed out."
        return "openai.APIConnectionError: Connection error."


class Resolver(Plain):
    """A server that looks a name up when it reads its configuration, and does not connect."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """It sends nothing that anybody waits for."""
        return Flow()

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Look the name up."""
        host, port = only(ctx, peer)
        leg = ctx.connect(host, port).legs[0]
        if leg.outcome in ("no_such_host", "dns_timeout"):
            return Failure("no_such_host", f'host not found in upstream "{host}:{port}"')
        return None


class Given(Plain):
    """No client at all: an address that a service wants to be told before it starts."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """It sends nothing."""
        return Flow()

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Look whether it has been told."""
        return None if only(ctx, peer)[0] else Failure("error", f'environment variable "{peer.name}" not set')
