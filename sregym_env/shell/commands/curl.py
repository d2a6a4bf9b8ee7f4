"""``curl`` as agents use it, over whatever carries requests: a workstation's network or a container's."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit

from sregym_env.cluster.http import HTTP_REASONS, HttpCall, HttpExchange
from sregym_env.cluster.streams import ExecResult

VERSION = "curl 8.5.0 (x86_64-pc-linux-gnu)"

_AGENT = "curl/8.5.0"

_TAKES_VALUE = frozenset(
    "-X --request -H --header -d --data --data-raw --data-binary --data-urlencode -m --max-time "
    "--connect-timeout -o --output -w --write-out -u --user -A --user-agent -b --cookie -e --referer "
    "--retry --retry-delay --retry-max-time --resolve --connect-to --cacert --cert --key -x --proxy --url -T "
    "--upload-file --json -F --form -D --dump-header --interface --limit-rate --max-redirs -c --cookie-jar".split()
)
_BARE = frozenset(
    "-s --silent -S --show-error -i --include -I --head -k --insecure -L --location -v --verbose -f --fail "
    "-g --globoff -N --no-buffer -4 --ipv4 -6 --ipv6 --compressed -# --progress-bar --http1.1 --http2 -G --get "
    "--fail-with-body --no-progress-meter -O --remote-name -a --append -Z --parallel -q --disable -j -n".split()
)


class Requests(Protocol):
    """Whatever carries HTTP requests."""

    def now(self) -> int:
        """The present, microseconds."""
        ...

    def request(self, call: HttpCall) -> HttpExchange:
        """One HTTP request."""
        ...


class CurlError(Exception):
    """A command line that curl refuses; carries its exit code."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


@dataclass(slots=True)
class Request:
    """A parsed curl command line."""

    urls: list[str] = field(default_factory=list)
    method: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    data: list[tuple[str, str]] = field(default_factory=list)
    """Options that give the body, with their values."""
    body: str = ""
    flags: set[str] = field(default_factory=set)
    max_time: float = 0.0
    connect_timeout: float = 0.0
    outputs: list[str] = field(default_factory=list)
    """Where bodies go, in order; empty for the name at the end of the address (``-O``)."""
    write_out: str = ""
    authorities: str = ""
    """Path of the file of ``--cacert``, then its content."""

    def has(self, *names: str) -> bool:
        """Whether one of these options was given."""
        return any(name in self.flags for name in names)


def parse(arguments: list[str]) -> Request:
    """Understand curl's arguments. Raises CurlError with curl's text."""
    request = Request()
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word.startswith("--") and "=" in word and word.partition("=")[0] in _TAKES_VALUE:
            word, _, value = word.partition("=")
            words.insert(0, value)
        if not word.startswith("-") or word == "-":
            request.urls.append(word)
        elif word in _TAKES_VALUE:
            if not words:
                raise CurlError(f"curl: option {word}: requires parameter", 2)
            _store(request, word, words.pop(0))
        elif word in _BARE or word in ("-h", "--help", "-V", "--version"):
            _set(request, word)
        elif word.startswith("--"):
            raise CurlError(f"curl: option {word}: is unknown", 2)
        else:
            _bundle(request, word, words)
    return request


def _bundle(request: Request, word: str, words: list[str]) -> None:
    for index, letter in enumerate(word[1:], 1):
        option = f"-{letter}"
        if option in _TAKES_VALUE:
            rest = word[index + 1 :]
            if not rest and not words:
                raise CurlError(f"curl: option {option}: requires parameter", 2)
            _store(request, option, rest or words.pop(0))
            return
        if option not in _BARE:
            raise CurlError(f"curl: option {word}: is unknown", 2)
        _set(request, option)


def _set(request: Request, option: str) -> None:
    request.flags.add(option)
    if option in ("-O", "--remote-name"):
        request.outputs.append("")


