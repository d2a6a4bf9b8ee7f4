"""The string formats of OpenAPI schemas that the API server checks (``k8s.io/kube-openapi/pkg/validation/strfmt``)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

from sregym_env.kube import durations


def is_valid(name: str, text: str) -> bool:
    """Whether a string has the format; formats that the server does not know fit everything."""
    check = _FORMATS.get(name)
    return check is None or check(text)


def _pattern(expression: str) -> Callable[[str], bool]:
    compiled = re.compile(expression)
    return lambda text: compiled.fullmatch(text) is not None


def _address(version: int) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            return ipaddress.ip_address(text).version == version
        except ValueError:
            return False

    return check


def _network(text: str) -> bool:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return "/" in text


def _date_time(text: str) -> bool:
    try:
        durations.parse_rfc3339(text)
    except ValueError:
        return False
    return True


def _date(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is not None and _date_time(f"{text}T00:00:00Z")


_UUID = "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}"
_FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _date,
    "date-time": _date_time,
    "datetime": _date_time,
    "duration": _pattern(
        r"(?i)[+-]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|h|m|s))+|0|\d+\s*(ns|nanos?|nanoseconds?|us|micros?|microseconds?|ms|millis?"
        r"|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)"
    ),
    "ipv4": _address(4),
    "ipv6": _address(6),
    "cidr": _network,
    "mac": _pattern(r"(?i)([0-9a-f]{2}[:-]){5}[0-9a-f]{2}|([0-9a-f]{4}\.){2}[0-9a-f]{4}"),
    "uuid": _pattern(_UUID % ("[0-9a-f]", "[0-9a-f]")),
    "uuid3": _pattern(_UUID % ("3", "[0-9a-f]")),
    "uuid4": _pattern(_UUID % ("4", "[89ab]")),
    "uuid5": _pattern(_UUID % ("5", "[89ab]")),
    "byte": _pattern(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})?"),
    "email": _pattern(r"[^@\s<>]+@[^@\s<>]+"),
    "hostname": _pattern(
        r"([a-zA-Z0-9\u00a1-\uffff]([a-zA-Z0-9\u00a1-\uffff-]{0,61}[a-zA-Z0-9\u00a1-\uffff])?)"
        r"(\.[a-zA-Z0-9\u00a1-\uffff]([a-zA-Z0-9\u00a1-\uffff-]{0,61}[a-zA-Z0-9\u00a1-\uffff])?)*"
    ),
    "uri": _pattern(r"[a-zA-Z][a-zA-Z0-9+.-]*:[^\s]+|/[^\s]*"),
    "hexcolor": _pattern(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "bsonobjectid": _pattern(r"[0-9a-fA-F]{24}"),
}
