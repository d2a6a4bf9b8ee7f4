"""``python -m bench NAME...``: the calibrated values of promises on whatever ``sregym_env`` is importable, as JSON.

One line per name: what was measured for the promises of that name, or in words why nothing could be.
"""

from __future__ import annotations

import json
import sys

from . import measure

if __name__ == "__main__":
    for name in sys.argv[1:]:
        try:
            line: dict[str, object] = {"values": [measurement.calibrated for measurement in measure(name)]}
        except Exception as error:
            line = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(line), flush=True)
