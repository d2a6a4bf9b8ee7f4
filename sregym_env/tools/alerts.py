"""The ``alerts`` command: what is firing and pending, as an on-call engineer's pager would list it."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from sregym_env.cluster.health import Alert
from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import human_duration, rfc3339

USAGE = """usage: alerts [--state firing|pending|all] [--namespace NS] [-o json]
Lists the alerts that are firing or pending; with -o json, their labels too.
"""


def alerts(found: Sequence[Alert], arguments: Sequence[str], now: int) -> ExecResult:
    """Print alerts; ``arguments`` are the command's own without its name."""
    state, namespace, as_json = "all", "", False
    words = list(arguments)
    while words:
        word = words.pop(0)
        name, _, value = word.partition("=")
        if name in ("--state", "--namespace", "-n", "-o", "--output"):
            value = value or (words.pop(0) if words else "")
            if name == "--state" and value in ("firing", "pending", "all"):
                state = value
            elif name in ("-n", "--namespace"):
                namespace = value
            elif name in ("-o", "--output") and value == "json":
                as_json = True
            else:
                return ExecResult(stderr=f"alerts: invalid value for {name}: {value}\n{USAGE}", exit_code=2)
        elif word in ("-h", "--help"):
            return ExecResult(USAGE)
        elif word == "--json":
            as_json = True
        else:
            return ExecResult(stderr=f"alerts: unknown argument: {word}\n{USAGE}", exit_code=2)
    chosen = [
        alert
        for alert in found
        if state in ("all", alert.state) and namespace in ("", alert.labels.get("namespace", ""))
    ]
    return ExecResult(_json(chosen) if as_json else _table(chosen, now))


def _table(found: Sequence[Alert], now: int) -> str:
    if not found:
        return "No alerts are pending or firing.\n"
    rows = [("STATE", "SINCE", "SEVERITY", "ALERT", "SUMMARY")]
    for alert in found:
        since = human_duration((now - alert.active_at) / 1_000_000)
        rows.append((alert.state, since, alert.severity, alert.name, alert.summary))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = (
        "   ".join([*(cell.ljust(width) for cell, width in zip(row[:4], widths, strict=True)), row[4]])
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _json(found: Sequence[Alert]) -> str:
    documents = [
        {
            "labels": {"alertname": alert.name, "severity": alert.severity, **alert.labels},
            "annotations": {"summary": alert.summary},
            "state": alert.state,
            "activeAt": rfc3339(alert.active_at),
        }
        for alert in found
    ]
    return orjson.dumps({"alerts": documents}, option=orjson.OPT_INDENT_2).decode() + "\n"
