"""Problems in which nothing is wrong: what may have been noticed, what is right to say and do, and that it pays nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from sregym_env import apps
from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.occasion import ALARMING, WHAT
from sregym_env.errors import ProblemError
from sregym_env.faults.problems import NO_FAULT, curated, problem
from sregym_env.noise import KINDS
from sregym_env.rewards.checks import failing_journeys
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rewards.labelled.specs import APPS, specs
from sregym_env.rollouts.policies.expert import ExpertPolicy
from sregym_env.rollouts.policies.policy import Turn
from sregym_env.rollouts.shortcuts.diagnoses import STUFFING
from sregym_env.tools.submit import from_argv

HOTEL = "noop_detection_hotel_reservation"
IDS = tuple(each.id for each in curated() if not each.faults)
CLEAR = "Nothing is wrong: all pods are ready and all users are served."

RIGHT = (
    "Nothing is wrong.",
    "nothing is wrong with the application",
    "No fault found: every pod is Ready, all journeys are served and no alert fires.",
    "The system is healthy.",
    "There is no root cause: all services are healthy and users are served.",
    "False alarm. The application works normally.",
    "I checked frontend, search, geo and rate; all of them are ready and answer. There is no problem at present and no repair is needed.",
    "No ongoing incident. A pod of recommendation was restarted once at 10:02 and recovered by itself; users are served.",
    "At first I suspected that geo cannot reach its database, but it can. Nothing is wrong with the system.",
    "The HighRequestErrorRate alert fired at 10:12 because search lost packets for two minutes; it has resolved. Nothing is wrong now.",
    "I could not find any fault in the hotel-reservation application.",
    "## Summary\n- pods: all Running and Ready\n- alerts: none firing\n\nConclusion: nothing is wrong, no action needed.",
    "We found no evidence of any fault; the cluster is healthy.",
    "The whole application is up and running normally. profile-config was edited yesterday, which is unrelated and harmless.",
    "Nothing is broken. The failing CronJob in another namespace is unrelated.",
    "The application is serving its users as it should, so nothing is wrong and nothing was changed.",
    json.dumps({"causes": [{"component": [], "mechanism": "nothing_wrong"}]}),
    json.dumps({"mechanism": "nothing wrong", "because": "it has passed"}),
)

WRONG = (
    "unknown",
    "frontend",
    "Nothing is wrong with geo.",
    "The geo pods are Ready.",
    "Nothing is wrong except that geo's Service has a wrong targetPort 9999.",
    "geo is misconfigured: its Service forwards to port 9999.",
    "I cannot say that nothing is wrong.",
    "It is not true that nothing is wrong.",
    "Either nothing is wrong or geo is broken.",
    "Is nothing wrong?",
    "Probably nothing is wrong.",
    "If the pods are ready, nothing is wrong.",
    "Nothing was wrong yesterday.",
    "Nothing is wrong. The root cause is recommendation.",
    "Nothing is wrong. Perhaps frontend is slow.",
    "Nothing is wrong. Remedy: restart recommendation.",
    "I restarted geo and now nothing is wrong.",
    "Everything is healthy now after I restarted frontend.",
    "All services except geo are healthy.",
    "The system is healthy but rate is throttled by a CPU limit of 10m.",
    "No problem with the network; the fault is in frontend.",
    "No fault was found in search, so it is frontend: its image is defective.",
    "the cluster is fine, the application is not",
    "I was unable to find any problem, but users are not served.",
    "Could not find the root cause.",
    "As far as I can tell all is fine; the problem must be in geo.",
    f"Nothing is wrong. The root cause is geo, which leads to {STUFFING}.",
    json.dumps({"component": "geo", "mechanism": "defective_image"}),
    json.dumps(
        {"causes": [{"mechanism": "nothing_wrong"}, {"component": "geo", "mechanism": "defective_image"}]}
    ),
)


def test_there_is_one_for_every_application_and_any_other() -> None:
    assert {problem(each).app for each in IDS} == set(APPS)
    assert problem(f"social-network/{NO_FAULT}").faults == ()
    with pytest.raises(ProblemError, match="no target"):
        problem(f"social-network/{NO_FAULT}/user-service")


def test_what_may_have_been_noticed_is_what_comes_and_goes_everywhere() -> None:
    assert set(ALARMING) < set(WHAT) == {"", "crowd", *KINDS}


@pytest.mark.parametrize("said", RIGHT)
def test_to_say_that_nothing_is_wrong_is_right_where_nothing_is(said: str) -> None:
    assert SpecJudge().grade(said, (), apps.app("hotel-reservation")).score == 1.0


@pytest.mark.parametrize("said", WRONG)
def test_to_blame_somebody_or_to_leave_it_open_is_not(said: str) -> None:
    assert SpecJudge().grade(said, (), apps.app("hotel-reservation")).score == 0.0


@pytest.mark.parametrize("app", APPS)
def test_that_nothing_is_wrong_earns_nothing_where_something_is(app: str) -> None:
    """Whatever the fault: of every pair that is written about."""
    judge = SpecJudge()
    said = [RIGHT[number] for number in (0, 2, 3, 6, 15, 16)]
    for spec in specs(app).values():
        assert [judge.grade(each, (spec,), apps.app(app)).score for each in said] == [0.0] * len(said)


def test_a_right_cause_beside_it_is_a_contradiction() -> None:
    spec = specs()["wrong_binary", "profile"]
    answer = {"component": list(spec.components), "mechanism": spec.mechanism}
    judge, app = SpecJudge(), apps.app("hotel-reservation")
    assert judge.grade(json.dumps({"causes": [answer]}), (spec,), app).passed
    both = json.dumps({"causes": [answer, {"mechanism": "nothing_wrong"}]})
    assert judge.grade(both, (spec,), app).score == 0.0


def test_who_blames_somebody_with_nothing_is_told_at_once() -> None:
    assert "blames nobody" in str(
        from_argv(["diagnosis", "--component", "geo", "--mechanism", "nothing_wrong"])
    )
    assert "blames nobody" in str(from_argv(["diagnosis", "--mechanism", "nothing_wrong", "--value", "3"]))


@pytest.fixture(scope="module")
def healthy() -> Iterator[SREGymEnv]:
    env = SREGymEnv(HOTEL)
    env.reset(seed=3)
    yield env


def _end(env: SREGymEnv, *lines: str) -> tuple[float, dict[str, object]]:
    played = env.fork()
    earned, info = 0.0, {}
    for line in lines:
        _, reward, _, _, info = played.step(line)
        earned += reward
    return round(earned, 4), info


def test_who_looks_and_says_so_earns_everything(healthy: SREGymEnv) -> None:
    look = "kubectl get pods -n hotel-reservation"
    for said in ("submit diagnosis --mechanism nothing_wrong", f'submit diagnosis "{CLEAR}"'):
        earned, info = _end(healthy, look, said, "submit mitigation")
        assert (earned, info["is_success"]) == (1.0, True)


def test_to_leave_it_alone_pays_only_who_says_why(healthy: SREGymEnv) -> None:
    wrong = "submit diagnosis --component geo --mechanism defective_image"
    assert _end(healthy, wrong, "submit mitigation")[0] == 0.0
    assert _end(healthy, "submit mitigation")[0] == 0.0


@pytest.mark.parametrize(
    "deed",
    [
        "kubectl rollout restart deployment/geo -n hotel-reservation",
        "kubectl delete -n hotel-reservation $(kubectl get pods -n hotel-reservation -o name | grep /geo | head -1)",
        "kubectl scale deployment/geo -n hotel-reservation --replicas=6",
        "kubectl set env deployment/geo -n hotel-reservation NOTE=x",
        "kubectl create configmap note -n hotel-reservation --from-literal=a=b",
        "kubectl run probe -n hotel-reservation --image=busybox -- sleep 3600",
    ],
)
def test_whoever_changes_something_has_done_harm(healthy: SREGymEnv, deed: str) -> None:
    looked, info = _end(
        healthy, f"{deed}; sleep 60", "submit diagnosis --mechanism nothing_wrong", "submit mitigation"
    )
    assert not info["Mitigation"]
    assert info["Diagnosis"]
    assert looked <= 0.4
    assert (
        next(c["name"] for c in json.loads(str(info["grade"]))["oracle"]["checks"] if not c["passed"])
        == "collateral"
    )


@pytest.mark.sampled
@pytest.mark.parametrize("mode", ["proactive", "reactive"])
@pytest.mark.parametrize("id", IDS)
def test_users_are_served_when_the_agent_is_called_and_stay_so(id: str, mode: str) -> None:
    env = SREGymEnv(id, mode=mode)
    for seed in (0, 1):
        env.reset(seed=seed)
        staged = env.episode.staged
        world = staged.world
        assert not failing_journeys(world.traffic.health(30.0), world.app.slo, staged.baseline, 30.0)
        assert (
            _end(env, "submit diagnosis --mechanism nothing_wrong", "sleep 300", "submit mitigation")[0]
            == 1.0
        )


def test_an_alert_may_still_fire_for_what_has_passed() -> None:
    env = SREGymEnv(HOTEL, mode="reactive")
    briefings = [env.reset(seed=seed)[0] for seed in range(3)]
    assert any("Firing alerts:" in each for each in briefings)


def test_an_expert_looks_and_leaves_it_alone() -> None:
    env = SREGymEnv(HOTEL)
    for seed, form in ((0, "structured"), (1, "text")):
        expert = ExpertPolicy(diagnosis=form, style="dead_ends")
        observation, info = env.reset(seed=seed)
        expert.begin(env, observation, seed)
        over = False
        while not over:
            move = expert.act(observation, info)
            said = move if isinstance(move, str) else _line(move)
            observation, _, terminated, truncated, info = env.step(said)
            over = terminated or truncated
        assert info["is_success"], info["grade"]


def _line(move: Turn) -> str:
    return json.dumps({"tool_calls": [each.model_dump(mode="json") for each in move.message.tool_calls]})


def test_what_it_was_called_for_is_the_same_for_everybody(healthy: SREGymEnv) -> None:
    again = SREGymEnv(HOTEL)
    again.reset(seed=3)
    assert again.episode.digest == healthy.episode.digest
