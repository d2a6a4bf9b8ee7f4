"""Helm 4, the real one, through its SDK: charts live and die on the served cluster.

Skipped where ``helm_python`` is missing; ``make helm`` runs it in an environment of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sregym_env.serve.pace import Pace
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.sim.embedded import EmbeddedWorld
from tests.clients.conftest import manifests
from tests.serve.serving import Served

helm = pytest.importorskip("helm_python")

CHART = Path(__file__).parent / "chart"
SPEED = 20.0
"""Virtual seconds per second: what Helm waits for takes a moment only."""

KINDS = (
    "configmaps", "deployments.apps", "gadgets.shop.example.com", "ingresses.networking.k8s.io",
    "poddisruptionbudgets.policy", "rolebindings.rbac.authorization.k8s.io", "roles.rbac.authorization.k8s.io",
    "secrets", "serviceaccounts", "services",
)  # fmt: skip
"""Where the chart's objects are, each named as the release."""

ROLLBACK = {"version", "timeout_seconds", "wait", "dry_run"}
"""The options by which a rollback is known."""


class Cluster:
    """A served cluster and Helm's view of it."""

    def __init__(self, served: Served, world: EmbeddedWorld, namespace: str) -> None:
        served.server.hosted.pace = Pace(world, "real", SPEED)
        served.server.hosted.bell.ring()
        self.served = served
        self.world = world
        self.namespace = namespace
        self.config = helm.Config(kubeconfig_path=str(served.kubeconfig), namespace=namespace)

    def get(self, resource: str, name: str) -> dict[str, Any] | None:
        """An object as it is stored."""
        return self.world.store.get(resource, self.namespace, name)

    def names(self, resource: str) -> list[str]:
        """Names of the objects of a kind."""
        return [found["metadata"]["name"] for found in self.world.store.list(resource, self.namespace)]

    def there(self, release: str) -> list[str]:
        """Kinds of the chart's objects that exist."""
        return [kind for kind in KINDS if self.get(kind, release) is not None]

    def revisions(self, release: str) -> list[tuple[int, str]]:
        """The history of a release: revisions and their status."""
        return [(entry["revision"], entry["status"]) for entry in self.config.history(release)]


@pytest.fixture(params=["bare", "hotel-reservation"])
def cluster(request: pytest.FixtureRequest, running: Served, settled: EmbeddedWorld) -> Iterator[Cluster]:
    """A bare cluster, and one in which an application lives."""
    bare = request.param == "bare"
    world = bare_cluster() if bare else settled.fork()
    made = Cluster(running, world, "default" if bare else "hotel-reservation")
    yield made
    made.config.close()


