"""A question that several faults ask: whether what belongs to others, and looks like the cause, has been left alone."""

from __future__ import annotations

from sregym_env.cluster.api import World
from sregym_env.cluster.edits import ObjectRef
from sregym_env.faults.fault import Finding
from sregym_env.kube.status import StatusError


class Stands:
    """Whether an object is there still."""

    def __init__(self, target: ObjectRef) -> None:
        self._target = target

    def __call__(self, world: World) -> Finding:
        where = self._target
        expected = f"{where.resource.partition('.')[0]}/{where.name} is there"
        try:
            world.cluster.get(where.resource, where.name, where.namespace)
        except StatusError:
            return Finding("what is others' stays", False, "it is gone", expected)
        return Finding("what is others' stays", True, "it is there", expected)
