"""Certificates as Go and OpenSSL judge them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.cluster.key_pairs import pair_problem
from sregym_env.runtime.clock import DAY, EPOCH, HOUR
from sregym_env.sim.network import tls
from tests.sim.admission.webhook_world import HOST, Pair, pair, self_signed

_PREFIX = "tls: failed to verify certificate: x509: "


@pytest.mark.parametrize(
    ("used", "roots", "host", "text"),
    [
        (pair(), pair().authority, HOST, ""),
        (pair(), pair().authority, HOST.upper() + ".", ""),
        (pair(), "", HOST, "certificate signed by unknown authority"),
        (pair(), self_signed().authority, HOST, "certificate signed by unknown authority"),
        (pair(), pair().authority, "other.svc", f"certificate is valid for {HOST}, not other.svc"),
        (
            pair(),
            pair().authority,
            "10.0.0.1",
            "cannot validate certificate for 10.0.0.1 because it doesn't contain any IP SANs",
        ),
        (self_signed(), self_signed().authority, HOST, ""),
        (pair(names=("*.policy.svc",)), pair(names=("*.policy.svc",)).authority, HOST, ""),
        (
            pair(names=("*.svc",)),
            pair(names=("*.svc",)).authority,
            HOST,
            f"certificate is valid for *.svc, not {HOST}",
        ),
    ],
)
def test_go(used: Pair, roots: str, host: str, text: str) -> None:
    found = tls.go_refusal(used.certificate, roots, host, EPOCH)
    assert found == (_PREFIX + text if text else "")


def test_a_chain_through_what_the_server_presents() -> None:
    used = pair()
    assert tls.go_refusal(used.certificate + used.authority, used.authority, HOST, EPOCH) == ""
    assert tls.go_refusal(used.authority + used.certificate, used.authority, HOST, EPOCH) != ""


@given(st.integers(-400, 400), st.integers(0, 24))
def test_validity_is_by_the_clock_given(day: int, hour: int) -> None:
    now = EPOCH + day * DAY + hour * HOUR
    text = tls.go_refusal(pair().certificate, pair().authority, HOST, now)
    if -30 * DAY <= now - EPOCH <= 300 * DAY:
        assert text == ""
    else:
        assert "has expired or is not yet valid" in text
        assert ("is before 2026-07-07T10:00:00Z" in text) is (now < EPOCH)


@pytest.mark.parametrize(
    ("presented", "roots", "host", "now", "text"),
    [
        (pair().certificate, pair().authority, HOST, EPOCH, ""),
        (
            pair().certificate,
            "",
            HOST,
            EPOCH,
            "SSL certificate problem: unable to get local issuer certificate",
        ),
        (self_signed().certificate, "", HOST, EPOCH, "SSL certificate problem: self-signed certificate"),
        (
            pair().certificate + pair().authority,
            "",
            HOST,
            EPOCH,
            "SSL certificate problem: self-signed certificate in certificate chain",
        ),
        (
            pair().certificate,
            pair().authority,
            HOST,
            EPOCH + 400 * DAY,
            "SSL certificate problem: certificate has expired",
        ),
        (
            pair().certificate,
            pair().authority,
            HOST,
            EPOCH - 60 * DAY,
            "SSL certificate problem: certificate is not yet valid",
        ),
        (
            pair().certificate,
            pair().authority,
            "a.b",
            EPOCH,
            "SSL: no alternative certificate subject name matches target host name 'a.b'",
        ),
    ],
)
def test_curl(presented: str, roots: str, host: str, now: int, text: str) -> None:
    assert tls.curl_refusal(presented, roots, host, now) == text


@pytest.mark.parametrize(
    ("certificate", "key", "text"),
    [
        (pair().certificate, pair().key, ""),
        ("", pair().key, "tls: failed to find any PEM data in certificate input"),
        (pair().certificate, "", "tls: failed to find any PEM data in key input"),
        (pair().certificate, pair(number=1).key, "tls: private key does not match public key"),
        (
            pair().certificate,
            pair().certificate,
            "tls: found a certificate rather than a key in the PEM for the private key",
        ),
    ],
)
def test_what_a_server_can_load(certificate: str, key: str, text: str) -> None:
    assert pair_problem(certificate, key) == text
