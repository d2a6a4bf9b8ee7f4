"""What an engineer leaves behind on the way to a right repair: what has ended is charged, and denies nothing."""

from __future__ import annotations

import pytest

from sregym_env.envs.env import SREGymEnv


@pytest.mark.parametrize(
    ("typed", "passes"),
    [
        ("kubectl debug node/$(kubectl get nodes -o name | tail -1 | cut -d/ -f2) -q -it --image=busybox -- chroot /host uptime", True),
        ("kubectl run tmp --image=busybox --restart=Never -- sleep 5; sleep 20", True),
        ("kubectl run tmp --image=busybox --restart=Never --privileged -- sleep 5000; sleep 20", False),
    ],
    ids=["debugged a machine", "looked from a pod", "left it running"],
)  # fmt: skip
def test_a_pod_that_has_ended_denies_no_repair(typed: str, passes: bool) -> None:
    env = SREGymEnv("hotel-reservation/scale_to_zero/geo", stage="mitigation", raise_errors=True)
    env.reset(seed=4)
    for command in (typed, *env.episode.staged.solutions[0].remedies[0]):
        env.step(command)
    _, reward, *_ = env.step("submit mitigation")
    verdict = env.state()["verdict"]
    assert verdict["passed"] is passes
    assert len(verdict["collateral"]["left"]) == 1
    assert (0.9 < reward < 1.0) if passes else reward < 0.0
