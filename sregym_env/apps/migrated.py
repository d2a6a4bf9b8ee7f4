"""Later builds of an application's own images that know a column of the database under another name.

They work where the database has been migrated, and there the builds before them fail. Published after those that run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sregym_env.apps.further import STEP, Change, newest, renamed, with_build
from sregym_env.cluster.app import App, Component
from sregym_env.sim.programs.services.peers import Peer
from sregym_env.sim.programs.services.settings import ServiceSettings

MIGRATED = "migrated"
"""What is different about such a build, in :attr:`~sregym_env.cluster.app.Component.builds`."""

Renames = Mapping[str, tuple[tuple[str, str], ...]]
"""(column, its later name) by ``schema.table``."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """One column that a build knows under another name."""

    table: str
    before: str
    after: str


def with_migrated(app: App, renames: Renames) -> App:
    """The application with one more build for each column that gets another name, of the images that speak of it."""
    for index in range(max(map(len, renames.values()))):
        step = {table: pairs[index] for table, pairs in renames.items() if index < len(pairs)}
        app = _with_step(app, step, index)
    return app


def _with_step(app: App, step: Mapping[str, tuple[str, str]], index: int) -> App:
    def name(component: Component, reference: str) -> str:
        number = (index + 3) * STEP
        return renamed(newest(component, reference), f"{MIGRATED}-{index}", number, f"1.{number}.0")

    def change(components: Sequence[Component]) -> Change:
        return lambda settings: replace(
            settings, peers=tuple(_knowing(peer, step) for peer in settings.peers)
        )

    def fits(settings: ServiceSettings) -> bool:
        return any(peer.named(table) for peer in settings.peers for table in step)

    return with_build(app, f"{MIGRATED}-{index + 1}" if index else MIGRATED, name, change, fits)


def _knowing(peer: Peer, step: Mapping[str, tuple[str, str]]) -> Peer:
    def known(table: str, column: str) -> str:
        before, after = step.get(table, ("", ""))
        return after if column == before else column

    return replace(
        peer,
        columns=tuple(
            (table, tuple(known(table, column) for column in columns)) for table, columns in peer.columns
        ),
    )


def columns(app: App, reference: str, service: str) -> Mapping[str, tuple[str, ...]]:
    """The columns that a service's statements name in a build, by table; nothing for an image that there is not."""
    return {
        table: named
        for image in app.images
        if image.reference == reference
        for binary in image.binaries.values()
        if isinstance(binary.settings, ServiceSettings) and binary.settings.name == service
        for peer in binary.settings.peers
        for table, named in peer.columns
    }


def change_of(app: App, reference: str, current: str, service: str) -> Renamed:
    """What one build calls otherwise than another. Raises LookupError where that is nothing."""
    ours, theirs = columns(app, current, service), columns(app, reference, service)
    for table, named in theirs.items():
        for before, after in zip(ours.get(table, ()), named, strict=True):
            if before != after:
                return Renamed(table, before, after)
    raise LookupError(f"{reference} knows no column of {service} under another name than {current}")
