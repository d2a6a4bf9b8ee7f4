"""Builds ``sregym_env/kube/data/zero-1.32.json.gz``: what Go writes for a new, empty object of each kind.

Run ``python tools_dev/build_zero_objects.py`` after ``build_proto_table.py``. Field ownership of a created
object starts from that empty object: what it has already (``spec: {}``, ``containers: null``) is not *added*
by the creator. Fields appear in it that have no ``omitempty``, and structs that are not behind a pointer,
which Go never leaves out.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

VERSION = "1.32"
_PACKAGE = Path(__file__).parent.parent / "sregym_env"
_SOURCE = _PACKAGE / "serve" / "data" / f"proto_table-{VERSION}.json.gz"
_TARGET = _PACKAGE / "kube" / "data" / f"zero-{VERSION}.json.gz"

_SCALARS: dict[str, Any] = {
    "string": "",
    "int": 0,
    "bool": False,
    "double": 0,
    "quantity": "0",
    "intorstring": 0,
}

# Not linked into kubectl, from which the table comes.
_OTHERS: dict[str, Any] = {
    "apiextensions.k8s.io/v1 CustomResourceDefinition": {
        "metadata": {"creationTimestamp": None},
        "spec": {"group": "", "names": {"plural": "", "kind": ""}, "scope": "", "versions": None},
        "status": {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": None},
    },
    "apiregistration.k8s.io/v1 APIService": {
        "metadata": {"creationTimestamp": None},
        "spec": {"groupPriorityMinimum": 0, "versionPriority": 0},
        "status": {},
    },
}


def zero(messages: dict[str, Any], name: str) -> dict[str, Any]:
    """What Go writes for an empty struct."""
    found: dict[str, Any] = {}
    for field, type_, flags in messages[name].values():
        if type_.startswith("#") and "p" not in flags:
            inner = zero(messages, type_[1:])
            if "i" in flags:
                found.update(inner)
            else:
                found[field] = inner
        elif type_ in ("time", "microtime") and "p" not in flags:
            found[field] = None
        elif "o" not in flags:
            found[field] = None if "p" in flags else _SCALARS.get(type_)
    return dict(sorted(found.items()))


def main() -> None:
    """Write the file."""
    table = json.loads(gzip.decompress(_SOURCE.read_bytes()))
    kinds = {kind: zero(table["messages"], name) for kind, name in table["kinds"].items()}
    text = json.dumps({**_OTHERS, **kinds}, sort_keys=True, separators=(",", ":"))
    _TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(kinds)} kinds, {len(text)} bytes, {_TARGET.stat().st_size} compressed")


if __name__ == "__main__":
    main()
