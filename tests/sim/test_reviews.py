"""Reviews: what the API server answers when it is asked who may do what."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.cluster.identity import User
from sregym_env.kube.status import StatusError
from sregym_env.sim.apiserver import subresources
from sregym_env.sim.bringup.deploy import bare_cluster

JANE = User("jane", ("developers",))


def review(kind: str, who: User = JANE, **spec: Any) -> Any:
    world = bare_cluster()
    roles = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "developers"}
    world.cluster.create(
        {
            **roles,
            "kind": "RoleBinding",
            "metadata": {"name": "look", "namespace": "default"},
            "roleRef": ref,
            "subjects": [subject],
        }
    )
    manifest = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"namespace": "default"},
        "spec": spec,
    }
    return subresources.review(world, who, manifest)["status"]


def pods(verb: str, namespace: str = "default") -> dict[str, str]:
    return {"verb": verb, "resource": "pods", "namespace": namespace}


def test_why_it_is_allowed() -> None:
    answer = review("SelfSubjectAccessReview", resourceAttributes=pods("list"))
    reason = 'RBAC: allowed by RoleBinding "look/default" of ClusterRole "view" to Group "developers"'
    assert answer == {"allowed": True, "reason": reason}


@pytest.mark.parametrize("asked", [pods("delete"), pods("list", "kube-system")])
def test_what_is_not_allowed(asked: dict[str, str]) -> None:
    assert review("SelfSubjectAccessReview", resourceAttributes=asked) == {"allowed": False}


def test_on_behalf_of_others() -> None:
    asked: dict[str, Any] = {"resourceAttributes": pods("get"), "groups": ["developers"]}
    assert review("SubjectAccessReview", **asked)["allowed"]
    assert review("LocalSubjectAccessReview", **asked)["allowed"]
    assert not review("SubjectAccessReview", resourceAttributes=pods("get"), user="joe")["allowed"]


def test_paths() -> None:
    authenticated = User("jane", ("system:authenticated",))
    answer = review(
        "SelfSubjectAccessReview", authenticated, nonResourceAttributes={"path": "/healthz", "verb": "get"}
    )
    assert answer["allowed"] and answer["reason"].startswith("RBAC: allowed by ClusterRoleBinding ")
    answer = review(
        "SelfSubjectAccessReview", authenticated, nonResourceAttributes={"path": "/metrics", "verb": "get"}
    )
    assert not answer["allowed"]


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        (
            "SelfSubjectAccessReview",
            {},
            'SelfSubjectAccessReview.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: '
            "null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
        (
            "SubjectAccessReview",
            {"resourceAttributes": pods("get")},
            'SubjectAccessReview.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": '
            "at least one of user or group must be specified",
        ),
        (
            "LocalSubjectAccessReview",
            {"resourceAttributes": pods("get", "other"), "user": "jane"},
            "spec.resourceAttributes.namespace must match namespace: default",
        ),
    ],
)
def test_reviews_that_do_not_say_what_they_ask(kind: str, spec: dict[str, Any], message: str) -> None:
    with pytest.raises(StatusError) as raised:
        review(kind, **spec)
    assert raised.value.message == message
