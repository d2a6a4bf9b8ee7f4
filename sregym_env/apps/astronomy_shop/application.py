"""Astronomy Shop as a whole: what follows from an edition."""

from __future__ import annotations

from sregym_env.apps.astronomy_shop.catalogue import RENAMED
from sregym_env.apps.astronomy_shop.components import components, journeys, rate
from sregym_env.apps.astronomy_shop.edition import NAMESPACE, Edition
from sregym_env.apps.astronomy_shop.flags import HARMFUL, HARMLESS
from sregym_env.apps.astronomy_shop.images import images
from sregym_env.apps.astronomy_shop.manifests import manifests
from sregym_env.apps.astronomy_shop.tracing import tracing
from sregym_env.apps.defective import with_defective
from sregym_env.apps.leaking import with_leaking
from sregym_env.apps.migrated import with_migrated
from sregym_env.apps.outdated import with_outdated
from sregym_env.cluster.app import SLO, App, FlagFile


def description(edition: Edition) -> str:
    """What an on-call engineer is told."""
    return f"""\
Astronomy Shop (the OpenTelemetry demo) sells telescopes. Users come in through frontend-proxy (Envoy, Service port
{edition.ports["frontend-proxy"]}), which passes pages and the API to frontend (Next.js), and pictures to image-provider. The front end asks
product-catalog, product-reviews, recommendation, ad, cart, currency, shipping and checkout, over gRPC for the most part;
checkout asks cart, product-catalog, currency, shipping (which asks quote), payment and email, and publishes orders to
Kafka, from where accounting and fraud-detection take them. Products, reviews and orders are in PostgreSQL, carts in
Valkey; llm answers questions about products. flagd serves feature flags to the services. An OpenTelemetry collector on
every node, Jaeger, OpenSearch and Grafana observe it."""


def application(edition: Edition) -> App:
    """The application as an edition has it."""
    made = App(
        name="astronomy-shop",
        title="Astronomy Shop",
        namespace=NAMESPACE,
        description=description(edition),
        components=components(edition),
        manifests=manifests(edition),
        images=images(edition),
        journeys=journeys(edition),
        entry="frontend-proxy",
        slo=SLO(success_ratio=0.99, latency_seconds=1.0),
        rate=rate(edition),
        tracing=tracing(),
        flag_file=FlagFile("flagd-config", "demo.flagd.json", "flagd", HARMFUL, HARMLESS),
        activities=(
            "checkout", "check(?:ing)?[- ]out", "order(?:ing)?", "recommendations?", "reviews?", "ads", "brows(?:e|ing)",
            "(?:shopping )?cart",
        ),
    )  # fmt: skip
    return with_migrated(with_defective(with_outdated(with_leaking(made))), RENAMED)
