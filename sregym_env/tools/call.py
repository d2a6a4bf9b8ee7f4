"""What an action is once it is understood: tool calls, and what became of them.

Everything here is a frozen value, so that a trajectory can keep it and a forked environment can share it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ErrorType = Literal["", "parse_error", "unknown_tool", "forbidden", "command_error", "timeout", "infra"]
"""Why an action did not do what it asked; empty when it did."""

SubmissionStage = Literal["", "diagnosis", "mitigation"]
"""What is handed in; empty means "whatever the episode is waiting for"."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool by name."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    """The caller's identifier of the call, if it gave one."""


@dataclass(frozen=True, slots=True)
class Submission:
    """The agent hands something in: its diagnosis in words, or the word that its repair is done."""

    stage: SubmissionStage
    text: str = ""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A line for the agent's workstation."""

    line: str
    tool: str = "shell"
    """The tool that was called."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An action that cannot be carried out, and what to tell the agent about it."""

    text: str
    error_type: ErrorType = "parse_error"
    tool: str = ""


Action = CommandLine | Submission | Refusal
"""What the environment does for one tool call."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What one action left behind."""

    text: str
    exit_code: int = 0
    error_type: ErrorType = ""
    tool: str = ""
    """Which tool ran, for statistics: ``kubectl``, ``curl``, ``shell`` ..."""
    submissions: tuple[Submission, ...] = ()
    """What it handed in, in order."""
    commands: int = 1
    """How many commands it ran that reach beyond the workstation, as a budget counts them: at least one, unless none
    was left."""
