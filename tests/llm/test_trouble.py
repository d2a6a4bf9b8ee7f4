"""What goes wrong between us and a server: tried again where that helps, told apart where it does not, keys never told."""

from __future__ import annotations

import json
import logging
import pickle
import traceback
from typing import Any

import httpx
import pytest

from sregym_env.errors import SREGymError
from sregym_env.llm.model import ModelError
from sregym_env.llm.transport import MAX_BYTES
from tests.llm.client import APIS, FINE, SCHEMA, TOOLS, Time, answering, ask, client, raising
from tests.llm.server import Heard, Said, ScriptedServer, Trouble


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "trouble",
    [
        *(Trouble(status=status) for status in (408, 409, 429, 500, 502, 503, 529)),
        Trouble(status=400, headers={"x-should-retry": "true"}),
        Trouble(hang_up=True),
        Trouble(truncated=True),
        Trouble(cut_after=3),
        Trouble(cut_after=0),
        Trouble(stream_error=True),
    ],
    ids=repr,
)
def test_what_passes_is_tried_again(api: str, trouble: Trouble) -> None:
    time = Time()
    with ScriptedServer("all is well that ends well") as server:
        server.misbehave(trouble, trouble)
        reply = ask(client(server, api, time))
    assert reply.message.content == "all is well that ends well"
    assert reply.usage.requests == 3
    assert time.pauses == [0.5, 1.0]


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (Trouble(status=400), "rejected"),
        (Trouble(status=401), "rejected"),
        (Trouble(status=403), "rejected"),
        (Trouble(status=404), "rejected"),
        (Trouble(status=422), "rejected"),
        (Trouble(status=302, headers={"Location": "http://127.0.0.1:9/"}), "rejected"),
        (Trouble(status=500, headers={"x-should-retry": "false"}), "server"),
        (Trouble(status=429, code="insufficient_quota"), "rejected"),
        (Trouble(status=413), "context_length"),
        (Trouble(status=400, code="context_length_exceeded"), "context_length"),
        (Trouble(status=400, text="This model's maximum context length is 4096 tokens."), "context_length"),
        (Trouble(status=400, text="prompt is too long: 208310 tokens > 200000 maximum"), "context_length"),
        (Trouble(status=400, text="the request exceeds the available context size"), "context_length"),
        (Trouble(body=b"<html>not here</html>", content_type="text/html"), "malformed"),
        (Trouble(body=b'{"error": {"message": "bad model", "code": 400}}'), "rejected"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("api", APIS)
def test_what_does_not_pass_is_reported_at_once(api: str, trouble: Trouble, kind: str) -> None:
    time = Time()
    with ScriptedServer() as server:
        server.misbehave(trouble)
        with pytest.raises(ModelError) as raised:
            ask(client(server, api, time))
    assert raised.value.kind == kind
    assert str(raised.value).startswith("m: ") and len(str(raised.value)) < 800
    assert (raised.value.usage.requests, time.pauses) == (1, [])


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(body=b'{"choices": [{"mess'),
        Trouble(body=b"[]"),
        Trouble(body=b"{}"),
        Trouble(body=b'{"choices": [], "output": 1, "content": 2}'),
        Trouble(body=b"\xff\xfe\x00"),
        Trouble(body=b"data: {broken\n\n", content_type="text/event-stream"),
        Trouble(body=b"data: 7\n\n", content_type="text/event-stream"),
        Trouble(body=b"[" * 100_000),
    ],
    ids=repr,
)
@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_is_none_is_asked_for_again(api: str, trouble: Trouble) -> None:
    time = Time()
    with ScriptedServer() as server:
        server.misbehave(trouble)
        assert ask(client(server, api, time)).usage.requests == 2
        server.misbehave(*[trouble] * 4)
        with pytest.raises(ModelError) as raised:
            ask(client(server, api, time))
    assert (raised.value.kind, raised.value.usage.requests) == ("malformed", 4)
    assert str(raised.value).startswith("m: ") and len(str(raised.value)) < 800


@pytest.mark.parametrize(
    ("body", "kind", "tries"),
    [
        ('{"error": {"message": "slow down", "code": 429}}', "rate_limited", 4),
        ('{"error": {"message": "upstream", "code": 502}}', "server", 4),
        (
            '{"object": "error", "message": "no such model", "type": "NotFoundError", "code": 404}',
            "rejected",
            1,
        ),
        ('{"type": "error", "error": {"type": "overloaded_error", "message": "x"}}', "server", 4),
        ('{"error": "something"}', "server", 4),
    ],
)
def test_errors_in_answers_that_say_200(body: str, kind: str, tries: int) -> None:
    transport, seen = answering((200, {}, body))
    with pytest.raises(ModelError) as raised:
        ask(client(transport))
    assert (raised.value.kind, len(seen)) == (kind, tries)


