"""What a Redis or Valkey server is told: its configuration file, its command line, and the defaults."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.runtime.numbers import is_whole, whole
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
    number = 1  # nothing, where no file is named
    if words and not words[0].startswith("-"):
        path = words.pop(0)
        try:
            text = ctx.read(path)
        except OSError:
            ctx.log(f"Fatal error, can't open config file '{path}': No such file or directory")
            ctx.exit(1)
            return None
        number = 0
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            name, _, rest = line.strip().partition(" ")
            if wrong := _wrong(name.lower(), rest.strip().strip('"')):
                _refuse(ctx, number, line.strip(), wrong)
                return None
            found[name.lower()] = rest.strip().strip('"')
        number += 1
    while words:
        name = words.pop(0).removeprefix("--").lower()
        values: list[str] = []
        while words and not words[0].startswith("--"):
            values.append(words.pop(0))
        number += 1
        if wrong := _wrong(name, " ".join(values)):
            _refuse(ctx, number, " ".join((name, *(f'"{each}"' for each in values))), wrong)
            return None
        found[name] = " ".join(values)
    return found


def _refuse(ctx: ProcessContext, number: int, line: str, wrong: str) -> None:
    """End the server over a line of its configuration: options are lines behind those of the file."""
    title = f"{TITLES[ctx.process.program]} {version(ctx)}"
    ctx.log(
        f"\n*** FATAL CONFIG FILE ERROR ({title}) ***\nReading the configuration file, at line {number}\n"
        f">>> '{line}'\n{wrong}"
    )
    ctx.exit(1)


def _wrong(name: str, text: str) -> str:
    """Why a directive is none; empty where it is one."""
    return unfit(name, text) if name in KNOWN else "Bad directive or wrong number of arguments"


def unfit(name: str, text: str) -> str:
    """Why a value does not fit a setting; empty where it does."""
    if name == "maxmemory-policy" and text not in POLICIES:
        return f"argument(s) must be one of the following: {', '.join(POLICIES)}"
    digits = text.lower().removesuffix("b").rstrip("kmg")
    if name == "maxmemory" and not (is_whole(digits) and len(digits) < 15):
        return "argument must be a memory value"
    if name in RANGES:
        least, most = RANGES[name]
        if not is_whole(text):
            return "argument couldn't be parsed into an integer"
        if not least <= whole(text, most + 1) <= most:
            return f"argument must be between {least} and {most} inclusive"
    return ""


POLICIES = (
    "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "allkeys-lru", "allkeys-lfu", "allkeys-random",
    "noeviction",
)  # fmt: skip
_INT = 2**31 - 1
RANGES: Mapping[str, tuple[int, int]] = {
    "databases": (1, _INT), "io-threads": (1, 128), "latency-monitor-threshold": (0, 2**63 - 1), "maxclients": (1, 2**32 - 1), "port": (0, 65535),
    "slowlog-max-len": (0, 2**63 - 1), "tcp-backlog": (0, _INT), "tcp-keepalive": (0, _INT), "timeout": (0, _INT),
}  # fmt: skip
"""The least and the most of settings that are numbers."""

KNOWN = frozenset(
    "appendonly appendfilename appendfsync bind client-output-buffer-limit daemonize databases dbfilename dir "
    "hash-max-ziplist-entries hash-max-ziplist-value io-threads io-threads-do-reads latency-monitor-threshold list-max-ziplist-size loglevel "
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
    "latency-monitor-threshold": "0",
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
