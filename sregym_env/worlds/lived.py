"""Worlds that have lived: drawn clusters with tenants, a drawn application and a past, one for every episode.

Bringing such a world up takes some tenths of a second. So a number of base worlds is kept per application, and an
episode's world is one that a keyed hash picks, drawn again under other names, addresses, credentials and builds, some
hours later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sregym_env.cluster.app import App
from sregym_env.errors import AppError
from sregym_env.kube.status import StatusError
from sregym_env.runtime import garbage
from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import HOUR
from sregym_env.sim.bringup.plan import cluster_of
from sregym_env.sim.bringup.renewal import Renewal, prepared
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.world.alike import made_one
from sregym_env.worlds import kept, present
from sregym_env.worlds.clusters import ENOUGH_CPU, ENOUGH_MEMORY, drawn_cluster
from sregym_env.worlds.nameserver import drawn_zone
from sregym_env.worlds.past import live
from sregym_env.worlds.variation.vary import vary

BASES = 64
"""Base worlds per application."""

ATTEMPTS = 4
"""How often a base world is drawn anew that turns out not to be healthy."""

GLANCE_SECONDS = 20.0
"""Simulated seconds between looks at the users in the hours of which the agent sees only what is left."""

LATER_SECONDS = (300.0, 3 * 3600.0)
"""How long an episode's world has lived on by itself since its base world was made."""

RESTLESS_PAST = 3 * HOUR
"""How long ago an application is installed at most that never rests, microseconds."""

SECRET_LENGTH = 8
"""Passwords from this length on are drawn anew; a shorter one might be part of something else."""

_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_HEX = "0123456789abcdef"


@dataclass(frozen=True, slots=True)
class _Base:
    """A base world, prepared for being drawn again."""

    app: App
    renewal: Renewal


# Worlds are values here: made of (app, number) alone, so that threads that make one at once make equal ones.
_bases: dict[tuple[str, int], _Base] = {}


def lived_world(app: App, chance: Chance, present: int | None = None) -> EmbeddedWorld:
    """A world with a member of the application's family healthy and under load; it differs for every chance.

    ``present`` is when its base world ends, instead of the drawn instant; such a base world is kept for nobody. Raises
    AppError.
    """
    base = _base(app, base_of(chance)) if present is None else _prepared(app, base_of(chance), present)
    renewal = base.renewal
    world = renewal.draw(chance.at("renewal"), _texts(renewal.world.app, chance.at("texts")))
    world.reseed(chance.bits("seed") >> 1)
    world.advance(chance.uniform("later", *LATER_SECONDS))
    return world


def base_of(chance: Chance) -> int:
    """The number of the base world that an episode's world is drawn from."""
    return chance.below("base", BASES)


def base_world(app: App, number: int) -> EmbeddedWorld:
    """A fork of a base world."""
    return _base(app, number).renewal.world.fork()


def _base(app: App, number: int) -> _Base:
    known = _bases.get((app.name, number))
    # Another application may have the same name.
    if known is None or known.app is not app:
        known = _bases[(app.name, number)] = _found(app, number)
        garbage.keep()
    return known


def _found(app: App, number: int) -> _Base:
    """A base world that another process has kept, or a new one."""
    with garbage.deferred():
        renewal = kept.read(app, number)
    if renewal is not None:
        return _Base(app, renewal)
    made = _prepared(app, number, None)
    kept.write(app, number, made.renewal)
    return made


def _prepared(app: App, number: int, present: int | None) -> _Base:
    with garbage.deferred():
        world = _made(app, number, present)
        return _Base(app, prepared(world, list(_opaque(world.app))))


def _made(app: App, number: int, now: int | None) -> EmbeddedWorld:
    """A base world, brought up by the ordinary API and lived through. Raises AppError."""
    refused = ""
    for attempt in range(ATTEMPTS):
        chance = Chance(("base", app.name, number, attempt))
        # Several applications are as many times what one may need.
        several = max(1, len(app.parts))
        plan = drawn_cluster(chance.at("cluster"), ENOUGH_CPU * several, ENOUGH_MEMORY * several, present=now)
        world = cluster_of(plan)
        if _is_restless(app):
            world.run_until(plan.present - RESTLESS_PAST)
        try:
            zone = drawn_zone(chance.at("zone"))
            varied = vary(app, chance.at("variation"), () if zone is None else zone.names)
            live(world, varied, chance.at("past"), plan.present, zone)
            _condense(world)
            world.watched_every(GLANCE_SECONDS)
            present.before(world, chance.at("before"))
            world.watched_every(1.0)
        except (AppError, StatusError) as error:
            refused = str(error)
        else:
            return world
    raise AppError(
        f"application {app.name}: none of {ATTEMPTS} worlds that were drawn for it is healthy, the last because "
        f"{refused}; play with variation=False, or see which draw of the application harms it"
    )


def _condense(world: EmbeddedWorld) -> None:
    """Halve the room that a world's objects take, and forget what they were before. Nobody can tell."""
    world.store.refill(made_one(world.store.tables))
    # It holds the objects as they were.
    world.view = None


def _is_restless(app: App) -> bool:
    """Whether an operator of the application's own acts by the clock, so that every hour of its past is dear."""
    return any(manifest["kind"] == "CustomResourceDefinition" for manifest in app.manifests)


# --- opaque texts -----------------------------------------------------------------------------------------


def _opaque(app: App) -> Iterator[str]:
    """Texts of an application that mean nothing but themselves: passwords, and references to its own builds."""
    yield from dict.fromkeys((*_passwords(app), *_builds(app)))


def _passwords(app: App) -> Iterator[str]:
    for component in app.components:
        for account in component.accounts:
            if len(account.password) >= SECRET_LENGTH and account.password.isalnum():
                yield account.password


def _builds(app: App) -> Iterator[str]:
    """References that end in a tag of the team's own making: everything in the repositories of its own builds, the
    builds that do not work among it, so that none takes another's name."""
    own = {_repository(build) for each in app.components if each.stateless for build in each.releases}
    for image in app.images:
        if _repository(image.reference) in own and _tag(image.reference):
            yield image.reference


def _repository(reference: str) -> str:
    return reference.removesuffix(_tag(reference)).removesuffix(":")


def _tag(reference: str) -> str:
    """The tag of a reference, if a build number or a commit stands in it."""
    _, colon, tag = reference.rpartition(":")
    return tag if colon and "/" not in tag and any(letter.isdigit() for letter in tag) else ""


def _texts(app: App, chance: Chance) -> Mapping[str, str]:
    """Other texts in the place of the opaque ones: as long, of the same letters, in the same order."""
    found = {text: _password(text, chance.at("password", text)) for text in _passwords(app)}
    shift = chance.between("shift", 0, 7)
    for reference in dict.fromkeys(_builds(app)):
        tag = _tag(reference)
        found[reference] = reference[: -len(tag)] + _other_tag(tag, shift, chance.at("tag", tag))
    return found


def _password(text: str, chance: Chance) -> str:
    letters = _HEX if set(text) <= {*_HEX} else _LETTERS
    return "".join(letters[chance.below(index, len(letters))] for index in range(len(text)))


def _other_tag(tag: str, shift: int, chance: Chance) -> str:
    """A tag of the same style. Numbered ones keep their order: all are moved by as much."""
    if len(tag) >= 7 and set(tag) <= {*_HEX} and not tag.isdigit():
        return "".join(_HEX[chance.below(index, 16)] for index in range(len(tag)))
    head = tag.rstrip("0123456789")
    number = tag[len(head) :]
    if not number:
        return tag
    return f"{head}{int(number) + shift:0{len(number)}d}"
