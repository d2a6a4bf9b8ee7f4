"""The workstation: what lines cost, what reaches the shell, what persists, and how commands are cut off."""

from __future__ import annotations

import pytest

from sregym_env.cluster.identity import ADMIN, User
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.tools.call import ToolOutcome
from sregym_env.tools.workstation import HOME, MAX_LINE, Workstation

NS = "namespace/default\n"
GET = "kubectl get ns default -o name"


@pytest.fixture
def desk() -> Workstation:
    return Workstation(bare_cluster(), ADMIN)


def spent(desk: Workstation, line: str) -> tuple[ToolOutcome, float]:
    before = desk.world.now()
    return desk.run(line), (desk.world.now() - before) / 1e6


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        (GET, 1.0),
        ("kubectl create ns x", 2.0),
        ("kubectl create ns x --dry-run=client", 1.0),
        ("kubectl rollout status deploy/coredns -n kube-system", 1.0),
        (f"for i in 1 2 3; do {GET}; done", 3.0),
        ("sleep 90", 90.0),
        ("sleep 1m 2s", 62.0),
        ("sleep 5 && sleep 5", 10.0),
        ("sleep 99999", 600.0),
        ("while true; do sleep 500; done", 3600.0),
        ("timeout 2 sleep 100", 2.0),
        ("timeout 5 kubectl get ns -w", 5.0),
        ("timeout 1m kubectl wait ns/default --for=delete --timeout=1h", 60.0),
        ("echo hi", 1.0),
        ("", 1.0),
        ("nope", 1.0),
        ("curl -s http://nope", 0.1),
    ],
)
def test_every_line_takes_time(desk: Workstation, line: str, seconds: float) -> None:
    assert spent(desk, line)[1] == pytest.approx(seconds, abs=0.01)


@pytest.mark.parametrize(
    "line",
    [
        GET,
        "k get ns default -o name",
        "/usr/bin/kubectl get ns default -o name",
        "'kubectl' get ns \"default\" -o name",
        f"{GET} # comment",
        "kubectl get ns \\\n  default -o name",
        f"{GET} | cat",
        f"{GET} > f; cat f",
        f"{GET} 2>&1 || true",
        f'x=$({GET}); echo "$x"',
        f"bash -c '{GET}'",
        f"echo '{GET}' > s.sh; bash s.sh",
        f"f() {{ {GET}; }}; f",
        f"timeout 5s {GET}",
        f"timeout -k 1 5 {GET}",
        f"if {GET}; then :; fi",
        f"until {GET}; do sleep 1; done",
        "echo ns/default | xargs kubectl get -o name",
        "echo ns/default | xargs -n1 kubectl get -o name",
        "echo default | xargs -I{} kubectl get ns {} -o name",
        "echo ns/default | while read n; do kubectl get $n -o name; done",
        'kubectl get ns -o json | jq -r \'.items[] | select(.metadata.name == "default") | "namespace/default"\'',
        'kubectl get ns --no-headers | awk \'$1 == "default" {print "namespace/" $1}\'',
        f"export N=default\n{GET.replace('default', '$N')}",
        f"\x1b{GET}\x07\x00",
    ],
)
def test_kubectl_works_wherever_a_shell_lets_it_stand(desk: Workstation, line: str) -> None:
    done = desk.run(line)
    assert (done.text, done.exit_code, done.error_type) == (NS, 0, "")


@pytest.mark.parametrize("command", "docker scp vi man sudo watch systemctl node".split())
def test_absent_commands_are_not_found(desk: Workstation, command: str) -> None:
    done = desk.run(f"{command} x")
    assert (done.text, done.exit_code) == (f"bash: {command}: command not found\n", 127)
    assert done.error_type == "command_error"


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        ("kubectl get nope; echo $?", 0, 'error: the server doesn\'t have a resource type "nope"\n1\n'),
        ("false || echo no", 0, "no\n"),
        ("timeout 2 sleep 5; echo $?", 0, "124\n"),
        ("timeout 5 nope", 127, "timeout: failed to run command ‘nope’: No such file or directory\n"),
        ("timeout", 125, "timeout: missing operand\nTry 'timeout --help' for more information.\n"),
        ("sleep abc", 1, "sleep: invalid time interval 'abc'\n"),
        ("sleep", 1, "sleep: missing operand\nTry 'sleep --help' for more information.\n"),
        ("which kubectl nope", 1, "/usr/bin/kubectl\n"),
        ("hostname", 0, "oncall\n"),
        ("date -d nonsense", 1, "date: invalid date ‘nonsense’\n"),
        ("printf 'a b\\nc' | xargs -n1 echo -", 0, "- a\n- b\n- c\n"),
        ("printf 'a b\\nc\\n' | xargs -I% echo '<%>'", 0, "<a b>\n<c>\n"),
        ("printf 'a,b' | xargs -d, -n 1 echo", 0, "a\nb\n"),
        ("printf '' | xargs -r echo x", 0, ""),
        ("echo a | xargs false", 123, ""),
    ],
)
def test_texts_and_exit_codes(desk: Workstation, line: str, code: int, text: str) -> None:
    done = desk.run(line)
    assert (done.text, done.exit_code) == (text, code)


