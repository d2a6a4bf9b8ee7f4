"""What a policy is: something that reads an observation and acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sregym_env.envs.env import SREGymEnv
from sregym_env.llm.messages import Call, Message
from sregym_env.llm.model import Tokens, Usage


@dataclass(frozen=True, slots=True)
class Turn:
    """What a policy says in one step; ``message.action`` is what the environment is told."""

    message: Message
    tokens: Tokens | None = None
    usage: Usage | None = None
    finish_reason: str | None = None


def turn(thought: str = "", calls: Sequence[Call] = ()) -> Turn:
    """A turn of words and tool calls."""
    return Turn(Message(role="assistant", content=thought, tool_calls=tuple(calls)))


class Policy(Protocol):
    """Something that acts. A policy plays one episode at a time."""

    @property
    def name(self) -> str:
        """What to record about who acted."""
        ...

    @property
    def version(self) -> str:
        """Which version of it."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """What else makes it what it is, as JSON: style, model, sampling; never a key."""
        ...

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> Sequence[Message] | None:
        """An episode starts.

        Returns the messages that open the conversation, the briefing among them; None for the briefing alone, as the
        user's.
        """
        ...

    def act(self, observation: str, info: Mapping[str, Any]) -> str | Turn:
        """The next action. Raises :class:`~sregym_env.llm.model.ModelError` where a model cannot be asked."""
        ...
