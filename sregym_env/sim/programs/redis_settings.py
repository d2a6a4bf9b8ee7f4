"""What a Redis or Valkey server is told: its configuration file, its command line, and the defaults."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.sim.processes.context import ProcessContext

PORT = 6379
VERSION = "6.2.4"
"""The release that an image runs unless its binary says otherwise."""
SERVERS = ("redis-server", "valkey-server")
TITLES: Mapping[str, str] = {"redis": "Redis", "valkey": "Valkey"}
"""What servers call themselves, by program."""


def version(ctx: ProcessContext) -> str:
    """The release of the binary that runs."""
    binary = ctx.image.binaries.get(ctx.process.binary) or next(
        b for n, b in ctx.image.binaries.items() if n in SERVERS
    )
    return str(binary.settings or VERSION)


def options(ctx: ProcessContext) -> dict[str, str] | None:
    """What the file and the command line set; None where the server has ended because of them."""
    words = list(ctx.process.argv[1:])
    if words and words[0] in SERVERS:  # named to the image's entrypoint
        del words[0]
    found: dict[str, str] = {}
    if words and not words[0].startswith("-"):
        path = words.pop(0)
        try:
            text = ctx.read(path)
        except OSError:
            ctx.log(f"Fatal error, can't open config file '{path}': No such file or directory")
            ctx.exit(1)
            return None
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            name, _, rest = line.strip().partition(" ")
            if name.lower() not in KNOWN:
                ctx.log(
                    f"\n*** FATAL CONFIG FILE ERROR ({TITLES[ctx.process.program]} {version(ctx)}) ***\nReading the configuration file, at line "
                    f"{number}\n>>> '{line.strip()}'\nBad directive or wrong number of arguments"
                )
                ctx.exit(1)
                return None
            found[name.lower()] = rest.strip().strip('"')
    while words:
        name = words.pop(0).removeprefix("--").lower()
        values: list[str] = []
        while words and not words[0].startswith("--"):
            values.append(words.pop(0))
        found[name] = " ".join(values)
    return found


KNOWN = frozenset(
    "appendonly appendfilename appendfsync bind client-output-buffer-limit daemonize databases dbfilename dir "
    "hash-max-ziplist-entries hash-max-ziplist-value io-threads io-threads-do-reads list-max-ziplist-size loglevel "
    "logfile maxclients maxmemory maxmemory-policy pidfile port protected-mode rdbcompression requirepass save "
    "slowlog-log-slower-than slowlog-max-len stop-writes-on-bgsave-error supervised tcp-backlog tcp-keepalive timeout "
    "unixsocket".split()
)
"""Directives that it reads."""

DEFAULTS = {
    "appendonly": "no",
    "bind": "",
    "databases": "16",
    "dir": "/data",
    "io-threads": "1",
    "loglevel": "notice",
    "maxclients": "10000",
    "maxmemory": "0",
    "maxmemory-policy": "noeviction",
    "port": str(PORT),
    "protected-mode": "no",
    "requirepass": "",
    "save": "3600 1 300 100 60 10000",
    "tcp-keepalive": "300",
    "timeout": "0",
}
"""What holds where nothing is set."""


def option(ctx: ProcessContext, name: str) -> str:
    """What holds now: what was set last, else the default."""
    given: Mapping[str, str] = ctx.process.state.get("options", {})
    return given.get(name, DEFAULTS.get(name, ""))
