"""Problems of several applications in one cluster: a fault each, users each, one repair and one diagnosis of all."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import cache

import pytest

from sregym_env import SREGymEnv, apps
from sregym_env.cluster.app import App, ImageRegistry
from sregym_env.cluster.composed import composed, seen_by
from sregym_env.cluster.forkable import demanded
from sregym_env.cluster.oncall import ONCALL
from sregym_env.envs.injection import key_of
from sregym_env.envs.staged import Staged
from sregym_env.envs.staging import stage
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.envs.tasks.splits import split_of
from sregym_env.errors import AppError, ProblemError
from sregym_env.faults.onset import remedies
from sregym_env.faults.problems import (
    ASTRONOMY,
    HOTEL,
    SOCIAL,
    TOGETHER,
    FaultChoice,
    Problem,
    pair,
    problem,
    struck,
)
from sregym_env.rewards.checks import failing_journeys
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rewards.oracle import judge_state
from sregym_env.rewards.verdict import Verdict
from sregym_env.rollouts import validate
from sregym_env.rollouts.policies import policy
from sregym_env.rollouts.runner import run_episode
from sregym_env.runtime.clock import HOUR
from sregym_env.tools.causes import flags, handed_in
from sregym_env.tools.workstation import Workstation

SELECTOR = "port_misconfig_revoke_auth_wrong_svc_selector"
VARIABLE = "port_misconfig_misconfig_hotelres_missing_env_var"
BOTH = (SELECTOR, VARIABLE)


@cache
def staged(id: str, variation: bool = True) -> Staged:
    return stage(problem(id).model_copy(update={"variation": variation}), 3)


def hurt(found: Staged) -> set[str]:
    """The applications whose users miss what they are promised."""
    world, baseline = found.world, found.baseline
    missed = failing_journeys(world.traffic.health(30.0), world.app.slo, baseline, 30.0)
    names = {line.partition(":")[0] for line in missed}
    return {part.name for part in world.app.parts if names & {journey.name for journey in part.journeys}}


def repaired(found: Staged, numbers: Sequence[int]) -> Verdict:
    """The verdict where these of the faults are repaired."""
    world = demanded(found.world).fork()
    station = Workstation(world, ONCALL)
    for number in numbers:
        for command in found.solutions[number].remedies[0]:
            assert not station.run(command).exit_code
    return judge_state(world, found.baseline, found.causes)


# --- several applications as one ------------------------------------------------------------------


def test_nothing_that_an_application_declares_is_forgotten_in_the_whole() -> None:
    by_themselves = {"flag_file", "tracing", "family", "place"}
    """What is asked of each application, or of none."""
    parts = [
        replace(
            app,
            registries=(ImageRegistry(f"{app.name}.example.com"),),
            activities=(app.name,),
            programs=(app.components[0],),
        )
        for app in map(apps.app, ("social-network", "astronomy-shop"))
    ]
    whole = composed(parts)
    empty = {each.name for each in fields(App) if not getattr(whole, each.name)}
    assert empty == by_themselves


def test_what_one_application_has_to_ask_for_stays_open_to_another_that_does_not() -> None:
    hotel, social = apps.app("hotel-reservation"), apps.app("social-network")
    mongo, own = "docker.io/library/mongo", "docker.io/yinfangchen/hotel-reservation"
    asked = replace(hotel, registries=(ImageRegistry("docker.io", ("pull:one",), (mongo, own)),))
    also = replace(social, registries=(ImageRegistry("docker.io", ("pull:two",), (mongo,)),))
    assert {each for r in composed([asked, social]).registries for each in r.closed} == {own}
    both = composed([asked, also]).registries
    assert {each for registry in both for each in registry.closed} == {mongo, own}
    assert {each for registry in both for each in registry.logins} == {"pull:one", "pull:two"}


def test_components_of_the_same_name_are_told_apart_by_their_namespaces() -> None:
    app = apps.app(TOGETHER)
    assert apps.app(TOGETHER) is app
    assert app.title == "Social Network, Hotel Reservation and Astronomy Shop"
    assert app.namespaces == (SOCIAL, HOTEL, ASTRONOMY)
    names = [component.name for component in app.components]
    assert len(names) == len(set(names)) == sum(len(part.components) for part in app.parts)
    assert {name for name in names if "/" in name} == {
        f"{SOCIAL}/jaeger", f"{HOTEL}/jaeger", f"{ASTRONOMY}/jaeger", f"{SOCIAL}/wrk2-job", f"{HOTEL}/wrk2-job",
        f"{HOTEL}/frontend", f"{ASTRONOMY}/frontend", f"{HOTEL}/recommendation", f"{ASTRONOMY}/recommendation",
    }  # fmt: skip
    assert app.workload_of("astronomy-shop/frontend") == ("deployments.apps", ASTRONOMY, "frontend")
    assert app.workload_of("geo") == ("deployments.apps", HOTEL, "geo")
    assert app.called(HOTEL, "frontend") == "hotel-reservation/frontend"
    # What bears a component's name elsewhere is not that component.
    assert app.called(SOCIAL, "geo") not in app.by_name
    assert app.entries == ("nginx-thrift", "hotel-reservation/frontend", "frontend-proxy")
    assert "hotel-reservation/frontend" in app.affected("geo")
    assert not {*app.affected("geo")} & {"astronomy-shop/frontend", "frontend-proxy"}


def test_each_application_keeps_its_users_and_what_they_are_promised() -> None:
    app = apps.app(TOGETHER)
    assert sum(journey.weight for journey in app.journeys) == pytest.approx(1.0)
    offered = {journey.name: journey.weight * app.rate for journey in app.journeys}
    for part in app.parts:
        for journey in part.journeys:
            assert offered[journey.name] == pytest.approx(journey.weight * part.rate)
            assert app.slo.of(journey.name) == part.slo


def test_what_cannot_be_in_one_cluster_is_refused() -> None:
    hotel = apps.app(HOTEL)
    with pytest.raises(AppError, match="hotel-reservation is there twice"):
        composed([hotel, hotel])
    with pytest.raises(AppError, match="namespace hotel-reservation is there twice"):
        composed([hotel, replace(hotel, name="another")])
    image = replace(hotel.images[0], size=1)
    social = apps.app(SOCIAL)
    with pytest.raises(AppError, match="has another image"):
        composed([hotel, replace(social, images=(*social.images, image))])
    with pytest.raises(ProblemError, match="no application 'hotel'"):
        apps.app(f"{SOCIAL}+hotel")


def test_a_change_of_one_application_is_a_change_of_the_whole() -> None:
    world = demanded(staged(SELECTOR, False).world).fork()
    seen = seen_by(world, HOTEL)
    assert seen.app.name == HOTEL and "frontend" in seen.app.by_name
    seen.app = replace(seen.app, rate=1.0, place="")  # type: ignore[misc]
    assert [part.rate == 1.0 for part in world.app.parts] == [False, True, False]
    single = demanded(stage(problem("latent_sector_error"), 1).world).fork()
    assert seen_by(single, HOTEL) is single


# --- problems -------------------------------------------------------------------------------------


def test_a_target_says_of_which_application_it_is() -> None:
    assert struck(HOTEL, "geo") == (HOTEL, "geo")
    assert struck(TOGETHER, f"{ASTRONOMY}/frontend") == (ASTRONOMY, "frontend")
    for vague in ("frontend", "parcel-tracking/frontend", ""):
        with pytest.raises(ProblemError, match="which application"):
            struck(TOGETHER, vague)


def test_pairs_of_several_applications_are_those_of_each() -> None:
    app = f"{HOTEL}+{ASTRONOMY}"
    found = {each.faults[0].target for each in pairs(app, "scale_to_zero")}
    assert {f"{HOTEL}/frontend", f"{ASTRONOMY}/frontend"} <= found
    assert len(found) == sum(len(pairs(part, "scale_to_zero")) for part in app.split("+"))
    made = pair(app, "scale_to_zero", f"{HOTEL}/geo")
    assert problem(made.id) == made


def test_a_problem_belongs_to_the_split_of_all_its_faults_or_to_none() -> None:
    alone = pair(HOTEL, "missing_service", "consul")
    together = Problem(
        id="x", app=TOGETHER, faults=(FaultChoice(fault="missing_service", target=f"{HOTEL}/consul"),)
    )
    assert split_of(together, "target") == split_of(alone, "target")
    for each in map(problem, BOTH):
        own = {split_of(pair(*_of(each.app, choice))) for choice in each.faults}
        assert split_of(each) == (own.pop() if len(own) == 1 else None)


def _of(app: str, choice: FaultChoice) -> tuple[str, str, str]:
    part, target = struck(app, choice.target)
    return part, choice.fault, target


def test_what_is_drawn_for_one_application_is_what_it_was() -> None:
    assert problem("misconfig_app_hotel_res").model_dump(mode="json") == {
        "id": "misconfig_app_hotel_res",
        "app": HOTEL,
        "faults": [{"fault": "faulty_image", "target": "geo", "parameters": {}}],
        "noise": False,
        "variation": True,
    }
    assert key_of(problem("misconfig_app_hotel_res"), 7) == "26ffdd75e0babad0baf60cd3d7bb5056"


# --- worlds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("variation", [True, False], ids=["lived", "published"])
@pytest.mark.parametrize("id", BOTH)
def test_the_users_of_each_application_suffer_from_its_own_fault(id: str, variation: bool) -> None:
    found = staged(id, variation)
    assert hurt(found) == {SOCIAL, HOTEL, ASTRONOMY}
    assert [spec.namespace for spec in found.specs] == [SOCIAL, HOTEL, ASTRONOMY]
    for number, name in enumerate((SOCIAL, HOTEL, ASTRONOMY)):
        part = found.app.part(name)
        own = {journey.name for journey in part.journeys}
        assert {*found.specs[number].journeys} <= own
        assert all(found.app.namespace_of(each) == name for each in found.specs[number].affected)


def test_whose_fault_is_repaired_whose_users_are_served() -> None:
    found = staged(SELECTOR)
    world = demanded(found.world).fork()
    station = Workstation(world, ONCALL)
    for command in found.solutions[0].remedies[0]:
        station.run(command)
    world.advance(120.0)
    assert hurt(replace(found, world=world)) == {HOTEL, ASTRONOMY}


def test_each_load_generator_tells_of_its_own_users() -> None:
    found = staged(SELECTOR, False)
    station = Workstation(demanded(found.world).fork(), ONCALL)
    station.run("sleep 60")
    for space in (SOCIAL, HOTEL):
        told = station.run(f"kubectl logs -n {space} job/wrk2-job --tail=5").text
        rate = next(float(line.split()[1]) for line in told.splitlines() if line.startswith("Requests/sec"))
        assert rate == pytest.approx(100.0, rel=0.05)


@pytest.mark.parametrize("id", BOTH)
def test_somebody_is_called_before_anybodys_users_have_suffered_for_long(id: str) -> None:
    """The account that is noticed at the next restart only is revoked first, and not while the others' users wait."""
    found = staged(id)
    world = demanded(found.world).fork()
    told = Workstation(world, ONCALL).run("alerts").text
    assert "ALERT" in told and "Killed" not in told
    hurting = [
        each for each in world.alerts() if each.name in ("HighRequestErrorRate", "ServiceEndpointDown")
    ]
    assert {each.labels["namespace"] for each in hurting} >= {SOCIAL, ASTRONOMY}
    assert max(world.now() - each.active_at for each in hurting) < 2 * HOUR


