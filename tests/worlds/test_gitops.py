"""Delivery tools that run in drawn clusters: what they keep there agrees with what they have delivered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.world.store import Key
from sregym_env.tools.kubectl import Kubectl
from sregym_env.worlds import lived
from sregym_env.worlds.changes import delivery
from sregym_env.worlds.lastapplied import ARGO, input_of
from sregym_env.worlds.lived import base_world
from sregym_env.worlds.marks import TRACKED
from sregym_env.worlds.tenants import software
from sregym_env.worlds.tenants.addons import ADD_ONS, DELIVERERS
from sregym_env.worlds.tenants.delivery import FLUX
from sregym_env.worlds.tenants.gitops import APPLICATIONS, GIT_REPOSITORIES, KUSTOMIZATIONS

LOOKED_AT = 24
"""Base worlds in which those are looked for that have a delivery tool in them."""


@lru_cache(maxsize=1)
def worlds() -> dict[str, list[EmbeddedWorld]]:
    """Some base worlds by the add-on that delivers to them: two of each."""
    found: dict[str, list[EmbeddedWorld]] = {"argocd": [], "flux-system": []}
    for number in range(LOOKED_AT):
        world = base_world(APP, number)
        names = {each["metadata"]["name"] for each in world.cluster.list("namespaces")}
        for place in found.keys() & names:
            found[place].append(world)
    return {place: known[:3] for place, known in found.items()}


def objects(world: EmbeddedWorld) -> Iterator[tuple[str, Key, Manifest]]:
    """Everything that somebody may have delivered; what controllers make of it bears its labels too."""
    for resource in world.store.resources():
        if resource in (
            "pods",
            "replicasets.apps",
            "endpoints",
            "endpointslices.discovery.k8s.io",
            "controllerrevisions.apps",
            "events",
            "jobs.batch",
        ):
            continue
        for each in world.store.list(resource):
            yield (
                resource,
                (each["metadata"].get("namespace", ""), each["metadata"]["name"]),
                each,
            )


def test_such_clusters_are_drawn() -> None:
    assert all(worlds().values())
    assert any(delivery(world.app) == ARGO for world in worlds()["argocd"])


def test_there_is_an_application_for_everything_that_argo_cd_delivers() -> None:
    for world in worlds()["argocd"]:
        known = {each["metadata"]["name"]: each for each in world.cluster.list(APPLICATIONS)}
        listed = {
            (name, each["kind"], each.get("namespace", ""), each["name"])
            for name, application in known.items()
            for each in application["status"]["resources"]
        }
        for _, (namespace, name), found in objects(world):
            mark = (found["metadata"].get("annotations") or {}).get(TRACKED, "")
            if mark:
                assert (mark.partition(":")[0], found["kind"], namespace, name) in listed
        for application in known.values():
            status = application["status"]
            assert status["health"]["status"] in ("Healthy", "Progressing")
            assert [each["id"] for each in status["history"]] == sorted(
                each["id"] for each in status["history"]
            )
            times = [each["deployedAt"] for each in status["history"]]
            assert times == sorted(times)
            assert times[0] >= application["metadata"]["creationTimestamp"]


def test_what_is_synced_is_what_was_applied_and_nothing_else_is() -> None:
    """``kubectl diff`` of what was applied last finds the same."""
    away = 0
    for world in worlds()["argocd"]:
        cluster = world.fork().cluster
        kubectl = Kubectl(cluster, APP.namespace)
        for application in cluster.list(APPLICATIONS):
            for entry in application["status"]["resources"]:
                kind = f"{entry['kind'].lower()}s" + (f".{entry['group']}" if "group" in entry else "")
                kind = {"networkpolicys.networking.k8s.io": "networkpolicies.networking.k8s.io"}.get(
                    kind, kind
                )
                live = cluster.get(kind, entry["name"], entry.get("namespace"))
                text = input_of(live)
                assert text is not None
                done = kubectl.run(["diff", "-f", "-"], text)
                assert done.exit_code in (0, 1)
                changed = [
                    line for line in done.stdout.splitlines()
                    if line.startswith(("+ ", "- ")) and "generation:" not in line and "replicas:" not in line
                ]  # fmt: skip
                assert bool(changed) == (entry["status"] == "OutOfSync"), (entry, done.stdout)
                away += entry["status"] == "OutOfSync"
    assert away


def test_there_is_a_kustomization_for_everything_that_flux_delivers() -> None:
    for world in worlds()["flux-system"]:
        assert delivery(world.app) != FLUX
        known = {each["metadata"]["name"]: each for each in world.cluster.list(KUSTOMIZATIONS)}
        (repository,) = world.cluster.list(GIT_REPOSITORIES)
        revision = repository["status"]["artifact"]["revision"]
        for _, (namespace, name), found in objects(world):
            labels = found["metadata"].get("labels") or {}
            if "kustomize.toolkit.fluxcd.io/name" in labels:
                kustomization = known[labels["kustomize.toolkit.fluxcd.io/name"]]
                held = {each["id"] for each in kustomization["status"]["inventory"]["entries"]}
                group = found["apiVersion"].rpartition("/")[0]
                assert f"{namespace}_{name}_{group}_{found['kind']}" in held
        for each in known.values():
            (ready,) = each["status"]["conditions"]
            assert (ready["status"], each["status"]["lastAppliedRevision"]) == ("True", revision)


def test_commits_are_others_in_every_world() -> None:
    """Worlds that are made of one base world share none."""
    seen: list[set[str]] = []
    number = 0
    base = next(n for n in range(LOOKED_AT) if base_world(APP, n).store.holds(APPLICATIONS))
    while len(seen) < 2:
        chance = Chance(("commits", number))
        number += 1
        if lived.base_of(chance) != base:
            continue
        world = lived.lived_world(APP, chance)
        seen.append(
            {
                each["revision"]
                for application in world.cluster.list(APPLICATIONS)
                for each in application["status"]["history"]
            }
        )
    assert seen[0]
    assert len(seen[0]) == len(seen[1])
    assert not seen[0] & seen[1]


STAMPED = re.compile(r"\{(klog|calico|iso|milli|micro|slashes6?|redis|clock|epoch):[0-9.]+\}")


@pytest.mark.parametrize(
    "what",
    [*software.STORES, *(piece.what for add_on in (*ADD_ONS, *DELIVERERS.values()) for piece in add_on.pieces)],
    ids=lambda what: what.name,
)  # fmt: skip
def test_lines_bear_the_time_at_which_they_are_written(what: software.Software) -> None:
    plain = ("  Starting broker", "MinIO Object", "API: http", "NGINX Ingress controller")
    for line in what.lines:
        assert STAMPED.search(line) or line.startswith(plain)
        assert not re.search(r"\b202[4-9]\b|\bI0101\b", line)
