"""The writing half of kubectl against output recorded from the real one."""

from __future__ import annotations

import json
import posixpath
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.kubectl import Kubectl

DATA = json.loads((Path(__file__).parent / "data" / "kubectl_write.json").read_text())


class Recorded:
    """The files beside which the real kubectl ran."""

    def read_text(self, path: str) -> str:
        if self.list_files(path):
            raise IsADirectoryError(path)
        if path not in DATA["files"]:
            raise FileNotFoundError(path)
        return str(DATA["files"][path])

    def list_files(self, path: str) -> list[str]:
        return sorted(name for name in DATA["files"] if posixpath.dirname(name) == path)


@lru_cache(maxsize=1)
def prepared() -> EmbeddedWorld:
    world = bare_cluster()
    kubectl = Kubectl(world.cluster)
    for step in DATA["setup"]:
        if isinstance(step, int):
            world.advance(step)
        else:
            done = kubectl.run(step, files=Recorded())
            assert done.exit_code == 0, (step, done.stderr)
    return world


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: " ".join(case["args"]))
def test_prints_what_kubectl_prints(case: dict[str, Any]) -> None:
    kubectl = Kubectl(prepared().fork().cluster)
    stdin = DATA["files"].get(case["stdin"], "")
    result = kubectl.run(case["args"], stdin, Recorded())
    assert (result.exit_code, result.stdout, result.stderr) == (case["exit"], case["stdout"], case["stderr"])
