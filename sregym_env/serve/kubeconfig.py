"""The file that tells clients where the served cluster is and who they are."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import yaml

from sregym_env.kube.types import Manifest


def kubeconfig(server: str, authority: bytes, user: str, token: str, namespace: str = "default") -> Manifest:
    """A kubeconfig with one context."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "kubernetes",
                "cluster": {"server": server, "certificate-authority-data": b64encode(authority).decode()},
            }
        ],
        "contexts": [
            {"name": user, "context": {"cluster": "kubernetes", "user": user, "namespace": namespace}}
        ],
        "current-context": user,
        "preferences": {},
        "users": [{"name": user, "user": {"token": token}}],
    }


def write(path: Path, config: Manifest) -> None:
    """Write a kubeconfig that only its owner can read."""
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(config, sort_keys=False))
