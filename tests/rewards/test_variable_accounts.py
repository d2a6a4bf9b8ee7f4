"""What is told of variables that are missing or wrong: accounts that name them pass, those that name another cause do not."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env import apps
from sregym_env.envs.tasks.pairs import inventory_of
from sregym_env.errors import AppError
from sregym_env.faults.registry import declaration
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.judge import SpecJudge

APP = apps.app("astronomy-shop")

LOST = ("missing_env_variable", "frontend", {"variable": "CART_ADDR"})
PORTLESS = ("missing_env_variable", "payment", {"variable": "PAYMENT_PORT", "slip": "word"})
TWICE = (
    "env_variable_shadowing",
    "frontend-proxy",
    {"astray": {"variable": "FRONTEND_HOST", "host": "localhost"}},
)
ASTRAY = ("incorrect_port_assignment", "checkout", {"astray": {"variable": "PAYMENT_ADDR", "port": 8081}})

Struck = tuple[str, str, dict[str, Any]]

RIGHT: tuple[tuple[Struck, str], ...] = (
    (LOST, "The frontend deployment no longer sets CART_ADDR, so every cart call goes to an empty target."),
    (LOST, "CART_ADDR was removed from the env of the frontend container. All cart requests fail, the pod itself is Ready."),
    (LOST, "Root cause: env var CART_ADDR missing in deployment/frontend after the last rollout."),
    (LOST, "frontend: CART_ADDR is unset."),
    (PORTLESS, "payment crashes at start because its environment has no PAYMENT_PORT; there is a PAYMENT_LISTEN_PORT instead."),
    (PORTLESS, "Deployment payment: the variable PAYMENT_PORT was renamed to PAYMENT_LISTEN_PORT, which the program does not read."),
    (TWICE, "FRONTEND_HOST appears twice in the env of frontend-proxy. The later one is localhost and wins, so Envoy forwards to itself."),
    (TWICE, "frontend-proxy's environment variable FRONTEND_HOST is overridden with localhost by a duplicate entry at the end of the list."),
    (TWICE, "The Deployment frontend-proxy sets FRONTEND_HOST to the wrong value localhost; it should be frontend."),
    (ASTRAY, "checkout's PAYMENT_ADDR is set to payment:8081 instead of payment:8080, so charging cards fails."),
    (ASTRAY, "In deployment checkout the env var PAYMENT_ADDR has the wrong port 8081. payment listens on 8080."),
    (ASTRAY, "The address of payment in checkout's environment (PAYMENT_ADDR=payment:8081) is wrong."),
)  # fmt: skip

WRONG: tuple[tuple[Struck, str], ...] = (
    (LOST, "The Service cart was deleted, so frontend cannot resolve it."),
    (LOST, "A ConfigMap key that frontend needs is missing."),
    (LOST, "The environment variable AD_ADDR is missing from the frontend container."),
    (PORTLESS, "The Service payment forwards to a port on which nobody listens."),
    (TWICE, "The Service frontend has a wrong selector, so it has no endpoints."),
    (TWICE, "The image of frontend-proxy is a broken build."),
    (ASTRAY, "The Service payment has a wrong targetPort, 8081."),
    (ASTRAY, "In deployment payment the env var PAYMENT_PORT has the wrong value."),
    (ASTRAY, "checkout's environment is wrong."),
)  # fmt: skip


def truth(struck: Struck) -> FaultSpec:
    inventory = inventory_of(APP.name)
    assert not isinstance(inventory, AppError)
    fault, target, parameters = struck
    return declaration(fault).bind(inventory, target, parameters).spec


@pytest.mark.parametrize(("struck", "text"), RIGHT)
def test_right_accounts_pass(struck: Struck, text: str) -> None:
    grade = SpecJudge().grade(text, [truth(struck)], APP)
    assert grade.passed, grade


@pytest.mark.parametrize(("struck", "text"), WRONG)
def test_wrong_accounts_do_not(struck: Struck, text: str) -> None:
    assert not SpecJudge().grade(text, [truth(struck)], APP).passed