def _store(request: Request, option: str, value: str) -> None:
    if option in ("-X", "--request"):
        request.method = value.upper()
    elif option in ("-H", "--header"):
        name, _, text = value.partition(":")
        request.headers[name.strip()] = text.strip()
    elif option in ("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json"):
        request.data.append((option, value))
        if option == "--json":
            request.headers.setdefault("Content-Type", "application/json")
            request.headers["Accept"] = "application/json"
    elif option in ("-m", "--max-time", "--connect-timeout"):
        try:
            seconds = float(value)
            if not 0 <= seconds < 1e9:
                raise ValueError(value)
        except ValueError:
            raise CurlError(
                f"curl: expected a proper numerical parameter\ncurl: option {option}: {value}", 2
            ) from None
        if option == "--connect-timeout":
            request.connect_timeout = seconds
        else:
            request.max_time = seconds
    elif option in ("-o", "--output"):
        request.outputs.append(value)
    elif option in ("-w", "--write-out"):
        request.write_out = value
    elif option in ("-A", "--user-agent"):
        request.headers["User-Agent"] = value
    elif option in ("-u", "--user"):
        request.headers["Authorization"] = (
            f"Basic {base64.b64encode(value.encode('utf-8', 'replace')).decode()}"
        )
    elif option in ("-b", "--cookie") and "=" in value:
        request.headers["Cookie"] = value
    elif option in ("-e", "--referer"):
        request.headers["Referer"] = value
    elif option == "--url":
        request.urls.append(value)
    elif option == "--cacert":
        request.authorities = value


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished curl run: what it printed, where the body should go, and how long it took."""

    result: ExecResult
    seconds: float
    files: tuple[tuple[str, str], ...] = ()
    """What is to be written, by its path."""


def curl(
    world: Requests, arguments: list[str], read: Callable[[str], str | None] = lambda path: None
) -> Answer:
    """Run ``curl ARGUMENTS...``; bodies are among ``files`` instead of in the output where ``-o`` and ``-O`` say so.

    ``read`` reads a file of the machine, None where there is none.
    """
    try:
        request = parse(arguments)
        if request.data:
            request.body = _body(request, read)
            if not request.has("-G", "--get") and all(
                name.lower() != "content-type" for name in request.headers
            ):
                request.headers["Content-Type"] = "application/x-www-form-urlencoded"
        if request.authorities:
            request.authorities = _authorities(request.authorities, read)
        if request.has("-V", "--version"):
            return Answer(ExecResult(f"{VERSION}\nProtocols: http https\n"), 0.0)
        if request.has("-h", "--help"):
            return Answer(ExecResult("Usage: curl [options...] <url>\n"), 0.0)
        if not request.urls:
            raise CurlError(
                "curl: no URL specified!\ncurl: try 'curl --help' or 'curl --manual' for more information", 2
            )
    except CurlError as error:
        return Answer(ExecResult(stderr=f"{error}\n", exit_code=error.code), 0.0)
    # Each takes the cluster's time, and a line may name thousands.
    answers = [_fetch(world, request, url, index) for index, url in enumerate(request.urls[:10])]
    pieces = tuple(piece for answer in answers for piece in answer.result.pieces)
    seconds = sum(answer.seconds for answer in answers)
    files = tuple(file for answer in answers for file in answer.files)
    return Answer(_result(pieces, answers[-1].result.exit_code), seconds, files)


def _result(pieces: Sequence[tuple[int, str]], exit_code: int = 0) -> ExecResult:
    """What was written to which descriptor, in this order."""
    kept = tuple(piece for piece in pieces if piece[1])
    stdout, stderr = ("".join(text for to, text in kept if to == descriptor) for descriptor in (1, 2))
    return ExecResult(stdout, stderr, exit_code, kept if stdout and stderr else ())


def _body(request: Request, read: Callable[[str], str | None]) -> str:
    """What ``-d`` and its kin send. Raises CurlError for a file that is not there."""
    parts = []
    for option, value in request.data:
        if value.startswith("@") and option != "--data-raw":
            text = read(value[1:])
            if text is None:
                raise CurlError(f"curl: Failed to open {value[1:]}", 26)
            value = text if option == "--data-binary" else re.sub(r"[\r\n]", "", text)
        parts.append(value)
    return "&".join(parts)


def _authorities(path: str, read: Callable[[str], str | None]) -> str:
    text = read(path)
    if text is None or "-----BEGIN CERTIFICATE-----" not in text:
        where = f"error setting certificate verify locations:  CAfile: {path} CApath: /etc/ssl/certs"
        raise CurlError(f"curl: (77) {where}", 77)
    return text


def _fetch(world: Requests, request: Request, url: str, index: int) -> Answer:
    full = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(full)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return _failed(
            request, 3, "URL rejected: Port number was not a decimal number between 0 and 65535", 0.0
        )
    if parts.scheme not in ("http", "https"):
        return _failed(request, 1, f'Protocol "{parts.scheme}" not supported', 0.0)
    if not parts.hostname:
        return _failed(request, 3, "URL rejected: No host part in the URL", 0.0)
    data = request.body
    method = request.method or ("HEAD" if request.has("-I", "--head") else "POST" if request.data else "GET")
    if data and request.has("-G", "--get"):
        full, data, method = f"{full}{'&' if parts.query else '?'}{data}", "", request.method or "GET"
    call = HttpCall(
        full,
        method,
        {"User-Agent": _AGENT, "Accept": "*/*", **request.headers},
        data,
        min(filter(None, (request.max_time, request.connect_timeout)), default=0.0)
        if not request.max_time
        else request.max_time,
        insecure=request.has("-k", "--insecure"),
        authorities=request.authorities,
    )
    done = world.request(call)
    if done.outcome != "ok":
        code, text = _failure(request, done, parts.hostname, port)
        spoken = _attempt(request, done, parts.hostname, port) if request.has("-v", "--verbose") else ""
        return _failed(request, code, text, done.seconds, done, full, spoken)
    if not done.status:
        return _failed(request, 1, "Received HTTP/0.9 when not allowed", done.seconds, done, full)
    path = full.partition("://")[2]
    target = f"/{path.partition('/')[2]}" if "/" in path else "/"
    output = request.outputs[index] if index < len(request.outputs) else None
    if output == "":
        output = parts.path.rpartition("/")[2]
        if not output:
            return _failed(request, 23, "Remote file name has no length!", done.seconds)
    return _answered(world, request, done, method, full, target, output)


def _failure(request: Request, done: HttpExchange, host: str, port: int) -> tuple[int, str]:
    """Curl's exit code and error text."""
    spent = round(done.seconds * 1000)
    if done.outcome == "no_such_host":
        return 6, f"Could not resolve host: {host}"
    if done.outcome == "dns_timeout":
        limits = [limit for limit in (request.max_time, request.connect_timeout) if limit]
        if limits and done.seconds >= min(limits):
            return 28, f"Resolving timed out after {spent} milliseconds"
        return 6, f"Could not resolve host: {host}"
    if done.outcome == "tls":
        return (35 if done.problem.startswith("OpenSSL/") else 60), done.problem
    if done.outcome == "reset" and done.phase == "done":
        return 52, "Empty reply from server"
    if done.outcome == "reset":
        return 56, "Recv failure: Connection reset by peer"
    if done.outcome == "timeout" and done.phase == "wait":
        return 28, f"Operation timed out after {spent} milliseconds with 0 bytes received"
    if done.outcome == "timeout" and (request.max_time or request.connect_timeout):
        return 28, f"Connection timed out after {spent} milliseconds"
    code = 7 if done.outcome in ("no_port", "refused") else 28
    return code, f"Failed to connect to {host} port {port} after {spent} ms: Couldn't connect to server"


