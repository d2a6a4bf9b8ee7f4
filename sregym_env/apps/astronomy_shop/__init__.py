"""Astronomy Shop of OpenTelemetry, as SREGym deploys it: gRPC and HTTP in ten languages, Kafka, PostgreSQL, Valkey."""

from dataclasses import replace

from sregym_env.apps.astronomy_shop.application import application
from sregym_env.apps.astronomy_shop.edition import PUBLISHED
from sregym_env.apps.astronomy_shop.family import family

APP = replace(application(PUBLISHED), family=family, place=f"{__name__}:APP")
"""The application as it is published."""
