"""The data that Hotel Reservation's services seed into their databases at start, and answers made from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from math import asin, cos, radians, sin, sqrt
from typing import Any

import orjson

HOTELS = 80
"""Hotels in the databases, numbered from 1 (``cmd/*/db.go``)."""
USERS = 501
"""Users ``Cornell_0`` to ``Cornell_500`` (``cmd/user/db.go``)."""
NEAREST = 5
"""How many hotels geo returns at most."""
RADIUS_KM = 10.0
"""How far from the asker geo looks (``maxSearchRadius``)."""

_FIRST = (
    (37.7867, -122.4112),
    (37.7854, -122.4005),
    (37.7854, -122.4071),
    (37.7936, -122.3930),
    (37.7831, -122.4181),
    (37.7863, -122.4015),
)
_NAMES = (
    ("Clift Hotel", "(415) 775-4700", "495", "Geary St", "94102"),
    ("W San Francisco", "(415) 777-5300", "181", "3rd St", "94103"),
    ("Hotel Zetta", "(415) 543-8555", "55", "5th St", "94103"),
    ("Hotel Vitale", "(415) 278-3700", "8", "Mission St", "94105"),
    ("Phoenix Hotel", "(415) 776-1380", "601", "Eddy St", "94109"),
    ("St. Regis San Francisco", "(415) 284-4000", "125", "3rd St", "94103"),
)
_PRICES = ((109.0, 150.0), (139.0, 120.0), (109.0, 190.0), (129.0, 160.0), (119.0, 140.0), (149.0, 200.0))

Rows = tuple[Mapping[str, Any], ...]


def place(hotel: int) -> tuple[float, float]:
    """Latitude and longitude of a hotel."""
    if hotel <= len(_FIRST):
        return _FIRST[hotel - 1]
    return round(37.7835 + hotel / 500.0 * 3, 4), round(-122.41 + hotel / 500.0 * 4, 4)


@lru_cache(maxsize=1)
def geo() -> Rows:
    """``geo-db.geo``: where the hotels are."""
    return tuple({"hotelId": str(i), "lat": place(i)[0], "lon": place(i)[1]} for i in range(1, HOTELS + 1))


@lru_cache(maxsize=1)
def profiles() -> Rows:
    """``profile-db.hotels``."""
    rows = []
    for number in range(1, HOTELS + 1):
        name, phone, street, road, code = _NAMES[min(number, 6) - 1]
        if number > 6:
            phone, code = f"(415) 284-40{number}", "94109"
        latitude, longitude = place(number)
        rows.append(
            {
                "id": str(number),
                "name": name,
                "phoneNumber": phone,
                "description": "A 6-minute walk from Union Square and 4 minutes from a Muni Metro station.",
                "address": {
                    "streetNumber": street,
                    "streetName": road,
                    "city": "San Francisco",
                    "state": "CA",
                    "country": "United States",
                    "postalCode": code,
                    "lat": latitude,
                    "lon": longitude,
                },
            }
        )
    return tuple(rows)


def has_rate(hotel: int) -> bool:
    """Whether the inventory knows a rate plan for a hotel."""
    return hotel <= 3 or (hotel >= 7 and hotel % 3 == 0)


@lru_cache(maxsize=1)
def rates() -> Rows:
    """``rate-db.inventory``: rate plans."""
    rows = []
    for number in filter(has_rate, range(1, HOTELS + 1)):
        low, high = ((109.0, 123.17), (139.0, 153.09))[number % 2 == 0]
        queen = number % 2 == 0
        rows.append(
            {
                "hotelId": str(number),
                "code": "RACK",
                "inDate": "2015-04-09",
                "outDate": "2015-04-10" if number <= 3 else "2015-04-24",
                "roomType": {
                    "bookableRate": low,
                    "code": "QN" if queen else "KNG",
                    "roomDescription": "Queen sized bed" if queen else "King sized bed",
                    "totalRate": low,
                    "totalRateInclusive": high,
                },
            }
        )
    return tuple(rows)


@lru_cache(maxsize=1)
def recommendations() -> Rows:
    """``recommendation-db.recommendation``."""
    rows = []
    for number in range(1, HOTELS + 1):
        latitude, longitude = place(number)
        rate, price = _PRICES[number - 1] if number <= 6 else (135.0 + number % 5, 179.0 - number % 3 * 10)
        rows.append({"hotelId": str(number), "lat": latitude, "lon": longitude, "rate": rate, "price": price})
    return tuple(rows)


@lru_cache(maxsize=1)
def users() -> Rows:
    """``user-db.user``: passwords are hashed."""
    return tuple(
        {"username": f"Cornell_{i}", "password": sha256((str(i) * 10).encode()).hexdigest()}
        for i in range(USERS)
    )


@lru_cache(maxsize=1)
def numbers() -> Rows:
    """``reservation-db.number``: rooms per hotel."""
    return tuple({"hotelId": str(i), "numberOfRoom": 300 if i % 3 == 1 else 250 if i % 3 == 2 else 200}
                 for i in range(1, HOTELS + 1))  # fmt: skip


@lru_cache(maxsize=1)
def reservations() -> Rows:
    """``reservation-db.reservation``: the one reservation that is seeded."""
    row = {
        "hotelId": "4",
        "customerName": "Alice",
        "inDate": "2015-04-09",
        "outDate": "2015-04-10",
        "number": 1,
    }
    return (row,)


# --- requests and answers --------------------------------------------------------------------------------


def _dated(query: Mapping[str, str]) -> str:
    if not query.get("inDate") or not query.get("outDate"):
        return "Please specify inDate/outDate params"
    return ""


def _number(query: Mapping[str, str], name: str) -> float | None:
    try:
        return float(query[name])
    except (KeyError, ValueError):
        return None


def _placed(query: Mapping[str, str]) -> str:
    if not query.get("lat") or not query.get("lon"):
        return "Please specify location params"
    return ""


def check_search(query: Mapping[str, str]) -> str:
    """What is wrong with a search."""
    return _dated(query) or _placed(query)


def check_recommend(query: Mapping[str, str]) -> str:
    """What is wrong with a request for recommendations."""
    problem = _placed(query)
    if not problem and query.get("require") not in ("dis", "rate", "price"):
        return "Please specify require params"
    return problem


def check_user(query: Mapping[str, str]) -> str:
    """What is wrong with a login."""
    if not query.get("username") or not query.get("password"):
        return "Please specify username and password"
    return ""


def check_reserve(query: Mapping[str, str]) -> str:
    """What is wrong with a reservation."""
    problem = _dated(query)
    if problem:
        return problem
    for name in ("inDate", "outDate"):
        parts = query[name].split("-")
        if [len(part) for part in parts] != [4, 2, 2] or not all(part.isdecimal() for part in parts):
            return "Please check inDate/outDate format (YYYY-MM-DD)"
    if not query.get("hotelId"):
        return "Please specify hotelId params"
    if not query.get("customerName"):
        return "Please specify customerName params"
    return check_user(query)


def _distance(latitude: float, longitude: float, hotel: int) -> float:
    there = place(hotel)
    a, b = radians(latitude), radians(there[0])
    half = sin((b - a) / 2) ** 2 + cos(a) * cos(b) * sin(radians(there[1] - longitude) / 2) ** 2
    return 2 * 6371.0 * asin(sqrt(min(1.0, half)))


def nearest(latitude: float, longitude: float) -> list[int]:
    """The hotels geo returns for a place, nearest first."""
    found = sorted((_distance(latitude, longitude, hotel), hotel) for hotel in range(1, HOTELS + 1))
    return [hotel for distance, hotel in found[:NEAREST] if distance <= RADIUS_KM]


def _features(hotels: list[int]) -> str:
    features = []
    for hotel in hotels:
        profile = profiles()[hotel - 1]
        latitude, longitude = place(hotel)
        features.append(
            {
                "geometry": {"coordinates": [longitude, latitude], "type": "Point"},
                "id": str(hotel),
                "properties": {"name": profile["name"], "phone_number": profile["phoneNumber"]},
                "type": "Feature",
            }
        )
    return orjson.dumps({"features": features, "type": "FeatureCollection"}).decode() + "\n"


def answer_search(query: Mapping[str, str]) -> str:
    """A GeoJSON collection of hotels near a place that have a rate."""
    latitude, longitude = _number(query, "lat") or 0.0, _number(query, "lon") or 0.0
    return _features([hotel for hotel in nearest(latitude, longitude) if has_rate(hotel)])


def answer_recommend(query: Mapping[str, str]) -> str:
    """A GeoJSON collection of the nearest, the best rated or the cheapest hotels."""
    latitude, longitude = _number(query, "lat") or 0.0, _number(query, "lon") or 0.0
    if query.get("require") == "dis":
        best = min(range(1, HOTELS + 1), key=lambda hotel: (_distance(latitude, longitude, hotel), hotel))
        return _features([best])
    key = "rate" if query.get("require") == "rate" else "price"
    values = [row[key] for row in recommendations()]
    wanted = max(values) if key == "rate" else min(values)
    return _features([int(row["hotelId"]) for row in recommendations() if row[key] == wanted])


def _known(query: Mapping[str, str]) -> bool:
    name, _, number = query.get("username", "").partition("_")
    if name != "Cornell" or not number.isdecimal() or int(number) >= USERS:
        return False
    return query.get("password") == number * 10


def _message(text: str) -> str:
    return orjson.dumps({"message": text}).decode() + "\n"


def answer_user(query: Mapping[str, str]) -> str:
    """Whether the login is right."""
    return _message(
        "Login successfully!" if _known(query) else "Failed. Please check your username and password. "
    )


def answer_reserve(query: Mapping[str, str]) -> str:
    """What became of a reservation."""
    return _message(
        "Reserve successfully!" if _known(query) else "Failed. Please check your username and password. "
    )


def answer_index(query: Mapping[str, str]) -> str:
    """The start page."""
    return "<!DOCTYPE html>\n<html>\n<head><title>Hotel Reservation</title></head>\n<body></body>\n</html>\n"


def check_nothing(query: Mapping[str, str]) -> str:
    """Every query will do."""
    return ""
