"""The images of Hotel Reservation: what each of their programs does when a container starts it.

The Go application is one image with eight binaries (:mod:`~.services`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import orjson

from sregym_env.apps import stock
from sregym_env.apps.hotel_reservation.edition import GUARDED, PUBLISHED, STORED_BY, Edition
from sregym_env.apps.hotel_reservation.services import CONFIG_PATH, ROOT, services
from sregym_env.cluster.app import Binary, Image
from sregym_env.sim.programs.services.settings import ServiceSettings


def configuration(edition: Edition) -> dict[str, str]:
    """What the services read: where everything is."""

    def at(component: str) -> str:
        return f"{edition.address(component)}:{edition.offer(component)}"

    config = {
        "consulAddress": at("consul"),
        "jaegerAddress": f"{edition.address('jaeger')}:6831",
        "FrontendPort": str(edition.port("frontend")),
        "GeoPort": str(edition.port("geo")),
        "GeoMongoAddress": at("mongodb-geo"),
        "ProfilePort": str(edition.port("profile")),
        "ProfileMongoAddress": at("mongodb-profile"),
        "ProfileMemcAddress": at("memcached-profile"),
        "RatePort": str(edition.port("rate")),
        "RateMongoAddress": at("mongodb-rate"),
        "RateMemcAddress": at("memcached-rate"),
        "RecommendPort": str(edition.port("recommendation")),
        "RecommendMongoAddress": at("mongodb-recommendation"),
        "ReservePort": str(edition.port("reservation")),
        "ReserveMongoAddress": at("mongodb-reservation"),
        "ReserveMemcAddress": at("memcached-reserve"),
        "SearchPort": str(edition.port("search")),
        "UserPort": str(edition.port("user")),
        "UserMongoAddress": at("mongodb-user"),
        "KnativeDomainName": "",
    }
    if edition.login == "config":
        for name in GUARDED:
            client = edition.accounts[name][0]
            config[f"{STORED_BY[name]}MongoUser"] = client.user
            config[f"{STORED_BY[name]}MongoPassword"] = client.password
    return config


def configuration_text(edition: Edition) -> str:
    """The configuration file."""
    return orjson.dumps(configuration(edition), option=orjson.OPT_INDENT_2).decode() + "\n"


_DEVELOPMENT_TEXT = configuration_text(replace(PUBLISHED, host="local"))
"""What lies in images whose services are given their configuration: that of a developer's machine."""


def _application(reference: str, made: Iterable[ServiceSettings], config: str) -> Image:
    return Image(
        reference,
        390_000_000,
        {settings.name: Binary("service", settings) for settings in made},
        command=("frontend",),
        workdir=ROOT,
        files={
            CONFIG_PATH: config,
            "/etc/os-release": 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.16.4\n',
        },
        architectures=("amd64",),
    )


def _consul(reference: str, version: str) -> Image:
    binaries = {"consul": Binary("consul", version), "docker-entrypoint.sh": Binary("consul", version)}
    arguments = ("agent", "-dev", "-client", "0.0.0.0")
    return Image(reference, 62_000_000, binaries, ("docker-entrypoint.sh",), arguments)


def images(edition: Edition) -> tuple[Image, ...]:
    """Everything the application's manifests refer to, and the published builds that are known not to work."""
    made = services(edition)
    config = configuration_text(edition) if not edition.settings_map else _DEVELOPMENT_TEXT
    application = edition.application
    return (
        *(_application(each, made, config) for each in (*application.all, *application.copies)),
        _application(application.fails, _with_wrong_port(edition, made), config),
        *(
            stock.mongodb(each, version)
            for each, version in zip(edition.mongodb.all, edition.mongodb.versions, strict=True)
        ),
        stock.mongodb(edition.mongodb.fails, edition.newer, size=280_000_000, shell="mongosh"),
        *(stock.memcached(_tagged(each)) for each in edition.memcached.all),
        *(
            _consul(each, version)
            for each, version in zip(edition.consul.all, edition.consul.versions, strict=True)
        ),
        *(stock.jaeger(each) for each in edition.jaeger.all),
        stock.wrk2(edition.load),
    )


def _with_wrong_port(edition: Edition, made: Sequence[ServiceSettings]) -> Iterator[ServiceSettings]:
    """The defective build: geo has a wrong database port compiled in."""
    wrong = f"{edition.address('mongodb-geo')}:{edition.wrong_port}"
    for first in (True, False):
        for settings in made:
            if (settings.name == "geo") == first:
                yield replace(settings, constant={"GeoMongoAddress": wrong}) if first else settings


def _tagged(reference: str) -> str:
    return reference if ":" in reference.rpartition("/")[2] else f"{reference}:latest"
