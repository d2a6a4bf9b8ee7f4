"""``flagd``, which serves feature flags from a file, and ``flagd-ui``, which edits them.

The file is read where an answer is needed: flagd watches it, so that what stands in it now is what it serves.
A file that does not parse changes nothing: the flags that were known stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import MILLISECOND, SECOND
from sregym_env.runtime.numbers import is_whole, whole
from sregym_env.sim.containers import view
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.programs.services.peers import At, Peer, fixed
from sregym_env.sim.world.program import Call, Flow, HttpRequest, HttpResponse, Usage

PORT = 8013
MANAGEMENT_PORT = 8014
OFREP_PORT = 8016
SYNC_PORT = 8015
VERSION = "v0.12.9"
UI_PORT = 4000

_JSON = {"Content-Type": "application/json"}

FlagValue = bool | int | float | str | Mapping[str, Any] | None


def resolve(ctx: ProcessContext, peer: Peer, flag: str, default: FlagValue) -> FlagValue:
    """What the service of ``ctx`` takes a flag for: the resolved variant's value, or ``default``.

    ``default`` is what the service's code states. It holds where flagd cannot be reached, does not know the flag, has it
    disabled, or serves a value of another type than asked for; providers keep no answer of a flagd that has gone away.
    """
    if not isinstance(peer.address, At):
        return default
    server = ctx.peer(*fixed(ctx, peer.address))
    if server is None or server.process.program != Flagd.name:
        return default
    found, reason = evaluated(_flags(server), flag)
    if reason in ("FLAG_NOT_FOUND", "DISABLED", "ERROR"):
        return default
    numbers = (int, float)
    if isinstance(found, bool) != isinstance(default, bool) or (
        not isinstance(found, type(default))
        and not (isinstance(found, numbers) and isinstance(default, numbers))
    ):
        return default
    return found


def evaluated(flags: Mapping[str, Any], flag: str) -> tuple[FlagValue, str]:
    """(value, reason) of a flag: its default variant's, whatever rules of targeting say of contexts."""
    about = flags.get(flag)
    if not isinstance(about, dict):
        return None, "FLAG_NOT_FOUND"
    if about.get("state") != "ENABLED":
        return None, "DISABLED"
    variants = about.get("variants")
    variant = _variant(flags, flag)
    if not isinstance(variants, dict) or variant not in variants:
        return None, "ERROR"
    return variants[variant], "DEFAULT" if about.get("targeting") else "STATIC"


def _variant(flags: Mapping[str, Any], flag: str) -> str:
    about = flags.get(flag)
    return str(about.get("defaultVariant", "")) if isinstance(about, dict) else ""


@lru_cache(maxsize=64)
def _parsed(text: str) -> Mapping[str, Any] | None:
    """The flags of a file; None for what is none."""
    try:
        document = orjson.loads(text)
    except ValueError:
        return None
    flags = document.get("flags") if isinstance(document, dict) else None
    return flags if isinstance(flags, dict) else None


def _path(ctx: ProcessContext) -> str:
    """The file of ``--uri file:./etc/flagd/demo.flagd.json``; empty where another source, or none, is named."""
    argv = ctx.process.argv
    for index, word in enumerate(argv):
        name, equals, given = word.partition("=")
        if name in ("--uri", "-f"):
            uri = given if equals else "".join(argv[index + 1 : index + 2])
            if uri.startswith("file:"):
                return "/" + uri.removeprefix("file:").lstrip("./")
    return ""


def _number(ctx: ProcessContext, option: str, default: int) -> int:
    given = _given(ctx, option)
    return default if given is None else whole(given, default)


def _given(ctx: ProcessContext, option: str) -> str | None:
    """What the command line gives to an option; None where it does not name it."""
    argv = ctx.process.argv
    for index, word in enumerate(argv):
        name, equals, given = word.partition("=")
        if name == option:
            return given if equals else "".join(argv[index + 1 : index + 2])
    return None


