"""Social Network as a whole: what follows from an edition."""

from __future__ import annotations

from sregym_env.apps.defective import with_defective
from sregym_env.apps.leaking import with_leaking
from sregym_env.apps.outdated import with_outdated
from sregym_env.apps.social_network.components import components, journeys
from sregym_env.apps.social_network.edition import NAMESPACE, Edition
from sregym_env.apps.social_network.images import images
from sregym_env.apps.social_network.manifests import manifests
from sregym_env.apps.social_network.tracing import tracing
from sregym_env.cluster.app import SLO, App


def description(edition: Edition) -> str:
    """What an on-call engineer is told."""
    return f"""\
Social Network lets users write posts and read their home and user timelines. The web front end nginx-thrift (OpenResty
with Lua, Service port {edition.entry_port}) calls C++ services over Thrift (port 9090): compose-post writes a post through text,
user, media, unique-id, url-shorten and user-mention into post-storage, user-timeline and home-timeline; the timelines
are read back through post-storage, and social-graph knows who follows whom. The services keep their data in MongoDB,
Redis and Memcached, and find each other by Service names. Jaeger collects traces."""


def application(edition: Edition) -> App:
    """The application as an edition has it."""
    made = App(
        name="social-network",
        title="Social Network",
        namespace=NAMESPACE,
        description=description(edition),
        components=components(edition),
        manifests=manifests(edition),
        images=images(edition),
        journeys=journeys(edition),
        entry="nginx-thrift",
        slo=SLO(success_ratio=0.99, latency_seconds=0.5),
        rate=float(edition.rate),
        tracing=tracing(edition),
        activities=("home[- ]timeline", "user[- ]timeline", r"compos\w*", "post(?:ing)?", "timeline"),
    )
    return with_defective(with_outdated(with_leaking(made)))
