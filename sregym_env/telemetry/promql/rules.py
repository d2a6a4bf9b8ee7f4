"""Recording and alerting rules, evaluated when somebody asks.

A group is evaluated at the multiples of its interval. Nothing is kept: what a rule says at an instant follows from a
range query that reaches back far enough, and what it has recorded is rendered when it is selected
(:class:`RecordedSource`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import numpy as np
import yaml

from sregym_env.kube.yamlin import load
from sregym_env.runtime import effort
from sregym_env.telemetry.gotext import quote, scientific, special
from sregym_env.telemetry.labels import NAME, Labels, nameless, replaced
from sregym_env.telemetry.promql.api import Parameters, Response, failure, success
from sregym_env.telemetry.promql.durations import MINUTE, parse_duration
from sregym_env.telemetry.promql.engine import Engine, Options
from sregym_env.telemetry.promql.errors import BadData, ParseError, QueryError, QueryTimeout, TooManySamples
from sregym_env.telemetry.promql.parser import parse
from sregym_env.telemetry.promql.templates import expand
from sregym_env.telemetry.series import STALE, Matcher, Metadata, Series, SeriesSource, fitting

State = Literal["inactive", "pending", "firing"]

_EVALUATION = 0.5
"""Units of effort that one evaluation of one alert costs."""

LONGEST_PAST = 7 * 24 * 60 * MINUTE
"""How far back the beginning of an alert is looked for, in milliseconds."""


class RuleError(ValueError):
    """A file of rules that Prometheus would refuse."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: a recording one has ``record``, an alerting one ``alert``."""

    expression: str
    record: str = ""
    alert: str = ""
    hold: int = 0
    """``for``, milliseconds"""
    keep_firing: int = 0
    """``keep_firing_for``, milliseconds"""
    labels: Labels = ()
    annotations: Labels = ()

    @property
    def name(self) -> str:
        """Of what it makes."""
        return self.record or self.alert


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that are evaluated together."""

    name: str
    rules: tuple[Rule, ...]
    interval: int = MINUTE
    """milliseconds"""
    limit: int = 0
    file: str = "/etc/config/alerting_rules.yml"

    def last(self, time_ms: int) -> int:
        """The last evaluation until an instant."""
        return time_ms // self.interval * self.interval


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert that is pending or firing."""

    labels: Labels
    annotations: Labels
    state: State
    active_at: int
    """milliseconds"""
    value: float


# --- files ------------------------------------------------------------------------------------------


def load_rules(text: str, interval: int = MINUTE, file: str = "") -> tuple[Group, ...]:
    """The groups of a file; ``interval`` is theirs who say none. Raises RuleError."""
    try:
        document = load(text)
    except yaml.YAMLError as error:
        raise RuleError(f"yaml: {error}") from None
    document = _mapping(document or {}, "file", ("groups",))
    groups: list[Group] = []
    for number, given in enumerate(_list(document.get("groups"))):
        entry = _mapping(given, f"group {number}", ("name", "interval", "limit", "rules", "query_offset"))
        name = str(entry.get("name") or "")
        if not name:
            raise RuleError("Groupname must not be empty")
        if any(group.name == name for group in groups):
            raise RuleError(f"groupname: {quote(name)} is repeated in the same file")
        rules = tuple(_rule(name, at, rule) for at, rule in enumerate(_list(entry.get("rules")), start=1))
        every = _duration(entry.get("interval")) or interval
        limit = entry.get("limit") or 0
        if not isinstance(limit, int):
            raise RuleError(f"group {quote(name)}: limit must be a number")
        group = Group(name, rules, every, limit)
        groups.append(replace(group, file=file) if file else group)
    return tuple(groups)


