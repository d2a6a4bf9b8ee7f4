"""Conversations instead of texts: messages as observations, tool calls as actions."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Mapping, Sequence
from typing import Any, cast, overload

import gymnasium
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from sregym_env.envs.arguments import typed, word
from sregym_env.envs.observation import fit
from sregym_env.envs.spaces import Text
from sregym_env.envs.wrappers.forking import ForkingWrapper, unwrapped
from sregym_env.errors import UsageError
from sregym_env.llm.messages import UNREADABLE, Call, Message
from sregym_env.tools.parse import MAX_CALLS

ChatMessages = tuple[dict[str, Any], ...]
"""Messages as JSON objects of OpenAI's chat format."""

_ROLES = frozenset({"system", "user", "tool"})
_AROUND = 256
"""Characters of a message's JSON besides its content, at most."""


class Messages(spaces.Space[ChatMessages]):
    """A few chat messages that an environment says, together at most ``max_length`` characters long."""

    def __init__(self, max_length: int, seed: Any = None) -> None:
        super().__init__(None, None, seed)
        self.max_length = max_length
        # Escapes double a character at most: nothing that an environment says holds control characters.
        self.wire = Text(2 * max_length + _AROUND * (MAX_CALLS + 2))
        """The space of their JSON, in which they travel between processes."""

    @property
    def is_np_flattenable(self) -> bool:
        """No: they are texts."""
        return False

    def contains(self, x: Any) -> bool:
        """Whether these are messages, and not too long."""
        if not isinstance(x, tuple) or not all(isinstance(each, dict) for each in x):
            return False
        told = all(each.get("role") in _ROLES and isinstance(each.get("content"), str) for each in x)
        return told and sum(len(each["content"]) for each in x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> ChatMessages:
        """One short message of a user."""
        text = Text(min(self.max_length, 64))
        text.seed(int(self.np_random.integers(2**31)))
        return ({"role": "user", "content": text.sample()},)

    def __repr__(self) -> str:
        return f"Messages({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Messages) and self.max_length == other.max_length

    __hash__ = None  # type: ignore[assignment]


class ToolCalls(spaces.Space[Any]):
    """A tool call, ``{"name": ..., "arguments": {...}}`` with an ``id`` or without, or a list of up to 16 of them.

    Any name and any arguments: what a tool makes of them is for the tool to say.
    """

    def __init__(self, tools: Sequence[Mapping[str, Any]], seed: Any = None) -> None:
        super().__init__(None, None, seed)
        self.tools = tuple(dict(tool) for tool in tools)
        """Name and JSON Schema of the arguments (``inputSchema``) of every tool, of which samples are made."""

    @property
    def is_np_flattenable(self) -> bool:
        """No: they are objects."""
        return False

    def contains(self, x: Any) -> bool:
        """Whether this is a call, or a list of some."""
        calls = list(x) if isinstance(x, list | tuple) else [x]
        return 0 < len(calls) <= MAX_CALLS and all(_is_call(each) for each in calls)

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A call of one of the tools with well-typed arguments."""
        tool = self.tools[int(self.np_random.integers(len(self.tools)))]
        properties = tool["inputSchema"]["properties"]
        cause = {"component": ["frontend"], "mechanism": "scaled_to_zero"}
        values = {"integer": int(self.np_random.integers(1, 10)), "string": "get pods -A", "array": [cause]}
        arguments = {name: values[schema["type"]] for name, schema in properties.items()}
        return {"name": tool["name"], "arguments": arguments}

    def __repr__(self) -> str:
        return f"ToolCalls({', '.join(tool['name'] for tool in self.tools)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolCalls) and self.tools == other.tools

    __hash__ = None  # type: ignore[assignment]


def _is_call(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("arguments", {}), dict)
        and isinstance(value.get("id", ""), str)
    )


class ToolCallAction(ForkingWrapper[Any, Any, Any, str]):
    """Takes tool calls as objects: ``env.step({"name": "kubectl", "arguments": {"command": "get pods -A"}})``.

    A list of calls is carried out one after the other in one step; ``env.unwrapped.results`` has the answers one by one.
    Calls without an ``id`` get one, so that answers can be told apart.
    """

    def __init__(self, env: gymnasium.Env[Any, str]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        if not isinstance(env.action_space, Text):
            raise UsageError(f"ToolCallAction says tool calls as text; {env} takes {env.action_space}")
        self.action_space = ToolCalls(unwrapped(env).tools("mcp"))
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        begun = self.env.reset(seed=seed, options=options)
        self._steps = 0
        return begun

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out one call or several. Raises UsageError for what is no call."""
        if not self.action_space.contains(action):
            raise UsageError(
                'an action is {"name": "...", "arguments": {...}} or a list of up to '
                f"{MAX_CALLS} of these, not {str(action)[:200]}"
            )
        self._steps += 1
        calls = [
            Call(
                id=each.get("id") or f"call-{self._steps}-{index}",
                function={"name": each["name"], "arguments": each.get("arguments", {})},  # type: ignore[arg-type]
            )
            for index, each in enumerate(action if isinstance(action, list | tuple) else [action], 1)
        ]
        try:
            said = Message(role="assistant", tool_calls=tuple(calls)).action
        except PydanticSerializationError as error:
            raise UsageError(f"the arguments of a call hold what JSON has no place for: {error}") from None
        observation, reward, terminated, truncated, info = self.env.step(said)
        return observation, float(reward), terminated, truncated, info


class ChatObservation(ForkingWrapper[ChatMessages, str, str, str]):
    """Shows what is new as chat messages: the briefing at first, then the answers to the last action.

    An action in OpenAI's format of tool calls is answered by one ``tool`` message for each call, with its ``id``; any
    other by one message of the user. ``conversation`` is the whole of it, the agent's own words included, as a model
    server wants it. ``system``: a message to begin with.
    """

    def __init__(self, env: gymnasium.Env[Any, str], system: str = "") -> None:
        system = word("system", system) or ""
        RecordConstructorArgs.__init__(self, system=system)
        super().__init__(env)
        unwrapped(env)
        if not isinstance(env.action_space, Text):
            raise UsageError(
                f"ChatObservation reads calls in the words that are said, and {env} takes {env.action_space}: "
                "ToolCallAction(ChatObservation(env)) is the order"
            )
        if not isinstance(env.observation_space, Text):
            raise UsageError(f"ChatObservation makes messages of texts; {env} shows {env.observation_space}")
        self._system = system
        self._said: tuple[dict[str, Any], ...] = ()
        self._room = env.observation_space.max_length + len(system)
        self.observation_space = Messages(self._room)

    @property
    def conversation(self) -> list[dict[str, Any]]:
        """Everything that has been said in this episode, in OpenAI's chat format."""
        return [dict(message) for message in self._said]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ChatMessages, dict[str, Any]]:
        """Begin an episode."""
        briefing, info = self.env.reset(seed=seed, options=options)
        opening: ChatMessages = ({"role": "user", "content": briefing},)
        if self._system:
            opening = ({"role": "system", "content": self._system}, *opening)
        self._said = opening
        return _copied(opening), info

    def step(self, action: str) -> tuple[ChatMessages, float, bool, bool, dict[str, Any]]:
        """One step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        words, calls = _said(typed(action))
        answers = self._answers(calls, str(observation))
        self._said = (*self._said, _spoken(words, calls), *answers)
        return _copied(answers), float(reward), terminated, truncated, info

    def _answers(self, calls: Sequence[Call], observation: str) -> ChatMessages:
        if not calls:
            return ({"role": "user", "content": observation},)
        results = self.sre.results
        if len(calls) == 1 or len(calls) != len(results):
            # Of one, not the environment's own answer: a wrapper may have shortened it. Every call must be answered:
            # what was refused as a whole is told to each.
            results = (observation,) * len(calls)
        if sum(map(len, results)) > self._room:
            results = tuple(fit(result, self._room // len(calls))[0] for result in results)
        return tuple(
            {"role": "tool", "tool_call_id": call.id, "name": call.function.name, "content": result}
            for call, result in zip(calls, results, strict=True)
        )


def _copied(messages: ChatMessages) -> ChatMessages:
    return tuple(dict(message) for message in messages)


def _said(action: str) -> tuple[str, tuple[Call, ...]]:
    """The words and the calls of an action that is an assistant's message with tool calls; of any other the whole text."""
    if not action.lstrip().startswith("{"):
        return action, ()
    try:
        document = json.loads(action)
        calls = tuple(Call.model_validate(_plain(each)) for each in document["tool_calls"])
    except (ValueError, ValidationError, KeyError, TypeError, AttributeError, RecursionError):
        return action, ()
    if len(calls) > MAX_CALLS or any(map(_is_unwieldy, calls)):
        return action, ()
    words = document.get("content")
    return words if isinstance(words, str) else "", calls


