"""Images that tutorials use: they are pulled, and do what is asked of them or say that they cannot."""

from __future__ import annotations

import pytest

from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.tools.workstation import Workstation

REFUSED = "python3: a small part of Python runs on this machine"


@pytest.fixture(scope="module")
def desk() -> Workstation:
    return Workstation(bare_cluster(), ADMIN)


@pytest.mark.parametrize(
    "image",
    "busybox:1.31.1 alpine nginx:1.14.2 nginx:1.27-alpine python:3.12-alpine bitnami/kubectl curlimages/curl "
    "nicolaka/netshoot mongo:4.4 mongo:7.0 registry.k8s.io/pause:3.9 debian:12 ubuntu:22.04".split(),
)
def test_it_is_pulled(desk: Workstation, image: str) -> None:
    name = f"pulled-{image.replace('/', '-').replace(':', '-').replace('.', '-')}"
    desk.run(f"kubectl run {name} --image={image} --restart=Never")
    desk.run("sleep 30")
    events = desk.run(f"kubectl get events --field-selector involvedObject.name={name},reason=Pulled -o name")
    assert events.text.startswith("event/"), image


@pytest.mark.parametrize(
    ("name", "image", "command", "phase", "log"),
    [
        ("code", "python:3.12-alpine", "python -c 'print(6*7)'", "Succeeded", "42\n"),
        ("beyond", "python:3.12-alpine", "python -c 'import socket'", "Failed", REFUSED),
        ("script", "python:3.12", "python /app.py", "Failed", "/usr/bin/python3: can't open file '/app.py'"),
        (
            "shell",
            "python:3.12",
            "sh -c 'python app.py; echo $?'",
            "Succeeded",
            "/usr/bin/python3: can't open file",
        ),
        ("version", "python:3.12-alpine", "python3 --version", "Succeeded", "Python 3.12\n"),
        ("files", "python:3.12-alpine", "sh -c 'python3 -m http.server 8000'", "Running", ""),
        (
            "client",
            "bitnami/kubectl:1.32",
            "kubectl get pods",
            "Failed",
            "error: kubectl cannot reach the API server",
        ),
        ("follow", "busybox:1.36", "tail -f /dev/null", "Running", ""),
        ("after", "alpine", "sh -c 'echo hi; exec tail -f /dev/null'", "Running", "hi\n"),
    ],
)
def test_a_main_process(desk: Workstation, name: str, image: str, command: str, phase: str, log: str) -> None:
    desk.run(f"kubectl run {name} --image={image} --restart=Never --command -- {command}")
    desk.run("sleep 40")
    assert desk.run(f"kubectl get pod {name} -o jsonpath='{{.status.phase}}'").text == phase
    assert desk.run(f"kubectl logs {name}").text.startswith(log)


@pytest.fixture(scope="module")
def running(desk: Workstation) -> Workstation:
    desk.run("kubectl run box --image=busybox:1.36 --restart=Never -- sleep 86400")
    desk.run(
        "kubectl run db --image=mongo:4.4 --restart=Never; kubectl run web --image=nginx:1.27 --restart=Never"
    )
    desk.run("kubectl run py --image=python:3.12-alpine --restart=Never -- sleep 86400; sleep 60")
    return desk


@pytest.mark.parametrize(
    ("pod", "command", "code", "said"),
    [
        ("box", "ps aux", 0, "PID   USER     TIME  COMMAND\n    1 root      0:00 sleep 86400\n"),
        ("box", "sh -c 'echo abc | gzip | gunzip'", 0, "abc\n"),
        ("box", "sh -c 'ulimit -n; umask'", 0, "1048576\n0022\n"),
        ("box", "sh -c 'echo {}x; echo a | xargs -I{} echo {}x'", 0, "{}x\nax\n"),
        ("box", "sh -c 'yes | head -2'", 0, "y\ny\n"),
        ("box", "wget -Z http://x", 1, "wget: invalid option -- 'Z'\nBusyBox v1.36.1"),
        ("box", "nc -Z x 1", 1, "nc: invalid option -- 'Z'\nBusyBox v1.36.1"),
        ("box", "ls -l /etc/hostname", 0, "-rw-r--r--    1 root     root "),
        ("db", "mongod --version", 0, "db version v4.4.29\n"),
        ("web", "nginx -t", 0, "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\n"),
        ("web", "sh -c 'curl -sO http://localhost/index.html; head -1 index.html'", 0, "<!DOCTYPE html>\n"),
        ("web", "nginx", 1, "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)\n"),
        ("py", "python3 -c 'print(6*7)'", 0, "42\n"),
        ("py", "python3 -c 'import socket'", 1, REFUSED),
        ("py", "sh -c 'echo [1] | python3 -m json.tool --compact'", 0, "[1]\n"),
        ("py", "pip install requests", 1, "ERROR: Could not find a version"),
    ],
)
def test_a_command_in_a_container(running: Workstation, pod: str, command: str, code: int, said: str) -> None:
    done = running.run(f"kubectl exec {pod} -- {command}")
    assert done.text.startswith(said), done.text
    assert done.exit_code == code


def test_a_program_reads_what_is_piped_to_it(running: Workstation) -> None:
    done = running.run(
        "echo 'show dbs' | kubectl exec -i db -- mongo --quiet --authenticationDatabase admin admin"
    )
    assert done.text.startswith("admin ")