def test_a_response_that_failed() -> None:
    failed = {
        "status": "failed",
        "error": {"code": "rate_limit_exceeded", "message": "too fast"},
        "output": [],
    }
    transport, seen = answering((200, {}, json.dumps(failed)))
    with pytest.raises(ModelError, match="too fast") as raised:
        ask(client(transport, "responses"))
    assert (raised.value.kind, len(seen)) == ("rate_limited", 4)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (lambda request: httpx.ConnectError("refused", request=request), "unreachable"),
        (lambda request: httpx.ConnectTimeout("slow", request=request), "timeout"),
        (lambda request: httpx.ReadTimeout("slow", request=request), "timeout"),
        (lambda request: httpx.ReadError("reset", request=request), "unreachable"),
        (lambda request: httpx.RemoteProtocolError("garbage", request=request), "unreachable"),
    ],
)
def test_connections_are_tried_four_times(error: Any, kind: str) -> None:
    time = Time()
    with pytest.raises(ModelError) as raised:
        ask(client(raising(error), time=time))
    assert (raised.value.kind, raised.value.usage.requests) == (kind, 4)
    assert time.pauses == [0.5, 1.0, 2.0]


def test_nobody_listens() -> None:
    with ScriptedServer() as server:
        pass
    with pytest.raises(ModelError) as raised:
        ask(client(server))
    assert (raised.value.kind, raised.value.usage.requests) == ("unreachable", 4)


def test_a_server_that_stays_silent() -> None:
    with ScriptedServer() as server:
        server.misbehave(Trouble(silent=True))
        reply = ask(client(server, timeouts={"read": 0.05}))
    assert reply.usage.requests == 2


def test_a_server_that_never_ends_is_cut_off() -> None:
    time = Time()

    class Dripping(httpx.SyncByteStream):
        def __iter__(self) -> Any:
            while True:
                time.now += 100
                yield b" "

    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=Dripping()))
    with pytest.raises(ModelError, match="no end of the answer after 600 s") as raised:
        ask(client(transport, time=time))
    # The time for a question is up, too: it is not asked again.
    assert (raised.value.kind, raised.value.usage.requests) == ("timeout", 1)


def test_an_endless_answer_is_cut_off() -> None:
    class Pouring(httpx.SyncByteStream):
        def __iter__(self) -> Any:
            while True:
                yield b" " * (MAX_BYTES // 4)

    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=Pouring()))
    with pytest.raises(ModelError, match="longer than") as raised:
        ask(client(transport))
    assert raised.value.kind == "malformed"


@pytest.mark.parametrize(
    ("headers", "pauses"),
    [
        ({"Retry-After": "2"}, [2.0]),
        ({"Retry-After": "Thu, 01 Jan 1970 00:16:50 GMT"}, [10.0]),
        ({"retry-after-ms": "30"}, [0.03]),
        ({"Retry-After": "later"}, [0.5]),
        ({}, [0.5]),
    ],
)
def test_a_server_is_given_the_time_it_asks_for(headers: dict[str, str], pauses: list[float]) -> None:
    time = Time()
    with ScriptedServer() as server:
        server.misbehave(Trouble(status=429, headers=headers))
        ask(client(server, time=time))
    assert time.pauses == pauses


def test_a_server_that_asks_for_too_much_time_is_not_waited_for() -> None:
    time = Time()
    with ScriptedServer() as server:
        server.misbehave(Trouble(status=429, headers={"Retry-After": "3600"}))
        with pytest.raises(ModelError, match="3600 s later") as raised:
            ask(client(server, time=time))
    assert (raised.value.kind, time.pauses) == ("rate_limited", [])


def test_stubbornness_is_the_users_choice() -> None:
    time = Time()
    transport, seen = answering((503, {}, "no"))
    with pytest.raises(ModelError):
        ask(client(transport, time=time, retry={"attempts": 9, "total_seconds": 4, "longest_seconds": 1.5}))
    assert time.pauses == [0.5, 1.0, 1.5]
    assert len(seen) == 4


