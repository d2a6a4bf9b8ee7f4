from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.cluster.disturbances import PodFreeze
from sregym_env.sim.network import corefile, dns
from sregym_env.sim.network.addressing import NodeSource
from sregym_env.sim.network.corefile import CorefileError
from sregym_env.sim.world import SimWorld
from sregym_env.sim.world.process import Mount
from tests.sim.dataplane import COREFILE, FakeProgram, bare_world, expose, pod, put, service, web_world

NXDOMAIN_BLOCK = """    template ANY ANY svc.cluster.local {
        match "^web\\.app\\.svc\\.cluster\\.local\\.?$"
        rcode NXDOMAIN
        fallthrough
    }
    kubernetes cluster.local"""


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("web", "10.96.1.1"),
        ("web.app", "10.96.1.1"),
        ("web.app.svc", "10.96.1.1"),
        ("web.app.svc.cluster.local", "10.96.1.1"),
        ("web.app.svc.cluster.local.", "10.96.1.1"),
        ("kube-dns.kube-system", "10.96.0.10"),
        ("10-244-2-5.app.pod.cluster.local", "10.244.2.5"),
        ("localhost", "127.0.0.1"),
        ("client", "10.244.1.5"),
        ("10.1.2.3", "10.1.2.3"),
    ],
)
def test_names_a_pod_can_use(host: str, address: str) -> None:
    world, client, _ = web_world()
    assert dns.resolve(world, client, host).addresses == (address,)


@pytest.mark.parametrize(
    ("host", "error", "text"),
    [
        ("consul", "no_such_host", "lookup consul on 10.96.0.10:53: no such host"),
        ("web.other", "no_such_host", "lookup web.other on 10.96.0.10:53: no such host"),
        ("web..app", "no_such_host", "lookup web..app: no such host"),
    ],
)
def test_names_that_do_not_exist(host: str, error: str, text: str) -> None:
    world, client, _ = web_world()
    found = dns.resolve(world, client, host)
    assert (found.error, found.text) == (error, text)


def test_search_path_is_followed_in_order() -> None:
    world, client, _ = web_world()
    asked = [query.name for query in dns.resolve(world, client, "web.app").queries]
    assert asked == ["web.app.app.svc.cluster.local", "web.app.svc.cluster.local"]


def test_headless_service_answers_with_pods_and_hostnames() -> None:
    world, client, _ = web_world()
    service(world, "app", "db", "None", 27017, 27017)
    pod(world, "app", "db-0", "10.244.2.9", "w2", ports=(27017,))
    expose(world, "app", "db", ["db-0", "web-1"], 27017)
    assert dns.resolve(world, client, "db").addresses == ("10.244.2.9", "10.244.2.5")
    assert dns.resolve(world, client, "10-244-2-9.db.app.svc.cluster.local").addresses == ("10.244.2.9",)


def test_external_name_is_followed() -> None:
    world, client, _ = web_world()
    service(world, "app", "jaeger", "", 1, 1, type="ExternalName", externalName="web.app.svc.cluster.local")
    found = dns.resolve(world, client, "jaeger")
    assert found.addresses == ("10.96.1.1",)
    assert found.canonical == "web.app.svc.cluster.local"


@pytest.mark.parametrize(
    ("spec", "host", "text"),
    [
        ({"dnsPolicy": "Default"}, "web", "lookup web on 172.18.0.1:53: no such host"),
        (
            {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["8.8.8.8"]}},
            "web.app.svc.cluster.local",
            "lookup web.app.svc.cluster.local on 8.8.8.8:53: no such host",
        ),
        (
            {"dnsPolicy": "ClusterFirst", "hostNetwork": True},
            "web",
            "lookup web on 172.18.0.1:53: no such host",
        ),
    ],
)
def test_dns_policy(spec: dict[str, Any], host: str, text: str) -> None:
    world, _, _ = web_world()
    other = pod(world, "app", "other", "10.244.1.7", "w1", **spec)
    assert dns.resolve(world, other, host).text == text