def _misread(ctx: ProcessContext) -> str:
    """What it says of the first port that is none; empty if all are."""
    for option in _PORTS:
        given = _given(ctx, option)
        if given is not None and whole(given, 65536) > 65535:
            cause = "value out of range" if is_whole(given) else "invalid syntax"
            flag = "-p, --port" if option == "--port" else option
            return f'Error: invalid argument "{given}" for "{flag}" flag: strconv.ParseUint: parsing "{given}": {cause}'
    return ""


_PORTS = ("--port", "--management-port", "--ofrep-port", "--sync-port")


def _text(ctx: ProcessContext) -> str | None:
    """What the file says now; None where there is none."""
    path = _path(ctx)
    mount = view.mount_of(ctx.process, path)
    if mount is not None and mount.kind in view.WRITABLE:
        # By the volume, which answers that are kept know of; reading the file alone would make them good for once.
        found = (ctx.stored(view.storage_key(ctx.process, mount)) or {}).get(view.relative(mount, path))
        return found if isinstance(found, str) else None
    try:
        return ctx.read(path)
    except OSError:
        return None


def _flags(ctx: ProcessContext) -> Mapping[str, Any]:
    text = _text(ctx)
    flags = None if text is None else _parsed(text)
    if flags is None:
        known: str = ctx.process.state.get("file", "")
        return _parsed(known) or {}
    if text != ctx.process.state.get("file"):
        ctx.settle(file=text)
    return flags


