"""Registries that ask who pulls: what stands in pull secrets, and what a kubelet is told."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace

import orjson
import pytest

from sregym_env import apps
from sregym_env.cluster.app import ImageRegistry
from sregym_env.cluster.disturbances import RegistryLogin
from sregym_env.kube.pulling import CONFIG, HUB, OLD_CONFIG, OLD_PULL_SECRET, PULL_SECRET, logins, pulling
from sregym_env.kube.types import Manifest
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.containers import registries
from sregym_env.sim.embedded import EmbeddedWorld

IMAGE = "mongo:4.4.6"
REPOSITORY = "docker.io/library/mongo"


def _secret(data: dict[str, str], type: str = PULL_SECRET) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "regcred", "namespace": "default"},
        "type": type,
        "data": data,
    }


def _auths(auths: dict[str, object]) -> Manifest:
    return _secret({CONFIG: b64encode(orjson.dumps({"auths": auths})).decode()})


@pytest.mark.parametrize(
    ("key", "image"),
    [
        ("https://index.docker.io/v1/", "redis"),
        ("docker.io", "redis:7"),
        ("docker.io/library", "docker.io/library/redis"),
        ("https://harbor.acme.io", "harbor.acme.io/shop/cart:1"),
        ("harbor.acme.io/shop", "harbor.acme.io/shop/cart:1"),
        ("*.acme.io", "harbor.acme.io/shop/cart:1"),
        ("registry:5000", "registry:5000/cart"),
    ],
)
def test_a_login_is_found_by_the_name_of_its_registry(key: str, image: str) -> None:
    assert logins([_auths({key: {"username": "bot", "password": "one"}})], image) == ("bot:one",)


@pytest.mark.parametrize(
    ("key", "image"),
    [
        ("ghcr.io", "redis"),
        ("*.io", "harbor.acme.io/shop/cart:1"),
        ("harbor.acme.io/other", "harbor.acme.io/shop/cart:1"),
        ("https://index.docker.io/v1/", "quay.io/shop/cart"),
    ],
)
def test_one_of_another_registry_is_not(key: str, image: str) -> None:
    assert logins([_auths({key: {"username": "bot", "password": "one"}})], image) == ()


def test_the_longest_name_comes_first_and_rubbish_is_passed_over() -> None:
    auth = b64encode(b"bot:two").decode()
    known = _auths(
        {"harbor.acme.io": {"username": "bot", "password": "one"}, "harbor.acme.io/shop": {"auth": auth}}
    )
    rubbish = [_secret({CONFIG: "bm90IGpzb24="}), _secret({CONFIG: "?"}), _auths({"harbor.acme.io": 5})]
    assert logins([*rubbish, known], "harbor.acme.io/shop/cart") == ("bot:two", "bot:one")


def test_secrets_of_the_older_kind_are_read() -> None:
    text = b64encode(orjson.dumps({"quay.io": {"username": "bot", "password": "one"}})).decode()
    assert logins([_secret({OLD_CONFIG: text}, OLD_PULL_SECRET)], "quay.io/shop/cart") == ("bot:one",)
    assert logins([_secret({OLD_CONFIG: text}, "Opaque")], "quay.io/shop/cart") == ()


def _world(*logins: str, closed: tuple[str, ...] = ()) -> EmbeddedWorld:
    world = deployed_world(apps.app("hotel-reservation"))
    world.app = replace(world.app, registries=(ImageRegistry(HUB, logins, closed),))
    return world


def _with(world: EmbeddedWorld, login: str) -> str:
    world.cluster.create(_secret(pulling({HUB: login})))
    return registries.refusal(world, "default", ("regcred",), IMAGE)


def test_whom_it_knows_is_let_in_and_others_are_not() -> None:
    assert _with(_world("bot:one"), "bot:one") == ""
    told = _with(_world("bot:one"), "bot:two")
    assert told.endswith(
        "failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://auth.docker.io/token"
        "?account=bot&scope=repository%3Alibrary%2Fmongo%3Apull&service=registry.docker.io: 401 Unauthorized"
    )


def test_nobody_in_particular_gets_what_is_not_closed() -> None:
    assert registries.refusal(_world("bot:one"), "default", (), IMAGE) == ""
    told = registries.refusal(_world("bot:one", closed=(REPOSITORY,)), "default", (), IMAGE)
    assert told.endswith("429 Too Many Requests")


def test_a_login_comes_and_goes() -> None:
    world = _world("bot:one")
    world.nodes.apply(RegistryLogin(HUB, "bot:one", known=False))
    assert "401 Unauthorized" in _with(world, "bot:one")
    world.nodes.heal(RegistryLogin(HUB, "bot:one", known=False))
    assert registries.refusal(world, "default", ("regcred",), IMAGE) == ""
