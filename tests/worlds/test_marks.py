"""New objects look like what else their maker has made."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds import marks
from sregym_env.worlds.variation import vary

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


# --- releases -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "part"),
    [("geo", "geo"), ("mongodb-geo", "mongodb-geo"), ("geo-pvc", "geo"), ("mongo-geo-script", "geo"), ("geological", ""),
     ("regcred", "")],
)  # fmt: skip
def test_an_object_is_part_of_the_component_that_its_name_names(name: str, part: str) -> None:
    hotel = apps.app(apps.DEFAULT)
    assert marks.part(hotel, name, NAMESPACE) == part
    assert marks.part(hotel, name, "elsewhere") == ""


@pytest.mark.parametrize(
    ("mark", "value", "wanted"),
    [
        (marks.CHART, "geo-1.4.2", {"geo-1.4.3", "geo-1.5.0"}),
        (marks.CHART, "opentelemetry-collector-0.142.9", {"opentelemetry-collector-0.142.10", "opentelemetry-collector-0.143.0"}),
        (marks.NUMBER, "r417", {"r418", "r419", "r420"}),
        (marks.NUMBER, "stable", {"stable"}),
    ],
)  # fmt: skip
def test_the_next_release_counts_on(mark: str, value: str, wanted: set[str]) -> None:
    chances = [Chance(("next", number)) for number in range(40)]
    assert {marks.next_release(mark, value, each, each) for each in chances} == wanted


def test_a_revision_is_another_for_every_object() -> None:
    chance = Chance(("revision",))
    found = {marks.next_release(marks.REVISION, "0a1b2c3d", chance, chance.at(n)) for n in range(20)}
    assert len(found) == 20
    assert all(len(each) == 8 and int(each, 16) >= 0 for each in found)


def test_a_world_knows_no_version_that_most_of_its_objects_have() -> None:
    """Or else whatever the latest release has left out would be among few."""
    for name in apps.bundled():
        for seed in range(6):
            app = vary(apps.app(name), Chance(("world", seed)))
            said: Counter[str] = Counter()
            for manifest in app.manifests:
                labels = manifest["metadata"].get("labels") or {}
                mark = next((each for each in marks.RELEASED if each in labels), None)
                if mark is not None:
                    said[labels[mark].rpartition("-")[2]] += 1
            assert 8 * said.most_common(1)[0][1] < 3 * said.total(), (name, seed, said.most_common(2))
