"""A liveness probe that leaves no time for the start: it asks the right server, and kills every container before it listens."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.cluster.inventory import Inventory
from sregym_env.faults.probes import TIMINGS, allows, impatient_timings
from sregym_env.faults.registry import declaration
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.processes.context import ProcessContext

FAULT = declaration("liveness_probe_too_aggressive")


@pytest.mark.parametrize("app", ["astronomy-shop", "social-network"])
def test_every_target_takes_the_time_that_is_declared(app: str, monkeypatch: pytest.MonkeyPatch) -> None:
    took: dict[str, float] = {}
    listen = ProcessContext.listen

    def timed(self: ProcessContext, *ports: int) -> None:
        listen(self, *ports)
        took[self.process.container] = (self.now() - self.process.started_at) / SECOND

    monkeypatch.setattr(ProcessContext, "listen", timed)
    world = deployed_world(apps.app(app)).fork()
    targets = FAULT.targets.find(Inventory.of(world))
    assert len(targets) >= 3
    for target in targets:
        for pod in world.cluster.list("pods", target.namespace):
            if target.labels.items() <= pod["metadata"]["labels"].items():
                world.cluster.delete("pods", pod["metadata"]["name"], target.namespace)
    world.advance(60.0)
    for target in targets:
        assert took[target.component.container] == pytest.approx(target.component.starts), target.name


def test_all_timings_are_over_before_a_target_listens(every_inventory: Inventory) -> None:
    for target in FAULT.targets.find(every_inventory):
        for delay, period, failures in impatient_timings(target):
            assert (delay, period, failures) in TIMINGS
            probe = {"initialDelaySeconds": delay, "periodSeconds": period, "failureThreshold": failures}
            assert allows(probe) < target.component.starts
            assert allows(probe) + period <= target.component.starts
