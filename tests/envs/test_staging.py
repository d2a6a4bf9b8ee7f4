"""A staged world is an episode only if its users were served before the faults and are hurt after them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cluster.app import App
from sregym_env.envs import injection, staging
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import ProblemError, StagingError
from sregym_env.faults.onset import FIRST_LOOK
from sregym_env.faults.problems import Problem, curated, pair
from sregym_env.kube.types import Manifest

PARCELS = apps.app("parcel-tracking")


def test_a_fault_that_hurts_nobody_is_no_episode() -> None:
    harmless = pair(apps.DEFAULT, "resource_request_too_small", "geo", {"memory": "900Mi"})
    with pytest.raises(StagingError) as caught:
        staging.stage(harmless, 0)
    told = str(caught.value)
    assert harmless.id in told and "resource_request_too_small:geo" in told
    assert "search: 100.0% in" in told and "promised: 99%" in told and "choose another target" in told


def test_the_environment_says_so_at_reset() -> None:
    probe = {"tcpSocket": {"port": 8080}}
    harmless = pair("parcel-tracking", "liveness_probe_misconfiguration", "edge", {"probe": probe})
    with pytest.raises(StagingError, match="parcel-tracking/liveness_probe_misconfiguration/edge"):
        SREGymEnv(problem=harmless.model_dump(), variation=False).reset(seed=1)


def test_a_healthy_system_may_be_played() -> None:
    healthy = Problem(id="nothing", app="parcel-tracking")
    assert not staging.stage(healthy, 0).specs


def unserved() -> App:
    """The application with a gateway that asks for a tracker where none is."""

    def changed(manifest: Manifest) -> Manifest:
        if manifest["kind"] != "Deployment" or manifest["metadata"]["name"] != "gateway":
            return manifest
        (main,) = manifest["spec"]["template"]["spec"]["containers"]
        env: list[dict[str, Any]] = [
            {**each, "value": each["value"].replace("tracker", "trackers")} for each in main["env"]
        ]
        template = manifest["spec"]["template"]
        spec = {**template["spec"], "containers": [{**main, "env": env}]}
        return {**manifest, "spec": {**manifest["spec"], "template": {**template, "spec": spec}}}

    return replace(PARCELS, manifests=tuple(map(changed, PARCELS.manifests)))


def test_an_application_that_does_not_serve_its_users_is_no_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = unserved()
    monkeypatch.setattr(apps, "app", lambda name: broken)
    with pytest.raises(StagingError) as caught:
        played = pair("parcel-tracking", "scale_to_zero", "ledger").model_copy(update={"variation": False})
        injection.inject(played, 0)
    told = str(caught.value)
    assert "not served before any fault" in told and "track: 0.0% succeed" in told
    assert "sregym validate --app parcel-tracking" in told


def test_names_of_tasks_are_told_to_no_agent_and_salted() -> None:
    """Who knows every problem could tell it from a plain hash."""
    plain, salted = (SREGymEnv(problem="wrong_bin_usage", variation=False, salt=salt) for salt in ("", "s"))
    _, info = plain.reset(seed=1)
    salted.reset(seed=1)
    ids = [env.state()[name] for env in (plain, salted) for name in ("task_id", "episode_id")]
    assert len(set(ids)) == 4 and not set(ids) & {str(value) for value in info.values()}
    assert "task_id" not in info and "salt" not in plain.config()


def test_a_world_that_lacks_what_is_struck_is_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def lacking(
        problem: Problem, seed: int, backend: object = None, *, attempt: int = 0, present: int = 0
    ) -> injection.Injected:
        drawn.append(attempt)
        if attempt == 0:
            raise ProblemError("no service target in this world")
        return injection.inject(problem, seed, attempt=attempt)

    monkeypatch.setattr(staging, "inject", lacking)
    staging.forget()
    staging.stage(pair(apps.DEFAULT, "missing_service", "mongodb-geo"), 4)
    assert drawn[:2] == [0, 1]


def test_of_several_faults_the_last_one_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ordinary events follow a fault until users suffer: once, not once a fault, or days would lie between them."""
    waited: list[tuple[str, float, bool]] = []
    befall = injection.befall

    def noted(world: Any, instance: Any, chance: Any, hurts: Any, pastime: Any = None) -> Any:
        def asked(limit: float) -> bool:
            found = hurts(limit)
            waited.append((instance.declaration.name, limit, found))
            return bool(found)

        return befall(world, instance, chance, asked, pastime)

    monkeypatch.setattr(injection, "befall", noted)
    problem = next(each for each in curated() if each.id == "hotel_res_concurrent_fault")
    injected = injection.inject(problem, 1)
    *before, last = (each.fault for each in problem.faults)
    for name in before:
        assert [(each[1], each[2]) for each in waited if each[0] == name] == [(FIRST_LOOK, True)]
    looks = [each[2] for each in waited if each[0] == last]
    assert looks[-1] and not any(looks[:-1])
    assert injection.suffering(injected.world, injected.baseline)
