"""``mgo``: MongoDB from Go."""

from __future__ import annotations

from sregym_env.runtime.clock import SECOND
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import mongo_server
from sregym_env.sim.programs.services.drivers.driver import Plain, required
from sregym_env.sim.programs.services.peers import Peer, credentials, only
from sregym_env.sim.programs.services.steps import Ask
from sregym_env.sim.world.program import POOLED, Call, Failure, Flow

DIAL_TIMEOUT = 10.0
"""Seconds mgo looks for a reachable server before it gives up."""
NOBODY = Failure("no_such_host", "no reachable servers")

_BODY = {
    "insert": "ordered: true, writeConcern: { getLastError: 1 }, ",
    "find": "filter: {}, ",
}
"""What the driver sends with a command, as the server quotes it when it refuses."""


class Mgo(Plain):
    """Whatever keeps it from a server it words as "no reachable servers"."""

    def send(self, ctx: ProcessContext, peer: Peer, ask: Ask, share: float) -> Flow:
        """One command on a collection."""
        host, port = only(ctx, peer)
        if not host:
            return Flow(0.0, 0.0, ((NOBODY, 1.0),))
        call = _command(ctx, peer, ask.operation, ask.of, _BODY.get(ask.operation, ""))
        flow = ctx.call(
            host, port, call, share=share, timeout=DIAL_TIMEOUT, required=required(ask), keeping=POOLED
        )
        if all(failure.kind in ("auth", "denied") for failure, _ in flow.failures):
            return flow
        lost = tuple(
            (
                failure if failure.kind in ("auth", "denied") else Failure(failure.kind, NOBODY.text),
                part,
            )
            for failure, part in flow.failures
        )
        return Flow(flow.ok, flow.latency, lost)

    def reach(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Dial and log in; a refused login is told at once, everything else is tried again."""
        host, port = only(ctx, peer)
        if not host:
            return NOBODY
        call = Call("connect", credentials(ctx, peer.account))
        failure = ctx.ask(host, port, call, DIAL_TIMEOUT)
        if failure is None or failure.kind == "auth":
            _note_login(ctx, host, port, call, refused=failure is not None)
        return failure if failure is None or failure.kind == "auth" else Failure(failure.kind, NOBODY.text)

    def fill(self, ctx: ProcessContext, peer: Peer) -> Failure | None:
        """Look for the first document of each collection, then insert what is missing."""
        host, port = only(ctx, peer)
        server = ctx.peer(host, port)
        mongod = server if server is not None and server.process.program == "mongod" else None
        for data in peer.data:
            first = data.documents[0].get(data.key, "") if data.documents else ""
            for operation, body in (
                ("count", f'query: {{ {data.key}: "{first}" }}, '),
                ("insert", _BODY["insert"]),
            ):
                call = _command(ctx, peer, operation, data.collection, body)
                failure = ctx.ask(host, port, call, DIAL_TIMEOUT)
                if failure is not None:
                    if server is not None and failure.kind == "denied":
                        mongo_server.log_unauthorised(server, failure.text, connected=True)
                    return failure
            if mongod is not None:
                try:
                    mongo_server.insert_if_absent(
                        mongod, peer.database, data.collection, data.documents, data.key
                    )
                except OSError:
                    return Failure("reset", "EOF")
        return None


def _command(ctx: ProcessContext, peer: Peer, operation: str, collection: str, body: str) -> Call:
    names = (("database", peer.database), ("collection", collection))
    return Call(operation, (*credentials(ctx, peer.account), *names, ("body", body)))


def _note_login(ctx: ProcessContext, host: str, port: int, call: Call, refused: bool) -> None:
    """The lines that a connection leaves in the log of the server."""
    server = ctx.peer(host, port)
    if server is None or server.process.program != "mongod":
        return
    # From the time: a port number is not worth a draw of chance.
    remote = ("remote", f"{ctx.process.ip}:{36000 + ctx.now() // SECOND % 20000}")
    call = Call("connect", (*call.attributes, remote))
    if not refused:
        mongo_server.log_login(server, call)
        return
    user, source = call.attribute("user"), call.attribute("source")
    unknown = mongo_server.stored_or_empty(server).account(user, source) is None
    mongo_server.log_refused_login(server, call, unknown)