@pytest.fixture
def empty(running: Served) -> Iterator[Cluster]:
    """A bare cluster."""
    made = Cluster(running, bare_cluster(), "default")
    yield made
    made.config.close()


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets options of the library for which the Python signatures have no argument."""
    original = helm.config._opts

    def choose(*, server_side: bool | None = None, **more: Any) -> None:
        def with_more(**pairs: Any) -> str | None:
            text: str | None = original(**pairs)
            installs, upgrades = "create_namespace" in pairs, "max_history" in pairs
            if not (installs or upgrades or set(pairs) == ROLLBACK):
                return text
            chosen = {**json.loads(text or "{}"), **(more if installs or upgrades else {})}
            if server_side is not None:
                chosen["server_side_apply"] = server_side if installs else str(server_side).lower()
            return json.dumps(chosen)

        monkeypatch.setattr(helm.config, "_opts", with_more)

    return choose


@pytest.fixture(params=["server-side", "client-side"])
def mode(request: pytest.FixtureRequest, options: Callable[..., None]) -> str:
    """Both ways in which Helm writes."""
    options(server_side=request.param == "server-side")
    return str(request.param)


def install(cluster: Cluster, values: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = cluster.config.install(
        CHART, "demo", values or {}, **{"wait": "watcher", "timeout": 20, **more}
    )
    return found


def upgrade(cluster: Cluster, values: dict[str, Any], **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = cluster.config.upgrade(
        CHART, "demo", values, **{"wait": "watcher", "timeout": 20, "reuse_values": True, **more}
    )
    return found


def test_a_release_lives_and_dies(cluster: Cluster, mode: str) -> None:
    release = install(cluster, {"replicas": 2})
    assert release["status"] == "deployed"
    assert cluster.there("demo") == list(KINDS)
    deployment = cluster.get("deployments.apps", "demo")
    assert deployment is not None
    assert deployment["status"]["readyReplicas"] == 2
    assert deployment["metadata"]["annotations"]["meta.helm.sh/release-name"] == "demo"
    gadget = cluster.get("gadgets.shop.example.com", "demo")
    assert gadget is not None
    assert gadget["spec"] == {"size": 1, "color": "blue"}
    assert "demo-prepare" in cluster.names("jobs.batch")

    (listed,) = cluster.config.list()
    assert (listed["name"], listed["status"], listed["revision"]) == ("demo", "deployed", 1)
    status = cluster.config.status("demo")
    assert "kind: Deployment" in status["manifest"]
    assert "demo greets with hello (revision 1)." in json.dumps(cluster.config.get_all("demo"))
    assert cluster.config.get_values("demo") == {"replicas": 2}
    assert cluster.config.get_values("demo", all_values=True)["greeting"] == "hello"
    assert cluster.config.get_metadata("demo")["chart"] in ("shop", "shop-1.2.3")

    upgrade(cluster, {"tag": "2.53", "ingress": False, "greeting": "moin"})
    deployment = cluster.get("deployments.apps", "demo")
    assert deployment is not None
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"].endswith(":2.53")
    assert deployment["spec"]["replicas"] == 2
    assert "ingresses.networking.k8s.io" not in cluster.there("demo")
    config = cluster.get("configmaps", "demo")
    assert config is not None
    assert config["data"] == {"greeting": "moin", "revision": "2"}
    assert "demo-migrate" not in cluster.names("jobs.batch")
    assert cluster.revisions("demo") == [(1, "superseded"), (2, "deployed")]

    cluster.config.rollback("demo", version=1, wait="watcher", timeout=20)
    assert cluster.there("demo") == list(KINDS)
    deployment = cluster.get("deployments.apps", "demo")
    assert deployment is not None
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"].endswith(":2.52")
    assert cluster.revisions("demo") == [(1, "superseded"), (2, "superseded"), (3, "deployed")]

    cluster.config.uninstall("demo", wait="watcher", timeout=20)
    assert cluster.there("demo") == []
    assert not [name for name in cluster.names("pods") if name.startswith("demo-") and "prepare" not in name]
    assert cluster.config.list() == []
    with pytest.raises(helm.HelmNotFoundError):
        cluster.config.status("demo")


@pytest.mark.parametrize("waiter", ["watcher", "legacy", "hookOnly"])
def test_every_way_to_wait(empty: Cluster, waiter: str) -> None:
    install(empty, wait=waiter)
    upgrade(empty, {"replicas": 2}, wait=waiter)
    deployment = empty.get("deployments.apps", "demo")
    assert deployment is not None
    assert waiter == "hookOnly" or deployment["status"]["availableReplicas"] == 2
    empty.config.uninstall("demo", wait=waiter, timeout=20)


def test_an_upgrade_that_fails_and_a_rollback_that_heals(empty: Cluster, mode: str) -> None:
    install(empty)
    with pytest.raises(helm.HelmError, match=r"(?i)deployment|context deadline|not ready"):
        upgrade(empty, {"tag": "no-such-tag"}, timeout=3)
    assert empty.revisions("demo") == [(1, "deployed"), (2, "failed")]
    assert empty.config.status("demo")["status"] == "failed"
    empty.config.rollback("demo", wait="watcher", timeout=20)
    assert empty.revisions("demo") == [(1, "superseded"), (2, "failed"), (3, "deployed")]
    deployment = empty.get("deployments.apps", "demo")
    assert deployment is not None
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"].endswith(":2.52")


def test_what_fails_is_rolled_back(empty: Cluster) -> None:
    with pytest.raises(helm.HelmError):
        install(empty, {"tag": "no-such-tag"}, rollback_on_failure=True, timeout=3)
    assert empty.config.list(all_states=True) == []
    assert empty.get("deployments.apps", "demo") is None
    install(empty)
    with pytest.raises(helm.HelmError):
        upgrade(empty, {"tag": "no-such-tag"}, rollback_on_failure=True, timeout=3)
    assert empty.revisions("demo")[-1] == (3, "deployed")
    deployment = empty.get("deployments.apps", "demo")
    assert deployment is not None
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"].endswith(":2.52")


def test_a_hook_that_fails(empty: Cluster) -> None:
    install(empty)
    with pytest.raises(helm.HelmError, match="post-upgrade hooks failed"):
        upgrade(empty, {"migration": "exit 1"}, timeout=10)
    assert empty.revisions("demo")[-1] == (2, "failed")


def test_the_charts_own_test(empty: Cluster) -> None:
    install(empty)
    told = empty.config.test("demo", timeout=20, logs=True)
    assert "hello" in told["logs"]
    upgrade(empty, {"asked": "echo?msg=x&code=500"})
    with pytest.raises(helm.HelmError):
        empty.config.test("demo", timeout=20)


@pytest.mark.parametrize("kind", ["client", "server"])
def test_dry_runs(empty: Cluster, kind: str) -> None:
    planned = install(empty, {"gadget": False}, dry_run=kind, wait=None)
    assert "kind: Deployment" in planned["manifest"]
    assert empty.config.list(all_states=True) == []
    assert empty.there("demo") == []


def test_what_others_own_is_refused(empty: Cluster, options: Callable[..., None]) -> None:
    empty.world.cluster.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "demo", "namespace": "default"}}
    )
    with pytest.raises(helm.HelmError) as caught:
        install(empty)
    assert 'ConfigMap "demo" in namespace "default" exists and cannot be imported' in str(caught.value)
    assert 'missing key "meta.helm.sh/release-name"' in str(caught.value)
    options(take_ownership=True, force_conflicts=True)
    install(empty)
    config = empty.get("configmaps", "demo")
    assert config is not None
    assert config["metadata"]["annotations"]["meta.helm.sh/release-name"] == "demo"


def test_two_releases_of_one_name(empty: Cluster) -> None:
    install(empty)
    with pytest.raises(helm.HelmError, match="cannot reuse a name that is still in use"):
        install(empty)
    with pytest.raises(helm.HelmError, match="has no deployed releases"):
        empty.config.upgrade(CHART, "other", {}, timeout=5)


def test_a_scaled_deployment_is_a_conflict(empty: Cluster, options: Callable[..., None]) -> None:
    if empty.served.binary is None:
        pytest.skip("no kubectl 1.32 on this machine")
    options(server_side=True)
    install(empty)
    done = empty.served.kubectl(["scale", "deployment/demo", "--replicas=3", "-n", "default"])
    assert done.code == 0, done.stderr
    with pytest.raises(helm.HelmError) as caught:
        upgrade(empty, {"replicas": 2})
    assert 'conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas' in str(
        caught.value
    )
    options(server_side=True, force_conflicts=True)
    upgrade(empty, {"replicas": 2})
    deployment = empty.get("deployments.apps", "demo")
    assert deployment is not None
    assert deployment["spec"]["replicas"] == 2


def test_a_scaled_deployment_is_overwritten_client_side(empty: Cluster, options: Callable[..., None]) -> None:
    options(server_side=False)
    install(empty)
    empty.world.cluster.patch("deployments.apps", "demo", {"spec": {"replicas": 3}}, namespace="default")
    upgrade(empty, {"greeting": "moin"})
    deployment = empty.get("deployments.apps", "demo")
    assert deployment is not None
    assert deployment["spec"]["replicas"] == 1


def test_objects_come_and_go_with_values(empty: Cluster, mode: str, options: Callable[..., None]) -> None:
    install(empty, {"autoscaling": False, "budget": False, "gadget": False})
    assert empty.get("poddisruptionbudgets.policy", "demo") is None
    upgrade(empty, {"autoscaling": True, "budget": True, "gadget": True})
    assert empty.get("poddisruptionbudgets.policy", "demo") is not None
    assert empty.get("horizontalpodautoscalers.autoscaling", "demo") is not None
    last = {"autoscaling": False, "gadget": False, "replicas": 1}
    if mode == "server-side":
        # The autoscaler has set the number of replicas and owns it.
        with pytest.raises(helm.HelmError, match='"kube-controller-manager" with subresource "scale"'):
            upgrade(empty, last)
        options(server_side=True, force_conflicts=True)
    upgrade(empty, last)
    assert empty.get("horizontalpodautoscalers.autoscaling", "demo") is None
    assert empty.get("gadgets.shop.example.com", "demo") is None


def test_bad_values_and_bad_manifests_are_refused(empty: Cluster) -> None:
    with pytest.raises(helm.HelmError, match="values don't meet the specifications of the schema"):
        install(empty, {"replicas": "many"})
    with pytest.raises(helm.HelmError, match="quantities must match the regular expression"):
        install(empty, {"cpu": "ten"}, timeout=5)


def test_releases_live_in_secrets_or_configmaps(empty: Cluster) -> None:
    install(empty)
    assert "sh.helm.release.v1.demo.v1" in empty.names("secrets")
    with helm.Config(
        kubeconfig_path=str(empty.served.kubeconfig), namespace="default", storage_driver="configmap"
    ) as config:
        config.install(CHART, "other", {"gadget": False, "hooks": False}, timeout=10)
        assert [found["name"] for found in config.list()] == ["other"]
    assert "sh.helm.release.v1.other.v1" in empty.names("configmaps")


def generations(world: EmbeddedWorld, wanted: list[dict[str, Any]]) -> dict[tuple[str, str], int]:
    """The generation of every object that was asked for and has one."""
    asked = {(manifest["kind"], manifest["metadata"]["name"]) for manifest in wanted}
    found = (obj for resource in world.store.resources() for obj in world.store.list(resource))
    named = (((obj["kind"], obj["metadata"]["name"]), obj["metadata"].get("generation")) for obj in found)
    return {key: generation for key, generation in named if key in asked and generation is not None}


def test_every_kind_is_waited_for_and_left_alone_by_an_upgrade(
    empty: Cluster, tmp_path: Path, mode: str
) -> None:
    """A chart with one of everything: what Helm computes from each status must become "current"."""
    templates = tmp_path / "templates"
    templates.mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: everything\nversion: 0.1.0\n")
    unfit = {"Namespace", "Event", "CustomResourceDefinition"}
    wanted = [m for m in manifests() if m["kind"] not in unfit and m["metadata"]["name"] != "never"]
    (templates / "all.yaml").write_text("\n---\n".join(json.dumps(manifest) for manifest in wanted))
    empty.world.cluster.create(manifests()[0])
    with helm.Config(kubeconfig_path=str(empty.served.kubeconfig), namespace="furnished") as config:
        config.install(tmp_path, "all", {}, wait="watcher", timeout=30)
        before = generations(empty.world, wanted)
        config.upgrade(tmp_path, "all", {}, wait="watcher", timeout=30)
        assert generations(empty.world, wanted) == before
        config.uninstall("all", wait="watcher", timeout=30)


def test_a_namespace_is_made(empty: Cluster) -> None:
    with helm.Config(kubeconfig_path=str(empty.served.kubeconfig), namespace="fresh") as config:
        config.install(CHART, "demo", {}, create_namespace=True, wait="watcher", timeout=20)
        assert empty.world.store.get("deployments.apps", "fresh", "demo") is not None
        assert [found["namespace"] for found in config.list(all_namespaces=True)] == ["fresh"]


def test_history_is_bounded_and_kept(empty: Cluster) -> None:
    install(empty, {"hooks": False})
    for number in range(4):
        upgrade(empty, {"greeting": f"hello {number}", "hooks": False}, max_history=3, wait=None)
    assert [revision for revision, _ in empty.revisions("demo")] == [3, 4, 5]
    empty.config.uninstall("demo", keep_history=True, timeout=20)
    assert empty.revisions("demo")[-1] == (5, "uninstalled")
