"""A pool of problems that are being played by outside agents: clusters and desks, opened and closed at any time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sregym_env.cluster.oncall import ONCALL
from sregym_env.envs.env import SREGymEnv
from sregym_env.serve.clusters import ServedCluster
from sregym_env.serve.incident import IncidentDesk
from sregym_env.serve.mounts import Mounts, base_path
from sregym_env.serve.pace import Mode
from sregym_env.serve.server import LOOPBACK, Server, Settings
from sregym_env.sim.embedded import EmbeddedWorld

AGENT_CONFIG = "kubeconfig"
"""Name of the file with the agent's credentials."""

UNLIMITED_COMMANDS = 10_000
UNLIMITED_SECONDS = 365 * 86400.0
"""A served episode ends when it is handed in or interrupted: more than any agent takes."""


@dataclass(frozen=True, slots=True)
class Incident:
    """One problem that is served. Nothing an agent is told names the problem."""

    name: str
    problem: str
    seed: int
    cluster: ServedCluster
    desk: str
    """URL of the incident desk."""

    @property
    def kubeconfig(self) -> Path:
        """The on-call engineer's kubeconfig."""
        return self.cluster.kubeconfig(AGENT_CONFIG)


Done = Callable[[Incident, float, dict[str, Any]], None]
"""Called with the reward and the last info when an episode is over."""


class Incidents:
    """Problems behind one port for clusters and one for desks.

    The incident with the empty name is at the root of both, the others are below ``/c/NAME``. :meth:`open` and
    :meth:`close` may be called from any thread, before and while the server runs.
    """

    def __init__(
        self,
        directory: Path,
        done: Done,
        *,
        port: int = 0,
        desk_port: int = 0,
        mode: Mode = "real",
        factor: float = 1.0,
    ) -> None:
        self._done = done
        self._desks = Mounts()
        self._incidents: dict[str, Incident] = {}
        settings = Settings(directory, {AGENT_CONFIG: ONCALL}, port=port, mode=mode, factor=factor)
        self.server = Server(None, settings)
        self.desk_port = self.server.add(self._desks, desk_port)

    def open(
        self, problem: str, *, seed: int = 0, noise: bool = False, variation: bool = True, name: str = ""
    ) -> Incident:
        """Stage a problem and serve it. Raises ValueError for a name that is taken, and what staging raises."""
        return self.server.on_loop(lambda: self._open(problem, seed, noise, variation, name))

    def close(self, name: str) -> None:
        """Serve an incident no more. Raises KeyError."""
        del self._incidents[name]
        self._desks.unmount(name)
        self.server.remove_cluster(name)

    def _open(self, problem: str, seed: int, noise: bool, variation: bool, name: str) -> Incident:
        if name in self._incidents:
            raise ValueError(f"there is an incident {name!r} already")
        env = SREGymEnv(
            problem,
            noise=noise,
            variation=variation,
            max_commands=UNLIMITED_COMMANDS,
            time_limit=UNLIMITED_SECONDS,
            raise_errors=True,
        )
        env.reset(seed=seed)
        world = env.episode.world
        assert isinstance(world, EmbeddedWorld)
        cluster = self.server.add_cluster(name, world, namespace=world.app.namespace)
        desk = f"http://{LOOPBACK}:{self.desk_port}{base_path(name)}"
        incident = Incident(name, problem, seed, cluster, desk)

        def done(reward: float, info: dict[str, Any]) -> None:
            self._done(incident, reward, info)

        self._desks.mount(name, IncidentDesk(env, cluster.hosted, done))
        self._incidents[name] = incident
        return incident
