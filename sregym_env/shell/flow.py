"""What ends a command early."""

from __future__ import annotations


class Flow(Exception):
    """Control leaves a command for another place in the script."""


class Leave(Flow):
    """``break`` and ``continue``: out of so many loops."""

    def __init__(self, levels: int, *, again: bool) -> None:
        self.levels = levels
        self.again = again
        """Whether the outermost of them goes on with its next turn."""


class Return(Flow):
    """``return`` from a function or a sourced script."""

    def __init__(self, code: int) -> None:
        self.code = code


class Exit(Flow):
    """The end of a shell: ``exit``, ``set -e``, or an error after which none goes on."""

    def __init__(self, code: int, *, asked: bool = False) -> None:
        self.code = code
        self.asked = asked
        """Whether somebody typed ``exit``."""


class StopScript(Flow):
    """Raised by a command to end the running script at once, all shells included; what was printed stays."""


class ShellError(Exception):
    """A complaint of the shell itself, in bash's words, that ends what it was doing."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code
