"""The validation of pairs: its own tools."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.envs.tasks.pairs import pairs
from sregym_env.faults.problems import Problem
from sregym_env.rollouts import validate
from sregym_env.rollouts.validate import (
    LINES,
    Line,
    Report,
    Subject,
    desired,
    next_for,
    thinned,
    validate_pairs,
    visible_to_users,
)


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


def test_a_process_keeps_to_its_base_worlds_while_it_can() -> None:
    bases = [("shop", 1), ("shop", 2), ("shop", 1), ("shop", 3)]
    owners = {("shop", 1): 0, ("shop", 2): 1}
    assert next_for(0, [1, 2, 3], bases, owners) == 2
    assert next_for(1, [2, 3], bases, owners) == 3
    assert next_for(1, [2], bases, owners) == 2


def stamped(problem: Problem, seed: int) -> Report:
    """A report that says for whom it was made; the pair before the last cannot be checked where the seed is odd."""
    (each,) = problem.faults
    if seed % 2 and each == SOME[-2].faults[0]:
        raise ZeroDivisionError
    return Report(problem.app, each.fault, each.target, (Line("stamped", True, str(seed), 0.0),))


SOME = list(pairs("hotel-reservation", "missing_service"))


def test_several_processes_report_on_every_pair_once_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "validate_pair", stamped)
    seen: list[Report] = []
    reports = validate_pairs(
        app="hotel-reservation",
        fault="missing_service",
        jobs=3,
        seed=4,
        watch=lambda report, total: seen.append(report),
    )
    assert reports == seen == [stamped(problem, 4) for problem in SOME]
    assert len(reports) > 3
    with pytest.raises(ZeroDivisionError):
        validate_pairs(app="hotel-reservation", fault="missing_service", jobs=2, seed=3)
