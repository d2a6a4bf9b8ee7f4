"""The way to the API server: which kubeconfig counts, where it points to, and as whom.

There is one server. A kubeconfig, ``--server`` or ``KUBECONFIG`` that points elsewhere reaches nobody, and one that
does not hold the person's own credential is not let in.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from sregym_env.tools.kubectl.call import Call
from sregym_env.tools.kubectl.desk import Desk
from sregym_env.tools.kubectl.discovery import CLIENT_VERSION, KUSTOMIZE_VERSION
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.kubeconfig import NOTHING, ConfigFile, KubeConfig, merged, parse

NOWHERE = "http://localhost:8080"
"""Where kubectl looks for a server that no kubeconfig names."""

_DIAL_SECONDS = 30.0
"""How long a connection to an address where nobody answers is tried."""


def config_file(own: ConfigFile, desk: Desk | None, named: str) -> ConfigFile:
    """The kubeconfig of a command: ``--kubeconfig``, else ``KUBECONFIG``, else the one in the home directory.

    On a machine without a home directory it is ``own``. Raises KubectlError about a file that is none.
    """
    if desk is None:
        return own
    home = desk.variable("HOME")
    listed = [path for path in desk.variable("KUBECONFIG").split(":") if path]
    if not (named or listed or home):
        return own
    paths = [named] if named else listed or [f"{home}/.kube/config"]
    content = NOTHING
    for path in paths:
        content = merged(content, _read(own, desk, path))
    written = next((path for path in paths if _is_there(desk, path)), paths[-1])
    return ConfigFile(content, written)


def save(file: ConfigFile, desk: Desk | None, before: KubeConfig) -> None:
    """Write a kubeconfig back that a command has changed."""
    if desk is not None and file.content != before:
        desk.make_directories(file.path.rpartition("/")[0] or ".")
        desk.write_bytes(file.path, file.content.text().encode())


def _read(own: ConfigFile, desk: Desk, path: str) -> KubeConfig:
    try:
        text = desk.read_bytes(path).decode(errors="replace")
    except FileNotFoundError:
        return NOTHING
    except IsADirectoryError:
        raise failure(f'error loading config file "{path}": read {path}: is a directory') from None
    if text == own.content.text():
        return own.content
    try:
        return parse(text, path)
    except ValueError as error:
        raise failure(str(error)) from None


def _is_there(desk: Desk, path: str) -> bool:
    try:
        desk.read_bytes(path)
    except OSError:
        return False
    return True


def need_server(call: Call, own: KubeConfig) -> None:
    """Raise what kubectl says where the command's kubeconfig and flags do not lead to the API server as its person.

    ``own`` is the kubeconfig that does.
    """
    flags, config = call.flags, call.kubeconfig.content
    if _stays_here(call):
        return
    context = config.context(flags["context"])
    cluster = flags["cluster"] or (context.cluster if context else "")
    url = str(flags["server"]) or config.clusters.get(cluster, "") or NOWHERE
    url = url if "://" in url else f"http://{url}"
    home = own.server
    if _place(url) != _place(home):
        _unreachable(call, url.rstrip("/"))
    if url.partition("://")[0] != home.partition("://")[0]:
        text = "the server rejected our request for an unknown reason"
        raise KubectlError(f"Error from server (BadRequest): {text}")
    user = (
        flags["user"] if isinstance(flags["user"], str) and flags["user"] else context.user if context else ""
    )
    known = own.context()
    if known is not None and user != known.user and not config.credential(user):
        raise failure("You must be logged in to the server (Unauthorized)")
    if known is not None and config.credential(user) != own.credential(known.user):
        raise failure("You must be logged in to the server (Unauthorized)")


def _stays_here(call: Call) -> bool:
    """Whether a command needs no server."""
    flags = call.flags
    first = call.command.split(" ")[0]
    if first in ("config", "kustomize", "options", "completion", "plugin") or flags.get("local"):
        return True
    if call.command.startswith("create ") and flags.get("dry-run") == "client":
        return True
    return call.command == "version" and bool(flags.get("client"))


def _place(url: str) -> tuple[str, int]:
    """Host and port of a URL; nowhere for what is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", 0
    return host, port or (443 if parts.scheme == "https" else 80)


_ASKS: dict[str, int] = {
    **dict.fromkeys(
        "get describe scale patch label annotate delete expose autoscale edit cluster-info apply".split(), 5
    ),
    **dict.fromkeys(
        "logs exec rollout set wait cordon uncordon drain port-forward attach debug certificate".split(), 4
    ),
    **dict.fromkeys("taint explain auth".split(), 2),
    **dict.fromkeys("api-resources api-versions run".split(), 1),
}
"""How often a command tries discovery before it gives up, measured with kubectl 1.32."""

_ASKS_NOT = frozenset(("cluster-info dump", "auth whoami"))


def _unreachable(call: Call, url: str) -> None:
    host, port = _place(url)
    if host in ("localhost", "127.0.0.1", "::1"):
        dial, final = f"dial tcp 127.0.0.1:{port}: connect: connection refused", ""
    elif host.replace(".", "").isdecimal():
        dial = f"dial tcp {host}:{port}: i/o timeout"
        final = f"Unable to connect to the server: {dial}"
        call.advance(_DIAL_SECONDS)
    else:
        dial = f"dial tcp: lookup {host}: no such host"
        final = f"Unable to connect to the server: {dial}"
    text = (
        final
        or f"The connection to the server {urlsplit(url).netloc} was refused - did you specify the right host or port?"
    )
    tries = (
        0 if call.command in _ASKS_NOT or call.flags.get("raw") else _ASKS.get(call.command.split(" ")[0], 0)
    )
    timeout = call.flags["request-timeout"]
    waits = "32s" if timeout in ("0", "") else timeout if not timeout.isdecimal() else f"{timeout}s"
    asked = f'Get "{url}/api?timeout={waits}": {dial}'
    if files := call.flags.get("filename"):
        source = "STDIN" if files[0] == "-" else files[0]
        validated = str(call.flags.get("validate", "false")) not in ("false", "ignore")
        if call.command in ("create", "apply", "replace") and validated:
            openapi = f'Get "{url}/openapi/v2?timeout={waits}": {dial}'
            raise failure(
                f'error validating "{source}": error validating data: failed to download openapi: {openapi}; '
                "if you choose to ignore these errors, turn validation off with --validate=false"
            )
        tries = 1
        text = ("" if call.command == "get" else "error: ") + f'unable to recognize "{source}": {asked}'
    now = datetime.fromtimestamp(call.cluster.now() / 1_000_000, UTC)
    quoted = asked.replace('"', r"\"")
    for again in range(tries):
        now += timedelta(microseconds=1_137 + 211 * again)
        stamp = f"E{now:%m%d %H:%M:%S.%f} {_PROCESS:>7} memcache.go:265]"
        call.warn(f'{stamp} "Unhandled Error" err="couldn\'t get current server API group list: {quoted}"')
    if call.command == "version":
        call.print(
            f"Client Version: {CLIENT_VERSION['gitVersion']}\nKustomize Version: {KUSTOMIZE_VERSION}\n"
        )
    raise KubectlError(text)


_PROCESS = 2417
"""The process id that kubectl's log lines bear."""
