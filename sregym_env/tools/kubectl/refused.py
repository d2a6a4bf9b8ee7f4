"""Commands about the machine that kubectl runs on: refused, with what to use instead."""

from __future__ import annotations

from collections.abc import Callable

from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure, usage_failure


def _refusal(text: str) -> Callable[[Call], None]:
    def run(call: Call) -> None:
        raise failure(text)

    return run


def _completion(call: Call) -> None:
    """Refuse completion code, which no shell here could use, after what kubectl refuses."""
    if len(call.args) != 1:
        text = "Too many arguments. Expected only the shell type." if call.args else "Shell not specified."
        raise usage_failure(text, "completion")
    if call.args[0] not in ("bash", "zsh", "fish", "powershell"):
        raise usage_failure(f'Unsupported shell type "{call.args[0]}".', "completion")
    raise failure("shell completion is not available in this shell")


REFUSED: tuple[Verb, ...] = (
    Verb(
        "completion",
        "Output shell completion code for the specified shell (bash, zsh, fish, or powershell)",
        _completion,
        group="Settings Commands",
    ),
    Verb(
        "plugin",
        "Provides utilities for interacting with plugins",
        _refusal("unable to find any kubectl plugins in your PATH"),
    ),
)
