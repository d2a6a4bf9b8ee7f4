"""Ids of the curated problems, in the order in which they are listed.

Kept apart from their definitions so that ``import sregym_env`` registers environments without importing the
fault library; a test holds the two lists equal.
"""

from __future__ import annotations

CURATED: tuple[str, ...] = ()
