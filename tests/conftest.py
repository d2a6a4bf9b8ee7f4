"""What every test shares: property tests are judged by their results, not by the clock of a busy machine.

The suite draws the same examples every time, so that it fails or passes for everybody. The random search has a
profile of its own: ``make fuzz``, or ``pytest -m hypothesis --hypothesis-profile=search``.
"""

from __future__ import annotations

import gc
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "search", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("same")

# Each of some processes keeps all twenty thousand tests, and makes worlds of some hundred thousand objects: hardly any
# of that is ever garbage, and the cycle collector would go through it again and again.
gc.set_threshold(50_000, 20, 20)


PART = 4
"""Of a table that is sampled every run plays one row of so many, the same for everybody."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave most rows of the long tables of whole worlds to ``make thorough``: no two tables leave out the same rows."""
    for item in items:
        if item.get_closest_marker("sampled") and crc32(item.nodeid.encode()) % PART:
            item.add_marker(pytest.mark.exhaustive)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Look for garbage among what tests make, and not among the tests."""
    gc.freeze()
