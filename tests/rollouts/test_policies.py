"""The expert solves what there is, in several styles, and says nothing that it has not seen."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from random import Random
from typing import Any

import pytest

from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.errors import ProblemError, UsageError
from sregym_env.faults.problems import Problem, problem
from sregym_env.rollouts.policies import ExpertPolicy, policy
from sregym_env.rollouts.policies.narrative import diagnosis
from sregym_env.rollouts.policies.narrative.case import STYLES
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.runner import run_episode

SEVERAL = ("update_incompatible_correlated", "pvc_claim_mismatch", "hotel_res_concurrent_fault")
"""Curated problems of more than one fault."""

HOTEL, PARCELS = "hotel-reservation", "parcel-tracking"


def one_of_each_fault() -> list[Problem]:
    """Every declared fault on some target, another one for each; and problems of several faults."""
    by_fault: dict[str, list[Problem]] = {}
    for each in pairs(HOTEL):
        by_fault.setdefault(each.faults[0].fault, []).append(each)
    chosen = [found[number % len(found)] for number, found in enumerate(by_fault.values())]
    return [*chosen, *map(problem, SEVERAL)]


SAMPLE = [(each, STYLES[number % len(STYLES)]) for number, each in enumerate(one_of_each_fault())]


@cache
def environment() -> SREGymEnv:
    return SREGymEnv(SEVERAL[0], raise_errors=True)


def played(played_problem: Problem, seed: int, **options: Any) -> EpisodeRecord:
    """A recorded episode of the expert, within the environment's own limits."""
    chosen = {"problem": played_problem.model_dump(mode="json")}
    return run_episode(environment(), ExpertPolicy(**options), seed=seed, options=chosen).record


def observed_before(record: EpisodeRecord, number: int) -> str:
    """Everything that was printed before a step, the briefing included."""
    return "\n".join([record.messages[0].content, *map(record.observation, record.steps[:number])])


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.sampled
@pytest.mark.parametrize(("each", "style"), SAMPLE, ids=lambda value: getattr(value, "id", value))
def test_the_expert_solves_it_and_what_it_says_was_printed(each: Problem, style: str) -> None:
    record = played(each, 11, style=style)
    assert record.success
    assert record.return_ is not None and record.return_ >= 0.96
    assert record.commands <= 50
    assert record.grade is not None and record.grade["score"] >= 0.9
    submitted = [json.loads(action)["tool_calls"][0]["function"]["name"] for action in record.actions]
    assert submitted.count("submit_structured_diagnosis") == 1 and submitted[-1] == "submit_mitigation"
    for number, step in enumerate(record.steps):
        said = record.messages[step.message_span[0]]
        assert len(said.tool_calls) == 1
        assert said.content and len(said.content) < 600
        assert_quotes_were_printed(said.content, observed_before(record, number))
    assert_values_were_printed(record, submitted.index("submit_structured_diagnosis"))


def assert_quotes_were_printed(thought: str, printed: str) -> None:
    """What stands in quotes was printed, apart from a gap in a long line."""
    seen = flat(printed)
    for quote in re.findall(r"`([^`]+)`", thought) or re.findall(r'"([^"]+)"', thought):
        for part in quote.split(" ... "):
            assert part.strip() in seen, thought


def assert_values_were_printed(record: EpisodeRecord, handed_in: int) -> None:
    """The values with which the diagnosis names the cause were printed before it."""
    assert record.diagnosis is not None
    seen = observed_before(record, handed_in)
    for instance in environment().episode.staged.causes:
        known = diagnosis.facts(instance, Random(0))  # type: ignore[arg-type]
        values = {value for way in diagnosis.ways(instance) for value in diagnosis.values(way, known)}  # type: ignore[arg-type]
        for value in values:
            if value in record.diagnosis:
                assert diagnosis.printed(value, seen), value


@pytest.mark.sampled
@pytest.mark.parametrize(("each", "style"), SAMPLE[::5], ids=lambda value: getattr(value, "id", value))
def test_diagnoses_are_plain_prose(each: Problem, style: str) -> None:
    texts = {played(each, seed, style=style, diagnosis="text").diagnosis or "" for seed in range(2)}
    assert len(texts) > 1
    for text in texts:
        assert not re.search(r"\[fault_spec\]|\|\||component=[^ ]*;|[{}]", text)
        assert text[0].isupper() or text.split()[0].count("-")
        assert text.endswith(".")


