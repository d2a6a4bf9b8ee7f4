"""What the drivers of servers with sessions share: who a client is, and where it meant to go."""

from __future__ import annotations

from sregym_env.sim.processes.context import ProcessContext


def client(ctx: ProcessContext) -> str:
    """The identity of a process towards a server, ``pod-uid/container/restart``: its pooled connections die with it."""
    process = ctx.process
    return f"{process.key[0]}/{process.container}/{process.restart}"


def address(ctx: ProcessContext, host: str, port: int) -> str:
    """The IP address that ``host`` has for a client, a Service's where it is one; the name itself where it has none."""
    return next(iter(ctx.connect(host, port).resolution.addresses), host)
