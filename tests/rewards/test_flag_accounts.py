"""What is told of a served feature flag: accounts that name it pass, those that name another cause do not."""

from __future__ import annotations

import pytest

from sregym_env import apps
from sregym_env.envs.tasks.pairs import inventory_of
from sregym_env.errors import AppError
from sregym_env.faults.registry import declaration
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.judge import SpecJudge

APP = apps.app("astronomy-shop")

RIGHT = (
    ("adFailure", "The feature flag adFailure is on in ConfigMap flagd-config, so ad answers a tenth of its requests with UNAVAILABLE."),
    ("adFailure", "Somebody set the default variant of the flag adFailure to on (flagd-config, demo.flagd.json). With it ad fails one in ten GetAds calls."),
    ("failedReadinessProbe", "cart is not Ready because the feature flag failedReadinessProbe was turned on in flagd-config: its health check says NOT_SERVING."),
    ("paymentFailure", "In ConfigMap flagd-config the flag paymentFailure is on, at 100%, and payment refuses all charges."),
    ("paymentUnreachable", "Orders fail in checkout since the flag paymentUnreachable is enabled in flagd-config; checkout then dials a bad address for payment."),
    ("productCatalogFailure", "The flag productCatalogFailure has been switched on in the ConfigMap flagd-config; product-catalog returns errors for one product because of it."),
)  # fmt: skip

WRONG = (
    ("adFailure", "The image of ad is a broken build that answers with errors."),
    ("adFailure", "The feature flag paymentFailure is on in flagd-config, and payment refuses charges."),
    ("failedReadinessProbe", "The readiness probe of cart asks for a port on which nothing listens."),
    ("paymentFailure", "The Service payment has a wrong targetPort."),
    ("paymentUnreachable", "A NetworkPolicy blocks traffic between checkout and payment."),
    ("productCatalogFailure", "postgresql is down, so product-catalog cannot read its products."),
)  # fmt: skip


def truth(flag: str) -> FaultSpec:
    inventory = inventory_of(APP.name)
    assert not isinstance(inventory, AppError)
    return declaration("served_feature_flag").bind(inventory, flag).spec


@pytest.mark.parametrize(("flag", "text"), RIGHT)
def test_right_accounts_pass(flag: str, text: str) -> None:
    grade = SpecJudge().grade(text, [truth(flag)], APP)
    assert grade.passed, grade


@pytest.mark.parametrize(("flag", "text"), WRONG)
def test_wrong_accounts_do_not(flag: str, text: str) -> None:
    assert not SpecJudge().grade(text, [truth(flag)], APP).passed
