"""``agnhost``: the test image of the Kubernetes project, as far as people use it to build and to probe things.

Subcommands: ``webhook``, ``crd-conversion-webhook``, ``netexec``, ``serve-hostname``, ``porter``, ``liveness``, ``pause``, ``connect``,
``dns-suffix``, ``dns-server-list``, ``etc-hosts`` and ``entrypoint-tester``. Behaviour and texts follow the
published image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sregym_env.cluster.streams import ExecResult
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.agnhost.commands import run
from sregym_env.sim.programs.agnhost.line import Invocation, parse, stamp, usage_text
from sregym_env.sim.programs.agnhost.servers import SERVERS, STARTERS
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.world.program import Command, HttpRequest, HttpResponse, Usage


class Agnhost(Quiet):
    """The executable. Which of its servers a process is follows from its command line."""

    name = "agnhost"

    def start(self, ctx: ProcessContext) -> None:
        """Serve, pause or run once, as the command line says."""
        ctx.set_memory(6 * MIB)
        if ctx.over_limit:
            return
        invocation = parse(ctx.process.argv)
        if invocation.problem:
            ctx.log(usage_text(invocation))
            ctx.exit(0, delay=0.05)
            return
        starter = STARTERS.get(invocation.command)
        if starter is not None:
            starter(ctx, invocation)
            return
        result = run(ctx, invocation)
        if result.text.strip("\n"):
            ctx.log(result.text)
        ctx.exit(result.exit_code, delay=0.05)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """One HTTP request to the server this process is."""
        invocation = parse(ctx.process.argv)
        server = SERVERS.get(invocation.command)
        return None if server is None else server(ctx, invocation, request, port)

    def certificate(self, ctx: ProcessContext, port: int) -> str:
        """The certificate that was loaded at start, on every port that speaks TLS."""
        return str(ctx.process.state.get("tls", {}).get(port, ""))

    def handshake_failed(self, ctx: ProcessContext, client: str, text: str) -> None:
        """Go's HTTP server logs it."""
        ctx.log(f"{stamp(ctx)} http: TLS handshake error from {client}: {text}")

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """On SIGTERM: ``serve-hostname`` waits for its pod's end, ``pause`` exits with 2, servers just die."""
        command = parse(ctx.process.argv).command
        if command == "serve-hostname":
            ctx.log(f"{stamp(ctx)} Shutting down after receiving signal: terminated.")
            ctx.log(f"{stamp(ctx)} Awaiting pod deletion.")
            return 60.0, 0
        # Process 1 survives the signal's default action, upon which Go's runtime exits with 2 instead.
        return 0.05, 2

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A milli-core at rest."""
        return Usage(0.001 + 0.0002 * sum(rates.values()), ctx.process.memory)

    @property
    def commands(self) -> Mapping[str, Command]:
        """``/agnhost`` itself, for ``kubectl exec``."""
        return {"/agnhost": _command}


def _command(ctx: ProcessContext, argv: Sequence[str], stdin: str) -> ExecResult:
    invocation = parse(argv)
    if invocation.problem:
        return ExecResult(stderr=usage_text(invocation))
    if invocation.command in STARTERS:
        return ExecResult(stderr="listen tcp: bind: address already in use\n", exit_code=1)
    return run(ctx, invocation)


__all__ = ["Agnhost", "Invocation", "parse"]
