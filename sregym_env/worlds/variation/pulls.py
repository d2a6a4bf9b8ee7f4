"""How images come: pull secrets of components' own, what rotations leave of them, and who asks the registry every time."""

from __future__ import annotations

from sregym_env.apps.builds import login
from sregym_env.cluster.app import ImageRegistry
from sregym_env.kube.pulling import PULL_SECRET, canonical, pulling
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import Draft, Work

OWN = 0.7
"""Share of namespaces in which some components have a pull secret of their own: their images came from elsewhere once."""

COUNT = {1: 0.3, 2: 0.35, 3: 0.2, 4: 0.15}
"""How many have one there."""

BESIDE = 0.3
"""How often it stands beside the one that all have, instead of in its place."""

KEPT = 0.6
"""How often what has handed out its login keeps that in a Secret which no pod names."""

ALWAYS = {"most": 0.25, "few": 0.75}
"""Habits of namespaces: who asks the registry at every start."""

_SHARES = {"most": 0.7, "few": 0.08}

_NAMES = ("{name}-pull", "{name}-regcred", "{name}-registry", "regcred-{name}")
_RECORDS = (
    "registry-login-{name}",
    "{name}-robot",
    "vault-{name}-images",
    "{name}-image-access",
    "rotated-{name}-login",
)


def draw(draft: Draft, chance: Chance) -> None:
    """Pull secrets of components' own, and pull policies."""
    for namespace in draft.namespaces:
        own = chance.at("pulls", namespace)
        works = draft.inside(namespace)
        share = _SHARES[own.weighted("always", ALWAYS)]
        for work in works:
            # Who asks takes a moment longer to start, and a registry is missed meanwhile.
            if not work.registry and own.yes(f"policy {work.name}", share):
                work.container["imagePullPolicy"] = "Always"
        if own.yes("own", OWN):
            count = min(own.weighted("count", COUNT), max(1, len(works) // 4))
            for work in words.few(own, "with their own", works, count):
                _given(draft, work, own.at(work.name))


def _given(draft: Draft, work: Work, chance: Chance) -> None:
    """A pull secret of a component's own, with a login that its registry knows."""
    host = canonical(work.container["image"]).partition("/")[0]
    known = login(chance.at("login"), host, chance.choice("owner", words.TEAMS))
    draft.registries.append(ImageRegistry(host, (known,)))
    name = chance.choice("name", _NAMES).format(name=work.name)
    names = [name]
    if chance.yes("kept", KEPT):
        names.append(chance.choice("record", _RECORDS).format(name=work.name))
    for each in names:
        made = words.named("Secret", each, work.namespace, type=PULL_SECRET, data=pulling({host: known}))
        draft.start_with(made)
    common = work.pod.get("imagePullSecrets") or []
    work.pod["imagePullSecrets"] = [*(common if chance.yes("beside", BESIDE) else ()), {"name": name}]
    if not work.registry and chance.yes("asks", 0.7):
        work.container["imagePullPolicy"] = "Always"
