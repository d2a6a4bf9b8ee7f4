"""run -i, attach, debug, cp and edit on the workstation: what they do; their texts are compared in tests/parity."""

from __future__ import annotations

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation

NAMESPACE = "hotel-reservation"
MONGO = "$(kubectl get pods -l io.kompose.service=mongodb-geo -o name | cut -d/ -f2)"


@pytest.fixture(scope="module")
def settled() -> EmbeddedWorld:
    return deployed_world(APP)


@pytest.fixture
def desk(settled: EmbeddedWorld) -> Workstation:
    return Workstation(settled.fork(), ADMIN, NAMESPACE)


def text(desk: Workstation, line: str) -> str:
    return desk.run(line).text


RUN = "kubectl run tmp --rm --restart=Never --image=busybox"


@pytest.mark.parametrize(
    ("line", "out", "code"),
    [
        (f"{RUN} -it -- wget -qO- http://frontend:5000/ 2>&1 | grep -c Hotel", "1\n", 0),
        (f"{RUN} -i -q -- sh -c 'echo one; sleep 2; echo two'", "one\ntwo\n", 0),
        (f"echo 'cd /tmp; pwd' | {RUN} -i -q -- sh", "/tmp\n", 0),
        (f"{RUN} -i -q -- sh -c 'exit 3' 2> /dev/null", "", 3),
        ("kubectl run m --rm -i -q --restart=Never --image=mongo:4.4.6 -- mongo --host mongodb-geo --quiet --eval 'db.version()'",
         "4.4.6\n", 0),
        ("kubectl run c --rm -i -q --restart=Never --image=curlimages/curl -- -s -o /dev/null -w '%{http_code}' frontend:5000/",
         "200", 0),
    ],
)  # fmt: skip
def test_run_and_attach(desk: Workstation, line: str, out: str, code: int) -> None:
    done = desk.run(line)
    assert (done.text, done.exit_code) == (out, code)
    assert "tmp" not in text(desk, "kubectl get pods -o name")


def test_an_image_without_a_tag_is_its_latest(desk: Workstation) -> None:
    line = "kubectl run ssl --rm -i -q --restart=Never --image=alpine/openssl -- version"
    assert text(desk, line).startswith("OpenSSL 3.")


def test_a_server_is_shown_for_a_bounded_time(desk: Workstation) -> None:
    before = desk.world.now()
    answer = text(desk, "kubectl run web --rm -it --image=nginx")
    assert "ready for start up" in answer
    assert desk.world.now() - before < 60_000_000
    assert desk.run("timeout 5 kubectl attach deploy/frontend").exit_code == 124


def test_copies_there_and_back(desk: Workstation) -> None:
    text(desk, "mkdir -p d/s; echo A > d/a; printf '\\377\\000' > d/s/b")
    text(desk, f"kubectl cp d {MONGO}:/tmp/d; kubectl cp {MONGO}:/tmp/d back")
    assert text(desk, "find back | sort | xargs") == "back back/a back/s back/s/b\n"
    assert (
        text(desk, "md5sum < d/s/b; md5sum < back/s/b").split()[::2]
        == [text(desk, "md5sum < d/s/b").split()[0]] * 2
    )
    assert text(desk, f"mkdir x; kubectl exec {MONGO} -- mkdir /tmp/in; kubectl cp d/a {MONGO}:/tmp/in") == ""
    assert text(desk, f"kubectl exec {MONGO} -- cat /tmp/in/a") == "A\n"


def test_images_without_tar_cannot_be_copied_from(desk: Workstation) -> None:
    pod = "$(kubectl get pods -n kube-system -l k8s-app=kube-proxy -o name | head -1 | cut -d/ -f2)"
    done = desk.run(f"kubectl cp kube-system/{pod}:/etc/hosts h")
    assert 'exec: "tar": executable file not found in $PATH' in done.text
    assert done.exit_code == 1


def test_debug_containers_share_the_network(desk: Workstation) -> None:
    pod = "$(kubectl get pods -l io.kompose.service=geo -o name | cut -d/ -f2)"
    line = f"kubectl debug {pod} -i -q --image=busybox --profile=general --target=hotel-reserv-geo -- sh"
    answer = text(desk, f"printf 'hostname; ps\\nls /proc/1' | {line}")
    assert answer.startswith("geo-")
    assert "1 root" in answer and " geo\n" in answer
    state = text(desk, f"kubectl get pod {pod} -o jsonpath='{{.status.ephemeralContainerStatuses[0].state}}'")
    assert '"running"' in state  # its standard input is not closed with that of who attaches (no stdinOnce)


def test_a_node_is_debugged_with_its_files(desk: Workstation) -> None:
    line = "kubectl debug node/sre-worker -i -q --image=busybox --profile=sysadmin -- chroot /host cat /etc/hostname"
    assert text(desk, line) == "sre-worker\n"


