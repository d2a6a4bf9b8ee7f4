"""Where an episode plays: what it takes memory for, and the same as bytes while nobody acts."""

from __future__ import annotations

import pickle
import zlib
from dataclasses import dataclass, replace

from sregym_env.cluster.api import World
from sregym_env.cluster.forkable import demanded
from sregym_env.envs.staged import Staged, Workstation
from sregym_env.errors import UsageError
from sregym_env.rewards.verdict import Verdict

COMPRESSION = 1
"""Of zlib: higher levels take longer than they save (6: three times the time for an eighth of the bytes)."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The world of an episode, and what only makes sense together with it."""

    staged: Staged
    world: World
    workstation: Workstation
    untouched: World | Verdict | None = None
    """The world as it was before the agent came, or the verdict on it, where partial credit asks for that."""

    def fork(self) -> Scene:
        """The same with a world that goes its own way. Raises UsageError where the world cannot be copied."""
        world = demanded(self.world).fork()
        return replace(self, world=world, workstation=self.workstation.fork(world))

    def lasting(self) -> Scene:
        """Without the world as it was staged, of which the scene's own is a later state or a fork."""
        staged = replace(self.staged, world=self.world, workstation=self.workstation)
        return replace(self, staged=staged)


@dataclass(frozen=True, slots=True)
class Packed:
    """A scene that rests: some 300 kB instead of 3.6 MB. Packing and unpacking one take some 20 ms each."""

    content: bytes
    now: int
    """The world's clock, microseconds since 1970."""

    @classmethod
    def of(cls, scene: Scene) -> Packed:
        """Pack a scene. Raises UsageError where its world cannot be: a cluster is no value."""
        demanded(scene.world)
        try:
            content = pickle.dumps(scene.lasting(), pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UsageError(
                f"compact=True: the world of {scene.staged.app.name} cannot be pickled ({error}); give the application "
                "only values and functions of modules, or leave compact out"
            ) from error
        return cls(zlib.compress(content, COMPRESSION), scene.world.now())

    def unpacked(self) -> Scene:
        """The scene, as it was."""
        # Packed in this process by the line above: nothing from outside comes here.
        scene: Scene = pickle.loads(zlib.decompress(self.content))
        return scene
