"""Partial credit: waiting and shaking earn nothing, half of a repair earns its share."""

from __future__ import annotations

import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.rewards.reward import progress, rule, score
from sregym_env.rewards.verdict import Check, Verdict, conclude

CRASHING = (
    ("liveness_probe_misconfiguration", "geo"),
    ("resource_request_too_small", "search"),
    ("sidecar_port_conflict", "memcached-rate"),
    ("incompatible_image", "mongodb-geo"),
    ("configmap_drift", "rate"),
)


@pytest.mark.sampled
@pytest.mark.parametrize(("fault", "target"), CRASHING)
@pytest.mark.parametrize(
    "line", ["sleep 600", "sleep 313", "kubectl delete pods --all -n hotel-reservation; sleep 97"]
)
def test_waiting_and_shaking_earn_nothing(fault: str, target: str, line: str) -> None:
    env = SREGymEnv(fault=fault, target=target, stage="mitigation", reward="graded", raise_errors=True)
    env.reset(seed=11)
    env.step(line)
    _, reward, _, _, info = env.step("submit mitigation")
    assert not info["Mitigation"]
    assert reward <= 0.05


def verdict(**held: float) -> Verdict:
    """A verdict with checks that hold so nearly; ``cause_1`` is the check ``cause/1``."""
    return conclude(
        Check(name.replace("_", "/"), value >= 1.0, share=value, complaints=("x",) if value < 1.0 else ())
        for name, value in held.items()
    )


SICK = verdict(journeys=0.25, available=0.8, cause_1=0.0, cause_2=0.0, policy=1.0, data=0.0)


@pytest.mark.parametrize(
    ("after", "value"),
    [
        (SICK, 0.0),
        (verdict(journeys=0.25, available=0.7, cause_1=0.0, cause_2=0.0, policy=1.0, data=0.0), 0.0),
        # All but what causes it: hidden, not repaired.
        (verdict(journeys=1.0, available=1.0, cause_1=0.0, cause_2=0.0, policy=1.0, data=1.0), 0.0),
        # One of two causes is gone, and with it a part of everything.
        (
            verdict(journeys=0.625, available=0.9, cause_1=1.0, cause_2=0.0, policy=1.0, data=0.0),
            0.5 * 2.0 / 5.0,
        ),
        # Both causes are gone, not all has come back yet.
        (verdict(journeys=0.25, available=0.9, cause_1=1.0, cause_2=1.0, policy=1.0, data=1.0), 3.5 / 5.0),
        # Something was broken for it.
        (verdict(journeys=1.0, available=1.0, cause_1=1.0, cause_2=0.0, policy=0.0, data=1.0), 0.0),
    ],
)
def test_partial_credit(after: Verdict, value: float) -> None:
    assert score(rule("graded"), "mitigation", after, None, SICK).value == pytest.approx(value)


def test_what_was_broken_otherwise_is_not_what_the_fault_broke() -> None:
    before = conclude([Check("data", False, complaints=("the claim does not exist",)), Check("cause", False)])
    after = conclude([Check("data", False, complaints=("lies on emptyDir",)), Check("cause", True)])
    assert score(rule("graded"), "mitigation", after, None, before).value == 0.0
    same = conclude([Check("data", False, complaints=("the claim does not exist",)), Check("cause", True)])
    assert score(rule("graded"), "mitigation", same, None, before).value == 0.5


def test_nothing_was_wrong_and_nothing_is_mended() -> None:
    well = conclude([Check("journeys", True)])
    assert progress(well, well) == 0.0
