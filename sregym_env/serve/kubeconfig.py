"""The file that tells clients where the served cluster is and who they are."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import yaml

from sregym_env.kube.types import Manifest


def kubeconfig(
    server: str,
    authority: bytes,
    user: str,
    token: str,
    namespace: str = "default",
    cluster: str = "kubernetes",
) -> Manifest:
    """A kubeconfig with one context. Clusters with names of their own give unlike names to all they bring, so
    that several such files can be used together."""
    who = user if cluster == "kubernetes" else f"{user}@{cluster}"
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": cluster,
                "cluster": {"server": server, "certificate-authority-data": b64encode(authority).decode()},
            }
        ],
        "contexts": [{"name": who, "context": {"cluster": cluster, "user": who, "namespace": namespace}}],
        "current-context": who,
        "preferences": {},
        "users": [{"name": who, "user": {"token": token}}],
    }


def write(path: Path, config: Manifest) -> None:
    """Write a kubeconfig that only its owner can read."""
    # Closed to others before there is a token in it.
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(config, sort_keys=False))
