"""Alerts that read a label which no series has: green while users suffer, back once the rules are right and read."""

from __future__ import annotations

import gymnasium as gym
import pytest

import sregym_env  # noqa: F401
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.faults.problems import Problem, pair, parsed

CHOSEN = {"app": "hotel-reservation", "fault": "scale_to_zero", "target": "geo"}
REPAIR = "kubectl scale deploy/geo -n hotel-reservation --replicas=3; sleep 90"
GREEN = "No alerts are pending or firing."
MENDED = (
    "kubectl get cm prometheus-server -n observe -o yaml | sed -E 's/([{,])[a-z0-9_]*namespace[a-z_]*=~/\\1namespace=~/g' > /tmp/cm.yaml; "
    "kubectl replace -f /tmp/cm.yaml"
)
RELOADED = "sleep 120; curl -s -m 5 -X POST http://prometheus-server.observe/-/reload; sleep 150"


def _env(**more: object) -> SREGymEnv:
    return SREGymEnv(**{**CHOSEN, "raise_errors": True, **more})  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=[True, False], ids=["drawn", "published"])
def begun(request: pytest.FixtureRequest) -> SREGymEnv:
    env = _env(silent_alerts=True, variation=request.param)
    env.reset(seed=3)
    return env


def test_alerts_are_green_while_users_suffer(begun: SREGymEnv) -> None:
    env = begun.fork()
    assert GREEN in env.step("alerts")[0]
    assert "no series" in env.step("promql 'service:requests:rate2m'")[0]
    # What was scraped is there all the same.
    assert "no series" not in env.step("promql 'kube_deployment_status_replicas_available == 0'")[0]
    usual = _env(variation=begun.config()["variation"])
    usual.reset(seed=3)
    assert "firing" in usual.step("alerts")[0]


def test_rules_put_right_and_read_bring_the_alerts_back(begun: SREGymEnv) -> None:
    env = begun.fork()
    env.step(MENDED)
    assert GREEN in env.step("alerts")[0]
    env.step(RELOADED)
    assert "firing" in env.step("alerts")[0]


def test_another_pod_reads_them_as_well(begun: SREGymEnv) -> None:
    env = begun.fork()
    env.step(MENDED)
    env.step("kubectl rollout restart deploy/prometheus-server -n observe; sleep 180")
    assert "firing" in env.step("alerts")[0]


@pytest.mark.parametrize("mended", [False, True])
def test_the_repair_counts_with_and_without_them(begun: SREGymEnv, mended: bool) -> None:
    env = begun.fork()
    if mended:
        env.step(MENDED)
        env.step("kubectl rollout restart deploy/prometheus-server -n observe; sleep 120")
    env.step(REPAIR)
    env.step('submit diagnosis "deployment geo was scaled to zero replicas, so there is no pod of it"')
    _, _, ended, _, info = env.step("submit mitigation")
    assert ended
    assert info["Mitigation"], info["grade"]


def test_who_puts_right_nothing_else_has_repaired_nothing(begun: SREGymEnv) -> None:
    env = begun.fork()
    env.step(MENDED)
    env.step(RELOADED)
    env.step('submit diagnosis "the alerting rules read a label that was renamed"')
    _, _, _, _, info = env.step("submit mitigation")
    assert not info["Mitigation"]
    assert not info["Diagnosis"]


def test_it_is_switched_on_by_make_and_by_reset() -> None:
    env = gym.make("SREGym/scale_pod_zero_social_net-v0", silent_alerts=True)
    env.reset(seed=1)
    assert GREEN in env.step("alerts")[0]
    env = _env()
    env.reset(seed=1, options={"silent_alerts": True})
    assert GREEN in env.step("alerts")[0]
    assert env.config()["silent_alerts"] is True


def test_nobody_is_called_by_silent_alerts() -> None:
    with pytest.raises(UsageError, match="silent_alerts"):
        _env(silent_alerts=True, mode="reactive").reset(seed=0)


def test_a_problem_without_it_is_written_as_ever() -> None:
    plain = pair("hotel-reservation", "scale_to_zero", "geo")
    assert "silent_alerts" not in plain.model_dump()
    silent = plain.model_copy(update={"silent_alerts": True})
    assert parsed(silent.model_dump(mode="json")) == silent
    assert Problem.model_validate_json(silent.model_dump_json()).silent_alerts


def test_rules_that_prometheus_refuses_change_nothing() -> None:
    env = _env(variation=False)
    env.reset(seed=2)
    env.step(
        'kubectl patch cm prometheus-server -n observe --type merge -p \'{"data":{"alerting_rules.yml":"groups: 7"}}\'; sleep 120'
    )
    told = env.step("curl -s -m 5 -X POST http://prometheus-server.observe/-/reload")[0]
    assert "failed to reload config" in told
    assert "firing" in env.step("alerts")[0]
