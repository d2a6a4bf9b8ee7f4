"""The protobuf decoder against bodies made here, field by field, and against damage."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube.status import StatusError
from sregym_env.serve import protobuf

# --- a small encoder ------------------------------------------------------------------------------


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def body(api_version: str, kind: str, raw: bytes) -> bytes:
    return protobuf.MAGIC + text(1, text(1, api_version) + text(2, kind)) + text(2, raw)


def meta(name: str) -> bytes:
    # Go writes the empty plain fields too.
    return text(1, text(1, name) + text(2, "") + text(3, "") + text(5, "") + number(7, 0) + text(8, b""))


# --- tests ----------------------------------------------------------------------------------------


def test_a_config_map() -> None:
    raw = (
        meta("a")
        + text(2, text(1, "key") + text(2, "value"))
        + text(3, text(1, "bin") + text(2, b"\x00\xff"))
    )
    assert protobuf.decode(body("v1", "ConfigMap", raw)) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
        "data": {"key": "value"},
        "binaryData": {"bin": "AP8="},
    }


def test_zero_is_a_value_where_go_has_a_pointer() -> None:
    spec = number(1, 0) + number(5, 0) + number(7, 0)  # replicas, minReadySeconds, paused
    found = protobuf.decode(body("apps/v1", "Deployment", meta("a") + text(2, spec)))
    assert found["spec"] == {"replicas": 0}


def test_embedded_messages_are_part_of_their_parent() -> None:
    claim = text(10, text(1, "data") + number(2, 1))  # volume source: persistentVolumeClaim
    volume = text(1, text(1, "v") + text(2, claim))
    found = protobuf.decode(body("v1", "Pod", meta("a") + text(2, volume)))
    assert found["spec"]["volumes"] == [
        {"name": "v", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}}
    ]


def test_special_types() -> None:
    port = text(1, "http") + text(2, "TCP") + number(3, 80) + text(4, number(1, 1) + text(3, "web"))
    plain = text(2, "TCP") + number(3, 81) + text(4, number(1, 0) + number(2, 8080))
    found = protobuf.decode(body("v1", "Service", meta("a") + text(2, text(1, port) + text(1, plain))))
    assert [p["targetPort"] for p in found["spec"]["ports"]] == ["web", 8080]
    hard = text(1, text(1, "cpu") + text(2, text(1, "2500m")))
    quota = protobuf.decode(body("v1", "ResourceQuota", meta("a") + text(2, hard)))
    assert quota["spec"]["hard"] == {"cpu": "2500m"}
    renewed = text(4, number(1, 1_700_000_000) + number(2, 5000))
    lease = protobuf.decode(body("coordination.k8s.io/v1", "Lease", meta("a") + text(2, renewed)))
    assert lease["spec"]["renewTime"] == "2023-11-14T22:13:20.000005Z"


def test_negative_numbers() -> None:
    found = protobuf.decode(body("scheduling.k8s.io/v1", "PriorityClass", meta("a") + number(2, -5)))
    assert found["value"] == -5


def test_delete_options_of_any_group() -> None:
    raw = number(1, 0) + text(4, "Background")
    found = protobuf.decode(body("policy/v1", "DeleteOptions", raw))
    assert (found["gracePeriodSeconds"], found["propagationPolicy"]) == (0, "Background")


def test_unknown_fields_are_skipped() -> None:
    raw = (
        meta("a")
        + number(99, 7)
        + text(98, "x")
        + varint(97 << 3 | 1)
        + b"\0" * 8
        + varint(96 << 3 | 5)
        + b"\0" * 4
    )
    assert protobuf.decode(body("v1", "ConfigMap", raw))["metadata"] == {"name": "a"}


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (body("example.com/v1", "Thing", b""), 415),
        (protobuf.MAGIC, 415),
        (protobuf.MAGIC + b"\x0a\xff", 400),
        (body("v1", "ConfigMap", b"\x0a\xff\x01"), 400),
        (body("v1", "ConfigMap", b"\x08\x01"), 400),
        (body("v1", "ConfigMap", b"\x0b"), 400),
    ],
)
def test_damage(raw: bytes, code: int) -> None:
    with pytest.raises(StatusError) as caught:
        protobuf.decode(raw)
    assert caught.value.code == code


@given(st.binary(max_size=200), st.sampled_from(["ConfigMap", "Pod", "Secret", "Service"]))
def test_any_bytes_decode_or_are_refused(raw: bytes, kind: str) -> None:
    found: dict[str, Any] = {}
    try:
        found = protobuf.decode(body("v1", kind, raw))
    except StatusError as error:
        assert error.code == 400
    else:
        assert found["kind"] == kind
