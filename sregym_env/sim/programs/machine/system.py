"""A machine's own system, as who is in its files sees it."""

from __future__ import annotations

from sregym_env.cluster.app import Image
from sregym_env.sim.processes.context import ProcessContext

SYSTEM = Image("machine", 0, {}, toolbox="debian")
"""What a machine's own system counts as among images."""


class OnMachine(ProcessContext):
    """A process whose root is that of its machine: who has logged in there, or has come there by ``chroot``."""

    __slots__ = ()

    @property
    def image(self) -> Image:
        """The machine's own system."""
        return SYSTEM