def test_host_aliases_and_search_of_dns_config() -> None:
    world, _, _ = web_world()
    other = pod(
        world,
        "default",
        "other",
        "10.244.1.7",
        "w1",
        hostAliases=[{"ip": "1.2.3.4", "hostnames": ["consul"]}],
        dnsConfig={"searches": ["app.svc.cluster.local"], "options": [{"name": "ndots", "value": "2"}]},
    )
    assert dns.resolve(world, other, "consul").addresses == ("1.2.3.4",)
    assert dns.resolve(world, other, "consul", hosts=False).error == "no_such_host"
    assert dns.resolve(world, other, "web").addresses == ("10.96.1.1",)
    assert dns.resolv_conf(world, other).text == (
        "search default.svc.cluster.local svc.cluster.local cluster.local app.svc.cluster.local\n"
        "nameserver 10.96.0.10\noptions ndots:2\n"
    )


def test_no_dns_server_means_no_answer() -> None:
    world, client, _ = web_world()
    expose(world, "kube-system", "kube-dns", ["coredns-a"], 53, ready=False)
    found = dns.resolve(world, client, "web")
    assert found.error == "dns_timeout"
    assert found.text.endswith("->10.96.0.10:53: read: connection refused")


def test_frozen_dns_server_times_out() -> None:
    world, client, _ = web_world()
    world.disturbances = (PodFreeze("kube-system", "coredns-a"),)
    found = dns.resolve(world, client, "web")
    assert found.error == "dns_timeout"
    assert found.text.startswith("lookup web on 10.96.0.10:53: read udp 10.244.1.5:")
    assert found.text.endswith("->10.96.0.10:53: i/o timeout")
    assert found.latency == pytest.approx(10.0)


def test_egress_policy_blocks_dns() -> None:
    world, client, _ = web_world()
    policy = {
        "metadata": {"name": "deny", "namespace": "app"},
        "spec": {"podSelector": {}, "policyTypes": ["Egress"]},
    }
    put(world, "networkpolicies.networking.k8s.io", policy)
    assert dns.resolve(world, client, "web").error == "dns_timeout"


def with_corefile(text: str) -> tuple[Any, Any]:
    world, client, _ = web_world()
    world.change_process(("uid-coredns-a", "main"), state={"corefile": text})
    return world, client


def test_template_takes_names_away() -> None:
    world, client = with_corefile(COREFILE.replace("    kubernetes cluster.local", NXDOMAIN_BLOCK))
    assert dns.resolve(world, client, "web").text == "lookup web on 10.96.0.10:53: no such host"
    assert dns.resolve(world, client, "kube-dns.kube-system").addresses == ("10.96.0.10",)


@pytest.mark.parametrize(
    ("extra", "host", "addresses"),
    [
        ("rewrite name api.internal web.app.svc.cluster.local", "api.internal", ("10.96.1.1",)),
        (
            "rewrite name regex (.*)\\.corp {1}.app.svc.cluster.local",
            "web.corp",
            ("10.96.1.1",),
        ),
        ("hosts {\n 9.9.9.1 web.app.svc.cluster.local\n fallthrough\n }", "web", ("9.9.9.1",)),
    ],
)
def test_rewrite_and_hosts(extra: str, host: str, addresses: tuple[str, ...]) -> None:
    world, client = with_corefile(COREFILE.replace("    ready\n", f"    ready\n    {extra}\n"))
    assert dns.resolve(world, client, host).addresses == addresses


def test_corefile_without_kubernetes_knows_no_service() -> None:
    world, client = with_corefile(".:53 {\n    forward . 8.8.8.8\n}\n")
    assert dns.resolve(world, client, "web").error == "no_such_host"
    assert dns.resolve(world, client, "example.com").addresses


