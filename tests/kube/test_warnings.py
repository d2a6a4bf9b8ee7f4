"""What the API server warns of although it accepts it."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.kube.registry import BUILTIN
from sregym_env.kube.validation.warnings import warnings_of

POD = "spec.template.spec"


def said(key: str, obj: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    resource = BUILTIN.by_key(key)
    assert resource is not None
    return list(warnings_of(resource, obj, old))


def deployment(name: str = "web", container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    pod = {"containers": [{"name": "c", "image": "nginx", **(container or {})}], **spec}
    return {"metadata": {"name": name}, "spec": {"template": {"spec": pod}}}


@pytest.mark.parametrize(
    ("obj", "warning"),
    [
        (
            deployment("a.b"),
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
            "a DNS label is recommended: [must not contain dots]",
        ),
        (
            deployment(nodeSelector={"beta.kubernetes.io/arch": "amd64"}),
            f'{POD}.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead',
        ),
        (
            deployment(container={"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}),
            f'{POD}.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
        ),
        (
            deployment(container={"ports": [{"containerPort": 80}, {"containerPort": 80}]}),
            f"{POD}.containers[0].ports[1]: duplicate port definition with {POD}.containers[0].ports[0]",
        ),
        (
            deployment(container={"resources": {"limits": {"memory": "100m"}}}),
            f"{POD}.containers[0].resources.limits[memory]: "
            'fractional byte value "100m" is invalid, must be an integer',
        ),
    ],
)
def test_warnings(obj: dict[str, Any], warning: str) -> None:
    assert said("deployments.apps", obj) == [warning]
    assert said("deployments.apps", obj, obj) == []


def test_nothing_to_warn_of() -> None:
    extended = [{"name": "PATH", "value": "/bin"}, {"name": "PATH", "value": "$(PATH):/opt"}]
    assert said("deployments.apps", deployment(container={"env": extended})) == []
    assert said("configmaps", {"metadata": {"name": "a.b"}}) == []


def test_the_annotation_of_ingresses() -> None:
    ingress = {"metadata": {"name": "i", "annotations": {"kubernetes.io/ingress.class": "nginx"}}, "spec": {}}
    text = (
        "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"
    )
    assert said("ingresses.networking.k8s.io", ingress) == [text]
