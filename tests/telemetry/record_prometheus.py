"""Record what a real Prometheus answers: ``python -m tests.telemetry.record_prometheus`` (``make prometheus``).

It fetches Debian's package (2.42) with ``apt-get download`` into a folder of its own and installs nothing; ``--binaries``
names a folder that has ``prometheus`` and ``promtool`` already. The series of ``drawn.py`` become blocks of its database,
the server is started on the loopback with them, and its answers to ``queries.py`` and ``broken.py`` are written to
``golden/``.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import yaml

from sregym_env.telemetry.series import MemorySource, Series
from tests.telemetry import drawn
from tests.telemetry.broken import BROKEN
from tests.telemetry.compared import answered, difference, shortened, unpacked
from tests.telemetry.expanded import EXPANSIONS
from tests.telemetry.queries import INSTANT, MIDDLE, SOME_RANGES, Question, questions, stale_questions
from tests.telemetry.random_queries import Queries
from tests.telemetry.rules_cases import FILE, promtool_test

GOLDEN = Path(__file__).parent / "golden"


def main() -> None:
    """Record everything, or search, and say what this package answers otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", type=Path, help="a folder with prometheus and promtool")
    parser.add_argument(
        "--search", type=int, default=0, help="record nothing, and try so many random queries"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the search")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        binaries = given.binaries or _fetched(work)
        _blocks(binaries, work)
        with _served(binaries, work) as address:
            if given.search:
                _search(address, given.search, given.seed)
            else:
                _confirmed(binaries, work)
                _record(address)
        if not given.search:
            with _served(
                binaries, work, "--storage.tsdb.path=written", "--web.enable-remote-write-receiver"
            ) as address:
                _write_to(address, drawn.stale_series())
                _record_stale(address)


def _record(address: str) -> None:
    asked = questions()
    answers = [shortened(question, _asked(address, question)) for question in asked]
    texts = [_asked(address, ("query", {"query": query, "time": str(MIDDLE // 1000)})) for query in BROKEN]
    expansions = [_expanded(address, number) for number in range(len(EXPANSIONS))]
    refused = [each["error"] if each.get("errorType") == "bad_data" else None for each in texts]
    _write("answers", [[*question, answer] for question, answer in zip(asked, answers, strict=True)])
    _write("broken", [list(pair) for pair in zip(BROKEN, refused, strict=True)])
    _write("formatted", [[query, _formatted(address, query)] for query in [*INSTANT, *SOME_RANGES]])
    _write("expanded", [list(pair) for pair in zip(EXPANSIONS, expansions, strict=True)])
    for question, answer in zip(asked, answers, strict=True):
        _compare(question, answer)
    print(f"{len(asked)} answers, {len(BROKEN)} texts that are no queries, {len(EXPANSIONS)} templates")


def _search(address: str, count: int, seed: int) -> None:
    """Random queries, good and spoilt by turns. Where order is random there, some differences are none."""
    queries = Queries(seed)
    found = 0
    for number in range(count):
        text = queries.spoilt() if number % 2 else queries.vector()
        question: Question = ("query", {"query": text, "time": str(MIDDLE // 1000)})
        found += _compare(question, shortened(question, _asked(address, question)))
    print(f"{found} differences in {count} queries")


def _record_stale(address: str) -> None:
    asked = stale_questions()
    answers = [shortened(question, _asked(address, question)) for question in asked]
    _write("stale", [[*question, answer] for question, answer in zip(asked, answers, strict=True)])
    source = MemorySource(drawn.stale_series())
    for question, answer in zip(asked, answers, strict=True):
        _compare(question, answer, source)
    print(f"{len(asked)} answers about series with stale markers")


def _write_to(address: str, series: Iterable[Series]) -> None:
    """Hand series to a server by remote write: protobuf in a Snappy block that compresses nothing."""
    body = b"".join(_field(1, _time_series(each)) for each in series)
    block = _varint(len(body))
    for begin in range(0, len(body), 1 << 16):
        part = body[begin : begin + (1 << 16)]
        block += bytes((61 << 2,)) + (len(part) - 1).to_bytes(2, "little") + part
    headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"}
    with urlopen(Request(f"{address}/api/v1/write", block, headers), timeout=30) as answer:
        assert answer.status == 204


def _time_series(series: Series) -> bytes:
    out = b""
    for name, value in series.labels:
        out += _field(1, _field(1, name.encode()) + _field(2, value.encode()))
    for value, instant in zip(series.values, series.timestamps.tolist(), strict=True):
        out += _field(2, b"\x09" + value.tobytes() + b"\x10" + _varint(instant))
    return out


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


_SOURCE = drawn.source()


def _compare(question: Question, answer: Any, source: MemorySource = _SOURCE) -> bool:
    """Print how this package's answer differs, if it does."""
    ours = json.loads(json.dumps(shortened(question, answered(source, question))))
    found = difference(unpacked(answer), unpacked(ours))
    if found:
        print(*question, found, sep="\n    ")
    return bool(found)


def _write(name: str, rows: list[Any]) -> None:
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    (GOLDEN / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _fetched(work: Path) -> Path:
    """The binaries of Debian's package, unpacked into the work folder."""
    subprocess.run(["apt-get", "download", "prometheus"], cwd=work, check=True, stdout=subprocess.DEVNULL)
    package = next(work.glob("prometheus_*.deb"))
    subprocess.run(["dpkg", "-x", package, work / "package"], check=True)
    return work / "package" / "usr" / "bin"


def _blocks(binaries: Path, work: Path) -> None:
    """The drawn series as blocks of a database."""
    with open(work / "series.txt", "w", encoding="utf-8") as file:
        file.writelines(drawn.open_metrics(drawn.series()))
    command = [binaries / "promtool", "tsdb", "create-blocks-from", "openmetrics", "series.txt", "data"]
    subprocess.run(command, cwd=work, check=True, stdout=subprocess.DEVNULL)


def _confirmed(binaries: Path, work: Path) -> None:
    """Have promtool check what this package says of the rules' alerts. Raises CalledProcessError where it is wrong."""
    (work / FILE.name).write_text(FILE.read_text())
    (work / "test.yaml").write_text(yaml.safe_dump(promtool_test()))
    subprocess.run([binaries / "promtool", "test", "rules", "test.yaml"], cwd=work, check=True)


@contextmanager
def _served(binaries: Path, work: Path, *more: str) -> Iterator[str]:
    """A server, with the blocks unless more options say otherwise; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (work / "prometheus.yml").write_text("{}\n")
    (work / "consoles").mkdir(exist_ok=True)
    for number, template in enumerate(EXPANSIONS):
        (work / "consoles" / f"{number}.html").write_text(template)
    command = [
        binaries / "prometheus", "--config.file=prometheus.yml", *(more or ("--storage.tsdb.path=data",)),
        "--storage.tsdb.retention.time=50y", f"--web.listen-address=127.0.0.1:{port}",
        "--web.console.templates=consoles", "--web.console.libraries=consoles",
    ]  # fmt: skip
    server = subprocess.Popen(command, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def _wait(address: str) -> None:
    for _ in range(300):
        try:
            with urlopen(f"{address}/-/ready", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    sys.exit("Prometheus does not come up")


def _asked(address: str, question: Question) -> dict[str, Any]:
    endpoint, parameters = question
    try:
        with urlopen(f"{address}/api/v1/{endpoint}?{urlencode(parameters)}", timeout=60) as answer:
            return {"code": answer.status, **json.load(answer)}
    except HTTPError as error:
        return {"code": error.code, **json.load(error)}


def _formatted(address: str, query: str) -> str | None:
    """How the server writes a query; None where it refuses it, or breaks the line."""
    answer = _asked(address, ("format_query", {"query": query}))
    text = answer.get("data")
    return text if isinstance(text, str) and "\n" not in text else None


def _expanded(address: str, number: int) -> str:
    """A template expanded by the server; empty where it does not parse or fails."""
    try:
        with urlopen(f"{address}/consoles/{number}.html", timeout=30) as answer:
            return str(answer.read().decode())
    except HTTPError as error:
        return f"error: {error.read().decode().strip()}"


if __name__ == "__main__":
    os.umask(0o022)
    main()
