"""DeathStarBench's Hotel Reservation: a Go microservice application with MongoDB, Memcached and Consul."""

from __future__ import annotations

from dataclasses import replace

from sregym_env.apps.hotel_reservation.application import application
from sregym_env.apps.hotel_reservation.edition import PUBLISHED
from sregym_env.apps.hotel_reservation.family import family

APP = replace(application(PUBLISHED), family=family, place=f"{__name__}:APP")
"""The application as it is published."""
