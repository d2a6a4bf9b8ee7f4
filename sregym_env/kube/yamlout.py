"""Text of a manifest as kubectl prints it: ``-o yaml`` and ``-o json``.

kubectl marshals YAML with go-yaml v2 (through sigs.k8s.io/yaml): keys in *natural* order, sequences at the
indentation of their key, literal blocks for multi-line strings, plain scalars folded at 80 columns, and quotes
only where a YAML 1.1 reader would see something else than a string. JSON is Go's ``MarshalIndent`` with four
spaces, sorted keys and the HTML escapes of ``<``, ``>`` and ``&``.
"""

from __future__ import annotations

import math
import re
from functools import cmp_to_key, lru_cache
from typing import Any

import orjson

BEST_WIDTH = 80
"""Column after which go-yaml folds a scalar at the next space."""

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_WORDS = _NULLS | frozenset(
    word
    for base in ("true", "false", "yes", "no", "on", "off", "y", "n")
    for word in (base, base.capitalize(), base.upper())
)
_FLOAT_WORDS = frozenset(
    sign + word
    for word in (".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN")
    for sign in ("", "+", "-")
    if not (sign and word[1] in "nN")
)
_INT = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_GO_FLOAT = re.compile(r"\.[0-9]+(?:[eE][-+]?[0-9]+)?\Z")
_BASE60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"| ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?)?\Z"
)
_UNPRINTABLE = re.compile("[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[\u2028\u2029]")
_BLOCK_INDICATOR = re.compile(r"[#,\[\]{}&*!|>'\"%@`]|---|\.\.\.|[-?:](?=[ \n]|\Z)")
_INNER_INDICATOR = re.compile(r":(?=[ \n]|\Z)|(?<=[ \n])#")
_SAFE_PLAIN = re.compile(r"[A-Za-z/_][A-Za-z0-9/_.\-]*\Z")
_ESCAPES = {
    0x00: "\\0",
    0x07: "\\a",
    0x08: "\\b",
    0x09: "\\t",
    0x0A: "\\n",
    0x0B: "\\v",
    0x0C: "\\f",
    0x0D: "\\r",
    0x1B: "\\e",
    0x22: '\\"',
    0x5C: "\\\\",
    0x85: "\\N",
    0xA0: "\\_",
    0x2028: "\\L",
    0x2029: "\\P",
}


def to_yaml(value: Any) -> str:
    """``value`` as one YAML document the way ``kubectl -o yaml`` prints it, with the final newline."""
    out: list[str] = []
    if isinstance(value, dict) and value:
        _mapping(out, value, 0, "")
    elif isinstance(value, list) and value:
        _sequence(out, value, 0, "")
    else:
        out.append(_scalar(value, 0, 0) + "\n")
    return "".join(out)


def to_json(value: Any) -> str:
    """``value`` as ``kubectl -o json`` prints it: four spaces, sorted keys, ``<>&`` escaped, final newline."""
    return _indented(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))


def unsorted_json(value: Any) -> str:
    """The same with the keys in the order in which they are."""
    return _indented(orjson.dumps(value, option=orjson.OPT_INDENT_2))


def _indented(json: bytes) -> str:
    text = json.decode()
    lines = []
    for line in text.split("\n"):
        body = line.lstrip(" ")
        lines.append(_PADS[len(line) - len(body)] + body)
    return _html_escaped("\n".join(lines)) + "\n"


def to_compact_json(value: Any) -> str:
    """``value`` as Go's ``json.Marshal`` writes it: no spaces, sorted keys, ``<>&`` escaped."""
    return _html_escaped(orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode())


def unsorted_compact_json(value: Any) -> str:
    """The same with the keys in the order in which they are."""
    return _html_escaped(orjson.dumps(value).decode())


_PADS = [" " * (2 * width) for width in range(512)]
"""Indentation by four for each indentation by two that orjson wrote."""


def _html_escaped(text: str) -> str:
    if "<" in text:
        text = text.replace("<", "\\u003c")
    if ">" in text:
        text = text.replace(">", "\\u003e")
    if "&" in text:
        text = text.replace("&", "\\u0026")
    return text