def _failed(
    request: Request,
    code: int,
    text: str,
    seconds: float,
    done: HttpExchange | None = None,
    url: str = "",
    spoken: str = "",
) -> Answer:
    """An error, after what ``-v`` has told and before what ``-w`` asks for."""
    quiet = request.has("-s", "--silent") and not request.has("-S", "--show-error")
    complaint = "" if quiet else f"curl: ({code}) {text}\n"
    written = _written(request, done, url, code, text.splitlines()[0])
    return Answer(_result(((2, spoken + complaint), (1, written)), code), seconds)


def _attempt(request: Request, done: HttpExchange, host: str, port: int) -> str:
    """What ``-v`` tells of a connection that failed, as curl 8.5 words it."""
    lines = [] if done.phase == "lookup" else _opening(done, host, port)
    reasons = {
        "no_port": "Cannot assign requested address",
        "refused": "Connection refused",
        "timeout": "Connection timed out",
    }
    reason = reasons.get(done.outcome)
    if done.phase == "connect" and reason:
        lines.append(f"* connect to {done.address} port {port} failed: {reason}")
    lines += [f"* {_failure(request, done, host, port)[1].splitlines()[0]}", "* Closing connection"]
    return "".join(f"{line}\n" for line in lines)


def _opening(done: HttpExchange, host: str, port: int) -> list[str]:
    lines = []
    if done.address != host:
        lines = [f"* Host {host}:{port} was resolved.", "* IPv6: (none)", f"* IPv4: {done.address}"]
    return [*lines, f"*   Trying {done.address}:{port}..."]


