"""Locust: so many users that do something every now and then, with a web UI that shows how they fare.

It offers the application's journeys at the rate at which its users come to ask. Its statistics are rendered from the
history of the traffic, so a steady load costs no events.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.world.history import history
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import Call, Flow, HttpRequest, HttpResponse, Usage

_TARGET = re.compile(r"https?://([A-Za-z0-9_.-]+):?(\d+)?")


@dataclass(frozen=True, slots=True)
class Settings:
    """A locustfile: how often a user asks for something."""

    user_class: str = "WebsiteUser"
    wait: float = 5.5
    """Mean seconds between two tasks of a user (``between(1, 10)``)."""
    requests: float = 1.0
    """Mean number of requests of a task."""
    memory: int = 220 * MIB
    version: str = "2.42.6"


class Locust(Quiet):
    """The tool with its web UI; ``settings`` of its binary hold the locustfile."""

    name = "locust"

    def start(self, ctx: ProcessContext) -> None:
        """Read ``LOCUST_*``, serve the UI, and spawn the users if nobody has to press the button."""
        settings, env = _settings(ctx), ctx.process.env
        ctx.set_memory(settings.memory)
        if ctx.over_limit:
            return
        if wrong := _unread(env):
            ctx.log(f"usage: locust [options] [UserClass ...]\nlocust: error: {wrong}")
            ctx.exit(2)
            return
        port = whole(env.get("LOCUST_WEB_PORT", "8089"), 8089)
        target = _TARGET.match(env.get("LOCUST_HOST", ""))
        users, spawn = (
            _number(env.get("LOCUST_USERS", "1"), 1.0),
            _number(env.get("LOCUST_SPAWN_RATE", "1"), 1.0),
        )
        try:
            ctx.listen(port)
        except OSError:
            _say(
                ctx,
                "ERROR",
                "locust.webui",
                f"OSError: [Errno 98] Address already in use: ('0.0.0.0', {port})",
            )
            ctx.exit(1)
            return
        _say(ctx, "INFO", "locust.main", f"Starting Locust {settings.version}")
        shown = env.get("LOCUST_WEB_HOST", "0.0.0.0")
        _say(
            ctx,
            "INFO",
            "locust.main",
            f"Starting web interface at http://{shown}:{port}, press enter to open your default browser.",
        )
        if target is None or not _true(env.get("LOCUST_AUTOSTART", "false")):
            return
        _say(
            ctx, "INFO", "locust.runners", f"Ramping to {users:.0f} users at a rate of {spawn:.2f} per second"
        )
        _say(ctx, "INFO", "locust.runners",
             f'All users spawned: {{"{settings.user_class}": {users:.0f}}} ({users:.0f} total users)',
             delay=users / max(spawn, 0.01))  # fmt: skip
        ctx.update(host=target[1], port=int(target[2] or 80), users=users)

    def offers(self, ctx: ProcessContext) -> tuple[tuple[str, float, str, int, Call], ...]:
        """The journeys of the application, each at its share of what the users ask."""
        state, app = ctx.process.state, ctx.world.app
        if app is None or "users" not in state:
            return ()
        settings = _settings(ctx)
        rate = state["users"] * settings.requests / settings.wait
        return tuple(
            (
                journey.name,
                rate * journey.weight,
                state["host"],
                state["port"],
                Call(f"{journey.method} {journey.path.partition('?')[0]}"),
            )
            for journey in app.at(ctx.process.namespace).journeys
        )

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """The web UI."""
        return Flow(1.0, 0.003)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """The web UI: ``/`` and the statistics behind it."""
        path = request.path.partition("?")[0]
        if path == "/":
            return HttpResponse(200, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Locust</title></head></html>\n",
                                {"Content-Type": "text/html; charset=utf-8"}, 0.004)  # fmt: skip
        if path == "/stats/requests":
            return HttpResponse(200, orjson.dumps(_statistics(ctx)).decode() + "\n",
                                {"Content-Type": "application/json"}, 0.004)  # fmt: skip
        if path == "/stats/reset":
            ctx.update(since=ctx.now())
            return HttpResponse(200, "ok", {"Content-Type": "text/html; charset=utf-8"}, 0.002)
        return HttpResponse(404, "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n",
                            {"Content-Type": "text/html; charset=utf-8"}, 0.002)  # fmt: skip

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Quit the users, and exit with the code for requests that have failed, if any."""
        _say(ctx, "INFO", "locust.main", "Got SIGTERM signal")
        _say(ctx, "INFO", "locust.main", "Shutting down (exit code 0)")
        return 0.3, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A millisecond of CPU per request sent."""
        users = float(ctx.process.state.get("users", 0.0))
        settings = _settings(ctx)
        return Usage(0.004 + 0.001 * users * settings.requests / settings.wait, ctx.process.memory)


def _settings(ctx: ProcessContext) -> Settings:
    binary = ctx.image.binaries.get(ctx.process.binary)
    found = None if binary is None else binary.settings
    return found if isinstance(found, Settings) else Settings()


def _unread(env: Mapping[str, str]) -> str:
    """What the parser of its arguments, which also reads the environment, says of numbers that are none; empty if all are."""
    for variable, argument, kind in (
        ("LOCUST_WEB_PORT", "--web-port/-P", "int"),
        ("LOCUST_USERS", "-u/--users", "int"),
        ("LOCUST_SPAWN_RATE", "-r/--spawn-rate", "float"),
    ):
        text = env.get(variable, "1").strip()
        if text and not (_FLOAT if kind == "float" else _INT).fullmatch(text):
            return f"argument {argument}: invalid {kind} value: '{text}'"
    return ""


_INT = re.compile(r"[+-]?\d{1,12}", re.ASCII)
_FLOAT = re.compile(r"[+-]?(\d{1,12}(\.\d{0,12})?|\.\d{1,12})(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)


def _number(text: str, default: float) -> float:
    try:
        return min(max(float(text), 0.0), 100_000.0)
    except ValueError:
        return default


def _true(text: str) -> bool:
    return text.lower() in ("true", "1", "yes", "on")


def _say(ctx: ProcessContext, level: str, name: str, text: str, *, delay: float = 0.0) -> None:
    """``[2026-08-06 12:00:00,123] load-generator-6d9f/INFO/locust.main: text``."""
    head = stamped("[{time|%Y-%m-%d %H:%M:%S,%L}]", ctx.wall() + round(delay * SECOND))
    ctx.log(f"{head} {ctx.process.hostname}/{level}/{name}: {text}", delay=delay)


def _statistics(ctx: ProcessContext) -> dict[str, object]:
    """What ``/stats/requests`` shows since the process began or the last reset."""
    app, state = ctx.world.app, ctx.process.state
    since = max(int(state.get("since", 0)), ctx.process.started_at)
    span = max((ctx.now() - since) / SECOND, 1.0)
    kinds = {
        journey.name: (journey.method, journey.path.partition("?")[0])
        for journey in (app.at(ctx.process.namespace).journeys if app else ())
    }
    others = {journey.name for journey in (app.journeys if app else ())} - {*kinds}
    sums: dict[str, list[float]] = {name: [0.0, 0.0, 0.0] for name in kinds}
    errors: dict[tuple[str, str], float] = {}
    until = ctx.now()
    for segment in history(ctx.world).newest_first():
        begun = max(segment.start, since)
        if begun < until:
            for journey in segment.journeys:
                if journey.name in others:
                    continue
                sent = journey.rate * (until - begun) / SECOND
                total = sums.setdefault(journey.name, [0.0, 0.0, 0.0])
                total[0] += sent
                total[1] += sent * (1.0 - journey.ok)
                total[2] += sent * journey.latency
                for text, share in journey.errors:
                    errors[journey.name, text] = errors.get((journey.name, text), 0.0) + sent * share
            until = begun
        if segment.start <= since:
            break
    rows = [_row(*kinds.get(name, ("GET", name)), total, span) for name, total in sums.items()]
    everything = [sum(total[index] for total in sums.values()) for index in range(3)]
    return {
        "stats": [*rows, _row("", "Aggregated", everything, span)],
        "errors": [
            {"method": kinds[name][0], "name": kinds[name][1], "error": text, "occurrences": round(count)}
            for (name, text), count in errors.items()
            if name in kinds and count >= 0.5
        ],
        "total_rps": round(everything[0] / span, 3),
        "fail_ratio": round(everything[1] / everything[0], 5) if everything[0] else 0.0,
        "user_count": round(float(state.get("users", 0.0))),
        "state": "running" if "users" in state else "ready",
    }


def _row(method: str, name: str, total: list[float], span: float) -> dict[str, object]:
    sent, failed, waited = total
    mean = waited / sent * 1000 if sent else 0.0
    return {
        "method": method or None,
        "name": name,
        "num_requests": round(sent),
        "num_failures": round(failed),
        "avg_response_time": round(mean, 3),
        # The history knows means; the spread around them is assumed.
        "median_response_time": round(mean * 0.86),
        "response_time_percentile_0.95": round(mean * 2.0),
        "current_rps": round(sent / span, 3),
        "current_fail_per_sec": round(failed / span, 3),
    }
