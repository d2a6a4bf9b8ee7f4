"""What tools that apply remember of their input, whoever changes the object."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson
import pytest

from sregym_env.cluster.apply import changed
from sregym_env.cluster.edits import REMOVED
from sregym_env.kube.types import Manifest
from sregym_env.worlds.lastapplied import APPLY, ARGO, input_of, reapplied, sent

IMAGE = "/spec/template/spec/containers/0/image"
ENV = "/spec/template/spec/containers/0/env"


def deployment(**fields: Any) -> Manifest:
    """A Deployment as it is declared."""
    container = {"name": "web", "image": "web:1", "env": [{"name": "LEVEL", "value": "info"}], **fields}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [container]}}},
    }


def remembered(live: Manifest) -> Manifest:
    """What was applied last."""
    text = input_of(live)
    assert text is not None
    found: Manifest = orjson.loads(text)
    return found


@pytest.mark.parametrize(
    ("tool", "kind", "keeps"),
    [
        (APPLY, "Deployment", True),
        (APPLY, "Namespace", True),
        (ARGO, "Deployment", True),
        (ARGO, "Namespace", False),
        ("helm", "Deployment", False),
        ("kustomize-controller", "Deployment", False),
        ("kubectl-create", "Deployment", False),
    ],
)
def test_who_keeps_the_input(tool: str, kind: str, keeps: bool) -> None:
    made = sent({**deployment(), "kind": kind}, tool)
    assert (input_of(made) is not None) == keeps


@pytest.mark.parametrize("tool", [APPLY, ARGO])
def test_an_input_does_not_hold_itself(tool: str) -> None:
    again = sent(sent(deployment(), tool), tool)
    assert remembered(again)["metadata"]["annotations"] == {}


@pytest.mark.parametrize(
    ("by", "image"),
    [(APPLY, "web:2"), (ARGO, "web:2"), ("kubectl-edit", "web:1"), ("kubectl-set", "web:1"), ("kubectl-patch", "web:1"),
     ("helm", "web:1"), ("kubectl", "web:1")],
)  # fmt: skip
def test_only_an_apply_writes_it_anew(by: str, image: str) -> None:
    live = reapplied(sent(deployment(), APPLY), by, partial(changed, changes={IMAGE: "web:2"}))
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "web:2"
    assert remembered(live)["spec"]["template"]["spec"]["containers"][0]["image"] == image


@pytest.mark.parametrize(
    ("by_hand", "shown"),
    [
        ({IMAGE: "web:9"}, {"image": "web:9"}),
        ({f"{ENV}/0/value": "debug"}, {"env": [{"name": "LEVEL", "value": "debug"}]}),
        ({ENV: [{"name": "LEVEL", "value": "info"}, {"name": "MORE", "value": "1"}]}, {}),
        ({ENV: [{"name": "FIRST", "value": "1"}, {"name": "LEVEL", "value": "warn"}]},
         {"env": [{"name": "LEVEL", "value": "warn"}]}),
        ({ENV: []}, {"env": []}),
        ({ENV: REMOVED}, None),
    ],
    ids=["image", "value", "one more", "one before", "none", "no list"],
)  # fmt: skip
def test_an_apply_takes_over_what_is_still_there_of_what_a_hand_has_changed(
    by_hand: dict[str, Any], shown: dict[str, Any] | None
) -> None:
    """It writes all that its input says: what it did not put right was in its input."""
    live = reapplied(sent(deployment(), APPLY), "kubectl-edit", partial(changed, changes=by_hand))
    assert remembered(live) == remembered(sent(deployment(), APPLY))
    live = reapplied(live, APPLY, partial(changed, changes={"/spec/replicas": 3}))
    expected = deployment(**(shown or {}))
    if shown is None:
        expected = changed(expected, {ENV: REMOVED})
    found = remembered(live)
    assert found["spec"] == {**expected["spec"], "replicas": 3}
    assert (found["apiVersion"], found["kind"]) == ("apps/v1", "Deployment")


def test_what_nobody_has_applied_stays_without() -> None:
    live = reapplied(deployment(), APPLY, partial(changed, changes={IMAGE: "web:2"}))
    assert input_of(live) is None
