"""Everything that clients hold open, for a while at a thousand times the wall's speed; the whole week is
``tools_dev/soak_serving.py``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools_dev" / "soak_serving.py"


def test_nothing_is_lost_and_nothing_left() -> None:
    spec = importlib.util.spec_from_file_location("soak_serving", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    report = module.run(6.0, tell=lambda _: None)
    assert report["wrong"] == []
    counts = report["counts"]
    for kind in (
        "shell answers",
        "forwarded answers",
        "log lines",
        "commands",
        "rollouts",
        "/api/v1/pods checked",
    ):
        assert counts[kind] > 0, kind
    assert report["virtual_hours"] > 0.5
