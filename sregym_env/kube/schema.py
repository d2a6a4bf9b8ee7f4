"""Kubernetes schemas: what the types are, and decoding of request bodies as the API server does.

The packaged structure (types, patch keys, required fields) is parsed on first use and compiled into
:class:`Struct` objects definition by definition; the descriptions are a second file that only
:mod:`sregym_env.kube.explanation` and the OpenAPI document open.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson

from sregym_env.kube import durations, quantity
from sregym_env.kube.custom import prune
from sregym_env.kube.registry import Resource
from sregym_env.kube.status import bad_request, cannot_handle, invalid, invalid_value
from sregym_env.kube.types import Json, Manifest

VERSION = "1.32"
"""Kubernetes minor version of the packaged schemas."""

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"


# --- types ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Type:
    """A compiled type of the schema; equal names are one object."""

    name: str
    """As written in the data file: ``string``, ``[]#io.k8s.api.core.v1.Container``, ..."""
    kind: str
    """``struct``, ``map``, ``list``, or the name of the leaf type."""
    item: Type | None = None
    """Type of the elements of a list or of the values of a map."""
    struct: Struct | None = None
    """The definition of a struct."""

    def __repr__(self) -> str:
        return f"Type({self.name})"


@dataclass(slots=True)
class Field:
    """One field of a struct."""

    name: str
    type_name: str
    required: bool
    strategy: str = ""
    """``x-kubernetes-patch-strategy``: ``merge``, ``retainKeys``, ``merge,retainKeys`` or empty (replace)."""
    merge_key: str = ""
    list_type: str = ""
    """``atomic``, ``set``, ``map`` or empty."""
    map_keys: tuple[str, ...] = ()
    map_type: str = ""
    _type: Type | None = None

    @property
    def type(self) -> Type:
        """Its type, compiled on first use (definitions may be recursive)."""
        if self._type is None:
            self._type = compile_type(self.type_name)
        return self._type

    @property
    def merges(self) -> bool:
        """Whether a strategic patch merges this list instead of replacing it."""
        return self.strategy.startswith("merge")

    @property
    def retain_keys(self) -> bool:
        """Whether a strategic patch of it carries ``$retainKeys``."""
        return self.strategy.endswith("retainKeys")


@dataclass(slots=True)
class Struct:
    """A compiled definition."""

    definition: str
    fields: dict[str, Field] = field(default_factory=dict)
    map_type: str = ""
    required: tuple[str, ...] = ()
    _demanding: dict[str, Struct] | None = None

    @property
    def demanding(self) -> Mapping[str, Struct]:
        """The structs inside, by field, in which something is required at some depth."""
        if self._demanding is None:
            inner = {name: _struct_inside(field.type) for name, field in self.fields.items()}
            self._demanding = {
                name: struct
                for name, struct in inner.items()
                if struct is not None and _demands(struct, set())
            }
        return self._demanding

    @property
    def go_name(self) -> str:
        """``Container``: the name of the Go struct."""
        return self.definition.rpartition(".")[2]

    @property
    def go_type(self) -> str:
        """``v1.Container``: how Go prints its type."""
        return ".".join(self.definition.split(".")[-2:])


def _struct_inside(type_: Type) -> Struct | None:
    """The struct that a field holds, alone or in a list."""
    return type_.item.struct if type_.kind == "list" and type_.item is not None else type_.struct


def _demands(struct: Struct, seen: set[str]) -> bool:
    """Whether a struct or one inside it has required fields. Definitions may be recursive."""
    if struct.required:
        return True
    seen.add(struct.definition)
    inner = (_struct_inside(field.type) for field in struct.fields.values())
    return any(each is not None and each.definition not in seen and _demands(each, seen) for each in inner)


def _packaged(name: str) -> dict[str, Any]:
    data = (files("sregym_env.kube") / "data" / name).read_bytes()
    tree: dict[str, Any] = orjson.loads(gzip.decompress(data))
    return tree


