"""MQTT: ``mosquitto``, a broker, and ``emqtt_bench``, which stands for a fleet of devices and keeps a connection for each.

What the bench prints of every second is rendered when somebody reads the log: from what the kernels have let it open
(:mod:`sregym_env.sim.network.conntrack`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.sim.network import conntrack
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.world.logs import Line
from sregym_env.sim.world.program import Holding, Usage

PORT = 1883
CONFIG = "/mosquitto/config/mosquitto.conf"
LARGEST = 200_000
"""Characters of a configuration that are read."""
KEPT_SECONDS = 300
"""Seconds of which the bench's lines are rendered."""
DEFAULTS: Mapping[str, str] = {"h": "localhost", "p": str(PORT), "c": "200", "i": "10"}
"""What ``emqtt_bench conn`` takes for granted: host, port, number of clients, milliseconds between two of them."""
LONG: Mapping[str, str] = {"host": "h", "port": "p", "count": "c", "interval": "i"}


def _whole(text: str, default: int, most: int = 10**9) -> int:
    return min(whole(text, default, 11), most)


class Mosquitto(Quiet):
    """The broker; ``settings`` of its binary are its version."""

    name = "mosquitto"

    def start(self, ctx: ProcessContext) -> None:
        """Read the configuration and listen."""
        ctx.set_memory(6 * MIB)
        if ctx.over_limit:
            return
        argv = ctx.process.argv
        path = argv[argv.index("-c") + 1] if "-c" in argv[:-1] else ""
        text = ""
        try:
            text = ctx.read(path)[:LARGEST] if path else ""
        except OSError:
            _say(ctx, f"Error: Unable to open config file '{path}'.")
            ctx.exit(3)
            return
        said = _settings(text)
        port = _whole(said.get("listener", "").partition(" ")[0], PORT, 65535)
        binary = ctx.image.binaries.get(ctx.process.binary)
        version = "2.0.20" if binary is None or not isinstance(binary.settings, str) else binary.settings
        _say(ctx, f"mosquitto version {version} starting")
        _say(ctx, f"Config loaded from {path}." if path else "Using default config.")
        if "listener" not in said:
            _say(
                ctx,
                "Starting in local only mode. Connections will only be possible from clients running on this machine.",
            )
        try:
            if "listener" in said:
                ctx.listen(port)
        except OSError:
            _say(ctx, "Error: Address already in use")
            ctx.exit(1)
            return
        _say(ctx, f"Opening ipv4 listen socket on port {port}.")
        _say(ctx, f"mosquitto version {version} running")
        # A negative number is how the broker writes that there is no bound.
        ctx.update(most=_whole(said.get("max_connections", "-1"), 10**9))

    def accepts(self, ctx: ProcessContext) -> int:
        """How many connections it takes: ``max_connections``."""
        return int(ctx.process.state.get("most", 0))

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """Hardly anything: most of its clients are silent."""
        return Usage(0.004, ctx.process.memory)


def _settings(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.strip().partition(" ")
        if name and not name.startswith("#"):
            found[name] = value.strip()
    return found


def _say(ctx: ProcessContext, text: str) -> None:
    ctx.log(f"{ctx.wall() // SECOND}: {text}")


class EmqttBench(Quiet):
    """``emqtt_bench conn``: opens a connection every so often until it has as many as it was told, and keeps them."""

    name = "emqtt_bench"

    def start(self, ctx: ProcessContext) -> None:
        """Read the command line."""
        ctx.set_memory(64 * MIB)
        if ctx.over_limit:
            return
        argv = ctx.process.argv
        if "conn" not in argv:
            ctx.log("Usage: emqtt_bench pub | sub | conn [--help]")
            ctx.exit(1)
            return
        said = {**DEFAULTS, **_options(argv)}
        every = max(_whole(said["i"], 10), 1)
        ctx.log(
            f"Start with {_cores(ctx)} workers, addrs pool size: 1 and req interval: {every * _cores(ctx)} ms "
        )
        ctx.update(
            host=said["h"][:2000],
            port=_whole(said["p"], PORT, 65535),
            count=_whole(said["c"], 200),
            every=every,
        )

    def holds(self, ctx: ProcessContext) -> Holding | None:
        """What it opens."""
        state = ctx.process.state
        if "count" not in state:
            return None
        return Holding(state["host"], state["port"], 1000.0 / state["every"], state["count"])

    def lines(self, ctx: ProcessContext, since: int, limit: int | None = None) -> list[Line]:
        """What was printed at or after ``since``, the end only where there is a ``limit``: what each second has brought."""
        process = ctx.process
        state = process.state
        if "count" not in state:
            return []
        knots = [
            knot
            for knot in conntrack.held(ctx.world, "/".join(process.key))
            if knot.time >= process.started_at
        ]
        rate = 1000.0 / state["every"]
        last = (ctx.now() - process.started_at) // SECOND
        first = max(1, -(-(since - process.started_at) // SECOND), last - KEPT_SECONDS)
        found: list[Line] = []
        for second in range(last, first - 1, -1):
            time = process.started_at + second * SECOND
            knot = next((each for each in reversed(knots) if each.time <= time), None)
            if knot is None:
                break
            total, new = int(knot.at(time)), knot.slope
            if knot.full:
                lost = int((time - knot.time) / SECOND * rate)
                found.append(Line(time, f"{second}s connection_timeout total={lost} rate={rate:.2f}/sec"))
            elif new > 0.0:
                found.append(Line(time, f"{second}s connect_succ total={total} rate={new:.2f}/sec"))
            if limit is not None and len(found) >= limit:
                break
        return found[::-1]

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Its last lines go into the stored log; its connections end with it."""
        process = ctx.process
        log = ctx.world.log((process.key[0], process.container, process.restart))
        for line in self.lines(ctx, 0):
            log.write(line.time, line.text)
        return 0.3, 143

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A few hundredths of a core for what its connections need to be kept."""
        return Usage(0.02, ctx.process.memory)


def _cores(ctx: ProcessContext) -> int:
    return max(1, round(ctx.process.cpu_limit or 4))


def _options(argv: Sequence[str]) -> dict[str, str]:
    """The options that matter here, by their letters."""
    found: dict[str, str] = {}
    for index, word in enumerate(argv):
        name, equals, value = word.partition("=")
        letter = (
            LONG.get(name[2:], "") if name.startswith("--") else name[1:2] if name.startswith("-") else ""
        )
        if letter not in DEFAULTS:
            continue
        if not name.startswith("--") and len(word) > 2:
            value, equals = word[2:], "="
        found[letter] = value if equals else "".join(argv[index + 1 : index + 2])
    return found
