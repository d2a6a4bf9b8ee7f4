"""Running the applications: ports on the loopback interface, TLS, tokens, kubeconfigs.

:class:`Server` runs on the event loop of whoever calls :meth:`Server.run`; nothing else may touch the worlds
meanwhile, except through :meth:`Server.on_loop`.
"""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

from sregym_env.cluster.identity import ADMIN, User
from sregym_env.serve import certificates
from sregym_env.serve.app import Application
from sregym_env.serve.certificates import Certificates
from sregym_env.serve.clusters import Place, ServedCluster, open_cluster
from sregym_env.serve.connections import IDLE_SECONDS, MAX_HEAD_BYTES, Connection
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.mounts import Asgi, Mounts
from sregym_env.serve.pace import Mode
from sregym_env.serve.ports import listen
from sregym_env.sim.embedded import EmbeddedWorld

LOOPBACK = "127.0.0.1"
CLOSE_SECONDS = 1
"""How long open connections may take to end when the server stops."""

MAX_MESSAGE = 4 * 1024 * 1024
"""The longest WebSocket message taken, in bytes."""

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Settings:
    """How worlds are served.

    ``directory`` receives certificates and kubeconfigs; ``users`` maps a file name to the identity whose
    kubeconfig it is. Clusters that are added later have these settings unless they bring their own.
    """

    directory: Path
    users: Mapping[str, User]
    host: str = LOOPBACK
    port: int = 0
    mode: Mode = "real"
    factor: float = 1.0
    namespace: str = "default"
    certificates: Certificates | None = None
    """What the server proves itself with; made anew where there is nothing."""


class Server:
    """Worlds behind a port: one at its root, or any number below base paths, or both."""

    def __init__(self, world: EmbeddedWorld | None, settings: Settings) -> None:
        self._settings = settings
        self._made_directory = not settings.directory.exists()
        settings.directory.mkdir(parents=True, exist_ok=True)
        self._socket = listen(settings.host, settings.port)
        self.port: int = self._socket.getsockname()[1]
        self.address = f"{settings.host}:{self.port}"
        self.url = f"https://{self.address}"
        self.certificates = settings.certificates or certificates.make(settings.host)
        self._write_certificates()
        self._place = Place(self.address, self.certificates.authority, settings.directory)
        self._clusters: dict[str, ServedCluster] = {}
        self._mounts = Mounts(self._start, self._close)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready: Callable[[], None] | None = None
        self._servers = [
            _server(
                self._mounts,
                ssl_certfile=str(settings.directory / CERTIFICATE),
                ssl_keyfile=str(settings.directory / KEY),
            )
        ]
        self._sockets = [self._socket]
        if world is not None:
            self._open("", world, settings.users, settings.mode, settings.factor, settings.namespace)

    # --- clusters ---------------------------------------------------------------------------------

    def add_cluster(
        self,
        name: str,
        world: EmbeddedWorld,
        *,
        users: Mapping[str, User] | None = None,
        mode: Mode | None = None,
        factor: float | None = None,
        namespace: str = "",
        tokens: Mapping[str, str] | None = None,
    ) -> ServedCluster:
        """Serve another world below ``/c/NAME``, from now on; also while the server runs, from any thread.

        ``tokens``: the users' bearer tokens, where they are to be those of an earlier server. The name is a DNS label, or empty for the root. Raises ValueError for another name and for one that is taken.
        """
        if name and not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no DNS label")
        if name in self._clusters:
            raise ValueError(f"there is a cluster {name!r} already")
        own = self._settings
        return self._open(
            name,
            world,
            own.users if users is None else users,
            mode or own.mode,
            own.factor if factor is None else factor,
            namespace or own.namespace,
            tokens,
        )

    def remove_cluster(self, name: str) -> None:
        """End every stream of a cluster and serve it no more; from any thread. Raises KeyError.

        Its kubeconfigs are deleted.
        """
        cluster = self._clusters.pop(name)
        self._mounts.unmount(name)
        self.on_loop(cluster.application.close)
        cluster.forget()

    @property
    def clusters(self) -> Mapping[str, ServedCluster]:
        """What is served, by name; the cluster at the root has the empty name."""
        return dict(self._clusters)

    def _open(
        self,
        name: str,
        world: EmbeddedWorld,
        users: Mapping[str, User],
        mode: Mode,
        factor: float,
        namespace: str,
        tokens: Mapping[str, str] | None = None,
    ) -> ServedCluster:
        opened = open_cluster(
            name, world, self._place, users, mode=mode, factor=factor, namespace=namespace, tokens=tokens
        )
        self._clusters[name] = opened
        self._mounts.mount(name, opened.application)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(opened.application.start)
        return opened

    # --- the cluster at the root ------------------------------------------------------------------

    @property
    def root(self) -> ServedCluster:
        """The cluster at the root. Raises KeyError where there is none."""
        return self._clusters[""]

    @property
    def hosted(self) -> Hosted:
        """The world at the root."""
        return self.root.hosted

    @property
    def application(self) -> Application:
        """The application at the root."""
        return self.root.application

    @property
    def tokens(self) -> Mapping[str, str]:
        """Bearer tokens of the cluster at the root, by the name of the kubeconfig that holds them."""
        return self.root.tokens

    def kubeconfig(self, name: str) -> Path:
        """Where the kubeconfig of one of the users of the cluster at the root is."""
        return self.root.kubeconfig(name)

    # --- running ----------------------------------------------------------------------------------

    def add(self, application: Asgi, port: int = 0) -> int:
        """Serve something beside the clusters, without TLS, on the same event loop; its port."""
        listening = listen(self._settings.host, port)
        self._servers.append(_server(application, lifespan="off"))
        self._sockets.append(listening)
        return int(listening.getsockname()[1])

    def _write_certificates(self) -> None:
        directory = self._settings.directory
        (directory / CERTIFICATE).write_bytes(self.certificates.certificate)
        key = directory / KEY
        # Closed to others before there is anything in it.
        key.touch(mode=0o600)
        key.write_bytes(self.certificates.key)

    def forget(self) -> None:
        """Remove what was written: certificates, kubeconfigs, the folder if it was made here and nothing else is in it.

        For a server that will not run again, whose ports are free from now on.
        """
        for listening in self._sockets:
            listening.close()
        for cluster in self._clusters.values():
            cluster.forget()
        directory = self._settings.directory
        for name in (CERTIFICATE, KEY):
            (directory / name).unlink(missing_ok=True)
        if self._made_directory:
            with suppress(OSError):  # something else is in it
                directory.rmdir()

    def run(self, ready: Callable[[], None] | None = None) -> None:
        """Serve until :meth:`stop` is called or, on the main thread, the process is interrupted or told to end.

        ``ready`` is called once, when connections are accepted.
        """
        self._ready = ready
        logging.getLogger("uvicorn.error").addFilter(_is_news)
        with _stopped_by_signals(self.stop):
            asyncio.run(self._serve())

    async def _serve(self) -> None:
        serving = [
            asyncio.create_task(server.serve(sockets=[listening]))
            for server, listening in zip(self._servers, self._sockets, strict=True)
        ]
        while not self.started and not any(task.done() for task in serving):
            await asyncio.sleep(0.01)
        if self._ready is not None and self.started:
            self._ready()
        await asyncio.wait(serving, return_when=asyncio.FIRST_COMPLETED)
        self.stop()
        await asyncio.gather(*serving)

    def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        for cluster in self._clusters.values():
            cluster.application.start()

    def _close(self) -> None:
        self._loop = None
        for cluster in self._clusters.values():
            cluster.application.close()

    def on_loop(self, act: Callable[[], _T]) -> _T:
        """Do something where the worlds may be touched, and wait for it: on the event loop while it runs."""
        loop = self._loop
        if loop is None or _current_loop() is loop:
            return act()
        done: Future[_T] = Future()

        def run() -> None:
            try:
                done.set_result(act())
            except BaseException as error:  # belongs to the thread that asked
                done.set_exception(error)

        loop.call_soon_threadsafe(run)
        return done.result()

    def stop(self) -> None:
        """Ask the server to end; safe to call from another thread."""
        for cluster in self._clusters.values():
            cluster.hosted.closing = True
        for server in self._servers:
            server.should_exit = True

    @property
    def started(self) -> bool:
        """Whether it accepts connections."""
        return all(server.started for server in self._servers)