def _plain(call: Any) -> Any:
    """A call whose arguments are an object: on the wire they are JSON in a string, or what a model wrote in its place."""
    function = call["function"]
    arguments = function.get("arguments", {})
    if isinstance(arguments, str):
        arguments = _arguments(arguments)
    return {"id": call["id"], "function": {"name": function["name"], "arguments": arguments}}


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {UNREADABLE: text}


def _is_unwieldy(call: Call) -> bool:
    """Whether its answer does not travel between processes: see :data:`_AROUND`."""
    return len(json.dumps([call.id, call.function.name], ensure_ascii=False)) > _AROUND // 2


def _spoken(words: str, calls: Sequence[Call]) -> dict[str, Any]:
    if not calls:
        return {"role": "assistant", "content": words}
    return {
        "role": "assistant",
        "content": words,
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.function.name,
                    "arguments": json.dumps(call.function.arguments, ensure_ascii=False),
                },
            }
            for call in calls
        ],
    }


# --- between processes ----------------------------------------------------------------------------------


@create_shared_memory.register(Messages)
def _create(space: Messages, n: int = 1, ctx: Any = multiprocessing) -> Any:
    return create_shared_memory(space.wire, n, ctx)


@write_to_shared_memory.register(Messages)
def _write(space: Messages, index: int, values: ChatMessages, shared_memory: Any) -> None:
    text: Any = json.dumps(values, ensure_ascii=False)
    write_to_shared_memory(space.wire, index, text, shared_memory)


@read_from_shared_memory.register(Messages)
def _read(space: Messages, shared_memory: Any, n: int = 1) -> SharedMessages:
    return SharedMessages(cast(Sequence[str], read_from_shared_memory(space.wire, shared_memory, n)))


class SharedMessages(Sequence[ChatMessages]):
    """The messages that lie in shared memory now. A deep copy of it is a tuple of what they are then."""

    __slots__ = ("_texts",)

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> ChatMessages: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ChatMessages, ...]: ...
    def __getitem__(self, index: int | slice) -> ChatMessages | tuple[ChatMessages, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        text = self._texts[index]
        # Before anything has been said the memory is empty.
        return tuple(json.loads(text)) if text else ()

    def __deepcopy__(self, _: dict[int, Any]) -> tuple[ChatMessages, ...]:
        return tuple(self)
