"""The kubelet brings pods up, keeps them up, and says what is wrong in the kubelet's own words."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from sregym_env.cluster.disturbances import DiskReadErrors, RegistryLogin
from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.clock import EPOCH, MINUTE
from sregym_env.sim import apiserver
from sregym_env.sim.machines import kubelet, nodes
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Process
from tests.sim.kubelet_world import (
    Behaviour,
    behaviour,
    condition,
    create,
    events,
    get,
    new_world,
    pod,
    state,
)

__all__ = ["behaviour"]


def test_a_pod_comes_up_and_the_cluster_falls_silent(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod())
    world.advance(20)
    status = get(world)["status"]
    assert status["phase"] == "Running"
    assert status["qosClass"] == "BestEffort"
    assert status["podIP"].startswith("10.244.")
    assert [c["type"] for c in status["conditions"]] == [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ]
    assert all(c["status"] == "True" for c in status["conditions"])
    assert state(world)["containerID"].startswith("containerd://")
    assert events(world, "Created") == ["Created container: main"]
    assert events(world, "Started") == ["Started container main"]
    assert len(world.queue) == 0
    assert behaviour.started[0].argv == ("app",)


def test_an_image_that_is_there_is_not_pulled_again(behaviour: Behaviour) -> None:
    world = new_world()
    for name in ("a", "b"):
        create(world, pod(name, nodeName="sre-worker"))
        world.advance(10)
    assert len(events(world, "Pulling")) == 1
    assert events(world, "Pulled")[1] == 'Container image "app:1" already present on machine'
    addresses = {get(world, name)["status"]["podIP"] for name in ("a", "b")}
    assert addresses == {"10.244.1.2", "10.244.1.3"}


@pytest.mark.parametrize(
    ("image", "text"),
    [
        (
            "app:9",
            'failed to resolve reference "docker.io/library/app:9": docker.io/library/app:9: not found',
        ),
        ("nobody/nothing:1", "pull access denied, repository does not exist or may require authorization"),
        ("registry.invalid/x:1", "dial tcp: lookup registry.invalid on 172.18.0.1:53: no such host"),
        ("ghcr.io/none/such:1", "failed to fetch anonymous token"),
    ],
)
def test_a_missing_image_backs_off(behaviour: Behaviour, image: str, text: str) -> None:
    world = new_world()
    create(world, pod(container={"image": image}))
    world.advance(4)
    waiting = state(world)["state"]["waiting"]
    assert waiting["reason"] == "ErrImagePull"
    assert text in waiting["message"]
    world.advance(10)
    waiting = state(world)["state"]["waiting"]
    assert waiting["reason"] == "ImagePullBackOff"
    assert waiting["message"].startswith(
        f'Back-off pulling image "{image}": ErrImagePull: rpc error: code = '
    )
    assert "Error: ErrImagePull" in events(world, "Failed")
    assert "Error: ImagePullBackOff" in events(world, "Failed")
    assert get(world)["status"]["phase"] == "Pending"
    ready = condition(get(world), "Ready")
    assert ready["message"] == "containers with unready status: [main]"


@pytest.mark.parametrize(
    ("container", "reason"),
    [
        ({"image": "app:UPPER/x"}, "InvalidImageName"),
        ({"imagePullPolicy": "Never"}, "ErrImageNeverPull"),
        (
            {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}]},
            "CreateContainerConfigError",
        ),
        ({"envFrom": [{"secretRef": {"name": "s"}}]}, "CreateContainerConfigError"),
        ({"securityContext": {"runAsNonRoot": True}}, "CreateContainerConfigError"),
    ],
)
def test_containers_that_cannot_be_created(
    behaviour: Behaviour, container: dict[str, Any], reason: str
) -> None:
    world = new_world()
    create(world, pod(container=container))
    world.advance(10)
    assert state(world)["state"]["waiting"]["reason"] == reason


def test_a_missing_key_is_named_and_cured(behaviour: Behaviour) -> None:
    world = new_world()
    source = {"configMapKeyRef": {"name": "settings", "key": "mode"}}
    create(world, pod(container={"env": [{"name": "MODE", "valueFrom": source}]}))
    world.advance(5)
    assert state(world)["state"]["waiting"]["message"] == 'configmap "settings" not found'
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "default"},
    }
    apiserver.create(world, "configmaps", {**config, "data": {"other": "x"}})
    world.advance(13)
    assert (
        state(world)["state"]["waiting"]["message"] == "couldn't find key mode in ConfigMap default/settings"
    )
    apiserver.update(world, "configmaps", {**config, "data": {"mode": "fast"}})
    world.advance(13)
    assert behaviour.started[0].env["MODE"] == "fast"


def test_a_wrong_command_is_a_start_error(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod(container={"command": ["nope"]}))
    world.advance(8)
    found = state(world)
    last = found["lastState"]["terminated"]
    assert (last["reason"], last["exitCode"]) == ("StartError", 128)
    assert last["message"].endswith('exec: "nope": executable file not found in $PATH: unknown')
    assert last["startedAt"] == "1970-01-01T00:00:00Z"
    world.advance(60)
    assert state(world)["state"]["waiting"]["reason"] == "CrashLoopBackOff"


def _crashes(world: SimWorld, process: Process) -> None:
    kubelet.exited(world, process.key, 1, restart=process.restart)


def test_crash_loop_back_off_doubles_to_five_minutes(behaviour: Behaviour) -> None:
    behaviour.on_start = _crashes
    world = new_world()
    create(world, pod())
    world.advance(3600)
    starts = [process.started_at for process in behaviour.started]
    gaps = [round((b - a) / 1e6) for a, b in pairwise(starts)]
    assert gaps[:8] == [0, 10, 20, 40, 80, 160, 300, 300] or gaps[:8] == [1, 10, 20, 40, 80, 160, 300, 300]
    found = state(world)
    assert found["restartCount"] == len(starts) - 1
    assert found["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    uid = get(world)["metadata"]["uid"]
    text = f"back-off 5m0s restarting failed container=main pod=web_default({uid})"
    assert found["state"]["waiting"]["message"] == text
    assert found["lastState"]["terminated"]["reason"] == "Error"
    assert get(world)["status"]["phase"] == "Running"


def test_an_end_is_shown_before_the_back_off(behaviour: Behaviour) -> None:
    behaviour.on_start = _crashes
    world = new_world()
    create(world, pod())
    world.advance(200)  # a back-off of 160 s has begun
    shown: list[tuple[int, str]] = []
    while len(shown) < 4:
        found = state(world)
        (kind, what), *_ = found["state"].items()
        word = what.get("reason", kind)
        if not shown or shown[-1][1] != word:
            shown.append((world.now(), word))
        world.advance(1)
    words = [word for _, word in shown]
    assert words in (["CrashLoopBackOff", "Error"] * 2, ["Error", "CrashLoopBackOff"] * 2)
    at = words.index("Error", 1 if words[0] == "Error" else 0)
    if at + 1 < len(shown):
        assert 10 <= (shown[at + 1][0] - shown[at][0]) / 1e6 <= 16


def test_a_short_back_off_shows_the_end_and_then_itself(behaviour: Behaviour) -> None:
    behaviour.on_start = _crashes
    world = new_world()
    create(world, pod())
    seen = []
    for _ in range(60):
        (kind, what), *_ = (
            state(world)["state"].items()
            if get(world).get("status", {}).get("containerStatuses")
            else [("", {})]
        )
        seen.append(what.get("reason", kind))
        world.advance(0.5)
    words = [word for word, before in zip(seen, [None, *seen], strict=False) if word != before]
    assert words[words.index("Error") :][:4] == ["Error", "CrashLoopBackOff", "Error", "CrashLoopBackOff"]


def test_back_off_is_forgiven_after_ten_minutes(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod())
    world.advance(5)
    for _ in range(3):
        kubelet.exited(world, behaviour.started[-1].key, 137, "OOMKilled")
        world.advance(60)
    assert state(world)["restartCount"] == 3
    assert state(world)["lastState"]["terminated"]["reason"] == "OOMKilled"
    world.advance(700)
    kubelet.exited(world, behaviour.started[-1].key, 1)
    world.advance(2)
    assert state(world)["restartCount"] == 4


@pytest.mark.parametrize(
    ("policy", "code", "phase", "restarts"),
    [
        ("Never", 0, "Succeeded", 0),
        ("Never", 3, "Failed", 0),
        ("OnFailure", 0, "Succeeded", 0),
        ("OnFailure", 3, "Running", 1),
    ],
)
def test_restart_policy(behaviour: Behaviour, policy: str, code: int, phase: str, restarts: int) -> None:
    world = new_world()
    create(world, pod(restartPolicy=policy))
    world.advance(5)
    kubelet.exited(world, behaviour.started[0].key, code)
    world.advance(5)
    assert get(world)["status"]["phase"] == phase
    assert state(world)["restartCount"] == restarts
    if phase == "Succeeded":
        assert condition(get(world), "Ready")["reason"] == "PodCompleted"


def test_graceful_deletion(behaviour: Behaviour) -> None:
    behaviour.sigterm = (3.0, 0)
    world = new_world()
    create(world, pod())
    world.advance(5)
    apiserver.delete(world, "pods", "default", "web")
    world.advance(2)
    assert "deletionTimestamp" in get(world)["metadata"]
    assert events(world, "Killing") == ["Stopping container main"]
    world.advance(2)
    assert world.store.get("pods", "default", "web") is None
    assert not world.processes
    assert not world.runtime


def test_sigkill_after_the_grace_period(behaviour: Behaviour) -> None:
    behaviour.sigterm = (1e9, 0)
    world = new_world()
    create(world, pod(terminationGracePeriodSeconds=20))
    world.advance(5)
    apiserver.delete(world, "pods", "default", "web")
    world.advance(19)
    assert world.processes
    world.advance(2)
    assert not world.processes
    assert world.store.get("pods", "default", "web") is None


def test_force_deletion_ends_processes_at_once(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod())
    world.advance(5)
    apiserver.delete(world, "pods", "default", "web", grace=0)
    world.advance(1)
    assert not world.processes
    assert not world.runtime


def test_readiness_gates_the_pod(behaviour: Behaviour) -> None:
    behaviour.probe = (False, "dial tcp 10.244.1.2:80: connect: connection refused")
    world = new_world()
    probe = {"tcpSocket": {"port": 80}, "periodSeconds": 5}
    create(world, pod(container={"readinessProbe": probe}))
    world.advance(30)
    assert state(world)["ready"] is False
    text = "Readiness probe failed: dial tcp 10.244.1.2:80: connect: connection refused"
    assert events(world, "Unhealthy") == [text]
    behaviour.probe = (True, "")
    world.advance(6)
    assert condition(get(world), "Ready")["status"] == "True"


def test_a_settled_probe_costs_nothing_until_something_changes(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod(container={"readinessProbe": {"tcpSocket": {"port": 80}}}))
    world.advance(60)
    done = behaviour.probes
    assert len(world.queue) == 0
    world.advance(3600)
    assert behaviour.probes == done
    behaviour.probe = (False, "dial tcp: connect: connection refused")
    world.touch()
    world.advance(35)
    assert condition(get(world), "Ready")["status"] == "False"


def test_what_a_registry_says_unsettles_no_probe(behaviour: Behaviour) -> None:
    world = new_world()
    world.disturbances = (RegistryLogin("quay.io", "team:secret", known=False),)
    create(world, pod(container={"readinessProbe": {"exec": {"command": ["redis-cli", "ping"]}}}))
    world.advance(60)
    assert len(world.queue) == 0
    world.disturbances = (DiskReadErrors("node-1"),)
    world.touch()
    world.advance(60)
    assert len(world.queue) > 0


def test_liveness_restarts_the_container(behaviour: Behaviour) -> None:
    behaviour.probe = (False, "HTTP probe failed with statuscode: 500")
    world = new_world()
    create(world, pod(container={"livenessProbe": {"httpGet": {"path": "/", "port": 80}}}))
    world.advance(40)
    assert "Container main failed liveness probe, will be restarted" in events(world, "Killing")
    assert state(world)["restartCount"] == 1
    assert "Liveness probe failed: HTTP probe failed with statuscode: 500" in events(world, "Unhealthy")


def test_startup_probe_comes_first(behaviour: Behaviour) -> None:
    behaviour.probe = (False, "not yet")
    world = new_world()
    probe = {"tcpSocket": {"port": 80}, "periodSeconds": 1}
    container = {"startupProbe": {**probe, "failureThreshold": 30}, "readinessProbe": probe}
    create(world, pod(container=container))
    world.advance(10)
    assert state(world)["started"] is False
    assert all(text.startswith("Startup probe failed") for text in events(world, "Unhealthy"))
    behaviour.probe = (True, "")
    world.advance(5)
    assert state(world)["started"] is True
    assert state(world)["ready"] is True


def test_exec_probe_uses_the_command(behaviour: Behaviour) -> None:
    behaviour.command = ExecResult("", "ERROR 1040: Too many connections\n", 1)
    world = new_world()
    create(world, pod(container={"readinessProbe": {"exec": {"command": ["app", "ping"]}}}))
    world.advance(20)
    assert events(world, "Unhealthy") == ["Readiness probe failed: ERROR 1040: Too many connections"]


def test_init_containers_run_in_order(behaviour: Behaviour) -> None:
    world = new_world()
    inits = [{"name": f"init-{i}", "image": "app:1"} for i in range(2)]
    create(world, pod(initContainers=inits))
    world.advance(5)
    assert [p.container for p in behaviour.started] == ["init-0"]
    initialised = condition(get(world), "Initialized")
    assert initialised["message"] == "containers with incomplete status: [init-0 init-1]"
    assert state(world)["state"]["waiting"]["reason"] == "PodInitializing"
    first = get(world)["status"]["initContainerStatuses"][0]
    assert (first["ready"], first["started"], list(first["state"])) == (False, True, ["running"])
    kubelet.exited(world, behaviour.started[0].key, 0)
    world.advance(5)
    kubelet.exited(world, behaviour.started[1].key, 0)
    world.advance(5)
    assert [p.container for p in behaviour.started] == ["init-0", "init-1", "main"]
    assert get(world)["status"]["phase"] == "Running"
    first = get(world)["status"]["initContainerStatuses"][0]
    assert first["state"]["terminated"]["reason"] == "Completed"
    assert (first["ready"], first["started"]) == (True, False)


def test_a_sidecar_ends_with_the_pod(behaviour: Behaviour) -> None:
    world = new_world()
    sidecar = {"name": "proxy", "image": "app:1", "restartPolicy": "Always"}
    create(world, pod(initContainers=[sidecar], restartPolicy="Never"))
    world.advance(5)
    assert [p.container for p in behaviour.started] == ["proxy", "main"]
    kubelet.exited(world, behaviour.started[1].key, 0)
    world.advance(5)
    assert get(world)["status"]["phase"] == "Succeeded"
    assert not world.processes


def test_a_missing_config_map_keeps_the_pod_from_mounting(behaviour: Behaviour) -> None:
    world = new_world()
    volume = {"name": "conf", "configMap": {"name": "settings"}}
    create(
        world, pod(volumes=[volume], container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]})
    )
    world.advance(5)
    text = 'MountVolume.SetUp failed for volume "conf" : configmap "settings" not found'
    assert events(world, "FailedMount") == [text]
    assert state(world)["state"]["waiting"]["reason"] == "ContainerCreating"
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "default"},
    }
    apiserver.create(world, "configmaps", {**config, "data": {"a": "1"}})
    world.advance(20)
    process = behaviour.started[0]
    assert kubelet.mounted(world, process, process.mounts[0]) == {"a": "1"}
    apiserver.update(world, "configmaps", {**config, "data": {"a": "2"}})
    world.advance(30)
    assert kubelet.mounted(world, process, process.mounts[0]) == {"a": "1"}
    world.advance(50)
    assert kubelet.mounted(world, process, process.mounts[0]) == {"a": "2"}


def test_sub_path_mounts_never_change(behaviour: Behaviour) -> None:
    world = new_world()
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "default"},
    }
    apiserver.create(world, "configmaps", {**config, "data": {"a": "1"}})
    mount = {"name": "conf", "mountPath": "/etc/app/a", "subPath": "a"}
    volume = {"name": "conf", "configMap": {"name": "settings"}}
    create(world, pod(volumes=[volume], container={"volumeMounts": [mount]}))
    world.advance(5)
    apiserver.update(world, "configmaps", {**config, "data": {"a": "2"}})
    world.advance(200)
    process = behaviour.started[0]
    assert kubelet.mounted(world, process, process.mounts[0]) == {"a": "1"}


def test_an_image_change_restarts_the_container(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod())
    world.advance(5)
    current = get(world)
    containers = [{**current["spec"]["containers"][0], "image": "app:2"}]
    apiserver.update(world, "pods", {**current, "spec": {**current["spec"], "containers": containers}})
    world.advance(10)
    assert "Container main definition changed, will be restarted" in events(world, "Killing")
    assert state(world)["image"] == "docker.io/library/app:2"
    assert state(world)["restartCount"] == 1


def test_active_deadline(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod(activeDeadlineSeconds=30, restartPolicy="Never"))
    world.advance(40)
    status = get(world)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert not world.processes


def test_a_full_node_refuses_a_pod_that_skipped_the_scheduler(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod(container={"resources": {"requests": {"cpu": "9"}}}, nodeName="sre-worker"))
    world.advance(5)
    status = get(world)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "OutOfcpu")
    assert status["message"].endswith("requested: 9000, used: 0, capacity: 8000")


@pytest.mark.parametrize(
    "wish",
    [
        {"nodeSelector": {"disktype": "ssd"}},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {
                                        "key": "kubernetes.io/hostname",
                                        "operator": "NotIn",
                                        "values": ["sre-worker"],
                                    }
                                ]
                            }
                        ]
                    }
                }
            }
        },
    ],
)
def test_a_node_refuses_a_pod_that_asks_for_another_one(behaviour: Behaviour, wish: dict[str, Any]) -> None:
    world = new_world()
    create(world, pod(nodeName="sre-worker", **wish))
    world.advance(5)
    status = get(world)["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "NodeAffinity")
    assert status["message"] == (
        "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
    )


def test_a_pod_of_an_unknown_node_stays_pending(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod(nodeName="nowhere"))
    world.advance(60)
    assert get(world)["status"]["phase"] == "Pending"
    assert events(world) == []


def test_a_dead_kubelet_does_nothing_until_it_is_back(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod(nodeName="sre-worker"))
    world.memory["node.down:sre-worker"] = world.now()
    world.advance(60)
    assert get(world)["status"]["phase"] == "Pending"
    del world.memory["node.down:sre-worker"]
    kubelet.wake_node(world, "sre-worker")
    world.advance(10)
    assert get(world)["status"]["phase"] == "Running"


def test_memory_pressure_evicts_the_greediest_pod(behaviour: Behaviour) -> None:
    world = new_world()
    for name in ("small", "big"):
        create(world, pod(name, nodeName="sre-worker"))
    world.advance(10)
    for process in behaviour.started:
        world.change_process(process.key, memory=(15 if process.pod == "big" else 1) * 2**30)
    world.advance(10)
    evicted = get(world, "big")["status"]
    assert (evicted["phase"], evicted["reason"]) == ("Failed", "Evicted")
    assert evicted["message"].startswith("The node was low on resource: memory. Threshold quantity: 100Mi")
    assert get(world, "small")["status"]["phase"] == "Running"
    node = world.store.get("nodes", "", "sre-worker")
    assert node is not None
    assert condition(node, "MemoryPressure")["status"] == "True"
    # However much happens meanwhile, kubelets look again once an interval for that.
    for number in range(20):
        create(world, pod(f"more-{number}", nodeName="sre-worker"))
        world.advance(2)
    again = [event for event in world.queue if event.kind == "kubelet.look"]
    assert len(again) <= 2
    world.advance(400)
    node = world.store.get("nodes", "", "sre-worker")
    assert node is not None
    assert condition(node, "MemoryPressure")["status"] == "False"


def test_service_links_and_references_reach_the_environment(behaviour: Behaviour) -> None:
    world = new_world()
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "my-db", "namespace": "default"},
        "spec": {"ports": [{"port": 5432}], "selector": {"a": "b"}},
    }
    made = apiserver.create(world, "services", service)
    env = [
        {"name": "HOST", "value": "$(MY_DB_SERVICE_HOST):$(MISSING)"},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ]
    create(world, pod(container={"env": env, "args": ["--at=$(NODE)"]}))
    world.advance(5)
    process = behaviour.started[0]
    assert process.env["HOST"] == f"{made['spec']['clusterIP']}:$(MISSING)"
    assert process.env["IP"] == process.ip
    assert process.env["MY_DB_PORT_5432_TCP_PORT"] == "5432"
    assert process.argv == ("app", f"--at={process.node}")


def test_a_fork_goes_its_own_way(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod())
    world.advance(5)
    other = world.fork()
    apiserver.delete(other, "pods", "default", "web")
    other.advance(60)
    assert other.store.get("pods", "default", "web") is None
    assert get(world)["status"]["phase"] == "Running"
    assert world.processes


def test_heartbeats_are_fresh_without_events(behaviour: Behaviour) -> None:
    world = new_world()
    world.run_until(EPOCH + 10_000 * MINUTE)
    lease = world.store.get("leases.coordination.k8s.io", "kube-node-lease", "sre-worker")
    node = world.store.get("nodes", "", "sre-worker")
    assert lease is not None
    assert node is not None
    shown = nodes.present(world, node)
    assert condition(shown, "Ready")["lastHeartbeatTime"] > "2026-08-13T08:34"
    assert nodes.present(world, lease)["spec"]["renewTime"] > "2026-08-13T08:39:4"


def test_a_finalizer_keeps_the_pod_and_how_it_ended(behaviour: Behaviour) -> None:
    behaviour.sigterm = (1.0, 143)
    world = new_world()
    kept = pod()
    kept["metadata"]["finalizers"] = ["example.com/keep"]
    create(world, kept)
    world.advance(5)
    apiserver.delete(world, "pods", "default", "web")
    world.advance(60)
    found = get(world)
    assert found["status"]["phase"] == "Failed"
    assert found["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143
    assert not world.processes
    apiserver.patch_metadata(world, "pods", "default", "web", finalizers=[])
    world.advance(5)
    assert world.store.get("pods", "default", "web") is None


def test_an_empty_dir_has_a_limit(behaviour: Behaviour) -> None:
    world = new_world()
    volume = {"name": "scratch", "emptyDir": {"sizeLimit": "1Ki"}}
    create(
        world, pod(volumes=[volume], container={"volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}]})
    )
    world.advance(5)
    uid = get(world)["metadata"]["uid"]
    world.volumes[f"emptydir/{uid}/scratch"] = {"big": "x" * 2000}
    world.touch()
    world.advance(5)
    status = get(world)["status"]
    assert status["reason"] == "Evicted"
    assert status["message"] == 'Usage of EmptyDir volume "scratch" exceeds the limit "1Ki". '


def test_a_pre_stop_pause_counts_against_the_grace_period(behaviour: Behaviour) -> None:
    world = new_world()
    behaviour.command = ExecResult(seconds=10.0)
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "sleep 10"]}}}
    create(world, pod(container={"lifecycle": hook}))
    world.advance(5)
    apiserver.delete(world, "pods", "default", "web")
    world.advance(9)
    assert world.processes
    world.advance(2)
    assert not world.processes


def test_a_failed_post_start_hook_kills_the_container(behaviour: Behaviour) -> None:
    behaviour.command = ExecResult("", "no\n", 1)
    world = new_world()
    create(world, pod(container={"lifecycle": {"postStart": {"exec": {"command": ["app", "warm"]}}}}))
    world.advance(8)
    assert events(world, "FailedPostStartHook") == ["PostStartHook failed"]
    assert state(world)["restartCount"] >= 1


def test_the_last_words_become_the_termination_message(behaviour: Behaviour) -> None:
    world = new_world()
    create(world, pod(container={"terminationMessagePolicy": "FallbackToLogsOnError"}, restartPolicy="Never"))
    world.advance(5)
    process = behaviour.started[0]
    world.log((process.key[0], "main", 0)).write(world.clock, "panic: no reachable servers")
    kubelet.exited(world, process.key, 2)
    world.advance(2)
    assert state(world)["state"]["terminated"]["message"] == "panic: no reachable servers\n"
