"""What Hotel Reservation's services write into traces."""

from __future__ import annotations

from sregym_env.apps.hotel_reservation.edition import Edition
from sregym_env.cluster.tracing import Tracing

_ROUTES = ("GET /hotels", "GET /recommendations", "POST /user", "POST /reservation", "GET /")

_STORES = {
    ("rate", "memcached get_multi rate"): "memcached_get_multi_rate",
    ("rate", "mongodb find inventory"): "mongo_rate",
    ("profile", "memcached get_multi profile"): "memcached_get_profile",
    ("profile", "mongodb find hotels"): "mongo_profile",
    ("reservation", "memcached get_multi reserve_cap"): "memcached_capacity_get_multi_number",
    ("reservation", "mongodb find number"): "mongodb_capacity_get_multi_number",
    ("reservation", "memcached get_multi reserve"): "memcached_reserve_get_multi_number",
    ("reservation", "mongodb find reservation"): "mongodb_reserve_get_multi_number",
    ("reservation", "mongodb insert reservation"): "mongodb_reserve_insert",
}
"""How the services call what they ask of their stores."""


def tracing(edition: Edition) -> Tracing:
    """Names as the Go services give them; gRPC's spans bear the full names of their methods."""
    return Tracing(
        servers={("frontend", route): f"HTTP {route}" for route in _ROUTES},
        clients=_STORES,
        sampled=float(edition.sample_ratio),
    )
