"""Queries made at random from the grammar, and spoilt ones, to look for differences to a real Prometheus."""

from __future__ import annotations

from random import Random

_VECTORS = (
    "up", 'up{job="api"}', 'http_requests_total{code="200"}', "http_requests_total", "temperature_celsius", "disk_free",
    "request_seconds_bucket", "request_seconds_count", "kube_pod_info", "kube_pod_status_phase", "odd", "tied", "sparse",
    "late_total", "gone", "lonely", "bad_bucket", "container_memory_bytes", "container_memory_limit_bytes", "left", "right",
    'odd{kind!~"cancel|holes|big|tiny"}', '{__name__=~"up|temperature_celsius"}', "process_cpu_seconds_total", "nothing",
    "boot_time_seconds", "texts",
)  # fmt: skip
_LABELS = (
    "job",
    "instance",
    "code",
    "method",
    "le",
    "pod",
    "namespace",
    "node",
    "kind",
    "host",
    "phase",
    "missing",
)
_DURATIONS = ("30s", "1m", "90s", "5m", "7m13s", "10m", "1h")
_RANGES = (
    "rate increase delta irate idelta deriv changes resets avg_over_time sum_over_time min_over_time max_over_time "
    "count_over_time stddev_over_time stdvar_over_time last_over_time present_over_time absent_over_time"
).split()
_SIMPLE = "abs ceil floor exp sqrt sgn round absent sort timestamp deg minute hour day_of_week scalar".split()
_AGGREGATIONS = "sum avg min max count group stddev stdvar".split()
_ARITHMETIC = ("+", "-", "*", "/", "%", "^")
_COMPARISONS = ("==", "!=", ">", "<", ">=", "<=")
_MARKS = (
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "by",
    "on",
    "offset",
    "@",
    "5m",
    "1",
    '"x"',
    "up",
    "bool",
    "+",
    "==",
    "=",
    "=~",
    ":",
    "sum",
    "",
)


