"""What is wrong with a patch."""

from __future__ import annotations


class PatchError(ValueError):
    """A patch that cannot be applied; the text is what the API server says."""


class TooLarge(PatchError):
    """A patch that is too large to be tried."""
