"""One served cluster: a world, its clients' credentials, and where it is."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sregym_env.cluster.identity import User
from sregym_env.serve.access import Identities
from sregym_env.serve.app import Application
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.kubeconfig import kubeconfig, write
from sregym_env.serve.mounts import base_path
from sregym_env.serve.pace import Mode, Pace
from sregym_env.sim.embedded import EmbeddedWorld


@dataclass(frozen=True, slots=True)
class Place:
    """Where clusters are served: the address, its certificate authority (PEM), the folder for kubeconfigs."""

    address: str
    authority: bytes
    directory: Path


@dataclass(frozen=True, slots=True)
class ServedCluster:
    """A cluster that clients can reach. The empty ``name`` is the cluster at the root of the server."""

    name: str
    url: str
    hosted: Hosted
    application: Application
    tokens: Mapping[str, str]
    """Bearer tokens by the name of the kubeconfig that holds them."""
    directory: Path

    def kubeconfig(self, user: str) -> Path:
        """Where the kubeconfig of one of the users is."""
        return self.directory / user

    def forget(self) -> None:
        """Delete the kubeconfigs."""
        for file in self.tokens:
            self.kubeconfig(file).unlink(missing_ok=True)
        if self.name:
            with suppress(OSError):  # something else is in it
                self.directory.rmdir()


def open_cluster(
    name: str,
    world: EmbeddedWorld,
    place: Place,
    users: Mapping[str, User],
    *,
    mode: Mode = "real",
    factor: float = 1.0,
    namespace: str = "default",
    tokens: Mapping[str, str] | None = None,
) -> ServedCluster:
    """Make what is needed to serve a world and write its kubeconfigs, with new ``tokens`` unless they are given."""
    base = base_path(name)
    tokens = tokens or {file: secrets.token_urlsafe(32) for file in users}
    identities = Identities({tokens[file]: user for file, user in users.items()})
    hosted = Hosted(Pace(world, mode, factor), identities, place.address, base)
    directory = place.directory / name if name else place.directory
    directory.mkdir(parents=True, exist_ok=True)
    url = f"https://{place.address}{base}"
    for file, user in users.items():
        short = user.name.rpartition(":")[2]
        config = kubeconfig(url, place.authority, short, tokens[file], namespace, name or "kubernetes")
        write(directory / file, config)
    return ServedCluster(name, url, hosted, Application(hosted), tokens, directory)
