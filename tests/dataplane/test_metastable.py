"""Failures that outlive their trigger, and that somebody can end them."""

from __future__ import annotations

import pytest

from tests.dataplane.metastable import after, escapes, trapped, traps

TRAPS = traps()


@pytest.mark.parametrize("name", TRAPS)
def test_the_trigger_is_gone_and_the_collapse_stays_until_somebody_finds_the_way_out(name: str) -> None:
    trap = TRAPS[name]
    healthy, state, stuck = trapped(trap)
    assert healthy > 0.99 and stuck < 0.5
    assert after(trap, state, frozenset()) < 0.5
    found = escapes(trap, state)
    for documented in trap.escapes:
        assert documented in found


@pytest.mark.parametrize("name", ["capacity_decrease_rpc_retry_storm", "cache_flush_capacity_degradation"])
def test_some_need_two_things_at_once(name: str) -> None:
    trap = TRAPS[name]
    _, state, _ = trapped(trap)
    assert all(len(names) == 2 for names in escapes(trap, state))
