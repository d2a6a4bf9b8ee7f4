"""The network programs of the workstation, in the words of Debian's."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.tools.workstation import Workstation
from sregym_env.worlds.tenants.delivery import HELM, Delivery, dated, release_secret

API = "kubernetes.default.svc.cluster.local"
LOST = "10.99.99.99"


@pytest.fixture(scope="module")
def desk() -> Workstation:
    return Workstation(bare_cluster(), ADMIN)


@pytest.mark.parametrize(
    ("line", "code", "said", "seconds"),
    [
        (f"nc -zv {API} 443", 0, f"Connection to {API} (10.96.0.1) 443 port [tcp/https] succeeded!\n", 0.1),
        ("nc -zv 10.96.0.1 443", 0, "Connection to 10.96.0.1 443 port [tcp/https] succeeded!\n", 0.1),
        ("nc -z 10.96.0.1 443", 0, "", 0.1),
        (
            f"nc -zv -w 2 {LOST} 80",
            1,
            f"nc: connect to {LOST} port 80 (tcp) timed out: Operation now in progress\n",
            2.0,
        ),
        (f"nc -z -w 2 {LOST} 80", 1, "", 2.0),
        ("nc -zv nope 80", 1, 'nc: getaddrinfo for host "nope" port 80: Name or service not known\n', 0.1),
        ("nc -zv nope", 1, "usage: nc [-46CDdFhklNnrStUuvZz]", 0.1),
        (f"dig +short {API}", 0, "10.96.0.1\n", 0.1),
        (f"dig +short {API} @10.96.0.10", 0, "10.96.0.1\n", 0.1),
        ("dig +short nope.", 0, "", 0.1),
        (f"host {API}", 0, f"{API} has address 10.96.0.1\n", 0.1),
        ("host nope", 1, "Host nope not found: 3(NXDOMAIN)\n", 0.1),
        (
            "nslookup kubernetes.default",
            0,
            f"Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\nName:\t{API}\nAddress: 10.96.0.1\n\n",
            0.1,
        ),
        (
            "nslookup nope",
            1,
            "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\n** server can't find nope: NXDOMAIN",
            0.1,
        ),
        ("nslookup nope 10.99.99.99", 1, ";; communications error to 10.99.99.99#53: timed out\n", 15.0),
        (
            "ping -c 2 -W 1 10.99.99.99",
            1,
            "PING 10.99.99.99 (10.99.99.99) 56(84) bytes of data.\n\n--- 10.99.99.99",
            2.0,
        ),
        ("ping nope", 2, "ping: nope: Name or service not known\n", 0.1),
        ("ping", 1, "ping: usage error: Destination address required\n", 0.1),
        ("wget -qO- http://nope", 4, "", 0.1),
        ("wget", 1, "wget: missing URL\nUsage: wget [OPTION]... [URL]...\n", 0.1),
        (f"wget -q -T 2 -t 1 http://{LOST}", 4, "", 2.0),
        (f"telnet {API} 443", 1, "Trying 10.96.0.1...\nConnected to", 0.1),
        ("timeout 3 nc -l 8080", 124, "", 3.0),
    ],
)
def test_a_line(desk: Workstation, line: str, code: int, said: str, seconds: float) -> None:
    before = desk.world.now()
    done = desk.run(line)
    assert done.text.startswith(said) if said else not done.text, done.text
    assert done.exit_code == code
    assert (desk.world.now() - before) / 1e6 == pytest.approx(seconds, abs=0.05)


def test_a_certificate_is_fetched_and_read(desk: Workstation) -> None:
    done = desk.run(f"openssl s_client -connect {API}:443 </dev/null 2>/dev/null > s; tail -2 s")
    assert done.text == "---\nDONE\n"
    done = desk.run("openssl x509 -in s -noout -subject -issuer -enddate -ext subjectAltName")
    lines = done.text.splitlines()
    assert lines[:2] == ["subject=CN = kube-apiserver", "issuer=CN = kubernetes"]
    assert lines[2].startswith("notAfter=") and lines[2].endswith(" GMT")
    assert API in lines[4]
    assert "Not After : " in desk.run("openssl x509 -in s -noout -text").text
    assert desk.run("openssl x509 -in s -noout -checkend 0").text == "Certificate will not expire\n"
    assert desk.run("openssl x509 -in s -noout -checkend 999999999").exit_code == 1


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("openssl x509 -in nope", 1, 'Can\'t open "nope" for reading, No such file or directory\n'),
        (
            "echo x | openssl x509 -noout -text",
            1,
            "Could not read certificate from <stdin>\nUnable to load certificate\n",
        ),
        ("openssl ciphers", 1, "openssl: 'ciphers' is not available on this workstation"),
        ("openssl nope", 1, "Invalid command 'nope'; type \"help\" for a list.\n"),
        ("printf hi | openssl base64", 0, "aGk=\n"),
        ("echo aGk= | openssl base64 -d", 0, "hi"),
        ('echo \'{"b":1,"a":[]}\' | python3 -m json.tool --sort-keys', 0, '{\n    "a": [],\n    "b": 1\n}\n'),
        (
            "echo '{' | python3 -m json.tool",
            1,
            "Expecting property name enclosed in double quotes: line 2 column 1 (char 2)\n",
        ),
        ("python3 -c 'print(6*7)'", 0, "42\n"),
        (
            "echo '{\"a\":[1,2]}' | python3 -c \"import json,sys; print(json.load(sys.stdin)['a'][1])\"",
            0,
            "2\n",
        ),
        (
            "python3 -c 'import subprocess'",
            1,
            "python3: a small part of Python runs on this machine, and the module `subprocess` is not in it",
        ),
        (
            "python3 nope.py",
            2,
            "/usr/bin/python3: can't open file '/home/oncall/nope.py': [Errno 2] No such file",
        ),
        ("python3 -m nope", 1, "/usr/bin/python3: No module named nope\n"),
        ("printf '#!/usr/bin/env python3\\nprint(1)\\n' > s.py; chmod +x s.py; ./s.py", 0, "1\n"),
        ("git status", 128, "fatal: not a git repository (or any of the parent directories): .git\n"),
        ("git nope", 1, "git: 'nope' is not a git command. See 'git --help'.\n"),
        ("df -h / | tail -1", 0, "/dev/vda1   49G 9.4G   40G  20% /\n"),
        ("ip -br a | head -1", 0, "lo               UNKNOWN        127.0.0.1/8 \n"),
        ("which kubectl nope helm", 1, "/usr/bin/kubectl\n/usr/bin/helm\n"),
        ("type dig cd", 0, "dig is /usr/bin/dig\ncd is a shell builtin\n"),
        ("yes x | head -2", 0, "x\nx\n"),
        ("echo {}x", 0, "{}x\n"),
        ("printf 'a\\nb c\\n' | xargs -I{} echo {}x -{}-", 0, "ax -a-\nb cx -b c-\n"),
        ("echo a | xargs -I % sh -c 'echo %x {}'", 0, "ax {}\n"),
        ("echo a | xargs -i echo {}{}", 0, "aa\n"),
        ("curl -sO http://nope/index.html", 6, ""),
        ("seq 1000000 | tail -1", 0, "1000000\n"),
        ("umask; umask -S", 0, "0022\nu=rwx,g=rx,o=rx\n"),
        ("helm list", 0, "NAME\tNAMESPACE\tREVISION\tUPDATED\tSTATUS\tCHART\tAPP VERSION\n"),
        ("helm status nope", 1, "Error: release: not found\n"),
        ("helm upgrade x .", 1, "Error: upgrade is not available on this workstation"),
    ],
)
def test_what_people_reach_for(desk: Workstation, line: str, code: int, said: str) -> None:
    done = desk.run(line)
    assert done.text.startswith(said), done.text
    assert done.exit_code == code


def test_a_release_that_is_delivered_again_is_of_then(desk: Workstation) -> None:
    old = release_secret(Delivery(HELM, "web", "1.4.2"), "default", 1, 1_700_000_000_000_000, deployed=True)
    desk.world.cluster.create(dated(old, desk.world.now()))
    updated = desk.run("helm list -o json | jq -r .[0].updated").text
    assert updated[:10] == desk.run("date +%F").text.strip()
    desk.world.cluster.delete("secrets", old["metadata"]["name"], "default")
    assert dated({"kind": "Secret", "type": "Opaque"}, 0) == {"kind": "Secret", "type": "Opaque"}


def test_a_release_in_the_cluster(desk: Workstation) -> None:
    for number in (1, 2):
        delivery = Delivery(HELM, "web", "1.4.2")
        secret = release_secret(delivery, "default", number, desk.world.now(), deployed=number == 2)
        desk.world.cluster.create(secret)
    assert desk.run("helm list -A -q").text == "web\n"
    row = desk.run("helm list").text.splitlines()[1].split("\t")
    assert re.fullmatch(r"2\d{3}(-\d\d){2} (\d\d:?){3}\.\d*[1-9] \+0000 UTC", row[3].strip()), row[3]
    assert [cell.strip() for cell in (*row[:3], *row[4:])] == [
        "web",
        "default",
        "2",
        "deployed",
        "web-1.4.2",
        "1.4.2",
    ]
    assert desk.run("helm history web | wc -l").text == "3\n"
    assert desk.run("helm get values web").text == "USER-SUPPLIED VALUES:\nnull\n"
    assert desk.run("helm status web -o json | jq -r .info.description").text == "Upgrade complete\n"
    desk.run('kubectl patch secret sh.helm.release.v1.web.v2 -p \'{"data":{"release":"e30="}}\'')
    assert desk.run("helm history web -o json | jq length").text == "1\n", (
        "Helm leaves out what it cannot read"
    )


WORDS = st.sampled_from(
    [
        *"- -- [ ] @ @[ + +short : :: 0 99999 443 10.96.0.1 10.96.0.1:443 nope -n -w -c -x -t -A -in -o -m -O -l x509 s_client "
        "verify list status get values history json.tool -connect -noout -text 1e9 nan -1 -5 a=b http://[ http://x:9z tcp://x /".split(),
        "",
        "a b",
        "§",
        "�",
    ]
)
COMMANDS = (
    "dig host nc nslookup ping telnet wget openssl helm python3 git df free id ip nproc uname uptime date which hostname yes "
    "seq timeout".split()
)


@given(st.sampled_from(COMMANDS), st.lists(WORDS, max_size=5))
def test_whatever_is_typed_nothing_of_ours_breaks(desk: Workstation, command: str, words: list[str]) -> None:
    done = desk.run(" ".join([command, *map(shlex.quote, words)]))
    assert desk.defect is None
    assert done.exit_code != 139


def test_dig_tells_who_has_an_answer() -> None:
    """Zones of the cluster's own are answered with authority, and denied with their SOA; others are asked for."""
    desk = Workstation(bare_cluster().fork(), ADMIN)
    own = desk.run(f"dig {API}").text
    assert "WARNING: .local is reserved for Multicast DNS" in own
    assert ";; flags: qr aa rd; QUERY: 1, ANSWER: 1, AUTHORITY: 0, ADDITIONAL: 1\n" in own
    assert "(echoed)\n" in own and own.endswith("rcvd: 129\n\n")
    denied = desk.run("dig nope.default.svc.cluster.local").text
    assert "status: NXDOMAIN" in denied and "AUTHORITY: 1," in denied
    assert "cluster.local.\t\t30\tIN\tSOA\tns.dns.cluster.local. hostmaster.cluster.local. " in denied
    other = desk.run("dig example.com").text
    assert ";; flags: qr rd ra;" in other and "SOA" not in other and "recursion requested" not in other
    assert "Non-authoritative answer:\n" in desk.run("nslookup example.com").text
    assert "Non-authoritative answer:\n" not in desk.run(f"nslookup {API}").text
    netshoot = desk.run(
        "kubectl run n --rm -i --restart=Never --image=nicolaka/netshoot -- sh -c 'dig -v; getent hosts kubernetes'"
    ).text
    assert "DiG 9.18.27\n" in netshoot and "kubernetes.default.svc.cluster.local" in netshoot
