"""Record what a real psql prints for the statements of tests/sim/stores/psql_statements.sql, each with ``psql -c``.

    PGHOST=... PGPORT=... PGUSER=root python tools_dev/record_psql.py

The server must be one that may be written to: the database ``otel`` and the roles ``otelu`` and ``someone`` are made anew.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.sim.stores.shop import INIT

FOLDER = Path(__file__).parent.parent / "tests" / "sim" / "stores"


def psql(database: str, *argv: str) -> list[str | int]:
    done = subprocess.run(["psql", "-X", "-d", database, *argv], capture_output=True, text=True, check=False)
    return [done.stdout, done.stderr, done.returncode]


def main() -> None:
    for text in (
        "DROP DATABASE IF EXISTS otel",
        "DROP ROLE IF EXISTS someone",
        "DROP ROLE IF EXISTS otelu",
        "CREATE DATABASE otel",
    ):
        psql("postgres", "-c", text)
    psql("otel", "-v", "ON_ERROR_STOP=1", "-c", INIT)
    statements = (FOLDER / "psql_statements.sql").read_text().splitlines()
    recorded = [[each, *psql("otel", "-c", each)] for each in statements]
    (FOLDER / "psql_recorded.json").write_text(json.dumps(recorded, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
