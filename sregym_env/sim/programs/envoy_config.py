"""The configuration file of Envoy, as far as requests are concerned, and the template that it is made of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sregym_env.sim.programs import request_filter
from sregym_env.sim.programs.yaml_files import document

ROUTE_TIMEOUT = 15.0
"""Seconds that a route waits for an answer unless it says otherwise."""

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Rule:
    """Where requests go whose path begins with something."""

    prefix: str
    cluster: str
    rewrite: str = ""
    """What the prefix becomes; empty to leave it."""
    timeout: float = ROUTE_TIMEOUT


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration as far as requests are concerned."""

    port: int
    admin: int
    rules: tuple[Rule, ...]
    clusters: tuple[tuple[str, tuple[str, int]], ...]
    """(name, (host, port))."""
    prints: bool
    """Whether the access log goes to the console."""
    denied: tuple[request_filter.Rule, ...] = ()
    """What a filter of requests in front of the routes does not let through."""

    def rule(self, path: str) -> Rule | None:
        """The first rule that a path matches."""
        return next((rule for rule in self.rules if path.startswith(rule.prefix)), None)

    def address(self, cluster: str) -> tuple[str, int]:
        """Where a cluster is."""
        return dict(self.clusters).get(cluster, ("", 0))


class ConfigError(Exception):
    """A file that Envoy does not take, in its words."""


def filled(template: str, env: Mapping[str, str]) -> str:
    """What ``envsubst`` makes of a template: variables that are not set become nothing."""
    return _VARIABLE.sub(lambda found: env.get(found[1] or found[2], ""), template)


@lru_cache(maxsize=64)
def parsed(text: str) -> Config:
    """A configuration file. Raises ConfigError."""
    try:
        found: Any = document(text)
    except ValueError as error:
        raise ConfigError(f"Unable to convert YAML as JSON: {error}") from None
    try:
        resources = found["static_resources"]
        listener = resources["listeners"][0]
        manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
        routes = manager["route_config"]["virtual_hosts"][0]["routes"]
        clusters = tuple(
            (
                each["name"],
                _socket(
                    each["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"],
                    f"ClusterValidationError.LoadAssignment ({each['name']})",
                ),
            )
            for each in resources["clusters"]
        )
        rules = tuple(
            Rule(
                str(each["match"]["prefix"]),
                str(each["route"]["cluster"]),
                str(each["route"].get("prefix_rewrite", "")),
                float(str(each["route"].get("timeout", f"{ROUTE_TIMEOUT}s")).rstrip("s")),
            )
            for each in routes
        )
        logs = manager.get("access_log") or ()
        return Config(
            _socket(listener["address"], "BootstrapValidationError.StaticResources.Listeners")[1],
            _socket(found["admin"]["address"], "BootstrapValidationError.Admin")[1],
            rules,
            clusters,
            any("stdout" in str(each["name"]) for each in logs),
            request_filter.rules_of(manager.get("http_filters")),
        )
    except request_filter.FilterError as error:
        raise ConfigError(f"Unable to create Wasm HTTP filter: wasm log: {error}") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise ConfigError("Unable to parse JSON as proto (INVALID_ARGUMENT: invalid name or value)") from None


def _socket(address: Any, where: str) -> tuple[str, int]:
    socket = address["socket_address"]
    host, port = socket.get("address"), socket.get("port_value")
    if not host:
        raise ConfigError(
            f"Proto constraint validation failed ({where}: SocketAddressValidationError.Address: value length must be at "
            "least 1 characters)"
        )
    if port is None:
        raise ConfigError(
            f"Proto constraint validation failed ({where}: SocketAddressValidationError.PortSpecifier: is required)"
        )
    if not isinstance(port, int) or not 0 <= port < 65536:
        raise ConfigError(
            f'Unable to parse JSON as proto (INVALID_ARGUMENT: invalid value "{port}" for type TYPE_UINT32)'
        )
    return str(host), port