@lru_cache(maxsize=1)
def _structure() -> dict[str, Any]:
    return _packaged(f"structure-{VERSION}.json.gz")


@lru_cache(maxsize=1)
def _descriptions() -> dict[str, dict[str, str]]:
    return _packaged(f"descriptions-{VERSION}.json.gz")


def descriptions(definition: str) -> dict[str, str]:
    """Texts of a definition by field name, its own under the empty name; empty where there is none."""
    return _descriptions().get(definition, {})


_structs: dict[str, Struct] = {}
_types: dict[str, Type] = {}


def compile_struct(definition: str) -> Struct:
    """The compiled definition of that full name; KeyError when there is none."""
    struct = _structs.get(definition)
    if struct is None:
        entry = _structure()[definition]
        required = tuple(entry.get("required", ()))
        fields = {}
        for name, parts in entry["fields"].items():
            more = parts[1] if len(parts) > 1 else {}
            keys = tuple(more.get("map_keys", ()))
            fields[name] = Field(
                name,
                parts[0],
                name in required,
                more.get("strategy", ""),
                more.get("merge_key", ""),
                more.get("list_type", ""),
                keys,
                more.get("map_type", ""),
            )
        struct = Struct(definition, fields, entry.get("map_type", ""), required)
        _structs[definition] = struct
    return struct


def compile_type(name: str) -> Type:
    """The compiled type of a type expression of the data file."""
    found = _types.get(name)
    if found is not None:
        return found
    if name.startswith("[]"):
        made = Type(name, "list", item=compile_type(name[2:]))
    elif name.startswith("{}"):
        made = Type(name, "map", item=compile_type(name[2:]))
    elif name.startswith("#"):
        made = Type(name, "struct", struct=compile_struct(name[1:]))
    else:
        made = Type(name, name)
    _types[name] = made
    return made


def struct_of(resource: Resource) -> Struct | None:
    """The compiled definition of a resource, or None when it has no packaged schema."""
    return compile_struct(resource.definition) if resource.definition else None


OBJECT_META = f"{_META}.ObjectMeta"


# --- decoding ---------------------------------------------------------------------------------------


class _DoesNotFit(Exception):
    """The fast pass met something that needs the careful one."""


_INT32 = 1 << 31
_INT64 = 1 << 63


def _plain_string(value: Json) -> Json:
    if type(value) is str:
        return value
    raise _DoesNotFit


def _plain_int32(value: Json) -> Json:
    if type(value) is int and -_INT32 <= value < _INT32:
        return value
    raise _DoesNotFit


def _plain_int64(value: Json) -> Json:
    if type(value) is int and -_INT64 <= value < _INT64:
        return value
    raise _DoesNotFit


def _plain_bool(value: Json) -> Json:
    if value is True or value is False:
        return value
    raise _DoesNotFit


def _plain_double(value: Json) -> Json:
    if type(value) in (int, float):
        return value
    raise _DoesNotFit


def _plain_quantity(value: Json) -> Json:
    """Quantities are stored in canonical form, as a round trip through Go writes them."""
    try:
        return quantity.canonical(value)
    except ValueError:
        raise _DoesNotFit from None


def _plain_int_or_string(value: Json) -> Json:
    if type(value) is str or (type(value) is int and -_INT32 <= value < _INT32):
        return value
    raise _DoesNotFit


def _plain_time(value: Json) -> Json:
    if type(value) is not str:
        raise _DoesNotFit
    try:
        durations.parse_rfc3339(value)
    except ValueError:
        raise _DoesNotFit from None
    return value


def _plain_bytes(value: Json) -> Json:
    if type(value) is not str or _base64_error(value) is not None:
        raise _DoesNotFit
    return value


def _anything(value: Json) -> Json:
    return value


