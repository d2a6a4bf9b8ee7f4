"""All knobs, one after the other."""

from __future__ import annotations

from sregym_env.cluster.app import App
from sregym_env.cluster.composed import composed
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation import (
    containers,
    delivery,
    disruption,
    environment,
    identity,
    kernel,
    leftovers,
    probes,
    pulls,
    quotas,
    resources,
    rollout,
    scaling,
    scheduling,
    services,
    traffic_rules,
)
from sregym_env.worlds.variation.draft import Draft

KNOBS = (
    rollout.draw,
    resources.draw,
    probes.draw,
    environment.draw,
    containers.draw,
    scheduling.draw,
    kernel.draw,
    identity.draw,
    pulls.draw,
    services.draw,
    scaling.draw,
    disruption.draw,
    traffic_rules.draw,
    leftovers.draw,
    # The last two look at everything that is there.
    quotas.draw,
    delivery.draw,
)
"""What draws, in order: each changes the draft, and looks only at what those before it leave."""


def vary(app: App, chance: Chance, names: tuple[str, ...] = ()) -> App:
    """Another member of the family of ``app``, equally healthy. The same chance draws the same one.

    Of several in one cluster each varies by itself. ``names`` are those outside the cluster that its name server knows: some of the pods need them.
    """
    if app.parts:
        return composed([vary(part, chance.at(part.name), names) for part in app.parts])
    own = app if app.family is None else app.family(app, chance.at("family"))
    draft = Draft(app, own, names)
    for knob in KNOBS:
        knob(draft, chance)
    return draft.finished()
