"""Base worlds are brought up at the first attempt, and nothing in them waits for years for what never comes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sregym_env.apps import app, bundled
from sregym_env.cluster.app import App
from sregym_env.errors import AppError
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.network.addressing import inquiring
from sregym_env.sim.users import traffic
from sregym_env.worlds import lived
from sregym_env.worlds.lived import base_world


def waiting(world: EmbeddedWorld) -> Iterator[str]:
    """Containers that cannot start, with what is said of it."""
    for pod in world.cluster.list("pods"):
        statuses: list[Manifest] = pod["status"].get("containerStatuses") or []
        for each in statuses:
            held = each.get("state", {}).get("waiting") or {}
            if held.get("reason") in ("ErrImagePull", "ImagePullBackOff"):
                yield f"{pod['metadata']['namespace']}/{pod['metadata']['name']}: {held}"


# Worlds in which a neighbour pulls an image of a repository that the application's registry has closed.
@pytest.mark.parametrize(
    ("name", "number"), [("astronomy-shop", 62), ("astronomy-shop", 39), ("social-network", 59)]
)
def test_neighbours_have_the_images_that_they_pull_without_a_login(name: str, number: int) -> None:
    assert list(waiting(base_world(app(name), number))) == []


@pytest.mark.parametrize("number", [1, 3, 8, 27])
def test_what_is_drawn_for_the_shop_fits_together(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[str] = []
    live = lived.live

    def watched(*args: object, **named: object) -> App:
        try:
            return live(*args, **named)  # type: ignore[arg-type]
        except (AppError, StatusError) as error:
            refused.append(str(error))
            raise

    monkeypatch.setattr(lived, "live", watched)
    lived._made(app("astronomy-shop"), number, None)
    assert refused == []


@pytest.mark.parametrize("name", bundled())
def test_what_becomes_of_the_users_is_known_as_long_as_nothing_changes(name: str) -> None:
    """Who asks for the time, or for chance, in what every request does has everything looked at again all the time."""
    world = base_world(app(name), 5)
    with inquiring(world) as inquiry:
        traffic._unstrained(world)
    assert not inquiry.fleeting
