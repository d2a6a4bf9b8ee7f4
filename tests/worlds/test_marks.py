"""New objects look like what else their maker has made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest
from sregym_env.worlds import marks

NAMESPACE = "hotel-reservation"
HELM = {"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "backend-1.2.3"}
RELEASE = {"meta.helm.sh/release-name": "backend", "meta.helm.sh/release-namespace": NAMESPACE}
FLUX = {"kustomize.toolkit.fluxcd.io/name": "backend", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
ARGO = "argocd.argoproj.io/tracking-id"


def config(name: str, **metadata: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE, **metadata},
        "data": {},
    }


def app(*manifests: Manifest) -> App:
    return replace(apps.app(apps.DEFAULT), manifests=manifests, place="")


@pytest.mark.parametrize(
    ("labels", "annotations", "expected"),
    [
        (HELM, RELEASE, (HELM, RELEASE)),
        (FLUX, {}, (FLUX, {})),
        (
            {},
            {ARGO: f"backend:/ConfigMap:{NAMESPACE}/old"},
            ({}, {ARGO: f"backend:/ConfigMap:{NAMESPACE}/new"}),
        ),
        ({}, {}, ({}, {})),
    ],
)
def test_what_a_pipeline_delivers_bears_its_marks(
    labels: dict[str, str], annotations: dict[str, str], expected: tuple[dict[str, str], dict[str, str]]
) -> None:
    siblings = app(config("old", labels=labels, annotations=annotations))
    for made in (config("new"), config("new", labels=labels, annotations=annotations)):
        metadata = marks.delivered(siblings, made)["metadata"]
        assert (metadata.get("labels") or {}, metadata.get("annotations") or {}) == expected


def test_what_a_hand_makes_bears_none_though_it_be_a_copy() -> None:
    copied = config("new", labels={**HELM, "tier": "db"}, annotations={**RELEASE, ARGO: "x:/ConfigMap:y/old"})
    assert marks.by_hand(copied) == config("new", labels={"tier": "db"})


def test_labels_that_all_of_a_kind_bear_are_borne_too() -> None:
    siblings = app(
        *(
            config(name, labels={"team": "core", "name": name}, annotations={"kompose.cmd": "x"})
            for name in "ab"
        )
    )
    metadata = marks.delivered(siblings, config("new"))["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == ({"team": "core"}, {"kompose.cmd": "x"})
    one = app(config("a", labels={"team": "core"}))
    assert marks.delivered(one, config("new")) == config("new")


def test_other_kinds_and_namespaces_tell_where_there_is_nothing_nearer() -> None:
    elsewhere = config("old", labels=FLUX)
    elsewhere["metadata"]["namespace"] = "elsewhere"
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": NAMESPACE},
        "spec": {},
    }
    assert marks.delivered(app(elsewhere), quota)["metadata"]["labels"] == FLUX
