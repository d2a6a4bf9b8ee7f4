"""The field managers under which kubectl writes."""

from __future__ import annotations

CLIENT_SIDE_APPLY = "kubectl-client-side-apply"
SERVER_SIDE_APPLY = "kubectl"
LAST_APPLIED_ANNOTATION = "kubectl-last-applied"

_NAMED = frozenset(
    (
        "annotate", "autoscale", "create", "edit", "expose", "label", "patch", "replace", "run", "set", "taint",
    )
)  # fmt: skip
"""Commands that name themselves."""


def default(command: str) -> str:
    """The manager of a command without ``--field-manager``.

    Commands that name none are known to the server by their program: ``kubectl``.
    """
    words = command.split()
    first = words[0] if words else ""
    if first in _NAMED:
        return f"kubectl-{first}"
    if words in (["rollout", "pause"], ["rollout", "restart"], ["rollout", "resume"]):
        return "kubectl-rollout"
    return CLIENT_SIDE_APPLY if words == ["apply"] else "kubectl"
