"""What was done on a cluster behind a kubeconfig, which keeps no account of its writes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sregym_env.cluster.api import World
from sregym_env.cluster.audit import audited
from sregym_env.rewards.baseline import call
from sregym_env.rewards.collateral import harm
from sregym_env.rewards.doings import doings
from sregym_env.rewards.verdict import NO_HARM, Harm
from sregym_env.sim.bringup.deploy import deployed_world
from tests.serve.serving import Served
from tests.world.worlds import APP, NAMESPACE, over_http


def told(world: World, deed: Callable[[World], object], noisy: bool = False) -> Harm:
    """The collateral of a deed and two minutes."""
    called = call(world)
    deed(world)
    world.advance(120.0)
    return harm(world, called, (), doings(world, called), noisy)


def delete_a_pod(world: World) -> None:
    """Of a component that is well."""
    name = next(
        pod["metadata"]["name"]
        for pod in world.cluster.list("pods", NAMESPACE)
        if pod["metadata"]["name"].startswith("jaeger-")
    )
    world.cluster.delete("pods", name, NAMESPACE)


def label(world: World) -> None:
    """Change what is wished for."""
    patch = {"metadata": {"labels": {"note": "a"}}}
    world.cluster.patch("deployments.apps", "jaeger", patch, namespace=NAMESPACE)


def leave(world: World) -> None:
    """Make something."""
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}, "data": {"a": "b"}}
    world.cluster.create(made, namespace=NAMESPACE)


@pytest.mark.parametrize(
    ("deed", "noisy", "counted"),
    [
        (lambda world: None, False, {}),
        (delete_a_pod, False, {"restarted": 1}),
        # Somebody else deletes pods there.
        (delete_a_pod, True, {}),
        (label, False, {"changed": 1}),
        (leave, False, {"left": 1}),
    ],
    ids=["nothing", "a pod", "a pod beside noise", "a label", "a ConfigMap"],
)
def test_collateral_is_told_by_comparing(
    server: Served, deed: Callable[[World], object], noisy: bool, counted: dict[str, int]
) -> None:
    world = over_http(server, deployed_world(APP, 0))
    assert audited(world) is None
    found = told(world, deed, noisy)
    assert {kind: len(things) for kind, things in found.to_dict().items() if things} == counted
    assert counted or found == NO_HARM
