"""Durations, ages and timestamps."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.kube import durations


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (185, "3m5s"),
        (599, "9m59s"),
        (600, "10m"),
        (10799, "179m"),
        (10800, "3h"),
        (12000, "3h20m"),
        (28800, "8h"),
        (172799, "47h"),
        (172800, "2d"),
        (180000, "2d2h"),
        (691200, "8d"),
        (63071999, "729d"),
        (63072000, "2y"),
        (70000000, "2y80d"),
        (252288000, "8y"),
    ],
)
def test_human_duration(seconds: int, text: str) -> None:
    assert durations.human_duration(seconds) == text


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("1h15m30.918273645s", 4530918273645),
        ("-1.5h", -5400 * 10**9),
        ("100ms", 10**8),
        ("2µs", 2000),
        (".5s", 5 * 10**8),
    ],
)
def test_parse_duration(text: str, nanoseconds: int) -> None:
    assert durations.parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", 'time: invalid duration ""'),
        ("3", 'time: missing unit in duration "3"'),
        ("3x", 'time: unknown unit "x" in duration "3x"'),
        ("abc", 'time: invalid duration "abc"'),
    ],
)
def test_bad_durations(text: str, error: str) -> None:
    with pytest.raises(ValueError, match="time") as caught:
        durations.parse_duration(text)
    assert str(caught.value) == error


@given(st.integers(-(10**18), 10**18))
def test_format_and_parse_agree(nanoseconds: int) -> None:
    assert durations.parse_duration(durations.format_duration(nanoseconds)) == nanoseconds


@given(st.integers(-(10**16), 10**17))
def test_timestamps_agree_with_the_standard_library(us: int) -> None:
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    moment = epoch + datetime.timedelta(microseconds=us)
    expected = moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    assert durations.rfc3339(us) == expected + "Z"
    assert durations.parse_rfc3339(durations.rfc3339_micro(us)) == us
    assert durations.parse_rfc3339(durations.rfc3339_nano(us)) == us


def test_offsets_and_bad_timestamps() -> None:
    assert durations.rfc3339(durations.parse_rfc3339("2026-08-06T14:00:00+02:00")) == "2026-08-06T12:00:00Z"
    with pytest.raises(ValueError, match='parsing time "x" as'):
        durations.parse_rfc3339("x")
