"""Servers of files in containers: ``busybox httpd`` in its ways of being started, ``nginx`` and Python's."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.sim.embedded import EmbeddedWorld
from tests.sim.admission.webhook_world import pod, world_with_webhook


def container(name: str, *command: str, image: str = "busybox:1.36", **more: Any) -> Any:
    made = pod(name, labels={"app": name})
    made["spec"]["containers"][0] |= {"image": image, "command": list(command), **more}
    return made


SITE = {"index.html": "<h1>home</h1>\n", "data.json": "{}\n", "notes.txt": "a b\n"}


def with_site(manifest: Any, path: str) -> Any:
    spec = manifest["spec"]
    spec["containers"][0]["volumeMounts"] = [{"name": "site", "mountPath": path}]
    spec["volumes"] = [{"name": "site", "configMap": {"name": "site"}}]
    return manifest


@pytest.fixture(scope="module")
def settled() -> EmbeddedWorld:
    world = world_with_webhook()
    cluster = world.cluster
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "site", "namespace": "default"},
            "data": SITE,
        }
    )
    cluster.create(
        with_site(container("main", "busybox", "httpd", "-f", "-v", "-p", "8080", "-h", "/www"), "/www")
    )
    script = "mkdir -p /srv/sub; echo hello > /srv/index.html; echo deep > /srv/sub/index.html; "
    cluster.create(container("script", "sh", "-c", script + "cd /srv && httpd -f -p 8080"))
    cluster.create(container("daemon", "sh", "-c", script + "httpd -p 0.0.0.0:8080 -h /srv; sleep 3600"))
    cluster.create(container("job", "sh", "-c", script + "httpd -f -p 8080 -h /srv & wait"))
    cluster.create(container("gone", "httpd", "-p", "8080"))
    cluster.create(container("lost", "httpd", "-f", "-h", "/nowhere"))
    cluster.create(container("idle", "sleep", "3600"))
    cluster.create(with_site(container("web", image="nginx:1.27") | {}, "/usr/share/nginx/html"))
    cluster.create(
        with_site(
            container("python", "python", "-m", "http.server", "-d", "/www", image="python:3.11"), "/www"
        )
    )
    world.advance(40)
    return world


@pytest.fixture
def world(settled: EmbeddedWorld) -> EmbeddedWorld:
    return settled.fork()


def address(world: EmbeddedWorld, name: str) -> str:
    return str(world.cluster.get("pods", name, "default")["status"]["podIP"])


def fetch(world: EmbeddedWorld, name: str, path: str = "/", port: int = 8080) -> tuple[str, str]:
    done = world.cluster.exec(
        "default", "idle", ["wget", "-qO-", f"http://{address(world, name)}:{port}{path}"]
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("name", "path", "answer"),
    [
        ("main", "/", SITE["index.html"]),
        ("main", "/notes.txt", "a b\n"),
        ("main", "/%6eotes.txt", "a b\n"),
        ("main", "/../../notes.txt", "a b\n"),
        ("script", "/", "hello\n"),
        ("script", "/sub/", "deep\n"),
        ("daemon", "/index.html", "hello\n"),
        ("job", "/", "hello\n"),
    ],
)
def test_it_serves_the_files_of_its_container(
    world: EmbeddedWorld, name: str, path: str, answer: str
) -> None:
    assert fetch(world, name, path) == (answer, "")


def test_what_is_not_there(world: EmbeddedWorld) -> None:
    assert fetch(world, "main", "/none") == ("", "wget: server returned error: HTTP/1.1 404 Not Found\n")
    assert fetch(world, "main", "/", 81)[1].startswith("wget: can't connect")


def test_files_are_read_when_asked_for(world: EmbeddedWorld) -> None:
    world.cluster.exec("default", "daemon", ["sh", "-c", "echo later > /srv/new.txt"])
    assert fetch(world, "daemon", "/new.txt")[0] == "later\n"


def test_verbose_servers_say_whom_they_answered(world: EmbeddedWorld) -> None:
    fetch(world, "main", "/")
    line = world.cluster.logs("default", "main").splitlines()[-1]
    assert line.startswith(f"[::ffff:{address(world, 'idle')}]:")
    assert line.endswith(": response:200")


def status(world: EmbeddedWorld, name: str) -> Any:
    return world.cluster.get("pods", name, "default")["status"]["containerStatuses"][0]


def test_a_server_that_cannot_serve(world: EmbeddedWorld) -> None:
    text = "httpd: can't change directory to '/nowhere': No such file or directory"
    assert text in world.cluster.logs("default", "lost")
    assert status(world, "lost")["lastState"]["terminated"]["exitCode"] == 1
    taken = world.cluster.exec("default", "main", ["httpd", "-p", "8080"])
    assert (taken.stderr, taken.exit_code) == ("httpd: bind: Address already in use\n", 1)
    assert world.cluster.exec("default", "main", ["httpd", "-x"]).stderr.startswith(
        "httpd: invalid option -- 'x'"
    )


def test_a_daemon_leaves_its_container_without_a_process(world: EmbeddedWorld) -> None:
    assert status(world, "gone")["lastState"]["terminated"]["exitCode"] == 0


def test_somebody_starts_one_beside_what_runs(world: EmbeddedWorld) -> None:
    world.cluster.exec("default", "idle", ["sh", "-c", "echo x > /tmp/x; httpd -p 9000 -h /tmp"])
    assert fetch(world, "idle", "/x", 9000) == ("x\n", "")


def test_the_others_serve_files_too(world: EmbeddedWorld) -> None:
    assert fetch(world, "web", "/", 80)[0] == SITE["index.html"]
    assert fetch(world, "web", "/data.json", 80)[0] == "{}\n"
    assert fetch(world, "python", "/", 8000)[0] == SITE["index.html"]
    assert fetch(world, "python", "/notes.txt", 8000)[0] == "a b\n"
