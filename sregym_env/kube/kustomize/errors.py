"""What kustomize says of a kustomization it cannot build."""

from __future__ import annotations

from sregym_env.errors import SREGymError


class KustomizeError(SREGymError):
    """A kustomization cannot be built; the text is kustomize's."""
