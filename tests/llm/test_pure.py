"""The parts of the client that touch no network: streams, pauses, prices, secrets, JSON in prose."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.errors import UsageError
from sregym_env.llm import jsontext
from sregym_env.llm.messages import Message, call
from sregym_env.llm.model import ModelError, Usage
from sregym_env.llm.prices import Price, cost, price_of
from sregym_env.llm.retry import Retry, wished_pause, worth_retrying
from sregym_env.llm.secrets import Scrubber, key_from
from sregym_env.llm.sse import Event, events, is_stream

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data: a\n\n", [Event("", "a")]),
        ("event: x\ndata: a\n\nevent: y\ndata: b\n\n", [Event("x", "a"), Event("y", "b")]),
        ("data: a\ndata: b\n\n", [Event("", "a\nb")]),
        ("data:a\r\n\r\ndata:  b\r\n\r\n", [Event("", "a"), Event("", " b")]),
        (": keep-alive\n\n: again\ndata: a\n\n", [Event("", "a")]),
        ("event: x\n\ndata: a\n\n", [Event("", "a")]),
        ("id: 1\nretry: 5\ndata: a\n\n", [Event("", "a")]),
        ("data: a\n\ndata: cut", [Event("", "a"), Event("", "cut")]),
        ("\ufeffdata: a\n\n", [Event("", "a")]),
        ("data\n\n", [Event("", "")]),
        ("", []),
    ],
)
def test_events(text: str, expected: list[Event]) -> None:
    assert list(events(text)) == expected


@given(st.lists(st.tuples(st.sampled_from(["", "message_stop", "response.done"]), JSON), max_size=4))
def test_what_is_streamed_arrives(sent: list[tuple[str, Any]]) -> None:
    stream = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in sent)
    assert [(event.name, json.loads(event.data)) for event in events(stream)] == sent


@pytest.mark.parametrize(
    ("content_type", "text", "expected"),
    [
        ("text/event-stream; charset=utf-8", "", True),
        ("application/json", "data: {}\n\n", True),
        ("application/json", "\n: ping\n\n", True),
        ("application/json", '{"data": 1}', False),
        ("text/html", "<html>", False),
    ],
)
def test_streams_are_known_by_their_type_or_their_beginning(
    content_type: str, text: str, expected: bool
) -> None:
    assert is_stream(content_type, text) is expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Sun, 22 Nov 2026 08:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 22 Nov 2026 07:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Mon, 99 Foo 2026 99:99:99 GMT"}, None),
    ],
)
def test_the_pause_that_a_server_wishes(headers: dict[str, str], expected: float | None) -> None:
    # 2026-11-22 08:00:00 UTC
    assert wished_pause(headers, 1795334400.0) == expected


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        *((status, {}, True) for status in (408, 409, 429, 500, 502, 503, 504, 529)),
        *((status, {}, False) for status in (301, 400, 401, 403, 404, 413, 422)),
        (400, {"x-should-retry": "true"}, True),
        (500, {"x-should-retry": "false"}, False),
        (500, {"x-should-retry": "maybe"}, True),
    ],
)
def test_what_is_worth_another_try(status: int, headers: dict[str, str], expected: bool) -> None:
    assert worth_retrying(status, headers) is expected


def test_pauses_double_up_to_a_longest_and_jitter_shortens_them() -> None:
    retry = Retry()
    assert [retry.pause(failures, None, 0.0) for failures in range(1, 8)] == [0.5, 1, 2, 4, 8, 8, 8]
    assert retry.pause(10_000, None, 0.0) == 8
    assert retry.pause(1, None, 0.999) == pytest.approx(0.375, abs=1e-3)
    assert retry.pause(1, 42.0, 0.9) == 42.0


def test_prices() -> None:
    price = Price(input=2, output=10, cached_input=0.2, cache_write=2.5)
    assert cost(price, prompt=1_000_000, cached=600_000, written=100_000, completion=50_000) == pytest.approx(
        0.3 * 2 + 0.6 * 0.2 + 0.1 * 2.5 + 0.05 * 10
    )
    assert cost(Price(input=1, output=1), prompt=10, cached=10, written=0, completion=0) == pytest.approx(
        1e-5
    )
    assert price_of({"b": price}, "a", "b") is price
    assert price_of({"b": price}, "a") is None


def test_a_key_comes_from_the_first_variable_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_B", " sk-b\n")
    monkeypatch.setenv("KEY_C", "sk-c")
    assert key_from(("KEY_A", "KEY_B", "KEY_C"), required=True) == "sk-b"
    assert key_from(("KEY_A",), required=False) == ""
    with pytest.raises(UsageError, match="KEY_A is not set"):
        key_from(("KEY_A",), required=True)
    monkeypatch.setenv("KEY_D", "sk-\u00fc-secret")
    with pytest.raises(UsageError) as raised:
        key_from(("KEY_D",), required=True)
    assert "secret" not in str(raised.value)


@given(st.from_regex(r"[ -~]{6,20}", fullmatch=True), JSON)
def test_no_secret_survives_scrubbing(secret: str, document: Any) -> None:
    if secret in "[redacted]":
        return
    planted = {"a": [document, f"x{secret}y"], secret: json.dumps(f"Bearer {secret}")}
    scrubbed = Scrubber(secret).document(planted)
    assert secret not in repr(Scrubber(secret))

    def texts(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for pair in value.items() for each in pair for text in texts(each)]
        return [text for each in value for text in texts(each)] if isinstance(value, list) else [value]

    assert all(secret not in text for text in texts(scrubbed) if isinstance(text, str))


def test_placeholders_are_no_secrets_and_half_characters_go() -> None:
    assert Scrubber("EMPTY").text("an EMPTY answer") == "an EMPTY answer"
    assert Scrubber().document({"a": ["x\ud800y", 1, None]}) == {"a": ["x?y", 1, None]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('Sure!\n```json\n{"a": [1, 2]}\n```\nDone.', '{"a": [1, 2]}'),
        ('First {"a": 1}, no: {"a": 2}.', '{"a": 2}'),
        ('<think>{"a": 1} or [2]</think>{"a": 3}', '{"a": 3}'),
        ("{not this} but [1]", "[1]"),
        ('{"a": "line\nbreak"}', '{"a": "line\nbreak"}'),
        ('{"a": NaN}', None),
        ('{"a": 1e999}', None),
        ('{"a": ', None),
        ("no", None),
        ("", None),
        ("[" * 100_000, None),
    ],
)
def test_json_is_found_in_prose(text: str, expected: str | None) -> None:
    assert jsontext.found(text) == expected


@given(JSON)
def test_json_round_trips(document: Any) -> None:
    assert jsontext.loads(json.dumps(document)) == document


@given(st.text())
def test_looking_for_json_never_raises(text: str) -> None:
    found = jsontext.found(text)
    assert found is None or found in text


def test_errors_and_messages_travel_between_processes() -> None:
    error = ModelError("no", "rate_limited", usage=Usage(requests=3))
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.kind, copy.usage) == ("no", "rate_limited", Usage(requests=3))
    message = Message(role="assistant", tool_calls=(call("1", "shell", command="ls"),))
    assert pickle.loads(pickle.dumps(message)) == message
