"""The tools an agent may call: one declaration each, rendered in every dialect that model servers speak.

A tool is words and typed arguments; what it does is a line on the agent's workstation, or a submission.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sregym_env.tools.call import Action, CommandLine, Refusal, Submission, ToolCall
from sregym_env.tools.causes import FIELDS, MAX_CAUSES, Cause, handed_in, understood
from sregym_env.tools.taxonomy import ANSWERS

ToolFormat = Literal["openai", "openai_responses", "anthropic", "mcp", "text"]

MAX_WAIT_SECONDS = 600
"""Longest wait that one call of the ``wait`` tool may ask for, simulated seconds."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool, a scalar or a list. A ``default`` of None makes it required."""

    name: str
    type: Literal["string", "integer", "array"]
    description: str
    default: str | int | None = None
    aliases: tuple[str, ...] = ()
    """Other names under which models tend to pass it."""
    items: Mapping[str, Any] | None = None
    """Of an array: the JSON Schema of its items."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's declaration: name, what it is for, arguments, and the action a call means."""

    name: str
    description: str
    arguments: tuple[Argument, ...]
    action: Callable[[Mapping[str, Any]], Action]
    aliases: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": {argument.name: _property(argument) for argument in self.arguments},
            "required": [argument.name for argument in self.arguments if argument.default is None],
            "additionalProperties": False,
        }


def _property(argument: Argument) -> dict[str, Any]:
    described: dict[str, Any] = {"type": argument.type, "description": argument.description}
    if argument.items is not None:
        described["items"] = dict(argument.items)
    if argument.default is not None:
        described["default"] = argument.default
    return described


def _shell(arguments: Mapping[str, Any]) -> Action:
    return CommandLine(arguments["command"], "shell")


def _kubectl(arguments: Mapping[str, Any]) -> Action:
    command = arguments["command"].strip()
    if command != "kubectl" and not command.startswith(("kubectl ", "kubectl\t", "kubectl\n")):
        command = f"kubectl {command}"
    return CommandLine(command, "kubectl")


def _alerts(_: Mapping[str, Any]) -> Action:
    return CommandLine("alerts", "alerts")


def _promql(arguments: Mapping[str, Any]) -> Action:
    words = ["promql"]
    for name in ("range", "step"):
        if arguments[name].strip():
            words += [f"--{name}", arguments[name].strip()]
    return CommandLine(shlex.join([*words, "--", arguments["query"]]), "promql")


def _logql(arguments: Mapping[str, Any]) -> Action:
    words = ["logql", "--since", arguments["since"].strip() or "15m", "--limit", str(arguments["limit"])]
    return CommandLine(shlex.join([*words, "--", arguments["query"]]), "logql")


def _traces(arguments: Mapping[str, Any]) -> Action:
    command = arguments["command"].strip()
    if command != "traces" and not command.startswith(("traces ", "traces\t", "traces\n")):
        command = f"traces {command}"
    return CommandLine(command, "traces")


def _wait(arguments: Mapping[str, Any]) -> Action:
    seconds = arguments["seconds"]
    if not 0 <= seconds <= MAX_WAIT_SECONDS:
        return Refusal(f"wait: seconds must be between 0 and {MAX_WAIT_SECONDS}", "parse_error", "wait")
    return CommandLine(f"sleep {seconds}", "wait")


def _submit_diagnosis(arguments: Mapping[str, Any]) -> Action:
    return Submission("diagnosis", arguments["text"])


def _submit_structured(arguments: Mapping[str, Any]) -> Action:
    causes: list[Cause] = []
    for entry in arguments["causes"]:
        cause = understood(entry)
        if isinstance(cause, str):
            return Refusal(
                f"submit_structured_diagnosis: {cause}", "parse_error", "submit_structured_diagnosis"
            )
        causes.append(cause)
    if not 1 <= len(causes) <= MAX_CAUSES:
        text = f"submit_structured_diagnosis: {len(causes)} causes; hand in between 1 and {MAX_CAUSES}"
        return Refusal(text, "parse_error", "submit_structured_diagnosis")
    return Submission("diagnosis", handed_in(causes))


def _submit_mitigation(_: Mapping[str, Any]) -> Action:
    return Submission("mitigation")


def _submit(arguments: Mapping[str, Any]) -> Action:
    stage = arguments["stage"].strip().lower()
    if stage not in {"", "diagnosis", "mitigation"}:
        return Refusal("submit: stage must be diagnosis or mitigation", "parse_error", "submit")
    return Submission(stage, arguments["text"])