def _mapping(out: list[str], value: dict[str, Any], indent: int, first: str) -> None:
    pad = " " * indent
    lead = first if first else pad
    for key in _ordered(tuple(value)):
        item = value[key]
        name = _key(key)
        if isinstance(item, dict) and item:
            out.append(f"{lead}{name}:\n")
            _mapping(out, item, indent + 2, "")
        elif isinstance(item, list) and item:
            out.append(f"{lead}{name}:\n")
            _sequence(out, item, indent, "")
        else:
            out.append(f"{lead}{name}: {_scalar(item, indent + 2, indent + len(name) + 2)}\n")
        lead = pad


def _sequence(out: list[str], value: list[Any], indent: int, first: str) -> None:
    pad = " " * indent
    lead = first if first else pad
    for item in value:
        if isinstance(item, dict) and item:
            _mapping(out, item, indent + 2, lead + "- ")
        elif isinstance(item, list) and item:
            _sequence(out, item, indent + 2, lead + "- ")
        else:
            out.append(f"{lead}- {_scalar(item, indent + 2, indent + 2)}\n")
        lead = pad


@lru_cache(maxsize=8192)
def _ordered(keys: tuple[str, ...]) -> tuple[str, ...]:
    if all(key.isascii() and key.isalpha() for key in keys):
        return tuple(sorted(keys))
    return tuple(sorted(keys, key=cmp_to_key(_natural)))


def _natural(a: str, b: str) -> int:
    """go-yaml's order of keys: runs of digits compare as numbers, letters after other characters."""
    digits = False
    for i in range(min(len(a), len(b))):
        x, y = a[i], b[i]
        if x == y:
            digits = x.isdecimal()
            continue
        letter_x, letter_y = x.isalpha(), y.isalpha()
        if letter_x and letter_y:
            return -1 if x < y else 1
        if letter_x or letter_y:
            less = letter_x if digits else letter_y
            return -1 if less else 1
        return _compare_numbers(a, b, i)
    return (len(a) > len(b)) - (len(a) < len(b))


def _compare_numbers(a: str, b: str, i: int) -> int:
    number_a = number_b = 0
    if a[i] == "0" or b[i] == "0":
        j = i - 1
        while j >= 0 and a[j].isdecimal():
            if a[j] != "0":
                number_a = number_b = 1
                break
            j -= 1
    end_a = end_b = i
    while end_a < len(a) and a[end_a].isdecimal():
        number_a = number_a * 10 + int(a[end_a])
        end_a += 1
    while end_b < len(b) and b[end_b].isdecimal():
        number_b = number_b * 10 + int(b[end_b])
        end_b += 1
    if number_a != number_b:
        return -1 if number_a < number_b else 1
    if end_a != end_b:
        return -1 if end_a < end_b else 1
    return -1 if a[i] < b[i] else 1


def _scalar(value: Any, indent: int, column: int) -> str:
    if isinstance(value, str):
        if _SAFE_PLAIN.match(value) and value not in _WORDS:
            return value
        return _string(value, indent, column)
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return go_float(value)
    return "{}" if isinstance(value, dict) else "[]"


@lru_cache(maxsize=8192)
def _key(key: str) -> str:
    if _SAFE_PLAIN.match(key) and key not in _WORDS:
        return key
    return _styled(key, 0, 0, key=True)


def _string(value: str, indent: int, column: int) -> str:
    if len(value) < 64:
        return _short_string(value) if "\n" not in value else _styled(value, indent, column, key=False)
    return _styled(value, indent, column, key=False)


@lru_cache(maxsize=16384)
def _short_string(value: str) -> str:
    """The text of a one-line string that ends before the folding column."""
    return _styled(value, 0, -(10**6), key=False)


def _styled(value: str, indent: int, column: int, *, key: bool) -> str:
    special = _UNPRINTABLE.search(value) is not None
    space_break = " \n" in value
    if "\n" in value:
        literal = not (special or space_break or key or value.endswith(" "))
        return _literal(value, indent) if literal else _double(value, indent, column, fold=not key)
    if special or looks_typed(value):
        return _double(value, indent, column, fold=not key)
    plain = not (
        value[0] == " "
        or value[-1] == " "
        or _BLOCK_INDICATOR.match(value)
        or _INNER_INDICATOR.search(value, 1)
    )
    if plain:
        return value if key else _folded(value, indent, column)
    quoted = value.replace("'", "''")
    return f"'{quoted}'" if key else _single(value, indent, column)