@pytest.mark.parametrize(
    ("app", "fault", "target", "style"),
    [
        (PARCELS, "incompatible_image", "ledger", "dead_ends"),  # a StatefulSet in another namespace
        (PARCELS, "readiness_probe_misconfiguration", "edge", "thorough"),  # a DaemonSet
        (PARCELS, "configmap_drift", "tracker", "direct"),
        (PARCELS, "stale_host_alias", "tracker", "dead_ends"),
        (PARCELS, "cpu_limit_too_low", "edge", "thorough"),
    ],
)
def test_the_expert_knows_no_application_by_heart(app: str, fault: str, target: str, style: str) -> None:
    record = played(problem(f"{app}/{fault}/{target}"), 5, style=style)
    assert record.success, (record.grade, record.oracle, record.diagnosis)


def test_bare_command_lines_are_the_same_episode_without_thoughts() -> None:
    each = problem("network_policy_block")
    said = played(each, 3, style="direct", calls="text")
    thought = played(each, 3, style="direct")
    assert said.success
    assert said.final_digest == thought.final_digest
    assert not any(message.tool_calls for message in said.messages)
    assert said.actions[-1] == "submit mitigation"
    assert "submit diagnosis --component" in "\n".join(said.actions)


def test_mixed_draws_every_style_and_no_two_openings_need_be_alike() -> None:
    env = SREGymEnv("network_policy_block", raise_errors=True)
    first, lengths = Counter[str](), set[int]()
    for seed in range(12):
        observation, info = env.reset(seed=seed)
        expert = ExpertPolicy(calls="text")
        expert.begin(env, observation, seed)
        first[str(expert.act(observation, info))] += 1
    for seed in range(4):
        lengths.add(len(played(problem("network_policy_block"), seed).steps))
    assert len(first) >= 6
    assert first.most_common(1)[0][1] <= 4
    assert len(lengths) > 2


@pytest.mark.parametrize("seed", range(4))
def test_a_dead_end_is_an_innocent_component_from_which_it_turns_back(seed: int) -> None:
    record = played(problem("service_wrong_pod_selection_hotel_reservation"), seed, style="dead_ends")
    thoughts = [record.messages[step.message_span[0]].content for step in record.steps]
    turned = next(
        n
        for n, said in enumerate(thoughts)
        if re.search(r"turn back|wrong track|culprit|victim|suffers", said)
    )
    closer = [
        action for action in record.actions[:turned] if re.search(r"logs|describe|endpoints \w", action)
    ]
    assert closer
    assert "service-route" not in record.actions[turned - 1]
    assert record.success


def test_whom_a_dead_end_has_cleared_is_not_looked_at_again_on_the_way() -> None:
    for seed in range(6):
        record = played(
            problem("hotel-reservation/scale_to_zero/mongodb-reservation"), seed, style="dead_ends"
        )
        logs = [
            found[1] for action in record.actions if (found := re.search(r"logs \S*/(\S+) .*--tail", action))
        ]
        assert len(logs) == len(set(logs)), (seed, logs)


def test_the_repair_can_be_chosen() -> None:
    each = problem("hotel-reservation/missing_secret/geo")
    made = [
        "create secret" in "\n".join(played(each, 2, style="direct", alternative=n).actions) for n in (0, 1)
    ]
    assert made == [False, True]


def test_a_repair_that_there_is_not_is_refused_with_how_many_there_are() -> None:
    each = problem("hotel-reservation/missing_secret/geo")
    with pytest.raises(ProblemError, match=r"no repair 99 .*: missing_secret:geo has 2"):
        played(each, 2, style="direct", alternative=99)


@pytest.mark.parametrize("stage", ["diagnosis", "mitigation"])
def test_only_what_the_stage_asks_for_is_handed_in(stage: str) -> None:
    env = SREGymEnv("network_policy_block", stage=stage, raise_errors=True)
    record = run_episode(env, ExpertPolicy(), seed=4).record
    assert record.success
    assert (record.diagnosis is None) == (stage == "mitigation")


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("expert", {"style": "hasty"}, "dead_ends"),
        ("expert", {"calls": "xml"}, "tools"),
        ("expert", {"alternative": "first"}, "whole number"),
        ("expert", {"alternative": -1}, "at least 0"),
        ("random", {"steps": -1}, "at least 0"),
        ("random", {"speed": 2}, "no option .speed.; its options are steps"),
        ("restart", {"calls": "xml"}, "text"),
        ("oracle", {}, "undo"),
    ],
)
def test_options_that_make_no_sense_are_refused(name: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        policy(name, options)