def test_a_copy_of_a_pod_is_debugged(desk: Workstation) -> None:
    pod = "$(kubectl get pods -l io.kompose.service=geo -o name | cut -d/ -f2)"
    text(desk, f"kubectl debug {pod} --copy-to=copy --image=busybox --profile=general -c dbg -- sleep 99")
    wanted = "{.spec.containers[*].name} {.spec.shareProcessNamespace} {.metadata.labels}"
    assert text(desk, f"kubectl get pod copy -o jsonpath='{wanted}'") == "hotel-reserv-geo dbg true "


@pytest.mark.parametrize(
    ("editor", "said", "replicas"),
    [
        ("sed -i 's/^  replicas: 1/  replicas: 2/'", "deployment.apps/geo edited\n", "2"),
        ("true", "Edit cancelled, no changes made.\n", "1"),
        ("false", 'error: there was a problem with the editor "false"\n', "1"),
        ("emacs", 'error: unable to launch the editor "emacs"\n', "1"),
        ("", 'error: unable to launch the editor "vi"\n', "1"),
    ],
)
def test_edit(desk: Workstation, editor: str, said: str, replicas: str) -> None:
    assert text(desk, f'KUBE_EDITOR="{editor}" kubectl edit deploy/geo') == said
    assert text(desk, "kubectl get deploy geo -o jsonpath={.spec.replicas}") == replicas


def test_edit_keeps_what_it_could_not_send(desk: Workstation) -> None:
    answer = text(desk, "EDITOR=\"sed -i 's/^  replicas: 1/  replicas: -1/'\" kubectl edit deploy geo")
    assert answer.endswith("error: Edit cancelled, no valid changes were saved.\n")
    assert "# * spec.replicas: Invalid value: -1: must be greater than or equal to 0" in text(
        desk, "cat /tmp/kubectl-edit-*"
    )


def test_edit_never_loops_for_ever(desk: Workstation) -> None:
    answer = desk.run("EDITOR=\"sed -i 's/port: 8083/port: 80830/'\" kubectl edit svc geo")
    assert answer.exit_code == 1


def test_nothing_reaches_the_real_machine(desk: Workstation) -> None:
    assert "unable to launch" in text(desk, "EDITOR=/usr/bin/vi kubectl edit deploy geo")
    assert "doesn't exist in local filesystem" in text(desk, f"kubectl cp /etc/passwd {MONGO}:/tmp/p")
    assert text(desk, "curl -s localhost:22; echo $?") == "7\n"


def test_what_a_container_writes_comes_in_its_order(desk: Workstation) -> None:
    line = "kubectl exec deploy/consul -- sh -c 'echo a; echo b >&2; echo c; exit 3'"
    assert text(desk, line) == "a\nb\nc\ncommand terminated with exit code 3\n"
    assert text(desk, f"{line} 2>&1 | head -2") == "a\nb\n"
    assert text(desk, f"{line} 2> /dev/null; echo $?") == "a\nc\n3\n"
    assert text(desk, "echo x; kubectl get nope; echo y") == (
        'x\nerror: the server doesn\'t have a resource type "nope"\ny\n'
    )


def test_shells_in_containers_are_on_the_account_of_the_line(desk: Workstation) -> None:
    done = desk.run("for i in $(seq 300); do kubectl exec deploy/consul -- sh -c 'while :; do :; done'; done")
    assert done.text.count("terminated with exit code 137") == 1
    assert done.exit_code == 137


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{RUN} -i -- echo hello", ["If you don't see a command prompt, try pressing enter.", "hello", 'pod "tmp" deleted']),
        (
            "kubectl scale deploy frontend --replicas=2 > /dev/null; sleep 20; kubectl logs deploy/frontend | head -n 1",
            ["Found 2 pods, using pod/", "{"],
        ),
        (
            "kubectl label ns hotel-reservation pod-security.kubernetes.io/warn=restricted > /dev/null 2>&1;"
            " kubectl rollout restart deploy/geo",
            ["Warning: would violate PodSecurity", "deployment.apps/geo restarted"],
        ),
        (

            "kubectl create cm x --from-literal=a=b; kubectl create cm x --from-literal=a=c --dry-run=client -o yaml | kubectl apply -f -",
            ["configmap/x created", "Warning: resource configmaps/x is missing", "configmap/x configured"],
        ),
        (f"kubectl exec {MONGO} -- sh -c 'echo a; echo b >&2; echo c; exit 3'", ["a", "b", "c", "command terminated with exit code 3"]),
    ],
    ids=["attached", "logs", "server", "apply", "exec"],
)  # fmt: skip
def test_both_streams_come_in_the_order_in_which_they_are_written(
    desk: Workstation, line: str, said: list[str]
) -> None:
    lines = text(desk, line).splitlines()
    assert len(lines) == len(said)
    assert all(each.startswith(wanted) for each, wanted in zip(lines, said, strict=True)), lines
