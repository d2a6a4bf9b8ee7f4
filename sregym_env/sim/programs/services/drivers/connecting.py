"""What the drivers of servers with sessions share: who a client is, and where it meant to go."""

from __future__ import annotations

from math import inf

from sregym_env.kube.quantity import milli
from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.services.peers import Peer
from sregym_env.sim.programs.services.values import config


def client(ctx: ProcessContext) -> str:
    """The identity of a process towards a server, ``pod-uid/container/restart``: its pooled connections die with it."""
    process = ctx.process
    return f"{process.key[0]}/{process.container}/{process.restart}"


def workers(ctx: ProcessContext) -> int:
    """Processes or threads of a server that starts one for every core of its machine."""
    machine = ctx.world.store.get("nodes", "", ctx.process.node)
    cpu = "1" if machine is None else str(machine["status"]["capacity"].get("cpu", "1"))
    return max(milli(cpu) // 1000, 1)


def lives(ctx: ProcessContext, peer: Peer) -> float:
    """Seconds after which the C++ services' pools close a connection to a peer, as their configuration says."""
    found = config(ctx).get(f"{peer.name}.keepalive_ms", "")
    return whole(str(found), 0) / 1000 or inf


def address(ctx: ProcessContext, host: str, port: int) -> str:
    """The IP address that ``host`` has for a client, a Service's where it is one; the name itself where it has none."""
    return next(iter(ctx.connect(host, port).resolution.addresses), host)
