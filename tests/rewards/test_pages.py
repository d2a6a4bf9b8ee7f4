"""The reference pages name everything there is."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.rewards.collateral import TOLERATED
from sregym_env.rewards.reward import INVARIANTS, PRESETS, TERMS, RewardRule
from tests.redteam.playing import subject

DOCS = Path(__file__).parents[2] / "docs"
REWARDS, GRADING = (DOCS / "rewards.md").read_text(), (DOCS / "grading.md").read_text()


def test_every_key_of_info_has_its_line() -> None:
    _, info = SREGymEnv(fault="wrong_binary", target="geo").reset(seed=1)
    named = set(re.findall(r"`(\w+)`", REWARDS))
    assert {key for key in info if not key.startswith("reward_")} <= named
    assert {*TERMS, *PRESETS} <= named


def test_every_cost_has_its_line() -> None:
    rule = RewardRule()
    for field in fields(RewardRule):
        if field.name.endswith("_cost"):
            assert re.search(rf"`{field.name}` \| {getattr(rule, field.name):g} ", REWARDS), field.name


def test_every_check_has_its_line() -> None:
    pair = subject("service_target_port_mismatch", "frontend")
    names = {check.name for check in pair.judge(pair.world()).checks}
    assert names | set(INVARIANTS) <= set(re.findall(r"`(\w+)`", GRADING))


@pytest.mark.parametrize("kind", TOLERATED)
def test_what_is_tolerated_is_said(kind: str) -> None:
    cost = getattr(RewardRule(), f"{kind}_cost")
    assert re.search(rf"`{kind}` \|[^|]+\| {cost:g} each \| {TOLERATED[kind]} \|", GRADING)