_LEAVES: dict[str, Callable[[Json], Json]] = {
    "string": _plain_string,
    "int32": _plain_int32,
    "int64": _plain_int64,
    "bool": _plain_bool,
    "double": _plain_double,
    "quantity": _plain_quantity,
    "intorstring": _plain_int_or_string,
    "time": _plain_time,
    "microtime": _plain_time,
    "bytes": _plain_bytes,
    "any": _anything,
}
_cleaners: dict[str, Callable[[Json], Json]] = dict(_LEAVES)


def _cleaner(type_: Type) -> Callable[[Json], Json]:
    """A function that checks a value of that type and drops what Go would not write back.

    It returns the same object when nothing changes and raises _DoesNotFit on the first problem.
    """
    made = _cleaners.get(type_.name)
    if made is None:
        if type_.kind == "struct":
            assert type_.struct is not None
            made = _struct_cleaner(type_.struct)
        elif type_.kind == "list":
            assert type_.item is not None
            made = _list_cleaner(type_.item)
        else:
            assert type_.item is not None
            made = _map_cleaner(type_.item)
        _cleaners[type_.name] = made
    return made


def _struct_cleaner(struct: Struct) -> Callable[[Json], Json]:
    # Per field: the cleaner (made on first use, since definitions may be recursive) and whether an
    # empty container is dropped, as Go's ``omitempty`` does.
    ready: dict[str, tuple[Callable[[Json], Json], bool]] = {}
    fields = struct.fields

    def clean(value: Json) -> Json:
        if type(value) is not dict:
            raise _DoesNotFit
        changed: dict[str, Json] | None = None
        for name, child in value.items():
            rule = ready.get(name)
            if rule is None:
                declared = fields.get(name)
                if declared is None:
                    raise _DoesNotFit
                child_type = declared.type
                drops = not declared.required and child_type.kind in ("list", "map")
                rule = ready[name] = (_cleaner(child_type), drops)
            if child is None:
                if name == "creationTimestamp":
                    continue  # the one null that Go writes: the zero time of an embedded ObjectMeta
                changed = dict(value) if changed is None else changed
                del changed[name]
                continue
            if rule[1] and not child and type(child) in (dict, list):
                changed = dict(value) if changed is None else changed
                del changed[name]
                continue
            cleaned = rule[0](child)
            if cleaned is not child:
                changed = dict(value) if changed is None else changed
                changed[name] = cleaned
        return value if changed is None else changed

    return clean


def _list_cleaner(item: Type) -> Callable[[Json], Json]:
    item_cleaner: list[Callable[[Json], Json]] = []

    def clean(value: Json) -> Json:
        if type(value) is not list:
            raise _DoesNotFit
        if not item_cleaner:
            item_cleaner.append(_cleaner(item))
        check = item_cleaner[0]
        changed: list[Json] | None = None
        for index, child in enumerate(value):
            if child is None:
                raise _DoesNotFit
            cleaned = check(child)
            if cleaned is not child:
                changed = list(value) if changed is None else changed
                changed[index] = cleaned
        return value if changed is None else changed

    return clean


def _map_cleaner(item: Type) -> Callable[[Json], Json]:
    item_cleaner: list[Callable[[Json], Json]] = []
    is_string = item.kind == "string"

    def clean(value: Json) -> Json:
        if type(value) is not dict:
            raise _DoesNotFit
        if not item_cleaner:
            item_cleaner.append(_cleaner(item))
        check = item_cleaner[0]
        changed: dict[str, Json] | None = None
        for key, child in value.items():
            if type(key) is not str:
                raise _DoesNotFit
            if child is None and is_string:
                # A null in a map of strings decodes to Go's zero value.
                cleaned: Json = ""
            elif child is None:
                raise _DoesNotFit
            else:
                cleaned = check(child)
            if cleaned is not child:
                changed = dict(value) if changed is None else changed
                changed[key] = cleaned
        return value if changed is None else changed

    return clean


@dataclass(slots=True)
class _Findings:
    """What the careful pass collects."""

    unknown: list[str] = field(default_factory=list)
    fault: str = ""
    """The first value that does not decode, in the words of Go's decoder."""
    from_patch: bool = False
    """Word type errors as the converter behind strategic patches does."""


