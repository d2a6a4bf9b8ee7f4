"""Running the application: a port on the loopback interface, TLS, tokens, a kubeconfig.

:class:`Server` runs on the event loop of whoever calls :meth:`Server.run`; nothing else may touch the world
meanwhile.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from sregym_env.cluster.api import ADMIN, User
from sregym_env.serve import certificates
from sregym_env.serve.access import Identities
from sregym_env.serve.app import Application, Asgi
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.kubeconfig import kubeconfig, write
from sregym_env.serve.pace import Mode, Pace
from sregym_env.sim.embedded import EmbeddedWorld

LOOPBACK = "127.0.0.1"
BACKLOG = 128
CLOSE_SECONDS = 1
"""How long open connections may take to end when the server stops."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a world is served.

    ``directory`` receives certificates and kubeconfigs; ``users`` maps a file name to the identity whose
    kubeconfig it is.
    """

    directory: Path
    users: Mapping[str, User]
    host: str = LOOPBACK
    port: int = 0
    mode: Mode = "real"
    factor: float = 1.0
    namespace: str = "default"


class Server:
    """A world behind a port."""

    def __init__(self, world: EmbeddedWorld, settings: Settings) -> None:
        self._settings = settings
        self._socket = _listen(settings.host, settings.port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"https://{settings.host}:{self.port}"
        self.tokens = {name: secrets.token_urlsafe(32) for name in settings.users}
        identities = Identities({self.tokens[name]: user for name, user in settings.users.items()})
        self.hosted = Hosted(
            Pace(world, settings.mode, settings.factor), identities, f"{settings.host}:{self.port}"
        )
        self.application = Application(self.hosted)
        self.authority = self._write_files()
        self._servers = [
            _server(
                self.application,
                ssl_certfile=str(settings.directory / "server.crt"),
                ssl_keyfile=str(settings.directory / "server.key"),
            )
        ]
        self._sockets = [self._socket]

    def add(self, application: Asgi, port: int = 0) -> int:
        """Serve something beside the cluster, without TLS, on the same event loop; its port."""
        listening = _listen(self._settings.host, port)
        self._servers.append(_server(application, lifespan="off"))
        self._sockets.append(listening)
        return int(listening.getsockname()[1])

    def kubeconfig(self, name: str) -> Path:
        """Where the kubeconfig of one of the users is."""
        return self._settings.directory / name

    def _write_files(self) -> bytes:
        settings = self._settings
        settings.directory.mkdir(parents=True, exist_ok=True)
        made = certificates.make(settings.host)
        (settings.directory / "server.crt").write_bytes(made.certificate)
        key = settings.directory / "server.key"
        key.touch(mode=0o600)
        key.write_bytes(made.key)
        for name, user in settings.users.items():
            short = user.name.rpartition(":")[2]
            config = kubeconfig(self.url, made.authority, short, self.tokens[name], settings.namespace)
            write(settings.directory / name, config)
        return made.authority

    def run(self) -> None:
        """Serve until :meth:`stop` is called or the process is interrupted."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        serving = [
            asyncio.create_task(server.serve(sockets=[listening]))
            for server, listening in zip(self._servers, self._sockets, strict=True)
        ]
        await asyncio.wait(serving, return_when=asyncio.FIRST_COMPLETED)
        self.stop()
        await asyncio.gather(*serving)

    def stop(self) -> None:
        """Ask the server to end; safe to call from another thread."""
        self.hosted.closing = True
        for server in self._servers:
            server.should_exit = True

    @property
    def started(self) -> bool:
        """Whether it accepts connections."""
        return all(server.started for server in self._servers)


def _server(application: Asgi, **more: Any) -> uvicorn.Server:
    options: dict[str, Any] = {
        "ws": "wsproto",
        "loop": "asyncio",
        "http": "h11",
        "lifespan": "on",
        "log_level": "error",
        "access_log": False,
        "timeout_graceful_shutdown": CLOSE_SECONDS,
        "timeout_keep_alive": 300,
        "server_header": False,
    }
    return uvicorn.Server(uvicorn.Config(application, **{**options, **more}))


def _listen(host: str, port: int) -> socket.socket:
    # asyncio turns off Nagle's algorithm only on sockets that say they are TCP.
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((host, port))
    made.listen(BACKLOG)
    return made


ADMIN_CONFIG = "admin.kubeconfig"
EVERYTHING: Mapping[str, User] = {ADMIN_CONFIG: ADMIN}
"""Users of a server that is only for the environment's own hands."""