_CAUSE: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        name: {"type": "array", "items": {"type": "string"}, "description": what}
        if name == "component"
        else {
            "type": "string",
            "description": what,
            **({"enum": list(ANSWERS)} if name == "mechanism" else {}),
        }
        for name, what in FIELDS.items()
    },
    "required": list(FIELDS),
    "additionalProperties": False,
}
"""The JSON Schema of one cause of a structured diagnosis."""

TOOLS: tuple[Tool, ...] = (
    Tool(
        "shell",
        "Run a bash command line on the on-call workstation. kubectl is configured for the cluster; curl, "
        "grep, awk, sed, jq, sleep, date and other common commands are there too. Nothing is interactive.",
        (
            Argument(
                "command",
                "string",
                "The command line, e.g. kubectl get pods -A | grep -v Running",
                aliases=("cmd", "script", "input", "code", "line"),
            ),
        ),
        _shell,
        aliases=("bash", "sh", "terminal", "run", "execute", "execute_bash", "exec_shell", "run_command"),
    ),
    Tool(
        "kubectl",
        "Run one kubectl command against the cluster.",
        (
            Argument(
                "command",
                "string",
                "The arguments of kubectl, e.g. get pods -n default -o wide",
                aliases=("cmd", "args", "arguments", "line"),
            ),
        ),
        _kubectl,
        aliases=("exec_kubectl_cmd_safely", "exec_read_only_kubectl_cmd", "run_kubectl"),
    ),
    Tool("alerts", "List the alerts that are pending or firing now.", (), _alerts, aliases=("get_alerts",)),
    Tool(
        "promql",
        "Query the cluster's Prometheus: kube-state-metrics (kube_*), containers (container_*), machines (node_*), requests "
        "by service (traces_span_metrics_calls_total, traces_span_metrics_duration_milliseconds_bucket), probe_success, up.",
        (
            Argument(
                "query",
                "string",
                'The PromQL query, e.g. sum by (service_name) (rate(traces_span_metrics_calls_total{status_code="STATUS_CODE_ERROR"}[2m]))',
                aliases=("promql", "expr", "expression", "q"),
            ),
            Argument(
                "range",
                "string",
                "How far back to evaluate it step by step, e.g. 30m; empty for its value now.",
                "",
                ("since", "window", "duration", "last"),
            ),
            Argument(
                "step",
                "string",
                "Resolution of a range, e.g. 1m; empty for a 60th of it.",
                "",
                ("resolution",),
            ),
        ),
        _promql,
        aliases=("get_metrics", "query_metrics", "prometheus", "prometheus_query", "metrics"),
    ),
    Tool(
        "logql",
        "Query the cluster's Loki: log lines of all containers (labels namespace, pod, container, app, node_name), or what "
        "a metric query counts in them.",
        (
            Argument(
                "query",
                "string",
                'The LogQL query, e.g. {namespace="default", app="web"} |~ "(?i)error|fail"',
                aliases=("logql", "expr", "expression", "q"),
            ),
            Argument(
                "since", "string", "How far back to look.", "15m", ("range", "window", "duration", "last")
            ),
            Argument(
                "limit", "integer", "Lines at most, the newest; up to 1000.", 100, ("max_lines", "lines")
            ),
        ),
        _logql,
        aliases=("get_logs", "query_logs", "loki", "loki_query"),
    ),
    Tool(
        "traces",
        "Ask the cluster's Jaeger which services a request went through and where it failed or waited: services, "
        "operations SERVICE, search SERVICE [--errors] [--since 15m] [--min-duration 100ms], get TRACE_ID, dependencies.",
        (
            Argument(
                "command",
                "string",
                "What to ask, e.g. search frontend --errors --since 30m",
                aliases=("cmd", "args", "arguments", "query"),
            ),
        ),
        _traces,
        aliases=("jaeger", "get_traces", "query_traces"),
    ),
    Tool(
        "wait",
        "Let time pass in the cluster.",
        (
            Argument(
                "seconds",
                "integer",
                f"How many seconds, at most {MAX_WAIT_SECONDS}.",
                aliases=("duration", "time"),
            ),
        ),
        _wait,
        aliases=("sleep", "wait_tool"),
    ),
    Tool(
        "submit_diagnosis",
        "Hand in the root cause, once: which component is at fault, what exactly is wrong with it (field, "
        "value, object), and whom it affects.",
        (
            Argument(
                "text",
                "string",
                "The diagnosis in your own words.",
                aliases=("diagnosis", "ans", "answer", "solution"),
            ),
        ),
        _submit_diagnosis,
    ),
    Tool(
        "submit_structured_diagnosis",
        "Hand in the root cause in closed answers instead, once: one entry for each thing that is wrong, with what was "
        'left open as "". The command `submit mechanisms` tells what every mechanism means.',
        (
            Argument(
                "causes",
                "array",
                "What is wrong; several entries only for several faults.",
                aliases=("faults", "diagnoses", "items"),
                items=_CAUSE,
            ),
        ),
        _submit_structured,
        aliases=("submit_causes", "diagnose"),
    ),
    Tool("submit_mitigation", "Hand in the repaired system. This ends the episode.", (), _submit_mitigation),
)
"""Every tool, in the order in which an agent is told about them."""

