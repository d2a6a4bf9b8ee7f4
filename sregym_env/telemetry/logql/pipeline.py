"""A pipeline at work: stages of the syntax tree as functions on rows."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from sregym_env.kube.gotemplate import TemplateError
from sregym_env.telemetry.logql.addresses import address_filter
from sregym_env.telemetry.logql.errors import QueryError, stage_error
from sregym_env.telemetry.logql.extractors import Step, extractor
from sregym_env.telemetry.logql.labels import ERROR, ERROR_DETAILS, Labels
from sregym_env.telemetry.logql.matching import predicate
from sregym_env.telemetry.logql.patterns import PatternError, line_pattern
from sregym_env.telemetry.logql.regexes import compiled, finder
from sregym_env.telemetry.logql.row import Row
from sregym_env.telemetry.logql.syntax import (
    AddressIs,
    Both,
    Compare,
    Decolorize,
    Distinct,
    LabelCondition,
    LabelFilter,
    LabelFormat,
    LineFilter,
    LineFormat,
    Matcher,
    Parse,
    Select,
    Stage,
    Term,
)
from sregym_env.telemetry.logql.templates import Template
from sregym_env.telemetry.logql.units import parse_bytes, parse_float, parse_go_duration

FILTER_ERROR = "LabelFilterErr"
TEMPLATE_ERROR = "TemplateFormatErr"

_Test = Callable[[str], bool]

_ANSI = (
    "[\u001b\u009b][\\[\\]()#;?]*(?:(?:(?:[a-zA-Z\\d]*(?:;[a-zA-Z\\d]*)*)?\u0007)"
    "|(?:(?:\\d{1,4}(?:;\\d{0,4})*)?[\\dA-PRZcf-ntqry=><~]))"
)
"""Terminal control sequences, as the ``ansi-regex`` family of libraries finds them."""

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


class Pipeline:
    """The stages of one query, ready for lines. It may remember lines (``distinct``), so each query makes its own."""

    __slots__ = ("_steps", "tests")

    def __init__(self, stages: Sequence[Stage], now: int) -> None:
        """``now`` is the time for templates (nanoseconds). Raises ParseError where a stage makes no sense."""
        tests: list[_Test] = []
        steps: list[Step] = []
        for is_filter, run in groupby(stages, lambda stage: isinstance(stage, LineFilter)):
            made = list(run)
            if not is_filter:
                steps += [_step(stage, now) for stage in made]
                continue
            # Loki speaks of filters that stand together as of one.
            shown = " ".join(map(str, made))
            found = [line_test(stage, shown) for stage in made if isinstance(stage, LineFilter)]
            if steps:
                steps += [_line_step(test) for test in found]
            else:
                tests += found
        self.tests: tuple[_Test, ...] = tuple(tests)
        """Filters that come first and need no labels."""
        self._steps: tuple[Step, ...] = tuple(steps)

    @property
    def plain(self) -> bool:
        """Whether lines keep the labels of their streams and their text."""
        return not self._steps

    def row(self, time: int, line: str, base: Mapping[str, str]) -> Row | None:
        """A line after all stages, or None where one dropped it."""
        for test in self.tests:
            if not test(line):
                return None
        row = Row(time, line, base)
        for step in self._steps:
            if not step(row):
                return None
        return row

    def process(
        self, time: int, line: str, labels: Labels, base: Mapping[str, str]
    ) -> tuple[str, Labels] | None:
        """A line and its labels after all stages, or None; ``base`` are the same labels by name."""
        if not self._steps:
            for test in self.tests:
                if not test(line):
                    return None
            return line, labels
        row = self.row(time, line, base)
        return None if row is None else (row.line, row.result())


def without_labels(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """The stages that are left where nobody asks for labels, neither behind the pipeline nor in it.

    Loki does not look for labels then, so lines that could not be parsed are no errors.
    """
    if any(_needs_labels(stage) for stage in stages):
        return tuple(stages)
    return tuple(stage for stage in stages if not isinstance(stage, Parse) or stage.kind == "regexp")


_FIELD = re.compile(r"\{\{.*\.[A-Za-z_]", re.DOTALL)


def _needs_labels(stage: Stage) -> bool:
    match stage:
        case LabelFilter() | Distinct():
            return True
        case LineFormat():
            return _FIELD.search(stage.template) is not None
        case LabelFormat():
            return any(each.rename or _FIELD.search(each.value) for each in stage.formats)
        case _:
            return False


# --- filters of lines ---------------------------------------------------------------------------------


def line_test(stage: LineFilter, shown: str) -> _Test:
    """Whether a line passes a filter, which errors call ``shown``. Raises ParseError."""
    tests = [_term_test(stage.operation, term, shown) for term in stage.terms]
    passes = tests[0] if len(tests) == 1 else _any(tests)
    return (lambda line: not passes(line)) if stage.operation[0] == "!" else passes


def _any(tests: Sequence[_Test]) -> _Test:
    return lambda line: any(test(line) for test in tests)


def _term_test(operation: str, term: Term, shown: str) -> _Test:
    try:
        if term.address:
            if operation not in ("|=", "!="):
                raise PatternError("ip: invalid operation")
            return address_filter(term.text)
        if operation in ("|=", "!="):
            text = term.text
            return lambda line: text in line
        if operation in ("|>", "!>"):
            return line_pattern(term.text).fits
        return finder(term.text)
    except (QueryError, ValueError) as error:
        raise stage_error(shown, str(error)) from None


def _line_step(test: _Test) -> Step:
    return lambda row: test(row.line)


# --- filters of labels --------------------------------------------------------------------------------


def condition_step(condition: LabelCondition, stage: object) -> Step:
    """A condition on labels at work. Raises ParseError."""
    match condition:
        case Matcher():
            return _matcher_step(condition)
        case Compare():
            return _compare_step(condition)
        case AddressIs():
            return _address_step(condition, stage)
        case Both():
            left, right = condition_step(condition.left, stage), condition_step(condition.right, stage)
            if condition.all:
                # Both sides are looked at: what cannot be compared is noted, whatever the other side says.
                return lambda row: left(row) & right(row)
            return lambda row: left(row) or right(row)


def _matcher_step(matcher: Matcher) -> Step:
    test, name = predicate(matcher), matcher.name
    if name in (ERROR, ERROR_DETAILS):
        return lambda row: test(row.get(name) or "")
    return lambda row: test(row.labels.get(name, ""))


def _compare_step(condition: Compare) -> Step:
    name, wanted = condition.name, condition.value
    compare = _COMPARED[condition.operation]
    read: Callable[[str], float]
    match condition.kind:
        case "duration":
            read = parse_go_duration
        case "bytes":
            read = parse_bytes
        case _:
            read = parse_float

    def step(row: Row) -> bool:
        text = row.labels.get(name)
        if text is None:
            return False
        try:
            return compare(read(text), wanted)
        except ValueError as error:
            if not row.error:
                row.fail(FILTER_ERROR, str(error))
            return True

    return step


def _address_step(condition: AddressIs, stage: object) -> Step:
    try:
        holds = address_filter(condition.pattern)
    except ValueError as error:
        raise stage_error(stage, str(error)) from None
    name, wanted = condition.name, condition.operation == "="

    def step(row: Row) -> bool:
        if row.error:
            return True
        text = row.labels.get(name)
        return text is not None and holds(text) is wanted

    return step


# --- other stages -------------------------------------------------------------------------------------


def _step(stage: Stage, now: int) -> Step:
    match stage:
        case LineFilter():
            return _line_step(line_test(stage, str(stage)))
        case LabelFilter():
            return condition_step(stage.condition, stage)
        case Parse():
            return extractor(stage)
        case LineFormat():
            return _line_format(stage, now)
        case LabelFormat():
            return _label_format(stage, now)
        case Decolorize():
            return _decolorize
        case Select():
            return _drop(stage) if stage.kind == "drop" else _keep(stage)
        case Distinct():
            return _distinct(stage)


def _line_format(stage: LineFormat, now: int) -> Step:
    try:
        template = Template(stage.template, "line", now)
    except TemplateError as error:
        raise stage_error(stage, f"invalid line template: {error}") from None

    def step(row: Row) -> bool:
        try:
            row.line = template.render(row)
        except TemplateError as error:
            row.fail(TEMPLATE_ERROR, str(error))
        return True

    return step


def _label_format(stage: LabelFormat, now: int) -> Step:
    seen: list[str] = []
    changes: list[tuple[str, str | Template]] = []
    for each in stage.formats:
        if each.name == ERROR:
            raise stage_error(stage, f"{ERROR} cannot be formatted")
        if each.name in seen:
            problem = f"multiple label name '{each.name}' not allowed in a single format operation"
            raise stage_error(stage, problem)
        seen.append(each.name)
        if each.rename:
            changes.append((each.name, each.value))
            continue
        try:
            changes.append((each.name, Template(each.value, "label", now)))
        except TemplateError as error:
            raise stage_error(stage, f"invalid template for label '{each.name}': {error}") from None

    def step(row: Row) -> bool:
        for name, change in changes:
            if isinstance(change, str):
                value = row.get(change)
                if value is not None:
                    row.labels.pop(change, None)
                    row.labels[name] = value
                continue
            try:
                row.labels[name] = change.render(row)
            except TemplateError as error:
                row.fail(TEMPLATE_ERROR, str(error))
        return True

    return step


def _decolorize(row: Row) -> bool:
    row.line = compiled(_ANSI).sub("", row.line)
    return True


def _drop(stage: Select) -> Step:
    wanted = [_selected(each) for each in stage.labels]

    def step(row: Row) -> bool:
        for name, test in wanted:
            value = row.get(name)
            if value is None or (test is not None and not test(value)):
                continue
            if name == ERROR:
                row.error = row.details = ""
            elif name == ERROR_DETAILS:
                row.details = ""
            else:
                del row.labels[name]
        return True

    return step


def _keep(stage: Select) -> Step:
    wanted = [_selected(each) for each in stage.labels]

    def step(row: Row) -> bool:
        kept = {}
        for name, test in wanted:
            value = row.labels.get(name)
            if value is not None and (test is None or test(value)):
                kept[name] = value
        row.labels = kept
        return True

    return step


def _selected(label: str | Matcher) -> tuple[str, _Test | None]:
    return (label, None) if isinstance(label, str) else (label.name, predicate(label))


def _distinct(stage: Distinct) -> Step:
    seen: dict[str, set[str]] = {name: set() for name in stage.names}

    def step(row: Row) -> bool:
        # Each label by itself, and those before one that has been seen are noted all the same.
        for name, values in seen.items():
            value = row.get(name)
            if value is None or value in values:
                return False
            values.add(value)
        return True

    return step