class Flagd(Quiet):
    """``flagd start --uri file:...``."""

    name = "flagd"

    def start(self, ctx: ProcessContext) -> None:
        """Read the file, print the banner, listen for evaluations, OFREP where asked for, and health."""
        ctx.set_memory(22 * MIB)
        if ctx.over_limit:
            return
        if wrong := _misread(ctx):
            ctx.log(wrong)
            ctx.exit(1)
            return
        for line in _BANNER:
            ctx.log(line)
        path = _path(ctx)
        shown = path.removeprefix("/")
        text = _text(ctx) if path else None
        if not path:
            ctx.log(_line(ctx, "fatal", "cmd/start.go:146", "no sync provider found; use --uri or --sources"))
            ctx.exit(1)
            return
        if text is None:
            error = f"unable to read file {shown}: open {shown}: no such file or directory"
            ctx.log(_line(ctx, "fatal", "cmd/start.go:167", f"error initializing sync provider: {error}"))
            ctx.exit(1)
            return
        flags = _parsed(text)
        if flags is None:
            ctx.log(
                _line(ctx, "error", "evaluator/json.go:126", "error parsing flags: invalid character in JSON")
            )
        port, ofrep = _number(ctx, "--port", PORT), _number(ctx, "--ofrep-port", OFREP_PORT)
        management = _number(ctx, "--management-port", MANAGEMENT_PORT)
        try:
            ctx.listen(port, management, ofrep, _number(ctx, "--sync-port", SYNC_PORT))
        except OSError:
            ctx.log(
                _line(ctx, "fatal", "cmd/start.go:170", f"listen tcp :{port}: bind: address already in use")
            )
            ctx.exit(1)
            return
        ctx.update(file=text if flags is not None else "", ofrep=ofrep)
        for caller, said in (
            ("flag-sync/sync_service.go:91", f"starting flag sync service on port {SYNC_PORT}"),
            ("ofrep/ofrep_service.go:61", f"ofrep service listening at {ofrep}"),
            ("file/filepath_sync.go:64", "Starting filepath sync notifier"),
            ("file/filepath_sync.go:113", f"watching filepath: ./{shown}"),
            ("flag-evaluation/connect_service.go:249", f"metrics and probes listening at {management}"),
            ("flag-evaluation/connect_service.go:229", f"Flag IResolver listening at [::]:{port}"),
        ):
            ctx.log(_line(ctx, "info", caller, said))

    def serve(self, ctx: ProcessContext, call: Call, port: int) -> Flow:
        """An evaluation in memory; streams of events stay open."""
        return Flow(1.0, 0.0004)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """Health, OFREP, and evaluation by Connect's JSON."""
        path = request.path.partition("?")[0]
        if port == _number(ctx, "--management-port", MANAGEMENT_PORT):
            if path == "/healthz":
                return HttpResponse(200, "")
            if path == "/readyz":
                return HttpResponse(200 if ctx.process.state.get("file") else 412, "")
            return HttpResponse(404, "404 page not found\n")
        if path.startswith("/ofrep/v1/evaluate/flags"):
            return self._ofrep(ctx, path.removeprefix("/ofrep/v1/evaluate/flags").strip("/"))
        kind = path.removeprefix("/flagd.evaluation.v1.Service/").removeprefix("/schema.v1.Service/")
        if kind != path:
            return self._connect(ctx, kind, request.body)
        return HttpResponse(404, "404 page not found\n")

    @staticmethod
    def _ofrep(ctx: ProcessContext, flag: str) -> HttpResponse:
        flags = _flags(ctx)
        if not flag:
            shown = [_answer(flags, name) for name in sorted(flags)]
            return HttpResponse(200, orjson.dumps({"flags": shown, "metadata": {}}).decode(), _JSON, 0.0008)
        if flag not in flags:
            text = f"flag `{flag}` does not exist"
            body = {"key": flag, "errorCode": "FLAG_NOT_FOUND", "errorDetails": text}
            return HttpResponse(404, orjson.dumps(body).decode(), _JSON, 0.0008)
        return HttpResponse(200, orjson.dumps(_answer(flags, flag)).decode(), _JSON, 0.0008)

    @staticmethod
    def _connect(ctx: ProcessContext, kind: str, body: str) -> HttpResponse:
        try:
            given: Any = orjson.loads(body or "{}")
            flag = str(given["flagKey"]) if kind != "ResolveAll" else ""
        except (ValueError, KeyError, TypeError):
            flag = ""
        flags = _flags(ctx)
        if kind == "ResolveAll":
            all_ = {
                name: {k: v for k, v in _answer(flags, name).items() if k != "key"} for name in sorted(flags)
            }
            return HttpResponse(200, orjson.dumps({"flags": all_}).decode(), _JSON, 0.0008)
        if not kind.startswith("Resolve"):
            return HttpResponse(404, "404 page not found\n")
        if flag not in flags:
            body = orjson.dumps(
                {"code": "not_found", "message": f"FLAG_NOT_FOUND, flag not found: {flag}"}
            ).decode()
            return HttpResponse(404, body, _JSON, 0.0008)
        return HttpResponse(200, orjson.dumps(_answer(flags, flag)).decode(), _JSON, 0.0008)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """Shut the servers down, and exit."""
        ctx.log(_line(ctx, "info", "runtime/runtime.go:77", "Shutting down, shutting down services"))
        return 0.2, 0

    def usage(self, ctx: ProcessContext, rates: Mapping[str, float]) -> Usage:
        """A milli-core, and a twentieth of a millisecond per evaluation."""
        return Usage(0.001 + 0.00005 * sum(rates.values()), ctx.process.memory)


def _answer(flags: Mapping[str, Any], flag: str) -> dict[str, Any]:
    found, reason = evaluated(flags, flag)
    return {"value": found, "key": flag, "reason": reason, "variant": _variant(flags, flag), "metadata": {}}


def _line(ctx: ProcessContext, level: str, caller: str, text: str) -> str:
    """``2026-08-06T12:00:00.123Z<tab>info<tab>...`` of zap's console encoder."""
    time = ctx.wall()
    stamp = f"{rfc3339(time // SECOND * SECOND)[:-1]}.{time % SECOND // MILLISECOND:03d}Z"
    return f'{stamp}\t{level}\t{caller}\t{text}\t{{"component": "service"}}'


