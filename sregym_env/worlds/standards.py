"""What namespaces say of the Pod Security Standards where nobody is kept out by it."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.runtime.chance import Chance

_PREFIX = "pod-security.kubernetes.io/"

SAID = 0.35
"""How often a namespace says anything of them."""

_WAYS: tuple[tuple[float, Mapping[str, str]], ...] = (
    (0.3, {"warn": "restricted"}),
    (0.25, {"audit": "restricted", "warn": "restricted"}),
    (0.15, {"audit": "restricted", "audit-version": "latest", "warn": "baseline"}),
    (0.15, {"enforce": "privileged"}),
    (0.15, {"enforce": "privileged", "warn": "baseline"}),
)
"""What is said, by mode; nothing of it refuses a pod."""


def labels(chance: Chance) -> dict[str, str]:
    """The labels of one namespace; empty for most."""
    if not chance.yes("said", SAID):
        return {}
    weights = {str(number): weight for number, (weight, _) in enumerate(_WAYS)}
    said = _WAYS[int(chance.weighted("way", weights))][1]
    return {_PREFIX + mode: level for mode, level in said.items()}
