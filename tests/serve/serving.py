"""A served world for tests: the server in a thread of its own, the world exchanged between tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sregym_env.serve.pace import Mode, Pace
from sregym_env.serve.server import ADMIN_CONFIG, EVERYTHING, Server, Settings
from sregym_env.sim.embedded import EmbeddedWorld

NAMESPACE = "hotel-reservation"


def real_kubectl(minor: int = 32) -> Path | None:
    """A real kubectl of that minor version: what ``SREGYM_KUBECTL`` names, or ``kubectl.1.NN`` on or beside the
    search path."""
    named = os.environ.get("SREGYM_KUBECTL")
    if named and minor == 32:
        return Path(named)
    found = shutil.which(f"kubectl.1.{minor}")
    plain = shutil.which("kubectl")
    if found is None and plain is not None:
        beside = Path(plain).resolve().parent / f"kubectl.1.{minor}"
        return beside if beside.exists() else None
    return None if found is None else Path(found)


@dataclass
class Finished:
    """What a process left."""

    stdout: str
    stderr: str
    code: int


class Served:
    """A running server and the real kubectl pointed at it."""

    def __init__(self, server: Server, home: Path, binary: Path | None) -> None:
        self.server = server
        self.home = home
        self.binary = binary

    def put(self, world: EmbeddedWorld, mode: Mode = "step") -> EmbeddedWorld:
        """Serve this world from now on."""
        self.server.hosted.pace = Pace(world, mode)
        self.server.hosted.bell.ring()
        return world

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.server.kubeconfig(ADMIN_CONFIG)

    def kubectl(self, argv: Sequence[str], stdin: str = "", timeout: float = 60.0, **env: str) -> Finished:
        """Run the real kubectl."""
        assert self.binary is not None
        done = subprocess.run(
            [str(self.binary), *argv],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=self.home,
            env={
                "KUBECONFIG": env.get("KUBECONFIG") or str(self.kubeconfig),
                "HOME": str(self.home),
                "PATH": os.environ["PATH"],
                "TZ": "UTC",
                **env,
            },
            check=False,
        )
        return Finished(done.stdout, done.stderr, done.returncode)


@contextmanager
def served(world: EmbeddedWorld, directory: Path, mode: Mode = "step") -> Iterator[Served]:
    """A server for the time of the context."""
    server = Server(world, Settings(directory / "files", EVERYTHING, mode=mode, namespace=NAMESPACE))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    home = directory / "home"
    home.mkdir(exist_ok=True)
    binary = real_kubectl()
    if binary is not None:
        # kubectl names itself in its messages.
        named = directory / "kubectl"
        named.symlink_to(binary)
        binary = named
    try:
        yield Served(server, home, binary)
    finally:
        server.stop()
        thread.join(30)
