"""``sregym app``: look at an application of one's own before it is played.

The commands import what they need when they run, as those of :mod:`sregym_env.cli.main` do.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from sregym_env.cli import terminal
from sregym_env.cli.errors import fail, told_errors

app = typer.Typer(name="app", help="Check an application of your own.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Check an application of your own."""


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(help="The folder with app.yaml and manifests.")],
    seconds: Annotated[float, typer.Option(min=1, help="How long the users are watched.")] = 60.0,
) -> None:
    """Say what is missing, deploy it, show its call graph, and count the (fault, target) pairs that fit."""
    from sregym_env.apps.folders import load
    from sregym_env.cluster.inventory import Inventory
    from sregym_env.faults.registry import declarations
    from sregym_env.sim.bringup.deploy import deployed_world

    with told_errors():
        made = load(folder)
        world = deployed_world(made)
        terminal.print_table([_component(each) for each in made.components])
        print()
        world = world.fork()
        world.advance(seconds)
        health = world.traffic.health(seconds)
        terminal.print_table([_journey(each) for each in health])
        print()
        inventory = Inventory.of(world)
        fitting = Counter({each.name: len(tuple(each.targets.find(inventory))) for each in declarations()})
        terminal.print_table(
            [{"fault": name, "targets": count} for name, count in sorted(fitting.items()) if count]
        )
        hurt = [each.journey for each in health if each.success_ratio < made.slo.success_ratio]
        if hurt:
            fail(f"users are not served: {', '.join(hurt)}")
        pairs = fitting.total()
        print(f"\n{made.name} serves its users; {pairs} pairs. To play it: SREGYM_APPS={folder}")


def _component(component: Any) -> dict[str, Any]:
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


def _journey(journey: Any) -> dict[str, Any]:
    return {
        "journey": journey.journey,
        "requests": round(journey.requests),
        "served": f"{journey.success_ratio:.1%}",
        "mean": f"{journey.latency_seconds * 1000:.1f} ms",
        "errors": "; ".join(journey.errors),
    }
