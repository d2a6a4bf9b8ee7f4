"""What every test shares: property tests are judged by their results, not by the clock of a busy machine.

The suite draws the same examples every time, so that it fails or passes for everybody. The random search has a
profile of its own: ``make fuzz``, or ``pytest -m hypothesis --hypothesis-profile=search``.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "search", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("same")
