"""The subcommands of agnhost that end by themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import parse_duration
from sregym_env.sim.network import connections, dns
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import toolbox
from sregym_env.sim.programs.agnhost.line import SUBCOMMANDS, Invocation, usage_text


def run(ctx: ProcessContext, invocation: Invocation) -> ExecResult:
    """Run a subcommand that ends by itself."""
    runner = _RUNNERS.get(invocation.command)
    if runner is None:
        return ExecResult("Usage:\n  app [command]\n\nAvailable Commands:\n" + _COMMANDS)
    return runner(ctx, invocation)


_COMMANDS = "".join(f"  {name}\n" for name in SUBCOMMANDS)


def _connect(ctx: ProcessContext, invocation: Invocation) -> ExecResult:
    if len(invocation.words) != 1:
        text = f"accepts 1 arg(s), received {len(invocation.words)}"
        return ExecResult(stderr=usage_text(invocation._replace(problem=text)))
    target = invocation.words[0]
    host, colon, port = target.rpartition(":")
    if not colon:
        return ExecResult(stderr=f"UNKNOWN: address {target}: missing port in address\n", exit_code=1)
    if not port.isdecimal():
        return ExecResult(stderr=f"DNS: lookup tcp/{port}: unknown port\n", exit_code=1)
    host = host.strip("[]")
    connection = ctx.connect(host or "127.0.0.1", int(port))
    legs = connection.legs
    leg = legs[0] if len(legs) == 1 else connections.pick(connection, ctx.chance("dial"))
    if leg.outcome == "ok":
        return ExecResult()
    if leg.outcome in ("no_such_host", "dns_timeout"):
        return ExecResult(stderr=f"DNS: {leg.text.removeprefix('dial tcp: ')}\n", exit_code=1)
    if leg.outcome == "refused":
        return ExecResult(stderr="REFUSED\n", exit_code=1)
    if "no route to host" in leg.text and leg.latency * 1e9 < _limit(invocation):
        return ExecResult(stderr=f"OTHER: {leg.text}\n", exit_code=1)
    return ExecResult(stderr="TIMEOUT\n", exit_code=1)


def _limit(invocation: Invocation) -> float:
    """Nanoseconds that ``connect`` waits."""
    try:
        return parse_duration(invocation.flags["timeout"]) or float("inf")
    except ValueError:
        return float("inf")


def _resolver_line(ctx: ProcessContext, key: str) -> ExecResult:
    found = dns.resolv_conf(ctx.world, ctx.process)
    words = found.searches if key == "search" else found.nameservers
    return ExecResult(",".join(words) + "\n")


def _hosts(ctx: ProcessContext, invocation: Invocation) -> ExecResult:
    return toolbox.container_shell(ctx).call(["cat", "/etc/hosts"])


def _arguments(ctx: ProcessContext, invocation: Invocation) -> ExecResult:
    return ExecResult(f"[{' '.join(['/agnhost', invocation.command, *invocation.words])}]\n")


_RUNNERS: Mapping[str, Callable[[ProcessContext, Invocation], ExecResult]] = {
    "connect": _connect,
    "dns-suffix": lambda ctx, _: _resolver_line(ctx, "search"),
    "dns-server-list": lambda ctx, _: _resolver_line(ctx, "nameservers"),
    "etc-hosts": _hosts,
    "entrypoint-tester": _arguments,
}
