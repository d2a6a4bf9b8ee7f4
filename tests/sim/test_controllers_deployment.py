"""Deployments and ReplicaSets: rollouts, sizes, revisions, conditions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.status import StatusError
from sregym_env.sim import apiserver
from sregym_env.sim.controllers import rollout
from sregym_env.sim.controllers.replicaset import slow_start
from sregym_env.sim.world import SimWorld
from tests.sim.control_plane import (
    change,
    cluster,
    create,
    get,
    kubelet,
    names,
    pods,
    run,
    said,
    template,
    workload,
)

DEPLOYMENTS, SETS = "deployments.apps", "replicasets.apps"


def deployed(replicas: int = 4, **spec: Any) -> SimWorld:
    world = cluster("n1")
    create(world, DEPLOYMENTS, "web", workload(replicas=replicas, **spec))
    run(world)
    return world


def condition(obj: Any, type: str) -> tuple[str, str, str]:
    found = next(c for c in obj["status"]["conditions"] if c["type"] == type)
    return found["status"], found["reason"], found["message"]


def sizes(world: SimWorld) -> dict[str, int]:
    """Replicas by image."""
    return {
        rs["spec"]["template"]["spec"]["containers"][0]["image"]: rs["spec"]["replicas"]
        for rs in world.store.list(SETS)
    }


def test_deployment_brings_up_its_pods() -> None:
    world = deployed(3)
    web = get(world, DEPLOYMENTS, "web")
    name = names(world, SETS)[0]
    status = {key: value for key, value in web["status"].items() if key != "conditions"}
    assert status == {
        "observedGeneration": 1,
        "replicas": 3,
        "updatedReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
    }
    assert condition(web, "Available") == (
        "True",
        "MinimumReplicasAvailable",
        "Deployment has minimum availability.",
    )
    assert condition(web, "Progressing") == (
        "True",
        "NewReplicaSetAvailable",
        f'ReplicaSet "{name}" has successfully progressed.',
    )
    assert web["metadata"]["annotations"][rollout.REVISION] == "1"
    assert said(world, "ScalingReplicaSet") == [f"Scaled up replica set {name} from 0 to 3"]
    digest = name.removeprefix("web-")
    assert all(pod["metadata"]["labels"]["pod-template-hash"] == digest for pod in pods(world))


def test_a_settled_deployment_is_quiet() -> None:
    world = deployed()
    world.advance(5)
    revision = world.store.revision
    world.advance(3000)
    assert world.store.revision == revision


@pytest.mark.parametrize(
    ("surge", "unavailable", "most", "least"),
    [("25%", "25%", 5, 3), (1, 0, 5, 4), (0, 1, 4, 3), ("50%", 0, 6, 4), (0, "10%", 4, 3)],
)
def test_rolling_update_keeps_its_bounds(surge: Any, unavailable: Any, most: int, least: int) -> None:
    strategy = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable},
    }
    world = deployed(4, strategy=strategy)
    change(world, DEPLOYMENTS, "web", template=template(image="nginx:2"))
    for _ in range(30):
        world.settle()
        assert len([pod for pod in pods(world) if "deletionTimestamp" not in pod["metadata"]]) <= most
        assert get(world, DEPLOYMENTS, "web")["status"]["availableReplicas"] >= least
        if not kubelet(world):
            break
    assert sizes(world) == {"nginx:1.27": 0, "nginx:2": 4}
    assert condition(get(world, DEPLOYMENTS, "web"), "Progressing")[1] == "NewReplicaSetAvailable"


def test_rollout_that_never_gets_ready_keeps_the_old_pods_and_times_out() -> None:
    world = deployed(4)
    change(world, DEPLOYMENTS, "web", template=template(image="broken"))
    run(world, ready=False)
    assert sizes(world) == {"nginx:1.27": 3, "broken": 2}
    world.advance(300)
    assert condition(get(world, DEPLOYMENTS, "web"), "Progressing")[1] == "ReplicaSetUpdated"
    world.advance(310)
    web = get(world, DEPLOYMENTS, "web")
    name = next(rs for rs in world.store.list(SETS) if rs["spec"]["replicas"] == 2)["metadata"]["name"]
    text = f'ReplicaSet "{name}" has timed out progressing.'
    assert condition(web, "Progressing") == ("False", "ProgressDeadlineExceeded", text)


def test_rollback_reuses_the_old_replica_set_and_raises_its_revision() -> None:
    world = deployed(2)
    change(world, DEPLOYMENTS, "web", template=template(image="nginx:2"))
    run(world)
    change(world, DEPLOYMENTS, "web", template=template())
    run(world)
    assert sizes(world) == {"nginx:1.27": 2, "nginx:2": 0}
    old = next(rs for rs in world.store.list(SETS) if rs["spec"]["replicas"] == 2)
    assert old["metadata"]["annotations"][rollout.REVISION] == "3"
    assert old["metadata"]["annotations"][rollout.REVISION_HISTORY] == "1"
    assert get(world, DEPLOYMENTS, "web")["metadata"]["annotations"][rollout.REVISION] == "3"


def test_history_is_cut_to_its_limit() -> None:
    world = deployed(1, revisionHistoryLimit=1)
    for number in range(2, 6):
        change(world, DEPLOYMENTS, "web", template=template(image=f"nginx:{number}"))
        run(world)
    assert sizes(world) == {"nginx:4": 0, "nginx:5": 1}


def test_recreate_waits_until_the_last_old_pod_is_gone() -> None:
    world = deployed(2, strategy={"type": "Recreate"})
    change(world, DEPLOYMENTS, "web", template=template(image="nginx:2"))
    world.settle()
    assert sizes(world) == {"nginx:1.27": 0}
    kubelet(world)
    world.settle()
    assert sizes(world) == {"nginx:1.27": 0, "nginx:2": 2}


def test_scaling_in_the_middle_of_a_rollout_is_proportional() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
    world = deployed(10, strategy=strategy)
    change(world, DEPLOYMENTS, "web", template=template(image="broken"))
    run(world, ready=False)
    assert sizes(world) == {"nginx:1.27": 8, "broken": 5}
    change(world, DEPLOYMENTS, "web", replicas=15)
    world.settle()
    # The example of the Kubernetes documentation: three of the five go to the larger set.
    assert sizes(world) == {"nginx:1.27": 11, "broken": 7}


def test_paused_deployment_scales_but_does_not_roll() -> None:
    world = deployed(2)
    change(world, DEPLOYMENTS, "web", paused=True, template=template(image="nginx:2"))
    run(world)
    web = get(world, DEPLOYMENTS, "web")
    assert condition(web, "Progressing") == ("Unknown", "DeploymentPaused", "Deployment is paused")
    change(world, DEPLOYMENTS, "web", replicas=3)
    run(world)
    assert sizes(world) == {"nginx:1.27": 3}
    change(world, DEPLOYMENTS, "web", paused=False)
    run(world)
    assert sizes(world) == {"nginx:1.27": 0, "nginx:2": 3}


def test_min_ready_seconds_delay_availability() -> None:
    world = deployed(1, minReadySeconds=30)
    assert "availableReplicas" not in get(world, DEPLOYMENTS, "web")["status"]
    world.advance(31)
    assert get(world, DEPLOYMENTS, "web")["status"]["availableReplicas"] == 1


def test_refused_pods_show_up_as_replica_failure_and_come_back() -> None:
    world = cluster("n1")
    spec = workload(replicas=2)
    spec["template"]["spec"]["serviceAccountName"] = "robot"
    create(world, DEPLOYMENTS, "web", spec)
    world.settle()
    message = condition(get(world, DEPLOYMENTS, "web"), "ReplicaFailure")[2]
    assert message.endswith(
        'is forbidden: error looking up service account default/robot: serviceaccount "robot" not found'
    )
    assert said(world, "FailedCreate")[0].startswith('Error creating: pods "web-')
    create(world, "serviceaccounts", "robot")
    world.advance(300)
    assert len(pods(world)) == 2
    assert not any(
        c["type"] == "ReplicaFailure" for c in get(world, DEPLOYMENTS, "web")["status"]["conditions"]
    )


def test_replica_set_replaces_deleted_and_failed_pods() -> None:
    world = deployed(2)
    first, second = pods(world)
    apiserver.delete(world, "pods", "default", first["metadata"]["name"])
    failed = {**second["status"], "phase": "Failed", "conditions": []}
    apiserver.update_status(world, "pods", "default", second["metadata"]["name"], failed)
    run(world)
    running = [pod for pod in pods(world) if pod["status"]["phase"] == "Running"]
    assert len(running) == 2
    assert first["metadata"]["name"] not in names(world, "pods")


def test_scale_down_takes_the_pod_that_is_not_ready() -> None:
    world = deployed(3)
    victim = pods(world)[1]
    status = {**victim["status"], "conditions": []}
    apiserver.update_status(world, "pods", "default", victim["metadata"]["name"], status)
    change(world, DEPLOYMENTS, "web", replicas=2)
    run(world)
    assert len(pods(world)) == 2
    assert victim["metadata"]["name"] not in names(world, "pods")


def test_orphans_are_adopted_and_strangers_released() -> None:
    world = deployed(1)
    pod = pods(world)[0]
    name = pod["metadata"]["name"]
    apiserver.patch_metadata(world, "pods", "default", name, labels={"app": "other"})
    run(world)
    assert "ownerReferences" not in get(world, "pods", name)["metadata"]
    assert len(pods(world, app="web")) == 1
    apiserver.patch_metadata(world, "pods", "default", name, labels={"app": "web"})
    run(world)
    assert len(pods(world, app="web")) == 1


@pytest.mark.parametrize(("count", "allowed", "tried"), [(10, 99, 10), (10, 0, 1), (10, 1, 3), (10, 3, 7)])
def test_slow_start_stops_after_a_batch_with_failures(count: int, allowed: int, tried: int) -> None:
    calls = 0

    def make() -> StatusError | None:
        nonlocal calls
        calls += 1
        return None if calls <= allowed else StatusError(403, "Forbidden", "no")

    assert (slow_start(count, make) is None) == (count <= allowed)
    assert calls == tried


@given(
    replicas=st.integers(0, 200),
    surge=st.one_of(st.integers(0, 50), st.integers(0, 100).map(lambda n: f"{n}%")),
    unavailable=st.one_of(st.integers(0, 50), st.integers(0, 100).map(lambda n: f"{n}%")),
    sizes=st.lists(st.integers(0, 100), max_size=4),
    new=st.integers(0, 100),
)
def test_new_replicas_never_exceed_what_surge_allows(
    replicas: int, surge: Any, unavailable: Any, sizes: list[int], new: int
) -> None:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    web = {"spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}}
    most, missing = rollout.surge_and_unavailable(web)
    assert most + missing >= (1 if replicas else 0)
    assert missing <= max(replicas, 0)
    current = {"spec": {"replicas": min(new, replicas)}}
    every = [current, *({"spec": {"replicas": size}} for size in sizes)]
    size = rollout.new_replicas(web, every, current)
    assert size >= current["spec"]["replicas"]
    if size > current["spec"]["replicas"]:
        assert rollout.total(every) - current["spec"]["replicas"] + size <= replicas + most
        assert size <= replicas
