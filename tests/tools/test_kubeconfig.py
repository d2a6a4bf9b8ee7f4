"""One kubeconfig: the file, ``kubectl config``, flags and variables never contradict each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.tools.kubectl.kubeconfig import Context, KubeConfig, default_config, merged, parse
from sregym_env.tools.workstation import Workstation

NAMES = st.text("abcdefghij-", min_size=1, max_size=6)


@pytest.fixture
def desk() -> Workstation:
    return Workstation(bare_cluster(), ADMIN)


@given(
    st.lists(st.builds(Context, NAMES, NAMES, NAMES, NAMES), unique_by=lambda each: each.name, max_size=3),
    NAMES,
)
def test_what_is_written_is_read_again(contexts: list[Context], current: str) -> None:
    config = KubeConfig(tuple(contexts), current, credentials=(("u", '{"token": "t"}'),))
    again = parse(config.text(), "x")
    assert (again.contexts, again.current, again.clusters) == (
        config.contexts,
        config.current,
        config.clusters,
    )
    assert again.credential("u") == {"token": "t"}
    assert again.text() == config.text()


def test_the_first_file_that_says_something_counts() -> None:
    one, two = default_config("a", "first"), default_config("a", "second")
    assert merged(one, two).context() == one.context()
    assert merged(parse("", "x"), two).context() == two.context()


def test_the_file_is_what_config_view_shows(desk: Workstation) -> None:
    shown = desk.run("kubectl config view --raw").text
    assert desk.run("cat ~/.kube/config").text == shown
    desk.run("kubectl config set-context --current --namespace=kube-system")
    assert "namespace: kube-system" in desk.run("cat ~/.kube/config").text
    desk.run("sed -i s/kube-system/kube-public/ ~/.kube/config")
    assert desk.run("kubectl config view --minify -o jsonpath={..namespace}").text.strip() == "kube-public"
    assert "in kube-public namespace" in desk.run("kubectl get pods").text


REFUSED = "was refused - did you specify the right host or port?"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("KUBECONFIG=/nope kubectl get ns", f"The connection to the server localhost:8080 {REFUSED}"),
        ("KUBECONFIG=/nope kubectl describe ns", "memcache.go:265] \"Unhandled Error\" err="),
        ("KUBECONFIG=/nope kubectl config current-context", "error: current-context is not set"),
        ("KUBECONFIG=/nope kubectl version", f"The connection to the server localhost:8080 {REFUSED}"),
        ("KUBECONFIG=/nope kubectl config view", "clusters: null"),
        ("kubectl --kubeconfig=/nope get ns", "error: stat /nope: no such file or directory"),
        ("kubectl -s https://127.0.0.1:1 get ns", f"The connection to the server 127.0.0.1:1 {REFUSED}"),
        ("kubectl -s https://elsewhere.example get ns", "Unable to connect to the server: dial tcp: lookup elsewhere.example: no such host"),
        ("kubectl --context=x get ns", "Error in configuration: context was not found for specified context: x"),
        ("kubectl --context=x -n y get pods", 'error: context "x" does not exist'),
        ("kubectl --context=x cluster-info", 'error: context "x" does not exist'),
        ("kubectl --token=abc get ns", "error: You must be logged in to the server (Unauthorized)"),
        ("sed -i 's/token: .*/token: abc/' ~/.kube/config; kubectl get ns", "error: You must be logged in to the server (Unauthorized)"),
        ("rm ~/.kube/config; kubectl get ns", f"The connection to the server localhost:8080 {REFUSED}"),
        ("echo 'a: [' > ~/.kube/config; kubectl get ns", 'error: error loading config file "/home/oncall/.kube/config": yaml: '),
        ("echo 'kind: Pod' > /tmp/x; KUBECONFIG=/tmp/x kubectl get ns", 'no kind "Pod" is registered for version "v1"'),
    ],
)  # fmt: skip
def test_what_leads_elsewhere_reaches_nobody(desk: Workstation, line: str, text: str) -> None:
    found = desk.run(line).text
    assert text in found
    assert "kube-system " not in found


@pytest.mark.parametrize(
    ("path", "value", "shown"),
    [
        ("current-context", "x", "current-context: x"),
        ("contexts.x.namespace", "z1", "    namespace: z1"),
        ("clusters.kubernetes.server", "https://y", "    server: https://y"),
        ("clusters.x.server", "https://y", "    server: https://y"),
        ("clusters.x.insecure-skip-tls-verify", "true", "    insecure-skip-tls-verify: true"),
        ("users.x.token", "z1", "    token: z1"),
        ("users.kubernetes-admin.username", "z1", "    username: z1"),
        ("users.x.client-key-data --set-raw-bytes=true", "abc", "    client-key-data: YWJj"),
    ],
)
def test_what_is_set_is_in_the_file_and_goes_when_it_is_unset(
    desk: Workstation, path: str, value: str, shown: str
) -> None:
    assert desk.run(f"kubectl config set {path} {value}").exit_code == 0
    assert shown in desk.run("cat ~/.kube/config").text.splitlines()
    assert shown in desk.run("kubectl config view --flatten").text.splitlines()
    assert desk.run(f"kubectl config unset {path.split()[0]}").exit_code == 0
    assert shown not in desk.run("cat ~/.kube/config").text.splitlines()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("set x y", "error: unable to parse x after [] at api.Config"),
        ("set contexts.x y", "error: can't set a map to a value: map[kubernetes-admin@kubernetes:0xc000a80f00]"),
        ("set users.x.nothing y", "error: can't set a map to a value: map[kubernetes-admin:0xc000a80f00]"),
        ("set clusters.x.insecure-skip-tls-verify maybe", 'error: strconv.ParseBool: parsing "maybe": invalid syntax'),
        ("set clusters.x.certificate-authority-data abc", "error: error decoding input value: illegal base64 data at input byte 0"),
        ("unset users.x.token", "error: current map key `x` is invalid"),
    ],
)  # fmt: skip
def test_what_cannot_be_set_changes_nothing(desk: Workstation, words: str, said: str) -> None:
    before = desk.run("cat ~/.kube/config").text
    done = desk.run(f"kubectl config {words}")
    assert (done.text.strip(), done.exit_code) == (said, 1)
    assert desk.run("cat ~/.kube/config").text == before


def test_an_unreachable_address_takes_time(desk: Workstation) -> None:
    before = desk.world.now()
    assert "i/o timeout" in desk.run("kubectl -s https://10.9.9.9 get ns").text
    assert desk.world.now() - before >= 30_000_000


def test_several_files_are_one(desk: Workstation) -> None:
    desk.run(
        "cp ~/.kube/config /tmp/x; KUBECONFIG=/tmp/x kubectl config set-context other --namespace=kube-public"
    )
    assert "other" not in desk.run("kubectl config get-contexts").text
    joined = desk.run("KUBECONFIG=~/.kube/config:/tmp/x kubectl config get-contexts -o name").text
    assert joined.split() == ["kubernetes-admin@kubernetes", "other"]


def test_forks_have_files_of_their_own(desk: Workstation) -> None:
    other = desk.fork(desk.world.fork())  # type: ignore[attr-defined]
    desk.run("kubectl config set-context --current --namespace=kube-system")
    assert "kube-system" not in other.run("kubectl config view").text
