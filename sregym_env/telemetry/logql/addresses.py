"""``ip("10.0.0.0/8")``: whether a text holds an address of a kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_CANDIDATE = re.compile(
    r"[0-9](?=.{0,2}\.)[0-9.]*"
    r"|(?:[0-9a-fA-F]{1,4}:|::(?=[0-9a-fA-F]))[0-9a-fA-F:.]*"
)
"""What may be an address: the places at which Loki looks."""

_Address = IPv4Address | IPv6Address


def address_filter(pattern: str) -> Callable[[str], bool]:
    """Whether a text holds one of the addresses: one, a range ``a-b`` or a CIDR block. Raises ValueError."""
    wanted = _wanted(pattern.strip())

    # The same few addresses come again and again in a log.
    @lru_cache(maxsize=1024)
    def fits(text: str) -> bool:
        try:
            return wanted(ip_address(text))
        except ValueError:
            return False

    return lambda text: any(fits(found[0]) for found in _CANDIDATE.finditer(text))


def _wanted(pattern: str) -> Callable[[_Address], bool]:
    try:
        return ip_address(pattern).__eq__
    except ValueError:
        pass
    try:
        network = ip_network(pattern, strict=False)
    except ValueError:
        pass
    else:
        if "/" in pattern:
            return lambda address: address.version == network.version and address in network
    low, _, high = pattern.partition("-")
    try:
        first, last = ip_address(low.strip()), ip_address(high.strip())
    except ValueError:
        raise ValueError(f'ip: invalid pattern: "{pattern}"') from None
    if first.version != last.version or int(first) > int(last):
        raise ValueError(f'ip: invalid pattern: "{pattern}"')
    return lambda address: address.version == first.version and int(first) <= int(address) <= int(last)