def test_date_tells_the_clusters_time(desk: Workstation) -> None:
    seconds = desk.world.now() // 1_000_000
    assert desk.run("date +%s").text == f"{seconds}\n"
    assert desk.run("date -u -d '@0' +%Y-%m-%dT%H:%M:%SZ").text == "1970-01-01T00:00:00Z\n"
    later = int(desk.run("date +%s").text)
    assert int(desk.run("date -d '5 minutes ago' +%s").text) == later + 1 - 300


@pytest.mark.parametrize(
    "line",
    [
        "cat <<EOF | kubectl apply -f -\n{}EOF",
        "kubectl apply -f - <<EOF\n{}EOF",
        "kubectl apply -f - <<'EOF'\n{}EOF\n",
        "cat > m.yaml <<EOF\n{}EOF\nkubectl apply -f m.yaml",
    ],
)
def test_manifests_come_from_heredocs(desk: Workstation, line: str) -> None:
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: h\ndata: {a: '1'}\n"
    assert desk.run(line.format(manifest)).text == "configmap/h created\n"
    assert desk.run("kubectl get cm h -o jsonpath={.data.a}").text == "1"


def test_the_session_persists(desk: Workstation) -> None:
    desk.run("echo one > /tmp/f; export V=two; mkdir -p d; cd d; f() { echo three; }")
    assert desk.run("cat /tmp/f; echo $V; f; pwd").text == f"one\ntwo\nthree\n{HOME}/d\n"
    desk.run("kubectl config set-context --current --namespace=kube-system")
    assert "kube-proxy" in desk.run("kubectl get pods").text


def test_forks_do_not_meet(desk: Workstation) -> None:
    desk.run("echo before > f; V=1")
    world = desk.world.fork()
    twin = desk.fork(world)
    twin.run("echo twin > f; V=2; kubectl create ns twin; kubectl config set-context --current --namespace=x")
    desk.run("echo own > f")
    assert desk.run("cat f; echo $V").text == "own\n1\n"
    assert twin.run("cat f; echo $V").text == "twin\n2\n"
    assert desk.run("kubectl get ns twin").exit_code == 1
    assert twin.run("kubectl get ns twin -o name").text == "namespace/twin\n"
    assert desk.run("kubectl config view --minify -o jsonpath={..namespace}").text != "x"
    assert twin.run("date").text == desk.run("date").text or world.now() != desk.world.now()


@pytest.mark.parametrize(
    ("line", "stage", "text"),
    [
        ('submit diagnosis "the port is wrong"', "diagnosis", "the port is wrong"),
        ("submit diagnosis it's the pod's port", "diagnosis", "it's the pod's port"),
        ("submit diagnosis <<'EOF'\nline one\nline 'two'\nEOF", "diagnosis", "line one\nline 'two'"),
        ("echo hello | submit diagnosis", "diagnosis", "hello"),
        ("echo x > f && submit mitigation", "mitigation", ""),
        ("submit mitigation", "mitigation", ""),
    ],
)
def test_submissions(desk: Workstation, line: str, stage: str, text: str) -> None:
    done, seconds = spent(desk, line)
    (handed_in,) = done.submissions
    assert (handed_in.stage, handed_in.text, done.tool) == (stage, text, "submit")
    assert seconds == 0


def test_submit_without_a_stage_explains_itself(desk: Workstation) -> None:
    done = desk.run("submit")
    assert (done.exit_code, done.error_type, done.submissions) == (2, "parse_error", ())
    assert done.text.startswith("usage: submit diagnosis")


def test_enormous_input_is_refused(desk: Workstation) -> None:
    done = desk.run("echo " + "x" * 10_000_000)
    assert (done.exit_code, done.error_type) == (126, "parse_error")
    assert str(MAX_LINE) in done.text
    assert len(desk.run("yes x | head -c 5000000").text) < 2_000_000


def test_what_the_user_may_not_do_is_forbidden() -> None:
    desk = Workstation(bare_cluster(), User("nobody"))
    done = desk.run("kubectl get pods -A")
    assert done.error_type == "forbidden"
    assert done.text.startswith('Error from server (Forbidden): pods is forbidden: User "nobody" cannot list')


@pytest.mark.parametrize(
    ("line", "tool"),
    [(GET, "kubectl"), ("alerts", "alerts"), ("curl http://x", "curl"), ("sleep 1", "wait"), ("ls", "shell"),
     ("date", "shell"), (f"{GET} | cat", "kubectl")],
)  # fmt: skip
def test_outcomes_name_the_tool(desk: Workstation, line: str, tool: str) -> None:
    assert desk.run(line).tool == tool
