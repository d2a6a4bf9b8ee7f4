"""Plans: the same for everybody, opaque where they must be, refused where they make no sense."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.errors import ProblemError, UsageError
from sregym_env.faults.problems import Problem, curated, problem
from sregym_env.rollouts.plan import (
    Group,
    PolicyChoice,
    RunPlan,
    groups,
    member_seed,
    named,
)
from sregym_env.rollouts.runner import Budgets

PROBLEMS = curated()[:6]


def plan(**changes: Any) -> RunPlan:
    """A small plan, differing as told."""
    settings: dict[str, Any] = {"policy": PolicyChoice(name="random"), **changes}
    return RunPlan.of(settings.pop("groups", groups(PROBLEMS[:2])), **settings)


def places(made: tuple[Group, ...]) -> dict[tuple[str, int], tuple[int, str]]:
    """Seed and group id by problem and number of the episode."""
    numbers: dict[str, int] = {}
    found = {}
    for group in made:
        id = group.problem["id"]
        found[id, numbers.setdefault(id, 0)] = (group.seed, group.group_id)
        numbers[id] += 1
    return found


@given(st.permutations(PROBLEMS), st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**31))
def test_seeds_do_not_depend_on_the_order_or_on_what_else_is_played(
    order: list[Problem], kept: int, episodes: int, seed: int
) -> None:
    every = places(groups(PROBLEMS, rounds=episodes, seed=seed))
    some = places(groups(order[:kept], rounds=episodes, seed=seed))
    assert some.items() <= every.items()
    assert len({group_id for _, group_id in every.values()}) == len(every)


def test_groups_are_numbered_in_order() -> None:
    made = groups(PROBLEMS, rounds=3, samples=4)
    assert [group.index for group in made] == list(range(18))
    assert {group.samples for group in made} == {4}
    assert RunPlan.of(made, policy=PolicyChoice(name="random")).episodes == 72


def test_the_seeds_of_a_single_problem_count_up() -> None:
    assert [group.seed for group in groups(PROBLEMS[:1] * 2, rounds=3, seed=5)] == [5, 6, 7]


def test_episodes_are_spread_evenly() -> None:
    made = groups(PROBLEMS[:3], episodes=8, samples=2)
    assert [group.index for group in made] == list(range(8))
    assert list(Counter(group.problem["id"] for group in made).values()) == [3, 3, 2]
    assert len(groups(PROBLEMS[:3], episodes=2)) == 2
    assert set(places(groups(PROBLEMS[:3], episodes=8))) <= set(places(groups(PROBLEMS[:3], rounds=3)))


def test_another_root_seed_gives_other_seeds() -> None:
    one, other = (places(groups(PROBLEMS, seed=seed)) for seed in (1, 2))
    assert not {seed for seed, _ in one.values()} & {seed for seed, _ in other.values()}


def test_group_ids_say_nothing() -> None:
    for group in groups(PROBLEMS):
        assert set(group.group_id) <= set("0123456789abcdef")
        assert len(group.group_id) == 12


def test_members_differ_and_the_first_is_the_episode_itself() -> None:
    seeds = [member_seed(7, sample) for sample in range(50)]
    assert seeds[0] == 7
    assert len(set(seeds)) == 50


@pytest.mark.parametrize("counts", [{"episodes": 0}, {"samples": 0}])
def test_nothing_cannot_be_played_so_often(counts: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="at least 1, not 0"):
        groups(PROBLEMS, **counts)


def test_plans_survive_json() -> None:
    made = plan(env={"noise": True, "reward": {"preset": "sparse"}}, budgets=Budgets(steps=3, tokens=9))
    assert RunPlan.from_json(made.to_json()) == made
    assert made.to_json() == RunPlan.from_json(made.to_json()).to_json()


CHANGES: list[dict[str, Any]] = [
    {"policy": PolicyChoice(name="expert")},
    {"policy": PolicyChoice(name="random", options={"steps": 3})},
    {"env": {"noise": True}},
    {"budgets": Budgets(steps=3)},
    {"digests": True},
    {"timing": True},
    {"groups": groups(PROBLEMS[:3])},
    {"groups": groups(PROBLEMS[:2], seed=1)},
    {"groups": groups(PROBLEMS[:2], samples=2)},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_the_id_is_that_of_the_content(changes: dict[str, Any]) -> None:
    assert plan().run_id == plan().run_id
    assert plan(**changes).run_id != plan().run_id
    assert plan(**changes).differences(plan()) == tuple(changes)


def test_a_plan_is_in_the_order_in_which_it_comes_back() -> None:
    """What a run writes of it is the same, then, whether it was interrupted or not."""
    made = plan(
        policy=PolicyChoice(name="random", options={"steps": 3, "seed": {"b": 1, "a": 2}}),
        env={"stage": "mitigation", "reward": {"preset": "shaped", "gamma": 0.9}},
    )
    back = RunPlan.from_json(made.to_json())
    assert json.dumps(made.policy.options) == json.dumps(back.policy.options)
    assert json.dumps(made.env) == json.dumps(back.env)


def test_what_a_worker_is_told_keeps_the_id() -> None:
    told = plan().without_groups()
    assert (told.run_id, told.groups) == (plan().run_id, ())


@pytest.mark.parametrize("text", ["", "[]", '{"run_id": "x"}'])
def test_other_texts_are_no_plans(text: str) -> None:
    with pytest.raises(UsageError, match="no plan of a run"):
        RunPlan.from_json(text)


def test_a_changed_plan_is_refused() -> None:
    content = json.loads(plan().to_json())
    content["groups"][0]["seed"] += 1
    with pytest.raises(UsageError, match="has been changed"):
        RunPlan.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"env": {"problem": "wrong_bin_usage"}}, "cannot set the environment's 'problem'"),
        ({"env": {"judge": object()}}, "plain JSON"),
        ({"env": {"time_limit": float("nan")}}, "plain JSON"),
        ({"policy": PolicyChoice(name="random", options={"steps": (1, 2)})}, "plain JSON"),
        ({"groups": ()}, "nothing to play"),
    ],
)
def test_what_workers_cannot_be_told_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        plan(**changes)


def test_ids_pairs_and_patterns_name_problems_once() -> None:
    pair = "hotel-reservation/scale_to_zero/geo"
    found = named(["wrong_bin_usage", pair, "*_bin_*", "hotel-reservation/scale_to_zero/*"])
    ids = [each.id for each in found]
    assert ids[:2] == ["wrong_bin_usage", pair]
    assert len(ids) == len(set(ids)) > 4
    assert all(id.startswith("hotel-reservation/scale_to_zero/") for id in ids[1:])
    assert found[0] == problem("wrong_bin_usage")


def test_suites_join_what_is_named() -> None:
    found = [each.id for each in named(["wrong_bin_usage"], ["curated"])]
    assert found[0] == "wrong_bin_usage"
    assert sorted(found) == sorted(each.id for each in curated())


def test_a_suite_that_there_is_not_is_told() -> None:
    with pytest.raises(ProblemError, match="no suite 'lit'"):
        named([], ["lit"])


@pytest.mark.parametrize("word", ["no_such_*", "hotel-reservation/scale_to_zer?/nothing*", "wrong_bin"])
def test_what_names_nothing_is_told(word: str) -> None:
    with pytest.raises(ProblemError):
        named([word])
