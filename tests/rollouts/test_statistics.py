"""Rates, means and comparisons: what they count, and how sure they are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.errors import UsageError
from sregym_env.llm.model import Usage
from sregym_env.rollouts.intervals import (
    Z,
    difference_of_rates,
    effective_samples,
    mean,
    rate,
    sign_test,
    student,
    wilson,
)
from sregym_env.rollouts.record import EpisodeRecord, Failure, Package, Producer
from sregym_env.rollouts.statistics import compare, ranked, summarise

OUTCOMES = st.lists(st.booleans(), min_size=1, max_size=40)
PAIRED = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), min_size=1, max_size=40)


def played(task: str = "t0", success: bool = False, **given: Any) -> EpisodeRecord:
    """A record without a story."""
    failure = None if success else Failure(kind="agent", reason="not_repaired")
    values: dict[str, Any] = {
        "rollout_id": "r",
        "task_id": task,
        "episode_id": f"{task}-{given.get('seed', 0)}",
        "seed": 0,
        "config": {"stage": "e2e"},
        "policy": Producer(name="expert"),
        "package": Package(sregym_env="0", python="3"),
        "messages": (),
        "steps": (),
        "return_": 1.0 if success else 0.2,
        "reward_terms": {},
        "success": success,
        "exit_reason": "submitted",
        "failure": failure,
        "trainable": True,
        "diagnosis": "it broke",
        "grade": {"passed": True, "score": 0.9},
        "oracle": {"passed": success, "score": 1.0},
        "ttd_s": 60.0,
        "ttm_s": 120.0,
        "sim_time_s": 130.0,
        "commands": 10,
        "usage": None,
        "final_digest": "",
    }
    return EpisodeRecord(**{**values, **given})


def void(kind: str = "world", reason: str = "rate_limited", **given: Any) -> EpisodeRecord:
    """An episode that something else than the agent ended."""
    failure = Failure(kind=kind, reason=reason)  # type: ignore[arg-type]
    return played(failure=failure, trainable=False, return_=None, exit_reason="infra", **given)


# --- intervals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (50, 100, 0.4038, 0.5962), (1, 1, 0.2065, 1.0)],
)
def test_wilsons_interval_is_the_published_one(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.7062), (2, 4.3027), (3, 3.1824), (10, 2.2281), (31, 2.0395), (10**6, Z)]
)
def test_students_quantiles_are_the_tabulated_ones(freedom: int, quantile: float) -> None:
    assert student(freedom) == pytest.approx(quantile, abs=1e-4)


@given(OUTCOMES)
def test_a_rates_interval_holds_it_and_stays_a_rate(outcomes: list[bool]) -> None:
    estimate = rate(outcomes, range(len(outcomes)))
    assert estimate is not None and estimate.low is not None and estimate.high is not None
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.low < estimate.high


@given(OUTCOMES)
def test_a_rates_interval_mirrors(outcomes: list[bool]) -> None:
    one = rate(outcomes, range(len(outcomes)))
    other = rate([not outcome for outcome in outcomes], range(len(outcomes)))
    assert one is not None and other is not None
    assert (one.low, one.high) == pytest.approx((1 - (other.high or 0), 1 - (other.low or 0)), abs=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=40))
def test_samples_of_one_problem_never_count_more_than_independent_ones(
    sampled: list[tuple[bool, int]],
) -> None:
    outcomes, problems = zip(*sampled, strict=True)
    assert 0 < effective_samples(outcomes, problems) <= len(outcomes)


def test_copies_of_every_sample_say_no_more_than_the_samples() -> None:
    outcomes = [True, False, True, True, False, True]
    copied = [outcome for outcome in outcomes for _ in range(8)]
    once = rate(outcomes, range(6))
    often = rate(copied, [problem for problem in range(6) for _ in range(8)])
    assert once is not None and often is not None
    assert often.value == once.value
    # Six problems, estimated: never narrower than six samples, and not absurdly wider.
    assert 4 < effective_samples(copied, [problem for problem in range(6) for _ in range(8)]) <= 6
    assert (often.low or 0) <= (once.low or 0) and (often.high or 0) >= (once.high or 0)


def test_where_all_succeed_every_problem_counts_once() -> None:
    assert effective_samples([True] * 24, [sample // 8 for sample in range(24)]) == 3
    assert effective_samples([True] * 8, ["one"] * 8) == 8


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30), st.floats(-100, 100))
def test_a_mean_moves_with_its_values(values: list[float], shift: float) -> None:
    one = mean(values, range(len(values)))
    other = mean([value + shift for value in values], range(len(values)))
    assert one is not None and other is not None
    assert one.low is not None and other.low is not None and one.high is not None
    assert other.value == pytest.approx(one.value + shift, abs=1e-6)
    assert other.low == pytest.approx(one.low + shift, abs=1e-4)
    assert one.low <= one.value <= one.high


def test_a_means_interval_is_students() -> None:
    estimate = mean([1.0, 2.0, 3.0, 4.0, 5.0], range(5))
    assert estimate is not None and estimate.low is not None
    assert estimate.value - estimate.low == pytest.approx(2.7764 * 2.5**0.5 / 5**0.5, abs=1e-3)


def test_an_interval_ends_where_no_value_can_be() -> None:
    estimate = mean([1.0, 40.0], range(2), least=0.0)
    assert estimate is not None and estimate.low is not None and estimate.high is not None
    assert (estimate.low, estimate.value) == (0.0, 20.5)
    assert estimate.high > 40.0


def test_copies_widen_no_mean_and_narrow_none() -> None:
    values = [1.0, 2.0, 4.0, 8.0]
    once = mean(values, range(4))
    often = mean([value for value in values for _ in range(5)], [k for k in range(4) for _ in range(5)])
    assert once is not None and often is not None
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_nothing_and_one_value_claim_no_interval() -> None:
    assert rate([], []) is None
    assert mean([], []) is None
    alone = mean([3.0], ["t"])
    assert alone is not None
    assert (alone.value, alone.low, alone.high) == (3.0, None, None)


# --- pairs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("better", "worse", "p"), [(5, 0, 0.0625), (1, 1, 1.0), (0, 0, 1.0), (8, 2, 0.109375), (10, 0, 0.001953)]
)
def test_the_sign_test_is_mcnemars_where_problems_have_one_pair(better: int, worse: int, p: float) -> None:
    differences = [1] * better + [-1] * worse + [0] * 7
    assert sign_test(differences, range(len(differences))) == pytest.approx(p, abs=1e-5)


def test_pairs_of_one_problem_are_one_piece_of_evidence() -> None:
    assert sign_test([1] * 8, ["only"] * 8) == 1.0
    assert sign_test([1] * 8, [pair // 2 for pair in range(8)]) == pytest.approx(2 / 2**4)


@given(PAIRED)
def test_a_difference_turns_round_with_its_pairs(pairs: list[tuple[bool, bool, int]]) -> None:
    first, second, problems = zip(*pairs, strict=True)
    one, other = (
        difference_of_rates(first, second, problems),
        difference_of_rates(second, first, problems),
    )
    assert one is not None and other is not None
    assert one.low is not None and one.high is not None and other.low is not None and other.high is not None
    assert -1 <= one.low <= one.value <= one.high <= 1
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))
    differences = [b - a for a, b in zip(first, second, strict=True)]
    p = sign_test(differences, problems)
    assert 0 < p <= 1
    assert p == sign_test([-difference for difference in differences], problems)


def test_pairs_that_agree_are_surer_than_pairs_that_do_not() -> None:
    first = [True] * 10 + [False] * 10
    alike = [True] * 10 + [False] * 5 + [True] * 5
    crossed = [False] * 5 + [True] * 15
    one, other = (
        difference_of_rates(first, alike, range(20)),
        difference_of_rates(first, crossed, range(20)),
    )
    assert one is not None and other is not None
    assert one.low is not None and one.high is not None and other.low is not None and other.high is not None
    assert one.value == other.value == 0.25
    assert one.low > 0 > other.low
    assert one.high - one.low < other.high - other.low


def test_pairs_without_correlation_have_newcombes_interval_of_independent_rates() -> None:
    # 8 of 16 and 12 of 16, each outcome of the one as often with either outcome of the other.
    first = [True] * 8 + [False] * 8
    second = ([True] * 6 + [False] * 2) * 2
    (low, high), (other_low, other_high) = wilson(8, 16), wilson(12, 16)
    estimate = difference_of_rates(first, second, range(16))
    assert estimate is not None
    assert estimate.low == pytest.approx(0.25 - ((0.75 - other_low) ** 2 + (high - 0.5) ** 2) ** 0.5)
    assert estimate.high == pytest.approx(0.25 + ((other_high - 0.75) ** 2 + (0.5 - low) ** 2) ** 0.5)


# --- records ---------------------------------------------------------------------------------------


def test_what_something_else_broke_is_no_failure() -> None:
    records = [played("a", True), played("b", False), void(), void("judge", "judge"), void("ours", "infra")]
    (told,) = summarise(records)
    assert (told.episodes, told.scored, told.void, told.problems) == (5, 2, 3, 2)
    assert told.success is not None
    assert (told.success.value, told.success.n) == (0.5, 2)
    assert told.return_ is not None and told.return_.value == pytest.approx(0.6)
    assert told.failures == {
        "agent": {"not_repaired": 1},
        "judge": {"judge": 1},
        "ours": {"infra": 1},
        "world": {"rate_limited": 1},
    }


@given(st.lists(st.sampled_from(["won", "lost", "void"]), max_size=25))
def test_void_episodes_change_no_estimate(kinds: list[str]) -> None:
    records = [
        void() if kind == "void" else played(f"t{index % 4}", kind == "won")
        for index, kind in enumerate(kinds)
    ]
    outcomes = [record for record in records if record.trainable]
    with_void, without = summarise(records, "all"), summarise(outcomes, "all")
    if not outcomes:
        assert all(each.success is None and each.commands is None for each in with_void)
        return
    for name in ("success", "diagnosed", "repaired", "diagnosis_score", "return_", "ttd_s", "commands"):
        assert getattr(with_void[0], name) == getattr(without[0], name)


def test_what_was_not_handed_in_is_wrong_where_it_was_asked_for() -> None:
    silent = {"grade": None, "oracle": None, "ttd_s": None, "ttm_s": None, "diagnosis": None}
    (e2e,) = summarise([played("a", True), played("b", **silent)])
    assert e2e.diagnosed is not None and e2e.diagnosed.value == 0.5
    assert e2e.repaired is not None and e2e.repaired.value == 0.5
    assert e2e.diagnosis_score is not None and e2e.diagnosis_score.value == pytest.approx(0.45)
    assert e2e.ttd_s is not None and (e2e.ttd_s.value, e2e.ttd_s.n) == (60.0, 1)
    (only_repair,) = summarise([played("a", True, config={"stage": "mitigation"}, grade=None)])
    assert only_repair.diagnosed is None and only_repair.diagnosis_score is None
    (only_diagnosis,) = summarise([played("a", True, config={"stage": "diagnosis"}, oracle=None)])
    assert only_diagnosis.repaired is None


def test_tokens_and_money_are_told_apart_from_what_was_spent() -> None:
    used = Usage(prompt_tokens=900, completion_tokens=100, cost_usd=0.25)
    (told,) = summarise([played("a", usage=used), played("b"), void(usage=used)])
    assert told.tokens is not None and (told.tokens.value, told.tokens.n) == (1000.0, 1)
    assert told.cost_usd is not None and told.cost_usd.value == 0.25
    assert (told.spent_tokens, told.spent_usd) == (2000, 0.5)
    (free,) = summarise([played()])
    assert free.tokens is None and free.spent_usd is None


def test_groups_come_in_the_order_of_their_names_and_a_wrong_key_is_named() -> None:
    records = [played("b", policy=Producer(name="zed")), played("a", policy=Producer(name="ann"))]
    assert [told.name for told in summarise(records)] == ["ann", "zed"]
    assert [told.name for told in summarise(records, "task")] == ["a", "b"]
    with pytest.raises(UsageError, match="by 'colour'; there are policy"):
        summarise(records, "colour")


def test_the_leaderboard_ranks_by_success_from_end_to_end() -> None:
    def policy(name: str, success: bool, **given: Any) -> EpisodeRecord:
        return played("a", success, policy=Producer(name=name), **given)

    right, wrong = {"passed": True, "score": 1.0}, {"passed": False, "score": 0.5}
    records = [
        policy("repairs", False, oracle=right),
        policy("nothing", False, oracle=wrong, grade=wrong),
        policy("solves", True),
        policy("diagnoses", False, oracle=wrong),
    ]
    assert [told.name for told in ranked(summarise(records))] == ["solves", "repairs", "diagnoses", "nothing"]


def test_rows_are_flat_and_dicts_are_json() -> None:
    (told,) = summarise([played("a", True), played("b", False)])
    row = told.row()
    assert row["policy"] == "expert"
    assert row["success_%"] == "50 [9, 91]"
    assert row["failures"] == "agent: not_repaired 1"
    assert all(value is None or isinstance(value, str | int) for value in row.values())
    assert json.loads(json.dumps(told.to_dict()))["success"]["n"] == 2
    assert "return" in told.to_dict()


def test_policies_are_compared_on_what_both_played_to_an_outcome() -> None:
    def side(policy: str, won: str) -> list[EpisodeRecord]:
        return [
            void(task=f"t{index}", policy=Producer(name=policy))
            if kind == "v"
            else played(f"t{index}", kind == "+", policy=Producer(name=policy))
            for index, kind in enumerate(won)
        ]

    compared = compare(side("old", "+--+v-"), [*reversed(side("new", "+++-+v")), played("t9", True)])
    assert (compared.first, compared.second) == ("old", "expert, new")
    assert (compared.both, compared.only_first, compared.only_second, compared.neither) == (1, 1, 2, 0)
    assert (compared.pairs, compared.problems, compared.void, compared.unpaired) == (4, 4, 2, 1)
    assert compared.success is not None and compared.success.value == pytest.approx(0.25)
    assert compared.p_value == 1.0
    assert compared.return_ is not None and compared.return_.value == pytest.approx(0.2)
    assert json.loads(json.dumps(compared.to_dict()))["pairs"] == 4
    assert compared.row()["p"] == "1"


def test_samples_are_paired_with_the_same_sample() -> None:
    first = [played("a", index == 0, sample_index=index) for index in range(3)]
    second = [played("a", index == 0, sample_index=index) for index in reversed(range(3))]
    compared = compare(first, second, names=("old", "new"))
    assert (compared.both, compared.neither, compared.only_first) == (1, 2, 0)
    assert (compared.first, compared.pairs, compared.problems) == ("old", 3, 1)


def test_nothing_in_common_compares_to_nothing() -> None:
    compared = compare([played("a", True)], [played("b", True)])
    assert (compared.pairs, compared.unpaired) == (0, 2)
    assert (compared.success, compared.p_value, compared.return_) == (None, None, None)
