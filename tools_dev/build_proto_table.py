"""Builds ``sregym_env/serve/data/proto_table-1.32.json.gz``: the protobuf layout of Kubernetes' request bodies.

Run ``python tools_dev/build_proto_table.py PATH_TO_KUBECTL`` with a kubectl 1.32 for linux/amd64. The layout is
read from the type descriptions that the Go runtime needs for reflection and that are part of every Go
program: each field of an API struct carries a tag with its protobuf number and JSON name, and its Go type
says what JSON cannot: whether it is a pointer (then zero is a value) and whether it is embedded.

The table: ``kinds`` maps ``apiVersion kind`` to a message, ``messages`` maps a message to its fields
``number: [name, type, flags]``. Types: ``string int bool bytes double quantity intorstring time raw
fields json``, ``#message``, ``[]T``, ``{}T``. Flags: ``p`` pointer, ``o`` omitted from JSON when
empty, ``i`` embedded.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
import sys
from pathlib import Path
from typing import Any

from sregym_env.kube.registry import RESOURCES

VERSION = "1.32"
_TARGET = Path(__file__).parent.parent / "sregym_env" / "serve" / "data"

_BOOL, _FLOAT64, _MAP, _POINTER, _SLICE, _STRING, _STRUCT = 1, 14, 21, 22, 23, 24, 25
_INTEGERS = range(2, 12)
_BYTE = 8

_META = "k8s.io/apimachinery/pkg/apis/meta/v1"
_SPECIAL = {
    "k8s.io/apimachinery/pkg/api/resource.Quantity": "quantity",
    "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "intorstring",
    f"{_META}.Time": "time",
    f"{_META}.MicroTime": "microtime",
    f"{_META}.Duration": "duration",
    f"{_META}.FieldsV1": "raw",
    "k8s.io/apimachinery/pkg/runtime.RawExtension": "raw",
}
_MORE_KINDS = {
    "autoscaling/v1 Scale": "k8s.io/api/autoscaling/v1.Scale",
    "policy/v1 Eviction": "k8s.io/api/policy/v1.Eviction",
    "authentication.k8s.io/v1 TokenRequest": "k8s.io/api/authentication/v1.TokenRequest",
    "DeleteOptions": f"{_META}.DeleteOptions",
}


class GoProgram:
    """The types of a statically linked ELF executable made by Go 1.23."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._sections = self._read_sections()
        self._types = self._sections[".rodata"][0]

    def _read_sections(self) -> dict[str, tuple[int, int, int]]:
        data = self._data
        start = struct.unpack_from("<Q", data, 0x28)[0]
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        rows = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
        text = rows[names][4]
        found = {}
        for row in rows:
            at = text + row[0]
            found[data[at : data.index(b"\0", at)].decode()] = (row[3], row[4], row[5])
        return found

    def _at(self, address: int) -> int:
        for start, offset, size in self._sections.values():
            if start and start <= address < start + size:
                return offset + address - start
        raise ValueError(hex(address))

    def _word(self, address: int) -> int:
        return int(struct.unpack_from("<Q", self._data, self._at(address))[0])

    def linked(self) -> list[int]:
        """Addresses of the types that the linker lists."""
        _, offset, size = self._sections[".typelink"]
        offsets = struct.unpack_from(f"<{size // 4}i", self._data, offset)
        return [self._types + value for value in offsets]

    def kind(self, type_: int) -> int:
        """``reflect.Kind`` of a type."""
        return self._data[self._at(type_) + 23] & 31

    def elem(self, type_: int) -> int:
        """Element type of a pointer or slice; key type of a map."""
        return self._word(type_ + 48)

    def map_value(self, type_: int) -> int:
        """Value type of a map."""
        return self._word(type_ + 56)

    def _name(self, address: int) -> tuple[str, str]:
        """A name and its tag."""
        at = self._at(address)
        flags = self._data[at]
        text, at = self._counted(at + 1)
        tag = self._counted(at)[0] if flags & 2 else ""
        return text, tag

    def _counted(self, at: int) -> tuple[str, int]:
        length = shift = 0
        while True:
            byte = self._data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return self._data[at : at + length].decode("utf-8", "replace"), at + length

    def qualified(self, type_: int) -> str:
        """``package/path.Name`` of a named type, empty for others."""
        at = self._at(type_)
        flags = self._data[at + 20]
        if not flags & 4 or not flags & 1:
            return ""
        sizes = {_STRUCT: 80, _POINTER: 56, _SLICE: 56, _MAP: 88}
        extra = sizes.get(self.kind(type_), 48)
        package = struct.unpack_from("<i", self._data, at + extra)[0]
        name = self._name(self._types + struct.unpack_from("<i", self._data, at + 40)[0])[0]
        path = self._name(self._types + package)[0]
        return f"{path}.{name.lstrip('*').rpartition('.')[2]}"

    def fields(self, type_: int) -> list[tuple[str, str, int]]:
        """(name, tag, type) of every field of a struct."""
        start, count = self._word(type_ + 56), self._word(type_ + 64)
        found = []
        for index in range(count):
            name, tag = self._name(self._word(start + 24 * index))
            found.append((name, tag, self._word(start + 24 * index + 8)))
        return found


