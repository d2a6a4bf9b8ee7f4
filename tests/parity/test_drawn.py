"""Lines that nobody wrote: both kubectls say the same of most of them, where there is a real one.

How many, and which not: ``python tools_dev/draw_kubectl_lines.py``.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.parity.harness import sides
from tests.parity.states import state
from tests.serve.serving import real_kubectl

SCRIPT = Path(__file__).parents[2] / "tools_dev" / "draw_kubectl_lines.py"
LINES = 60
EQUAL = 0.9
"""Least share; of many lines it is more."""


def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_kubectl_lines", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_both_say_the_same_of_drawn_lines() -> None:
    binary = real_kubectl()
    if binary is None:
        pytest.skip("no kubectl 1.32 on this machine")
    script, healthy = drawing(), state("healthy")
    world = healthy.make()
    pods = [pod["metadata"]["name"] for pod in world.cluster.list("pods", "hotel-reservation")]
    drawn = script.Drawing(11, script.Names(pods[::4]), script.flags_of(binary))
    again = script.Drawing(11, script.Names(pods[::4]), script.flags_of(binary))
    cases = [drawn.case() for _ in range(LINES)]
    assert cases == [again.case() for _ in range(LINES)]
    with sides(world, healthy.files, **healthy.how) as both:
        compared = {str(case): both.compare(case, tries=2) for case in cases}
    different = [line for line, (real, ours) in compared.items() if real != ours]
    assert len(different) <= (1 - EQUAL) * len(compared), different
