"""Where settings lead: the same by whatever name, and never to another's data."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sregym_env.cluster.app import App, Component, ConfigKey, Image
from sregym_env.cluster.streams import ExecResult
from sregym_env.rewards import leads

SPACE = "shop"
CONFIG = "/etc/shop/config.json"


def service(name: str, ip: str = "", **spec: Any) -> tuple[Any, Any]:
    """A Service."""
    return ("services", SPACE, name), {"metadata": {"name": name}, "spec": {"clusterIP": ip, **spec}}


def workload(env: Any = (), args: Any = (), version: int = 1) -> tuple[Any, Any]:
    """The component's workload; another version of it is another object."""
    container = {"name": "c", "image": "shop:1", "env": list(env), "args": list(args)}
    spec = {
        "selector": {"matchLabels": {"app": "shop"}},
        "template": {"spec": {"containers": [container]}},
        "version": version,
    }
    return ("deployments.apps", SPACE, "shop"), {"metadata": {"name": "shop"}, "spec": spec}


SERVICES = [
    service("orders", "10.0.0.1"),
    service("users", "10.0.0.2"),
    service("alias", type="ExternalName", externalName="users.shop.svc.cluster.local"),
    service("orders-too", "10.0.0.3"),
]
BEHIND = {"orders": "orders", "orders-too": "orders", "users": "users"}


def told(before: Any, now: Any, file: str = "") -> list[str]:
    """What is astray, with a configuration file in the pod that leads to orders in the image."""
    slices = [
        {
            "metadata": {"labels": {"kubernetes.io/service-name": name}},
            "endpoints": [{"conditions": {"ready": True}, "targetRef": {"name": f"{workload}-1"}}],
        }
        for name, workload in BEHIND.items()
    ]
    pods = [
        {
            "metadata": {
                "name": f"{name}-1",
                "ownerReferences": [{"controller": True, "kind": "StatefulSet", "name": name}],
            }
        }
        for name in ("orders", "users", "shop")
    ]
    lists = {"pods": pods, "endpointslices.discovery.k8s.io": slices}
    component = Component("shop", "web", "deployments.apps", "c", config=ConfigKey(CONFIG, "orders"))
    image = Image("shop:1", 1, {}, files={CONFIG: '{"db": {"orders": "orders:27017"}}'})
    app = App("shop", "", SPACE, "", (component,), (), (image,), (), "shop")
    text = file or image.files[CONFIG]
    world: Any = SimpleNamespace(
        app=app,
        cluster=SimpleNamespace(
            list=lambda resource, _, **__: lists.get(resource, []),
            exec=lambda *_, **__: ExecResult(text, "", 0),
        ),
    )
    backed = {(SPACE, name): frozenset({f"StatefulSet/{at}"}) for name, at in BEHIND.items()}
    return list(leads.astray(world, dict([before, *SERVICES]), backed, dict([now, *SERVICES])))


def env(value: str) -> list[dict[str, str]]:
    """One setting."""
    return [{"name": "DB", "value": value}]


@pytest.mark.parametrize(
    ("value", "astray"),
    [
        ("orders:27017", False),
        ("orders.shop:27017", False),
        ("orders.shop.svc.cluster.local.:27017", False),
        ("mongodb://app:secret@orders-too:27017/db", False),
        ("10.0.0.1:27017", False),
        ("10.0.0.3", False),
        ("elsewhere.example:27017", False),
        ("", False),
        ("users:27017", True),
        ("USERS.shop.svc:27017", True),
        ("mongodb://app:secret@users:27017/db", True),
        ("10.0.0.2:27017", True),
        ("alias:27017", True),
        ("x" * 5000, False),
    ],
)
def test_a_setting_leads_to_the_same_workload(value: str, astray: bool) -> None:
    by_env = told(workload(env("orders:27017")), workload(env(value), version=2))
    by_flag = told(workload(args=["--db=orders:27017"]), workload(args=["--db", value], version=2))
    by_file = told(workload(), workload(version=2), f'{{"db": {{"orders": "{value}"}}}}')
    for found in (by_env, by_flag, by_file):
        assert bool(found) == astray, found
        assert not found or "leads to users instead of orders" in found[0]


def test_what_did_not_change_is_not_asked() -> None:
    same = workload(env("orders:27017"))
    assert told(same, same, file='{"db": {"orders": "users:27017"}}') == []


def test_words_that_are_no_flags_lead_nowhere() -> None:
    assert told(workload(args=["orders"]), workload(args=["users"], version=2)) == []


def test_a_file_of_lines() -> None:
    assert leads._entries("a: b\nc = d\n  e=f: g\nnothing\n") == {"a": "b", "c": "d", "e": "f: g"}
    assert leads._entries('{"a": [{"b": "c"}], "d": 1}') == {"a[0].b": "c"}
