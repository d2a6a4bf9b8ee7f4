"""The three patch formats of the API server, and the patches kubectl computes.

All functions are pure and share structure: what a patch does not touch is the same object in the
result, and a patch without effect returns the original object itself.

* :func:`json_patch` - RFC 6902, with the error texts of ``evanphx/json-patch``.
* :func:`merge_patch` - RFC 7386.
* :func:`strategic_merge_patch` - Kubernetes' own, driven by the patch keys of the schema, with
  ``$patch``, ``$setElementOrder``, ``$deleteFromPrimitiveList`` and ``$retainKeys``.
* :func:`two_way` and :func:`three_way` - the strategic patches of ``kubectl edit`` and ``apply``.
* :func:`two_way_merge` and :func:`three_way_merge` - the same as merge patches, for custom resources.
"""

from __future__ import annotations

from sregym_env.kube.patch.errors import PatchError, TooLarge
from sregym_env.kube.patch.rfc6902 import json_patch
from sregym_env.kube.patch.rfc7386 import merge_patch, three_way_merge, two_way_merge
from sregym_env.kube.patch.strategic import strategic_merge_patch
from sregym_env.kube.patch.strategic_diff import three_way, two_way

__all__ = [
    "PatchError",
    "TooLarge",
    "json_patch",
    "merge_patch",
    "strategic_merge_patch",
    "three_way",
    "three_way_merge",
    "two_way",
    "two_way_merge",
]
