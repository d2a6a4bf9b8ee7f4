"""Functions on text: the standard ones, cel-go's string extension, and Kubernetes' ``find`` and ``findAll``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

from sregym_env.kube.cel.errors import CelError
from sregym_env.kube.cel.overloads import Overloads
from sregym_env.kube.cel.standard import go_float, to_string
from sregym_env.kube.cel.values import Duration, Quantity, kind_of
from sregym_env.kube.status import go_quote

_S = "string"


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        text = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise CelError(f"error parsing regexp: {text}") from None


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    out: list[str] = []
    for match in _compiled(pattern).finditer(text):
        if 0 <= limit <= len(out):
            break
        out.append(match.group())
    return out


def _find(text: str, pattern: str) -> str:
    match = _compiled(pattern).search(text)
    return "" if match is None else match.group()


def _char_at(text: str, at: int) -> str:
    if not 0 <= at <= len(text):
        raise CelError(f"index out of range: {at}")
    return text[at : at + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not 0 <= start <= len(text):
        if start < 0 or part:
            raise CelError(f"index out of range: {start}")
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if not 0 <= start < max(1, len(text)):
        raise CelError(f"index out of range: {start}")
    return text.rfind(part, 0, start + len(part))


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    made = text.replace(old, new, limit)
    if len(made) > 4 * (len(text) + len(new)) + 1_000_000:
        raise CelError("operation cancelled: actual cost limit exceeded")
    return made


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if limit == 1:
        return [text]
    if not separator:
        letters = list(text)
        return letters if limit < 0 else [*letters[: limit - 1], "".join(letters[limit - 1 :])]
    return text.split(separator, -1 if limit < 0 else limit - 1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if not 0 <= start <= len(text):
        raise CelError(f"index out of range: {start}")
    if not 0 <= last <= len(text):
        raise CelError(f"index out of range: {last}")
    if start > last:
        raise CelError(f"invalid substring range. start: {start}, end: {last}")
    return text[start:last]


def _join(parts: list[Any], separator: str = "") -> str:
    if any(type(part) is not str for part in parts):
        raise CelError("no such overload")
    return separator.join(parts)


_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


# --- format ----------------------------------------------------------------------------------------


def _format(template: str, arguments: list[Any]) -> str:
    out = []
    i = taken = 0
    while i < len(template):
        char = template[i]
        i += 1
        if char != "%":
            out.append(char)
            continue
        if template[i : i + 1] == "%":
            out.append("%")
            i += 1
            continue
        precision: int | None = None
        if template[i : i + 1] == ".":
            start = i = i + 1
            while i < len(template) and template[i].isdigit():
                i += 1
            precision = int(template[start:i] or "0")
            if precision > 100:
                raise CelError("could not parse formatting clause: precision too large")
        if i >= len(template):
            raise CelError("could not parse formatting clause: unexpected end of string")
        verb = template[i]
        i += 1
        if taken >= len(arguments):
            raise CelError(f"index {taken} out of range")
        out.append(_formatted(verb, precision, arguments[taken]))
        taken += 1
    return "".join(out)


def _formatted(verb: str, precision: int | None, value: Any) -> str:
    kind = kind_of(value)
    if verb == "s":
        return shown(value)
    if verb == "d" and kind in ("int", "uint"):
        return str(value)
    if verb == "f" and kind in ("double", "int", "uint"):
        return f"{float(value):.{6 if precision is None else precision}f}"
    if verb == "e" and kind in ("double", "int", "uint"):
        return f"{float(value):.{6 if precision is None else precision}e}"
    if verb == "b" and kind in ("int", "uint", "bool"):
        return f"{int(value):b}"
    if verb in "xX" and kind in ("int", "uint"):
        return f"{value:{verb}}"
    if verb in "xX" and kind in ("string", "bytes"):
        raw: bytes = value.encode() if kind == "string" else value
        return raw.hex().upper() if verb == "X" else raw.hex()
    if verb == "o" and kind in ("int", "uint"):
        return f"{value:o}"
    if verb not in "dfebxXo":
        raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
    wanted = {"d": "decimal clause can only be used on integers", "o": "octal clause can only be used on integers",
              "b": "only integers and bools can be formatted as binary"}.get(verb, "no such overload")  # fmt: skip
    raise CelError(f"error during formatting: {wanted}, was given {kind}")


def shown(value: Any) -> str:
    """A value as ``%s`` writes it."""
    kind = kind_of(value)
    if kind == "string":
        return str(value)
    if kind == "null":
        return "null"
    if kind == "list":
        return "[" + ", ".join(_nested(v) for v in value) + "]"
    if kind == "map":
        pairs = sorted((_nested(k), _nested(v)) for k, v in value.items())
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
    if kind == "double":
        return go_float(value)
    if kind == "type":
        return str(value.name)
    if isinstance(value, Duration):
        return to_string(value)
    if isinstance(value, Quantity):
        raise CelError("no such overload")
    return to_string(value)


def _nested(value: Any) -> str:
    if isinstance(value, str):
        return go_quote(value)
    if kind_of(value) in ("timestamp", "duration"):
        return f"{kind_of(value)}({go_quote(to_string(value))})"
    return shown(value)


def register(table: Overloads) -> None:
    """Add the functions to a table."""
    table.method("contains", (_S, _S), "bool", lambda a, b: b in a, costly=True)
    table.method("startsWith", (_S, _S), "bool", lambda a, b: a.startswith(b))
    table.method("endsWith", (_S, _S), "bool", lambda a, b: a.endswith(b))
    for add in (table.function, table.method):
        add("matches", (_S, _S), "bool", lambda a, b: _compiled(b).search(a) is not None, costly=True)
    table.method("find", (_S, _S), _S, _find, costly=True)
    table.method("findAll", (_S, _S), ("list", _S), _find_all, costly=True)
    table.method("findAll", (_S, _S, "int"), ("list", _S), _find_all, costly=True)
    table.method("charAt", (_S, "int"), _S, _char_at)
    table.method("indexOf", (_S, _S), "int", _index_of, costly=True)
    table.method("indexOf", (_S, _S, "int"), "int", _index_of, costly=True)
    table.method("lastIndexOf", (_S, _S), "int", _last_index_of, costly=True)
    table.method("lastIndexOf", (_S, _S, "int"), "int", _last_index_of, costly=True)
    table.method("lowerAscii", (_S,), _S, lambda a: a.translate(_LOWER), costly=True)
    table.method("upperAscii", (_S,), _S, lambda a: a.translate(_UPPER), costly=True)
    table.method("replace", (_S, _S, _S), _S, _replace, costly=True)
    table.method("replace", (_S, _S, _S, "int"), _S, _replace, costly=True)
    table.method("split", (_S, _S), ("list", _S), _split, costly=True)
    table.method("split", (_S, _S, "int"), ("list", _S), _split, costly=True)
    table.method("substring", (_S, "int"), _S, _substring, costly=True)
    table.method("substring", (_S, "int", "int"), _S, _substring, costly=True)
    table.method("trim", (_S,), _S, lambda a: a.strip(), costly=True)
    table.method("reverse", (_S,), _S, lambda a: a[::-1], costly=True)
    table.method("join", (("list", _S),), _S, _join, costly=True)
    table.method("join", (("list", _S), _S), _S, _join, costly=True)
    table.method("format", (_S, "list"), _S, _format, costly=True)
    table.function("strings.quote", (_S,), _S, go_quote, costly=True)
