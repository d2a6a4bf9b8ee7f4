"""Applications of other distributions: found by entry point, and when one is wrong, only it fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cli.listing import LISTINGS
from sregym_env.cluster.app import App, Binary, Image
from sregym_env.cluster.inventory import Inventory
from sregym_env.envs.tasks.pairs import inventory_of, pairs
from sregym_env.errors import AppError, ProblemError
from sregym_env.faults.registry import declarations
from sregym_env.sim.bringup import deploy
from sregym_env.sim.programs.registry import PROGRAMS

PARCELS = apps.app("parcel-tracking")

CACHES: tuple[Any, ...] = (
    apps.names,
    apps.app,
    apps.bundled,
    apps._installed,
    inventory_of,
)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Make a distribution with one entry point and one module, as ``pip install`` would."""

    def installed(name: str, source: str) -> None:
        module = name.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{apps.GROUP}]\n{name} = {module}:APP\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        for cache in CACHES:
            cache.cache_clear()

    modules = set(sys.modules)
    yield installed
    monkeypatch.undo()
    for added in set(sys.modules) - modules:
        del sys.modules[added]
    for cache in CACHES:
        cache.cache_clear()


def test_the_distribution_of_the_tests_is_found() -> None:
    assert apps.names() == ("astronomy-shop", "hotel-reservation", "parcel-tracking", "social-network")
    assert PARCELS.namespaces == ("parcel-web", "parcel-data")


def test_an_unknown_application_is_refused_with_near_names() -> None:
    with pytest.raises(ProblemError, match="did you mean hotel-reservation"):
        apps.app("hotel-reservations")


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("import no_such_module", "no_such_module.*repair it or uninstall"),
        ("APP = 'an application'", "is a str; it must be"),
        (
            "from parcel_tracking import APP",
            "calls itself 'parcel-tracking'; give the entry point that name",
        ),
    ],
)
def test_an_application_that_cannot_be_loaded_is_listed_with_its_trouble(
    install: Callable[[str, str], None], source: str, complaint: str
) -> None:
    install("broken-app", source)
    with pytest.raises(AppError, match=f"application broken-app .*{complaint}"):
        apps.app("broken-app")
    rows = {row["app"]: row for row in LISTINGS["apps"]()}
    assert rows.keys() == {
        "astronomy-shop",
        "broken-app",
        "hotel-reservation",
        "parcel-tracking",
        "social-network",
    }
    assert "broken-app" in rows["broken-app"]["journeys"]
    assert rows["hotel-reservation"]["journeys"] == "search, recommend, user, reserve"


def test_one_that_cannot_be_listed_is_left_out_of_all_pairs_with_a_warning(
    install: Callable[[str, str], None],
) -> None:
    install(
        "broken-app",
        "from dataclasses import replace\nfrom parcel_tracking import APP\n"
        "APP = replace(APP, name='broken-app', components=APP.components[1:])\n",
    )
    with pytest.warns(
        RuntimeWarning, match="left out: application broken-app cannot be listed: KeyError: 'ledger'"
    ):
        listed = pairs(fault="scale_to_zero")
    assert {problem.app for problem in listed} == {
        "astronomy-shop",
        "hotel-reservation",
        "parcel-tracking",
        "social-network",
    }
    with pytest.raises(AppError, match="broken-app"):
        pairs("broken-app")


def changed(**changes: Any) -> App:
    return replace(PARCELS, **{"name": "changed", **changes})


def refused(app: App) -> str:
    with pytest.raises(AppError) as caught:
        deploy._deploy(app, deploy.bare_cluster(0))
    assert app.name in str(caught.value)
    return str(caught.value)


def test_a_program_that_clashes_or_is_unknown_is_refused() -> None:
    assert "program called 'consul', which there is" in refused(changed(programs=(PROGRAMS["consul"],)))
    assert "'parcel_server', which there is not" in refused(changed(programs=()))
    odd = Image("odd:1", 1, {"odd": Binary("nonsense")})
    assert "odd in image odd:1 runs the program 'nonsense'" in refused(changed(images=(odd,)))


def test_a_manifest_that_the_api_refuses_is_named() -> None:
    bad = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "No", "namespace": "parcel-web"}}
    assert "ConfigMap No is refused" in refused(changed(manifests=(*PARCELS.manifests[:2], bad)))


def test_an_object_without_its_definition_is_named() -> None:
    definitions = [m for m in PARCELS.manifests if m["kind"] != "CustomResourceDefinition"]
    assert "Carrier north" in refused(changed(manifests=tuple(definitions)))


def test_one_that_never_becomes_available_says_what_is_missing() -> None:
    images = tuple(image for image in PARCELS.images if "ledger" not in image.reference)
    told = refused(changed(images=images))
    assert "is not available after" in told and "correct its manifests and images" in told
    assert "ledger-0: " in told and "ImagePullBackOff" in told
    assert 'msg="cannot reach ledger.parcel-data:8080' in told


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (
            {"container": "main"},
            "Deployment tracker has no container main; its component must name one of tracker",
        ),
        ({"service_port": 0}, r"Service tracker has no port 8080; .* which of \[80\] leads to it"),
    ],
)
def test_a_component_that_contradicts_its_manifests_is_named(wrong: dict[str, Any], complaint: str) -> None:
    components = tuple(replace(c, **wrong) if c.name == "tracker" else c for c in PARCELS.components)
    inventory = replace(Inventory.of(deploy.deployed_world(PARCELS)), app=changed(components=components))
    with pytest.raises(AppError, match=complaint):
        for each in declarations():
            for target in each.targets.find(inventory):
                each.bind(inventory, target.name)
