"""The interpreter with what it lacks: errors of every stage of a pipeline, and one budget for a whole run."""

from __future__ import annotations

import random
from typing import Any

from just_bash.interpreter import Interpreter
from just_bash.interpreter import interpreter as module
from just_bash.interpreter.errors import ExecutionLimitError
from just_bash.types import ExecResult as BashResult


class Budget:
    """What the present run has: commands left, subshells included, and where ``$RANDOM`` comes from."""

    left = 0
    chance: random.Random | None = None


class PipelineInterpreter(Interpreter):  # type: ignore[misc]
    """Runs scripts; the standard error of all commands of a pipeline is kept, as a terminal would show it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self._state.random_generator is None:
            self._state.random_generator = Budget.chance
        self._frames: list[tuple[list[Any], list[str]]] = []

    async def execute_statement(self, node: Any) -> BashResult:
        """Run a statement if the budget allows. Raises ExecutionLimitError."""
        Budget.left -= 1
        if Budget.left < 0:
            raise ExecutionLimitError("too many commands executed", "commands")
        return await super().execute_statement(node)

    async def execute_pipeline(self, node: Any) -> BashResult:
        """Run a pipeline and put the errors of its earlier commands before those of the last."""
        commands = node.commands
        if len(commands) == 1:
            return await super().execute_pipeline(node)
        merged = node.pipe_amp or ()
        plain = [c for i, c in enumerate(commands[:-1]) if not (i < len(merged) and merged[i])]
        spilled: list[str] = []
        self._frames.append((plain, spilled))
        try:
            result = await super().execute_pipeline(node)
        finally:
            self._frames.pop()
        if not spilled:
            return result
        return BashResult(result.stdout, "".join(spilled) + result.stderr, result.exit_code)

    async def execute_command(self, node: Any, stdin: str) -> BashResult:
        """Run one command and note its errors for the pipeline it is part of."""
        result = await super().execute_command(node, stdin)
        if self._frames and result.stderr:
            commands, spilled = self._frames[-1]
            if any(node is command for command in commands):
                spilled.append(result.stderr)
        return result


module.Interpreter = PipelineInterpreter
