"""`sregym serve` as a process of its own, for tests that end it in every way."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml


@contextmanager
def serving_process(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A server, and what its ready file says."""
    ready = folder / "ready.json"
    command = [sys.executable, "-m", "sregym_env.cli.main", "serve", *arguments, "--ready-file", str(ready)]
    ready.unlink(missing_ok=True)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )  # fmt: skip
    assert process.stdout is not None
    try:
        deadline = time.monotonic() + 120
        while not ready.exists():
            assert process.poll() is None, process.stdout.read()
            assert time.monotonic() < deadline, "the server does not get ready"
            time.sleep(0.05)
        yield process, json.loads(ready.read_text())
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(30)
        process.stdout.close()


def posted(url: str, solution: str) -> Any:
    """What the desk answers to a submission."""
    body = json.dumps({"solution": solution}).encode()
    with urllib.request.urlopen(urllib.request.Request(url + "/submit", body), timeout=60) as reply:
        return json.loads(reply.read())


class Client:
    """Whoever holds a kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        authority = b64decode(cluster["certificate-authority-data"]).decode()
        self._url = cluster["server"]
        self._trusted = ssl.create_default_context(cadata=authority)
        self._token = config["users"][0]["user"]["token"]
        self.namespace = config["contexts"][0]["context"]["namespace"]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a request, as JSON. Raises OSError where there is none."""
        request = urllib.request.Request(
            self._url + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=30, context=self._trusted) as reply:
            return json.loads(reply.read())

    def create_config_map(self, name: str) -> None:
        """Write something."""
        self.ask("POST", f"/api/v1/namespaces/{self.namespace}/configmaps", {"metadata": {"name": name}})

    def config_maps(self) -> set[str]:
        """The names of what was written, and of what was there."""
        listed = self.ask("GET", f"/api/v1/namespaces/{self.namespace}/configmaps")
        return {item["metadata"]["name"] for item in listed["items"]}
