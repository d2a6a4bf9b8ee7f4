"""The command line of agnhost, and how it writes logs and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from sregym_env.cluster.key_pairs import pair_problem
from sregym_env.kube.durations import rfc3339_micro
from sregym_env.kube.status import go_quote
from sregym_env.runtime.numbers import whole
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.world.program import HttpResponse

NOT_FOUND = HttpResponse(404, "404 page not found\n", {"Content-Type": "text/plain; charset=utf-8"})
WORK = 0.0006
"""Seconds to answer a request."""

Flags = Mapping[str, str]

FLAGS: Mapping[str, Mapping[str, str]] = {
    "webhook": {"tls-cert-file": "", "tls-private-key-file": "", "port": "443", "sidecar-image": ""},
    "crd-conversion-webhook": {"tls-cert-file": "", "tls-private-key-file": "", "port": "443"},
    "netexec": {
        "http-port": "8080",
        "tls-cert-file": "",
        "tls-private-key-file": "",
        "udp-port": "8081",
        "sctp-port": "-1",
        "http-override": "",
        "udp-listen-addresses": "",
    },
    "serve-hostname": {"tcp": "false", "udp": "false", "http": "true", "close": "false", "port": "9376"},
    "porter": {"json-response": "false"},
    "liveness": {},
    "pause": {},
    "connect": {"timeout": "0s", "protocol": "tcp", "udp-data": "hostname", "sctp-data": "hostname"},
    "dns-suffix": {},
    "dns-server-list": {},
    "etc-hosts": {},
    "entrypoint-tester": {},
}
"""Flags of each subcommand and their defaults."""
_BOOLEAN = frozenset(("tcp", "udp", "http", "close", "json-response"))
_NUMBERS = frozenset(("port", "http-port", "udp-port", "sctp-port"))
_LOGGING = frozenset(
    "v vmodule log_dir log_file log_file_max_size logtostderr alsologtostderr add_dir_header skip_headers "
    "skip_log_headers stderrthreshold one_output log_backtrace_at".split()
)


class Invocation(NamedTuple):
    """A command line of agnhost: the subcommand, its flags and arguments, or what is wrong with it."""

    command: str
    flags: Flags
    words: tuple[str, ...] = ()
    problem: str = ""


def parse(argv: Sequence[str]) -> Invocation:
    """Understand ``/agnhost SUBCOMMAND [flags] [arguments]`` as cobra does."""
    words: list[str] = []
    given: dict[str, str] = {}
    rest = [*argv[1:]]
    if "--" in rest:
        rest, words = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    plain = [word for word in rest if not word.startswith("-")]
    command = plain[0] if plain else ""
    if not command:
        return Invocation("", {})
    if command not in FLAGS:
        return Invocation("", {}, problem=f'unknown command {go_quote(command)} for "app"')
    known = FLAGS[command]
    rest.remove(command)
    found: list[str] = []
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            found.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if name not in known and name not in _LOGGING:
            return Invocation(command, known, problem=f"unknown flag: --{name}")
        if not equals and name in _BOOLEAN:
            value = "true"
        elif not equals:
            if not rest:
                return Invocation(command, known, problem=f"flag needs an argument: --{name}")
            value = rest.pop(0)
        if name in _NUMBERS and not value.lstrip("-").isdecimal():
            text = f"strconv.ParseInt: parsing {go_quote(value)}: invalid syntax"
            text = f'invalid argument {go_quote(value)} for "--{name}" flag: {text}'
            return Invocation(command, known, problem=text)
        given[name] = value
    return Invocation(command, {**known, **given}, (*found, *words))


def usage_text(invocation: Invocation) -> str:
    """What cobra prints of a command line it refuses."""
    if not invocation.command:
        return f"Error: {invocation.problem}\nRun 'app --help' for usage.\n"
    return f"Error: {invocation.problem}\nUsage:\n  app {invocation.command} [flags]\n"


def stamp(ctx: ProcessContext) -> str:
    """The time as Go's ``log`` package prints it."""
    return rfc3339_micro(ctx.wall())[:19].replace("-", "/").replace("T", " ")


def log(ctx: ProcessContext, text: str) -> None:
    """Write a line as Go's ``log`` package does."""
    ctx.log(f"{stamp(ctx)} {text}")


def klog(ctx: ProcessContext, letter: str, where: str, text: str) -> None:
    """Write a line as klog does; ``letter`` is the severity, ``where`` the source line."""
    shown = rfc3339_micro(ctx.wall())
    ctx.log(f"{letter}{shown[5:7]}{shown[8:10]} {shown[11:26]}       1 {where}] {text}")


def verbosity(invocation: Invocation) -> int:
    """The level of ``-v``."""
    level = invocation.flags.get("v", "0")
    return whole(level, 0)


def plain(body: str, status: int = 200, latency: float = WORK, connection: str = "") -> HttpResponse:
    """A plain text answer."""
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    if connection:
        headers["Connection"] = connection
    return HttpResponse(status, body, headers, latency)


def go_json(value: Any) -> str:
    """A document as Go's ``encoding/json`` writes it into HTML-safe text."""
    text = orjson.dumps(value).decode()
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def key_pair(ctx: ProcessContext, certificate: str, key: str) -> tuple[str, str]:
    """(the certificate's PEM text, why the pair cannot be used)."""
    texts = []
    for path in (certificate, key):
        try:
            texts.append(ctx.read(path if path.startswith("/") else f"/{path}"))
        except FileNotFoundError:
            return "", f"open {path}: no such file or directory"
        except OSError:
            return "", f"read {path}: input/output error"
    return texts[0], pair_problem(texts[0], texts[1])


SUBCOMMANDS = tuple(sorted(FLAGS))
"""Names of the subcommands."""
