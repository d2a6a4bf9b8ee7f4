"""``busybox httpd``: files of the container over HTTP, in the foreground or as a daemon beside what runs there.

A daemon has no process of its own: the container's main process keeps, in its state, where one serves what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sregym_env.cluster.http import HTTP_REASONS
from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.shell.shell import Shell
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.defaults import MIB, NEVER, Quiet
from sregym_env.sim.programs.static_http import file_text, is_directory, place
from sregym_env.sim.world.program import HttpRequest, HttpResponse

USAGE = (
    "BusyBox v1.36.1 (2023-05-18 22:34:17 UTC) multi-call binary.\n\n"
    "Usage: httpd [-ifv[v]] [-c CONFFILE] [-p [IP:]PORT] [-u USER[:GRP]] [-r REALM] [-h HOME]\n"
    "or httpd -d/-e/-m STRING\n\nListen for incoming HTTP requests\n\n"
    "\t-i\t\tInetd mode\n\t-f\t\tRun in foreground\n\t-v[v]\t\tVerbose\n"
    "\t-p [IP:]PORT\tBind to IP:PORT (default *:80)\n\t-u USER[:GRP]\tSet uid/gid after binding to port\n"
    "\t-r REALM\tAuthentication Realm for Basic Authentication\n\t-h HOME\t\tHome directory (default .)\n"
    "\t-c FILE\t\tConfiguration file (default {/etc,HOME}/httpd.conf)\n"
    "\t-m STRING\tMD5 crypt STRING\n\t-e STRING\tHTML encode STRING\n\t-d STRING\tURL decode STRING\n"
)
_VALUED = "cpurhdem"
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("txt", "h", "c", "cc", "cpp"), "text/plain"),
    **dict.fromkeys(("html", "htm"), "text/html"),
    **dict.fromkeys(("jpg", "jpeg"), "image/jpeg"),
    "gif": "image/gif",
    "png": "image/png",
    "svg": "image/svg+xml",
    "css": "text/css",
    "js": "application/javascript",
    "wasm": "application/wasm",
    "pdf": "application/pdf",
}
"""Types of content by ending; everything else is ``application/octet-stream``, JSON too."""
_TEXTS = {
    404: "The requested URL was not found",
    501: "The requested method is not recognized",
}


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line of an ``httpd`` asks for."""

    port: int = 80
    home: str = ""
    foreground: bool = False
    verbose: int = 0
    wrong: str = ""
    """The complaint about a command line that cannot be read."""


def options(argv: Sequence[str]) -> Options:
    """Read a command line; ``argv[0]`` is the name of the program."""
    port, home, foreground, verbose = "80", "", False, 0
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        if not word.startswith("-") or len(word) < 2:
            return Options(wrong=USAGE)
        for at, letter in enumerate(word[1:], 2):
            if letter in _VALUED:
                value = word[at:] or (words.pop(0) if words else None)
                if value is None:
                    return Options(wrong=f"httpd: option requires an argument -- '{letter}'\n{USAGE}")
                port = value if letter == "p" else port
                home = value if letter == "h" else home
                break
            if letter not in "ifv":
                return Options(wrong=f"httpd: invalid option -- '{letter}'\n{USAGE}")
            foreground = foreground or letter == "f"
            verbose += letter == "v"
    number = port.rpartition(":")[2]
    if not 0 < whole(number, 0) < 65536:
        return Options(wrong=f"httpd: bad port '{number}'\n")
    return Options(int(number), home, foreground, verbose)


def serve(ctx: ProcessContext, asked: Options, cwd: str, exists: Callable[[str], bool]) -> str:
    """Begin to listen for what was ``asked``; the complaint where that fails.

    ``exists`` tells whether there is a directory: what a script has made is not the container's yet.
    """
    home = asked.home or cwd
    if not home.startswith("/"):
        home = f"{cwd.rstrip('/')}/{home}"
    home = place("/", home)
    if not exists(home):
        return f"httpd: can't change directory to '{asked.home}': No such file or directory\n"
    sites = dict(ctx.process.state.get("httpd", {}))
    if asked.port in ctx.process.listening and sites.get(str(asked.port)) != (home, asked.verbose):
        return "httpd: bind: Address already in use\n"
    try:
        ctx.listen(asked.port)
    except OSError:
        return "httpd: bind: Address already in use\n"
    ctx.update(httpd={**sites, str(asked.port): (home, asked.verbose)})
    return ""


