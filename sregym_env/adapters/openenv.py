"""OpenEnv: the environment behind its HTTP and WebSocket server, with discovery of tasks by split.

``uvicorn sregym_env.adapters.openenv:app`` serves it; ``SREGYM_SUITE`` names the suite (``lite``), and
``SREGYM_SESSIONS`` how many sessions one server holds (64). Sessions are environments in threads, which do not know of
each other.
"""

from __future__ import annotations

import os
from typing import Any

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import Field

import sregym_env
from sregym_env.adapters.session import Session, rows
from sregym_env.envs.tasks.splits import SPLITS
from sregym_env.errors import UsageError


class SREGymAction(Action):
    """What the agent does."""

    text: str = Field(description="A bash command line, or a tool call as JSON.")


class SREGymObservation(Observation):
    """What it sees."""

    text: str = Field(default="", description="What was printed; after a reset the briefing.")
    exit_code: int = 0
    error_type: str = ""
    stage: str = ""


class SREGymState(State):
    """Where an episode stands, without what is wrong."""

    sim_time_s: float = 0.0
    commands: int = 0


class SREGymEnvironment(Environment[SREGymAction, SREGymObservation, SREGymState]):
    """An episode at a time, chosen at the reset by ``split`` and ``index``, or by ``problem``.

    A failed judge or world ends an episode with a reward of None and ``trainable: false`` in the metadata.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, suite: str | None = None, **arguments: Any) -> None:
        super().__init__()
        self._suite = suite or os.environ.get("SREGYM_SUITE", "lite")
        self._session = Session(**arguments)
        self._episode_id = ""
        self._steps = 0

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> SREGymObservation:
        """Begin an episode: ``split=`` and ``index=``, or ``problem=``; without either the suite's first."""
        problem = (
            kwargs.get("problem") or self._row(kwargs.get("split", "all"), kwargs.get("index", 0))["problem"]
        )
        text = self._session.begin(problem, 0 if seed is None else seed)
        self._steps = 0
        self._episode_id = episode_id or ""
        return self._observed(text, None)

    def step(self, action: SREGymAction, timeout_s: float | None = None, **kwargs: Any) -> SREGymObservation:
        """Carry an action out."""
        text = self._session.say(action.text)
        self._steps += 1
        return self._observed(text, self._session.reward() if self._session.over else 0.0)

    @property
    def state(self) -> SREGymState:
        """Where the episode stands."""
        info = self._session.info
        if not info:
            return SREGymState()
        return SREGymState(
            episode_id=self._episode_id or None,
            step_count=self._steps,
            sim_time_s=info["sim_time_s"],
            commands=info["commands"],
        )

    def close(self) -> None:
        """Leave the episode."""
        self._session.env.close()

    def get_metadata(self) -> EnvironmentMetadata:
        """What this is."""
        return EnvironmentMetadata(
            name="sregym_env",
            description="Site reliability engineering on an embedded Kubernetes cluster.",
            version=sregym_env.__version__,
        )

    # --- tasks: what they are called says nothing about what is wrong -----------------------------

    def list_splits(self) -> list[str]:
        """The splits, by fault family, and all of the suite."""
        return [*SPLITS, "all"]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """The tasks of a split."""
        return [{"id": f"{split}-{index}", "index": index} for index in range(self.num_tasks(split))]

    def num_tasks(self, split: str) -> int:
        """How many there are."""
        return len(self._rows(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """One of them. Raises IndexError."""
        self._row(split, index)
        return {"id": f"{split}-{index}", "index": index}

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """A slice of them."""
        return self.list_tasks(split)[start:stop]

    def _rows(self, split: str) -> list[dict[str, Any]]:
        if split not in (*SPLITS, "all"):
            raise UsageError(f"no split {split!r}; there are {', '.join((*SPLITS, 'all'))}")
        return rows(self._suite, part=None if split == "all" else split)  # type: ignore[arg-type]

    def _row(self, split: str, index: int) -> dict[str, Any]:
        listed = self._rows(split)
        if not 0 <= index < len(listed):
            raise IndexError(f"split {split} has {len(listed)} tasks, no number {index}")
        return listed[index]

    def _observed(self, text: str, reward: float | None) -> SREGymObservation:
        info = self._session.info
        over = self._session.over
        metadata = {"trainable": info["trainable"], **(self._session.metrics() if over else {})}
        return SREGymObservation(
            text=text,
            exit_code=info["exit_code"],
            error_type=info["error_type"],
            stage=info["stage"],
            done=over,
            reward=reward,
            metadata=metadata,
        )


def __getattr__(name: str) -> Any:
    """``app``, made when a server asks for it."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return create_app(
        SREGymEnvironment,
        SREGymAction,
        SREGymObservation,
        env_name="sregym_env",
        max_concurrent_envs=int(os.environ.get("SREGYM_SESSIONS", "64")),
        state_cls=SREGymState,
    )
