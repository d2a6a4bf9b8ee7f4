"""What can go wrong with an expression, in the words of cel-go."""

from __future__ import annotations


class CelError(Exception):
    """An evaluation that failed: ``no such key: a``, ``division by zero`` ..."""


class CostExceeded(CelError):
    """An evaluation that was cut off because it took too much."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class CompileError(Exception):
    """An expression that does not parse or whose types do not fit; the text is cel-go's, with a caret."""


def located(source: str, position: int, text: str) -> str:
    """One problem as cel-go prints it: line, column, the line itself and a caret below."""
    before = source[:position]
    row = before.count("\n")
    column = len(before) - (before.rfind("\n") + 1)
    line = source.split("\n")[row]
    return f"ERROR: <input>:{row + 1}:{column + 1}: {text}\n | {line}\n | {'.' * column}^"
