"""Worlds made anew from one that is kept: the same but for everything that chance has named.

A settled world is dear to make, so few are kept and forked often. What two clusters never share (UIDs, suffixes and
hashes in names, addresses, node ports, ids of containers and machines) and whatever opaque texts the caller names
(credentials, tags, annotations) is exchanged in the fork, everywhere at once; the rest is shared with the kept world.
Time, chance to come, images and what follows from the declaration of the application stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.bringup.renewal import identities
from sregym_env.sim.bringup.renewal.identities import NODE_PORT_FIELDS, Drawn, Identities
from sregym_env.sim.bringup.renewal.mould import Mould, Walk
from sregym_env.sim.bringup.renewal.script import BETWEEN, Reader, Script
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.sim.network.addressing import Present, present
from sregym_env.sim.world.simworld import ENDED
from sregym_env.sim.world.store import Key

_PARTS = (
    "queue",
    "processes",
    "logs",
    "runtime",
    "volumes",
    "disturbances",
    "memory",
    "_due",
    "streams",
    "view",
)
"""Fields of a world that hold identities, beside its store. What the network has derived is no state, but deriving
it anew takes as long as all the rest."""

_DECLARED = ("_app", "images")
"""Fields that hold opaque texts of the application, too, but no identities."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """A settled world, prepared for being drawn again and again under other identities."""

    world: EmbeddedWorld
    """The kept world; nobody may change it."""
    identities: Identities
    texts: tuple[str, ...]
    """The application's opaque texts, in the order of their numbers."""
    script: Script
    mould: Mould

    def draw(self, chance: Chance, texts: Mapping[str, str] | None = None) -> EmbeddedWorld:
        """A world with other identities and with ``texts``, by what they replace; others stay as they are.

        Its future is drawn from the same streams as the kept world's: reseed it.
        """
        return self.with_identities(self.identities.drawn(chance), texts or {})

    def with_identities(self, drawn: Drawn, texts: Mapping[str, str]) -> EmbeddedWorld:
        """A world with these identities. Raises ValueError for a text that was not prepared."""
        unknown = sorted(texts.keys() - {*self.texts})
        if unknown or any(BETWEEN in text for text in texts.values()):
            raise ValueError(f"not prepared for these texts: {unknown}")
        words = [*drawn.words, *(texts.get(text, text) for text in self.texts)]
        tables, parts = self.mould.cast([*self.script.written(words), *drawn.ports, *drawn.last])
        kept = self.world
        # What is the very same is shared, and the world's to copy before it writes.
        tables = {name: table for name, table in tables.items() if table is not kept.store.tables[name]}
        # What each finds out besides is its own, also where it begins as the very same.
        view = replace(
            parts["view"], cache=dict(parts["view"].cache), seen=dict(parts["view"].seen), found={}
        )
        parts = {name: part for name, part in parts.items() if part is not getattr(kept, name)}
        parts["view"] = view
        if "_app" in parts:
            # Elsewhere lies another.
            parts["_app"] = replace(parts["_app"], place="")
        _order(tables.get("endpoints", {}), kept)
        return kept.refilled(parts, tables)


def prepared(world: EmbeddedWorld, texts: Collection[str] = ()) -> Renewal:
    """A settled world, prepared for renewals in which ``texts`` (letters, digits and signs that JSON need not quote)
    may be replaced as well. What the declaration of its application says is kept, but for these texts."""
    kept = world.fork()
    kept.view = _lasting(kept)
    # Who ended before the world was kept is of no interest to those made of it, and has no identities in them.
    kept.memory.pop(ENDED, None)
    # Nor is what its objects once were: two thirds of all that a world holds.
    kept.store.refill({})
    fields = (*_PARTS, *_DECLARED) if texts else _PARTS
    parts = {name: getattr(kept, name) for name in fields}
    walk = Walk((dict(kept.store.tables), parts))
    known = identities.found(kept, "\n".join(walk.strings), "\n".join(_declared(kept)))
    ordered = tuple(sorted({*texts}))
    reader = _reader(known, ordered)
    reader.knows(_secrets(walk), _images(walk, kept) if texts else ())
    pieces = reader.read(walk.strings)
    gaps = {text: index for index, text in enumerate(pieces)}
    ports = {port: len(gaps) + index for index, port in enumerate(known.ports)}
    numbers = dict.fromkeys(NODE_PORT_FIELDS, ports) if ports else {}
    first = len(gaps) + len(ports)
    numbers |= {node.memory: {node.last: first + index} for index, node in enumerate(known.ranges)}
    return Renewal(kept, known, ordered, reader.script(pieces.values()), walk.mould(gaps, numbers))


def renewed(world: EmbeddedWorld, chance: Chance, texts: Mapping[str, str] | None = None) -> EmbeddedWorld:
    """The same world with other identities and other ``texts``, by what they replace. To make several of one world,
    prepare it once."""
    return prepared(world, texts or ()).draw(chance, texts)


def _order(endpoints: Mapping[Key, Manifest], kept: EmbeddedWorld) -> None:
    """Put the addresses of Endpoints that were just made in order, as their controller has them."""
    for key, made in endpoints.items():
        old = kept.store.tables["endpoints"][key]
        for subset, before in zip(made.get("subsets") or (), old.get("subsets") or (), strict=True):
            for field in ("addresses", "notReadyAddresses"):
                listed: list[Manifest] = subset.get(field) or []
                if len(listed) > 1 and listed is not before[field] and _in_order(before[field]):
                    listed.sort(key=_numeric)


def _in_order(listed: Sequence[Manifest]) -> bool:
    return all(_numeric(one) <= _numeric(other) for one, other in pairwise(listed))


def _numeric(entry: Manifest) -> tuple[int, ...]:
    return tuple(int(number) for number in entry["ip"].split("."))


def _lasting(world: EmbeddedWorld) -> Present:
    """What the network derives, without the names that addresses have in reverse, which are not renewed."""
    view = present(world)
    cache = {key: known for key, known in view.cache.items() if not any("arpa" in str(part) for part in key)}
    return replace(
        view, cache=cache, before={}, recent=(), pasts=(), seen_before={}, standing={}, unsure=None, found={}
    )


def _reader(known: Identities, texts: tuple[str, ...]) -> Reader:
    """What finds these identities and texts, numbered in their order."""
    words = known.words()
    numbers = {word: index for index, word in enumerate(words)}
    suffixes = {word: numbers[word] for siblings in known.suffixes for word in siblings}
    alone = {word: index for word, index in numbers.items() if word not in suffixes}
    exact = {text: len(words) + index for index, text in enumerate(texts)}
    return Reader(alone, suffixes, exact, known.first_numbers)


def _declared(world: EmbeddedWorld) -> Iterable[str]:
    """What the declarations of the application and of images say."""
    app = world._app
    return Walk((app and (app.components, app.manifests, app.images), world.images)).strings


def _secrets(walk: Walk) -> Iterator[str]:
    """What Secrets, and ConfigMaps with binary data, hold in base64."""
    for mapping in walk.holding("Secret"):
        if mapping.get("kind") == "Secret":
            yield from (mapping.get("data") or {}).values()
    for mapping in walk.holding("binaryData"):
        yield from (mapping.get("binaryData") or {}).values()


def _images(walk: Walk, world: EmbeddedWorld) -> Iterator[str]:
    """References of images."""
    yield from world.images
    for mapping in walk.holding("image"):
        reference = mapping.get("image")
        if isinstance(reference, str):
            yield reference
