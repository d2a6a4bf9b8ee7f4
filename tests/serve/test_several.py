"""Several clusters in one server, each below a base path."""

from __future__ import annotations

import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from sregym_env.serve.clusters import ServedCluster
from sregym_env.serve.mounts import base_path, split
from sregym_env.serve.server import ADMIN_CONFIG, EVERYTHING, Server, Settings
from sregym_env.sim.embedded import EmbeddedWorld
from tests.serve.serving import Finished, Served, real_kubectl

NAMESPACE = "hotel-reservation"


class Several(Served):
    """A server with two clusters and none at its root."""

    def of(self, cluster: ServedCluster, *argv: str, stdin: str = "", **env: str) -> Finished:
        """Run the real kubectl against one of the clusters."""
        if self.binary is None:
            pytest.skip("no kubectl 1.32 on this machine")
        return self.kubectl(argv, stdin, **{"KUBECONFIG": str(cluster.kubeconfig(ADMIN_CONFIG)), **env})


@pytest.fixture(scope="module")
def several(settled: EmbeddedWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    directory = tmp_path_factory.mktemp("several")
    server = Server(None, Settings(directory / "files", EVERYTHING, namespace=NAMESPACE))
    server.add_cluster("one", settled.fork())
    server.add_cluster("two", settled.fork())
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    binary = real_kubectl()
    if binary is not None:
        (directory / "kubectl").symlink_to(binary)
        binary = directory / "kubectl"
    yield Several(server, directory, binary)
    server.stop()
    thread.join(30)


def fetch(several: Several, path: str, token: str = "") -> tuple[int, bytes]:
    """GET below the server's root."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(several.server.url + path, headers=headers)
    try:
        with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=60) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def cluster(several: Several, name: str) -> ServedCluster:
    return several.server.clusters[name]


@pytest.mark.parametrize(
    ("path", "name", "rest"),
    [
        ("/api", "", "/api"),
        ("/c/one/api/v1", "one", "/api/v1"),
        ("/c/one", "one", ""),
        ("/c//api", "", "/api"),
        ("/cluster/api", "", "/cluster/api"),
    ],
)
def test_paths_are_split(path: str, name: str, rest: str) -> None:
    assert split(path) == (name, rest)
    assert not name or base_path(name) == path[: len(path) - len(rest)]


def test_a_token_of_one_cluster_opens_no_other(several: Several) -> None:
    token = cluster(several, "one").tokens[ADMIN_CONFIG]
    assert fetch(several, "/c/one/api/v1/namespaces", token)[0] == 200
    assert fetch(several, "/c/two/api/v1/namespaces", token)[0] == 401
    assert fetch(several, "/c/two/c/one/api/v1/namespaces", token)[0] == 401
    assert fetch(several, "/c/three/api", token)[0] == 404
    assert fetch(several, "/api/v1/namespaces", token) == (404, b"404 page not found\n")


def test_changes_stay_in_their_cluster(several: Several) -> None:
    made = several.of(cluster(several, "one"), "create", "configmap", "only-here", "--from-literal=a=b")
    assert made.stdout == "configmap/only-here created\n", made.stderr
    assert several.of(cluster(several, "one"), "get", "cm", "only-here").code == 0
    assert "not found" in several.of(cluster(several, "two"), "get", "cm", "only-here").stderr


def test_links_lead_below_the_base_path(several: Several) -> None:
    token = cluster(several, "two").tokens[ADMIN_CONFIG]
    index = orjson.loads(fetch(several, "/c/two/openapi/v3", token)[1])["paths"]
    link = index["apis/apps/v1"]["serverRelativeURL"]
    assert link.startswith("/c/two/openapi/v3/apis/apps/v1?hash=")
    assert orjson.loads(fetch(several, link, token)[1])["openapi"] == "3.0.0"


def test_kubectl_works_below_a_base_path(several: Several, manifest: Path) -> None:
    there = cluster(several, "two")
    applied = several.of(there, "apply", "-f", str(manifest))
    assert applied.stdout == "deployment.apps/web created\n", applied.stderr
    explained = several.of(there, "explain", "deployment.spec.replicas")
    assert "FIELD: replicas <integer>" in explained.stdout, explained.stderr
    executed = several.of(
        there, "exec", "deploy/frontend", "--", "sh", "-c", "echo out; echo err >&2; exit 3"
    )
    assert (executed.stdout, executed.code) == ("out\n", 3)
    assert executed.stderr.startswith("err\n")
    watched = several.of(there, "get", "deploy", "web", "-w", "--request-timeout=1s", "-o", "name")
    assert set(watched.stdout.splitlines()) == {"deployment.apps/web"}
    invalid = several.of(
        there, "apply", "-f", "-", stdin=manifest.read_text().replace("replicas", "replicsa")
    )
    assert 'unknown field "spec.replicsa"' in invalid.stderr


def test_clusters_come_and_go_while_others_are_served(several: Several, settled: EmbeddedWorld) -> None:
    server = several.server
    added = server.add_cluster("three", settled.fork())
    token = added.tokens[ADMIN_CONFIG]
    assert fetch(several, "/c/three/api/v1/namespaces", token)[0] == 200
    with pytest.raises(ValueError, match="already"):
        server.add_cluster("three", settled.fork())
    with pytest.raises(ValueError, match="label"):
        server.add_cluster("../x", settled.fork())
    ended: list[bytes] = []

    def watch() -> None:
        ended.append(fetch(several, "/c/three/api/v1/namespaces?watch=1", token)[1])

    watching = threading.Thread(target=watch)
    watching.start()
    time.sleep(0.2)
    server.remove_cluster("three")
    watching.join(30)
    assert ended and ended[0].count(b'"ADDED"') > 3
    assert fetch(several, "/c/three/api/v1/namespaces", token)[0] == 404
    assert not added.kubeconfig(ADMIN_CONFIG).exists()
    assert fetch(several, "/c/one/version")[0] == 200


def test_kubeconfigs_can_be_used_together(several: Several) -> None:
    paths = ":".join(str(cluster(several, name).kubeconfig(ADMIN_CONFIG)) for name in ("one", "two"))
    shown = several.of(cluster(several, "one"), "config", "get-contexts", "-o", "name", KUBECONFIG=paths)
    names = shown.stdout.split()
    assert len(names) == 2
    for name in names:
        assert several.of(cluster(several, "one"), "get", "ns", "--context", name, KUBECONFIG=paths).code == 0
