"""Commands about the machine that kubectl runs on: refused, with what to use instead."""

from __future__ import annotations

from collections.abc import Callable

from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure


def _refusal(text: str) -> Callable[[Call], None]:
    def run(call: Call) -> None:
        raise failure(text)

    return run


REFUSED: tuple[Verb, ...] = (
    Verb(
        "completion",
        "Output shell completion code for the specified shell (bash, zsh, fish, or powershell)",
        _refusal("shell completion is not available in this shell"),
        group="Settings Commands",
    ),
    Verb(
        "plugin",
        "Provides utilities for interacting with plugins",
        _refusal("unable to find any kubectl plugins in your PATH"),
    ),
)
