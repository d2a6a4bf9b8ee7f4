"""What ``sregym app check`` finds out about an application of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sregym_env import apps
from sregym_env.apps.folders import load
from sregym_env.cli import terminal
from sregym_env.cli.errors import fail
from sregym_env.cluster.api import World
from sregym_env.cluster.app import App, Component
from sregym_env.cluster.health import JourneyHealth
from sregym_env.cluster.inventory import Inventory
from sregym_env.faults.registry import declarations
from sregym_env.sim.bringup.deploy import deployed_world

_LOG_LINES = 40
"""Of the log of a container that has ended, the end that is shown."""


def check_folder(folder: Path, seconds: float) -> None:
    """Deploy the application in a folder, watch its users for a while, and print what there is to know.

    Raises AppError where its declaration is wrong; ends the command where users are not served.
    """
    made = load(folder)
    apps.demand_free(made.name, folder)
    world = deployed_world(made).fork()
    terminal.print_table([_component(each) for each in made.components])
    print()
    world.advance(seconds)
    health = world.traffic.health(seconds)
    terminal.print_table([_journey(each) for each in health])
    print()
    inventory = Inventory.of(world)
    fitting = Counter({each.name: len(tuple(each.targets.find(inventory))) for each in declarations()})
    terminal.print_table(
        [{"fault": name, "targets": count} for name, count in sorted(fitting.items()) if count]
    )
    hurt = [each.journey for each in health if each.success_ratio < made.slo.of(each.journey).success_ratio]
    for told in _stopped(made, world):
        fail(told)
    if not any(each.requests for each in health):
        fail(f"nobody offers load to {made.name}")
    if hurt:
        fail(f"users are not served: {', '.join(hurt)}")
    print(f"\n{made.name} serves its users; {fitting.total()} pairs. To play it: SREGYM_APPS={folder}")


def _stopped(app: App, world: World) -> Iterator[str]:
    """What is to be said of each container of the application that does not run."""
    for namespace in app.namespaces:
        for pod in world.cluster.list("pods", namespace):
            name = pod["metadata"]["name"]
            for status in pod["status"].get("containerStatuses") or ():
                state, last = status.get("state") or {}, status.get("lastState") or {}
                ended = state.get("terminated") or last.get("terminated") or {}
                if "running" in state or (ended and not ended["exitCode"]):
                    continue
                if not ended:
                    waiting = state.get("waiting") or {}
                    yield f"{name} does not run: {waiting.get('reason', '')} {waiting.get('message', '')}".rstrip()
                    continue
                log = world.cluster.logs(namespace, name, container=status["name"], tail=_LOG_LINES)
                yield f"{name} does not run: it ended with {ended['exitCode']} and said\n{log.rstrip()}"


def _component(component: Component) -> dict[str, Any]:
    needs = [
        f"{each.on}{'' if each.essential else ' (can do without)'}{' (at the start)' if 'start' in each.at else ''}"
        for each in component.dependencies
    ]
    return {
        "component": component.name,
        "kind": component.kind,
        "port": component.port or "",
        "needs": ", ".join(needs),
    }


def _journey(journey: JourneyHealth) -> dict[str, Any]:
    return {
        "journey": journey.journey,
        "requests": round(journey.requests),
        "served": f"{journey.success_ratio:.1%}",
        "mean": f"{journey.latency_seconds * 1000:.1f} ms",
        "errors": "; ".join(journey.errors),
    }
