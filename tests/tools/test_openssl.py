"""Keys, requests and certificates that are made on the workstation, and what the real OpenSSL reads in them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sregym_env.cluster import keys
from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import bare_cluster
from sregym_env.tools.workstation import Workstation

REAL = shutil.which("openssl")

OWN = "openssl req -x509 -newkey {} -nodes -keyout own.key -out own.crt -days 9 -subj /C=DE/O=Ours/CN=hook.default.svc -addext subjectAltName=DNS:hook.default.svc,IP:10.0.0.7"
AUTHORITY = "openssl genrsa -out ca.key 2048; openssl req -x509 -new -key ca.key -days 3650 -subj '/CN=our ca' -out ca.crt"
SIGNED = (
    "openssl req -new -newkey rsa:2048 -nodes -keyout tls.key -subj /CN=hook -out tls.csr; "
    "printf 'subjectAltName=@names\\nextendedKeyUsage=serverAuth\\n[names]\\nDNS.1 = hook\\nDNS.2 = hook.default.svc\\n' > ext; "
    "openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 90 -extfile ext -out tls.crt"
)
CONFIG = """\
[req]
distinguished_name = dn
prompt = no
x509_extensions = v3   # of those that sign themselves
[dn]
O = Ours
CN = hook
[v3]
subjectAltName = @names
keyUsage = critical, digitalSignature, keyEncipherment
basicConstraints = critical, CA:FALSE
[names]
DNS.1 = a.default.svc
IP.1 = 10.0.0.8
"""


@pytest.fixture
def desk() -> Workstation:
    return Workstation(bare_cluster(), ADMIN)


def said(desk: Workstation, line: str) -> str:
    done = desk.run(line)
    assert done.exit_code == 0, done.text
    return done.text


def read(desk: Workstation, name: str, folder: Path, line: str) -> str:
    """What the real OpenSSL says of a file of the workstation's; ``{}`` stands for its path."""
    path = folder / name
    path.write_text(said(desk, f"cat {name}"))
    done = subprocess.run(line.format(path).split(), capture_output=True, text=True, timeout=30)
    return done.stdout + done.stderr


@pytest.mark.parametrize("spec", ["rsa:2048", "rsa:4096", "ec -pkeyopt ec_paramgen_curve:P-384", "ed25519"])
def test_a_certificate_of_ones_own_is_what_was_asked_for(desk: Workstation, spec: str) -> None:
    assert said(desk, OWN.format(spec)) == "-----\n"
    shown = said(
        desk, "openssl x509 -in own.crt -noout -subject -issuer -ext subjectAltName,basicConstraints"
    )
    assert (
        "subject=C = DE, O = Ours, CN = hook.default.svc\nissuer=C = DE, O = Ours, CN = hook.default.svc\n"
        in shown
    )
    assert "DNS:hook.default.svc, IP Address:10.0.0.7" in shown
    assert "CA:TRUE" in shown
    assert said(desk, "openssl verify -CAfile own.crt own.crt") == "own.crt: OK\n"
    assert said(desk, "openssl x509 -in own.crt -noout -checkend 700000") == "Certificate will not expire\n"
    assert desk.run("openssl x509 -in own.crt -noout -checkend 800000").exit_code == 1
    assert said(desk, "openssl pkey -in own.key -pubout") == said(
        desk, "openssl x509 -in own.crt -noout -pubkey"
    )


def test_an_authority_signs_what_a_request_asks_for(desk: Workstation) -> None:
    said(desk, AUTHORITY)
    assert said(desk, SIGNED).endswith("Certificate request self-signature ok\nsubject=CN = hook\n")
    assert said(desk, "openssl verify -CAfile ca.crt tls.crt") == "tls.crt: OK\n"
    shown = said(desk, "openssl x509 -in tls.crt -noout -issuer -ext subjectAltName,extendedKeyUsage")
    assert "issuer=CN = our ca\n" in shown
    assert "DNS:hook, DNS:hook.default.svc" in shown
    assert "TLS Web Server Authentication" in shown
    assert "secret/hook created" in said(desk, "kubectl create secret tls hook --cert=tls.crt --key=tls.key")
    assert desk.run("kubectl create secret tls other --cert=tls.crt --key=ca.key").exit_code == 1


def test_a_file_says_who_and_what_for(desk: Workstation) -> None:
    said(desk, f"cat > c <<'END'\n{CONFIG}END")
    said(desk, "openssl req -x509 -newkey rsa:2048 -noenc -config c -keyout k -out crt")
    shown = said(desk, "openssl x509 -in crt -noout -subject -ext subjectAltName,keyUsage,basicConstraints")
    assert "subject=O = Ours, CN = hook\n" in shown
    assert "DNS:a.default.svc, IP Address:10.0.0.8" in shown
    assert "Digital Signature, Key Encipherment" in shown
    assert "CA:FALSE" in shown


