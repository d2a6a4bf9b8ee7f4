"""What Kubernetes adds to the language: lists, sets, quantities, URLs, addresses, named formats, authorizer.

Source: k8s.io/apiserver/pkg/cel/library of v1.32.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sregym_env.kube import names, quantity
from sregym_env.kube.cel.errors import CelError
from sregym_env.kube.cel.overloads import Overloads
from sregym_env.kube.cel.standard import integer
from sregym_env.kube.cel.types import DYN, Type
from sregym_env.kube.cel.values import NONE, Duration, Optional, Quantity, equal, kind_of

_Q = "kubernetes.Quantity"
_NANO = 1_000_000_000
_ORDERED = ("int", "uint", "double", "string", "bytes", "bool", "timestamp", "duration")


# --- lists and sets --------------------------------------------------------------------------------


def _ordered(items: list[Any]) -> list[Any]:
    if items and (kind_of(items[0]) not in _ORDERED or any(kind_of(i) != kind_of(items[0]) for i in items)):
        raise CelError("no such overload")
    return items


def _is_sorted(items: list[Any]) -> bool:
    listed = _ordered(items)
    return all(listed[i] <= listed[i + 1] for i in range(len(listed) - 1))


def _sum(items: list[Any]) -> Any:
    if not items:
        return 0
    kind = kind_of(items[0])
    if any(kind_of(item) != kind for item in items):
        raise CelError("no such overload")
    if kind == "duration":
        return Duration(sum(item.ns for item in items))
    if kind in ("int", "uint"):
        return type(items[0])(integer(sum(int(item) for item in items)))
    if kind == "double":
        return sum(items)
    raise CelError("no such overload")


def _extreme(choose: Callable[[list[Any]], Any], name: str) -> Callable[[list[Any]], Any]:
    def run(items: list[Any]) -> Any:
        if not items:
            raise CelError(f"{name} called on empty list")
        return choose(_ordered(items))

    return run


def _index_of(items: list[Any], value: Any) -> int:
    return next((i for i, item in enumerate(items) if equal(item, value)), -1)


def _last_index_of(items: list[Any], value: Any) -> int:
    return next((i for i in range(len(items) - 1, -1, -1) if equal(items[i], value)), -1)


def _within(items: list[Any], others: list[Any]) -> bool:
    if len(items) * len(others) > 1_000_000:
        raise CelError("operation cancelled: actual cost limit exceeded")
    return all(any(equal(a, b) for b in others) for a in items)


def _element(types: list[Type]) -> Type:
    return types[0][1] if isinstance(types[0], tuple) and len(types[0]) > 1 else DYN


# --- quantities -------------------------------------------------------------------------------------


def _quantity(text: str) -> Quantity:
    if not quantity.is_valid(text):
        raise CelError(quantity.FORMAT_ERROR)
    return Quantity(quantity.nano(text))


def _is_integer(value: Quantity) -> bool:
    return value.nano % _NANO == 0 and -(1 << 63) <= value.nano // _NANO < 1 << 63


def _as_integer(value: Quantity) -> int:
    if not _is_integer(value):
        raise CelError("cannot convert value to integer")
    return value.nano // _NANO


def _compared(a: Quantity, b: Quantity) -> int:
    return (a.nano > b.nano) - (a.nano < b.nano)


# --- URLs and addresses -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL."""

    text: str
    cel_type = "kubernetes.URL"


def _url(text: str) -> Url:
    if not _is_url(text):
        reason = "invalid URI for request" if text else "empty url"
        raise CelError(f'URL parse error during conversion from string: parse "{text}": {reason}')
    return Url(text)


def _is_url(text: str) -> bool:
    if not text or re.search(r"[\x00-\x20\x7f]", text) or re.search(r"%(?![0-9a-fA-F]{2})", text):
        return False
    if text.startswith("/"):
        return True
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return bool(parts.scheme) and (bool(parts.netloc) or parts.path.startswith("/"))


def _host(url: Url) -> str:
    return urlsplit(url.text).netloc.rpartition("@")[2]


def _hostname(url: Url) -> str:
    host = _host(url)
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _port(url: Url) -> str:
    port = urlsplit(url.text).port
    return "" if port is None else str(port)


@dataclass(frozen=True, slots=True)
class Ip:
    """An IP address."""

    address: Any
    cel_type = "net.IP"

    @property
    def text(self) -> str:
        """As it is usually written."""
        return str(self.address)


@dataclass(frozen=True, slots=True)
class Cidr:
    """A network prefix with the address it was written with."""

    interface: Any
    cel_type = "net.CIDR"

    @property
    def text(self) -> str:
        """As it is usually written."""
        return str(self.interface)


def _parsed_ip(text: str) -> Any:
    if "%" in text:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return None if address.version == 6 and address.ipv4_mapped is not None else address


def _ip(text: str) -> Ip:
    address = _parsed_ip(text)
    if address is None:
        raise CelError(f'IP Address "{text}" parse error during conversion from string: ParseAddr("{text}"): '
                       "unable to parse IP")  # fmt: skip
    return Ip(address)