@pytest.mark.parametrize("id", BOTH)
def test_all_must_be_repaired(id: str) -> None:
    found = staged(id)
    assert repaired(found, (0, 1, 2)).passed
    for left in range(3):
        verdict = repaired(found, [number for number in range(3) if number != left])
        failed = {check.name for check in verdict.failed}
        assert not verdict.passed and {f"cause/{number + 1}" for number in range(3)} & failed == {
            f"cause/{left + 1}"
        }


def test_another_components_workload_of_the_same_name_is_no_part_of_the_repair() -> None:
    found = staged(SELECTOR)
    world = demanded(found.world).fork()
    station = Workstation(world, ONCALL)
    for number in range(3):
        for command in found.solutions[number].remedies[0]:
            station.run(command)
    # Hotel Reservation's front end has nothing to do with the fault of the shop's.
    station.run(f"kubectl delete deployment frontend -n {HOTEL}")
    verdict = judge_state(world, found.baseline, found.causes)
    assert not verdict.passed and "inventory" in {check.name for check in verdict.failed}


@pytest.mark.parametrize(
    "line",
    [validate.healthy_before, validate.not_named, validate.undo_restores, validate.same_seed_same_world],
    ids=lambda line: line.__name__,
)
def test_what_every_declared_fault_promises(line: object) -> None:
    passed, detail = line(subject())  # type: ignore[operator]
    assert passed, detail


