"""Builds ``sregym_env/kube/data/order-1.32.json.gz``: the order in which Go writes the fields of API objects.

Run ``python tools_dev/build_field_order.py PATH_TO_KUBECTL`` with a kubectl 1.32 for linux/amd64. Where kubectl
made an object itself (``create deployment``, ``run``), it prints JSON in the order in which the fields of the Go
structs are declared; this is read from the type descriptions in the program, as in ``build_proto_table.py``.

``kinds`` maps ``apiVersion kind`` to a struct, ``structs`` maps a struct to its fields: ``name:struct:zero``, where
``struct`` is what is below the field, if that is a struct or a list or map of them, and ``zero`` what is written for
an empty field: nothing, JSON, or ``*`` for the empty struct.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path

from sregym_env.kube.registry import RESOURCES
from tools_dev.build_proto_table import _SPECIAL, GoProgram, Table, _go_name, _short

VERSION = "1.32"
_TARGET = Path(__file__).parent.parent / "sregym_env" / "kube" / "data" / f"order-{VERSION}.json.gz"
_MAP, _POINTER, _SLICE, _STRUCT = 21, 22, 23, 25


class Order:
    """Structs reachable from some kinds."""

    def __init__(self, program: GoProgram) -> None:
        self._program = program
        self.structs: dict[str, list[str]] = {}

    def add(self, type_: int) -> str:
        """Describe a struct and everything below it; its short name."""
        short = _short(self._program.qualified(type_))
        if short not in self.structs:
            self.structs[short] = []
            self.structs[short] = self._fields(type_)
        return short

    def _fields(self, type_: int) -> list[str]:
        found = []
        for _, tag, field in self._program.fields(type_):
            name, *options = (re.search(r'json:"([^"]*)"', tag) or ["", ""])[1].split(",")
            below = self._struct(field)
            if "inline" in options or not name:
                if below is not None:
                    found += self._fields(below)
            else:
                special = below is None or self._program.qualified(below) in _SPECIAL
                inner = "" if special or below is None else self.add(below)
                found.append(f"{name}:{inner}:{self._zero(field, 'omitempty' in options)}")
        return found

    def _zero(self, type_: int, omitted: bool) -> str:
        program = self._program
        kind = program.kind(type_)
        if kind == _STRUCT:
            special = _SPECIAL.get(program.qualified(type_))
            # Go never leaves out a struct that is not behind a pointer.
            return (
                "*"
                if special is None
                else {"time": "null", "microtime": "null", "quantity": '"0"'}.get(special, "0")
            )
        if omitted:
            return ""
        return {_MAP: "null", _POINTER: "null", _SLICE: "null", 24: '""', 1: "false"}.get(kind, "0")

    def _struct(self, type_: int) -> int | None:
        program = self._program
        while program.kind(type_) in (_POINTER, _SLICE, _MAP):
            type_ = program.map_value(type_) if program.kind(type_) == _MAP else program.elem(type_)
        return type_ if program.kind(type_) == _STRUCT else None


def main() -> None:
    """Write the order."""
    program = GoProgram(Path(sys.argv[1]).read_bytes())
    table, order = Table(program), Order(program)
    kinds = {}
    more = {
        "autoscaling/v1 HorizontalPodAutoscaler": "k8s.io/api/autoscaling/v1.HorizontalPodAutoscaler",
        "authentication.k8s.io/v1 SelfSubjectReview": "k8s.io/api/authentication/v1.SelfSubjectReview",
        "v1 Config": "k8s.io/client-go/tools/clientcmd/api/v1.Config",
        "v1 List": "k8s.io/api/core/v1.List",
    }
    wanted = {f"{r.api_version} {r.kind}": _go_name(r.definition) for r in RESOURCES if r.definition}
    for kind, name in {**wanted, **more}.items():
        if table.knows(name):
            kinds[kind] = order.add(table._by_name[name])
    text = json.dumps({"kinds": kinds, "structs": order.structs}, sort_keys=True, separators=(",", ":"))
    _TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(kinds)} kinds, {len(order.structs)} structs, {_TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
