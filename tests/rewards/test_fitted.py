"""The fitted part of the deterministic judge: what it may do, what it may not, and that climbing it does not pay."""

from __future__ import annotations

import numpy as np
import pytest

from sregym_env import apps
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards import free_text
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.fitted.weights import FINDINGS, SCORES, weights
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rewards.labelled.collection import development
from sregym_env.rewards.labelled.diagnosis import Diagnosis
from sregym_env.rewards.labelled.specs import APP_NAME, specs
from sregym_env.rewards.opinion import SHORT
from sregym_env.runtime.chance import Chance

JUDGE = SpecJudge()
APP = apps.app(APP_NAME)


def spread() -> list[FaultSpec]:
    """A target of every fault, another one from fault to fault."""
    by_fault: dict[str, list[FaultSpec]] = {}
    for spec in specs().values():
        by_fault.setdefault(spec.fault, []).append(spec)
    return [known[number % len(known)] for number, known in enumerate(by_fault.values())]


SPREAD = spread()


def graded(text: str, spec: FaultSpec) -> Grade:
    return JUDGE.grade(text, [spec], APP)


def mean(texts: dict[int, str]) -> float:
    return float(np.mean([graded(text, SPREAD[number]).score for number, text in texts.items()]))


def right_ones() -> list[Diagnosis]:
    return [each for each in development() if each.right and len(each.pairs) == 1 and each.app == APP_NAME]


def test_the_weights_are_of_known_mechanisms_and_fit_each_other() -> None:
    known = weights()
    assert set(known.mechanisms) <= set(MECHANISMS)
    assert {spec.mechanism for spec in specs().values()} <= set(known.mechanisms)
    assert len(known.blend) == len(FINDINGS) + len(SCORES) + 1
    assert known.own_starts[-1] == len(known.own) == len(known.own_of)
    for keys in (known.shared_keys, known.own_keys, known.topic_keys):
        assert (np.diff(keys.astype(np.int64)) > 0).all()


def test_an_account_in_words_that_nobody_listed_is_affirmed_with_its_evidence() -> None:
    changed = [
        (each, grade, opinion)
        for each in right_ones()[::9]
        if (grade := graded(each.text, specs()[each.pairs[0]])).passed
        and not (opinion := free_text.opinion(each.text, specs()[each.pairs[0]], APP)).grade.passed
    ]
    assert changed
    for each, grade, opinion in changed:
        assert opinion.passes and (opinion.read or opinion.affirms)
        answers = {answer.id: answer for answer in grade.answers}
        assert all(
            answers[question].yes for question in ("D1-Q1", "D1-Q2", "D1-Q3", "D2-Q1", "D2-Q3", "D3-Q2")
        ), each.id
        assert answers["D2-Q1"].evidence


def test_little_that_was_understood_is_denied_and_nothing_short_for_its_wording() -> None:
    understood = denied = 0
    for each in right_ones()[::9]:
        spec = specs()[each.pairs[0]]
        opinion = free_text.opinion(each.text, spec, APP)
        if opinion.grade.passed and not free_text.formless(opinion.case):
            understood += 1
            denied += not graded(each.text, spec).passed
            assert graded(each.text, spec).passed or opinion.torn or opinion.words >= SHORT, each.id
    assert understood > 80
    assert denied <= understood / 50


@pytest.mark.parametrize(
    ("fault", "target", "text", "heard"),
    [
        (
            "network_policy_block",
            "memcached-rate",
            "The packets get lost on their way to memcached-rate, and rate waits for nothing. A network policy, deny-all-memcached-rate, "
            "forbids its pods any traffic in both directions. It was applied to the namespace this morning, selects the labels of the cache's pods "
            "and has neither ingress nor egress rules, so whatever is sent to them is dropped.",
            "lossy_machine",
        ),
        (
            "rbac_misconfiguration",
            "search",
            "The init container of search waits for its settings and is refused with 403 by the API server, again and again, which is why no "
            "new pod of it comes up since the last rollout. The role bound to search's account lost the permission to read config maps, so its "
            "init container is refused by the API server with 403.",
            "database_permission_revoked",
        ),
        (
            "service_target_port_mismatch",
            "consul",
            "Nobody is registered any more, since nobody can reach the registry, though its pod is Ready and listens on 8500 as it always has. "
            "Service consul hands its connections on to port 9999, where no process listens; each attempt to reach consul is refused at once, "
            "and all the clients retry for ever.",
            "impatient_retries",
        ),
    ],
)
def test_what_is_said_in_the_words_of_another_mechanism_is_no_other_cause(
    fault: str, target: str, text: str, heard: str
) -> None:
    spec = specs()[fault, target]
    opinion = free_text.opinion(text, spec, APP)
    assert heard in opinion.case.foreign
    assert heard not in opinion.foreign
    assert graded(text, spec).passed


def test_two_accounts_in_one_text_are_torn_and_rarely_pass() -> None:
    """Who does not know which of two faults of a component it is hands in a right account of each."""
    dice = Chance(("two accounts",))
    whole = [each for each in right_ones() if each.source == "written" and len(each.text) < 400]
    tried = passed = torn = 0
    for number, each in enumerate(dice.shuffled("texts", whole)[:120]):
        spec = specs()[each.pairs[0]]
        near = {spec.mechanism, *MECHANISMS[spec.mechanism].kin, *MECHANISMS[spec.mechanism].through}
        other = dice.at(number).choice("other", whole)
        its = specs()[other.pairs[0]]
        if (
            its.mechanism in near
            or spec.mechanism in MECHANISMS[its.mechanism].through
            or len(its.components) > 1
        ):
            continue
        told = other.text.replace(its.components[0], spec.components[0])
        opinion = free_text.opinion(f"{each.text}\n{told}", spec, APP)
        tried += 1
        torn += opinion.torn
        passed += opinion.passes and not free_text.formless(opinion.case)
    assert tried > 60
    assert torn > tried / 4
    assert passed / tried < 0.15, (passed, tried)


