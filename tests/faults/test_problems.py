"""Problems: curated ids, round trips, refusals."""

from __future__ import annotations

import re
from functools import cache

import pytest

from sregym_env import apps
from sregym_env.cluster.inventory import Inventory
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.errors import ProblemError
from sregym_env.faults.problems import HOTEL, FaultChoice, Problem, curated, pair, parsed, problem, struck
from sregym_env.faults.published import ABSENT
from sregym_env.faults.registry import declaration, declarations
from sregym_env.sim.bringup.deploy import deployed_world


@cache
def inventory_of(app: str) -> Inventory:
    return Inventory.of(deployed_world(apps.app(app)))


@pytest.mark.parametrize("each", curated(), ids=lambda p: p.id)
def test_a_curated_problem_can_be_bound(each: Problem) -> None:
    assert each.faults or each.id.startswith("noop_detection_")
    for choice in each.faults:
        app, target = struck(each.app, choice.target)
        instance = declaration(choice.fault).bind(inventory_of(app), target, choice.parameters)
        assert not target or instance.target.name == target


def test_ids_are_unique() -> None:
    ids = [each.id for each in curated()]
    assert len(ids) == len(set(ids)) >= 20


def test_problems_round_trip_as_json() -> None:
    for each in (*curated(), pair("hotel-reservation", "missing_service", "consul")):
        assert Problem.model_validate_json(each.model_dump_json()) == each


def test_the_order_of_parameters_makes_no_other_problem() -> None:
    """Worlds are drawn from a problem's text."""
    given = {"timeout": "50ms", "retries": "30", "more": [{"b": 1, "a": 2}]}
    one, other = (
        Problem(
            id="x", app=HOTEL, faults=(FaultChoice(fault="x", parameters=dict(items)),), noise=dict(items)
        )
        for items in (list(given.items()), list(given.items())[::-1])
    )
    assert one.model_dump_json() == other.model_dump_json()
    assert '"more":[{"a":2,"b":1}]' in one.model_dump_json()


def test_noise_is_off_unless_asked_for() -> None:
    quiet = problem("latent_sector_error")
    assert not quiet.noise_on
    assert quiet.model_copy(update={"noise": {}}).noise_on


def test_an_unknown_problem_is_refused_with_near_ids() -> None:
    with pytest.raises(ProblemError, match="latent_sector_error"):
        problem("latent_sector_eror")
    with pytest.raises(ProblemError, match="no fault"):
        pair("hotel-reservation", "no_such_thing")


def test_the_id_of_a_pair_leads_back_to_it() -> None:
    made = pair("hotel-reservation", "missing_service", "consul")
    assert problem(made.id) == made


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"id": "x"}, "app: Field required"),
        ({"id": "x", "app": "hotel-reservation", "loud": 1}, "loud: Extra inputs"),
        ({"id": "x", "app": "a", "faults": [{"target": "geo"}]}, "faults.0.fault: Field required"),
    ],
)
def test_a_mapping_that_is_no_problem_is_refused_by_field(wrong: dict[str, object], named: str) -> None:
    with pytest.raises(ProblemError, match=named):
        parsed(wrong)


def test_pairs_of_a_target_that_does_not_exist_are_refused_with_near_ones() -> None:
    with pytest.raises(ProblemError, match="did you mean geo"):
        pairs(fault="scale_to_zero", target="goe")


def test_every_published_id_is_played_or_accounted_for() -> None:
    """123 that the benchmark runs and 15 that it has switched off; those without a fault it had once."""
    played = {each.id for each in curated() if each.faults}
    assert not played & set(ABSENT)
    assert len(played) + len(ABSENT) == 138
    known = {each.name for each in declarations()}
    for why in ABSENT.values():
        assert set(re.findall(r"`(\w+)`", why)) <= known | played
