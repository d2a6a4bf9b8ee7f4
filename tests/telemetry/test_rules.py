"""Recording and alerting rules. What ``record_prometheus.py`` has promtool confirm is in ``rules_cases``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.telemetry.labels import labels_of
from sregym_env.telemetry.promql import api, rules
from sregym_env.telemetry.promql.engine import Engine
from sregym_env.telemetry.promql.rules import Alert, RecordedSource, RuleError, load_rules
from sregym_env.telemetry.series import MemorySource, Series, is_stale
from tests.telemetry.rules_cases import GROUPS, MINUTES, alerts_at, source

MINUTE = 60_000
POD = {"namespace": "shop", "pod": "a-1", "reason": "CrashLoopBackOff"}


def told(alerts: list[Alert]) -> list[tuple[str, str, int]]:
    return [(dict(alert.labels)["alertname"], alert.state, alert.active_at // MINUTE) for alert in alerts]


def test_an_alert_is_pending_until_its_time_has_passed() -> None:
    states = [[each[1:] for each in told(alerts_at("PodStatusError", minute))] for minute in range(2, 8)]
    assert states == [
        [],
        [("pending", 3)],
        [("pending", 3)],
        [("firing", 3)],
        [("firing", 3)],
        [("firing", 3)],
    ]


def test_labels_and_annotations_are_templates() -> None:
    (alert,) = alerts_at("PodStatusError", 5)
    assert dict(alert.labels) == POD | {
        "alertname": "PodStatusError", "container": "main", "severity": "critical", "where": "shop/a-1"
    }  # fmt: skip
    assert dict(alert.annotations) == {"summary": "Pod a-1 waits: CrashLoopBackOff (1)", "missing": "[]"}


def test_an_alert_is_kept_firing_and_then_is_gone() -> None:
    kept = [[each[1] for each in told(alerts_at("Kept", minute))] for minute in range(15)]
    immediate = [bool(alerts_at("Immediately", minute)) for minute in range(15)]
    assert [minute for minute in range(15) if immediate[minute]] == [3, 4, 5, 11]
    assert kept[2:13] == [[], ["pending"], *[["firing"]] * 4, ["firing"], [], [], ["pending"], []]


def test_an_alert_that_is_older_than_one_looks_at_first_has_its_true_age() -> None:
    times = np.arange(0, 600 * MINUTE, MINUTE, dtype=np.int64)
    down = Series(labels_of({"__name__": "down"}), times[100:], np.ones(500))
    (group,) = load_rules("groups: [{name: g, rules: [{alert: A, expr: down, for: 1m}]}]")
    (alert,) = rules.alerts_of(group.rules[0], group, Engine(MemorySource([down])), 599 * MINUTE)
    assert (alert.state, alert.active_at) == ("firing", 100 * MINUTE)


@given(minutes=st.lists(st.integers(0, MINUTES), min_size=1, max_size=6).map(sorted))
def test_going_on_from_what_was_left_says_what_looking_back_says(minutes: list[int]) -> None:
    engine = Engine(RecordedSource(source(), GROUPS, 0, MINUTES * MINUTE))
    for group in GROUPS:
        for rule in group.rules:
            standing = None
            for minute in minutes if rule.alert else ():
                found, standing = rules.alerts_since(rule, group, engine, minute * MINUTE, standing)
                assert found == rules.alerts_of(rule, group, engine, minute * MINUTE)


def test_recorded_series_and_alerts_can_be_queried() -> None:
    recorded = RecordedSource(source(), GROUPS, 0, MINUTES * MINUTE)
    engine = Engine(recorded)
    result = engine.query("namespace:errors:rate2m", 6 * MINUTE)
    assert [dict(labels) for labels, _, _ in result.series] == [
        {"__name__": "namespace:errors:rate2m", "from": "rules", "namespace": namespace}
        for namespace in ("hotel", "shop")
    ]
    states = engine.query_range('ALERTS{alertname="PodStatusError"}', 0, 7 * MINUTE, MINUTE)
    assert {dict(labels)["alertstate"]: (times // MINUTE).tolist() for labels, times, _ in states.series} == {
        "pending": [3, 4],
        "firing": [5, 6, 7],
    }
    since = engine.query("ALERTS_FOR_STATE", 6 * MINUTE)
    assert {float(values[0]) for _, _, values in since.series} >= {180.0}
    assert ("alertname", "Meta") in {pair for alert in alerts_at("Meta", 8) for pair in alert.labels}
    names = api.label_values(recorded, "__name__", {}).body["data"]
    assert {"ALERTS", "ALERTS_FOR_STATE", "namespace:errors:rate2m", "errors_total"} <= set(names)


def test_a_recorded_series_that_ends_is_marked_stale() -> None:
    matchers = api.parse_selector('ALERTS{alertname="PodStatusError",alertstate="pending"}')
    (series,) = RecordedSource(source(), GROUPS, 0, MINUTES * MINUTE).select(matchers, 0, 6 * MINUTE)
    assert (series.timestamps // MINUTE).tolist() == [3, 4, 5]
    assert is_stale(series.values).tolist() == [False, False, True]


def test_a_rule_does_not_see_itself() -> None:
    (group,) = load_rules("groups: [{name: g, rules: [{record: a, expr: a + 1 or vector(1)}]}]")
    engine = Engine(RecordedSource(MemorySource([]), (group,), 0, 60 * MINUTE))
    assert engine.query("a", 30 * MINUTE).series[0][2].tolist() == [1.0]


def test_the_api_shows_groups_and_alerts() -> None:
    engine = Engine(RecordedSource(source(), GROUPS, 0, MINUTES * MINUTE))
    shown = rules.rules(GROUPS, engine, {}, 5 * MINUTE + 7).body["data"]["groups"]
    assert [group["name"] for group in shown] == ["app.workloads", "app.recorded"]
    first = shown[0]["rules"][0]
    assert (first["type"], first["state"], first["duration"], first["health"]) == (
        "alerting",
        "firing",
        120,
        "ok",
    )
    assert first["alerts"][0]["activeAt"] == "1970-01-01T00:03:00Z"
    assert first["alerts"][0]["value"] == "1e+00"
    assert shown[0]["lastEvaluation"] == "1970-01-01T00:05:00Z"
    recording = rules.rules(GROUPS, engine, {"type": ["record"]}, MINUTE).body["data"]["groups"][1]["rules"]
    assert [(rule["type"], rule["name"]) for rule in recording] == [("recording", "namespace:errors:rate2m")]
    firing = rules.alerts(GROUPS, engine, 5 * MINUTE).body["data"]["alerts"]
    assert "PodStatusError" in {alert["labels"]["alertname"] for alert in firing}


def test_a_rule_that_fails_is_of_bad_health() -> None:
    text = "groups: [{name: g, rules: [{alert: A, expr: 'errors_total * on() errors_total'}]}]"
    (group,) = load_rules(text)
    (rule,) = rules.rules((group,), Engine(source()), {}, 5 * MINUTE).body["data"]["groups"][0]["rules"]
    assert rule["health"] == "err" and "many-to-many matching not allowed" in rule["lastError"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("groups: [{name: '', rules: []}]", "Groupname must not be empty"),
        ("groups: [{name: a}, {name: a}]", 'groupname: "a" is repeated'),
        ("groups: [{name: a, rules: [{expr: up}]}]", "one of 'record' or 'alert' must be set"),
        ("groups: [{name: a, rules: [{alert: x, record: y, expr: up}]}]", "only one of"),
        ("groups: [{name: a, rules: [{alert: x}]}]", "field 'expr' must be set in rule"),
        (
            "groups: [{name: a, rules: [{alert: x, expr: 'up{'}]}]",
            "could not parse expression: 1:4: parse error",
        ),
        (
            "groups: [{name: a, rules: [{record: x, expr: up, for: 5m}]}]",
            "invalid field 'for' in recording rule",
        ),
        ("groups: [{name: a, rules: [{record: 'x-y', expr: up}]}]", "invalid recording rule name: x-y"),
        ("groups: [{name: a, rules: [{alert: x, expr: up, labels: {a-b: c}}]}]", "invalid label name: a-b"),
        ("groups: [{name: a, rules: [{alert: x, expr: up, for: 5x}]}]", "not a valid duration string"),
        ("groups: [{name: a, colour: b}]", "field colour not found"),
        ("groups: [{name: a, rules: {}}]", "cannot unmarshal into a list"),
        ("- a", "cannot unmarshal into a mapping"),
        ("a: [", "yaml:"),
    ],
)
def test_files_that_prometheus_refuses_are_refused(text: str, said: str) -> None:
    with pytest.raises(RuleError) as problem:
        load_rules(text)
    assert said in str(problem.value)


def test_templates_that_cannot_be_expanded_say_so() -> None:
    text = "groups: [{name: g, rules: [{alert: A, expr: errors_total > 5, annotations: {a: '{{ nothing }}', b: '{{ humanize $labels }}'}}]}]"
    (group,) = load_rules(text)
    alert = rules.alerts_of(group.rules[0], group, Engine(source()), 5 * MINUTE)[0]
    assert all(value.startswith("<error expanding template: ") for _, value in alert.annotations)