class Table:
    """Messages reachable from some kinds."""

    def __init__(self, program: GoProgram) -> None:
        self._program = program
        self._by_name = self._structs()
        self.messages: dict[str, dict[str, list[str]]] = {}

    def _structs(self) -> dict[str, int]:
        program = self._program
        found = {}
        for type_ in program.linked():
            if program.kind(type_) == _POINTER:
                element = program.elem(type_)
                if program.kind(element) == _STRUCT:
                    name = program.qualified(element)
                    if name.startswith("k8s.io/"):
                        found[name] = element
        return found

    def knows(self, name: str) -> bool:
        """Whether the program has that type."""
        return name in self._by_name

    def add(self, name: str, type_: int | None = None) -> str:
        """Describe a struct and everything below it; its short name."""
        short = _short(name)
        if short not in self.messages:
            self.messages[short] = {}
            self.messages[short] = self._describe(self._by_name[name] if type_ is None else type_)
        return short

    def _describe(self, type_: int) -> dict[str, list[str]]:
        found = {}
        for _, tag, field in self._program.fields(type_):
            proto = re.search(r'protobuf:"([^"]*)"', tag)
            if proto is None or proto[1] in ("", "-"):
                continue
            name, *options = (re.search(r'json:"([^"]*)"', tag) or ["", ""])[1].split(",")
            flags = "o" if "omitempty" in options else ""
            if "inline" in options or not name:
                flags += "i"
            if self._program.kind(field) == _POINTER:
                flags += "p"
            found[proto[1].split(",")[1]] = [name, self._type(field), flags]
        return found

    def _type(self, type_: int) -> str:
        program = self._program
        kind, name = program.kind(type_), program.qualified(type_)
        if name in _SPECIAL:
            return _SPECIAL[name]
        if kind == _POINTER:
            return self._type(program.elem(type_))
        if kind == _SLICE:
            return self._slice(type_, name)
        if kind == _MAP:
            return "{}" + self._type(program.map_value(type_))
        if kind == _STRUCT:
            if name.endswith("apiextensions/v1.JSON"):
                return "json"
            return "#" + self.add(name, type_)
        if kind in _INTEGERS:
            return "int"
        return {_BOOL: "bool", _STRING: "string", _FLOAT64: "double"}[kind]

    def _slice(self, type_: int, name: str) -> str:
        element = self._program.elem(type_)
        if self._program.kind(element) == _BYTE:
            return "bytes"
        inner = "[]" + self._type(element)
        # A slice with a name of its own is a message with one repeated field.
        return f"@{inner}" if name else inner


def _short(name: str) -> str:
    for prefix in ("k8s.io/api/", "k8s.io/apimachinery/pkg/apis/"):
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name.removeprefix("k8s.io/")


def _go_name(definition: str) -> str:
    """``io.k8s.api.apps.v1.Deployment`` as Go has it: ``k8s.io/api/apps/v1.Deployment``."""
    parts = definition.split(".")
    host = ".".join(reversed(parts[:2]))
    return f"{host}/{'/'.join(parts[2:-1])}.{parts[-1]}"


def main() -> None:
    """Write the table."""
    program = GoProgram(Path(sys.argv[1]).read_bytes())
    table = Table(program)
    kinds = {}
    wanted = {f"{r.api_version} {r.kind}": _go_name(r.definition) for r in RESOURCES if r.definition}
    for kind, name in {**wanted, **_MORE_KINDS}.items():
        if table.knows(name):
            kinds[kind] = table.add(name)
        else:
            print("not in this program:", kind, name)
    tree: dict[str, Any] = {"kinds": kinds, "messages": dict(sorted(table.messages.items()))}
    _TARGET.mkdir(exist_ok=True)
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    path = _TARGET / f"proto_table-{VERSION}.json.gz"
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    fields = sum(len(m) for m in table.messages.values())
    print(f"{len(kinds)} kinds, {len(table.messages)} messages, {fields} fields, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
