"""What there is to play: suites, splits that nobody can mix up, a curriculum."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sregym_env
from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.tasks.curriculum import Curriculum
from sregym_env.envs.tasks.splits import SPLITS, WAYS, By, family, split, split_of
from sregym_env.envs.tasks.suites import LITE, SMOKE, names, suite
from sregym_env.errors import ProblemError, UsageError
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.problems import FaultChoice, Problem, curated
from sregym_env.faults.registry import declarations


def test_suites_by_name() -> None:
    assert [problem.id for problem in suite("lite")] == list(LITE)
    assert [problem.id for problem in suite("smoke")] == list(SMOKE)
    assert suite("curated") == curated()
    assert suite("all") == sregym_env.pairs()
    assert suite("hotel") == suite("hotel-reservation")
    assert {problem.id for problem in suite("hotel")} >= set(LITE)


def test_the_lite_suite_has_every_family_at_many_places() -> None:
    faults = [choice for problem in suite("lite") for choice in problem.faults]
    assert {family(choice.fault) for choice in faults} == {each.family for each in MECHANISMS.values()}
    assert len({choice.target for choice in faults}) >= 12
    assert max(Counter(choice.fault for choice in faults if "pvc" not in choice.target).values()) == 1


def test_an_unknown_suite_says_what_there_is() -> None:
    with pytest.raises(ProblemError, match=r"no suite 'lit'; did you mean lite.*curated"):
        suite("lit")
    assert "lite" in names()


@pytest.mark.parametrize("by", WAYS)
def test_every_pair_belongs_to_at_most_one_split(by: By) -> None:
    parts = [{problem.id for problem in split(name, by=by)} for name in SPLITS]
    assert all(parts)
    for one, other in combinations(parts, 2):
        assert not one & other


@pytest.mark.parametrize("by", WAYS)
def test_where_a_problem_belongs_depends_on_nothing_else(by: By) -> None:
    whole = {problem.id: name for name in SPLITS for problem in split(name, by=by)}
    for problem in sregym_env.pairs(fault="scale_to_zero"):
        assert split_of(problem, by) == whole.get(problem.id)
        noisy = problem.model_copy(update={"noise": True, "id": "another"})
        assert split_of(noisy, by) == split_of(problem, by)


def test_no_family_and_no_component_stands_on_two_sides() -> None:
    families = [{family(p.faults[0].fault) for p in split(name)} for name in SPLITS]
    targets = [{p.faults[0].target for p in split(name, by="target", problems=sregym_env.pairs(fault="wrong_binary"))}
               for name in SPLITS]  # fmt: skip
    for parts in (families, targets):
        for one, other in combinations(parts, 2):
            assert not one & other


def test_the_places_are_fixed() -> None:
    """Numbers of pairs: a change means that published splits are no longer what they were."""
    found = {
        by: [len(split(name, by=by, problems=sregym_env.pairs("hotel-reservation"))) for name in SPLITS]
        for by in WAYS
    }
    assert found == {"family": [345, 182, 127], "target": [425, 106, 109]}
    assert {family(each.name): split_of(_one(each.name)) for each in declarations()} == {
        "service": "train",
        "names": "train",
        "configuration": "train",
        "credentials": "train",
        "probes": "train",
        "scheduling": "train",
        "startup": "train",
        "images": "validation",
        "admission": "validation",
        "isolation": "test",
        "resources": "test",
        "disks": "test",
    }


def _one(fault: str) -> Problem:
    return Problem(id=fault, app="hotel-reservation", faults=(FaultChoice(fault=fault),))


def test_mechanisms_that_are_akin_are_one_family() -> None:
    for mechanism in MECHANISMS.values():
        assert {MECHANISMS[kin].family for kin in mechanism.kin} <= {mechanism.family}


def test_a_problem_of_several_splits_belongs_to_none() -> None:
    mixed = next(problem for problem in curated() if problem.id == "hotel_res_concurrent_fault")
    assert split_of(mixed) is None


def test_an_environment_keeps_to_its_split() -> None:
    env = SREGymEnv(problems="lite", split="train", raise_errors=True)
    for seed in range(12):
        env.reset(seed=seed)
        assert split_of(Problem.model_validate(env.episode.staged.problem_json)) == "train"
    with pytest.raises(UsageError, match="network_policy_block belongs to the test split by family"):
        env.reset(seed=1, options={"problem": "network_policy_block"})
    with pytest.raises(UsageError, match="no target of network_policy_block belongs to the train split"):
        SREGymEnv(fault="network_policy_block", split="train").reset(seed=1)
    with pytest.raises(UsageError, match="none of the 1 problems belongs to the test split"):
        SREGymEnv(problems=["wrong_bin_usage"], split="test")


def test_how_a_split_is_made_belongs_to_a_split() -> None:
    with pytest.raises(UsageError, match=r"split_by='target' says how a split is made: pass split= as well"):
        SREGymEnv(fault="scale_to_zero", split_by="target")


def test_a_fault_without_a_target_is_drawn_by_the_seed() -> None:
    env = SREGymEnv(fault="scale_to_zero", split="test", split_by="target", raise_errors=True)
    targets = set()
    for seed in range(8):
        env.reset(seed=seed)
        targets.add(env.episode.staged.problem_json["faults"][0]["target"])
    assert targets <= {"rate", "mongodb-rate", "memcached-rate"}
    assert len(targets) > 1


# --- the curriculum -------------------------------------------------------------------------------


def test_what_is_half_learnt_is_drawn_most() -> None:
    problems = suite("lite")
    curriculum = Curriculum(problems, seed=1)
    solved, hopeless, open_ = problems[0], problems[5], problems[6]
    for turn in range(40):
        curriculum.report(solved, 1.0)
        curriculum.report(hopeless, 0.0)
        curriculum.report(open_, float(turn % 2))
    drawn = Counter(problem.id for problem in curriculum.draw(4000))
    assert drawn[open_.id] > 4 * drawn[solved.id] > 0
    assert drawn[open_.id] > 4 * drawn[hopeless.id] > 0
    difficulty = curriculum.difficulty()
    assert difficulty[solved.id] < 0.1 < 0.4 < difficulty[open_.id] < 0.6 < 0.9 < difficulty[hopeless.id]


def test_problems_of_one_fault_teach_each_other() -> None:
    pairs = sregym_env.pairs(fault="wrong_binary")
    curriculum = Curriculum(pairs)
    for problem in pairs[:4]:
        for _ in range(5):
            curriculum.report(problem, 1.0)
    assert curriculum.success(pairs[-1]) > 0.8


def test_old_reports_fade() -> None:
    problem = suite("smoke")[0]
    curriculum = Curriculum([problem])
    for _ in range(30):
        curriculum.report(problem, 0.0)
    for _ in range(30):
        curriculum.report(problem, 1.0)
    assert curriculum.success(problem) > 0.85


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1)), max_size=30), st.integers(0, 30))
def test_a_curriculum_goes_on_from_its_state(reports: list[tuple[int, float]], cut: int) -> None:
    problems = suite("smoke")
    whole, part = Curriculum(problems, seed=3), Curriculum(problems, seed=3)
    for index, success in reports[:cut]:
        whole.report(problems[index], success)
        part.report(problems[index], success)
    assert whole.draw(3) == part.draw(3)
    resumed = Curriculum(problems, seed=99).resumed(json.loads(json.dumps(part.state())))
    with pytest.raises(UsageError, match="no state of a curriculum: it lacks random, seen"):
        Curriculum(problems).resumed({})
    for index, success in reports[cut:]:
        whole.report(problems[index], success)
        resumed.report(problems[index], success)
    assert resumed.draw(5) == whole.draw(5)
    assert all(0.0 <= whole.success(problem) <= 1.0 for problem in problems)


def test_a_state_of_other_problems_is_refused_and_changes_nothing() -> None:
    problems = suite("smoke")
    fewer, all_ = Curriculum(problems[1:]), Curriculum(problems)
    all_.report(problems[0], 1.0)
    known, state = fewer.state(), all_.state()
    with pytest.raises(UsageError, match=rf"over other problems: it knows {problems[0].id}.*does not have$"):
        fewer.resumed(state)
    with pytest.raises(UsageError, match=rf"it knows .*\b{problems[0].id}"):
        fewer.resumed({key: state[key] for key in ("seen", "random")})
    assert fewer.state() == known
    with pytest.raises(UsageError, match=rf"over other problems: it does not know {problems[0].id}$"):
        all_.resumed(known)
    broken: list[tuple[Any, str]] = [
        ({**state, "random": {}}, "no state"),
        ({**state, "seen": 5}, "seen is no mapping"),
        ({**state, "seen": {problems[0].id: 1}}, "no state"),
        ([], "no state"),
    ]
    for wrong, said in broken:
        with pytest.raises(UsageError, match=said):
            all_.resumed(wrong)
    assert all_.state() == state


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_success_is_a_share(wrong: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        Curriculum(suite("smoke")).report(SMOKE[0], wrong)
    with pytest.raises(UsageError, match="not of this curriculum"):
        Curriculum(suite("smoke")).report("latent_sector_error", 1.0)
    with pytest.raises(UsageError, match="at least one problem"):
        Curriculum([])


def test_a_curriculum_says_what_it_takes() -> None:
    words: Any = SMOKE
    with pytest.raises(UsageError, match=r"as sregym_env.suite\(\) returns them, not 'wrong_bin_usage'"):
        Curriculum(words)
    nothing: Any = None
    with pytest.raises(UsageError, match="an episode without an outcome is not reported"):
        Curriculum(suite("smoke")).report(SMOKE[0], nothing)
    with pytest.raises(UsageError, match="count must be a whole number"):
        Curriculum(suite("smoke")).draw(-1)
    curriculum = Curriculum(suite("smoke"))
    share: Any = np.bool_(True)
    curriculum.report(SMOKE[0], share)
    assert json.loads(json.dumps(curriculum.state())) == curriculum.state()
