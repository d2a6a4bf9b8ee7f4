"""No field of any kind, emptied or set to something odd, breaks anything: it is refused, or lived with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sregym_env.kube.status import StatusError
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.tools.kubectl import Kubectl
from tests.sim.conformance.entries import NAMESPACE, Entry, entries

ODD: tuple[Any, ...] = (None, "", -1, 0, [], {}, [None], {"": None}, "\x00", 2**40, True)


def mutations(value: Any) -> Iterator[Any]:
    """The value with each of its parts in turn replaced by something odd."""
    if isinstance(value, dict):
        for key, part in value.items():
            for odd in ODD:
                yield {**value, key: odd}
            for changed in mutations(part):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for index, part in enumerate(value):
            for odd in ODD[:2]:
                yield [*value[:index], odd, *value[index + 1 :]]
            for changed in mutations(part):
                yield [*value[:index], changed, *value[index + 1 :]]


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.resource.key) for entry in entries()])
def test_odd_values(entry: Entry) -> None:
    base = bare_cluster()
    base.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    base.advance(1.0)
    identity = entry.manifest({})
    for body in mutations(entry.rich):
        metadata = body.get("metadata")
        whole = {**identity, **body}
        whole["metadata"] = {**identity["metadata"], **metadata} if isinstance(metadata, dict) else metadata
        world = base.fork()
        try:
            world.cluster.create(whole)
        except StatusError as error:
            assert error.code < 500, (body, error)
            continue
        world.advance(6.0)
        kubectl = Kubectl(world.cluster, NAMESPACE)
        for verb in (["get", entry.resource.key, "-o", "wide"], ["describe", entry.resource.key]):
            done = kubectl.run(verb, "")
            assert done.exit_code == 0, (body, done)
