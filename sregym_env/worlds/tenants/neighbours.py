"""All neighbours of one application: which add-ons, which tenants, which tasks."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.cluster.app import App
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import HOUR, SECOND
from sregym_env.worlds import changes
from sregym_env.worlds.lastapplied import input_of
from sregym_env.worlds.tenants import addons, software
from sregym_env.worlds.tenants.deeds import Deed, Install, Story, joined
from sregym_env.worlds.tenants.delivery import APPLY, ARGO, FLUX, TOOLS
from sregym_env.worlds.tenants.names import namespace_names
from sregym_env.worlds.tenants.observability import NAMESPACE, monitoring
from sregym_env.worlds.tenants.workloads import Span, habits_of, task, tenant

SAME_TOOL = 0.7
"""How often the application's tool is the cluster's."""

MEAN_PODS = 9.0
"""Pods of neighbours in the mean: real clusters have hundreds, which would only cost time here."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Who lives beside an application."""

    story: Story
    tool: str
    """The delivery tool of the cluster."""
    tenants: tuple[str, ...]
    """Namespaces of other teams."""
    registry: str


def neighbourhood(app: App, chance: Chance, span: Span, nodes: int) -> Neighbourhood:
    """Draw the neighbours of an application on a cluster of so many nodes."""
    own_tool = _tool_of(app)
    tool = own_tool if own_tool and chance.yes("one tool", SAME_TOOL) else chance.weighted("tool", TOOLS)
    registry = software.registry_of(chance.at("registry"))
    taken = frozenset((*app.namespaces, "default", "openebs", "monitoring", NAMESPACE))
    budget = 3 + chance.poisson("pods", MEAN_PODS - 3.0)
    own = max(1, round(budget * chance.uniform("share", 0.35, 0.75)))
    names = namespace_names(chance.at("names"), 1 + min(chance.poisson("tenants", 1.1), own - 1, 4), taken)
    stories = [
        _add_ons(
            chance.at("add-ons"), span, tool, nodes, budget - own, afar=_is_delivered_from_afar(app, tool)
        ),
        monitoring(app.namespaces, chance.at("observe"), span),
    ]
    counts = _shares(own, len(names))
    shared = _borrowed(app, chance)
    for index, (name, count) in enumerate(zip(names, counts, strict=True)):
        mine = chance.at("tenant", index)
        theirs = tool if mine.yes("same tool", 0.75) else mine.weighted("tool", TOOLS)
        habits = habits_of(mine.at("habits"), theirs, registry)
        roles = _roles(mine, count)
        story = tenant(name, mine, span, habits, roles, shared if index == 0 else "")
        stories.append(story)
        settled = min(deed.time for deed in story.deeds) + HOUR
        if mine.yes("task", 0.35):
            title = mine.choice(
                "title",
                ("nightly-export", "report", "cleanup", "db-backup", "token-refresh", "sync", "invoice-run"),
            )
            stories.append(task(name, title, mine.at("task"), span, theirs, earliest=settled))
    return Neighbourhood(joined(stories), tool, tuple(names), registry)


def _tool_of(app: App) -> str:
    """What delivers the application, where its marks tell."""
    tool = changes.delivery(app)
    return tool if tool != APPLY or any(map(input_of, app.manifests)) else ""


def _is_delivered_from_afar(app: App, tool: str) -> bool:
    """Whether a tool that delivers the application cannot run in its cluster.

    Flux would put back within minutes whatever somebody changes past it, and Argo CD tells what it delivers either by an
    annotation or by a label.
    """
    if tool == FLUX:
        return changes.delivery(app) == FLUX
    labels = (manifest["metadata"].get("labels") or {} for manifest in app.manifests)
    return tool == ARGO and any("argocd.argoproj.io/instance" in each for each in labels)


def _borrowed(app: App, chance: Chance) -> str:
    """A name that a neighbour shares with a component of the application, in a good third of all worlds."""
    if not chance.yes("borrowed", 0.35):
        return ""
    return chance.choice("name", [c.workload_name for c in app.components if c.kind != "load"])


def _shares(pods: int, tenants: int) -> list[int]:
    return [pods // tenants + (index < pods % tenants) for index in range(tenants)]


def _roles(chance: Chance, count: int) -> list[str]:
    """What a tenant runs: different services, and perhaps a store for them."""
    found = list(
        dict.fromkeys(chance.weighted(f"role{index}", software.ROLES) for index in range(max(1, count)))
    )
    if count > 1 and chance.yes("store", 0.5):
        found[-1] = chance.choice("kind of store", software.STORES).name
    return found


def _add_ons(chance: Chance, span: Span, tool: str, nodes: int, pods: int, *, afar: bool) -> Story:
    """Add-ons in their namespaces, which come first."""
    stories = []
    spaces: dict[str, int] = {}
    for add_on in addons.chosen(chance, tool, nodes, pods, afar=afar):
        mine = chance.at(add_on.release)
        namespace = mine.choice("namespace", add_on.namespaces)
        story = addons.installed(add_on, mine, span, tool, namespace)
        stories.append(story)
        first = min(deed.time for deed in story.deeds)
        spaces[namespace] = min(first, spaces.get(namespace, first))
    made: list[Deed] = []
    for name, time in spaces.items():
        if name != "kube-system":
            namespace_object: Manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            made.append(Deed(time - SECOND, Install((namespace_object,), tool)))
    return joined([Story(tuple(made)), *stories])