@cache
def subject() -> validate.Subject:
    return validate.Subject(problem(VARIABLE), 3)


def test_every_alternative_repair_cures() -> None:
    instances, onsets = subject().injected.instances, subject().injected.onsets
    assert all(map(remedies, instances, onsets))
    passed, detail = validate.remedies_cure(subject())
    assert passed, detail


# --- what is said of it ---------------------------------------------------------------------------


def test_who_names_two_of_three_is_paid_a_share_and_does_not_pass() -> None:
    found, judge = staged(SELECTOR), SpecJudge()
    whole = judge.grade(handed_in([spec.answer for spec in found.specs]), found.specs, found.app)
    assert whole.passed and whole.score == 1.0
    for left in range(3):
        some = [spec.answer for number, spec in enumerate(found.specs) if number != left]
        grade = judge.grade(handed_in(some), found.specs, found.app)
        assert not grade.passed and 0.0 < grade.score < whole.score


def account(found: Staged, last: str) -> str:
    first, _, third = found.specs
    return (
        f"There are three independent causes. In {SOCIAL}, Service user-service has the targetPort {first.wrong}, but its "
        f"container listens on {first.right}. In {HOTEL}, the account of geo lost its role readWrite in mongodb-geo. "
        f"{last.format(selector=third.wrong)}"
    )


