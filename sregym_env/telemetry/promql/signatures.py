"""The functions of PromQL: what they take and what they give."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.telemetry.promql.syntax import ValueType


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's arguments and result."""

    name: str
    arguments: tuple[ValueType, ...]
    result: ValueType = "vector"
    variadic: int = 0
    """Of the last argument: how many more than all others may be given; -1 for any number; 0 for exactly one."""


def _signatures() -> dict[str, Signature]:
    found: dict[str, Signature] = {}

    def add(names: str, *arguments: ValueType, result: ValueType = "vector", variadic: int = 0) -> None:
        for name in names.split():
            found[name] = Signature(name, arguments, result, variadic)

    add(
        "abs absent acos acosh asin asinh atan atanh ceil cos cosh deg exp floor histogram_count histogram_sum ln log10 "
        "log2 rad sgn sin sinh sort sort_desc sqrt tan tanh timestamp",
        "vector",
    )
    add(
        "absent_over_time avg_over_time changes count_over_time delta deriv idelta increase irate last_over_time "
        "max_over_time min_over_time present_over_time rate resets stddev_over_time stdvar_over_time sum_over_time",
        "matrix",
    )
    add("clamp", "vector", "scalar", "scalar")
    add("clamp_max clamp_min", "vector", "scalar")
    add(
        "day_of_month day_of_week day_of_year days_in_month hour minute month year",
        "vector",
        variadic=1,
    )
    add("histogram_fraction", "scalar", "scalar", "vector")
    add("histogram_quantile", "scalar", "vector")
    add("holt_winters", "matrix", "scalar", "scalar")
    add("label_join", "vector", "string", "string", "string", variadic=-1)
    add("label_replace", "vector", "string", "string", "string", "string")
    add("pi time", result="scalar")
    add("predict_linear", "matrix", "scalar")
    add("quantile_over_time", "scalar", "matrix")
    add("round", "vector", "scalar", variadic=1)
    add("scalar", "vector", result="scalar")
    add("vector", "scalar")
    return found


SIGNATURES = _signatures()
"""Every function by its name."""

TIME_DEPENDENT = frozenset(
    "day_of_month day_of_week day_of_year days_in_month hour minute month predict_linear time timestamp year".split()
)
"""Functions whose result changes with the step even if their arguments do not."""