def _parsed_cidr(text: str) -> Any:
    if not re.search(r"/\d{1,3}\Z", text) or "%" in text:
        return None
    try:
        return ipaddress.ip_interface(text)
    except ValueError:
        return None


def _cidr(text: str) -> Cidr:
    found = _parsed_cidr(text)
    if found is None:
        raise CelError(f'network address parse error during conversion from string: netip.ParsePrefix("{text}"): '
                       "no '/'" if "/" not in text else
                       f'network address parse error during conversion from string: netip.ParsePrefix("{text}")')  # fmt: skip
    return Cidr(found)


def _canonical(text: str) -> bool:
    return _ip(text).text == text


def _contains_ip(cidr: Cidr, ip: Any) -> bool:
    address = ip.address if isinstance(ip, Ip) else _ip(ip).address
    return address.version == cidr.interface.version and address in cidr.interface.network


def _contains_cidr(cidr: Cidr, other: Any) -> bool:
    inner = other if isinstance(other, Cidr) else _cidr(other)
    if inner.interface.version != cidr.interface.version:
        return False
    return bool(inner.interface.network.subnet_of(cidr.interface.network))


def _global_unicast(ip: Ip) -> bool:
    a = ip.address
    broadcast = a.version == 4 and str(a) == "255.255.255.255"
    return not (broadcast or a.is_unspecified or a.is_loopback or a.is_multicast or a.is_link_local)


def _link_local_multicast(ip: Ip) -> bool:
    network = "224.0.0.0/24" if ip.address.version == 4 else "ff02::/16"
    return ip.address in ipaddress.ip_network(network)


# --- named formats ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Format:
    """A named format that text can be held against."""

    name: str
    validate: Callable[[str], list[str]]
    cel_type = "kubernetes.NamedFormat"


def _formatted(pattern: str, text: str) -> Callable[[str], list[str]]:
    compiled = re.compile(pattern)
    return lambda value: [] if compiled.fullmatch(value) else [text]


def _prefixed(check: Callable[[str], Any]) -> Callable[[str], list[str]]:
    return lambda value: _problems(check(value[:-1] + "a" if value.endswith("-") else value))


def _problems(found: Any) -> list[str]:
    if found is None:
        return []
    return [found] if isinstance(found, str) else list(found)


def _plain(check: Callable[[str], Any]) -> Callable[[str], list[str]]:
    return lambda value: _problems(check(value))


def _formats() -> dict[str, Format]:
    label, subdomain = names.dns1123_label, names.dns1123_subdomain
    checks: dict[str, Callable[[str], list[str]]] = {
        "dns1123Label": _plain(label),
        "dns1123Subdomain": _plain(subdomain),
        "dns1035Label": _plain(names.dns1035_label),
        "qualifiedName": _plain(names.qualified_name),
        "dns1123LabelPrefix": _prefixed(label),
        "dns1123SubdomainPrefix": _prefixed(subdomain),
        "dns1035LabelPrefix": _prefixed(names.dns1035_label),
        "labelValue": _plain(names.label_value),
        "uri": lambda value: [] if _is_url(value) else [f'parse "{value}": invalid URI for request'],
        "uuid": _formatted(
            r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", "does not match the UUID format"
        ),
        "byte": _formatted(
            r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", "invalid base64"
        ),
        "date": _formatted(r"\d{4}-\d{2}-\d{2}", "invalid date"),
        "datetime": _formatted(
            r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})", "invalid datetime"
        ),
    }  # fmt: skip
    return {name: Format(name, check) for name, check in checks.items()}


def _validated(format_: Format, text: str) -> Optional:
    found = format_.validate(text)
    return Optional(True, found) if found else NONE


_AUTHORIZER = "kubernetes.authorization.Authorizer"
_PATH = "kubernetes.authorization.PathCheck"
_GROUP = "kubernetes.authorization.GroupCheck"
_RESOURCE = "kubernetes.authorization.ResourceCheck"
_DECISION = "kubernetes.authorization.Decision"


def _authorizer(table: Overloads) -> None:
    table.host_method(_AUTHORIZER, "path", ("string",), _PATH)
    table.host_method(_AUTHORIZER, "group", ("string",), _GROUP)
    table.host_method(_AUTHORIZER, "serviceAccount", ("string", "string"), _AUTHORIZER)
    table.host_method(_PATH, "check", ("string",), _DECISION)
    table.host_method(_GROUP, "resource", ("string",), _RESOURCE)
    for name in ("subresource", "namespace", "name", "fieldSelector", "labelSelector"):
        table.host_method(_RESOURCE, name, ("string",), _RESOURCE)
    table.host_method(_RESOURCE, "check", ("string",), _DECISION)
    for name, returns in (
        ("allowed", "bool"),
        ("reason", "string"),
        ("errored", "bool"),
        ("error", "string"),
    ):
        table.host_method(_DECISION, name, (), returns)


