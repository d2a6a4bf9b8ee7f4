"""Neighbours and oddities as data: names, places, budgets, and that nothing touches the application."""

from __future__ import annotations

from collections import Counter

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, EPOCH, HOUR
from sregym_env.worlds.tenants import software
from sregym_env.worlds.tenants.deeds import Deed, Install, Patch, Remove
from sregym_env.worlds.tenants.delivery import APPLY, LAST_APPLIED, TOOLS, delivery_of, sent
from sregym_env.worlds.tenants.names import WORDS, namespace_names
from sregym_env.worlds.tenants.neighbours import Neighbourhood, neighbourhood
from sregym_env.worlds.tenants.observability import PODS
from sregym_env.worlds.tenants.oddities import ODDITIES, Place, oddities
from sregym_env.worlds.tenants.rarities import RARITIES, rarities
from sregym_env.worlds.tenants.workloads import Span

SPAN = Span(EPOCH - 120 * DAY, EPOCH)
COMPONENTS = {c.name for c in APP.components}
UNBOUND = ("CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
"""Kinds of objects that lie in no namespace."""


def drawn(count: int, app: App = APP) -> list[Neighbourhood]:
    return [neighbourhood(app, Chance(("tenants", n)), SPAN, 4) for n in range(count)]


def made(deeds: tuple[Deed, ...]) -> list[Manifest]:
    return [m for deed in deeds if isinstance(deed.act, Install) for m in deed.act.manifests]


def place() -> Place:
    return Place(
        {"heron": EPOCH - 100 * DAY}, APP.namespace, EPOCH - 90 * DAY, SPAN, APPLY, tuple(COMPONENTS)
    )


def test_there_are_enough_words_and_names_are_different() -> None:
    assert len(WORDS) >= 300
    names = namespace_names(Chance(("names",)), 40, frozenset({"heron"}))
    assert len(set(names)) == len(names) == 40
    assert "heron" not in names


def test_neighbours_are_few_different_and_elsewhere() -> None:
    worlds = drawn(120)
    pods = [world.story.pods - PODS for world in worlds]
    assert 5.0 <= sum(pods) / len(pods) <= 13.0
    assert max(pods) <= 30
    assert len({name for world in worlds for name in world.tenants}) > 90
    assert {world.tool for world in worlds} == set(TOOLS)
    for world in worlds:
        for manifest in made(world.story.deeds):
            metadata = manifest["metadata"]
            assert metadata.get("namespace") not in APP.namespaces
            assert metadata["name"] not in APP.namespaces


def test_a_fifth_of_worlds_shares_a_name_with_the_application() -> None:
    worlds = drawn(120)
    shared = sum(
        any(
            m["kind"] == "Deployment" and m["metadata"]["name"] in COMPONENTS for m in made(world.story.deeds)
        )
        for world in worlds
    )
    assert shared >= 0.2 * len(worlds)


def test_every_image_of_a_neighbour_can_be_pulled() -> None:
    for world in drawn(40):
        for manifest in made(world.story.deeds):
            if manifest["kind"] in ("Deployment", "DaemonSet", "StatefulSet"):
                image = manifest["spec"]["template"]["spec"]["containers"][0]["image"]
                assert image in world.story.images
                binary = world.story.images[image].entrypoint[0]
                assert binary in world.story.images[image].binaries


def test_nothing_is_done_before_its_namespace_is_there() -> None:
    for world in drawn(60):
        there: set[str] = {"kube-system", "default"}
        for deed in sorted(world.story.deeds, key=lambda deed: deed.time):
            assert deed.time >= SPAN.born
            for manifest in deed.act.manifests if isinstance(deed.act, Install) else ():
                if manifest["kind"] == "Namespace":
                    there.add(manifest["metadata"]["name"])
                elif manifest["kind"] not in UNBOUND:
                    assert manifest["metadata"]["namespace"] in there
            if isinstance(deed.act, (Patch, Remove)):
                assert deed.act.target.namespace in there


def test_oddities_are_independent_draws() -> None:
    seen: Counter[str] = Counter()
    bundles = set()
    for number in range(300):
        chance = Chance(("odd", number))
        bundle = tuple(name for name, (rate, _) in ODDITIES.items() if chance.yes(name, rate))
        seen.update(bundle)
        bundles.add(bundle)
    assert set(seen) == set(ODDITIES)
    assert len(bundles) > 200
    for name, (rate, _) in ODDITIES.items():
        assert abs(seen[name] / 300 - rate) < 0.1, name


def test_no_oddity_selects_a_pod_of_the_application() -> None:
    labels = [m["spec"]["template"]["metadata"]["labels"] for m in APP.manifests if m["kind"] == "Deployment"]
    for number in range(120):
        for manifest in made(oddities(place(), Chance(("apart", number))).deeds):
            if manifest["metadata"].get("namespace") != APP.namespace:
                continue
            assert manifest["kind"] not in (
                "NetworkPolicy",
                "ResourceQuota",
                "LimitRange",
                "PodDisruptionBudget",
            )
            selector = manifest.get("spec", {}).get("selector")
            for own in labels:
                assert not (selector and selector.items() <= own.items())
            assert manifest["metadata"]["name"] not in COMPONENTS


def test_oddities_lie_within_the_life_of_their_namespaces() -> None:
    for number in range(120):
        for deed in oddities(place(), Chance(("times", number))).deeds:
            assert SPAN.born <= deed.time < SPAN.present
            for manifest in deed.act.manifests if isinstance(deed.act, Install) else ():
                if manifest["metadata"].get("namespace") == APP.namespace:
                    assert deed.time > EPOCH - 90 * DAY


def test_tools_leave_their_marks() -> None:
    manifest: Manifest = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "n"}}
    seen = []
    for tool in TOOLS:
        marked = delivery_of(Chance(("mark", tool)), tool, "shop").marked(manifest)
        seen.append(sent(marked, tool)["metadata"])
    assert len({str(metadata) for metadata in seen}) >= len(TOOLS) - 1
    assert LAST_APPLIED in sent(manifest, APPLY)["metadata"]["annotations"]


