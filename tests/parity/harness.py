"""The real kubectl and the one in process, side by side on forks of one world.

The server stands still in time (step mode) and shifts timestamps so that the real kubectl computes the ages
that the world means; on the way back they are shifted again, so that the two outputs can be compared byte
for byte.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from sregym_env.apps.hotel_reservation import APP
from sregym_env.sim.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl
from sregym_env.tools.kubectl.app import KubeConfig, default_config
from tests.serve.serving import NAMESPACE, Finished, Served, served

_RFC3339 = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=(\.\d+)?(Z|\+00:00))")
_RFC1123 = re.compile(r"\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d(?= \+0000)")


@dataclass(frozen=True)
class Case:
    """One thing to do with kubectl, perhaps after some preparation."""

    line: str
    before: tuple[str, ...] = ()
    """Commands carried out first, on both sides, by the in-process kubectl."""
    stdin: str = ""


@dataclass(frozen=True)
class Difference:
    """Where the two disagree."""

    case: Case
    part: str
    real: str
    ours: str


@dataclass
class Result:
    """What came of a corpus."""

    cases: int = 0
    equal: int = 0
    differences: list[Difference] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Share of commands whose output, errors and exit code are byte-equal."""
        return self.equal / self.cases if self.cases else 0.0


class Files:
    """The directory both kubectls read manifests from."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read_text(self, path: str) -> str:
        """Content of a file."""
        return (self._root / path).read_text()

    def list_files(self, path: str) -> Sequence[str]:
        """Paths of the files directly in a directory, sorted."""
        folder = self._root / path
        if not folder.is_dir():
            return ()
        return sorted(f"{path}/{found.name}" for found in folder.iterdir() if found.is_file())


class Parity:
    """Runs cases on both sides."""

    def __init__(self, base: EmbeddedWorld, served: Served) -> None:
        self._base = base
        self._served = served
        self._files = Files(served.home)

    def write(self, name: str, text: str) -> None:
        """A manifest for both sides."""
        (self._served.home / name).write_text(text)

    def _ours(self, world: EmbeddedWorld) -> Kubectl:
        config = default_config("kubernetes-admin", NAMESPACE)
        server = KubeConfig(config.contexts, config.current, "kubernetes", self._served.server.url)
        return Kubectl(world.cluster, NAMESPACE, config=server)

    def run(self, case: Case) -> list[Difference]:
        """The differences of one case: none, or one per part that differs."""
        prepared = self._base.fork()
        for line in case.before:
            self._ours(prepared).run(shlex.split(line), "", self._files)
            prepared.advance(2.0)
        found = self._compare(case, prepared)
        # A machine under load may let a second begin in between; ages differ then.
        return found and self._compare(case, prepared)

    def _compare(self, case: Case, prepared: EmbeddedWorld) -> list[Difference]:
        argv = shlex.split(case.line)
        ours = self._ours(prepared.fork()).run(argv, case.stdin, self._files)
        _wait_for_early_second()
        self._served.put(prepared.fork())
        offset = self._served.server.hosted.pace.offset
        real = self._served.kubectl(argv, case.stdin)
        real = Finished(_shifted(real.stdout, -offset), _shifted(real.stderr, -offset), real.code)
        home = self._served.home
        pairs = (
            ("stdout", _settled(real.stdout, home), _settled(ours.stdout, home)),
            ("stderr", _settled(real.stderr, home), _settled(ours.stderr, home)),
            ("exit code", str(real.code), str(ours.exit_code)),
        )
        return [Difference(case, part, left, right) for part, left, right in pairs if left != right]

    def run_all(self, cases: Iterable[Case]) -> Result:
        """Every case, counted."""
        result = Result()
        for case in cases:
            found = self.run(case)
            result.cases += 1
            result.equal += not found
            result.differences += found
        return result


def _wait_for_early_second() -> None:
    """Ages are whole seconds: start early in one, so that both sides see the same."""
    fraction = time.time() % 1
    if fraction > 0.6:
        time.sleep(1.0 - fraction + 0.01)


_TEMPORARY = (
    # kubectl diff names temporary directories and says when it wrote the files in them.
    (re.compile(r"/tmp/(LIVE|MERGED)-\d+"), r"/tmp/\1"),
    (re.compile(r"^((?:---|\+\+\+) /tmp/\S+\t).*$", re.MULTILINE), r"\1"),
)
_PAST = timedelta(days=60)
"""Older timestamps (of releases) were not shifted on the way out."""


def _settled(text: str, home: Path) -> str:
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
        return (moment + delta).strftime("%a, %d %b %Y %H:%M:%S")

    return _RFC1123.sub(mail, _RFC3339.sub(iso, text))


@contextmanager
def parity() -> Iterator[Parity]:
    """Both kubectls, ready to be compared on Hotel Reservation."""
    base = deployed_world(APP)
    # A settled world at a whole second, in which something has just happened.
    base.run_until(base.now() + 1_000_000 - base.now() % 1_000_000)
    with TemporaryDirectory(prefix="sregym-parity-") as made, served(base.fork(), Path(made)) as running:
        yield Parity(base, running)
