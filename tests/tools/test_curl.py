"""curl's texts, exit codes and options over every way a request can end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.shell.commands.curl import CurlError, curl, parse

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
OWN = {"User-Agent": "curl/8.5.0", "Accept": "*/*"}
"""What curl sends unasked."""
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: Thu, 06 Aug 2026 10:02:14 GMT\r\nContent-Length: 5\r\n\r\n"
OK = HttpExchange("ok", "done", "10.0.0.1", 80, 200, {"Content-Type": "text/plain"}, "hello", 0.25, 0.01)


class Far:
    """A world whose network gives one answer."""

    def __init__(self, answer: HttpExchange = OK) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, Mapping[str, str], str, float]] = []

    def request(self, call: HttpCall) -> HttpExchange:
        self.asked.append((call.url, call.method, call.headers, call.body, call.timeout))
        return self.answer

    def now(self) -> int:
        return 1_786_010_534_000_000


def run(line: list[str], answer: HttpExchange = OK) -> tuple[str, str, int]:
    done = curl(Far(answer), line)  # type: ignore[arg-type]
    return done.result.stdout, done.result.stderr, done.result.exit_code


def failed(outcome: Any, phase: Any = "connect", seconds: float = 0.1) -> HttpExchange:
    return HttpExchange(outcome, phase, "10.0.0.1", 80, seconds=seconds)


@pytest.mark.parametrize(
    ("answer", "code", "text"),
    [
        (failed("no_such_host", "lookup"), 6, "curl: (6) Could not resolve host: web\n"),
        (failed("dns_timeout", "lookup"), 6, "curl: (6) Could not resolve host: web\n"),
        (failed("refused"), 7, "curl: (7) Failed to connect to web port 80 after 100 ms: Couldn't connect to server\n"),
        (failed("reset", "wait"), 56, "curl: (56) Recv failure: Connection reset by peer\n"),
        (failed("timeout", "wait"), 28, "curl: (28) Operation timed out after 100 milliseconds with 0 bytes received\n"),
        (failed("timeout"), 28, "curl: (28) Failed to connect to web port 80 after 100 ms: Couldn't connect to server\n"),
        (HttpExchange("ok", "done", "10.0.0.1", 80), 1, "curl: (1) Received HTTP/0.9 when not allowed\n"),
    ],
)  # fmt: skip
def test_failures(answer: HttpExchange, code: int, text: str) -> None:
    assert run(["http://web/"], answer) == ("", text, code)
    assert run(["-s", "http://web/"], answer) == ("", "", code)
    assert run(["-sS", "http://web/"], answer) == ("", text, code)


@pytest.mark.parametrize(
    ("line", "stdout"),
    [
        (["web"], "hello"),
        (
            ["-i", "web"],
            f"{HEAD}hello",
        ),
        (
            ["-I", "web"],
            HEAD,
        ),
        (["-w", "%{http_code}\\n", "web"], "hello200\n"),
        (["-so", "f", "-w", "%{http_code} %{time_total}", "web"], "200 0.250000"),
        (["--max-time=3", "web"], "hello"),
    ],
)
def test_answers(line: list[str], stdout: str) -> None:
    assert run(line)[0] == stdout


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        (["web:8080/x"], ("http://web:8080/x", "GET", OWN, "", 0.0)),
        (["-XPOST", "-d", "a=1", "-d", "b=2", "web"], ("http://web", "POST", OWN | FORM, "a=1&b=2", 0.0)),
        (["-H", "A: b", "-m5", "web"], ("http://web", "GET", OWN | {"A": "b"}, "", 5.0)),
        (["-G", "-d", "a=1", "http://web/?x=y"], ("http://web/?x=y&a=1", "GET", OWN, "", 0.0)),
        (["-sI", "web"], ("http://web", "HEAD", OWN, "", 0.0)),
        (["--connect-timeout", "2", "web"], ("http://web", "GET", OWN, "", 2.0)),
    ],
)
def test_requests(line: list[str], asked: tuple[Any, ...]) -> None:
    far = Far()
    curl(far, line)  # type: ignore[arg-type]
    assert far.asked == [asked]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ([], 2), (["--bogus", "x"], 2), (["-m"], 2), (["-m", "x", "web"], 2), (["ftp://web"], 1),
        (["http://web:99999999"], 3), (["--cacert", "/nothing", "https://web"], 77),
    ],
)  # fmt: skip
def test_refusals(line: list[str], code: int) -> None:
    assert run(line)[2] == code


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        ("SSL certificate problem: self-signed certificate", 60),
        ("OpenSSL/3.0.13: error:0A00010B:SSL routines::wrong version number", 35),
    ],
)
def test_insecure_connections(problem: str, code: int) -> None:
    refused = HttpExchange("tls", "handshake", "10.0.0.1", 443, problem=problem)
    assert run(["https://web"], refused) == ("", f"curl: ({code}) {problem}\n", code)


def test_fail_turns_http_errors_into_exit_codes() -> None:
    broken = HttpExchange("ok", "done", "10.0.0.1", 80, 503, {}, "sorry", 0.1)
    assert run(["web"], broken) == ("sorry", "", 0)
    assert run(["-f", "web"], broken) == ("", "curl: (22) The requested URL returned error: 503\n", 22)


def test_output_goes_to_a_file() -> None:
    done = curl(Far(), ["-s", "-o", "page", "web"])  # type: ignore[arg-type]
    assert (done.files, done.result.stdout) == ((("page", "hello"),), "")
    assert curl(Far(), ["-sO", "web/a/page.html"]).files == (("page.html", "hello"),)  # type: ignore[arg-type]
    assert curl(Far(), ["-o", "a", "-o", "b", "web/1", "web/2"]).files == (("a", "hello"), ("b", "hello"))  # type: ignore[arg-type]
    assert run(["-O", "web/"])[1:] == ("curl: (23) Remote file name has no length!\n", 23)


def test_timeouts_of_lookups_need_a_limit() -> None:
    late = failed("dns_timeout", "lookup", 2.0)
    assert run(["-m", "2", "web"], late)[1:] == (
        "curl: (28) Resolving timed out after 2000 milliseconds\n",
        28,
    )


def test_data_comes_from_files() -> None:
    far = Far()
    curl(far, ["-d", "@f", "--data-raw", "@g", "web"], lambda path: "a=1\n" if path == "f" else None)  # type: ignore[arg-type]
    assert far.asked[0][3] == "a=1&@g"
    assert run(["-d", "@none", "web"]) == ("", "curl: Failed to open none\n", 26)


def test_parse_reads_bundles() -> None:
    request = parse(["-sSkLm", "7", "web"])
    assert (request.max_time, request.urls) == (7.0, ["web"])
    with pytest.raises(CurlError, match="is unknown"):
        parse(["-s?", "web"])


def test_verbose_tells_the_connection_the_request_and_the_answer() -> None:
    stdout, stderr, code = run(["-sv", "-d", "a=1", "http://web/path"])
    assert (stdout, code) == ("hello", 0)
    assert stderr.splitlines()[3:] == [
        "*   Trying 10.0.0.1:80...",
        "* Connected to web (10.0.0.1) port 80",
        "> POST /path HTTP/1.1",
        "> Host: web",
        "> User-Agent: curl/8.5.0",
        "> Accept: */*",
        "> Content-Length: 3",
        "> Content-Type: application/x-www-form-urlencoded",
        "> ",
        "< HTTP/1.1 200 OK",
        "< Content-Type: text/plain",
        "< Date: Thu, 06 Aug 2026 10:02:14 GMT",
        "< Content-Length: 5",
        "< ",
        "* Connection #0 to host web left intact",
    ]


def test_verbose_tells_why_a_connection_failed() -> None:
    _, stderr, code = run(["-sv", "http://web/"], failed("refused"))
    assert code == 7
    assert stderr.splitlines()[-3:] == [
        "* connect to 10.0.0.1 port 80 failed: Connection refused",
        "* Failed to connect to web port 80 after 100 ms: Couldn't connect to server",
        "* Closing connection",
    ]


def test_what_is_written_of_a_failure() -> None:
    form = "%{http_code} %{time_namelookup} %{time_connect} %{time_pretransfer} %{time_total} %{exitcode}\\n"
    slow = HttpExchange(
        "timeout", "connect", "10.0.0.1", 80, seconds=5.0, connect_seconds=5.0, lookup_seconds=0.002
    )
    assert (
        run(["-s", "-m", "5", "-w", form, "web"], slow)[0] == "000 0.002000 0.000000 0.000000 5.000000 28\n"
    )
    lost = HttpExchange("no_such_host", "lookup", "", 80, seconds=0.01, connect_seconds=0.01)
    assert run(["-s", "-w", form, "web"], lost)[0] == "000 0.000000 0.000000 0.000000 0.010000 6\n"


def test_streams_in_the_order_of_a_terminal() -> None:
    done = curl(Far(OK), ["-sv", "-w", "%{http_code}\\n", "web"]).result  # type: ignore[arg-type]
    assert done.text.index("* Connected to web") < done.text.index("hello")
    assert done.text.endswith("hello* Connection #0 to host web left intact\n200\n")
    failing = curl(Far(failed("refused")), ["-sSv", "-w", "%{http_code}\\n", "web"]).result  # type: ignore[arg-type]
    assert failing.text.endswith(
        "* Closing connection\ncurl: (7) " + failing.stderr.rpartition("curl: (7) ")[2] + "000\n"
    )
