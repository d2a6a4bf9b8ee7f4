"""What the Astronomy Shop's services write into traces."""

from __future__ import annotations

from sregym_env.cluster.tracing import Taking, Tracing


def tracing() -> Tracing:
    """Spans bear the names of routes and methods. Accounting begins ``order-consumed`` before it waits for the next order."""
    return Tracing(taking={"accounting": Taking("order-consumed", "internal", around=True)})
