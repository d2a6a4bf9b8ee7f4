"""Accounts as engineers and models hand them in, of every fault: prose, post-mortems, headed lists, and the misdiagnoses that lie nearest.

``accounts.jsonl`` has one a line, of the published application. They were written before the judge was tried on them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sregym_env import apps
from sregym_env.envs.tasks.pairs import inventory_of
from sregym_env.errors import AppError
from sregym_env.faults.registry import declaration
from sregym_env.rewards.judge import SpecJudge

ACCOUNTS = tuple(
    json.loads(line) for line in Path(__file__).with_name("accounts.jsonl").read_text().splitlines()
)


def _rows() -> Iterator[Any]:
    for number, told in enumerate(ACCOUNTS):
        yield pytest.param(told, id=f"{told['fault']}-{'right' if told['right'] else 'wrong'}-{number}")


@pytest.mark.parametrize("told", tuple(_rows()))
def test_an_account_passes_if_it_is_right(told: dict[str, Any]) -> None:
    inventory = inventory_of(told["app"])
    assert not isinstance(inventory, AppError)
    truth = declaration(told["fault"]).bind(inventory, told["target"]).spec
    assert SpecJudge().grade(told["text"], [truth], apps.app(told["app"])).passed is told["right"]


def test_most_faults_have_accounts() -> None:
    assert len({told["fault"] for told in ACCOUNTS}) > 80
