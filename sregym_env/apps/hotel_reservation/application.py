"""Hotel Reservation as a whole: what follows from an edition."""

from __future__ import annotations

from sregym_env.apps.defective import with_defective
from sregym_env.apps.hotel_reservation.components import components
from sregym_env.apps.hotel_reservation.edition import NAMESPACE, Edition
from sregym_env.apps.hotel_reservation.images import images
from sregym_env.apps.hotel_reservation.manifests import manifests
from sregym_env.apps.hotel_reservation.tracing import tracing
from sregym_env.apps.leaking import with_leaking
from sregym_env.apps.outdated import with_outdated
from sregym_env.cluster.app import SLO, App, Journey

_RATE = ("rate", "memcached-rate", "mongodb-rate")
_RESERVATION = ("reservation", "memcached-reserve", "mongodb-reservation")
_PROFILE = ("profile", "memcached-profile", "mongodb-profile")


def journeys(edition: Edition) -> tuple[Journey, ...]:
    """What users do, with the load generator's mix."""
    search, recommend, user, reserve = edition.mix
    stay = f"inDate=2015-04-{edition.day:02d}&outDate=2015-04-{edition.day + 1:02d}"
    login = f"username=Cornell_{edition.user}&password={str(edition.user) * 10}"
    return (
        Journey(
            "search",
            "GET",
            f"/hotels?{stay}&lat=38.0235&lon=-122.095",
            search,
            ("frontend", "search", "geo", *_RATE, *_RESERVATION, *_PROFILE),
        ),
        Journey(
            "recommend",
            "GET",
            "/recommendations?require=rate&lat=38.0235&lon=-122.095",
            recommend,
            ("frontend", "recommendation", *_PROFILE),
        ),
        Journey("user", "POST", f"/user?{login}", user, ("frontend", "user")),
        Journey(
            "reserve",
            "POST",
            f"/reservation?{stay}&hotelId=1&customerName=Cornell_{edition.user}&{login}&number=1",
            reserve,
            ("frontend", "user", *_RESERVATION),
        ),
    )


def description(edition: Edition) -> str:
    """What an on-call engineer is told."""
    return f"""\
Hotel Reservation lets users search for hotels, get recommendations, log in and make reservations. It is a Go
microservice application: the HTTP front end (port {edition.offer("frontend")}) calls search, reservation, profile, recommendation and
user over gRPC; search calls geo and rate. The services keep their data in MongoDB, some of them with Memcached
in front of it, and find each other through Consul. Jaeger collects traces."""


def application(edition: Edition) -> App:
    """The application as an edition has it."""
    made = App(
        name="hotel-reservation",
        title="Hotel Reservation",
        namespace=NAMESPACE,
        description=description(edition),
        components=components(edition),
        manifests=manifests(edition),
        images=images(edition),
        journeys=journeys(edition),
        entry="frontend",
        slo=SLO(success_ratio=0.99, latency_seconds=0.5),
        rate=float(edition.rate),
        tracing=tracing(edition),
        activities=("search", r"recommend\w*", "reservation", "profile", "user", "login"),
    )
    return with_defective(with_outdated(with_leaking(made)))