class _MapKey(str):
    """A step of a path that is the key of a map: Go names only the struct field that holds the map."""

    __slots__ = ()


def _path(path: tuple[str | int, ...]) -> str:
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        else:
            out += f".{step}" if out else step
    return out


def _careful(type_: Type, value: Json, where: tuple[str | int, ...], owner: str, out: _Findings) -> Json:
    """Decode with all complaints; unknown fields are dropped. Slow, only for bodies with problems."""
    if type_.kind == "struct":
        assert type_.struct is not None
        return _careful_struct(type_.struct, value, where, owner, out)
    if type_.kind == "list":
        return _careful_list(type_, value, where, owner, out)
    if type_.kind == "map":
        if not isinstance(value, dict):
            return _misfit(type_, value, where, owner, out)
        assert type_.item is not None
        cleaned = {}
        for key, child in value.items():
            if child is None:
                cleaned[str(key)] = zero(type_.item)
            else:
                cleaned[str(key)] = _careful(type_.item, child, (*where, _MapKey(key)), owner, out)
        return cleaned
    try:
        return _LEAVES[type_.kind](value)
    except _DoesNotFit:
        return _misfit(type_, value, where, owner, out)


def _careful_struct(
    struct: Struct, value: Json, where: tuple[str | int, ...], owner: str, out: _Findings
) -> Json:
    if not isinstance(value, dict):
        return _misfit(compile_type("#" + struct.definition), value, where, owner, out)
    cleaned = {}
    for name, child in value.items():
        declared = struct.fields.get(name)
        if declared is None:
            out.unknown.append(f'unknown field "{_path((*where, name))}"')
        elif child is not None:
            type_ = declared.type
            if not child and not declared.required and type_.kind in ("list", "map"):
                if isinstance(child, dict | list):
                    continue
            cleaned[name] = _careful(type_, child, (*where, name), struct.go_name, out)
    return cleaned


def _careful_list(type_: Type, value: Json, where: tuple[str | int, ...], owner: str, out: _Findings) -> Json:
    assert type_.item is not None
    if not isinstance(value, list):
        return _misfit(type_, value, where, owner, out)
    items = []
    for index, child in enumerate(value):
        if child is None:
            items.append(zero(type_.item))
        else:
            items.append(_careful(type_.item, child, (*where, index), owner, out))
    return items


def zero(type_: Type) -> Json:
    """Go's zero value of a type, as JSON."""
    return _ZEROS.get(type_.kind, [] if type_.kind == "list" else {})


_ZEROS: dict[str, Json] = {
    "string": "", "bytes": "", "int32": 0, "int64": 0, "bool": False, "double": 0, "quantity": "0",
    "intorstring": 0,
}  # fmt: skip


def _misfit(type_: Type, value: Json, where: tuple[str | int, ...], owner: str, out: _Findings) -> Json:
    if not out.fault:
        out.fault = _converter_error(type_, value) if out.from_patch else ""
        out.fault = out.fault or _decoder_error(type_, value, where, owner)
    return zero(type_)


def _decoder_error(type_: Type, value: Json, where: tuple[str | int, ...], owner: str) -> str:
    special = _special_error(type_, value)
    if special:
        return special
    what = _json_name(value, type_)
    path = ".".join(s for s in where if isinstance(s, str) and not isinstance(s, _MapKey))
    target = f"Go struct field {owner}.{path}" if owner and path else "Go value"
    return f"json: cannot unmarshal {what} into {target} of type {go_type(type_)}"


def _special_error(type_: Type, value: Json) -> str:
    """Errors of types that decode themselves; they carry no path."""
    if type_.kind == "quantity" and isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            quantity.canonical(value)
        except ValueError as error:
            return str(error)
    if type_.kind == "quantity":
        return quantity.FORMAT_ERROR
    if type_.kind == "intorstring":
        return f"json: cannot unmarshal {_json_name(value, type_)} into Go value of type int32"
    if type_.kind in ("time", "microtime"):
        if not isinstance(value, str):
            return f"json: cannot unmarshal {_json_name(value, type_)} into Go value of type string"
        try:
            durations.parse_rfc3339(value)
        except ValueError as error:
            return str(error)
    if type_.kind == "bytes" and isinstance(value, str):
        return _base64_error(value) or ""
    return ""