def test_tags_of_a_team_are_in_one_style() -> None:
    styles = {software.tags_of(Chance(("tags", n)), 3)[0][:1] for n in range(60)}
    assert len(styles) > 8
    for n in range(60):
        tags = software.tags_of(Chance(("tags", n)), 4)
        assert len(set(tags)) == len(tags)


def test_a_young_cluster_has_neighbours_too() -> None:
    span = Span(EPOCH - 2 * HOUR, EPOCH)
    for number in range(20):
        world = neighbourhood(APP, Chance(("young", number)), span, 3)
        assert all(deed.time >= span.born for deed in world.story.deeds)
        assert any(deed.time <= span.present for deed in world.story.deeds)


def test_rarities_come_by_their_rates_one_by_one_and_never_touch_the_application() -> None:
    stories = [rarities(place(), Chance(("rare", n))) for n in range(400)]
    shares = {
        name: sum(Chance(("rare", n)).yes(name, rate) for n in range(400)) / 400
        for name, (rate, _) in RARITIES.items()
    }
    assert all(abs(shares[name] - rate) < 0.07 for name, (rate, _) in RARITIES.items())
    kinds: Counter[str] = Counter()
    for story in stories:
        for manifest in made(story.deeds):
            kinds[manifest["kind"]] += 1
            assert manifest["metadata"]["name"] not in COMPONENTS
            if manifest["kind"] in UNBOUND:
                (hook,) = manifest["webhooks"]
                assert hook["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "heron"}
            if manifest["kind"] in ("Deployment", "Service"):
                assert manifest["metadata"]["namespace"] != APP.namespace
    assert {
        "CronJob",
        "Role",
        "RoleBinding",
        "Deployment",
        "Namespace",
        "PriorityClass",
        *UNBOUND[1:],
    } <= set(kinds)


def test_whoever_makes_a_rarity_can_create() -> None:
    for n in range(200):
        for deed in rarities(place(), Chance(("made", n))).deeds:
            if isinstance(deed.act, Install):
                assert deed.act.tool not in ("kubectl-edit", "kubectl-patch")
