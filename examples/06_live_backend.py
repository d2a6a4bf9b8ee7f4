"""The same environment on a cluster behind a kubeconfig.

    python examples/06_live_backend.py [--kubeconfig PATH]

With a kubeconfig the episode is played there, in real time: use a cluster that is made for this. Without one, an empty
embedded cluster is served on this machine and played over HTTP, with a clock that need not be waited for.
"""

import argparse
import contextlib
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from sregym_env import SREGymEnv, apps
from sregym_env.live.backend import LiveBackend
from sregym_env.serve.server import ADMIN_CONFIG, EVERYTHING, Server, Settings
from sregym_env.sim.bringup.deploy import bare_cluster

PROBLEM = "missing_service_hotel_reservation"


class Hurried:
    """The clock of a served cluster, moved by whoever waits for it."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def now(self) -> int:
        return self._server.on_loop(self._server.hosted.world.now)

    def sleep(self, seconds: float) -> None:
        self._server.on_loop(lambda: self._server.hosted.world.advance(seconds))


@contextlib.contextmanager
def served() -> Iterator[LiveBackend]:
    """An embedded cluster with nothing in it, served."""
    world = bare_cluster()
    world.app = apps.app("hotel-reservation")  # nothing is deployed, but its images can be pulled
    with tempfile.TemporaryDirectory() as directory:
        server = Server(world, Settings(Path(directory), EVERYTHING, mode="step"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield LiveBackend(str(server.kubeconfig(ADMIN_CONFIG)), clock=Hurried(server))
        server.stop()
        thread.join(5)


def play(backend: LiveBackend) -> None:
    """One episode by somebody who knows the answer."""
    env = SREGymEnv(PROBLEM, backend=backend)
    observation, _ = env.reset(seed=0)
    print(observation.splitlines()[0])
    (solution,) = env.episode.staged.solutions
    for command in (*solution.investigation[:2], *solution.remedies[0]):
        print(f"$ {command.splitlines()[0]}")
        env.step(command)
    env.step(f'submit diagnosis "{solution.diagnosis}"')
    _, reward, _, _, info = env.step("submit mitigation")
    print(f"reward {reward}, repaired {info['Mitigation']} after {info['TTM']:.0f} s of the cluster's time")
    env.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", default="")
    chosen = parser.parse_known_args()[0].kubeconfig
    if chosen:
        play(LiveBackend(chosen))
        return
    with served() as backend:
        play(backend)


if __name__ == "__main__":
    main()
