"""Servers of files over HTTP: what lies under a directory of the container, ``nginx`` and ``python -m http.server``."""

from __future__ import annotations

import errno
from posixpath import normpath
from urllib.parse import unquote

from sregym_env.runtime.numbers import whole
from sregym_env.shell.files import Files
from sregym_env.shell.shell import Shell
from sregym_env.sim.network.connections import RELAYS
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import image_tools, nginx_config
from sregym_env.sim.programs.defaults import MIB, Quiet
from sregym_env.sim.world.logs import stamped
from sregym_env.sim.world.program import HttpRequest, HttpResponse

NGINX_ROOT = "/usr/share/nginx/html"
NGINX_PAGE = (
    "<!DOCTYPE html>\n<html>\n<head>\n<title>Welcome to nginx!</title>\n</head>\n<body>\n"
    "<h1>Welcome to nginx!</h1>\n</body>\n</html>\n"
)


def place(root: str, target: str) -> str:
    """The file that a request names: an absolute path that never leaves ``root``."""
    path = normpath("/" + unquote(target.partition("?")[0]).lstrip("/"))
    return normpath("/" + f"{root.strip('/')}/{path.lstrip('/')}".strip("/"))


def is_directory(ctx: ProcessContext, path: str) -> bool:
    """Whether the container has such a directory."""
    if path == "/" or any(
        mount.path.rstrip("/") == path and not mount.sub_path for mount in ctx.process.mounts
    ):
        return True
    try:
        return bool(ctx.list_dir(path))
    except OSError:
        return False


def file_text(ctx: ProcessContext, path: str) -> str | None:
    """What a file says; None where there is none. Raises OSError(EIO) where the disk fails."""
    try:
        return ctx.read(path)
    except OSError as error:
        if error.errno == errno.EIO:
            raise
        return None


class StaticHttp(Quiet):
    """``nginx`` and ``python -m http.server``."""

    name = "static_http"

    def start(self, ctx: ProcessContext) -> None:
        """Listen on 80, or where the command line says."""
        argv = ctx.process.argv
        nginx = ctx.process.binary in ("nginx", "docker-entrypoint.sh", "/docker-entrypoint.sh")
        if not nginx and "http.server" not in argv:
            self._run(ctx)
            return
        ctx.set_memory((6 if nginx else 14) * MIB)
        if ctx.over_limit or (nginx and self._passes_on(ctx)):
            return
        port = 80 if nginx else next((whole(word, 8000) for word in argv if word.isdecimal()), 8000)
        try:
            ctx.listen(port)
        except OSError:
            text = "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)"
            ctx.log(text if nginx else "OSError: [Errno 98] Address already in use")
            ctx.exit(1)
            return
        if nginx:
            ctx.log("/docker-entrypoint.sh: Configuration complete; ready for start up")

    def _passes_on(self, ctx: ProcessContext) -> bool:
        """Whether nginx is told to pass connections on (``stream``), and does so, or cannot start."""
        argv = ctx.process.argv
        path = nginx_config.path_of(argv) or nginx_config.CONFIG
        if path == nginx_config.CONFIG and file_text(ctx, path) is None:
            return False  # the image's own
        try:
            found = nginx_config.read(ctx, path)
            if nginx_config.streams(found) is None:
                return False
            relays = nginx_config.relays(ctx, found)
        except nginx_config.ConfigError as error:
            _emergency(ctx, str(error))
            return True
        # Whoever finds a port open is to know where it leads.
        ctx.update(**{RELAYS: relays})
        for port in relays:
            try:
                ctx.listen(port)
            except OSError:
                _emergency(ctx, f"bind() to 0.0.0.0:{port} failed (98: Address already in use)")
                return True
        for text in ('using the "epoll" event method', "start worker processes"):
            ctx.log(stamped(f"{{time|%Y/%m/%d %H:%M:%S}} [notice] 1#1: {text}", ctx.wall()))
        return True

    def _run(self, ctx: ProcessContext) -> None:
        """Do what Python is asked to, as far as that goes here: other code ends with a complaint."""
        argv = list(ctx.process.argv)
        if len(argv) == 1 and ctx.process.stdin:
            return  # an interpreter that waits for somebody to type
        tree = Files()
        name = next((word for word in argv[1:] if not word.startswith("-")), "")
        path = name if name.startswith("/") else f"{ctx.image.workdir.rstrip('/')}/{name}"
        text = file_text(ctx, path) if name else None
        if text is not None:
            tree.put_text(path, text)
        result = image_tools.TOOLS["python3"](ctx, argv, "", Shell(tree, {}, cwd=ctx.image.workdir))
        if result.text.strip():
            ctx.log(result.text)
        ctx.exit(result.exit_code, delay=0.1)

    def request(self, ctx: ProcessContext, request: HttpRequest, port: int) -> HttpResponse | None:
        """The index page, or a file below the root."""
        return _nginx(ctx, request) if port == 80 else _python(ctx, request)


def _emergency(ctx: ProcessContext, text: str) -> None:
    """Why nginx does not start, as its master says it twice: to whoever has started it and to the error log."""
    ctx.log(stamped(f"{{time|%Y/%m/%d %H:%M:%S}} [emerg] 1#1: {text}", ctx.wall()))
    ctx.log(f"nginx: [emerg] {text}")
    ctx.exit(1)


def _nginx(ctx: ProcessContext, request: HttpRequest) -> HttpResponse:
    path = place(NGINX_ROOT, request.path)
    index = path == NGINX_ROOT or path == f"{NGINX_ROOT}/index.html"
    try:
        text = file_text(ctx, f"{NGINX_ROOT}/index.html" if index else path)
    except OSError:
        return HttpResponse(500, _nginx_page(500, "Internal Server Error"), {"Server": "nginx"})
    if text is None and index and not is_directory(ctx, NGINX_ROOT):
        text = NGINX_PAGE
    if text is not None:
        kind = "text/html" if index or path.endswith((".html", ".htm")) else "text/plain"
        return HttpResponse(200, text, {"Server": "nginx", "Content-Type": kind}, 0.0005)
    if index and not request.path.startswith("/index.html"):
        return HttpResponse(403, _nginx_page(403, "Forbidden"), {"Server": "nginx"})
    return HttpResponse(404, _nginx_page(404, "Not Found"), {"Server": "nginx"})


def _nginx_page(status: int, reason: str) -> str:
    return f"<html><head><title>{status} {reason}</title></head></html>\n"


def _python(ctx: ProcessContext, request: HttpRequest) -> HttpResponse:
    argv = ctx.process.argv
    given = next((argv[i + 1] for i, w in enumerate(argv[:-1]) if w in ("-d", "--directory")), "")
    root = given or ctx.image.workdir or "/"
    path = place(root, request.path)
    try:
        text = file_text(ctx, path)
        if text is None and is_directory(ctx, path):
            text = file_text(ctx, f"{path}/index.html") or _listing(ctx, request.path, path)
    except OSError:
        text = None
    if text is None:
        return HttpResponse(404, "<title>Error response</title>\n<p>Message: File not found.</p>\n")
    return HttpResponse(200, text)


def _listing(ctx: ProcessContext, target: str, path: str) -> str:
    """The page that stands for a directory without an index."""
    try:
        names = ctx.list_dir(path)
    except OSError:
        names = []
    items = "".join(
        f'<li><a href="{name}">{name}</a></li>\n'
        for name in (f"{n}/" if is_directory(ctx, normpath(f"{path}/{n}")) else n for n in names)
    )
    return f"<!DOCTYPE HTML>\n<title>Directory listing for {target}</title>\n<ul>\n{items}</ul>\n"
