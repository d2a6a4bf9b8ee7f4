"""What an application's services make of the users' usual load: the CPU that each needs, with its collector's part, and how
patiently it calls others."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.apps.further import rate
from sregym_env.cluster.app import App
from sregym_env.sim.programs.services.graph import reached
from sregym_env.sim.programs.services.peers import Policy
from sregym_env.sim.programs.services.runtimes.go import Go
from sregym_env.sim.programs.services.settings import ServiceSettings


def services(app: App) -> Mapping[str, ServiceSettings]:
    """The services of an application's own images, by name; of several builds the one that is listed first."""
    found: dict[str, ServiceSettings] = {}
    for image in app.images:
        for binary in image.binaries.values():
            if isinstance(binary.settings, ServiceSettings):
                found.setdefault(binary.settings.name, binary.settings)
    return found


def cores(app: App, component: str) -> float:
    """Cores that the users' requests take at a component, all its pods together and what they take at rest left out."""
    known = services(app)
    if component not in known:
        return 0.0
    total = 0.0
    for journey in app.journeys:
        entry = next((name for name in journey.through if name in known), "")
        path = f"{journey.method} {journey.path.partition('?')[0]}"
        for operation in sorted(reached(known, entry, path).get(component, ())):
            total += journey.weight * app.rate * known[component].cpu(operation)
    return total


def collector(app: App, component: str) -> str:
    """The variable by which a component's garbage collector is tuned; empty where none is."""
    found = services(app).get(component)
    return found.runtime.percent if found is not None and isinstance(found.runtime, Go) else ""


def collecting(app: App, component: str, percent: float) -> float:
    """Cores that requests take at a component with the part of a collector that runs after so little growth."""
    return cores(app, component) + rate(app, component) * Go.collecting(percent)


def patience(app: App, component: str) -> tuple[Policy | None, tuple[str, ...]]:
    """(the settings of a component's RPC clients, those whom it calls by them); nothing where it has none."""
    own = services(app).get(component)
    called = [] if own is None else [peer for peer in own.peers if isinstance(peer.retries, Policy)]
    policy = called[0].retries if called else None
    assert policy is None or isinstance(policy, Policy)
    return policy, tuple(peer.name for peer in called)
