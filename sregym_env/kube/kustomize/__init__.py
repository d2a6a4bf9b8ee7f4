"""Building kustomizations, as the kustomize v5.5 inside kubectl does.

:func:`build` reads a directory through a small file interface and returns the objects in the order in which
they are printed; it raises :class:`KustomizeError` with kustomize's own words. Remote resources, plugins, Helm
charts and ``vars`` are refused.
"""

from __future__ import annotations

from sregym_env.kube.kustomize.build import Built, build
from sregym_env.kube.kustomize.errors import KustomizeError
from sregym_env.kube.kustomize.files import Files

__all__ = ["Built", "Files", "KustomizeError", "build"]
