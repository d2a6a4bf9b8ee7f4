"""The action grammar understands every dialect that models write, and never raises."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.tools.call import CommandLine, Refusal, Submission
from sregym_env.tools.parse import MAX_ACTION_CHARS, parse
from sregym_env.tools.tool import TOOLS, schemas, text_help

PODS = CommandLine("kubectl get pods")
KUBECTL_PODS = CommandLine("kubectl get pods", "kubectl")

UNDERSTOOD = [
    ("kubectl get pods", (PODS,)),
    ("  kubectl get pods\r\n", (PODS,)),
    ("$ kubectl get pods", (PODS,)),
    ("kubectl get pods -A | grep -v Running", (CommandLine("kubectl get pods -A | grep -v Running"),)),
    ("{ kubectl get pods; }", (CommandLine("{ kubectl get pods; }"),)),
    ("[ -f x ] && kubectl get pods", (CommandLine("[ -f x ] && kubectl get pods"),)),
    ('{"name": "shell", "arguments": {"command": "kubectl get pods"}}', (PODS,)),
    ('{"name": "bash", "arguments": {"cmd": "kubectl get pods"}}', (PODS,)),
    ('{"name": "kubectl", "arguments": {"command": "get pods"}}', (KUBECTL_PODS,)),
    ('{"name": "kubectl", "arguments": {"command": "kubectl get pods"}}', (KUBECTL_PODS,)),
    ('{"name": "kubectl", "arguments": {"args": ["get", "pods"]}}', (KUBECTL_PODS,)),
    ('{"name": "exec_kubectl_cmd_safely", "arguments": {"cmd": "kubectl get pods"}}', (KUBECTL_PODS,)),
    (
        '{"type": "function", "id": "c1", "function": {"name": "shell", "arguments": '
        '"{\\"command\\": \\"kubectl get pods\\"}"}}',
        (PODS,),
    ),
    (
        '{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": '
        '{"name": "shell", "arguments": "{\\"command\\": \\"kubectl get pods\\"}"}}]}',
        (PODS,),
    ),
    (
        '{"role": "assistant", "content": [{"type": "text", "text": "Looking."}, {"type": "tool_use", '
        '"id": "t1", "name": "shell", "input": {"command": "kubectl get pods"}}]}',
        (PODS,),
    ),
    ('{"type": "tool_use", "name": "shell", "input": {"command": "kubectl get pods"}}', (PODS,)),
    (
        '[{"name": "shell", "arguments": {"command": "kubectl get pods"}}, {"name": "wait", "arguments": '
        '{"seconds": 5}}]',
        (PODS, CommandLine("sleep 5", "wait")),
    ),
    (
        'I look.\n<tool_call>\n{"name": "shell", "arguments": {"command": "kubectl get pods"}}\n</tool_call>',
        (PODS,),
    ),
    ('<tool_call>{"name": "wait", "arguments": {"seconds": "30"}}', (CommandLine("sleep 30", "wait"),)),
    ("Let me look.\n```bash\nkubectl get pods\n```\n", (PODS,)),
    ('```json\n{"name": "shell", "arguments": {"command": "kubectl get pods"}}\n```', (PODS,)),
    ("```\nkubectl get pods\n```\nthen\n```sh\nsleep 5\n```", (PODS, CommandLine("sleep 5"))),
    ("<think>\nhm {\n</think>\nkubectl get pods", (PODS,)),
    ('{"name": "alerts"}', (CommandLine("alerts", "alerts"),)),
    ("submit mitigation", (Submission("mitigation"),)),
    ('{"name": "submit_mitigation", "arguments": {}}', (Submission("mitigation"),)),
    ('submit diagnosis "geo is wrong"', (Submission("diagnosis", "geo is wrong"),)),
    ("submit diagnosis geo's port is wrong", (Submission("diagnosis", "geo's port is wrong"),)),
    ("submit diagnosis: geo is wrong", (Submission("diagnosis", "geo is wrong"),)),
    ("submit diagnosis <<'EOF'\nit's geo\nreally\nEOF", (Submission("diagnosis", "it's geo\nreally"),)),
    ('submit diagnosis "unbalanced', (Submission("diagnosis", "unbalanced"),)),
    ("submit diagnosis", (Submission("diagnosis", ""),)),
    (
        'submit diagnosis "x" && submit mitigation',
        (CommandLine('submit diagnosis "x" && submit mitigation'),),
    ),
    ("submitx foo", (CommandLine("submitx foo"),)),
    (
        '{"name": "submit_diagnosis", "arguments": {"text": "geo is wrong"}}',
        (Submission("diagnosis", "geo is wrong"),),
    ),
    ('{"name": "submit", "arguments": {"ans": "geo is wrong"}}', (Submission("", "geo is wrong"),)),
    ("echo \u00fcn\u00efcode \u25cf \u2502", (CommandLine("echo \u00fcn\u00efcode \u25cf \u2502"),)),
    ("echo a\x00b\x1bc", (CommandLine("echo abc"),)),
]

REFUSED = [
    ("", "parse_error", "empty"),
    (" \n\t", "parse_error", "empty"),
    ("\x00\x01", "parse_error", "empty"),
    ("x" * (MAX_ACTION_CHARS + 1), "parse_error", "characters long"),
    ("x" * 10_000_000, "parse_error", "characters long"),
    ("[" * 60_000, "", ""),
    ('{"name": "shell", "arguments": ', "parse_error", "not valid JSON"),
    ('{"name": "reboot", "arguments": {}}', "unknown_tool", "unknown tool"),
    ('{"name": "shell", "arguments": {}}', "parse_error", '"command" is missing'),
    ('{"name": "shell", "arguments": {"command": 7}}', "parse_error", "must be a string"),
    ('{"name": "shell", "arguments": {"command": "x", "shell": "y"}}', "parse_error", "unknown argument"),
    ('{"name": "shell", "arguments": "x"}', "parse_error", "not a JSON object"),
    ('{"name": "wait", "arguments": {"seconds": true}}', "parse_error", "whole number"),
    ('{"name": "wait", "arguments": {"seconds": 100000}}', "parse_error", "between 0 and"),
    ('{"name": "wait", "arguments": {"seconds": -1}}', "parse_error", "between 0 and"),
    ('{"foo": 1}', "parse_error", "name"),
    ("[1]", "parse_error", "object"),
    ("submit", "parse_error", "usage: submit"),
    ("submit everything", "parse_error", "usage: submit"),
    ("<tool_call>nothing</tool_call>", "parse_error", "JSON"),
]


@pytest.mark.parametrize(("text", "actions"), UNDERSTOOD)
def test_every_dialect_is_understood(text: str, actions: tuple[object, ...]) -> None:
    assert parse(text) == actions


@pytest.mark.parametrize(("text", "error", "says"), REFUSED, ids=range(len(REFUSED)))
def test_what_makes_no_sense_is_refused_with_a_reason(text: str, error: str, says: str) -> None:
    (action,) = parse(text)
    if not error:
        assert isinstance(action, CommandLine | Refusal)
        return
    assert isinstance(action, Refusal)
    assert action.error_type == error
    assert says in action.text


@given(st.text())
def test_nothing_raises(text: str) -> None:
    assert parse(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["name", "arguments", "function", "tool_calls", "content", "command", "type"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_json_document_raises(document: object) -> None:
    assert parse(json.dumps(document))


def test_schemas_are_strict_and_flat_in_every_dialect() -> None:
    for format_, key in (
        ("anthropic", "input_schema"),
        ("mcp", "inputSchema"),
        ("openai_responses", "parameters"),
    ):
        for schema in schemas(format_):
            parameters = schema[key]
            assert parameters["additionalProperties"] is False
            assert all(p["type"] in {"string", "integer"} for p in parameters["properties"].values())
    assert [tool["function"]["name"] for tool in schemas("openai")] == [tool.name for tool in TOOLS]
    assert all(tool.name in text_help() for tool in TOOLS)
