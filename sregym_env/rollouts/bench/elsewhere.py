"""``python elsewhere.py NAME...``: these probes on whatever ``sregym_env`` is importable, another checkout's as well.

One line of JSON per name: what was measured for the promises of that name, or in words why nothing could be.
"""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def grafted() -> ModuleType:
    """The package beside this file, in place of the one that the importable ``sregym_env`` may have."""
    name, home = "sregym_env.rollouts.bench", Path(__file__).parent
    spec = spec_from_file_location(name, home / "__init__.py", submodule_search_locations=[str(home)])
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def strangers() -> list[str]:
    """Modules that come from another folder than their package: an editable installation lends what is missing."""
    home = Path(str(sys.modules["sregym_env"].__file__)).parent
    ours = Path(__file__).parent
    return [
        name
        for name, module in sys.modules.items()
        if name.startswith("sregym_env.")
        and not {home, ours} & set(Path(str(getattr(module, "__file__", None))).parents)
    ]


def measured(bench: ModuleType, name: str) -> list[float]:
    """The calibrated values. Raises ImportError where they are not of one checkout."""
    values = [found.calibrated for found in bench.measure(name)]
    if lent := strangers():
        raise ImportError(f"not of that checkout: {', '.join(lent[:3])}")
    return values


if __name__ == "__main__":
    grafted_bench = grafted()
    for asked in sys.argv[1:]:
        line: dict[str, object]
        try:
            line = {"values": measured(grafted_bench, asked)}
        except Exception as error:  # another checkout may lack anything; the other figures go on
            line = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(line), flush=True)
