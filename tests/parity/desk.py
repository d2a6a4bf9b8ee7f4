"""The working directory of a comparison as a machine: kubectl reads and writes files on it and runs editors."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sregym_env.cluster.streams import ExecResult
from sregym_env.tools.kubectl.desk import Listener


class DiskDesk:
    """What the in-process kubectl needs of the machine it runs on, in one directory."""

    def __init__(self, root: Path, variables: Mapping[str, str]) -> None:
        self._root = root
        self._variables = variables
        (root / "tmp").mkdir(exist_ok=True)

    def _place(self, path: str) -> Path:
        """Where a file lies: what belongs in ``/tmp`` in a folder of its own, for others compare at the same time."""
        return self._root / (f"tmp/{path[5:]}" if path.startswith("/tmp/") else path)

    def read_bytes(self, path: str) -> bytes:
        return self._place(path).read_bytes()

    def write_bytes(self, path: str, data: bytes) -> None:
        self._place(path).write_bytes(data)

    def make_directories(self, path: str) -> None:
        self._place(path).mkdir(parents=True, exist_ok=True)

    def is_directory(self, path: str) -> bool:
        return self._place(path).is_dir()

    def walk(self, path: str) -> Sequence[tuple[str, bytes | None]]:
        folder = self._place(path)
        return [
            (str(found.relative_to(folder)), found.read_bytes() if found.is_file() else None)
            for found in sorted(folder.rglob("*"))
        ]

    def remove(self, path: str) -> None:
        self._place(path).unlink(missing_ok=True)

    def variable(self, name: str) -> str:
        return self._variables.get(name, "")

    def has(self, name: str) -> bool:
        return shutil.which(name) is not None or (self._root / name).exists()

    def execute(self, script: str) -> ExecResult:
        done = subprocess.run(
            ["bash", "-c", script.replace("/tmp/", f"{self._root}/tmp/")],
            cwd=self._root,
            capture_output=True,
            text=True,
            check=False,
        )
        return ExecResult(done.stdout, done.stderr, done.returncode)

    @property
    def detached(self) -> bool:
        return False

    def listen(self, port: int, listener: Listener) -> int:
        return port or 34567

    def close(self, port: int) -> None:
        pass
