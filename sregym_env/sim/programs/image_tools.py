"""Commands of images whose program is a server or a language: asked for their version, they answer; they cannot do the rest.

``python`` runs no code, ``kubectl`` has no API server, a second ``nginx`` or ``mongod`` finds its port taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.clock import SECOND
from sregym_env.shell.commands import python
from sregym_env.shell.shell import Shell
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs import nginx_config


def _failed(text: str, code: int = 1) -> ExecResult:
    return ExecResult(stderr=text, exit_code=code)


def format_date(time: int, form: str) -> str:
    """An instant (microseconds, UTC) in strftime's notation: the directives that scripts use."""
    text = rfc3339(time)
    day, clock = text[:10], text[11:19]
    days = time // (86_400 * SECOND)
    week = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")[days % 7]
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    table = {
        "Y": day[:4],
        "m": day[5:7],
        "d": day[8:],
        "e": f"{int(day[8:]):2d}",
        "H": clock[:2],
        "M": clock[3:5],
        "S": clock[6:],
        "F": day,
        "T": clock,
        "s": str(time // SECOND),
        "N": f"{time % SECOND:06d}000",
        "Z": "UTC",
        "z": "+0000",
        "a": week,
        "b": months[int(day[5:7]) - 1],
        "y": day[2:4],
        "R": clock[:5],
        "n": "\n",
        "%": "%",
        "3N": f"{time % SECOND // 1000:03d}",
    }
    out, index = [], 0
    while index < len(form):
        if form[index] == "%" and index + 1 < len(form):
            length = 2 if form[index + 1 : index + 3] == "3N" else 1
            out.append(table.get(form[index + 1 : index + 1 + length], form[index : index + 1 + length]))
            index += 1 + length
        else:
            out.append(form[index])
            index += 1
    return "".join(out)


def _kubectl(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``kubectl`` in a container: its client alone."""
    if argv[1:2] == ["version"] and "--client" in argv:
        return ExecResult("Client Version: v1.32.3\nKustomize Version: v5.5.0\n")
    if not argv[1:] or argv[1] in ("--help", "help", "-h"):
        return ExecResult(
            "kubectl controls the Kubernetes cluster manager.\n\nUsage:\n  kubectl [flags] [options]\n"
        )
    return _failed(
        "error: kubectl cannot reach the API server from inside of a container here; run it on the workstation\n"
    )


def _python(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    if argv[0].rpartition("/")[2] in ("pip", "pip3"):
        if "--version" in argv or "-V" in argv:
            return ExecResult("pip 24.0 from /usr/local/lib/python3.12/site-packages/pip (python 3.12)\n")
        where = "HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded"
        return _failed(f"ERROR: Could not find a version that satisfies the requirement ({where})\n")
    version = _tagged(ctx, "3.12")
    result = python.python(argv, stdin, shell)
    return ExecResult(f"Python {version}\n") if result.stdout == f"{python.VERSION}\n" else result


def _tagged(ctx: ProcessContext, default: str) -> str:
    """The version that an image's tag begins with."""
    tag = ctx.image.reference.rpartition(":")[2].partition("-")[0]
    return tag if "." in tag and tag.replace(".", "").isdecimal() else default


def _nginx(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    flags = {word for word in argv[1:] if word.startswith("-")}
    if flags & {"-v", "-V"}:
        return _failed(f"nginx version: nginx/{_tagged(ctx, '1.27')}\n", 0)
    if flags & {"-t", "-T"}:
        return _tested(ctx, nginx_config.path_of(argv) or _configured(ctx), "-T" in flags)
    stamp = format_date(ctx.wall(), "%Y/%m/%d %H:%M:%S")
    if "-s" in flags:
        return _failed(f"{stamp} [notice] 57#57: signal process started\n", 0)
    text = "bind() to 0.0.0.0:80 failed (98: Address already in use)"
    return _failed(f"nginx: [emerg] {text}\n{stamp} [emerg] 57#57: {text}\n")


def _configured(ctx: ProcessContext) -> str:
    """The file with which the container's own nginx was started."""
    return nginx_config.path_of(ctx.process.argv) or nginx_config.CONFIG


def _tested(ctx: ProcessContext, path: str, shows: bool) -> ExecResult:
    """``nginx -t``: reads the configuration as a start would, and with ``-T`` prints it."""
    text = ""
    try:
        ctx.read(path)
        read = True
    except OSError:
        read = path != nginx_config.CONFIG  # the image's own is well
    if read:
        try:
            nginx_config.relays(ctx, nginx_config.read(ctx, path))
            text = "".join(
                f"# configuration file {name}:\n{said}\n" for name, said in nginx_config.files(ctx, path)
            )
        except nginx_config.ConfigError as error:
            return _failed(f"nginx: [emerg] {error}\nnginx: configuration file {path} test failed\n")
    told = f"nginx: the configuration file {path} syntax is ok\nnginx: configuration file {path} test is successful\n"
    return ExecResult(text if shows else "", told)


def _mongod(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    version = str(ctx.image.binaries["mongod"].settings)
    if {"--version", "-version"} & {*argv[1:]}:
        return ExecResult(
            f'db version v{version}\nBuild Info: {{\n    "version": "{version}",\n    "modules": [],\n'
            '    "allocator": "tcmalloc",\n    "environment": {\n        "distmod": "ubuntu1804",\n'
            '        "distarch": "x86_64",\n        "target_arch": "x86_64"\n    }\n}\n'
        )
    stamp = format_date(ctx.wall(), "%Y-%m-%dT%H:%M:%S.000+00:00")
    text = (
        f'{{"t":{{"$date":"{stamp}"}},"s":"E",  "c":"CONTROL",  "id":20568,   "ctx":"initandlisten","msg":"Error setting up '
        'listener","attr":{"error":{"code":9001,"codeName":"SocketException","errmsg":"Address already in use"}}}\n'
    )
    return ExecResult(text, exit_code=48)


SERVERS: Mapping[str, Callable[[Sequence[str]], bool]] = {
    "mongod": lambda argv: "--version" not in argv,
    "nginx": lambda argv: not {"-v", "-V", "-t", "-T", "-s"} & {*argv},
    "python": lambda argv: "http.server" in argv,
    "python3": lambda argv: "http.server" in argv,
}
"""Tools that are an image's server as well, and whether a command line starts that."""


TOOLS: Mapping[str, Callable[[ProcessContext, Sequence[str], str, Shell], ExecResult]] = {
    "kubectl": _kubectl,
    "mongod": _mongod,
    "nginx": _nginx,
    "pip": _python,
    "pip3": _python,
    "python": _python,
    "python3": _python,
}
"""The commands by name."""
