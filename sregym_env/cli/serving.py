"""Serving problems to real clients: kubectl, Helm, client libraries, agents that live on this machine."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sregym_env import apps
from sregym_env.errors import UsageError, told_of
from sregym_env.serve.incident import MCP_PATH, healthy
from sregym_env.serve.incidents import AGENT_CONFIG, Incident, Incidents
from sregym_env.serve.ports import PortError


@dataclass(frozen=True, slots=True)
class Wanted:
    """How `sregym serve` is to serve; the names are those of its options."""

    copies: int = 1
    seed: int = 0
    noise: bool = False
    variation: bool = True
    healthy: bool = False
    admin: bool = False
    port: int = 0
    desk_port: int = 0
    speed: float = 1.0
    step: bool = False
    directory: str = ""
    ready_file: str = ""
    exit_when_done: bool = False
    journal: str = ""

    def check(self) -> None:
        """Raise UsageError for what contradicts itself."""
        if self.port and self.port == self.desk_port:
            raise UsageError(f"--port and --desk-port are both {self.port}; they are two servers")
        if self.ready_file and not os.access(Path(self.ready_file).absolute().parent, os.W_OK | os.X_OK):
            raise UsageError(
                f"--ready-file {self.ready_file}: nothing can be written there; name another place"
            )
        if self.ready_file and Path(self.ready_file).is_dir():
            raise UsageError(f"--ready-file {self.ready_file} is a folder; name a file in it")
        if self.healthy and self.exit_when_done:
            raise UsageError(
                "--exit-when-done: with --healthy nothing is ever handed in; leave one of them out"
            )


def serve(problems: Sequence[str], wanted: Wanted) -> None:
    """Stage the problems and serve their clusters until interrupted, or done; prints where everything is.

    A single one is served at the root of its URLs, several below ``/c/1``, ``/c/2`` and so on; copies differ by
    their seeds. ``-`` stands for the words on standard input: a process list does not show them. What an earlier
    server left in the journal goes on instead. Raises UsageError, OSError, and what staging raises.
    """
    wanted.check()
    if "-" in problems and sys.stdin.isatty():
        print("sregym: reading problems from the terminal; end with Ctrl-D", file=sys.stderr)
    words = [word for each in problems for word in (sys.stdin.read().split() if each == "-" else [each])]
    if problems and not words:
        raise UsageError("there is no problem on standard input; give ids of `sregym list`, one or more")
    if wanted.healthy:
        for word in words:
            apps.app(word)
    with _terminating(), _folder(wanted.directory) as directory, _told_ports(wanted):
        _serve(directory, words, wanted)


@contextmanager
def _terminating() -> Iterator[None]:
    """Let a request to end be an exit like any other, which removes what was written."""

    def leave(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _folder(directory: str) -> Iterator[Path]:
    if not directory:
        with tempfile.TemporaryDirectory(prefix="sregym-") as made:
            yield Path(made)
        return
    path = Path(directory)
    there = path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise UsageError(
            f"--directory {directory} cannot be written to: {error.strerror}; name another"
        ) from None
    try:
        yield path
    finally:
        if not there:
            with suppress(OSError):  # something else is in it by now
                path.rmdir()


@contextmanager
def _told_ports(wanted: Wanted) -> Iterator[None]:
    """A port that cannot be had is told with the option that asks for it."""
    try:
        yield
    except PortError as error:
        option = "--desk-port" if error.port == wanted.desk_port else "--port"
        if wanted.journal and error.port not in (wanted.port, wanted.desk_port):
            raise UsageError(
                f"port {error.port}, on which the clients of {wanted.journal} know the server: {error.why}; end what "
                "listens there"
            ) from None
        raise UsageError(
            f"{option} {error.port}: {error.why}; choose another with {option}, or leave it out for any that is free"
        ) from None


def _serve(directory: Path, words: Sequence[str], wanted: Wanted) -> None:
    lost = _left_behind(directory) and not wanted.journal
    pool = Incidents(
        directory,
        _print_result,
        port=wanted.port,
        desk_port=wanted.desk_port,
        mode="step" if wanted.step else "real",
        factor=wanted.speed,
        admin=wanted.admin,
        journal=Path(wanted.journal) if wanted.journal else None,
    )
    ready = Path(wanted.ready_file) if wanted.ready_file else None
    try:
        if lost:
            print(
                f"what was served from {directory} before is gone: no journal was kept. These are new clusters.",
                flush=True,
            )
        _open(pool, words, wanted)
        if wanted.exit_when_done:
            pool.when_finished(pool.server.stop)
        print("Interrupt to stop.", flush=True)
        pool.server.run(lambda: _say_ready(ready, pool))
    finally:
        if pool.forget():
            print(
                f"The journal {wanted.journal} is kept: the same command goes on from it, without the folder it begins anew.",
                flush=True,
            )
        if ready is not None:
            ready.unlink(missing_ok=True)


def _left_behind(directory: Path) -> bool:
    """Whether a server that was killed has left its kubeconfigs here."""
    return any(directory.glob(AGENT_CONFIG)) or any(directory.glob(f"*/{AGENT_CONFIG}"))


def _open(pool: Incidents, words: Sequence[str], wanted: Wanted) -> None:
    resumed = pool.incidents
    if resumed:
        kept = sorted({incident.problem for incident in resumed.values()})
        asked = sorted(healthy(word)["id"] if wanted.healthy else word for word in set(words))
        if words and kept != asked:
            raise UsageError(
                f"--journal {wanted.journal} is of other problems than were asked for; leave them out to go on with those, "
                "or remove the folder to begin anew"
            )
        for incident in resumed.values():
            _print_place(incident)
        print("What the journal holds goes on.", flush=True)
        return
    if not words:
        raise UsageError(
            "nothing to serve: name a problem, one or more"
            + (f"; the journal {wanted.journal} is empty" if wanted.journal else "")
        )
    played = [(word, wanted.seed + copy) for word in words for copy in range(wanted.copies)]
    for number, (word, seed) in enumerate(played, 1):
        problem: str | Mapping[str, Any] = healthy(word) if wanted.healthy else word
        name = "" if len(played) == 1 else str(number)
        _print_place(pool.open(problem, seed=seed, noise=wanted.noise, variation=wanted.variation, name=name))


def _say_ready(path: Path | None, pool: Incidents) -> None:
    """Write where everything is, now that it answers: whole or not at all. Nothing in it names a problem."""
    if path is None:
        return
    said = {
        "pid": os.getpid(),
        "clusters": [
            {
                "name": incident.name,
                "kubeconfig": str(incident.kubeconfig.absolute()),
                "url": incident.cluster.url,
                "desk": incident.desk,
                "mcp": incident.desk + MCP_PATH,
            }
            for incident in pool.incidents.values()
        ],
    }
    draft = path.with_name(f"{path.name}.draft")
    with told_of(path):
        draft.write_text(json.dumps(said, indent=2) + "\n")
    draft.replace(path)


def _print_place(incident: Incident) -> None:
    if incident.name:
        print(f"cluster {incident.name}: {incident.problem}, seed {incident.seed}")
    print(f"KUBECONFIG={incident.kubeconfig}")
    if incident.admin is not None:
        print(f"administrator {incident.admin}")
    print(f"API server    {incident.cluster.url}")
    print(f"MCP           {incident.desk}{MCP_PATH}")
    print(f"incident desk {incident.desk} (GET /get_app, /status, /api/v1/alerts; POST /submit)")


def _print_result(incident: Incident, reward: float, info: dict[str, Any]) -> None:
    shown = ("is_success", "Diagnosis", "Mitigation", "TTD", "TTM", "exit_reason")
    where = {"cluster": incident.name} if incident.name else {}
    result = {**where, "reward": reward, **{key: info[key] for key in shown}}
    print(json.dumps(result), flush=True)