_SUBMIT = Tool(
    "submit",
    "Hand in what the current stage asks for.",
    (
        Argument(
            "text",
            "string",
            "The diagnosis; empty for a mitigation.",
            "",
            ("ans", "answer", "solution", "diagnosis"),
        ),
        Argument("stage", "string", "diagnosis or mitigation; the current one if left out.", "", ("kind",)),
    ),
    _submit,
)

BY_NAME: Mapping[str, Tool] = {
    name: tool for tool in (*TOOLS, _SUBMIT) for name in (tool.name, *tool.aliases)
}
"""Every name under which a tool answers. ``submit`` is understood but not advertised."""


def action(call: ToolCall) -> Action:
    """What a tool call asks for; a :class:`Refusal` says what is wrong with it."""
    tool = BY_NAME.get(call.name)
    if tool is None:
        known = ", ".join(tool.name for tool in TOOLS)
        return Refusal(f'unknown tool "{_short(call.name)}"; the tools are: {known}', "unknown_tool")
    arguments = _bind(tool, call.arguments)
    return arguments if isinstance(arguments, Refusal) else tool.action(arguments)


def _bind(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any] | Refusal:
    bound: dict[str, Any] = {}
    used: set[str] = set()
    for argument in tool.arguments:
        name = next((name for name in (argument.name, *argument.aliases) if name in given), None)
        if name is None:
            if argument.default is None:
                return _refused(tool, f'argument "{argument.name}" is missing')
            bound[argument.name] = argument.default
            continue
        used.add(name)
        value = _coerced(argument, given[name])
        if value is None:
            return _refused(tool, f'argument "{argument.name}" must be a {_type_name(argument)}')
        bound[argument.name] = value
    extra = sorted(str(name) for name in given if name not in used)
    if extra:
        return _refused(tool, f'unknown argument "{_short(extra[0])}"')
    return bound


def _coerced(argument: Argument, value: Any) -> str | int | list[Any] | None:
    if argument.type == "array":
        # Models pass one entry bare, or the list as text.
        value = _from_text(value)
        return [value] if isinstance(value, Mapping) else value if isinstance(value, list) else None
    if argument.type == "string":
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            return " ".join(value)
        return value if isinstance(value, str) else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) < 10:
        return int(value)
    return None


def _type_name(argument: Argument) -> str:
    return {"integer": "whole number", "array": "list"}.get(argument.type, argument.type)


def _from_text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _refused(tool: Tool, why: str) -> Refusal:
    return Refusal(f"{tool.name}: {why}; {usage(tool)}", "parse_error", tool.name)


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."


def usage(tool: Tool) -> str:
    """The tool's one-line signature, e.g. ``usage: wait(seconds: integer)``."""
    inside = ", ".join(
        f"{a.name}: {a.type}" + ("" if a.default is None else f" = {a.default!r}") for a in tool.arguments
    )
    return f"usage: {tool.name}({inside})"


def schemas(format: ToolFormat = "openai") -> list[dict[str, Any]]:
    """Every tool's schema in the dialect of OpenAI chat, OpenAI Responses, Anthropic or MCP."""
    return [_RENDERERS[format](tool) for tool in TOOLS]


def text_help() -> str:
    """Every tool, for a prompt without native tool calling."""
    return "\n".join(f"- {usage(tool).removeprefix('usage: ')}: {tool.description}" for tool in TOOLS)


def _openai(tool: Tool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema(),
        "strict": True,
    }
    return {"type": "function", "function": function}


def _openai_responses(tool: Tool) -> dict[str, Any]:
    return {"type": "function", **_openai(tool)["function"]}


def _anthropic(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema()}


def _mcp(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.schema()}


def _text(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "usage": usage(tool), "description": tool.description}


_RENDERERS: Mapping[str, Callable[[Tool], dict[str, Any]]] = {
    "openai": _openai,
    "openai_responses": _openai_responses,
    "anthropic": _anthropic,
    "mcp": _mcp,
    "text": _text,
}