class Queries:
    """Draws queries."""

    def __init__(self, seed: int) -> None:
        """The same for the same seed."""
        self._random = Random(seed)

    def vector(self, depth: int = 3) -> str:
        """An instant vector."""
        pick = self._random.random()
        if depth <= 0 or pick < 0.15:
            return self._random.choice(_VECTORS) + self._modifiers()
        if pick < 0.3:
            return f"{self._random.choice(_RANGES)}({self._range(depth - 1)})"
        if pick < 0.5:
            return self._aggregation(depth - 1)
        if pick < 0.62:
            return self._function(depth - 1)
        if pick < 0.7:
            return f"({self.vector(depth - 1)})"
        if pick < 0.74:
            return f"-{self.vector(depth - 1)}"
        return self._operation(depth - 1)

    def spoilt(self) -> str:
        """A query of which a word is missing, doubled or exchanged."""
        words = self.vector(2).replace("(", " ( ").replace(")", " ) ").replace("[", " [ ").replace("]", " ] ")
        words = words.replace("{", " { ").replace("}", " } ").replace(",", " , ")
        parts = words.split()
        at = self._random.randrange(len(parts))
        pick = self._random.random()
        if pick < 0.35:
            del parts[at]
        elif pick < 0.7:
            parts[at] = self._random.choice(_MARKS)
        elif pick < 0.85:
            parts.insert(at, parts[self._random.randrange(len(parts))])
        else:
            parts = parts[:at]
        return self._random.choice((" ", "")).join(parts) if self._random.random() < 0.3 else " ".join(parts)

    def _modifiers(self) -> str:
        text = ""
        if self._random.random() < 0.12:
            text += f" offset {self._random.choice(('', '-'))}{self._random.choice(_DURATIONS)}"
        if self._random.random() < 0.08:
            text += f" @ {self._random.choice(('1700001000', '1700003000.5', 'start()', 'end()'))}"
        return text

    def _range(self, depth: int) -> str:
        if depth > 0 and self._random.random() < 0.3:
            step = self._random.choice(("", "30s", "1m", "45s"))
            return f"({self.vector(depth - 1)})[{self._random.choice(_DURATIONS[3:6])}:{step}]{self._modifiers()}"
        return f"{self._random.choice(_VECTORS)}[{self._random.choice(_DURATIONS)}]{self._modifiers()}"

    def _grouping(self) -> str:
        if self._random.random() < 0.3:
            return ""
        labels = ", ".join(self._random.sample(_LABELS, self._random.randrange(4)))
        return f" {self._random.choice(('by', 'without'))} ({labels}) "

    def _aggregation(self, depth: int) -> str:
        inner = self.vector(depth)
        pick = self._random.random()
        if pick < 0.1:
            return f"{self._random.choice(('topk', 'bottomk'))}{self._grouping()}({self._random.randrange(1, 6)}, {inner})"
        if pick < 0.2:
            return f"quantile{self._grouping()}({self._random.choice(('0', '0.25', '0.9', '1', '1.5'))}, {inner})"
        if pick < 0.25:
            return f'count_values{self._grouping()}("value", {inner})'
        return f"{self._random.choice(_AGGREGATIONS)}{self._grouping()}({inner})"

    def _function(self, depth: int) -> str:
        inner = self.vector(depth)
        pick = self._random.random()
        if pick < 0.15:
            return f"histogram_quantile({self._random.choice(('0.5', '0.9', '0.99', '0', '1'))}, {inner})"
        if pick < 0.25:
            to, source = self._random.choice(_LABELS), self._random.choice(_LABELS)
            return f'label_replace({inner}, "{to}", "x$1", "{source}", "(.).*")'
        if pick < 0.35:
            return f'label_join({inner}, "{self._random.choice(_LABELS)}", "-", "job", "kind")'
        if pick < 0.42:
            return f"clamp({inner}, -5, {self._random.choice(('5', '100', '-10'))})"
        if pick < 0.48:
            return f"predict_linear({self._range(depth).split(' @')[0]}, 600)"
        if pick < 0.53:
            return f"holt_winters({self._range(depth)}, 0.4, 0.6)"
        if pick < 0.58:
            return f"quantile_over_time(0.7, {self._range(depth)})"
        if pick < 0.63:
            return f"vector({self._random.choice(('1', 'time()', f'scalar({inner})'))})"
        name = self._random.choice(_SIMPLE)
        return f"vector(scalar({inner}))" if name == "scalar" else f"{name}({inner})"

    def _operation(self, depth: int) -> str:
        left, right = self.vector(depth), self.vector(depth)
        pick = self._random.random()
        if pick < 0.2:
            return f"{left} {self._random.choice(('and', 'or', 'unless'))}{self._matching(False)} {right}"
        compares = self._random.random() < 0.4
        operator = self._random.choice(_COMPARISONS if compares else _ARITHMETIC)
        word = " bool" if compares and self._random.random() < 0.3 else ""
        if pick < 0.4:
            return f"{left} {operator}{word} {self._random.choice(('1', '0', '2.5', '-3', 'NaN', 'Inf', 'time()'))}"
        if pick < 0.5:
            return f"{self._random.choice(('1', '100', '-1'))} {operator}{word} {right}"
        if pick < 0.7:
            right = left
        return f"{left} {operator}{word}{self._matching(True)} {right}"

    def _matching(self, groups: bool) -> str:
        if self._random.random() < 0.35:
            return ""
        labels = self._random.sample(_LABELS, self._random.randrange(4))
        text = f" {self._random.choice(('on', 'ignoring'))} ({', '.join(labels)})"
        if groups and self._random.random() < 0.5:
            include = [each for each in self._random.sample(_LABELS, 2) if each not in labels]
            text += f" {self._random.choice(('group_left', 'group_right'))} ({', '.join(include[: self._random.randrange(3)])})"
        return text