def test_a_certificate_is_renewed_with_its_own_key(desk: Workstation) -> None:
    said(desk, OWN.format("rsa:2048"))
    said(desk, "openssl x509 -in own.crt -signkey own.key -days 400 -out new.crt")
    before, after = (
        said(desk, f"openssl x509 -in {name} -noout -subject -pubkey -ext subjectAltName")
        for name in ("own.crt", "new.crt")
    )
    assert before == after
    assert said(desk, "openssl x509 -in new.crt -noout -checkend 30000000") == "Certificate will not expire\n"


def test_the_same_commands_at_the_same_time_give_the_same_bytes() -> None:
    one, two = (Workstation(bare_cluster(), ADMIN) for _ in range(2))
    for desk in (one, two):
        said(desk, f"{AUTHORITY}; {SIGNED}; {OWN.format('ec -pkeyopt ec_paramgen_curve:P-256')}")
    assert said(one, "cat ca.key tls.key tls.crt own.crt") == said(two, "cat ca.key tls.key tls.crt own.crt")
    first = said(one, "cat own.key")
    said(one, f"sleep 1; {OWN.format('ec -pkeyopt ec_paramgen_curve:P-256')}")
    assert said(one, "cat own.key") != first


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("openssl req -x509 -newkey rsa:2048 -subj /CN=a", "no terminal to ask for a pass phrase: give -nodes"),
        ("openssl req -x509 -newkey rsa:2048 -nodes", "no terminal to ask for a name: give -subj"),
        ("openssl req -x509 -newkey rsa:2048 -nodes -subj CN=a", "subject name is expected to be in the format /type0=value0"),
        ("openssl req -x509 -newkey rsa:2048 -nodes -subj /XX=a", 'Skipping unknown subject name attribute "XX"'),
        ("openssl req -x509 -newkey rsa:2048 -nodes -subj /C=Germany", "Error making certificate request"),
        ("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=a -days -1", "Non-positive number"),
        ("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=a -days " + "9" * 5000, "Non-positive number"),
        ("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=a -addext subjectAltName=IP:999", "Error adding extensions"),
        ("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=a -addext nsComment=x", "unknown extension name"),
        ("openssl req -x509 -newkey rsa:1 -nodes -subj /CN=a", "there are 1024, 2048, 3072, 4096"),
        ("openssl req -x509 -newkey dsa -nodes -subj /CN=a", "Error setting algorithm dsa"),
        ("openssl req -newkey ec -pkeyopt ec_paramgen_curve:none -nodes -subj /CN=a", "unknown curve name (none)"),
        ("openssl req -x509 -key none -subj /CN=a", 'Can\'t open "none" for reading'),
        ("echo x | openssl req -noout -text", "Unable to load X509 request from <stdin>"),
        ("echo x > k; openssl req -x509 -key k -subj /CN=a", "Could not read private key from k"),
        ("echo x | openssl x509 -req -days 3", "Unable to load X509 request from <stdin>"),
        ("openssl req -new -newkey rsa:2048 -nodes -subj /CN=a -out r; openssl x509 -req -in r", "We need a private key to sign with"),
        ("openssl genpkey -out k", "Error initializing context"),
        ("openssl ecparam -genkey", "unknown curve name"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_told(desk: Workstation, line: str, told: str) -> None:
    done = desk.run(line)
    assert done.exit_code == 1
    assert told in done.text


NAMES = ",".join(f"DNS:n{number}.x" for number in range(900))


@pytest.mark.parametrize(
    "line",
    [
        f"openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=a -addext subjectAltName={NAMES}",
        "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=a -addext $'subjectAltName=DNS:a\nb' -addext keyUsage=encipherOnly",
        "openssl req -x509 -newkey rsa:2048 -nodes -subj $'/CN=\xff\xfe'",
        "openssl req -x509 -newkey rsa:2048 -nodes -subj /" + "/".join(["OU=a"] * 2000),
        "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN= -set_serial -5",
        "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=a -set_serial " + "9" * 60,
        "head -c 200000 /dev/zero | openssl req -noout -text",
        "printf -- '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n' | openssl x509 -req -key k",
        "printf '[req]\nprompt=no\ndistinguished_name=req\n' > c; openssl req -x509 -newkey ed25519 -nodes -config c",
        "openssl req -x509 -newkey ed25519 -nodes -subj /CN=a -days 36500 -addext basicConstraints=CA:TRUE,pathlen:" + "9" * 5000,
        "openssl ecparam -name prime256v1 -genkey -noout | openssl pkey -pubout | openssl pkey",
        "openssl genpkey -algorithm RSA -pkeyopt x -out /no/such/place",
    ],
)  # fmt: skip
def test_whatever_is_typed_is_answered(desk: Workstation, line: str) -> None:
    assert desk.run(line).exit_code in (0, 1, 2)
    assert desk.run("echo alive").text == "alive\n"


@pytest.mark.skipif(not REAL, reason="there is no real openssl here")
def test_the_real_one_reads_what_was_made(desk: Workstation, tmp_path: Path) -> None:
    said(desk, AUTHORITY)
    said(desk, SIGNED)
    read(desk, "ca.crt", tmp_path, "true {}")
    chain = f"openssl verify -attime {desk.world.now() // 1_000_000 + 60} -CAfile {tmp_path / 'ca.crt'} {{}}"
    assert read(desk, "tls.crt", tmp_path, chain).endswith("tls.crt: OK\n")
    for name in ("tls.crt", "ca.crt"):
        ours = said(desk, f"openssl x509 -in {name} -noout -subject -issuer -dates -serial -pubkey -modulus")
        theirs = read(
            desk,
            name,
            tmp_path,
            "openssl x509 -in {} -noout -subject -issuer -dates -serial -pubkey -modulus",
        )
        assert ours == theirs
    assert "RSA key ok" in read(desk, "tls.key", tmp_path, "openssl rsa -in {} -check -noout")
    assert "Key is valid" in read(desk, "ca.key", tmp_path, "openssl pkey -in {} -check -noout")
    asked = read(desk, "tls.csr", tmp_path, "openssl req -in {} -noout -verify -subject")
    assert "verify OK" in asked and "subject=CN = hook" in asked


@pytest.mark.parametrize("bits", keys.RSA_BITS)
def test_keys_have_the_size_that_was_asked_for(bits: int) -> None:
    found = [keys.rsa_key(f"text {number}", bits) for number in range(4)]
    assert {key.key_size for key in found} == {bits}
    assert len({key.private_numbers().d for key in found}) > 1
    assert all(key.public_key().public_numbers().n.bit_length() == bits for key in found)


@pytest.mark.parametrize("curve", keys.CURVES)
def test_every_curve_has_keys(curve: str) -> None:
    assert keys.ec_key("a", curve).private_numbers() == keys.ec_key("a", curve).private_numbers()
    assert keys.ec_key("a", curve).private_numbers() != keys.ec_key("b", curve).private_numbers()


def test_keys_are_described_and_kept_to_oneself(desk: Workstation) -> None:
    run = desk.run
    run("cd /tmp && openssl genrsa -out k.pem 2048 && openssl req -new -key k.pem -subj /CN=a -out a.csr")
    run("openssl req -x509 -newkey ed25519 -nodes -keyout ca.key -out ca.crt -subj /CN=ca -days 9")
    run("openssl x509 -req -in a.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out a.crt -days 5")
    text = run("openssl pkey -in k.pem -noout -text").text
    assert text.startswith("Private-Key: (2048 bit, 2 primes)\nmodulus:\n    00:")
    assert text.count("\n") > 80 and "publicExponent: 65537 (0x10001)" in text
    assert (
        run("openssl rsa -in k.pem -noout -modulus").text
        == run("openssl x509 -in a.crt -noout -modulus").text
    )
    assert "ED25519 Private-Key:\npriv:\n" in run("openssl pkey -in ca.key -noout -text").text
    assert "ED25519 Public-Key:\n                pub:\n" in run("openssl x509 -in ca.crt -noout -text").text
    assert (
        "                Modulus:\n                    00:" in run("openssl x509 -in a.crt -noout -text").text
    )
    assert [line[:10] for line in run("ls -l k.pem ca.key ca.crt ca.srl").text.splitlines()] == [
        "-rw-r--r--", "-rw-------", "-rw-r--r--", "-rw-------",
    ]  # fmt: skip


def test_a_certificate_is_shown_in_the_order_in_which_it_is_asked(desk: Workstation) -> None:
    desk.run("cd /tmp && openssl req -x509 -newkey ec:<(openssl ecparam -name prime256v1) -nodes -keyout e.key "
             "-out e.crt -subj /CN=e -addext subjectAltName=DNS:e")  # fmt: skip
    shown = desk.run("openssl x509 -in /tmp/e.crt -noout -ext subjectAltName -subject").text
    assert shown.index("DNS:e") < shown.index("subject=")
