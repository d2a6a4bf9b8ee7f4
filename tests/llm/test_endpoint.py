"""What a model says arrives, whatever its wire format and whether it streams; what is said to it keeps the format."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from sregym_env.errors import UsageError
from sregym_env.llm.endpoint import Endpoint, endpoint
from sregym_env.llm.messages import UNREADABLE, Message, call
from sregym_env.llm.model import ModelError, Request, Sampling
from sregym_env.llm.settings import endpoint_settings
from tests.llm.client import APIS, FINE, SCHEMA, TOOLS, answering, ask, client, system, told, user
from tests.llm.server import Heard, Said, ScriptedServer, Trouble, replay

BOTH = Said(
    "I look.",
    calls=(("shell", {"command": "kubectl get pods"}), ("shell", {"command": "echo '\u00fc \"x\"'\n"})),
    thinking="Pods first.",
    prompt_tokens=120,
    completion_tokens=30,
    cached_tokens=100,
    reasoning_tokens=20,
)


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["plain", "stream"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_words_thoughts_and_parallel_calls_arrive(api: str, stream: bool) -> None:
    with ScriptedServer(BOTH) as server:
        reply = ask(client(server, api, stream=stream), tools=TOOLS)
    message = reply.message
    assert (message.role, message.content, message.reasoning_content) == (
        "assistant",
        "I look.",
        "Pods first.",
    )
    assert [each.function.name for each in message.tool_calls] == ["shell", "shell"]
    assert [each.function.arguments["command"] for each in message.tool_calls] == [
        "kubectl get pods",
        "echo '\u00fc \"x\"'\n",
    ]
    assert len({each.id for each in message.tool_calls}) == 2
    assert reply.finish_reason == "tool_calls"
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cached_tokens) == (
        120,
        30,
        100,
    )
    assert reply.usage.reasoning_tokens == (0 if api == "anthropic" else 20)
    assert reply.usage.requests == 1 and reply.usage.cost_usd is None
    assert reply.model.startswith("m")
    assert server.heard[0].tools == ("shell",) and bool(server.heard[0].body.get("stream")) is stream


def test_a_server_that_streams_unasked_is_understood(api: str) -> None:
    with ScriptedServer(BOTH) as server:
        server.misbehave(Trouble(streamed=True))
        reply = ask(client(server, api), tools=TOOLS)
    assert reply.message.content == "I look." and len(reply.message.tool_calls) == 2


def test_a_whole_conversation_keeps_the_format(api: str, stream: bool) -> None:
    """The server refuses calls without answers, empty texts, turns out of order, and thoughts that went missing."""
    says = (
        Said("", calls=(("shell", {"command": "a"}), ("shell", {"command": "b"})), thinking="hm"),
        Said(""),
        Said("", calls=(("shell", {"command": "c"}),), thinking="hm again"),
        Said("done"),
    )
    extra = {"thinking": {"type": "enabled", "budget_tokens": 1024}} if api == "anthropic" else {}
    messages: list[Message] = [system("You are on call."), system("Be brief."), user("Begin.")]
    with ScriptedServer(replay(*says)) as server:
        model = client(server, api, stream=stream, extra=extra)
        for _ in says:
            reply = model.complete(Request(tuple(messages), tools=TOOLS))
            messages.append(reply.message)
            messages += [told(each.id, "") for each in reply.message.tool_calls] or [user("")]
        last = server.heard[-1]
    assert reply.message.content == "done"
    assert last.system.replace("\n\n", "\n") == "You are on call.\nBe brief."
    roles = [role for role, _ in last.messages]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool"]


def test_signed_thoughts_go_back_to_who_signed_them_and_to_nobody_else() -> None:
    for api in ("anthropic", "responses"):
        with ScriptedServer(replay(BOTH, "ok")) as server:
            model = client(server, api)
            first = ask(model, tools=TOOLS).message
            answers = tuple(told(each.id, "-") for each in first.tool_calls)
            model.complete(Request((user("hello"), first, *answers), tools=TOOLS))
            for other in APIS:
                client(server, other).complete(Request((user("hello"), first, *answers), tools=TOOLS))
            own, *others = (json.dumps(heard.body) for heard in server.heard[1:])
        seal = "signed-1" if api == "anthropic" else "sealed-1"
        assert first.signed_reasoning is not None and seal in first.signed_reasoning
        assert seal in own
        assert [seal in body for body in others] == [other == api for other in APIS]


def test_interleaved_thoughts_keep_their_order() -> None:
    blocks = [
        {"type": "text", "text": "One."},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "tool_use", "id": "t1", "name": "shell", "input": {"command": "ls"}},
    ]
    body = json.dumps({"type": "message", "content": blocks, "stop_reason": "tool_use", "usage": {}})
    transport, seen = answering((200, {}, body))
    model = client(transport, "anthropic")
    first = ask(model).message
    model.complete(Request((user("hello"), first, told("t1", "ok"))))
    assert json.loads(seen[1].content)["messages"][1]["content"] == blocks


def test_reasoning_goes_back_in_plain_only_where_asked() -> None:
    thought = Message(role="assistant", content="x", reasoning_content="hm")
    with ScriptedServer() as server:
        for send in (False, True):
            client(server, send_reasoning=send).complete(Request((user("a"), thought, user("b"))))
        sent = [heard.body["messages"][1] for heard in server.heard]
    assert ["reasoning_content" in message for message in sent] == [False, True]


@pytest.mark.parametrize("arguments", ['{"command": "ls', "[1]", '"ls"', "no json", '{"command": NaN}'])
def test_broken_arguments_stay_in_the_conversation(api: str, arguments: str) -> None:
    says = (Said(calls=(("shell", arguments), ("shell", ""))), "ok")
    with ScriptedServer(replay(*says)) as server:
        model = client(server, api, stream=True)
        message = ask(model, tools=TOOLS).message
        first, second = message.tool_calls
        assert first.function.arguments == {UNREADABLE: arguments}
        assert second.function.arguments == {}
        answers = (told(first.id, "no JSON"), told(second.id, "-"))
        assert model.complete(Request((user("x"), message, *answers))).message.content == "ok"


def test_sampling_is_sent_as_each_format_names_it() -> None:
    sampling = Sampling(
        temperature=0.5, top_p=0.9, max_tokens=77, seed=3, reasoning_effort="low", stop=("END",)
    )
    with ScriptedServer() as server:
        for api in APIS:
            ask(client(server, api), sampling=sampling)
            ask(client(server, api))
        chat, chat_bare, responses, responses_bare, anthropic, anthropic_bare = (
            heard.body for heard in server.heard
        )
    assert {name: chat[name] for name in ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")} == {
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 77, "seed": 3, "reasoning_effort": "low",
    }  # fmt: skip
    assert chat["stop"] == ["END"]
    assert (responses["max_output_tokens"], responses["reasoning"]) == (77, {"effort": "low"})
    assert (anthropic["max_tokens"], anthropic["stop_sequences"]) == (77, ["END"])
    assert anthropic["output_config"] == {"effort": "low"} and anthropic["temperature"] == 0.5
    assert set(chat_bare) == {"model", "messages"}
    assert set(responses_bare) == {"model", "input", "store", "include"} and responses_bare["store"] is False
    assert set(anthropic_bare) == {"model", "messages", "max_tokens"}


def test_extra_keys_and_headers_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TOKEN", "gateway-secret")
    with ScriptedServer() as server:
        options: dict[str, Any] = {"extra": {"top_k": 20}, "headers": {"X-Title": "sre"}}
        ask(client(server, **options, headers_env={"X-Gateway": "GATEWAY_TOKEN"}))
        heard = server.heard[0]
    assert heard.body["top_k"] == 20
    assert (heard.headers["x-title"], heard.headers["x-gateway"]) == ("sre", "gateway-secret")


@pytest.mark.parametrize(
    ("api", "finish", "expected"),
    [
        ("chat", "length", "length"),
        ("chat", "content_filter", "content_filter"),
        ("chat", "stop", "stop"),
        ("chat", "strange", ""),
        ("responses", "max_output_tokens", "length"),
        ("responses", "content_filter", "content_filter"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "refusal", "refusal"),
        ("anthropic", "model_context_window_exceeded", "context_length"),
        ("anthropic", "stop_sequence", "stop"),
    ],
)
def test_why_a_model_stopped(api: str, finish: str, expected: str, stream: bool) -> None:
    with ScriptedServer(Said("half a", finish=finish)) as server:
        assert ask(client(server, api, stream=stream)).finish_reason == expected


def test_tokens_and_logprobs(stream: bool) -> None:
    with ScriptedServer("ok \u00fc") as server:
        reply = ask(client(server, stream=stream), want_tokens=True)
        assert ask(client(server, stream=stream)).tokens is None
    ids = tuple("ok \u00fc".encode())
    assert reply.tokens is not None
    assert reply.tokens.prompt_token_ids == tuple(b"<user>hello")
    assert reply.tokens.completion_token_ids == ids
    assert reply.tokens.logprobs == tuple(-each / 100 for each in ids)


def test_ids_that_are_spelled_as_tokens() -> None:
    logprobs = {"content": [{"token": "token_id:7", "logprob": -0.5}, {"token": "token_id:8", "logprob": 0}]}
    body = {"choices": [{"message": {"content": "x"}, "logprobs": logprobs}]}
    transport, _ = answering((200, {}, json.dumps(body)))
    tokens = ask(client(transport), want_tokens=True).tokens
    assert tokens is not None
    assert (tokens.completion_token_ids, tokens.logprobs) == ((7, 8), (-0.5, 0.0))


# --- what servers cannot do ---------------------------------------------------------------------


def rungs(server: ScriptedServer) -> list[str]:
    return [heard.rung or "plain" for heard in server.heard]


@pytest.mark.parametrize(
    ("api", "refuses", "expected"),
    [
        ("chat", (), ["json_schema"]),
        ("chat", ("json_schema",), ["json_schema", "tool"]),
        ("chat", ("json_schema", "tool"), ["json_schema", "tool", "json_object"]),
        ("chat", ("json_schema", "tool", "json_object"), ["json_schema", "tool", "json_object", "plain"]),
        ("responses", ("json_schema", "tool"), ["json_schema", "tool", "json_object"]),
        ("anthropic", ("json_schema",), ["json_schema", "tool"]),
        ("anthropic", ("json_schema", "tool"), ["json_schema", "tool", "plain"]),
    ],
)
def test_a_schema_is_asked_for_as_strictly_as_the_server_can(
    api: str, refuses: tuple[str, ...], expected: list[str], stream: bool
) -> None:
    with ScriptedServer('{"answer": "yes"}', refuses=refuses) as server:
        model = client(server, api, stream=stream)
        reply = ask(model, schema=SCHEMA)
        assert json.loads(reply.message.content) == {"answer": "yes"}
        assert reply.message.tool_calls == ()
        assert reply.usage.requests == len(expected)
        assert rungs(server) == expected
        # What worked is where the next question begins.
        ask(model, schema=SCHEMA)
        assert rungs(server)[len(expected) :] == expected[-1:]


def test_without_a_schema_nothing_of_it_is_sent() -> None:
    with ScriptedServer() as server:
        ask(client(server), tools=TOOLS)
        assert rungs(server) == ["plain"] and "schema" not in server.heard[0].last


def test_words_alone_carry_the_schema() -> None:
    with ScriptedServer('Here: {"answer": "no"}', refuses=("json_schema", "tool", "json_object")) as server:
        reply = client(server).complete(Request((system("Judge."), user("Is it?")), schema=SCHEMA))
        assert json.loads(reply.message.content) == {"answer": "no"}
        assert server.heard[-1].last.startswith("Is it?\n\nAnswer with one JSON document")
        assert json.dumps(SCHEMA) in server.heard[-1].last


def test_a_server_that_ignores_the_schema_is_asked_less_strictly_this_once() -> None:
    def brain(heard: Heard) -> str:
        return '{"answer": "x"}' if heard.rung == "tool" else "I think: yes."

    with ScriptedServer(brain) as server:
        model = client(server)
        assert json.loads(ask(model, schema=SCHEMA).message.content) == {"answer": "x"}
        ask(model, schema=SCHEMA)
        assert rungs(server) == ["json_schema", "tool"] * 2


def test_no_json_at_all_is_malformed_and_counted() -> None:
    with ScriptedServer("I would rather not.") as server, pytest.raises(ModelError) as raised:
        ask(client(server), schema=SCHEMA)
    assert raised.value.kind == "malformed"
    assert (raised.value.usage.requests, raised.value.usage.prompt_tokens) == (4, 400)


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_an_answer_that_was_cut_off_is_handed_back(finish: str) -> None:
    with ScriptedServer(Said('{"answer": "y', finish=finish)) as server:
        reply = ask(client(server), schema=SCHEMA)
        assert (reply.finish_reason, reply.message.content, server.requests) == (finish, '{"answer": "y', 1)


def test_what_a_server_refuses_is_left_out_and_remembered() -> None:
    refuses = ("return_token_ids", "logprobs", "stream_options")
    with ScriptedServer(refuses=refuses) as server:
        model = client(server, stream=True)
        reply = ask(model, want_tokens=True)
        assert (reply.message.content, reply.tokens, reply.usage.requests) == ("ok", None, 4)
        ask(model, want_tokens=True)
        assert server.requests == 5
        assert model.plan.without == set(refuses)


def test_the_limit_is_sent_under_its_later_name() -> None:
    complaint = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    with ScriptedServer() as server:
        server.misbehave(Trouble(status=400, text=complaint))
        model = client(server)
        for _ in range(2):
            ask(model, sampling=Sampling(max_tokens=5))
        assert [heard.body.get("max_completion_tokens") for heard in server.heard] == [5, 5]
        assert all("max_tokens" not in heard.body for heard in server.heard)


def test_sealed_reasoning_is_not_asked_for_where_there_is_none() -> None:
    with ScriptedServer() as server:
        server.misbehave(Trouble(status=400, text="Encrypted content is not supported with this model."))
        model = client(server, "responses")
        assert ask(model).usage.requests == 2
        ask(model)
        assert ["include" in heard.body for heard in server.heard] == [False, False]


def test_a_refusal_for_another_reason_is_reported_as_it_was_and_teaches_nothing() -> None:
    with ScriptedServer(refuses=("temperature",)) as server:
        model = client(server)
        with pytest.raises(ModelError, match="'temperature' is not supported") as raised:
            ask(model, sampling=Sampling(temperature=0), schema=SCHEMA)
        assert (raised.value.kind, raised.value.usage.requests) == ("rejected", 4)
        assert model.plan.rung == "json_schema"
        with pytest.raises(ModelError):
            ask(model, sampling=Sampling(temperature=0))
        assert server.requests == 5


# --- money, budgets, threads, processes -----------------------------------------------------------


def test_cost_by_the_users_prices() -> None:
    prices = {"m": {"input": 2, "output": 10, "cached_input": 0.5}}
    with ScriptedServer(BOTH) as server:
        for api in APIS:
            reply = ask(client(server, api, prices=prices))
            assert reply.usage.cost_usd == pytest.approx((20 * 2 + 100 * 0.5 + 30 * 10) / 1e6)
        assert ask(client(server, prices={"other": prices["m"]})).usage.cost_usd is None


def test_budgets_end_the_asking() -> None:
    with ScriptedServer() as server:
        for budget in ({"tokens": 150}, {"usd": 0.00015}):
            model = client(server, budget=budget, prices={"m": {"input": 1, "output": 1}})
            ask(model)
            ask(model)
            with pytest.raises(ModelError, match="budget is used up") as raised:
                ask(model)
            assert raised.value.kind == "budget"
            assert model.used.total_tokens == 220
    assert server.requests == 4


def test_threads_share_a_client_within_its_limit() -> None:
    both = Event()

    def brain(heard: Heard) -> str:
        if server.most_at_once >= 2:
            both.set()
        both.wait(5)
        return heard.last

    with ScriptedServer(brain) as server:
        model = client(server, concurrency=2)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda index: ask(model, f"q{index}").message.content, range(24)))
    assert answers == [f"q{index}" for index in range(24)]
    assert server.most_at_once == 2
    assert model.used.requests == 24


def test_a_client_pickles_as_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SREGYM_API_KEY", "sk-elsewhere-1")
    with ScriptedServer(key="sk-elsewhere-2") as server:
        data = pickle.dumps(client(server))
        assert b"sk-elsewhere" not in data
        monkeypatch.setenv("SREGYM_API_KEY", "sk-elsewhere-2")
        with pickle.loads(data) as copy:
            assert ask(copy).message.content == "ok"


@pytest.mark.parametrize(
    ("api", "variable", "header"),
    [
        ("chat", "OPENAI_API_KEY", "authorization"),
        ("responses", "OPENAI_API_KEY", "authorization"),
        ("anthropic", "ANTHROPIC_API_KEY", "x-api-key"),
        ("chat", "SREGYM_API_KEY", "authorization"),
        ("anthropic", "SREGYM_API_KEY", "x-api-key"),
    ],
)
def test_keys_by_format(api: str, variable: str, header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SREGYM_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "sk-planted")
    with ScriptedServer(key="sk-planted") as server:
        ask(client(server, api))
        assert "sk-planted" in server.heard[0].headers[header]


def test_a_vendors_key_goes_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SREGYM_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-vendor")
    sent: dict[str, bool] = {}
    for url in ("https://api.openai.com/v1", "https://eu.api.openai.com/v1", "http://localhost:1/v1",
                "https://notopenai.com/v1", "https://openai.com.evil.test/v1", "http://10.0.0.7/v1"):  # fmt: skip
        transport, seen = answering(FINE)
        ask(client(transport, base_url=url))
        sent[url] = "authorization" in seen[0].headers
    assert list(sent.values()) == [True, True, True, False, False, False]
    transport, seen = answering(FINE)
    ask(client(transport, api_key_env="OPENAI_API_KEY"))
    assert seen[0].headers["authorization"] == "Bearer sk-vendor"


@pytest.mark.parametrize(
    ("api", "base", "asked"),
    [
        ("chat", "http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("chat", "http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("responses", "http://h/v1", "http://h/v1/responses"),
        ("anthropic", "http://h", "http://h/v1/messages"),
        ("anthropic", "http://h/v1", "http://h/v1/messages"),
        ("chat", "https://h/o/d?api-version=2", "https://h/o/d/chat/completions?api-version=2"),
        ("chat", None, "https://api.openai.com/v1/chat/completions"),
        ("anthropic", None, "https://api.anthropic.com/v1/messages"),
    ],
)
def test_where_requests_go(api: str, base: str | None, asked: str) -> None:
    transport, seen = answering(FINE)
    with pytest.raises(ModelError) if api != "chat" else ScriptedServer():
        ask(client(transport, api, base_url=base))
    assert str(seen[0].url) == asked


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "model: Field required"),
        ({"model": "m", "api_key": "sk-secret"}, "api_key_env"),
        ({"model": "m", "key": "sk-secret"}, "no setting 'key'; there are model, base_url"),
        ({"model": "m", "base_url": "ftp://sk-secret"}, "http or https"),
        ({"model": "m", "base_url": "https://u:sk-secret@h/v1"}, "no credentials"),
        ({"model": "m", "headers": {"Authorization": "sk-secret"}}, "headers_env"),
        ({"model": "m", "budget": {"usd": 1}}, "needs a price"),
        ({"model": "m", "retry": {"attempts": 0}}, "retry.attempts"),
        ({"model": "m", "api": "sk-secret"}, "api: Input should be"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says) as raised:
        endpoint(options)
    assert "sk-secret" not in str(raised.value)


def test_a_key_that_is_demanded_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(UsageError, match="MY_KEY is not set"):
        endpoint({"model": "m", "api_key_env": "MY_KEY"})


def test_what_is_recorded_of_a_client() -> None:
    settings = endpoint_settings(
        {"model": "m", "base_url": "https://h/v1/?token=sk-secret", "extra": {"top_k": 1}}
    )
    assert settings.public == {"model": "m", "api": "chat", "base_url": "https://h/v1", "extra": {"top_k": 1}}
    with Endpoint(settings) as model:
        assert model.name == "m"
        assert "sk-secret" not in repr(model) + str(settings) + repr(settings)


def test_calls_without_ids_get_some() -> None:
    calls = [{"function": {"name": "shell", "arguments": {"command": "ls"}}}] * 2
    body = json.dumps({"choices": [{"message": {"content": None, "tool_calls": calls}}]})
    transport, _ = answering((200, {}, body))
    reply = ask(client(transport))
    assert [each.id for each in reply.message.tool_calls] == ["call_0", "call_1"]
    assert reply.message.tool_calls[0] == call("call_0", "shell", command="ls")
    assert reply.finish_reason == "tool_calls"


def test_anthropic_turns_alternate_and_answers_come_first() -> None:
    said = Message(role="assistant", tool_calls=(call("t1", "shell", command="ls"),))
    with ScriptedServer() as server:
        messages = (
            user("a"),
            user(" "),
            said,
            user("and?"),
            told("t1", "x"),
            Message(role="assistant"),
            user("b"),
        )
        client(server, "anthropic").complete(Request(messages))
        sent = server.heard[0].body["messages"]
    assert [turn["role"] for turn in sent] == ["user", "assistant", "user", "assistant", "user"]
    assert [block["type"] for block in sent[2]["content"]] == ["tool_result", "text"]
    assert sent[0]["content"][1]["text"] == sent[3]["content"][0]["text"] == "(nothing)"
