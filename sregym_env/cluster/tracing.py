"""What an application writes into traces: names, and how many requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Taking:
    """How a component traces a record that it takes from a topic: in a trace of its own, of which the spans are linked to the one
    that published the record. One span says how it was received, another one what was done with it."""

    process: str = ""
    """The name of the second; empty for ``process TOPIC``."""
    kind: str = "consumer"
    """Its kind."""
    around: bool = False
    """Whether it begins before the record is there, and the first lies within it."""


PLAIN = Taking()


@dataclass(frozen=True, slots=True)
class Tracing:
    """How an application's spans are called. What is not named bears the name of its operation."""

    services: Mapping[str, str] = field(default_factory=dict)
    """What components call themselves, where that is not their name."""
    servers: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Spans of requests that are served, by (component, operation)."""
    clients: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Spans of requests that are made, by (component, what is asked): ``peer operation``, or ``peer operation of`` where
    that says on what."""
    taking: Mapping[str, Taking] = field(default_factory=dict)
    """Components that trace in a way of their own what they take from topics."""
    unseen: frozenset[str] = frozenset()
    """Components that write no spans although they serve requests: stores, and what is not instrumented."""
    http: str = "net/http"
    """What spans of HTTP requests say of the library that wrote them (tag ``component``)."""
    sampled: float = 1.0
    """Share of the requests that are traced."""

    def service(self, component: str) -> str:
        """What a component calls itself."""
        return self.services.get(component, component)

    def server(self, component: str, operation: str) -> str:
        """The span of a request that a component serves."""
        return self.servers.get((component, operation), operation)

    def client(self, component: str, peer: str, operation: str, of: str) -> str:
        """The span of a request that a component makes."""
        full = self.clients.get((component, f"{peer} {operation} {of}".rstrip()))
        usual = f"publish {of}" if operation == "produce" and of else operation
        return full or self.clients.get((component, f"{peer} {operation}"), usual)

    def taken(self, component: str, topic: str) -> Taking:
        """How a component traces a record of a topic."""
        found = self.taking.get(component, PLAIN)
        return found if found.process else replace(found, process=f"process {topic}")
