"""How Go writes numbers and quotes texts, where Prometheus shows them."""

from __future__ import annotations

import math
from decimal import Decimal

_ESCAPES = {
    7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v", 34: '\\"', 92: "\\\\",
}  # fmt: skip
_SPECIAL = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}


def quote(text: str, mark: str = '"') -> str:
    """A text as Go's ``%q``; ``mark`` is ``'`` for a single character."""
    out = [mark]
    for char in text:
        code = ord(char)
        if char == mark or code == 0x5C:
            out.append("\\" + char)
        elif code in _ESCAPES and char not in "\"'":
            out.append(_ESCAPES[code])
        elif code == 0xFFFD or (char.isprintable() and code != 0x7F):
            out.append(char)
        elif code < 0x80:
            out.append(f"\\x{code:02x}")
        elif code < 0x10000:
            out.append(f"\\u{code:04x}")
        else:
            out.append(f"\\U{code:08x}")
    out.append(mark)
    return "".join(out)


def special(value: float) -> str | None:
    """How NaN and infinities are written; None for other numbers."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return None


def plain(value: float) -> str:
    """A float without an exponent: ``strconv.FormatFloat(v, 'f', -1, 64)``."""
    if (word := special(value)) is not None:
        return word
    text = repr(value)
    if "e" in text:
        text = format(Decimal(text), "f")
    return text.removesuffix(".0")


def scientific(value: float) -> str:
    """A finite float with an exponent: ``strconv.FormatFloat(v, 'e', -1, 64)``."""
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    shown = "".join(map(str, digits)).rstrip("0") or "0"
    power = exponent + len(digits) - 1 if value else 0
    mantissa = shown[0] + ("." + shown[1:] if len(shown) > 1 else "")
    return f"{'-' if sign else ''}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"


def sample(value: float) -> str:
    """A sample's value as the HTTP API writes it: an exponent below 1e-6 and from 1e21 on."""
    if (word := special(value)) is not None:
        return word
    size = abs(value)
    if size and (size < 1e-6 or size >= 1e21):
        return scientific(value)
    return plain(value)


def shown(value: float, largest: int = 6) -> str:
    """A float as ``%v`` writes it: with an exponent below 1e-4 and from 1e6 on (``largest`` is that six)."""
    if (word := special(value)) is not None:
        return word
    if value == 0:
        return plain(value)
    text = scientific(value)
    power = int(text.partition("e")[2])
    return text if power < -4 or power >= largest else plain(value)


def significant(value: float, digits: int) -> str:
    """A float as ``%.<digits>g`` writes it."""
    if (word := special(value)) is not None:
        return word
    text = f"{value:.{digits}g}"
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa}e{power[0]}{int(power[1:]):02d}" if exponent else text


def parse_float(text: str) -> float | None:
    """The number that ``strconv.ParseFloat`` reads; None where it refuses."""
    if not text.isascii():
        return None
    body = text.lstrip("+-").lower() if text[:1] in "+-" and text[1:2] not in ("+", "-") else text.lower()
    if body in _SPECIAL:
        return -_SPECIAL[body] if text.startswith("-") and body != "nan" else _SPECIAL[body]
    if text != text.strip():
        return None
    try:
        if body.startswith("0x"):
            return float.fromhex(text) if "p" in body else None
        value = float(text)
    except (ValueError, OverflowError):
        return None
    return None if math.isinf(value) else value