def _mapping(given: Any, what: str, known: Sequence[str]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise RuleError(f"{what}: cannot unmarshal into a mapping")
    for key in given:
        if key not in known:
            raise RuleError(f"{what}: field {key} not found")
    return given


def _list(given: Any) -> list[Any]:
    if given is not None and not isinstance(given, list):
        raise RuleError("cannot unmarshal into a list")
    return given or []


def _duration(given: Any) -> int:
    if given is None:
        return 0
    try:
        return parse_duration(str(given))
    except ValueError as error:
        raise RuleError(str(error)) from None


_FIELDS = ("record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations")


def _rule(group: str, number: int, given: Any) -> Rule:
    entry = _mapping(given, f"group {quote(group)}, rule {number}", _FIELDS)
    record, alert = str(entry.get("record") or ""), str(entry.get("alert") or "")
    where = f"group {quote(group)}, rule {number}, {quote(record or alert)}: "
    if record and alert:
        raise RuleError(f"{where}only one of 'record' and 'alert' must be set")
    if not record and not alert:
        raise RuleError(f"{where}one of 'record' or 'alert' must be set")
    expression = entry.get("expr")
    if expression is None or expression == "":
        raise RuleError(f"{where}field 'expr' must be set in rule")
    try:
        parse(str(expression))
    except ParseError as error:
        raise RuleError(f"{where}could not parse expression: {error}") from None
    if record:
        for field in ("annotations", "for", "keep_firing_for"):
            if entry.get(field):
                raise RuleError(f"{where}invalid field '{field}' in recording rule")
        if not record.replace(":", "_").isidentifier() or not record.isascii():
            raise RuleError(f"{where}invalid recording rule name: {record}")
    labels = _texts(entry.get("labels"), where)
    for name in labels:
        if not name.isidentifier() or not name.isascii() or name == NAME:
            raise RuleError(f"{where}invalid label name: {name}")
    return Rule(
        expression=str(expression),
        record=record,
        alert=alert,
        hold=_duration(entry.get("for")),
        keep_firing=_duration(entry.get("keep_firing_for")),
        labels=tuple(sorted(labels.items())),
        annotations=tuple(sorted(_texts(entry.get("annotations"), where).items())),
    )


def _texts(given: Any, where: str) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise RuleError(f"{where}cannot unmarshal into a mapping of texts")
    return {str(key): str(value) for key, value in given.items()}


# --- alerts -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Life:
    """What evaluations one after another make of one element of an alerting rule."""

    since: int | None = None
    """Since when it is active; None while it is not."""
    fired: bool = False
    kept: int | None = None
    """Since when it is not there any more and only keeps firing."""
    value: float = 0.0
    labels: Labels = ()
    """The labels of the sample it came from last."""

    def evaluated(self, rule: Rule, step: int, found: tuple[float, Labels] | None) -> None:
        """One evaluation more, at which the element was there or not."""
        if found is not None:
            self.value, self.labels = found
            self.kept = None
            if self.since is None:
                self.since = step
        elif self.since is None:
            return
        else:
            self.kept = step if self.kept is None else self.kept
            if not self.fired or step - self.kept >= rule.keep_firing:
                self.since, self.fired, self.kept = None, False, None
                return
        self.fired = self.fired or step - self.since >= rule.hold


_Elements = dict[Labels, dict[int, tuple[float, Labels]]]


def _elements(rule: Rule, engine: Engine, first: int, last: int, interval: int) -> _Elements:
    """What an alerting rule's expression has found: labels of alerts, evaluations, (value, labels of the sample)."""
    found: _Elements = {}
    plain = not any("{{" in text for _, text in rule.labels)
    for labels, times, values in engine.query_range(rule.expression, first, last, interval).series:
        own = _labelled(rule, engine, labels, 0.0, first) if plain else ()
        for time, value in zip(times.tolist(), values.tolist(), strict=True):
            key = own if plain else _labelled(rule, engine, labels, value, time)
            if found.setdefault(key, {}).setdefault(time, (value, labels))[1] != labels:
                raise QueryError("vector contains metrics with the same labelset after applying alert labels")
    return found


def _labelled(rule: Rule, engine: Engine, labels: Labels, value: float, time_ms: int) -> Labels:
    """The labels of an alert: the element's, the rule's own, and the name."""
    own = nameless(labels)
    for name, text in rule.labels:
        own = replaced(own, name, expand(text, labels, value, engine, time_ms))
    return replaced(own, "alertname", rule.alert)


def _reaching(rule: Rule, group: Group, engine: Engine, first: int, last: int) -> _Elements:
    """What was found from an evaluation on at which no alert of ``first`` had begun yet, as far as one can look."""
    reach = rule.hold + rule.keep_firing + 5 * group.interval
    elements: _Elements | None = None
    while True:
        begin = group.last(first - min(reach, LONGEST_PAST))
        try:
            elements = _elements(rule, engine, begin, last, group.interval)
        except (TooManySamples, QueryTimeout):
            if elements is None:
                raise
            return elements
        if reach >= LONGEST_PAST or not any(begin in times for times in elements.values()):
            return elements
        reach *= 4


@dataclass(frozen=True, slots=True)
class Standing:
    """What the evaluations of an alerting rule have left up to one instant: where the next ones go on."""

    time_ms: int
    """Of the last of them."""
    lives: Mapping[Labels, _Life]
    """Of the elements that are active; never changed."""


def _lived(
    rule: Rule, group: Group, found: Mapping[int, tuple[float, Labels]], last: int
) -> Iterator[tuple[int, _Life]]:
    """An element's life, evaluation after evaluation from the first that found it."""
    return _living(_Life(), rule, group, found, min(found), last)


def _living(
    life: _Life, rule: Rule, group: Group, found: Mapping[int, tuple[float, Labels]], first: int, last: int
) -> Iterator[tuple[int, _Life]]:
    steps = range(first, last + 1, group.interval)
    effort.spend(_EVALUATION * len(steps))
    for step in steps:
        life.evaluated(rule, step, found.get(step))
        yield step, life


def alerts_of(rule: Rule, group: Group, engine: Engine, time_ms: int) -> list[Alert]:
    """The alerts of a rule as its group's last evaluation has left them. Raises QueryError."""
    return alerts_since(rule, group, engine, time_ms, None)[0]


def alerts_since(
    rule: Rule, group: Group, engine: Engine, time_ms: int, before: Standing | None
) -> tuple[list[Alert], Standing]:
    """The alerts of a rule as its group's last evaluation has left them, and how to go on from there.

    What earlier evaluations left (``before``) saves looking at them again. Raises QueryError.
    """
    last = group.last(time_ms)
    now = None if rule.keep_firing else _elements(rule, engine, last, last, group.interval)
    if now is not None and not now:
        return [], Standing(last, {})  # whatever it was, it is over
    lives = _lives(rule, group, engine, last, before, now)
    found = []
    for own, life in lives.items():
        assert life.since is not None
        said = [
            (name, expand(text, life.labels, life.value, engine, last)) for name, text in rule.annotations
        ]
        state: State = "firing" if life.fired else "pending"
        found.append(Alert(own, tuple(said), state, life.since, life.value))
    if group.limit and len(found) > group.limit:
        raise QueryError(f"exceeded limit of {group.limit} with {len(found)} alerts")
    return found, Standing(last, lives)


def _lives(
    rule: Rule, group: Group, engine: Engine, last: int, before: Standing | None, now: _Elements | None
) -> dict[Labels, _Life]:
    """The lives of a rule's active elements after its evaluation at ``last``, which has found ``now``."""
    known: Mapping[Labels, _Life] = {}
    next_one = last
    if before is None or not 0 <= last - before.time_ms <= LONGEST_PAST:
        elements = _reaching(rule, group, engine, last, last)
    else:
        known, next_one = before.lives, before.time_ms + group.interval
        if next_one > last:
            elements = {}
        elif next_one == last and now is not None:
            elements = now
        else:
            elements = _elements(rule, engine, next_one, last, group.interval)
    lives = {}
    for own in sorted({**known, **elements}):
        found = elements.get(own, {})
        life, first = (replace(known[own]), next_one) if own in known else (_Life(), min(found))
        for _ in _living(life, rule, group, found, first, last):
            pass
        if life.since is not None:
            lives[own] = life
    return lives


def state_of(alerts: Iterable[Alert]) -> State:
    """The state of a rule: that of its furthest alert."""
    states = {alert.state for alert in alerts}
    return "firing" if "firing" in states else "pending" if "pending" in states else "inactive"


# --- recorded series --------------------------------------------------------------------------------


class RecordedSource:
    """A source and what rules record about it: their own series, ``ALERTS`` and ``ALERTS_FOR_STATE``.

    A rule sees what the rules before it record, but not itself. Rules are evaluated from ``since_ms`` to ``until_ms``;
    one whose expression fails records nothing.
    """

    __slots__ = ("_groups", "_known", "_options", "_since", "_source", "_until")

    def __init__(
        self,
        source: SeriesSource,
        groups: Sequence[Group],
        since_ms: int,
        until_ms: int,
        options: Options | None = None,
        known: dict[tuple[int, int, int, int], list[Series]] | None = None,
    ) -> None:
        """Add the rules of ``groups`` to ``source``. ``known`` is what others found that has the same source and rules
        (group, place of the rule, from when to when), and grows."""
        self._source = source
        self._groups = groups
        self._since = since_ms
        self._until = until_ms
        self._options = options
        self._known = {} if known is None else known

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Iterable[Series]:
        """See :class:`~sregym_env.telemetry.series.SeriesSource`."""
        yield from self._source.select(matchers, start_ms, end_ms)
        yield from self._recorded(matchers, max(start_ms, self._since), min(end_ms, self._until))

    def labels(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Iterable[Labels]:
        """See :class:`~sregym_env.telemetry.series.SeriesSource`."""
        yield from self._source.labels(matchers, start_ms, end_ms)
        for each in self._recorded(matchers, max(start_ms, self._since), min(end_ms, self._until)):
            yield each.labels

    def metadata(self) -> Mapping[str, Sequence[Metadata]]:
        """See :class:`~sregym_env.telemetry.series.SeriesSource`."""
        return self._source.metadata()

    def _recorded(self, matchers: Sequence[Matcher], start: int, end: int) -> Iterable[Series]:
        names = [matcher for matcher in matchers if matcher.name == NAME]
        fits = fitting(matchers)
        for at, group in enumerate(self._groups):
            first, last = -(-start // group.interval) * group.interval, group.last(end)
            if last < first:
                continue
            for place, rule in enumerate(group.rules):
                made = (rule.record,) if rule.record else (_ALERTS, _FOR_STATE)
                if not any(all(matcher.matches(name) for matcher in names) for name in made):
                    continue
                key = (at, place, first, last)
                found = self._known.get(key)
                if found is None:
                    before = (*self._groups[:at], replace(group, rules=group.rules[:place]))
                    seen = RecordedSource(
                        self._source, before, self._since, self._until, self._options, self._known
                    )
                    made_of = _recorded if rule.record else _alerted
                    try:
                        found = made_of(rule, group, Engine(seen, self._options), first, last)
                    except QueryError:
                        continue
                    self._known[key] = found
                yield from (each for each in found if fits(each.labels))


_ALERTS = "ALERTS"
_FOR_STATE = "ALERTS_FOR_STATE"


def _recorded(rule: Rule, group: Group, engine: Engine, first: int, last: int) -> list[Series]:
    """What a recording rule writes from one evaluation to another."""
    result = engine.query_range(rule.expression, first, last, group.interval)
    found: dict[Labels, Series] = {}
    for labels, times, values in result.series:
        own = labels
        for name, text in (*rule.labels, (NAME, rule.record)):
            own = replaced(own, name, text)
        if own in found:
            raise QueryError("vector contains metrics with the same labelset after applying rule labels")
        found[own] = _ending(own, dict(zip(times.tolist(), values.tolist(), strict=True)), group, last)
    return list(found.values())


def _ending(labels: Labels, values: Mapping[int, float], group: Group, last: int) -> Series:
    """A series with a stale marker after each stretch of evaluations that had it."""
    points: list[tuple[int, float]] = []
    for time, value in values.items():
        points.append((time, value))
        if time + group.interval not in values and time < last:
            points.append((time + group.interval, STALE))
    times = np.array([time for time, _ in points], dtype=np.int64)
    return Series(labels, times, np.array([value for _, value in points], dtype=np.float64))


def _alerted(rule: Rule, group: Group, engine: Engine, first: int, last: int) -> list[Series]:
    """``ALERTS`` and ``ALERTS_FOR_STATE`` of an alerting rule."""
    elements = _reaching(rule, group, engine, first, last)
    found: dict[Labels, dict[int, float]] = {}
    for own, times in elements.items():
        for step, life in _lived(rule, group, times, last):
            if step < first or life.since is None:
                continue
            state = replaced(own, "alertstate", "firing" if life.fired else "pending")
            found.setdefault(replaced(state, NAME, _ALERTS), {})[step] = 1.0
            found.setdefault(replaced(own, NAME, _FOR_STATE), {})[step] = life.since // 1000
    return [_ending(labels, values, group, last) for labels, values in found.items()]


# --- the API ----------------------------------------------------------------------------------------


def alerts(groups: Sequence[Group], engine: Engine, time_ms: int) -> Response:
    """``/api/v1/alerts`` at an instant."""
    found: list[dict[str, Any]] = []
    for group in groups:
        for rule in group.rules:
            if rule.alert:
                try:
                    found.extend(_alert_json(alert) for alert in alerts_of(rule, group, engine, time_ms))
                except QueryError:
                    continue  # the rule's health says so
    return success({"alerts": found})


def rules(groups: Sequence[Group], engine: Engine, parameters: Parameters, time_ms: int) -> Response:
    """``/api/v1/rules`` at an instant."""
    wanted = (list(parameters.get("type", ())) or [""])[0].lower()
    if wanted not in ("", "alert", "record"):
        return failure(BadData(f'invalid parameter "type": not supported value {quote(wanted)}'))
    shown = []
    for group in groups:
        kept = [rule for rule in group.rules if not wanted or (wanted == "alert") is bool(rule.alert)]
        shown.append(
            {
                "name": group.name,
                "file": group.file,
                "rules": [_rule_json(rule, group, engine, time_ms) for rule in kept],
                "interval": group.interval / 1000,
                "limit": group.limit,
                "evaluationTime": 0,
                "lastEvaluation": _rfc3339(group.last(time_ms)),
            }
        )
    return success({"groups": shown})


def _rule_json(rule: Rule, group: Group, engine: Engine, time_ms: int) -> dict[str, Any]:
    state: State = "inactive"
    found: list[Alert] = []
    health, error = "ok", ""
    try:
        if rule.alert:
            found = alerts_of(rule, group, engine, time_ms)
            state = state_of(found)
        else:
            _recorded(rule, group, engine, group.last(time_ms), group.last(time_ms))
    except QueryError as problem:
        health, error = "err", str(problem)
    shown: dict[str, Any] = {"name": rule.name, "query": str(parse(rule.expression))}
    if rule.labels or rule.alert:
        shown["labels"] = dict(rule.labels)
    if rule.alert:
        shown |= {
            "state": state,
            "duration": rule.hold / 1000,
            "keepFiringFor": rule.keep_firing / 1000,
            "annotations": dict(rule.annotations),
            "alerts": [_alert_json(alert) for alert in found],
        }
    shown |= {"health": health, "evaluationTime": 0, "lastEvaluation": _rfc3339(group.last(time_ms))}
    if error:
        shown["lastError"] = error
    return shown | {"type": "alerting" if rule.alert else "recording"}


def _alert_json(alert: Alert) -> dict[str, Any]:
    return {
        "labels": dict(alert.labels),
        "annotations": dict(alert.annotations),
        "state": alert.state,
        "activeAt": _rfc3339(alert.active_at),
        "value": special(alert.value) or scientific(alert.value),
    }


def _rfc3339(milliseconds: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    fraction = f".{moment.microsecond:06d}".rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"
