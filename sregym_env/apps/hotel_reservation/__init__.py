"""DeathStarBench's Hotel Reservation: a Go microservice application with MongoDB, Memcached and Consul."""

from __future__ import annotations

from sregym_env.apps.hotel_reservation.components import components
from sregym_env.apps.hotel_reservation.images import IMAGES
from sregym_env.apps.hotel_reservation.manifests import NAMESPACE, manifests
from sregym_env.apps.hotel_reservation.scripts import RATE
from sregym_env.cluster.app import SLO, App, Journey

_RATE = ("rate", "memcached-rate", "mongodb-rate")
_RESERVATION = ("reservation", "memcached-reserve", "mongodb-reservation")
_PROFILE = ("profile", "memcached-profile", "mongodb-profile")

JOURNEYS = (
    Journey(
        "search",
        "GET",
        "/hotels?inDate=2015-04-09&outDate=2015-04-10&lat=38.0235&lon=-122.095",
        0.6,
        ("frontend", "search", "geo", *_RATE, *_RESERVATION, *_PROFILE),
    ),
    Journey(
        "recommend",
        "GET",
        "/recommendations?require=rate&lat=38.0235&lon=-122.095",
        0.39,
        ("frontend", "recommendation", *_PROFILE),
    ),
    Journey("user", "POST", "/user?username=Cornell_1&password=1111111111", 0.005, ("frontend", "user")),
    Journey(
        "reserve",
        "POST",
        "/reservation?inDate=2015-04-09&outDate=2015-04-10&hotelId=1&customerName=Cornell_1"
        "&username=Cornell_1&password=1111111111&number=1",
        0.005,
        ("frontend", "user", *_RESERVATION),
    ),
)
"""What users do, with the load generator's mix."""

DESCRIPTION = """\
Hotel Reservation lets users search for hotels, get recommendations, log in and make reservations. It is a Go
microservice application: the HTTP front end (port 5000) calls search, reservation, profile, recommendation and
user over gRPC; search calls geo and rate. The services keep their data in MongoDB, some of them with Memcached
in front of it, and find each other through Consul. Jaeger collects traces."""

APP = App(
    name="hotel-reservation",
    title="Hotel Reservation",
    namespace=NAMESPACE,
    description=DESCRIPTION,
    components=components(),
    manifests=manifests(),
    images=IMAGES,
    journeys=JOURNEYS,
    entry="frontend",
    slo=SLO(success_ratio=0.99, latency_seconds=0.5),
    rate=float(RATE),
    place=f"{__name__}:APP",
    activities=("search", r"recommend\w*", "reservation", "profile", "user", "login"),
)
"""The application."""
