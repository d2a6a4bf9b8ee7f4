"""The real kubectl and the one in process, side by side on forks of one world.

Each case is typed in a fork of its own. The server stands still in time (step mode) and shifts timestamps so that
the real kubectl computes the ages that the world means; on the way back they are shifted again, so that the two
outputs can be compared byte for byte.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory
from typing import Any

from sregym_env.cluster.api import Cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl
from sregym_env.tools.kubectl.kubeconfig import Context, KubeConfig
from tests.parity.desk import DiskDesk
from tests.parity.elsewhen import PAST, Elsewhen
from tests.serve.serving import NAMESPACE, Served, served

_RFC3339 = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=(\.\d+)?(Z|\+00:00))")
_PLAIN = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?= \+0000 UTC)")
_RFC1123 = re.compile(r"\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d(?= \+0000)")

SETTLING = 2.0
"""Virtual seconds after each preparing command, unless a state says otherwise."""

PATIENCE = 40.0
"""Seconds of wall-clock time a command of the real kubectl may take: more than ``wait`` waits by itself."""


@dataclass(frozen=True)
class Case:
    """One thing to do with kubectl, perhaps after some preparation."""

    line: str
    before: tuple[str, ...] = ()
    """Commands carried out first, on both sides, by the in-process kubectl."""
    stdin: str = ""

    def __str__(self) -> str:
        return self.line + (f"   (after {'; '.join(self.before)})" if self.before else "")


@dataclass(frozen=True)
class Outcome:
    """What a command left, without what differs from run to run."""

    stdout: str
    stderr: str
    code: int

    def differing(self, other: Outcome) -> list[str]:
        """Names of the parts in which two outcomes differ."""
        return [part for part in ("stdout", "stderr", "code") if getattr(self, part) != getattr(other, part)]


class Files:
    """The directory both kubectls read manifests from."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.folder = str(root)

    def read_text(self, path: str) -> str:
        """Content of a file."""
        return (self._root / path).read_text()

    def list_files(self, path: str) -> Sequence[str]:
        """Paths of the files directly in a directory, sorted."""
        folder = self._root / path
        if not folder.is_dir():
            return ()
        return sorted(f"{path}/{found.name}" for found in folder.iterdir() if found.is_file())


@dataclass(frozen=True)
class Bench:
    """Where and how the lines of a state are typed."""

    home: Path
    """The working directory."""
    url: str = "https://127.0.0.1:6443"
    settling: float = SETTLING
    """Virtual seconds after each preparing command."""
    namespace: str = NAMESPACE
    """Of the current context."""
    streams: bool = False
    """Whether the lines use files, editors and streams: what kubectl makes up as it goes is then made equal."""

    def write(self, files: Mapping[str, str]) -> None:
        """Put files into the working directory, folders included; programs can be executed."""
        for name, text in files.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if text.startswith("#!"):
                path.chmod(0o755)

    def kubectl(self, cluster: Cluster) -> Kubectl:
        """The in-process kubectl as the administrator's kubeconfig has it."""
        context = Context("kubernetes-admin", "kubernetes", "kubernetes-admin", self.namespace)
        config = KubeConfig(
            (context,),
            context.name,
            "kubernetes",
            self.url,
            credentials=((context.user, '{"token": "secret"}'),),
            options=((context.cluster, '{"certificate-authority-data": "Q0E="}'),),
        )
        return Kubectl(cluster, self.namespace, config=config)

    def typed(self, cluster: Cluster, case: Case) -> Outcome:
        """What the in-process kubectl prints for the line of a case."""
        words, variables = _words(case.line)
        desk = DiskDesk(self.home, variables) if self.streams else None
        done = self.kubectl(cluster).run(words, case.stdin, Files(self.home), desk=desk)
        return self.outcome(done.stdout, done.stderr, done.exit_code)

    def prepare(self, world: EmbeddedWorld, before: Sequence[str]) -> None:
        """Carry out preparing commands."""
        for line in before:
            self.kubectl(world.cluster).run(shlex.split(line), "", Files(self.home))
            world.advance(self.settling)

    def outcome(self, stdout: str, stderr: str, code: int) -> Outcome:
        """What a command left, without what differs from run to run."""
        if self.streams:
            stdout, stderr = _plain(stdout), _plain(stderr)
        return Outcome(settled(stdout, self.home), settled(stderr, self.home), code)


class InProcess:
    """The in-process kubectl on forks of one world."""

    def __init__(self, base: EmbeddedWorld, bench: Bench) -> None:
        self.base = base
        self.bench = bench
        self._prepared: tuple[tuple[str, ...], EmbeddedWorld] = ((), base)

    def prepared(self, case: Case) -> EmbeddedWorld:
        """The world in which the command of a case is typed: not to be changed."""
        if self._prepared[0] != case.before:
            world = self.base.fork()
            self.bench.prepare(world, case.before)
            self._prepared = (case.before, world)
        return self._prepared[1]

    def run(self, case: Case) -> Outcome:
        """What the in-process kubectl prints."""
        return self.bench.typed(self.prepared(case).fork().cluster, case)


