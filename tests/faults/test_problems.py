"""Problems: curated ids, round trips, refusals."""

from __future__ import annotations

import pytest

from sregym_env.cluster.inventory import Inventory
from sregym_env.errors import ProblemError
from sregym_env.faults.problems import Problem, curated, pair, problem
from sregym_env.faults.registry import declaration


@pytest.mark.parametrize("each", curated(), ids=lambda p: p.id)
def test_a_curated_problem_can_be_bound(each: Problem, inventory: Inventory) -> None:
    assert each.faults
    for choice in each.faults:
        instance = declaration(choice.fault).bind(inventory, choice.target, choice.parameters)
        assert not choice.target or instance.target.name == choice.target


def test_ids_are_unique() -> None:
    ids = [each.id for each in curated()]
    assert len(ids) == len(set(ids)) >= 20


def test_problems_round_trip_as_json() -> None:
    for each in (*curated(), pair("hotel-reservation", "missing_service", "consul")):
        assert Problem.model_validate_json(each.model_dump_json()) == each


def test_noise_is_off_unless_asked_for() -> None:
    quiet = problem("latent_sector_error")
    assert not quiet.noise_on
    assert quiet.model_copy(update={"noise": {}}).noise_on


def test_an_unknown_problem_is_refused_with_near_ids() -> None:
    with pytest.raises(ProblemError, match="latent_sector_error"):
        problem("latent_sector_eror")
    with pytest.raises(ProblemError, match="no fault"):
        pair("hotel-reservation", "no_such_thing")