_BANNER: Sequence[str] = (
    "",
    "\t\t ______   __       ________   _______    ______      ",
    "\t\t/_____/\\ /_/\\     /_______/\\ /______/\\  /_____/\\     ",
    "\t\t\\::::_\\/_\\:\\ \\    \\::: _  \\ \\\\::::__\\/__\\:::_ \\ \\    ",
    "\t\t \\:\\/___/\\\\:\\ \\    \\::(_)  \\ \\\\:\\ /____/\\\\:\\ \\ \\ \\   ",
    "\t\t  \\:::._\\/ \\:\\ \\____\\:: __  \\ \\\\:\\\\_  _\\/ \\:\\ \\ \\ \\  ",
    "\t\t   \\:\\ \\    \\:\\/___/\\\\:.\\ \\  \\ \\\\:\\_\\ \\ \\  \\:\\/.:| | ",
    "\t\t    \\_\\/     \\_____\\/ \\__\\/\\__\\/ \\_____\\/   \\____/_/ ",
    "",
)


class FlagdUi(Quiet):
    """``flagd-ui`` of the demo: a Phoenix application on port 4000, over the same file."""

    name = "flagd-ui"

    def start(self, ctx: ProcessContext) -> None:
        """Listen; without ``SECRET_KEY_BASE`` its configuration raises."""
        ctx.set_memory(110 * MIB)
        if ctx.over_limit:
            return
        if not ctx.process.env.get("SECRET_KEY_BASE"):
            ctx.log(
                "ERROR! Config provider Config.Reader failed with:\n** (RuntimeError) environment variable SECRET_KEY_BASE "
                "is missing.\nYou can generate one by calling: mix phx.gen.secret\n"
            )
            ctx.exit(1)
            return
        given = ctx.process.env.get("FLAGD_UI_PORT", "")
        port = whole(given, UI_PORT)
        try:
            ctx.listen(port)
        except OSError:
            ctx.log(
                f"[error] Failed to start Ranch listener on port {port}: :eaddrinuse (address already in use)"
            )
            ctx.exit(1)
            return
        clock = f"{ctx.wall() // SECOND % 86400 // 3600:02d}:{ctx.wall() // SECOND % 3600 // 60:02d}:{ctx.wall() // SECOND % 60:02d}"
        fraction = f"{ctx.wall() % SECOND // MILLISECOND:03d}"
        host = ctx.process.env.get("PHX_HOST", "localhost")
        ctx.log(
            f"{clock}.{fraction} [info] Running FlagdUiWeb.Endpoint with Bandit 1.8.0 at :::{port} (http)"
        )
        ctx.log(f"{clock}.{fraction} [info] Access FlagdUiWeb.Endpoint at https://{host}")

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """The page, and the flags as the file has them (``/feature/api/read``, ``/feature/api/write``)."""
        path = request.path.partition("?")[0].removeprefix("/feature").rstrip("/") or "/"
        if path == "/api/read":
            try:
                text = ctx.read(self.file)
            except OSError:
                return HttpResponse(500, '{"errors":{"detail":"Internal Server Error"}}', _JSON)
            return HttpResponse(
                200, orjson.dumps(orjson.loads(text)).decode() if _parsed(text) else text, _JSON
            )
        if path == "/api/write" and request.method == "POST":
            return self._write(ctx, request.body)
        if path == "/":
            return HttpResponse(
                200, "<!DOCTYPE html>\n<title>Flagd Configurator</title>\n", {"Content-Type": "text/html"}
            )
        return HttpResponse(404, "Not Found")

    file = "/app/data/demo.flagd.json"
    """Where the demo mounts the volume that both containers share."""

    def _write(self, ctx: ProcessContext, body: str) -> HttpResponse:
        try:
            data = orjson.loads(body)["data"]
            text = orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()
        except (ValueError, KeyError, TypeError):
            return HttpResponse(400, '{"errors":{"detail":"Bad Request"}}', _JSON)
        try:
            view.write(ctx.world, ctx.process, self.file, text)
        except OSError:
            return HttpResponse(500, '{"errors":{"detail":"Internal Server Error"}}', _JSON)
        ctx.world.touch()
        return HttpResponse(200, "", _JSON)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """The virtual machine stops its applications."""
        return 0.5, 0