class Sides:
    """Both kubectls on one world."""

    def __init__(self, base: EmbeddedWorld, running: Served, bench: Bench) -> None:
        self._served = running
        server = running.server
        self._elsewhen = Elsewhen(server.application, server.hosted)
        server._mounts.mount("", self._elsewhen)
        self.ours = InProcess(base, bench)
        own = running.kubeconfig.read_text()
        self._kubeconfig = own.replace(f"namespace: {NAMESPACE}", f"namespace: {bench.namespace}")

    def type_into(self, binary: Path) -> None:
        """Take this real kubectl from now on; it names itself in its messages, so that it is called by its usual name."""
        folder = self.ours.bench.home.parent / binary.name
        folder.mkdir(exist_ok=True)
        named = folder / "kubectl"
        if not named.exists():
            named.symlink_to(binary)
        self._served.binary = named

    def real(self, case: Case) -> Outcome:
        """What the real kubectl prints."""
        prepared = self.ours.prepared(case)
        _wait_for_early_second()
        self._served.put(prepared.fork())
        self._elsewhen.anchor()
        self._served.kubeconfig.write_text(self._kubeconfig)  # ``kubectl config`` may have changed it
        offset = self._elsewhen.offset
        words, variables = _words(case.line)
        try:
            done = self._served.kubectl(words, case.stdin, PATIENCE, **variables)
        except TimeoutExpired:
            return Outcome("", f"still running after {PATIENCE:g} s", -1)
        return self.ours.bench.outcome(
            _shifted(done.stdout, -offset), _shifted(done.stderr, -offset), done.code
        )

    def compare(self, case: Case, tries: int = 3) -> tuple[Outcome, Outcome]:
        """Outcome of the real one and of ours. A difference is looked at again: on a machine under load a
        second may begin in between, and ages differ then."""
        ours = self.ours.run(case)
        real = self.real(case)
        while real != ours and tries > 1 and real.code >= 0:
            real = self.real(case)
            tries -= 1
        return real, ours


def _words(line: str) -> tuple[list[str], dict[str, str]]:
    """Arguments, and the variables written before them."""
    words = shlex.split(line)
    variables: dict[str, str] = {}
    while words and "=" in words[0] and words[0].partition("=")[0].isupper():
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    return words, {"SHELL": "/bin/bash", **variables}


def _wait_for_early_second() -> None:
    """Ages are whole seconds: start early in one, so that both sides see the same."""
    fraction = time.time() % 1
    if fraction > 0.6:
        time.sleep(1.0 - fraction + 0.01)


_TEMPORARY = (
    # kubectl diff names temporary directories and says when it wrote the files in them.
    (re.compile(r"/tmp/(LIVE|MERGED)-\d{1,10}/"), r"/tmp/\1/"),
    (re.compile(r"^((?:---|\+\+\+) /tmp/\S+\t)[-0-9]{10} [:0-9]{8}\.\d{9} [+]0000$", re.MULTILINE), r"\1"),
    # klog says when and in which process; who asks often is told that it had to wait.
    (re.compile(r"^[IWE]\d{4} [\d:.]+ +\d+ request\.go:\d+\] Waited for .*\n", re.MULTILINE), ""),
    (re.compile(r"^[IWE]\d{4} [\d:.]+ +\d+ reflector\.go:\d+\] .*very short watch.*\n", re.MULTILINE), ""),
    (re.compile(r"^([IWE])\d{4}(?: [\d:.]+ +\d+)? (?=\w+\.go:)", re.MULTILINE), r"\1 "),
    (re.compile(r"/tmp/\S+/files/admin\.kubeconfig"), "/home/oncall/.kube/config"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "127.0.0.1:6443"),
)
_GENERATED = (
    (re.compile("\r\n"), "\n"),
    (re.compile(r"debugger-(sre-worker-)?[a-z0-9]{5}\b"), r"debugger-\1xxxxx"),
    (re.compile(r"/tmp/kubectl-edit-\d+"), "/tmp/kubectl-edit"),
    (re.compile(r'exec "[0-9a-f]{64}"'), 'exec "ID"'),
)
"""Names that kubectl and the kubelet make up, and newlines as a process in text mode gives them."""


def settled(text: str, home: Path) -> str:
    """Output without what differs from run to run."""
    for pattern, replacement in _TEMPORARY:
        text = pattern.sub(replacement, text)
    return text.replace(str(home), "~")


def _plain(text: str) -> str:
    for pattern, replacement in _GENERATED:
        text = pattern.sub(replacement, text)
    return text


def _shifted(text: str, seconds: int) -> str:
    delta = timedelta(seconds=seconds)
    oldest = datetime.fromtimestamp(time.time(), UTC) - PAST

    def iso(found: re.Match[str]) -> str:
        moment = datetime.fromisoformat(found[0]).replace(tzinfo=UTC)
        return found[0] if moment < oldest else (moment + delta).strftime("%Y-%m-%dT%H:%M:%S")

    def mail(found: re.Match[str]) -> str:
        moment = datetime.strptime(found[0], "%a, %d %b %Y %H:%M:%S").replace(tzinfo=UTC)
        if moment < oldest:
            return found[0]
        return (moment + delta).strftime("%a, %d %b %Y %H:%M:%S")

    def plain(found: re.Match[str]) -> str:
        return iso(found).replace("T", " ")

    return _RFC1123.sub(mail, _PLAIN.sub(plain, _RFC3339.sub(iso, text)))


@contextmanager
def sides(base: EmbeddedWorld, files: Mapping[str, str], **how: Any) -> Iterator[Sides]:
    """Both kubectls, ready to be compared on a world, with files in their working directory; ``how``: see Bench."""
    with TemporaryDirectory(prefix="sregym-parity-") as made, served(base.fork(), Path(made)) as running:
        bench = Bench(running.home, running.server.url, **how)
        bench.write(files)
        yield Sides(base, running, bench)
