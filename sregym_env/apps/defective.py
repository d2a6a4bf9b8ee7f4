"""A build of every team's own images with a mistake in the program: its services end before they listen.

Published after those that run, and after the one that leaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sregym_env.apps.further import STEP, Change, newest, renamed, with_build
from sregym_env.cluster.app import App, Component

DEFECTIVE = "defective-later"
"""Why such a build does not work, in :attr:`~sregym_env.cluster.app.Component.builds`."""


def with_defective(app: App) -> App:
    """The application with one more build of each image of its stateless services."""

    def change(components: Sequence[Component]) -> Change:
        return lambda settings: replace(settings, slips=True)

    return with_build(app, DEFECTIVE, _after, change)


def _after(component: Component, reference: str) -> str:
    return renamed(newest(component, reference), DEFECTIVE, 2 * STEP, f"1.{2 * STEP}.0")
