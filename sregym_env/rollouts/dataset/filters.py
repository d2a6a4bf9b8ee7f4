"""Which episodes are wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, get_args

from sregym_env.envs.rules import ExitReason
from sregym_env.errors import UsageError
from sregym_env.llm.messages import Message
from sregym_env.rollouts.record import EpisodeRecord

EXIT_REASONS: Final = tuple(reason for reason in get_args(ExitReason) if reason)
"""Why an episode can be over."""

CHARS_PER_TOKEN: Final = 3
"""A rough guess that rather counts too many: listings of pods, addresses and logs take more tokens than prose."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Everything that must hold of an episode; what is None or empty does not matter."""

    success: bool | None = None
    trainable: bool | None = None
    min_return: float | None = None
    exit_reasons: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    max_tokens: int | None = None
    """Of the whole conversation, :func:`estimated`."""

    def __post_init__(self) -> None:
        """Raises UsageError for a return that nothing can be compared with, and for an exit reason that no episode can have."""
        if self.min_return is not None and not isfinite(self.min_return):
            raise UsageError(f"min_return must be a finite number, not {self.min_return!r}")
        for reason in self.exit_reasons:
            if reason not in EXIT_REASONS:
                raise UsageError(f"no exit reason {reason!r}; there are {', '.join(EXIT_REASONS)}")

    def wants(self, record: EpisodeRecord) -> bool:
        """Whether a record passes."""
        return not any(self._objections(record))

    def to_dict(self) -> dict[str, Any]:
        """What matters, as JSON."""
        given = {name: getattr(self, name) for name in self.__slots__}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value not in (None, ())
        }

    def _objections(self, record: EpisodeRecord) -> Iterator[bool]:
        yield self.success is not None and record.success != self.success
        yield self.trainable is not None and record.trainable != self.trainable
        yield self.min_return is not None and (record.return_ is None or record.return_ < self.min_return)
        yield bool(self.exit_reasons) and record.exit_reason not in self.exit_reasons
        yield bool(self.policies) and record.policy.name not in self.policies
        yield self.max_tokens is not None and estimated(record) > self.max_tokens


def estimated(record: EpisodeRecord) -> int:
    """About how many tokens the conversation and the tools' schemas take."""
    told = sum(_chars(message) for message in record.messages)
    return (told + len(str(record.tools))) // CHARS_PER_TOKEN


def _chars(message: Message) -> int:
    calls = sum(len(str(call.function.arguments)) + len(call.function.name) for call in message.tool_calls)
    return len(message.content) + len(message.reasoning_content or "") + calls