def command(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``httpd`` as a command in a container: it goes on beside the main process."""
    asked = options(argv)
    if asked.wrong:
        return ExecResult(stderr=asked.wrong, exit_code=1)
    complaint = serve(ctx, asked, shell.cwd, shell.files.is_folder)
    return ExecResult(stderr=complaint, exit_code=int(bool(complaint)))


def answer(ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
    """What an ``httpd`` on ``port`` answers; None where there is none."""
    site = ctx.process.state.get("httpd", {}).get(str(port))
    if site is None:
        return None
    home, verbose = site
    response = _respond(ctx, request, home)
    who = _peer(request.client)
    if verbose > 1:
        ctx.log(f"{who}: connected")
        ctx.log(f"{who}: url:{request.path.partition('?')[0]}")
    if verbose:
        ctx.log(f"{who}: response:{response.status}")
    return response


def _peer(client: str) -> str:
    address, _, port = client.rpartition(":")
    return f"[::ffff:{address}]:{port}"


def _respond(ctx: ProcessContext, request: HttpRequest, home: str) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return _page(ctx, 501)
    target = request.path.partition("?")[0]
    path = place(home, target)
    try:
        if path == home or is_directory(ctx, path):
            if not target.endswith("/"):
                return _page(ctx, 302, {"Location": f"{target}/"})
            path = f"{path.rstrip('/')}/index.html"
        text = file_text(ctx, path)
    except OSError:
        return _page(ctx, 404)
    if text is None:
        return _page(ctx, 404)
    kind = _KINDS.get(path.rpartition("/")[2].rpartition(".")[2], "application/octet-stream")
    changed = _date(ctx.process.started_at)
    return HttpResponse(
        200,
        text,
        {
            "Content-Type": kind,
            "Date": _date(ctx.wall()),
            "Connection": "close",
            "Accept-Ranges": "bytes",
            "Last-Modified": changed,
            "ETag": f'"{ctx.process.started_at // SECOND:x}-{len(text.encode()):x}"',
        },
        0.0005,
    )


def _page(ctx: ProcessContext, status: int, more: Mapping[str, str] | None = None) -> HttpResponse:
    title = f"{status} {HTTP_REASONS.get(status, '')}"
    text = f"<HTML><HEAD><TITLE>{title}</TITLE></HEAD>\n<BODY><H1>{title}</H1>\n{_TEXTS.get(status, '')}\n</BODY></HTML>\n"
    fields = {"Content-Type": "text/html", "Date": _date(ctx.wall()), "Connection": "close", **(more or {})}
    return HttpResponse(status, text, fields, 0.0005)


def _date(micros: int) -> str:
    return datetime.fromtimestamp(micros // SECOND, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")


class Httpd(Quiet):
    """``httpd`` as a container's main process; without ``-f`` it goes into the background, and the container ends."""

    name = "httpd"

    def start(self, ctx: ProcessContext) -> None:
        """Listen, or say why not."""
        ctx.set_memory(MIB)
        if ctx.over_limit:
            return
        asked = options(ctx.process.argv)
        complaint = asked.wrong or serve(ctx, asked, ctx.image.workdir, lambda path: is_directory(ctx, path))
        if complaint:
            ctx.log(complaint.rstrip("\n"))
            ctx.exit(1, delay=0.05)
        elif not asked.foreground:
            ctx.exit(0, delay=0.05)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """A file below the home directory."""
        return answer(ctx, request, port)

    def terminate(self, ctx: ProcessContext) -> tuple[float, int]:
        """``httpd`` as process 1 has no handler for SIGTERM, so the signal is ignored."""
        return NEVER, 137
