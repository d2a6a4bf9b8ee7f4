"""Chat messages: the shape of OpenAI's chat format, with the arguments of tool calls as objects.

The same values are said to a model, recorded in a trajectory and read by a trainer.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["system", "user", "assistant", "tool"]

UNREADABLE = "unreadable_arguments"
"""The one argument of a call whose arguments were no JSON object: the text that the model wrote in their place.

The call stays in the conversation as it was made, and an environment answers what is wrong with it.
"""


class Frozen(BaseModel):
    """Closed, frozen values."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Function(Frozen):
    """A called function and its arguments."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Call(Frozen):
    """One tool call of an assistant."""

    id: str
    type: Literal["function"] = "function"
    function: Function


class Message(Frozen):
    """One chat message.

    An assistant's message may carry tool calls; a ``tool`` message answers the one with its ``tool_call_id``.
    """

    role: Role
    content: str = ""
    reasoning_content: str | None = None
    """What a model thought before it spoke, where the server tells."""
    signed_reasoning: str | None = None
    """The same as the server signed or sealed it: JSON to be sent back unchanged, and to nobody else.

    Anthropic's thinking blocks and OpenAI's encrypted reasoning items; without them a model that thinks between tool
    calls forgets its thoughts, or the server refuses the conversation.
    """
    tool_calls: tuple[Call, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    """Of a ``tool`` message: the tool that answers."""

    @property
    def action(self) -> str:
        """What an environment is told when an assistant says this: its tool calls as JSON, or its words."""
        if not self.tool_calls:
            return self.content
        calls = [call.model_dump(mode="json") for call in self.tool_calls]
        return json.dumps({"tool_calls": calls}, ensure_ascii=False)


def call(identifier: str, name: str, **arguments: Any) -> Call:
    """A tool call."""
    return Call(id=identifier, function=Function(name=name, arguments=arguments))
