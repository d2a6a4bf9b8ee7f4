"""Commands that need a terminal, a listening port or the local machine: refused, with what to use instead."""

from __future__ import annotations

from collections.abc import Callable

from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import Flag


def _refusal(text: str) -> Callable[[Call], None]:
    def run(call: Call) -> None:
        raise failure(text)

    return run


REFUSED: tuple[Verb, ...] = (
    Verb(
        "edit",
        "Edit a resource on the server",
        _refusal(
            "no interactive editor is available; use 'kubectl patch', 'kubectl set', 'kubectl apply -f FILE' or "
            "'kubectl replace -f FILE'"
        ),
        flags=(
            f.FILENAME,
            f.KUSTOMIZE,
            f.RECURSIVE,
            f.OUTPUT,
            f.SELECTOR,
            Flag("save-config", kind="bool"),
            Flag("subresource"),
            Flag("validate", bare="strict"),
            Flag("output-patch", kind="bool"),
            Flag("field-manager"),
        ),
        group="Basic Commands (Intermediate)",
    ),
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
