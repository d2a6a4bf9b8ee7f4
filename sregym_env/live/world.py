"""A real cluster with an application and its users, as tools, faults and oracles know it."""

from __future__ import annotations

from sregym_env.cluster.app import App
from sregym_env.cluster.disturbances import Disturbance
from sregym_env.cluster.health import Alert
from sregym_env.cluster.http import HttpCall, HttpExchange
from sregym_env.cluster.streams import LONGEST_COMMAND, ExecResult
from sregym_env.errors import ClusterError
from sregym_env.live import services
from sregym_env.live.clock import Clock
from sregym_env.live.cluster import Discovery, LiveCluster
from sregym_env.live.connection import Connection
from sregym_env.live.telemetry import Addresses, LiveTelemetry
from sregym_env.live.users import LiveTraffic
from sregym_env.runtime.clock import SECOND


class LiveNodes:
    """The machines of a real cluster: nothing below the Kubernetes API can be reached yet."""

    @property
    def kinds(self) -> frozenset[type[Disturbance]]:
        """None."""
        return frozenset()

    def apply(self, disturbance: Disturbance) -> None:
        """Raises ClusterError: there is no way yet to make disks, links and kernels fail."""
        raise ClusterError(
            f"{type(disturbance).__name__}: the live backend cannot make disturbances yet (docs/limits.md); "
            "play it on the embedded cluster"
        )

    def heal(self, disturbance: Disturbance) -> None:
        """Nothing: what cannot begin need not end."""

    def run(self, node: str, command: str, stdin: str = "", limit: float = LONGEST_COMMAND) -> ExecResult:
        """Raises ClusterError: there is no way yet to log in to machines."""
        raise ClusterError(f"connect to host {node} port 22: Connection refused")

    def addressed(self, host: str) -> str:
        """Every name is taken for a machine's."""
        return host


class LiveWorld:
    """Implements :class:`sregym_env.cluster.api.World` over a connection."""

    def __init__(
        self, app: App, connection: Connection, clock: Clock, telemetry: Addresses | None = None
    ) -> None:
        self._telemetry = LiveTelemetry(telemetry or Addresses())
        self._app = app
        self._connection = connection
        self._clock = clock
        self._discovery = Discovery(connection, clock)
        self._traffic = LiveTraffic(app, clock.now, self.request)

    @property
    def app(self) -> App:
        """The application that is played."""
        return self._app

    @property
    def cluster(self) -> LiveCluster:
        """The API as the kubeconfig's own identity."""
        return LiveCluster(self._connection, self._discovery, _Passing(self))

    @property
    def nodes(self) -> LiveNodes:
        """The machines."""
        return LiveNodes()

    @property
    def traffic(self) -> LiveTraffic:
        """The users."""
        return self._traffic

    @property
    def telemetry(self) -> LiveTelemetry:
        """Metrics, logs and traces, as far as their addresses are known."""
        return self._telemetry

    def alerts(self) -> list[Alert]:
        """None: rules are not evaluated here yet."""
        return []

    def request(self, call: HttpCall) -> HttpExchange:
        """One HTTP request from the workstation, through the API server's proxy."""
        return services.exchange(self._connection, self.cluster, call)

    def now(self) -> int:
        """The cluster's time."""
        return self._clock.now()

    def advance(self, seconds: float) -> None:
        """Wait, and have the users come by meanwhile."""
        until = self.now() + round(seconds * SECOND)
        while (left := until - self.now()) > 0:
            self._clock.sleep(min(left, max(self._traffic.due - self.now(), 0)) / SECOND)
            if self.now() >= self._traffic.due:
                self._traffic.look()


class _Passing:
    """The clock of a world: waiting on it lets the world's time pass, users and all."""

    def __init__(self, world: LiveWorld) -> None:
        self._world = world

    def now(self) -> int:
        """The cluster's time."""
        return self._world.now()

    def sleep(self, seconds: float) -> None:
        """Let the world's time pass."""
        self._world.advance(seconds)
