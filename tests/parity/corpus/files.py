"""The working directory of both kubectls."""

from __future__ import annotations

from tests.parity.corpus.kustomizations import KUSTOMIZATIONS
from tests.parity.corpus.manifests import MANIFESTS
from tests.parity.corpus.owning import OWNING_FILES

FILES = {**MANIFESTS, **OWNING_FILES, **KUSTOMIZATIONS}
"""Text of the files by path."""
