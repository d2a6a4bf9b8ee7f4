"""What an environment answered, as the messages that answer an assistant's."""

from __future__ import annotations

from sregym_env.envs.env import SREGymEnv
from sregym_env.llm.messages import Message


def answers(env: SREGymEnv, said: Message) -> list[Message]:
    """The answers to the message that the environment has just been told: one for every tool call by its id, or one of
    the user."""
    calls = said.tool_calls
    if not calls:
        return [Message(role="user", content=env.observation)]
    results = env.results
    if len(results) != len(calls):
        # Every call must be answered; what was refused as a whole is told to each.
        results = (env.observation,) * len(calls)
    return [
        Message(role="tool", content=text, tool_call_id=call.id, name=call.function.name)
        for call, text in zip(calls, results, strict=True)
    ]
