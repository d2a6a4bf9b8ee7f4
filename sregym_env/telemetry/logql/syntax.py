"""What a query is once it is parsed: frozen values, whose ``str`` is the query as Loki writes it back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sregym_env.kube.durations import format_duration
from sregym_env.kube.status import go_quote
from sregym_env.telemetry.logql.units import bytes_text, float_text, range_text

# --- which streams, which lines -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Matcher:
    """``app="web"``: a label and what its value must be like (``=``, ``!=``, ``=~``, ``!~``)."""

    name: str
    operation: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}{self.operation}{go_quote(self.value)}"


@dataclass(frozen=True, slots=True)
class Term:
    """What a line filter looks for: a text, a pattern, or an address (``ip("10.0.0.0/8")``)."""

    text: str
    address: bool = False

    def __str__(self) -> str:
        return f"ip({go_quote(self.text)})" if self.address else go_quote(self.text)


@dataclass(frozen=True, slots=True)
class LineFilter:
    """``|= "a" or "b"``: any of the terms. A negative filter has one: ``!= "a" or "b"`` is ``!= "a" != "b"``."""

    operation: str
    """``|=``, ``!=``, ``|~``, ``!~``, ``|>`` or ``!>``."""
    terms: tuple[Term, ...]

    def __str__(self) -> str:
        return f"{self.operation} " + " or ".join(map(str, self.terms))


@dataclass(frozen=True, slots=True)
class Compare:
    """``latency > 5ms``: a label's value as a number, a duration or a size against another."""

    name: str
    operation: str
    """``==``, ``!=``, ``>``, ``>=``, ``<`` or ``<=``."""
    value: float
    kind: str
    """``number``, ``duration`` (nanoseconds) or ``bytes``."""

    def __str__(self) -> str:
        if self.kind == "duration":
            text = format_duration(int(self.value))
        else:
            text = bytes_text(int(self.value)) if self.kind == "bytes" else float_text(self.value)
        return f"{self.name}{self.operation}{text}"


@dataclass(frozen=True, slots=True)
class AddressIs:
    """``client = ip("10.0.0.0/8")``."""

    name: str
    operation: str
    """``=`` or ``!=``."""
    pattern: str

    def __str__(self) -> str:
        return f"{self.name}{self.operation}ip({go_quote(self.pattern)})"


@dataclass(frozen=True, slots=True)
class Both:
    """Two filters that must both hold (``and``) or one of which must (``or``)."""

    left: LabelCondition
    right: LabelCondition
    all: bool

    def __str__(self) -> str:
        return f"( {self.left} {',' if self.all else 'or'} {self.right} )"


LabelCondition = Matcher | Compare | AddressIs | Both

# --- stages of a pipeline -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelFilter:
    """``| level = "error"``."""

    condition: LabelCondition

    def __str__(self) -> str:
        return f"| {self.condition}"


@dataclass(frozen=True, slots=True)
class Extraction:
    """``name="expression"`` behind ``json`` and ``logfmt``."""

    name: str
    expression: str

    def __str__(self) -> str:
        return f"{self.name}={go_quote(self.expression)}"


@dataclass(frozen=True, slots=True)
class Parse:
    """A stage that finds labels in a line: ``json``, ``logfmt``, ``regexp``, ``pattern`` or ``unpack``."""

    kind: str
    pattern: str = ""
    """Of ``regexp`` and ``pattern``."""
    flags: tuple[str, ...] = ()
    """Of ``logfmt``: ``--strict``, ``--keep-empty``."""
    fields: tuple[Extraction, ...] = ()
    """Of ``json`` and ``logfmt``; none for all that is there."""

    def __str__(self) -> str:
        words = ["|", self.kind]
        if self.kind in ("regexp", "pattern"):
            words.append(go_quote(self.pattern))
        words += [flag for flag in ("--strict", "--keep-empty") if flag in self.flags]
        if self.fields:
            words.append(",".join(map(str, self.fields)))
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class LineFormat:
    """``| line_format "{{.level}}"``."""

    template: str

    def __str__(self) -> str:
        return f"| line_format {go_quote(self.template)}"


@dataclass(frozen=True, slots=True)
class Formatted:
    """``new=old`` (a label takes another's value and the other goes) or ``new="template"``."""

    name: str
    value: str
    rename: bool

    def __str__(self) -> str:
        return f"{self.name}={self.value if self.rename else go_quote(self.value)}"


@dataclass(frozen=True, slots=True)
class LabelFormat:
    """``| label_format a=b, c="{{.d}}"``."""

    formats: tuple[Formatted, ...]

    def __str__(self) -> str:
        return "| label_format " + ",".join(map(str, self.formats))


@dataclass(frozen=True, slots=True)
class Decolorize:
    """``| decolorize``: terminal colours go."""

    def __str__(self) -> str:
        return "| decolorize"


@dataclass(frozen=True, slots=True)
class Select:
    """``| drop a, b="c"`` and ``| keep a, b="c"``: labels by name, or by name and value."""

    kind: str
    labels: tuple[str | Matcher, ...]

    def __str__(self) -> str:
        return f"| {self.kind} " + ",".join(map(str, self.labels))