@pytest.mark.parametrize(
    "last",
    [
        "Third, in astronomy-shop, the selector of Service frontend is {selector}, which matches no pod, so it has no endpoints.",
        "The selector of Service astronomy-shop/frontend is {selector}, which matches no pod, so it has no endpoints.",
        "The selector of Service frontend.astronomy-shop is {selector}, which matches no pod, so it has no endpoints.",
        "Astronomy Shop: the selector of its Service frontend is {selector}, which matches no pod; it has no endpoints.",
        "The Service frontend (namespace astronomy-shop) has the selector {selector}, which matches no pod.",
    ],
)
def test_free_text_says_which_of_the_namesakes_it_means(last: str) -> None:
    found = staged(SELECTOR)
    grade = SpecJudge().grade(account(found, last), found.specs, found.app)
    assert grade.passed, [(each.id, each.evidence) for each in grade.answers if not each.yes]


def test_a_service_in_two_words_is_that_of_the_application_in_question() -> None:
    found = staged(SELECTOR)
    last = "Third, the selector of Service astronomy-shop/frontend is {selector}, which matches no pod."
    told = account(found, last).replace("Service user-service has", "the user service has")
    assert SpecJudge().grade(told, found.specs, found.app).passed


@pytest.mark.parametrize(
    "last",
    [
        "In hotel-reservation, the selector of Service frontend is {selector} too, which matches no pod.",
        "Also the selector of Service hotel-reservation/frontend is {selector}, which matches no pod.",
    ],
)
def test_the_other_applications_namesake_is_another_component(last: str) -> None:
    found = staged(SELECTOR)
    grade = SpecJudge().grade(account(found, last), found.specs, found.app)
    assert not grade.passed and "misses" in next(
        each.evidence for each in grade.answers if each.id == "D3-Q2"
    )


@pytest.fixture(scope="module")
def env() -> Iterator[SREGymEnv]:
    made = SREGymEnv(problem=SELECTOR, reward="graded", raise_errors=True)
    yield made
    made.close()


def test_an_episode_asks_which_is_meant_and_understands_it_then(env: SREGymEnv) -> None:
    briefing, _ = env.reset(seed=3)
    for word in ("Social Network", "Hotel Reservation", "Astronomy Shop", SOCIAL, HOTEL, ASTRONOMY):
        assert word in briefing
    # Which of the namesakes is at fault is not for the briefing to say.
    assert "astronomy-shop/frontend" not in briefing
    *others, third = [spec.answer for spec in env.episode.staged.specs]
    told = flags([*others, replace(third, components=("frontend",))])
    observation, *_ = env.step(f"submit diagnosis {told}")
    assert (
        "several components called frontend: say hotel-reservation/frontend or astronomy-shop/frontend"
        in observation
    )
    waited_for = [env.episode.waiting_for]
    env.step(f"submit diagnosis {flags([*others, third])}")
    waited_for.append(env.episode.waiting_for)
    assert waited_for == ["diagnosis", "mitigation"]
    other = env.fork()
    for solution in env.episode.staged.solutions[:2]:
        for command in solution.remedies[0]:
            env.step(command)
    *_, info = env.step("submit mitigation")
    assert not info["is_success"]
    share = env.episode.terms_total["mitigation"]
    travelled: SREGymEnv = pickle.loads(pickle.dumps(other))
    assert travelled.episode.digest == other.episode.digest
    for solution in travelled.episode.staged.solutions:
        for command in solution.remedies[0]:
            travelled.step(command)
    *_, info = travelled.step("submit mitigation")
    assert info["is_success"]
    assert 0.0 < share < travelled.episode.terms_total["mitigation"]


@pytest.mark.parametrize(
    "style",
    ["thorough", *(pytest.param(style, marks=pytest.mark.exhaustive) for style in ("direct", "dead_ends"))],
)
@pytest.mark.parametrize("id", BOTH)
def test_the_expert_solves_it(id: str, style: str) -> None:
    record = run_episode(
        SREGymEnv(problem=id, raise_errors=True), policy("expert", {"style": style}), seed=3
    ).record
    assert record.success, (record.diagnosis, record.grade)


def test_whoever_is_called_is_told_which_application_an_alert_is_about() -> None:
    world = demanded(staged(BOTH[0]).world).fork()
    world.advance(150.0)
    firing = [alert for alert in world.alerts() if alert.state == "firing"]
    assert {alert.labels["namespace"] for alert in firing} >= {"hotel-reservation", "astronomy-shop"}
    for alert in firing:
        assert alert.labels["namespace"] in alert.summary, alert
