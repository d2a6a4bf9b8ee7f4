"""The cluster as numbers and a menu, for learners that read and write no text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from sregym_env import apps
from sregym_env.envs.arguments import whole
from sregym_env.envs.spaces import Text
from sregym_env.envs.wrappers.forking import ForkingWrapper, unwrapped
from sregym_env.envs.wrappers.numeric.menu import BY_NAME, Choice, Menu
from sregym_env.envs.wrappers.numeric.scene import Scene
from sregym_env.envs.wrappers.numeric.signals import Layout, layout_of, measure
from sregym_env.errors import ClusterError, UsageError
from sregym_env.faults.mechanisms import MECHANISMS

Observation = NDArray[np.float32]


class NumericView(ForkingWrapper[Observation, np.int64, str, str]):
    """Golden signals of every component in, one entry of a finite menu out.

    The observation is a vector within 0 and 1, laid out as :attr:`layout` says and the same for every problem of an
    application: what can be measured from outside with the agent's own rights (replicas, pods, restarts, endpoints,
    request rates, success, latency, the users' journeys), and nothing of the truth. The action is an entry of
    :attr:`menu`: wait, submit, a generic operation on one component, or a diagnosis (component, mechanism); it is
    carried out as the command line that an engineer would type. ``info["action_mask"]`` tells which entries are
    admissible now, never which would do any good; ``info["choice"]`` names the last. What is not admissible is not
    typed: time passes instead.

    Args:
        env: a :class:`SREGymEnv`, in wrappers that leave its texts alone.
        app: the application all of whose problems are played; fixes the layout.
        verbs: the operations of the menu, of :data:`~sregym_env.envs.wrappers.numeric.menu.VERBS`; all by default.
        mechanisms: the kinds of cause that a diagnosis may name; every one by default.
        operations: how many operations an episode admits. Most of them do no harm where they do no good, so that
            whoever might try each on every component would cure half of the faults without a look.

    Raises UsageError for names and numbers that make no sense, and at a reset to a problem of another application.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        app: str = apps.DEFAULT,
        verbs: Sequence[str] = tuple(BY_NAME),
        mechanisms: Sequence[str] = tuple(MECHANISMS),
        operations: int = 8,
    ) -> None:
        operations = whole("operations", operations, 1)
        RecordConstructorArgs.__init__(
            self, app=app, verbs=tuple(verbs), mechanisms=tuple(mechanisms), operations=operations
        )
        super().__init__(env)
        unwrapped(env)
        if not isinstance(env.action_space, Text):
            raise UsageError(f"NumericView types command lines; {env} takes {env.action_space}")
        self._operations = operations
        self._app = apps.app(app)
        self.menu = Menu.of(self._app, verbs, mechanisms)
        self.layout: Layout = layout_of(self._app)
        self.observation_space = spaces.Box(0.0, 1.0, (self.layout.size,), np.float32)
        self.action_space = spaces.Discrete(len(self.menu.choices))
        self._diagnoses = np.array([choice.verb == "diagnose" for choice in self.menu.choices])
        self._changes = np.array([choice.verb in BY_NAME for choice in self.menu.choices])
        self._submit = self.menu.choices.index(Choice("submit"))
        self._scene: Scene | None = None
        self._stage = "diagnosis"
        self._done = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode."""
        self._scene = None
        _, info = self.env.reset(seed=seed, options=options)
        played = self.sre.episode.staged.app.name
        if played != self._app.name:
            raise UsageError(
                f"this view is laid out for {self._app.name}, the problem is of {played}: NumericView(app={played!r})"
            )
        self.menu = self.menu.sized(self.sre.episode.staged.app)
        self._done = 0
        return self._measured(info), self._told(info, "")

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out one entry of the menu. Raises UsageError for what is none."""
        if self._scene is None:
            raise gymnasium.error.ResetNeeded("call reset() before anything else")
        entry = self._entry(action)
        typed = self.menu.choices[entry] if self.action_mask[entry] else Choice("wait")
        self._done += typed.verb in BY_NAME
        line: Any = self.menu.line(typed, self._scene.parts)
        _, reward, terminated, truncated, info = self.env.step(line)
        try:
            observation = self._measured(info)
        except ClusterError:
            # A cluster that cannot be read any more: nobody learns from that.
            _, reward, terminated, truncated, info = self.sre.finish("infra")
            observation = np.zeros(self.layout.size, np.float32)
        return observation, float(reward), terminated, truncated, self._told(info, str(typed))

    @property
    def action_mask(self) -> NDArray[np.int8]:
        """Which entries of the menu are admissible now: 1 or 0 for each. What ``info["action_mask"]`` holds."""
        mask = np.ones(len(self.menu.choices), np.int8)
        if self._stage != "diagnosis":
            mask[self._diagnoses] = 0
        if self._done >= self._operations:
            mask[self._changes] = 0
        if self.sre.episode.rules.stage == "diagnosis":
            mask[self._submit] = 0
        return mask

    def _entry(self, action: Any) -> int:
        """The index of an entry: an integer, or what a policy's array of a single one holds."""
        index = action.item() if isinstance(action, np.ndarray | np.generic) and action.size == 1 else action
        entries = len(self.menu.choices)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < entries:
            raise UsageError(
                f"an action is the number of an entry of the menu, 0 to {entries - 1}, not {action!r}"
            )
        return index

    def _measured(self, info: dict[str, Any]) -> Observation:
        episode = self.sre.episode
        rules = episode.rules
        self._scene = Scene.of(episode.world)
        replicas = {name: size.replicas for name, size in self.menu.sizes.items()}
        progress = (
            info["sim_time_s"] / rules.time_limit,
            info["commands"] / rules.max_commands,
            float(info["stage"] != "diagnosis"),
        )
        return measure(episode.world, self._scene, replicas, progress)

    def _told(self, info: dict[str, Any], choice: str) -> dict[str, Any]:
        self._stage = info["stage"]
        return {**info, "action_mask": self.action_mask, "choice": choice}