def looks_typed(value: str) -> bool:
    """Whether a YAML 1.1 reader would take the plain text for something else than a string."""
    if value in _WORDS:
        return True
    head = value[0]
    if head not in "+-.0123456789":
        return False
    if value in _FLOAT_WORDS:
        return True
    if head == ".":
        return _GO_FLOAT.match(value) is not None
    if _is_timestamp(value):
        return True
    digits = value.replace("_", "")
    if _INT.match(digits) and _fits(digits):
        return True
    return _FLOAT.match(digits) is not None or _BASE60.match(value) is not None


def _fits(digits: str) -> bool:
    body = digits.lstrip("+-")
    if body[:2].lower() in ("0x", "0b", "0o"):
        number = int(body, 0)
    else:
        number = int(body, 8) if body[0] == "0" else int(body)
    return number < 2**63 or (number < 2**64 and digits[0] not in "+-")


def _is_timestamp(value: str) -> bool:
    match = _TIMESTAMP.match(value)
    if match is None:
        return False
    month, day, *clock = match.groups()
    hour, minute, second = (int(clock[i] or clock[i + 3] or 0) for i in range(3))
    return 1 <= int(month) <= 12 and 1 <= int(day) <= 31 and hour < 24 and minute < 60 and second < 60


def _literal(value: str, indent: int) -> str:
    pad = " " * indent
    hint = "2" if value[0] in " \n" else ""
    if value[-1] != "\n":
        chomp = "-"
    elif len(value) == 1 or value[-2] == "\n":
        chomp = "+"
    else:
        chomp = ""
    body = value if chomp == "-" else value[:-1]
    lines = "\n".join(pad + line if line else "" for line in body.split("\n"))
    return f"|{hint}{chomp}\n{lines}"


def _folded(value: str, indent: int, column: int) -> str:
    """Plain text, broken after column 80 at single spaces."""
    if column + len(value) <= BEST_WIDTH:
        return value
    pad = "\n" + " " * indent
    out: list[str] = []
    start = 0
    for match in _SPACES.finditer(value):
        i = match.start()
        if match.end() - i > 1 or column + (i - start) <= BEST_WIDTH:
            continue
        out.append(value[start:i])
        start, column = i + 1, indent
    out.append(value[start:])
    return pad.join(out)


_SPACES = re.compile(r" +")


def _single(value: str, indent: int, column: int) -> str:
    pad = "\n" + " " * indent
    out: list[str] = []
    column += 1
    start = 0
    for match in _SPACES.finditer(value):
        i = match.start()
        width = column + (i - start) + value.count("'", start, i)
        if match.end() - i > 1 or i == 0 or i == len(value) - 1 or width <= BEST_WIDTH:
            continue
        out.append(value[start:i].replace("'", "''"))
        start, column = i + 1, indent
    out.append(value[start:].replace("'", "''"))
    return "'" + pad.join(out) + "'"


def _double(value: str, indent: int, column: int, *, fold: bool) -> str:
    pad = "\n" + " " * indent
    out = ['"']
    column += 1
    spaces = False
    last = len(value) - 1
    for i, char in enumerate(value):
        if char == " ":
            if fold and not spaces and column > BEST_WIDTH and 0 < i < last:
                out.append(pad)
                column = indent
                if value[i + 1] == " ":
                    out.append("\\")
                    column += 1
            else:
                out.append(" ")
                column += 1
            spaces = True
            continue
        spaces = False
        text = _escaped(char)
        out.append(text)
        column += len(text)
    out.append('"')
    return "".join(out)


def _escaped(char: str) -> str:
    code = ord(char)
    if code in (0x22, 0x5C) or (_UNPRINTABLE.match(char) or char == "\n"):
        known = _ESCAPES.get(code)
        if known is not None:
            return known
        if code <= 0xFF:
            return f"\\x{code:02X}"
        return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
    return char


def go_float(value: float) -> str:
    """A float as Go's ``%v`` and go-yaml print it: shortest form, exponent below 1e-4 and from 1e6 on."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "0"
    digits, exponent = _shortest_scientific(value)
    if -5 < exponent < 6:
        return repr(value).removesuffix(".0")
    sign = "-" if exponent < 0 else "+"
    return f"{digits}e{sign}{abs(exponent):02d}"


def _shortest_scientific(value: float) -> tuple[str, int]:
    precision = next(p for p in range(18) if p == 17 or float(f"{value:.{p}e}") == value)
    mantissa, _, exponent = f"{value:.{precision}e}".partition("e")
    return mantissa, int(exponent)