def test_public_names_have_stable_addresses() -> None:
    world, client, _ = web_world()
    found = dns.resolve(world, client, "example.com").addresses
    assert found == dns.resolve(bare_world(), NodeSource("cp"), "example.com").addresses
    assert len(found) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            COREFILE.replace("kubernetes cluster", "kubernetess cluster"),
            "/etc/coredns/Corefile:7 - Error during parsing: Unknown directive 'kubernetess'",
        ),
        (COREFILE.rstrip()[:-1], "/etc/coredns/Corefile:19 - Error during parsing: Unexpected EOF"),
        (
            COREFILE.replace("ttl 30", "tll 30"),
            "plugin/kubernetes: /etc/coredns/Corefile:7 - Error during parsing: unknown property 'tll'",
        ),
        ("", "/etc/coredns/Corefile:1 - Error during parsing: Unexpected EOF"),
        (COREFILE + COREFILE, "cannot serve dns://.:53 - it is already defined"),
    ],
)
def test_broken_corefiles(text: str, message: str) -> None:
    with pytest.raises(CorefileError) as error:
        corefile.parse(text)
    assert str(error.value) == message


@given(st.text(alphabet='.:{}\n "#abc53', max_size=80))
def test_any_text_parses_or_is_refused(text: str) -> None:
    with contextlib.suppress(CorefileError):
        corefile.parse(text)


def test_changed_corefile_is_reloaded_and_a_broken_one_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    world, client, _ = web_world(dns.CONTROLLER)
    mount = Mount("/etc/coredns", "config-volume", "configmap", "coredns")
    key = ("uid-coredns-a", "main")
    world.change_process(key, mounts=(mount,))

    def mounted(world: Any, process: Any) -> str:
        found = world.store.get("configmaps", "kube-system", "coredns")
        return str(found["data"]["Corefile"])

    monkeypatch.setattr(dns, "_mounted_corefile", mounted)
    programs = {"echo": FakeProgram("echo"), "coredns": FakeProgram("coredns")}
    monkeypatch.setattr(SimWorld, "programs", programs)

    def configure(text: str) -> None:
        put(
            world,
            "configmaps",
            {"metadata": {"name": "coredns", "namespace": "kube-system"}, "data": {"Corefile": text}},
        )
        world.advance(120.0)

    configure(COREFILE.replace("    kubernetes cluster.local", NXDOMAIN_BLOCK))
    assert dns.resolve(world, client, "web").error == "no_such_host"
    configure(COREFILE.replace("kubernetes", "kubernetess"))
    assert dns.resolve(world, client, "web").error == "no_such_host"
    configure(COREFILE)
    assert dns.resolve(world, client, "web").addresses == ("10.96.1.1",)
    log = [line.text for line in world.logs[(*key, 0)].read(world.clock)]
    assert log.count("[INFO] Reloading complete") == 2
    assert any("Unknown directive 'kubernetess'" in line for line in log)
    assert len(world.queue) == 0


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "\\8"])
def test_a_pattern_that_is_none_is_refused_when_it_is_read(pattern: str) -> None:
    with pytest.raises(corefile.CorefileError, match="could not parse regex"):
        corefile.parse(f".:53 {{\n    rewrite name regex {pattern} web.app\n}}\n")


def test_a_group_that_the_pattern_lacks_stands_for_nothing() -> None:
    rewrite = corefile.Rewrite("regex", r"(.*)\.corp", "{1}{9}.app", True)
    assert rewrite.apply("web.corp") == "web.app"


def test_an_upstream_that_does_not_answer_takes_its_time() -> None:
    world, client = with_corefile(
        "app.svc.cluster.local:53 {\n    errors\n    forward . 10.9.9.9\n}\n" + COREFILE
    )
    answer, seconds = dns.ask(world, client, "web.app.svc.cluster.local", "10.96.0.10")
    assert answer.rcode == "SERVFAIL"
    assert seconds > 2.0
    assert dns.ask(world, client, "kube-dns.kube-system.svc.cluster.local", "10.96.0.10")[1] < 0.1
