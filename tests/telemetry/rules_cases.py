"""Series of some minutes, the rules of ``rules.yaml``, and what their alerts are at every minute.

``record_prometheus.py`` puts the same to ``promtool test rules``, which fails where Prometheus thinks otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sregym_env.telemetry.labels import NAME, labels_of, metric_text, replaced
from sregym_env.telemetry.promql.engine import Engine
from sregym_env.telemetry.promql.parser import parse_selector
from sregym_env.telemetry.promql.rules import Alert, RecordedSource, alerts_of, load_rules
from sregym_env.telemetry.series import MemorySource, Series

MINUTE = 60_000
MINUTES = 14
FILE = Path(__file__).parent / "rules.yaml"
GROUPS = load_rules(FILE.read_text())

HISTORIES: Mapping[str, str] = {
    'kube_pod_container_status_waiting_reason{namespace="shop",pod="a-1",container="main",reason="CrashLoopBackOff"}': (
        "0 0 0 1 1 1 1 1 1 1 0 1 1 1 1"
    ),
    'errors_total{namespace="shop"}': "0 2 4 6 8 10 3 4 4 4 4 9 4 4 4",
    'errors_total{namespace="hotel"}': "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
}
"""Values at every minute from the epoch on, as promtool writes them."""


def source() -> MemorySource:
    """A source of them."""
    found = []
    for text, values in HISTORIES.items():
        matchers = parse_selector(text)
        labels = labels_of({each.name: each.value for each in matchers})
        numbers = np.array([float(each) for each in values.split()])
        found.append(Series(labels, np.arange(len(numbers), dtype=np.int64) * MINUTE, numbers))
    return MemorySource(found)


def alerts_at(name: str, minute: int) -> list[Alert]:
    """The alerts of a rule."""
    engine = Engine(RecordedSource(source(), GROUPS, 0, MINUTES * MINUTE))
    for group in GROUPS:
        for rule in group.rules:
            if rule.alert == name:
                return alerts_of(rule, group, engine, minute * MINUTE)
    raise KeyError(name)


def promtool_test() -> dict[str, Any]:
    """A test for promtool: what this package says of every alert at every minute."""
    names = [rule.alert for group in GROUPS for rule in group.rules if rule.alert]
    expected = []
    for minute in range(MINUTES):
        for name in names:
            firing = [alert for alert in alerts_at(name, minute) if alert.state == "firing"]
            expected.append(
                {
                    "eval_time": f"{minute}m",
                    "alertname": name,
                    "exp_alerts": [
                        {
                            "exp_labels": {key: value for key, value in alert.labels if key != "alertname"},
                            "exp_annotations": dict(alert.annotations),
                        }
                        for alert in firing
                    ],
                }
            )
    engine = Engine(RecordedSource(source(), GROUPS, 0, MINUTES * MINUTE))
    queries = []
    for minute in range(MINUTES):
        for query in ("namespace:errors:rate2m", "ALERTS", "ALERTS_FOR_STATE"):
            samples = [
                {"labels": metric_text(replaced(labels, NAME, dict(labels)[NAME])), "value": float(values[0])}
                for labels, _, values in engine.query(query, minute * MINUTE).series
            ]
            queries.append({"expr": query, "eval_time": f"{minute}m", "exp_samples": samples})
    return {
        "rule_files": [FILE.name],
        "evaluation_interval": "30s",
        "group_eval_order": [group.name for group in GROUPS],
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": text, "values": values} for text, values in HISTORIES.items()],
                "alert_rule_test": expected,
                "promql_expr_test": queries,
            }
        ],
    }