@dataclass(frozen=True, slots=True)
class Distinct:
    """``| distinct a, b``: lines with a value of each label that no line before had."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return "| distinct " + ",".join(self.names)


Stage = LineFilter | LabelFilter | Parse | LineFormat | LabelFormat | Decolorize | Select | Distinct


@dataclass(frozen=True, slots=True)
class Selector:
    """A log query: streams by their labels, and what is done with each of their lines."""

    matchers: tuple[Matcher, ...]
    stages: tuple[Stage, ...] = ()

    def __str__(self) -> str:
        streams = "{" + ", ".join(map(str, self.matchers)) + "}"
        return " ".join([streams, *map(str, self.stages)])


# --- metric queries -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unwrap:
    """``| unwrap duration(latency) | __error__=""``: the label whose value is the sample."""

    name: str
    conversion: str = ""
    """Empty, ``bytes``, ``duration`` or ``duration_seconds``."""
    conditions: tuple[LabelCondition, ...] = ()

    def __str__(self) -> str:
        name = f"{self.conversion}({self.name})" if self.conversion else self.name
        return f" | unwrap {name}" + "".join(f" | {each}" for each in self.conditions)


@dataclass(frozen=True, slots=True)
class LogRange:
    """``{app="web"} |= "x" | unwrap y [5m] offset 1h``. Nanoseconds."""

    selector: Selector
    interval: int
    offset: int = 0
    unwrap: Unwrap | None = None

    def __str__(self) -> str:
        offset = f" offset {format_duration(self.offset)}" if self.offset else ""
        return f"{self.selector}{self.unwrap or ''}[{range_text(self.interval)}]{offset}"


@dataclass(frozen=True, slots=True)
class Grouping:
    """``by (a)`` and ``without (a)``."""

    names: tuple[str, ...] = ()
    without: bool = False

    def __str__(self) -> str:
        return f"{'without' if self.without else 'by'} ({','.join(self.names)})"


@dataclass(frozen=True, slots=True)
class RangeAggregation:
    """``rate({app="web"}[5m])``."""

    operation: str
    range: LogRange
    parameter: float | None = None
    grouping: Grouping | None = None

    def __str__(self) -> str:
        parameter = "" if self.parameter is None else f"{float_text(self.parameter)},"
        grouping = f" {self.grouping}" if self.grouping else ""
        return f"{self.operation}({parameter}{self.range}){grouping}"


@dataclass(frozen=True, slots=True)
class VectorAggregation:
    """``sum by (app) (...)``, ``topk(5, ...)``."""

    operation: str
    of: MetricExpr
    parameter: int = 0
    grouping: Grouping | None = None

    def __str__(self) -> str:
        grouping = f" {self.grouping} " if self.grouping else ""
        parameter = f"{self.parameter}," if self.parameter else ""
        return f"{self.operation}{grouping}({parameter}{self.of})"


@dataclass(frozen=True, slots=True)
class Matching:
    """How samples of two vectors find each other: ``on (a) group_left (b)``."""

    on: bool = False
    names: tuple[str, ...] | None = None
    """None where nothing is said."""
    group: str = ""
    """Empty, ``group_left`` or ``group_right``."""
    include: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.names is None:
            return ""
        words = f" {'on' if self.on else 'ignoring'} ({','.join(self.names)})"
        if self.group:
            words += f" {self.group}" + (f" ({','.join(self.include)})" if self.include else "")
        return words


@dataclass(frozen=True, slots=True)
class BinaryOperation:
    """``a / b``, ``a > bool 5``, ``a and on (app) b``."""

    operation: str
    left: MetricExpr
    right: MetricExpr
    as_bool: bool = False
    matching: Matching = Matching()

    def __str__(self) -> str:
        words = f"{self.operation}{' bool' if self.as_bool else ''}{self.matching}"
        return f"({self.left} {words} {self.right})"


@dataclass(frozen=True, slots=True)
class Literal:
    """A number by itself."""

    value: float

    def __str__(self) -> str:
        return float_text(self.value)


@dataclass(frozen=True, slots=True)
class VectorOf:
    """``vector(5)``."""

    value: float

    def __str__(self) -> str:
        return f"vector({self.value:f})"


@dataclass(frozen=True, slots=True)
class LabelReplace:
    """``label_replace(v, "new", "$1", "old", "(.*)")``."""

    of: MetricExpr
    name: str
    replacement: str
    source: str
    pattern: str

    def __str__(self) -> str:
        words = map(go_quote, (self.name, self.replacement, self.source, self.pattern))
        return f"label_replace({self.of},{','.join(words)})"


MetricExpr = RangeAggregation | VectorAggregation | BinaryOperation | Literal | VectorOf | LabelReplace
Expr = Selector | MetricExpr


def ranges(expr: Expr) -> Iterator[RangeAggregation]:
    """The aggregations over ranges of lines that a query is made of, from left to right."""
    match expr:
        case RangeAggregation():
            yield expr
        case VectorAggregation() | LabelReplace():
            yield from ranges(expr.of)
        case BinaryOperation():
            yield from ranges(expr.left)
            yield from ranges(expr.right)
        case _:
            return
