"""The agent's tools as MCP clients find them: those of the environment, and the names that SREGym's servers give theirs.

Whatever is declared in :mod:`~sregym_env.tools.tool` is offered by itself. An alias is offered where the tool that it
stands for is: SREGym's kubectl, Prometheus, Jaeger, Loki and submission servers in one.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sregym_env.tools.tool import schemas


@dataclass(frozen=True, slots=True)
class Offer:
    """One tool: what clients are told of it, and the action that a call of it means."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of the arguments."""
    action: Callable[[Mapping[str, Any]], str]
    """A call as the environment takes it, from arguments that fit the schema. Raises ValueError for others."""


def offers() -> Mapping[str, Offer]:
    """Every tool by its name: the environment's own, then the aliases of those."""
    own = {
        each["name"]: Offer(each["name"], each["description"], each["inputSchema"], _call(each["name"]))
        for each in schemas("mcp")
    }
    aliases = {
        alias.name: alias.offer()
        for alias in _ALIASES
        if alias.name not in own and (alias.tool in own or alias.tool == "submit")
    }
    return {**own, **aliases}


def _call(tool: str) -> Callable[[Mapping[str, Any]], str]:
    def action(arguments: Mapping[str, Any]) -> str:
        return json.dumps({"name": tool, "arguments": dict(arguments)})

    return action


@dataclass(frozen=True, slots=True)
class _Parameter:
    """An argument of SREGym's; without a default it is required."""

    name: str
    description: str
    default: int | None = None

    def property(self) -> dict[str, Any]:
        if self.default is None:
            return {"type": "string", "description": self.description}
        return {"type": "integer", "description": self.description, "default": self.default}

    def value(self, given: Mapping[str, Any]) -> str | int:
        """Raises ValueError where it is missing or of another type."""
        found = given.get(self.name, self.default)
        if isinstance(found, bool) or not isinstance(found, str if self.default is None else int):
            kind = "text" if self.default is None else "a whole number"
            raise ValueError(f"argument {self.name!r} must be {kind}")
        return found


@dataclass(frozen=True, slots=True)
class _Alias:
    """A tool of SREGym's in terms of ours: of the tool's own arguments, or of a line on the workstation."""

    name: str
    tool: str
    """The tool that must be there."""
    description: str
    parameters: tuple[_Parameter, ...]
    arguments: Callable[..., Mapping[str, Any]] | None = None
    """The arguments of the tool, from the parameters' values."""
    line: Callable[..., list[str]] | None = None
    """Or the words of a command line."""

    def offer(self) -> Offer:
        schema = {
            "type": "object",
            "properties": {each.name: each.property() for each in self.parameters},
            "required": [each.name for each in self.parameters if each.default is None],
            "additionalProperties": False,
        }
        return Offer(self.name, self.description, schema, self._action)

    def _action(self, given: Mapping[str, Any]) -> str:
        unknown = sorted(set(given) - {each.name for each in self.parameters})
        if unknown:
            raise ValueError(f"unknown argument {unknown[0]!r}")
        values = [each.value(given) for each in self.parameters]
        if self.arguments is not None:
            return _call(self.tool)(self.arguments(*values))
        assert self.line is not None
        return _call("shell")({"command": shlex.join(self.line(*values))})


_QUERY = _Parameter("query", "The query.")
_SERVICE = _Parameter("service", "The service's name, one of get_services.")


def _minutes(default: int) -> _Parameter:
    return _Parameter("last_n_minutes", "How far back to look.", default)


_ALIASES = (
    _Alias(
        "exec_kubectl_cmd_safely", "kubectl", "Run one kubectl command, which begins with kubectl.",
        (_Parameter("cmd", "The command, e.g. kubectl get pods -A"),), arguments=lambda cmd: {"command": cmd},
    ),
    _Alias("get_alerts", "alerts", "The alerts that are firing or pending.", (), arguments=dict),
    _Alias(
        "get_metrics", "promql", "The present value of a PromQL query.", (_QUERY,),
        line=lambda query: ["promql", "--", query],
    ),
    _Alias("get_services", "traces", "The services that send traces.", (), line=lambda: ["traces", "services"]),
    _Alias(
        "get_operations", "traces", "The operations of a service.", (_SERVICE,),
        line=lambda service: ["traces", "operations", service],
    ),
    _Alias(
        "get_traces", "traces", "The newest traces that a service takes part in.",
        (_SERVICE, _Parameter("last_n_minutes", "How far back to look.", 15)),
        line=lambda service, minutes: ["traces", "search", service, "--since", f"{minutes}m"],
    ),
    _Alias(
        "get_dependency_graph", "traces", "Which service calls which, and how often.", (_minutes(30),),
        line=lambda minutes: ["traces", "dependencies", "--since", f"{minutes}m"],
    ),
    _Alias(
        "get_logs", "logql", "Log lines that a LogQL query finds.", (_QUERY, _minutes(15)),
        line=lambda query, minutes: ["logql", "--since", f"{minutes}m", "--", query],
    ),
    _Alias("get_labels", "logql", "The labels of log streams.", (), line=lambda: ["logql", "--labels"]),
    _Alias(
        "get_label_values", "logql", "The values of a label of log streams.", (_Parameter("label", "The label."),),
        line=lambda label: ["logql", "--values", label],
    ),
    _Alias(
        "submit", "submit", "Hand in what is asked for: first the diagnosis in words, then, empty, the repaired system.",
        (_Parameter("ans", "The diagnosis; empty for the repair."),), arguments=lambda ans: {"text": ans},
    ),
)  # fmt: skip
"""Names and arguments as SREGym's MCP servers have them. Their undoing of commands has no counterpart here."""
