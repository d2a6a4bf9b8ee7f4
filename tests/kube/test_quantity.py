"""Quantities: canonical texts, arithmetic and refusals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube import quantity


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("1000m", "1"),
        ("0.1", "100m"),
        ("1.5", "1500m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1000Ki", "1000Ki"),
        ("1e3", "1e3"),
        ("1000", "1k"),
        ("2500000", "2500k"),
        ("100u", "100u"),
        ("0.0000000001", "1n"),
        ("-1", "-1"),
        (2, "2"),
        (0.5, "500m"),
    ],
)
def test_canonical(text: str | float, canonical: str) -> None:
    assert quantity.canonical(text) == canonical


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", quantity.FORMAT_ERROR),
        ("abc", quantity.FORMAT_ERROR),
        ("1Gb", quantity.FORMAT_ERROR),
        ("1 Gi", quantity.FORMAT_ERROR),
        ("1GM", quantity.SUFFIX_ERROR),
    ],
)
def test_refused(text: str, error: str) -> None:
    with pytest.raises(ValueError, match="quantit") as caught:
        quantity.nano(text)
    assert str(caught.value) == error


def test_numbers() -> None:
    assert quantity.milli("250m") == 250
    assert quantity.milli("1u") == 1
    assert quantity.bytes_("1Ki") == 1024
    assert quantity.cpu_cores("1500m") == 1.5
    assert quantity.add("1Gi", "512Mi") == "1536Mi"
    assert quantity.subtract("1", "250m") == "750m"
    assert quantity.compare("1Gi", "1G") == 1
    assert quantity.format_bytes(1 << 20) == "1Mi"


@given(st.integers(-(10**15), 10**15), st.sampled_from(["n", "u", "m", "", "k", "M", "Ki", "Mi", "Gi"]))
def test_canonical_keeps_the_amount_and_is_stable(number: int, suffix: str) -> None:
    text = f"{number}{suffix}"
    made = quantity.canonical(text)
    assert quantity.nano(made) == quantity.nano(text)
    assert quantity.canonical(made) is made


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_sum(a: int, b: int) -> None:
    total = quantity.add(f"{a}m", f"{b}m")
    assert quantity.milli(total) == a + b
