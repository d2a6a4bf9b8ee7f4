"""The validation of pairs: its own tools."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.envs.tasks.pairs import pairs
from sregym_env.rollouts.validate import LINES, Subject, desired, thinned, visible_to_users


@given(st.lists(st.integers()), st.integers(0, 30))
def test_samples_are_spread_and_in_order(items: list[int], sample: int) -> None:
    chosen = thinned(list(enumerate(items)), sample)
    assert len(chosen) == (len(items) if sample == 0 else min(sample, len(items)))
    assert chosen == sorted(chosen)


def test_desired_state_ignores_what_servers_fill_in() -> None:
    before = {
        "kind": "Service",
        "metadata": {"name": "geo", "uid": "1", "resourceVersion": "5"},
        "spec": {"ports": [], "clusterIP": "10.0.0.1"},
        "status": {"loadBalancer": {}},
    }
    after = {
        "kind": "Service",
        "metadata": {"name": "geo", "uid": "2", "labels": {}},
        "spec": {"ports": [], "clusterIP": "10.0.0.2"},
    }
    assert desired(before) == desired(after)
    assert desired(before) != desired({**after, "spec": {"ports": [1]}})


def test_it_looks_at_the_draw_that_an_episode_has() -> None:
    """The first world that is drawn for this seed is one in which no user notices."""
    (problem,) = pairs("hotel-reservation", "service_target_port_mismatch", "consul")
    suffers, who = visible_to_users(Subject(problem, 19))
    assert suffers, who


def test_every_line_says_what_it_means() -> None:
    assert all(line.__doc__ for line in LINES)
    assert len({line.__name__ for line in LINES}) == len(LINES) == 11