def _converter_error(type_: Type, value: Json) -> str:
    """How ``runtime.DefaultUnstructuredConverter`` words a value of the wrong type."""
    source = _go_kind(value)
    if type_.kind in ("string", "int32", "int64", "bool", "double"):
        target = {"double": "float64"}.get(type_.kind, type_.kind)
        if source in ("map[string]interface {}", "[]interface {}") or (source == "string") != (
            target == "string"
        ):
            if not (source == "int64" and target == "string"):
                return f"unrecognized type: {target}"
        return f"cannot convert {source} to {target}"
    if type_.kind == "list":
        return f"cannot restore slice from {source.split('[')[0].split()[0] or 'slice'}"
    if type_.kind == "map":
        return f"cannot restore map from {source}"
    if type_.kind == "struct":
        return f"cannot restore struct from: {source}"
    return ""


def _go_kind(value: Json) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64"
    if isinstance(value, float):
        return "float64"
    if isinstance(value, str):
        return "string"
    return "slice" if isinstance(value, list) else "map"


def _json_name(value: Json, type_: Type) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        # An integer field that gets another number names that number.
        return f"number {value}" if type_.kind in ("int32", "int64") else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def go_type(type_: Type) -> str:
    """How Go prints a type: ``int32``, ``[]v1.Container``, ``map[string]string``."""
    if type_.kind == "struct":
        assert type_.struct is not None
        return type_.struct.go_type
    if type_.kind in ("list", "map"):
        assert type_.item is not None
        return ("[]" if type_.kind == "list" else "map[string]") + go_type(type_.item)
    return {"double": "float64", "bytes": "[]uint8", "quantity": "resource.Quantity"}.get(
        type_.kind, type_.kind
    )


_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}\Z")


def _base64_error(text: str) -> str | None:
    """Go's complaint about base64 text, None when it decodes."""
    body = text.replace("\n", "").replace("\r", "")
    if len(body) % 4 == 0 and _BASE64.match(body):
        return None
    try:
        base64.b64decode(body, validate=True)
    except ValueError:
        pass
    else:
        return None
    for index, char in enumerate(body):
        if not (char.isascii() and (char.isalnum() or char in "+/")):
            return f"illegal base64 data at input byte {index}"
    return f"illegal base64 data at input byte {len(body) // 4 * 4}"


def decode(resource: Resource, obj: Json, strict: bool = True) -> tuple[Manifest, tuple[str, ...]]:
    """Decode a request body of that resource: ``(object, warnings)``.

    Nulls and empty optional lists and maps are dropped and quantities made canonical, as a round trip
    through the Go types does; without any of these the very same object comes back. Unknown fields
    raise when ``strict`` (``fieldValidation=Strict``), else they are dropped and warned about. Raises
    StatusError 400 with the text of the API server's decoder.
    """
    cleaned, findings = _decode(resource, obj, from_patch=False)
    if findings is None:
        return cleaned, ()
    if findings.fault:
        raise cannot_handle(resource.kind, resource.version, findings.fault)
    if findings.unknown and strict:
        text = "strict decoding error: " + ", ".join(findings.unknown)
        raise cannot_handle(resource.kind, resource.version, text)
    return cleaned, tuple(findings.unknown)


