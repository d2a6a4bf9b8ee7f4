"""The working directory of both kubectls."""

from __future__ import annotations

from tests.parity.corpus.kustomizations import KUSTOMIZATIONS
from tests.parity.corpus.manifests import MANIFESTS

FILES = {**MANIFESTS, **KUSTOMIZATIONS}
"""Text of the files by path."""