@pytest.mark.parametrize(
    ("rest", "right"),
    [
        ("Both mongodb-geo and mongodb-reservation have their volumes on that machine.", True),
        ("mongodb-geo crashes, and so does mongodb-reservation, whose volume lies beside it.", True),
        ("Only mongodb-geo is on it; mongodb-reservation runs on another machine.", False),
        ("mongodb-geo crashes by it. mongodb-reservation is not affected.", False),
        ("It is mongodb-geo alone that crashes, mongodb-reservation is unrelated and healthy.", False),
    ],
)
def test_who_spares_one_of_those_at_fault_has_not_found_it(rest: str, right: bool) -> None:
    spec = next(
        each
        for (fault, _), each in specs().items()
        if fault == "latent_sector_error" and set(each.components) == {"mongodb-geo", "mongodb-reservation"}
    )
    text = f"The data disk of node {spec.resource_name} has bad sectors, reads end with input/output errors. {rest}"
    assert graded(text, spec).passed == right


@pytest.mark.parametrize(
    "text",
    [
        "Two faults. consul's Service forwards to 9999, where nothing listens. rate is broken too and has to be repaired as well.",
        "consul, rate, search, profile, user, frontend: targetPort, selector, image, memory, probe, policy, taint, quota",
        "NAME   TYPE        PORT(S)    AGE\nconsul ClusterIP   8500/TCP   5m\ntargetPort: 9999",
    ],
)
def test_what_is_rejected_for_its_form_or_for_whom_it_blames_stays_so(text: str) -> None:
    spec = specs()["service_target_port_mismatch", "consul"]
    assert not graded(text, spec).passed


def test_the_same_text_has_the_same_odds_whatever_was_read_before() -> None:
    each = right_ones()[7]
    spec = specs()[each.pairs[0]]
    first = free_text.opinion(each.text, spec, APP).odds
    for other in right_ones()[:40]:
        free_text.opinion(other.text, spec, APP)
    assert free_text.opinion(each.text, spec, APP).odds == first


# --- who knows the weights ---------------------------------------------------------------------------------------------


def best_sentences(count: int) -> list[str]:
    """Sentences of right accounts that are most like right ones at large, whatever they are about: of each the place is left open."""
    found: dict[str, float] = {}
    for each in right_ones()[::3]:
        spec = specs()[each.pairs[0]]
        if len(spec.components) != 1:
            continue
        opinion = free_text.opinion(each.text, spec, APP)
        name = spec.components[0]
        text = each.text.replace(name, "{place}")
        if "{place}" in text and len(text) < 240:
            found[text] = weights().told(opinion.told)[0]
    return sorted(found, key=lambda text: (-found[text], text))[:count]


def placed(text: str, spec: FaultSpec) -> str:
    return text.replace("{place}", " and ".join(spec.components))


def test_a_text_that_fits_one_fault_earns_next_to_nothing_of_others_at_its_place() -> None:
    """The texts that the fitted part likes best, handed in for every fault with its place filled in."""
    for text in best_sentences(4):
        passed = [spec.fault for spec in SPREAD if graded(placed(text, spec), spec).passed]
        assert len({specs_of.mechanism for specs_of in SPREAD if specs_of.fault in passed}) <= 2, (
            text,
            passed,
        )


def test_a_text_climbed_by_the_weights_earns_under_a_tenth() -> None:
    """From one sentence on, whichever sentence raises the odds over all faults most is added."""
    pool = best_sentences(10)
    sample = list(range(0, len(SPREAD), 8))

    def worth(text: str, place: bool) -> tuple[float, float]:
        texts = {n: placed(text, SPREAD[n]) if place else text.replace("{place}", "geo") for n in sample}
        odds = float(np.mean([free_text.opinion(each, SPREAD[n], APP).odds for n, each in texts.items()]))
        return mean(texts), odds

    for place in (False, True):
        text = ""
        for _ in range(3):
            text = max(
                (f"{text} {more}".strip() for more in pool if more not in text),
                key=lambda each: worth(each, place)[::-1],
            )
        best = worth(text, place)[0]
        # With the place given a ninth is the place's own; beyond that nothing may be earned in the mean.
        assert best < (0.11 + 0.1 if place else 0.1), (best, text)


def test_right_accounts_of_one_fault_handed_in_for_another_of_the_same_component_earn_no_pass() -> None:
    by_place: dict[tuple[str, ...], list[FaultSpec]] = {}
    for spec in specs().values():
        by_place.setdefault(spec.components, []).append(spec)
    tried = passed = 0
    for number, each in enumerate(right_ones()[::12]):
        spec = specs()[each.pairs[0]]
        others = [other for other in by_place[spec.components] if other.mechanism != spec.mechanism]
        for other in others[number % 5 :: 5][:6]:
            tried += 1
            passed += graded(each.text, other).passed
    assert tried > 200
    assert passed / tried < 0.02, (passed, tried)
