"""Commands with streams, files and editors, on which the two kubectls are compared."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.api import ExecResult
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl
from sregym_env.tools.kubectl.desk import Listener
from sregym_env.tools.kubectl.kubeconfig import Context, KubeConfig
from tests.parity.compare import version_of
from tests.parity.harness import PATIENCE, Case, Files, Outcome, _shifted, settled
from tests.parity.recording import Recording, save
from tests.serve.serving import NAMESPACE, Served, real_kubectl, served

RECORDED = "streams/healthy"
"""Under which name the outcomes are recorded."""

POD = ("run mypod --image=busybox --restart=Never -- sleep 3600",)
FILES = {
    "f.txt": "some text\n",
    "dir/a.txt": "A\n",
    "dir/sub/b.txt": "B\n",
    "cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n",
    "set-replicas": "#!/bin/sh\nsed -i 's/^  replicas: 1/  replicas: 2/' $1\n",
    "set-annotation": "#!/bin/sh\nsed -i 's/kompose.cmd: .*/kompose.cmd: other/' $1\n",
    "bad-replicas": "#!/bin/sh\nsed -i 's/^  replicas: 1/  replicas: many/' $1\n",
    "bad-yaml": "#!/bin/sh\nsed -i 's/^spec:/spec/' $1; head -8 $1\n",
    "unknown-field": "#!/bin/sh\nsed -i 's/^  replicas: 1/  replicaz: 1/' $1; head -8 $1\n",
    "rename": "#!/bin/sh\nsed -i 's/^  name: .*/  name: other/' $1\n",
    "other-kind": "#!/bin/sh\nsed -i 's/^kind: .*/kind: Nothing/' $1; head -8 $1\n",
    "show": "#!/bin/sh\ncat $1\n",
    "empty": "#!/bin/sh\n: > $1\n",
    "fail": "#!/bin/sh\nexit 3\n",
    "json-change": '#!/bin/sh\nsed -i \'s/"a": "b"/"a": "c"/\' $1\n',
}
"""What lies in the working directory; programs are editors."""

_RUN = "run tmp --rm --restart=Never --image=busybox"

STREAMS: tuple[Case, ...] = (
    Case(f"{_RUN} -it -- wget -qO- http://frontend:5000/"),
    Case(f"{_RUN} -i -- wget -qO- http://frontend:5000/nothing"),
    Case(f"{_RUN} -i -- wget -qO- http://nothing/"),
    Case(f"{_RUN} -i -- sh -c 'echo out; exit 3'"),
    Case(f"{_RUN} -i -q -- echo hi"),
    Case(f"{_RUN} -i --quiet -- sh -c 'exit 4'"),
    Case(f"{_RUN} --attach -- sh -c 'echo one; sleep 2; echo two'"),
    Case(f"{_RUN} -i -- sh", (), "echo hi\ncd /tmp; pwd\nX=1; echo $X\nexit 2\n"),
    Case(f"{_RUN} -it -- sh", (), "echo hi\nexit 2\n"),
    Case(f"{_RUN} -it -- sh"),
    Case(f"{_RUN} -i -- cat", (), "one\ntwo"),
    Case(f"{_RUN} -i --command -- nothing-there"),
    Case("run tmp --rm -it --image=busybox -- echo hi"),
    Case("run tmp --rm -i --restart=OnFailure --image=busybox -- echo hi"),
    Case("run tmp -i --restart=Never --image=busybox -- echo hi"),
    Case("run tmp -i --restart=Never --image=busybox --expose --port=80 -- echo hi"),
    Case("run tmp --rm -i --restart=Never --image=busybox --expose --port=80 -- echo hi"),
    Case("run tmp --rm -i --restart=Never --image=nothing/here --pod-running-timeout=3s -- sh"),
    Case("run curl --rm -it --restart=Never --image=curlimages/curl -- -s http://frontend:5000/"),
    Case("run tmp --rm --image=busybox"),
    Case("run tmp -t --image=busybox"),
    Case("run tmp -it --image=busybox --dry-run=client"),
    Case("attach nothing"),
    Case("attach deploy/nothing"),
    Case("attach"),
    Case("attach a b c"),
    Case("attach mypod -c nothing", POD),
    Case("attach done", ("run done --image=busybox --restart=Never -- true",)),
    Case("exec -t mypod -- ls /", POD),
    Case("exec -it mypod -- ls /", POD),
    Case("exec -i mypod -- sh", POD, "cd /tmp\npwd\nfor i in 1 2; do\necho $i\ndone\nexit 5\n"),
    Case("exec -i mypod -- cat", POD, "one\ntwo\n"),
    Case("exec -i mypod -- wc -l", POD, "one\ntwo\n"),
    Case("exec -i mypod -- sh -c 'read x; echo got $x'", POD, "one\ntwo\n"),
    Case("exec mypod -- nothing-there", POD),
    Case("exec mypod", POD),
    Case("exec nothing -- ls"),
    Case("exec done -- ls", ("run done --image=busybox --restart=Never -- true",)),
    Case("exec mypod -c nothing -- ls", POD),
    Case("cp f.txt mypod:/tmp/", POD),
    Case("cp f.txt mypod:/tmp/g.txt", POD),
    Case("cp dir mypod:/tmp/dir", POD),
    Case("cp f.txt mypod:/nowhere/x", POD),
    Case("cp mypod:/etc/hostname out.txt", POD),
    Case("cp mypod:/nowhere out.txt", POD),
    Case("cp mypod:/etc/hostname .", POD),
    Case("cp nothing mypod:/tmp/x", POD),
    Case("cp f.txt nothing:/tmp/x"),
    Case("cp nothing:/tmp/x out.txt"),
    Case("cp f.txt g.txt"),
    Case("cp f.txt"),
    Case("cp a:b c:d"),
    Case("cp :x y"),
    Case("cp a/b/c:x y"),
    Case("cp f.txt mypod:/tmp/x -c nothing", POD),
    Case("debug mypod --image=busybox", POD),
    Case("debug mypod --image=busybox --profile=general -c dbg -- sleep 5", POD),
    Case("debug mypod -it --image=busybox --profile=general -- ls /", POD),
    Case("debug mypod -i --image=busybox --profile=general", POD, "echo hi\nexit 3\n"),
    Case("debug mypod -q -i --image=busybox", POD, "echo hi\n"),
    Case("debug mypod -it --image=busybox --target=mypod --profile=netadmin -- ps", POD),
    Case("debug mypod -it --image=busybox --target=nothing --profile=baseline -- ps", POD),
    Case("debug mypod -it --image=busybox --copy-to=copy --profile=general -- ls /", POD),
    Case("debug mypod --set-image=*=alpine --copy-to=copy --profile=general", POD),
    Case("debug mypod --copy-to=copy --container=mypod --profile=general -- sleep 6", POD),
    Case("debug mypod --copy-to=copy --container=nothing --profile=general -- sleep 6", POD),
    Case("debug mypod --image=busybox --copy-to=mypod --profile=general", POD),
    Case("debug node/sre-worker -it --image=busybox --profile=general -- ls /host/etc"),
    Case("debug node/sre-worker --image=busybox"),
    Case("debug node/nothing --image=busybox"),
    Case("debug nothing --image=busybox"),
    Case("debug deploy/geo --image=busybox"),
    Case("debug mypod"),
    Case("debug"),
    Case("debug --image=busybox"),
    Case("debug mypod -t --image=busybox"),
    Case("debug mypod --image=A:b:c"),
    Case("debug mypod --image=busybox --profile=nothing"),
    Case("debug mypod --image=busybox --replace"),
    Case("debug mypod --image=busybox --same-node"),
    Case("debug mypod --image=busybox --set-image=a=b"),
    Case("debug mypod --image=busybox --target=x --copy-to=y"),
    Case("debug mypod --copy-to=y"),
    Case("debug mypod --copy-to=y -- ls"),
    Case("debug mypod --image=busybox --image-pull-policy=x"),
    Case("debug mypod --attach"),
    Case("port-forward"),
    Case("port-forward svc/frontend"),
    Case("port-forward svc/frontend 8080:9999"),
    Case("port-forward svc/frontend 8080:nothing"),
    Case("port-forward svc/nothing 80"),
    Case("port-forward deploy/frontend 8080:nothing"),
    Case("port-forward deploy/frontend 8080:0"),
    Case("port-forward deploy/frontend a:80"),
    Case("port-forward deploy/frontend 99999"),
    Case("port-forward nothing 80"),
    Case("port-forward done 8080:80", ("run done --image=busybox --restart=Never -- true",)),
    Case("edit"),
    Case("edit deploy/nothing"),
    Case("KUBE_EDITOR=./show edit deploy/geo"),
    Case("KUBE_EDITOR=./show edit deploy/geo svc/geo"),
    Case("KUBE_EDITOR=./show edit deploy/geo -o json"),
    Case("KUBE_EDITOR=./show edit deploy/geo -o name"),
    Case("KUBE_EDITOR=./set-replicas edit deploy/geo"),
    Case("KUBE_EDITOR=./set-replicas edit deploy/geo -o yaml"),
    Case("KUBE_EDITOR=./set-replicas edit deploy/geo --output-patch"),
    Case("KUBE_EDITOR=./set-annotation edit deploy geo frontend"),
    Case("KUBE_EDITOR=./bad-replicas edit deploy/geo"),
    Case("KUBE_EDITOR=./unknown-field edit deploy/geo"),
    Case("KUBE_EDITOR=./rename edit deploy/geo"),
    Case("KUBE_EDITOR=./other-kind edit deploy/geo"),
    Case("KUBE_EDITOR=./empty edit deploy/geo"),
    Case("KUBE_EDITOR=./fail edit deploy/geo"),
    Case("KUBE_EDITOR=no-such-editor edit deploy/geo"),
    Case("KUBE_EDITOR=./json-change edit cm settings -o json", ("create -f cm.yaml",)),
    Case("KUBE_EDITOR=./show edit -f cm.yaml", ("create -f cm.yaml",)),
    Case("KUBE_EDITOR=./show edit -f cm.yaml"),
)


class DiskDesk:
    """The working directory of a comparison as the in-process kubectl uses it."""

    def __init__(self, root: Path, variables: dict[str, str]) -> None:
        self._root = root
        self._variables = variables

    def read_bytes(self, path: str) -> bytes:
        return (self._root / path).read_bytes()

    def write_bytes(self, path: str, data: bytes) -> None:
        (self._root / path).write_bytes(data)

    def make_directories(self, path: str) -> None:
        (self._root / path).mkdir(parents=True, exist_ok=True)

    def is_directory(self, path: str) -> bool:
        return (self._root / path).is_dir()

    def walk(self, path: str) -> Sequence[tuple[str, bytes | None]]:
        folder = self._root / path
        return [
            (str(found.relative_to(folder)), found.read_bytes() if found.is_file() else None)
            for found in sorted(folder.rglob("*"))
        ]

    def remove(self, path: str) -> None:
        (self._root / path).unlink(missing_ok=True)

    def variable(self, name: str) -> str:
        return self._variables.get(name, "")

    def has(self, name: str) -> bool:
        return shutil.which(name) is not None or (self._root / name).exists()

    def execute(self, script: str) -> ExecResult:
        done = subprocess.run(
            ["bash", "-c", script], cwd=self._root, capture_output=True, text=True, check=False
        )
        return ExecResult(done.stdout, done.stderr, done.returncode)

    @property
    def detached(self) -> bool:
        return False

    def listen(self, port: int, listener: Listener) -> int:
        return port or 34567

    def close(self, port: int) -> None:
        pass


_GENERATED = (
    (re.compile(r"debugger-(sre-worker-)?[a-z0-9]{5}\b"), r"debugger-\1xxxxx"),
    (re.compile(r"/tmp/kubectl-edit-\d+"), "/tmp/kubectl-edit"),
    (re.compile(r'exec "[0-9a-f]{64}"'), 'exec "ID"'),
)


def _plain(outcome: Outcome) -> Outcome:
    stdout, stderr = outcome.stdout, outcome.stderr
    for pattern, replacement in _GENERATED:
        stdout, stderr = pattern.sub(replacement, stdout), pattern.sub(replacement, stderr)
    return Outcome(stdout, stderr, outcome.code)


def write_streams(home: Path) -> None:
    """Put the files into the working directory."""
    for name, text in FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o755)


def _words(case: Case) -> tuple[list[str], dict[str, str]]:
    """Arguments, and the variables written before them."""
    words = shlex.split(case.line)
    variables = {"SHELL": "/bin/bash"}
    while "=" in words[0] and words[0].partition("=")[0].isupper():
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    return words, variables


class StreamSide:
    """The in-process kubectl on forks of one world, with a working directory that it reads and writes."""

    def __init__(self, base: EmbeddedWorld, home: Path, server: str) -> None:
        self._base = base
        self._home = home
        self._server = server
        self._prepared: dict[tuple[str, ...], EmbeddedWorld] = {(): base}
        write_streams(home)

    @property
    def digest(self) -> str:
        """Of the world the commands are typed in."""
        return self._base.digest()

    def prepared(self, before: tuple[str, ...]) -> EmbeddedWorld:
        """The world in which the command of a case is typed: not to be changed."""
        if before not in self._prepared:
            world = self._base.fork()
            for line in before:
                self._kubectl(world).run(shlex.split(line), "", Files(self._home))
                world.advance(5.0)
            self._prepared[before] = world
        return self._prepared[before]

    def run(self, case: Case) -> Outcome:
        """The outcome of a case; generated names are made equal."""
        words, variables = _words(case)
        desk = DiskDesk(self._home, variables)
        world = self.prepared(case.before).fork()
        done = self._kubectl(world).run(words, case.stdin, Files(self._home), desk=desk)
        home = self._home
        ours = Outcome(settled(done.stdout, home), settled(done.stderr, home), done.exit_code)
        return _plain(_universal(ours))

    def _kubectl(self, world: EmbeddedWorld) -> Kubectl:
        context = Context("kubernetes-admin", "kubernetes", "kubernetes-admin", NAMESPACE)
        config = KubeConfig((context,), context.name, "kubernetes", self._server)
        return Kubectl(world.cluster, NAMESPACE, config=config)


class StreamSides:
    """Both kubectls, with a working directory that both read and write."""

    def __init__(self, base: EmbeddedWorld, running: Served) -> None:
        self._served = running
        self._home = running.home
        self.ours = StreamSide(base, running.home, running.server.url)

    def compare(self, case: Case) -> tuple[Outcome, Outcome]:
        """Outcome of the real one and of ours."""
        ours = self.ours.run(case)
        words, variables = _words(case)
        return _plain(self._real(words, case.stdin, variables, self.ours.prepared(case.before))), ours

    def _real(
        self, words: list[str], stdin: str, variables: dict[str, str], prepared: EmbeddedWorld
    ) -> Outcome:
        self._served.put(prepared.fork())
        offset = self._served.server.hosted.pace.offset
        try:
            done = self._served.kubectl(words, stdin, PATIENCE, **variables)
        except TimeoutExpired:
            return Outcome("", f"still running after {PATIENCE:g} s", -1)
        home = self._home
        return Outcome(
            settled(_shifted(done.stdout, -offset), home),
            settled(_shifted(done.stderr, -offset), home),
            done.code,
        )


def healthy() -> EmbeddedWorld:
    """A healthy Hotel Reservation at a whole second."""
    base = deployed_world(APP)
    base.run_until(base.now() + 1_000_000 - base.now() % 1_000_000)
    return base


@contextmanager
def stream_sides() -> Iterator[StreamSides]:
    """Both kubectls on a healthy Hotel Reservation."""
    base = healthy()
    with TemporaryDirectory(prefix="sregym-streams-") as made, served(base.fork(), Path(made)) as running:
        yield StreamSides(base, running)


def main(words: Sequence[str]) -> int:
    """Compare the cases whose line contains all of ``words`` and print what differs; without words, record."""
    binary = real_kubectl()
    if binary is None:
        print("no kubectl 1.32 found; name one in SREGYM_KUBECTL")
        return 2
    cases = [case for case in STREAMS if all(word in case.line for word in words)]
    equal = 0
    outcomes: list[tuple[Case, Outcome]] = []
    with stream_sides() as sides:
        for case in cases:
            real, ours = sides.compare(case)
            equal += real == ours
            outcomes.append((case, real))
            for part in real.differing(ours):
                print(f"--- kubectl {case}: {part}")
                print(f"  real: {getattr(real, part)!r}\n  ours: {getattr(ours, part)!r}")
        digest = sides.ours.digest
    if not words:
        save(Recording(RECORDED, version_of(binary), digest, outcomes))
    print(f"{equal} of {len(cases)} command lines byte-equal")
    return 0 if equal == len(cases) else 1


def _universal(outcome: Outcome) -> Outcome:
    """With plain newlines, as the output of a process is read in text mode."""
    return Outcome(outcome.stdout.replace("\r\n", "\n"), outcome.stderr.replace("\r\n", "\n"), outcome.code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