def decode_patched(
    resource: Resource, obj: Json, patch: Json, strategic: bool, strict: bool = False
) -> tuple[Manifest, tuple[str, ...]]:
    """Decode the result of a patch: like :func:`decode`, with the errors of the patch handler (422).

    ``patch`` is the patch body; ``strategic`` says whether it was a strategic merge patch.
    """
    cleaned, findings = _decode(resource, obj, from_patch=strategic)
    if findings is None:
        return cleaned, ()
    text = findings.fault
    if not text and findings.unknown and strict:
        text = "strict decoding error: " + ", ".join(findings.unknown)
    if text:
        shown = go_format(patch) if strategic else json.dumps(obj, separators=(",", ":"), sort_keys=True)
        raise invalid("", "", [invalid_value("patch", shown, text)])
    return cleaned, tuple(findings.unknown)


def go_format(value: Json) -> str:
    """A JSON value as Go's ``%+v`` prints it: ``map[spec:map[replicas:3]]``."""
    if value is None:
        return "<nil>"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{k}:{go_format(value[k])}" for k in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(go_format(v) for v in value) + "]"
    return str(value)


def _decode(resource: Resource, obj: Json, from_patch: bool) -> tuple[Manifest, _Findings | None]:
    if not isinstance(obj, dict):
        raise bad_request(
            "the object provided is unrecognized (must be of type "
            f"{resource.kind}): couldn't get version/kind; json parse error: json: cannot unmarshal "
            f"{_json_name(obj, compile_type('any'))} into Go value of type struct "
            '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string '
            '"json:\\"kind,omitempty\\"" }'
        )
    if resource.definition:
        root = compile_type("#" + resource.definition)
        try:
            return _cleaner(root)(obj), None
        except _DoesNotFit:
            findings = _Findings(from_patch=from_patch)
            return _careful(root, obj, (), "", findings), findings
    decoded, found = _decode_metadata(obj, from_patch)
    if resource.custom_type is None:
        return decoded, found
    pruned, unknown = prune(resource.custom_type.schema, decoded)
    if unknown:
        found = found or _Findings(from_patch=from_patch)
        found.unknown += unknown
    return pruned, found


def _decode_metadata(obj: Manifest, from_patch: bool) -> tuple[Manifest, _Findings | None]:
    """Objects without a packaged schema: only the metadata has known types."""
    metadata = obj.get("metadata")
    root = compile_type("#" + OBJECT_META)
    if metadata is None:
        return obj, None
    findings = None
    try:
        cleaned = _cleaner(root)(metadata)
    except _DoesNotFit:
        findings = _Findings(from_patch=from_patch)
        cleaned = _careful(root, metadata, ("metadata",), "", findings)
    return (obj if cleaned is metadata else {**obj, "metadata": cleaned}), findings


def missing_required(resource: Resource, obj: Manifest) -> Iterator[str]:
    """Paths of required fields that an object lacks (``spec.template``), outer before inner."""
    struct = struct_of(resource)
    if struct is not None and not _is_whole(struct, obj):
        yield from _missing(struct, obj, "")


def _is_whole(struct: Struct, obj: Mapping[str, Any]) -> bool:
    """Whether nothing that is required is missing, as for most objects that are looked at."""
    for name in struct.required:
        if name not in obj:
            return False
    demanding = struct.demanding
    for name, value in obj.items():
        inner = demanding.get(name)
        if inner is None or name == "status":
            continue
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, dict) and not _is_whole(inner, child):
                return False
    return True


def _missing(struct: Struct, obj: Mapping[str, Any], where: str) -> Iterator[str]:
    for name in struct.required:
        if name not in obj:
            yield f"{where}{name}"
    demanding = struct.demanding
    for name, value in obj.items():
        inner = demanding.get(name)
        if inner is None or name == "status":
            continue
        if isinstance(value, dict):
            yield from _missing(inner, value, f"{where}{name}.")
        elif isinstance(value, list):
            for index, child in enumerate(value):
                yield from _missing(inner, child, f"{where}{name}[{index}].")


__all__ = [
    "Field",
    "Struct",
    "Type",
    "compile_struct",
    "compile_type",
    "decode",
    "decode_patched",
    "descriptions",
    "go_format",
    "go_type",
    "missing_required",
    "struct_of",
]