def register(table: Overloads) -> None:
    """Add the functions to a table."""
    table.method("isSorted", ("list",), "bool", _is_sorted, costly=True)
    table.method("sum", ("list",), _element, _sum, costly=True)
    table.method("min", ("list",), _element, _extreme(min, "min"), costly=True)
    table.method("max", ("list",), _element, _extreme(max, "max"), costly=True)
    table.method("indexOf", ("list", DYN), "int", _index_of, costly=True)
    table.method("lastIndexOf", ("list", DYN), "int", _last_index_of, costly=True)
    table.function("sets.contains", ("list", "list"), "bool", lambda a, b: _within(b, a), costly=True)
    table.function(
        "sets.equivalent", ("list", "list"), "bool", lambda a, b: _within(a, b) and _within(b, a), costly=True
    )
    table.function("sets.intersects", ("list", "list"), "bool",
             lambda a, b: any(equal(x, y) for x in a for y in b), costly=True)  # fmt: skip
    _register_quantities(table)
    _register_net(table)
    formats = _formats()
    for name, format_ in formats.items():
        table.function(f"format.{name}", (), Format.cel_type, lambda format_=format_: format_)
    table.function("format.named", ("string",), ("optional", Format.cel_type),
             lambda name: Optional(True, formats[name]) if name in formats else NONE)  # fmt: skip
    table.method(
        "validate", (Format.cel_type, "string"), ("optional", ("list", "string")), _validated, costly=True
    )
    _authorizer(table)


def _register_quantities(table: Overloads) -> None:
    table.function("quantity", ("string",), _Q, _quantity)
    table.function("isQuantity", ("string",), "bool", quantity.is_valid)
    table.method("isInteger", (_Q,), "bool", _is_integer)
    table.method("asInteger", (_Q,), "int", _as_integer)
    table.method("asApproximateFloat", (_Q,), "double", lambda a: a.nano / _NANO)
    table.method("sign", (_Q,), "int", lambda a: (a.nano > 0) - (a.nano < 0))
    table.method("isLessThan", (_Q, _Q), "bool", lambda a, b: a.nano < b.nano)
    table.method("isGreaterThan", (_Q, _Q), "bool", lambda a, b: a.nano > b.nano)
    table.method("compareTo", (_Q, _Q), "int", _compared)
    table.method("add", (_Q, _Q), _Q, lambda a, b: Quantity(a.nano + b.nano))
    table.method("add", (_Q, "int"), _Q, lambda a, b: Quantity(a.nano + b * _NANO))
    table.method("sub", (_Q, _Q), _Q, lambda a, b: Quantity(a.nano - b.nano))
    table.method("sub", (_Q, "int"), _Q, lambda a, b: Quantity(a.nano - b * _NANO))


def _register_net(table: Overloads) -> None:
    url, ip, cidr = Url.cel_type, Ip.cel_type, Cidr.cel_type
    table.function("url", ("string",), url, _url)
    table.function("isURL", ("string",), "bool", _is_url)
    table.method("getScheme", (url,), "string", lambda a: urlsplit(a.text).scheme)
    table.method("getHost", (url,), "string", _host)
    table.method("getHostname", (url,), "string", _hostname)
    table.method("getPort", (url,), "string", _port)
    table.method("getEscapedPath", (url,), "string", lambda a: urlsplit(a.text).path)
    table.method("getQuery", (url,), ("map", "string", ("list", "string")),
           lambda a: parse_qs(urlsplit(a.text).query, keep_blank_values=True))  # fmt: skip
    table.function("ip", ("string",), ip, _ip)
    table.function("isIP", ("string",), "bool", lambda a: _parsed_ip(a) is not None)
    table.function("ip.isCanonical", ("string",), "bool", _canonical)
    table.method("family", (ip,), "int", lambda a: a.address.version)
    table.method("isUnspecified", (ip,), "bool", lambda a: a.address.is_unspecified)
    table.method("isLoopback", (ip,), "bool", lambda a: a.address.is_loopback)
    table.method("isLinkLocalMulticast", (ip,), "bool", _link_local_multicast)
    table.method("isLinkLocalUnicast", (ip,), "bool", lambda a: a.address.is_link_local)
    table.method("isGlobalUnicast", (ip,), "bool", _global_unicast)
    table.function("string", (ip,), "string", lambda a: a.text)
    table.function("cidr", ("string",), cidr, _cidr)
    table.function("isCIDR", ("string",), "bool", lambda a: _parsed_cidr(a) is not None)
    table.function("string", (cidr,), "string", lambda a: a.text)
    for kind in ("string", ip):
        table.method("containsIP", (cidr, kind), "bool", _contains_ip)
    for kind in ("string", cidr):
        table.method("containsCIDR", (cidr, kind), "bool", _contains_cidr)
    table.method("ip", (cidr,), ip, lambda a: Ip(a.interface.ip))
    table.method("masked", (cidr,), cidr, lambda a: Cidr(ipaddress.ip_interface(str(a.interface.network))))
    table.method("prefixLength", (cidr,), "int", lambda a: a.interface.network.prefixlen)
