"""The real kubectl and the one in process, side by side on forks of one world.

The server stands still in time (step mode) and shifts timestamps so that the real kubectl computes the ages
that the world means; on the way back they are shifted again, so that the two outputs can be compared byte
for byte.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory

from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl
from sregym_env.tools.kubectl.kubeconfig import Context, KubeConfig
from tests.serve.serving import NAMESPACE, Served, served

_RFC3339 = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=(\.\d+)?(Z|\+00:00))")
_PLAIN = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?= \+0000 UTC)")
_RFC1123 = re.compile(r"\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d(?= \+0000)")

SETTLING = 2.0
"""Virtual seconds after each preparing command."""

PATIENCE = 15.0
"""Seconds of wall-clock time a command of the real kubectl may take."""


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


class InProcess:
    """The in-process kubectl on forks of one world."""

    def __init__(self, base: EmbeddedWorld, home: Path, url: str = "https://127.0.0.1:6443") -> None:
        self.base = base
        self._home = home
        self._url = url
        self._files = Files(home)
        self._prepared: tuple[tuple[str, ...], EmbeddedWorld] = ((), base)

    def prepared(self, case: Case) -> EmbeddedWorld:
        """The world in which the command of a case is typed: not to be changed."""
        if self._prepared[0] != case.before:
            self._prepared = (case.before, self._prepare(case.before))
        return self._prepared[1]

    def _prepare(self, before: Sequence[str]) -> EmbeddedWorld:
        world = self.base.fork()
        for line in before:
            self._kubectl(world).run(shlex.split(line), "", self._files)
            world.advance(SETTLING)
        return world

    def run(self, case: Case) -> Outcome:
        """What the in-process kubectl prints."""
        world = self.prepared(case).fork()
        done = self._kubectl(world).run(shlex.split(case.line), case.stdin, self._files)
        return Outcome(settled(done.stdout, self._home), settled(done.stderr, self._home), done.exit_code)

    def _kubectl(self, world: EmbeddedWorld) -> Kubectl:
        context = Context("kubernetes-admin", "kubernetes", "kubernetes-admin", NAMESPACE)
        config = KubeConfig((context,), context.name, "kubernetes", self._url)
        return Kubectl(world.cluster, NAMESPACE, config=config)


class Sides:
    """Both kubectls on one world."""

    def __init__(self, base: EmbeddedWorld, running: Served) -> None:
        self._served = running
        self.ours = InProcess(base, running.home, running.server.url)
        self._kubeconfig = running.kubeconfig.read_bytes()

    def real(self, case: Case) -> Outcome:
        """What the real kubectl prints."""
        prepared = self.ours.prepared(case)
        _wait_for_early_second()
        self._served.put(prepared.fork())
        self._served.kubeconfig.write_bytes(self._kubeconfig)  # ``kubectl config`` may have changed it
        offset = self._served.server.hosted.pace.offset
        try:
            done = self._served.kubectl(shlex.split(case.line), case.stdin, PATIENCE)
        except TimeoutExpired:
            return Outcome("", f"still running after {PATIENCE:g} s", -1)
        home = self._served.home
        return Outcome(
            settled(_shifted(done.stdout, -offset), home),
            settled(_shifted(done.stderr, -offset), home),
            done.code,
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


def _wait_for_early_second() -> None:
    """Ages are whole seconds: start early in one, so that both sides see the same."""
    fraction = time.time() % 1
    if fraction > 0.6:
        time.sleep(1.0 - fraction + 0.01)


_TEMPORARY = (
    # kubectl diff names temporary directories and says when it wrote the files in them.
    (re.compile(r"/tmp/(LIVE|MERGED)-\d+"), r"/tmp/\1"),
    (re.compile(r"^((?:---|\+\+\+) /tmp/\S+\t).*$", re.MULTILINE), r"\1"),
    # klog says when and in which process; who asks often is told that it had to wait.
    (re.compile(r"^[IWE]\d{4} [\d:.]+ +\d+ request\.go:\d+\] Waited for .*\n", re.MULTILINE), ""),
    (re.compile(r"^[IWE]\d{4} [\d:.]+ +\d+ reflector\.go:\d+\] .*very short watch.*\n", re.MULTILINE), ""),
    (re.compile(r"^([IWE])\d{4}(?: [\d:.]+ +\d+)? (?=\w+\.go:)", re.MULTILINE), r"\1 "),
    (re.compile(r"/tmp/\S+/files/admin\.kubeconfig"), "/home/oncall/.kube/config"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "127.0.0.1:6443"),
)
_PAST = timedelta(days=60)
"""Older timestamps (of releases) were not shifted on the way out."""


def settled(text: str, home: Path) -> str:
    """Output without what differs from run to run."""
    for pattern, replacement in _TEMPORARY:
        text = pattern.sub(replacement, text)
    return text.replace(str(home), "~")


def _shifted(text: str, seconds: int) -> str:
    delta = timedelta(seconds=seconds)
    oldest = datetime.fromtimestamp(time.time(), UTC) - _PAST

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
def sides(base: EmbeddedWorld, files: dict[str, str]) -> Iterator[Sides]:
    """Both kubectls, ready to be compared on a world, with files in their working directory."""
    with TemporaryDirectory(prefix="sregym-parity-") as made, served(base.fork(), Path(made)) as running:
        write_files(running.home, files)
        yield Sides(base, running)


def write_files(home: Path, files: dict[str, str]) -> None:
    """Files of the working directory, folders included."""
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
