"""A pool of problems that are being played by outside agents: clusters and desks, opened and closed at any time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sregym_env.cluster.identity import ADMIN, User
from sregym_env.cluster.oncall import ONCALL
from sregym_env.envs.env import Snapshot, SREGymEnv
from sregym_env.serve.clusters import ServedCluster
from sregym_env.serve.incident import IncidentDesk
from sregym_env.serve.journal import Asked, Journal, Keeper, KeptIncident, KeptServer
from sregym_env.serve.moment import caught_up, staged_now
from sregym_env.serve.mounts import Mounts, base_path
from sregym_env.serve.pace import Mode
from sregym_env.serve.server import ADMIN_CONFIG, LOOPBACK, Server, Settings
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

    @property
    def admin(self) -> Path | None:
        """The administrator's kubeconfig, where there is one."""
        return self.cluster.kubeconfig(ADMIN_CONFIG) if ADMIN_CONFIG in self.cluster.tokens else None


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
        admin: bool = False,
        journal: Path | None = None,
    ) -> None:
        """``admin`` also hands out an administrator's kubeconfig. ``journal`` is a folder in which everything is kept;
        what an earlier server kept there goes on with the same credentials, and in the same way, whatever is said here.

        Raises UsageError for a journal that cannot be read, PortError for a port that cannot be had, OSError.
        """
        self._done = done
        self._desks = Mounts()
        self._incidents: dict[str, Incident] = {}
        self._open_desks: dict[str, IncidentDesk] = {}
        self._finished: Callable[[], None] | None = None
        self._mode, self._factor = mode, factor
        self._journal = None if journal is None else Journal(journal)
        known = None if self._journal is None else self._journal.server()
        users: dict[str, User] = {AGENT_CONFIG: ONCALL, **({ADMIN_CONFIG: ADMIN} if admin else {})}
        settings = Settings(
            directory,
            users,
            port=known.port if known is not None else port,
            mode=mode,
            factor=factor,
            certificates=None if known is None else known.certificates,
        )
        self.server = Server(None, settings)
        try:
            self.desk_port = self.server.add(self._desks, desk_port if known is None else known.desk_port)
            if self._journal is not None:
                self._journal.keep_server(
                    KeptServer(self.server.certificates, self.server.port, self.desk_port)
                )
                for kept in self._journal.incidents():
                    self._resume(kept)
        except BaseException:
            self.server.forget()
            raise

    def open(
        self,
        problem: str | Mapping[str, Any],
        *,
        seed: int = 0,
        noise: bool = False,
        variation: bool = True,
        name: str = "",
    ) -> Incident:
        """Stage a problem and serve it; a problem without faults is a healthy cluster.

        Raises ValueError for a name that is taken, and what staging raises.
        """
        asked = Asked(problem, seed, noise, variation, self._mode, self._factor)
        return self.server.on_loop(lambda: self._open(asked, name))

    def close(self, name: str) -> None:
        """Serve an incident no more. Raises KeyError."""
        del self._incidents[name]
        self._desks.unmount(name)
        self.server.on_loop(self._open_desks.pop(name).close)
        self.server.remove_cluster(name)
        if self._journal is not None:
            self._journal.forget(name)

    @property
    def incidents(self) -> Mapping[str, Incident]:
        """What is served, by name."""
        return dict(self._incidents)

    def when_finished(self, act: Callable[[], None]) -> None:
        """Do something as soon as every episode is over, at once if they are."""
        self._finished = act
        if self.finished:
            act()

    @property
    def finished(self) -> bool:
        """Whether every episode is over."""
        return bool(self._open_desks) and all(desk.stage == "done" for desk in self._open_desks.values())

    def forget(self) -> bool:
        """Remove what was written, when the server has ended; whether a journal is kept from which it could go on.

        Without a journal whoever has handed in a diagnosis and no repair has given up, and their results are told.
        That of episodes which are all over is not.
        """
        self.server.forget()
        if self._journal is None:
            self._finished = None
            for desk in self._open_desks.values():
                desk.give_up()
            return False
        if self._incidents and not self.finished:
            for incident in self._incidents.values():
                keeper = incident.cluster.hosted.keeper
                assert keeper is not None
                keeper.now()
            return True
        if self._incidents or not self._journal.incidents():
            self._journal.clear()
        return False

    def _open(self, asked: Asked, name: str) -> Incident:
        if name in self._incidents:
            raise ValueError(f"there is an incident {name!r} already")
        env = _environment(asked)

        def stage(present: int) -> int:
            env.reset(seed=asked.seed, options={"present": present})
            return env.episode.world.now()

        staged_now(stage)
        return self._serve(name, asked, env)

    def _resume(self, kept: KeptIncident) -> None:
        """Go on with an incident of an earlier server."""
        env = _environment(kept.asked)
        env.restore(Snapshot(kept.episode, ()))
        self._serve(kept.name, kept.asked, env, kept)

    def _serve(self, name: str, asked: Asked, env: SREGymEnv, kept: KeptIncident | None = None) -> Incident:
        world = env.episode.world
        assert isinstance(world, EmbeddedWorld)
        if asked.mode == "real" and (kept is None or asked.factor == 1.0):
            caught_up(world)
        cluster = self.server.add_cluster(
            name,
            world,
            users=None if kept is None else _users(kept),
            mode=asked.mode,
            factor=asked.factor,
            namespace=world.app.namespace,
            tokens=None if kept is None else kept.tokens,
        )
        if kept is not None:
            cluster.hosted.identities = kept.identities
        desk_url = f"http://{LOOPBACK}:{self.desk_port}{base_path(name)}"
        problem = asked.problem if isinstance(asked.problem, str) else str(asked.problem.get("id", ""))
        incident = Incident(name, problem, asked.seed, cluster, desk_url)

        def done(reward: float, info: dict[str, Any]) -> None:
            self._done(incident, reward, info)
            if self._finished is not None and self.finished:
                self._finished()

        briefing = env.observation if kept is None else kept.briefing
        reward = 0.0 if kept is None else kept.reward
        desk = IncidentDesk(env, cluster.hosted, done, reward, briefing)
        self._open_desks[name] = desk
        self._desks.mount(name, desk)
        self._incidents[name] = incident
        self._keep(incident, asked, env, desk, briefing)
        return incident

    def _keep(
        self, incident: Incident, asked: Asked, env: SREGymEnv, desk: IncidentDesk, briefing: str
    ) -> None:
        """Keep the incident in the journal from now on."""
        journal = self._journal
        if journal is None:
            return
        cluster = incident.cluster

        def write() -> None:
            journal.keep(
                KeptIncident(
                    incident.name,
                    asked,
                    dict(cluster.tokens),
                    cluster.hosted.identities,
                    env.episode,
                    desk.reward,
                    briefing,
                )
            )

        cluster.hosted.keeper = Keeper(write)
        write()


def _environment(asked: Asked) -> SREGymEnv:
    return SREGymEnv(
        asked.problem,
        noise=asked.noise,
        variation=asked.variation,
        max_commands=UNLIMITED_COMMANDS,
        time_limit=UNLIMITED_SECONDS,
        raise_errors=True,
    )


def _users(kept: KeptIncident) -> Mapping[str, User]:
    known: Mapping[str, User] = {AGENT_CONFIG: ONCALL, ADMIN_CONFIG: ADMIN}
    return {file: known[file] for file in kept.tokens}