def _sent(request: Request, done: HttpExchange, method: str, host: str, target: str) -> str:
    """What ``-v`` tells before the answer: the connection and the request's own headers."""
    head = {
        "Host": host if done.port == 80 else f"{host}:{done.port}",
        "User-Agent": _AGENT,
        "Accept": "*/*",
        **request.headers,
    }
    if request.data and method != "GET":
        head["Content-Length"] = str(len(request.body.encode()))
        head["Content-Type"] = head.pop("Content-Type")
    lines = [
        *_opening(done, host, done.port),
        f"* Connected to {host} ({done.address}) port {done.port}",
        f"> {method} {target} HTTP/1.1",
        *(f"> {name}: {value}" for name, value in head.items()),
        "> ",
    ]
    return "".join(f"{line}\n" for line in lines)


def _http_date(time: int) -> str:
    return datetime.fromtimestamp(time // 1_000_000, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")


def _answered(
    world: Requests,
    request: Request,
    done: HttpExchange,
    method: str,
    url: str,
    target: str,
    output: str | None,
) -> Answer:
    head, host = "", urlsplit(url).hostname or ""
    if request.has("-i", "--include", "-I", "--head", "-v", "--verbose"):
        reason = HTTP_REASONS.get(done.status, "")
        # The order in which Go's server writes them: the handler's by name, then its own.
        fields = dict(sorted(done.headers.items()))
        fields.setdefault("Date", _http_date(world.now()))
        fields.setdefault("Content-Length", str(len(done.body.encode())))
        lines = [f"HTTP/1.1 {done.status} {reason}".rstrip(), *(f"{k}: {v}" for k, v in fields.items())]
        head = "".join(f"{line}\r\n" for line in lines) + "\r\n"
    told = left = ""
    if request.has("-v", "--verbose"):
        told = _sent(request, done, method, host, target) + "".join(
            f"< {line}\n" for line in head.splitlines()
        )
        left = f"* Connection #0 to host {host} left intact\n"
    if done.status >= 400 and request.has("-f", "--fail"):
        wrong = f"The requested URL returned error: {done.status}"
        return _failed(request, 22, wrong, done.seconds, done, url, told)
    body = "" if method == "HEAD" else done.body
    shown = head if request.has("-i", "--include", "-I", "--head") else ""
    written = _written(request, done, url)
    if output is not None and output != "-":
        return Answer(_result(((2, told + left), (1, written))), done.seconds, ((output, shown + body),))
    return Answer(_result(((2, told), (1, shown + body), (2, left), (1, written))), done.seconds)


def _written(
    request: Request, done: HttpExchange | None, url: str = "", code: int = 0, complaint: str = ""
) -> str:
    """What ``-w`` asks for; a stage that was not reached took no time, as curl counts."""
    text = request.write_out
    if not text:
        return ""
    done = done or HttpExchange("no_such_host", "lookup", "", 0)
    found, connected, answered = (done.phase not in before for before in _BEFORE)
    size = str(len(done.body.encode()))
    connecting, secure = done.connect_seconds, url.startswith("https")
    values = {
        "http_code": f"{done.status:03d}",
        "response_code": f"{done.status:03d}",
        "time_namelookup": f"{max(done.lookup_seconds, _LOOKED) if found else 0.0:.6f}",
        "time_connect": f"{connecting if connected else 0.0:.6f}",
        "time_appconnect": f"{connecting * 2 if answered and secure else 0.0:.6f}",
        "time_pretransfer": f"{connecting * (2 if secure else 1) if answered else 0.0:.6f}",
        "time_redirect": "0.000000",
        "time_starttransfer": f"{done.seconds if done.status else 0.0:.6f}",
        "time_total": f"{done.seconds:.6f}",
        "size_download": size,
        "speed_download": f"{len(done.body.encode()) / max(done.seconds, 1e-6):.0f}",
        "content_type": done.headers.get("Content-Type", done.headers.get("content-type", "")),
        "http_version": "1.1" if done.status else "0",
        "scheme": url.partition("://")[0],
        "url": url,
        "url_effective": url if url.count("/") > 2 else f"{url}/",
        "method": request.method or "GET",
        "remote_ip": done.address if connected else "",
        "remote_port": str(done.port) if connected else "0",
        "num_connects": "1" if connected else "0",
        "num_redirects": "0",
        "ssl_verify_result": "0",
        "exitcode": str(code),
        "errormsg": complaint,
    }
    for name, value in values.items():
        text = text.replace(f"%{{{name}}}", value)
    return text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")


_BEFORE = (("lookup",), ("lookup", "connect"), ("lookup", "connect", "handshake"))
"""Phases before a name is found, before there is a connection, and before a request can be sent."""
_LOOKED = 0.000412
"""Seconds that a name takes at least, a written address too."""
