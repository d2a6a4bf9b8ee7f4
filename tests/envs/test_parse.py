"""The action grammar understands every dialect that models write, and never raises."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.tools.call import CommandLine, Refusal, Submission
from sregym_env.tools.parse import MAX_ACTION_CHARS, parse
from sregym_env.tools.tool import TOOLS, schemas, text_help
from tests.effort import at_most

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

GEO = CommandLine("kubectl logs deploy/geo | grep '<tool_call>'")
CALL = '{"name": "shell", "arguments": {"command": "kubectl get pods"}}'
WAIT = '{"name": "wait", "arguments": {"seconds": 5}}'
WAITED = CommandLine("sleep 5", "wait")
ALERTS = CommandLine("alerts", "alerts")
TWO_LINES = CommandLine("kubectl get pods\nkubectl get svc")

DIALECTS = [
    # Hermes, Qwen
    (f"<tool_call>{CALL}</tool_call>\n<tool_call>{WAIT}</tool_call>", (PODS, WAITED)),
    (f"I'll look, it's geo's turn.\n<tool_call>\n{CALL}\n</tool_call>\nThat's all.", (PODS,)),
    (f"<tool_call>\n{CALL}\n{WAIT}\n</tool_call>", (PODS, WAITED)),
    (f"<tool_call>[{CALL}, {WAIT}]</tool_call>", (PODS, WAITED)),
    (f"<tool_call><tool_call>{CALL}</tool_call></tool_call>", (PODS,)),
    (f"<tool_call>\n```json\n{CALL}\n```\n</tool_call>", (PODS,)),
    (f"<tool_call>{CALL}<tool_call>{WAIT}", (PODS, WAITED)),
    (f"<tool_call>{CALL}}}</tool_call>", (PODS,)),
    (f"<function_call>{CALL}</function_call>", (PODS,)),
    (f"<tools>\n{CALL}\n</tools>", (PODS,)),
    (f"<tool_call>{CALL}</tool_call><|im_end|>", (PODS,)),
    (f"<|im_start|>assistant\n<tool_call>{CALL}</tool_call><|im_end|>\n<|endoftext|>", (PODS,)),
    (f"The <tool_call> format it is: <tool_call>{CALL}</tool_call>", (PODS,)),
    (
        '<tool_call>{"name": "shell", "arguments": {"command": "kubectl get pods\nkubectl get svc"}}</tool_call>',
        (TWO_LINES,),
    ),
    (
        '<tool_call>{"name": "shell", "arguments": {"command": "echo </tool_call>"}}</tool_call>',
        (CommandLine("echo </tool_call>"),),
    ),
    (f"<tool_call>{CALL}</tool_call><tool_call>{{broken</tool_call>", (PODS, "not valid JSON")),
    # Qwen-Coder
    (
        "<tool_call>\n<function=shell>\n<parameter=command>\nkubectl get pods\n</parameter>\n</function>\n</tool_call>",
        (PODS,),
    ),
    ("<function=shell><parameter=command>kubectl get pods</parameter></function>", (PODS,)),
    ("<tool_call><function=shell><parameter=command>kubectl get pods</tool_call>", (PODS,)),
    ("<tool_call><function=shell><parameter=command>kubectl delete pod geo", ("ends before its arguments",)),
    ("<function=shell><parameter=command>kubectl get pods</parameter>", (PODS,)),
    ("<tool_call><function=wait><parameter=seconds>\n5\n</parameter></function></tool_call>", (WAITED,)),
    ("<tool_call><function=alerts>\n</function></tool_call>", (ALERTS,)),
    (
        "<function=shell><parameter=command>echo '</parameter>' <b></parameter></function>",
        (CommandLine("echo '</parameter>' <b>"),),
    ),
    ('<function=shell>{"command": "kubectl get pods"}</function>', (PODS,)),
    ("<function=shell><parameter=command", ("ends before its arguments",)),
    # GLM
    (
        "<tool_call>shell\n<arg_key>command</arg_key>\n<arg_value>kubectl get pods</arg_value>\n</tool_call>",
        (PODS,),
    ),
    ("<tool_call>wait<arg_key>seconds</arg_key><arg_value>5</arg_value></tool_call>", (WAITED,)),
    ("<tool_call>alerts\n</tool_call>", (ALERTS,)),
    ("<tool_call>shell<arg_key>command</arg_key><arg_value>kubectl delete", ("ends before its arguments",)),
    # Llama
    ('<|python_tag|>{"name": "shell", "parameters": {"command": "kubectl get pods"}}<|eom_id|>', (PODS,)),
    (f"<|python_tag|>{CALL}; {WAIT}", (PODS, WAITED)),
    ('<|python_tag|>shell.call(command="kubectl get pods")', (PODS,)),
    ('{"name": "shell", "parameters": {"command": "kubectl get pods"}}<|eot_id|>', (PODS,)),
    (f"{CALL}; {WAIT}", (PODS, WAITED)),
    ('[shell(command="kubectl get pods"), wait(seconds=5)]', (PODS, WAITED)),
    ("shell(command='kubectl get pods')", (PODS,)),
    ('shell("kubectl get pods")', (PODS,)),
    ("alerts()", (ALERTS,)),
    ("```tool_code\nshell(command='kubectl get pods')\n```", (PODS,)),
    (r'shell(command="printf \"a\\n\" \u00fc")', (CommandLine('printf "a\\n" \u00fc'),)),
    ('shell(command="""kubectl get pods\nkubectl get svc""")', (TWO_LINES,)),
    ("<|python_tag|>import os", ("no tool call",)),
    # Mistral
    (f"[TOOL_CALLS][{CALL}, {WAIT}]", (PODS, WAITED)),
    (f"[TOOL_CALLS] {CALL}</s>", (PODS,)),
    ('[TOOL_CALLS]shell{"command": "kubectl get pods"}', (PODS,)),
    (
        '[TOOL_CALLS]shell[ARGS]{"command": "kubectl get pods"}[TOOL_CALLS]wait[ARGS]{"seconds": 5}',
        (PODS, WAITED),
    ),
    ('Looking.[TOOL_CALLS]shell[CALL_ID]a1b2c3d4e[ARGS]{"command": "kubectl get pods"}', (PODS,)),
    ("[TOOL_CALLS]shell[ARGS]{", ("not valid JSON",)),
    # DeepSeek, Kimi
    (
        "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>"
        'shell\n```json\n{"command": "kubectl get pods"}\n```<\uff5ctool\u2581call\u2581end\uff5c>',
        (PODS,),
    ),
    (
        '<|tool_calls_begin|><|tool_call_begin|>shell<|tool_sep|>{"command": "kubectl get pods"}<|tool_call_end|>'
        '<|tool_call_begin|>wait<|tool_sep|>{"seconds": 5}<|tool_call_end|><|tool_calls_end|>',
        (PODS, WAITED),
    ),
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.shell:0<|tool_call_argument_begin|>"
        '{"command": "kubectl get pods"}<|tool_call_end|><|tool_calls_section_end|>',
        (PODS,),
    ),
    # Tags with names as attributes, and gpt-oss
    (
        '<function_calls>\n<invoke name="shell">\n<parameter name="command">kubectl get pods</parameter>\n</invoke>\n'
        '<invoke name="wait"><parameter name="seconds">5</parameter></invoke></function_calls>',
        (PODS, WAITED),
    ),
    (
        '<minimax:tool_call><invoke name="shell"><parameter name="command">kubectl get pods</parameter></invoke>',
        (PODS,),
    ),
    (
        '<\uff5cDSML\uff5cinvoke name="shell"><\uff5cDSML\uff5cparameter name="command" string="true">kubectl get pods'
        "</\uff5cDSML\uff5cparameter></\uff5cDSML\uff5cinvoke>",
        (PODS,),
    ),
    (
        "<|channel|>analysis<|message|>Pods?<|end|><|start|>assistant<|channel|>commentary to=functions.shell "
        '<|constrain|>json<|message|>{"command": "kubectl get pods"}<|call|>',
        (PODS,),
    ),
    (
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>kubectl get pods",
        (PODS,),
    ),
    # Documents behind prose, in fences, in lists, in messages
    (f"I'll check the pods first.\n{CALL}", (PODS,)),
    (f"Calling the tool: {CALL} and then {WAIT}.", (PODS, WAITED)),
    (f"{CALL}\nThis lists the pods.", (PODS,)),
    (f"{CALL}\n{WAIT}", (PODS, WAITED)),
    ('{\n  "name": "shell",\n  "arguments": {"command": "kubectl get pods"}\n}\nDone.', (PODS,)),
    (f"Now:\n```json\n[{CALL}, {WAIT}]\n```", (PODS, WAITED)),
    (f"Now:\n```json\n{CALL}\n{WAIT}\n```", (PODS, WAITED)),
    (f"```python\nx = 1\n```\n{CALL}", (PODS,)),
    ("Let me see.\n```bash\nkubectl get pods", (PODS,)),
    (
        '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "shell", "arguments": '
        '{"command": "kubectl get pods"}}}, {"id": "2", "type": "function", "function": {"name": "wait", '
        '"arguments": "{\\"seconds\\": 5}"}}]}',
        (PODS, WAITED),
    ),
    (
        '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "shell", "arguments": '
        '{"unreadable_arguments": "{\\"command"}}}]}',
        ("not a JSON object",),
    ),
    ('{"role": "assistant", "content": "kubectl get pods", "tool_calls": []}', (PODS,)),
    ('{"tool_calls": []}', ("no tool call",)),
    ('{"role": "assistant", "content": [{"type": "text", "text": "hm"}]}', ("no tool call",)),
    (f'[{CALL}, {{"name": "wait", "arguments": ', (PODS, "not valid JSON")),
    ('{"kind": "Service", "metadata": {"name": "geo"', ("not valid JSON",)),
    ('{"a": NaN}', ("not valid JSON",)),
    ("Now:\n```json\n{broken\n```", ("fenced block",)),
    ('Now:\n```json\n{"broken\n```', ("not valid JSON",)),
    ('Now:\n```json\n{"broken\n```\n```bash\nkubectl get pods\n```', (PODS,)),
    ('I look.\n{"name": "shell", "arguments": {"command": "kubectl', ("not valid JSON",)),
    # Thoughts
    (f"<think>\nMaybe {WAIT}\n</think>\n\n{CALL}", (PODS,)),
    ("<think>one</think> no, <think>two</think>\nkubectl get pods", (PODS,)),
    ("The pods, then.\n</think>\n\nkubectl get pods", (PODS,)),
    ("kubectl get pods could help.\n</think>\n\nkubectl get pods", (PODS,)),
    (f"<think>hm</think><tool_call>{CALL}</tool_call>", (PODS,)),
    ("<think>hm</think>\ngrep '</think>' f", (CommandLine("grep '</think>' f"),)),
    (
        '<think>hm</think>{"name": "shell", "arguments": {"command": "grep \'</think>\' f"}}',
        (CommandLine("grep '</think>' f"),),
    ),
    ("[THINK]hm[/THINK]kubectl get pods", (PODS,)),
    ("\u25c1think\u25b7hm\u25c1/think\u25b7kubectl get pods", (PODS,)),
    (f"<think>I should call <tool_call>{CALL}</tool_call>", (PODS,)),
    (f"<think>So:\n{CALL}", (PODS,)),
    ("<think>I should run kubectl delete ns default", ("never closed",)),
    ("<think>Perhaps\n```bash\nkubectl delete ns default\n```", ("never closed",)),
    ("<|channel|>analysis<|message|>I should run kubectl get pods", ("never closed",)),
    ("<think>done</think>", ("only a thought",)),
    ("<think></think>", ("only a thought",)),
    # Prose is told to be prose; what may be a command is one
    ("I will check the pods of the geo service now.", ("prose",)),
    ("Let me think about it:\n- geo is down\n- rate is up", ("prose",)),
    ("\u00dcberpr\u00fcfen wir zuerst die Pods.", ("prose",)),
    ("\u6211\u6765\u67e5\u770b\u4e00\u4e0b pod \u7684\u72b6\u6001\u3002 ok then:", ("prose",)),
    ("Here is a manifest:\n```yaml\nkind: Pod\n```", ("fenced block",)),
    ("Now list them:\nkubectl get pods", (CommandLine("Now list them:\nkubectl get pods"),)),
    ("NS=default kubectl get pods", (CommandLine("NS=default kubectl get pods"),)),
    # Shell lines remain shell lines, whatever they quote
    ("kubectl logs deploy/geo | grep '<tool_call>'", (GEO,)),
    ("$ kubectl logs deploy/geo | grep '<tool_call>'", (GEO,)),
    *(
        (line, (CommandLine(line),))
        for line in (
            f"echo '<tool_call>{CALL}</tool_call>' > x",
            'printf "%s" "[TOOL_CALLS][{}]" "it\'s"',
            f"cat > f <<'EOF'\nIt's\n<tool_call>{CALL}</tool_call>\nEOF",
            f"cat > f <<EOF\n{CALL}\nEOF\nkubectl get pods",
            "cat <<EOF\n</think>\nEOF",
            "cat <<'EOF' > README.md\n```bash\nkubectl get pods\n```\nEOF",
            "NS=x\ncat <<-'EOF'\n\t```\n\tEOF",
            "echo hi # see </think> and <tool_call>",
            'kubectl patch deploy geo -p \'{"spec": {"name": "shell", "arguments": {"command": "x"}}}\'',
            'kubectl patch svc geo --type=json -p \'[{"op": "replace", "path": "/a", "value": 1}]\'',
            'curl -d \'{"name": "shell", "arguments": {"command": "ls"}}\' http://geo:8083/',
            'for x in 1 2; do echo "<function=shell>"; done',
            "{ echo '<tool_call>'; }",
            '[[ -n "$x" ]] && echo "<|python_tag|>"',
            '[ "$x" = "y" ] || kubectl get pods',
            "{ kubectl get pods -o json | jq '.items[] | {\"name\": .metadata.name}'; }",
            "./run.sh '<tool_call>{}</tool_call>'",
            "x=$(kubectl get pods | grep '</think>')",
            "# what it says\n\necho '<tool_call>'",
            "find the pods that are not ready",
        )
    ),
    (
        "submit diagnosis \"geo logs '<tool_call>' and </think>, it's broken\"",
        (Submission("diagnosis", "geo logs '<tool_call>' and </think>, it's broken"),),
    ),
    (
        f"submit diagnosis <<'EOF'\n{CALL}\n```\nEOF",
        (Submission("diagnosis", f"{CALL}\n```"),),
    ),
    ("submit diagnosis geo says <tool_call>", (Submission("diagnosis", "geo says <tool_call>"),)),
]
"""(text, what it asks for); a string stands for a refusal that says so."""

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


@pytest.mark.parametrize(("text", "expected"), DIALECTS, ids=range(len(DIALECTS)))
def test_the_dialects_of_chat_templates(text: str, expected: tuple[object, ...]) -> None:
    actions = parse(text)
    assert len(actions) == len(expected), actions
    for action, wanted in zip(actions, expected, strict=True):
        if isinstance(wanted, str):
            assert isinstance(action, Refusal) and wanted in action.text, action
            assert action.error_type == "parse_error"
        else:
            assert action == wanted


PIECES = [
    "<tool_call>", "</tool_call>", "<function=shell>", "<parameter=command>", "</parameter>", "</function>", "<arg_key>",
    "</arg_key>", "<arg_value>", "<|python_tag|>", "[TOOL_CALLS]", "[ARGS]", "<|tool_call_begin|>", "<|tool_sep|>", "<think>",
    "</think>", '<invoke name="shell">', '<parameter name="command">', "to=functions.shell", "<|message|>", "```json\n",
    "```\n", "\n", " ", "shell", "alerts", "kubectl get pods", "echo '", '"', "\\", "{", "}", "[", "]", "(", ")", "=", ",",
    '{"name": "shell", "arguments": {"command": "ls"}}', '{"name": "', "<<EOF\n", "EOF", "#", "$(", "I look. ", "\u00fc",
    "\ud800", "\x00", "submit diagnosis ", "<|im_end|>", "<|channel|>final<|message|>",
]  # fmt: skip


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_nothing_raises(text: str) -> None:
    assert parse(text)


@given(st.text(max_size=40), st.sampled_from(["hermes", "qwen", "glm", "llama", "mistral", "json", "openai"]))
def test_a_command_arrives_as_it_is_in_every_dialect(command: str, dialect: str) -> None:
    """JSON carries any text; tags carry any that holds no tag and does not begin or end with a line break."""
    command = command.replace("\r", "") or "x"
    arguments = json.dumps({"command": command})
    call = json.dumps({"name": "shell", "arguments": {"command": command}})
    text = {
        "hermes": f"So.\n<tool_call>\n{call}\n</tool_call>",
        "qwen": f"<tool_call>\n<function=shell>\n<parameter=command>\n{command}\n</parameter>\n</function>\n</tool_call>",
        "glm": f"<tool_call>shell\n<arg_key>command</arg_key>\n<arg_value>{command}</arg_value>\n</tool_call>",
        "llama": f"<|python_tag|>{call}",
        "mistral": f"[TOOL_CALLS]shell[ARGS]{arguments}",
        "json": call,
        "openai": json.dumps(
            {"tool_calls": [{"id": "1", "function": {"name": "shell", "arguments": arguments}}]}
        ),
    }[dialect]
    expected = command
    if dialect in ("qwen", "glm"):
        expected = "".join(c for c in command if c in "\t\n" or not (ord(c) < 32 or ord(c) == 127))
        if dialect == "glm":
            expected = expected.removeprefix("\n").removesuffix("\n")
    assert parse(text) == (CommandLine(expected),)


@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), max_size=60))
def test_what_a_shell_quotes_is_left_to_the_shell(inner: str) -> None:
    quoted = "'" + inner.replace("'", "") + "<tool_call>{}</tool_call>```bash\nx\n```'"
    assert parse(f"echo {quoted}") == (CommandLine(f"echo {quoted}"),)


HOSTILE = [
    "<tool_call>", "<tool_call>{", '<tool_call>["', "<function=a><parameter=", "<think>", "</think>", "kubectl </think>",
    "<think>a</think>kubectl ", "[TOOL_CALLS]a", "<|tool_call_begin|>a<|tool_sep|>", "<invoke name='a'>", '{"name":', "[", "{",
    "```\n", "```b\n", "echo 'a' ", "'", '"', '\\"', "<<A ", "<<A\n", "alerts()", "alerts(", "shell(command='", "to=functions.a",
    " ", "\n", "a=b ", "# ", '{"name": "shell", "arguments": {', "<|im_end|>", "- a\n", "I am. ", "<tool_call>a<arg_key>",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_text_takes_long(piece: str) -> None:
    count = MAX_ACTION_CHARS // len(piece) - 100
    with at_most(1.0, piece):
        for begin in ("", "echo ", "<think>", "I say: <tool_call>", '{"name": "shell", "x": ['):
            assert parse(begin + piece * count)


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
            assert all(p["type"] in {"string", "integer", "array"} for p in parameters["properties"].values())
            lists = [p["items"] for p in parameters["properties"].values() if p["type"] == "array"]
            assert all(item["additionalProperties"] is False for item in lists)
            assert all(set(item["required"]) == set(item["properties"]) for item in lists)
    assert [tool["function"]["name"] for tool in schemas("openai")] == [tool.name for tool in TOOLS]
    assert all(tool.name in text_help() for tool in TOOLS)