def _current_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _is_news(record: logging.LogRecord) -> bool:
    """That open connections are ended when a server ends is none."""
    return "timeout graceful shutdown exceeded" not in str(record.msg)


class _Quiet(uvicorn.Server):
    """A server that leaves the signals to whoever runs several of its kind."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


@contextmanager
def _stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Let an interrupt and a request to end stop a server in an orderly way; a second one ends it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def told(number: int, _: Any) -> None:
        signal.signal(number, before[signal.Signals(number)])
        stop()

    for number in before:
        signal.signal(number, told)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _server(application: Asgi, **more: Any) -> uvicorn.Server:
    options: dict[str, Any] = {
        "ws": "wsproto",
        "ws_max_size": MAX_MESSAGE,
        # The API server does not compress messages, and what is not compressed cannot explode.
        "ws_per_message_deflate": False,
        "loop": "asyncio",
        "http": Connection,
        "h11_max_incomplete_event_size": MAX_HEAD_BYTES,
        "lifespan": "on",
        "log_level": "error",
        "access_log": False,
        "timeout_graceful_shutdown": CLOSE_SECONDS,
        "timeout_keep_alive": IDLE_SECONDS,
        "server_header": False,
        "date_header": True,
    }
    return _Quiet(uvicorn.Config(application, **{**options, **more}))


CERTIFICATE, KEY = "server.crt", "server.key"
"""Files of the server's own, beside the kubeconfigs."""

ADMIN_CONFIG = "admin.kubeconfig"
EVERYTHING: Mapping[str, User] = {ADMIN_CONFIG: ADMIN}
"""Users of a server that is only for the environment's own hands."""