def test_trouble_on_one_rung_does_not_hide_the_next() -> None:
    time = Time()
    with ScriptedServer('{"answer": "x"}', refuses=("json_schema",)) as server:
        server.misbehave(Trouble(status=500), Trouble(), Trouble(status=500))
        reply = ask(client(server, time=time), schema=SCHEMA)
        assert (reply.usage.requests, server.requests) == (4, 4)
    assert time.pauses == [0.5, 0.5]


def test_half_characters_do_not_break_messages() -> None:
    body = '{"choices": [{"message": {"content": "a\\ud800b", "tool_calls": [{"id": "1", "function": '
    body += '{"name": "sh\\udfff", "arguments": "{\\"command\\": \\"\\\\ud83d\\"}"}}]}}]}'
    transport, _ = answering((200, {}, body))
    message = ask(client(transport)).message
    assert message.content == "a?b"
    assert message.action.encode()
    assert message.model_dump_json()


def test_a_stream_with_calls_that_lack_their_numbers() -> None:
    def delta(**call: Any) -> str:
        return f"data: {json.dumps({'choices': [{'delta': {'tool_calls': [call]}}]})}\n\n"

    stream = delta(id="a", function={"name": "shell", "arguments": '{"command"'})
    stream += delta(function={"arguments": ': "ls"}'})
    stream += delta(id="b", function={"name": "alerts", "arguments": "{}"}) + "data: [DONE]\n\n"
    transport, _ = answering((200, {"content-type": "text/event-stream"}, stream))
    calls = ask(client(transport)).message.tool_calls
    assert [(each.id, each.function.arguments) for each in calls] == [("a", {"command": "ls"}), ("b", {})]


KEY = "sk-very/secret+key=123"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [False, True])
def test_no_key_gets_out(
    api: str, stream: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The server repeats every header it gets, in errors, in words, in arguments and in pieces of a stream."""
    monkeypatch.setenv("SREGYM_API_KEY", KEY)
    monkeypatch.setenv("GATEWAY_KEY", KEY[::-1])
    caplog.set_level(logging.DEBUG)
    told: list[str] = []

    def brain(heard: Heard) -> Said:
        assert KEY in json.dumps(heard.headers) and KEY[::-1] in json.dumps(heard.headers)
        echo = json.dumps(heard.headers)
        return Said(f"You sent {echo}", calls=(("shell", {"command": echo}),), thinking=echo)

    with ScriptedServer(brain, echoes_headers=True) as server:
        model = client(server, api, stream=stream, headers_env={"x-gateway": "GATEWAY_KEY"})
        reply = ask(model, tools=TOOLS)
        assert "[redacted]" in reply.message.content
        told += [reply.message.model_dump_json(), repr(reply), reply.message.action]
        bad = [Trouble(status=status) for status in (400, 401, 404, 500, 500, 500, 500)]
        bad += [Trouble(body=f"<html>{KEY}".encode()), Trouble(body=f'{{"error": "{KEY}"}}'.encode())]
        server.misbehave(*bad)
        for _ in range(5):
            try:
                ask(model)
            except SREGymError as error:
                told += [str(error), repr(error), *traceback.format_exception(error)]
                told.append(pickle.dumps(error).decode("latin-1"))
        told += [repr(model), repr(model.settings), model.settings.model_dump_json(), repr(model.plan)]
        told += [pickle.dumps(model).decode("latin-1"), json.dumps(model.settings.public), repr(vars(model))]
        told.append(repr(vars(model._transport)))
    told.append(caplog.text)
    everything = "\n".join(told)
    assert "HTTP 401" in everything and "HTTP 500" in everything
    for secret in (KEY, KEY[::-1], "sk-very", "secret+key", KEY.replace("/", "\\/"), "sk-very%2Fsecret"):
        assert secret not in everything


def test_a_key_in_escapes_does_not_get_out_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SREGYM_API_KEY", "sk-escaped-key")
    escaped = "".join(f"\\u{ord(character):04x}" for character in "sk-escaped-key")
    arguments = json.dumps({"command": "x"}).replace("x", escaped)
    message = {
        "content": "",
        "tool_calls": [{"id": "1", "function": {"name": "shell", "arguments": arguments}}],
    }
    transport, _ = answering((200, {}, json.dumps({"choices": [{"message": message}]})))
    assert ask(client(transport)).message.tool_calls[0].function.arguments == {"command": "[redacted]"}


def test_a_fine_answer_is_fine() -> None:
    transport, _ = answering(FINE)
    assert ask(client(transport)).message.content == "fine"
