"""Answers of ours beside recorded ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sregym_env.telemetry.promql import api, rules
from sregym_env.telemetry.promql.engine import Engine
from sregym_env.telemetry.series import SeriesSource
from tests.telemetry.queries import MIDDLE, Question

TOLERANCE = 1e-9


def answered(source: SeriesSource, question: Question) -> dict[str, Any]:
    """What this package's API says."""
    endpoint, parameters = question
    given = {name: [value] for name, value in parameters.items()}
    if endpoint == "query":
        response = api.query(Engine(source), given, MIDDLE)
    elif endpoint == "query_range":
        response = api.query_range(Engine(source), given)
    elif endpoint == "series":
        response = api.series(source, given)
    elif endpoint == "labels":
        response = api.labels(source, given)
    elif endpoint == "alerts":
        response = rules.alerts((), Engine(source), MIDDLE)
    elif endpoint == "rules":
        response = rules.rules((), Engine(source), given, MIDDLE)
    elif endpoint == "targets":
        response = api.targets((), given)
    elif endpoint == "metadata":
        response = api.metadata(source, given)
    else:
        response = api.label_values(source, endpoint.split("/")[1], given)
    return {"code": response.status, **response.body}


def shortened(question: Question, answer: dict[str, Any]) -> Any:
    """An answer as recordings keep it: what Prometheus orders at random is sorted, and the rest is short."""
    if answer["status"] == "error":
        return [answer["code"], answer["errorType"], answer["error"]]
    data = answer["data"]
    if question[0] not in ("query", "query_range"):
        return data
    kind, result = data["resultType"], data["result"]
    if kind in ("scalar", "string"):
        return {kind[:1]: result}
    if kind == "vector":
        rows = [[each["metric"], each["value"][1]] for each in result]
        stamps = {each["value"][0] for each in result}
        if not question[1]["query"].startswith(("sort", "topk", "bottomk")):
            rows.sort(key=lambda row: sorted(row[0].items()))
        return {"v": rows, "t": sorted(stamps)}
    rows = [[each["metric"], *_packed(each["values"])] for each in result]
    rows.sort(key=lambda row: sorted(row[0].items()))
    return {"m": rows}


def _packed(values: Sequence[Sequence[Any]]) -> list[Any]:
    """First instant, the steps to the others (each with how often), and the values, all in order."""
    stamps = [round(each[0] * 1000) for each in values]
    steps: list[list[int]] = []
    for before, after in pairwise(stamps):
        if steps and steps[-1][0] == after - before:
            steps[-1][1] += 1
        else:
            steps.append([after - before, 1])
    runs: list[Any] = []
    for _, value in values:
        if runs and runs[-1][0] == value:
            runs[-1][1] += 1
        else:
            runs.append([value, 1])
    return [stamps[0], steps, [value if count == 1 else [value, count] for value, count in runs]]


def difference(want: Any, got: Any, path: str = "") -> str:
    """Where two shortened answers differ; empty where they do not."""
    if isinstance(want, str) and isinstance(got, str):
        return "" if want == got or _close(want, got) else f"{path}: {want!r} there, {got!r} here"
    if isinstance(want, dict) and isinstance(got, dict) and want.keys() == got.keys():
        found = (difference(want[key], got[key], f"{path}.{key}") for key in want)
        return next((each for each in found if each), "")
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        found = (difference(a, b, f"{path}[{at}]") for at, (a, b) in enumerate(zip(want, got, strict=True)))
        return next((each for each in found if each), "")
    if isinstance(want, int | float) and isinstance(got, int | float):
        return "" if abs(want - got) < 1e-6 else f"{path}: {want} there, {got} here"
    return f"{path}: {str(want)[:300]} there, {str(got)[:300]} here"


def _close(want: str, got: str) -> bool:
    try:
        a, b = float(want), float(got)
    except ValueError:
        return False
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=0.0) or want == got


def unpacked(answer: Any) -> Any:
    """A shortened matrix with its runs written out, so that values that differ by a rounding compare one by one."""
    if isinstance(answer, dict) and "m" in answer:
        rows = []
        for metric, first, steps, runs in answer["m"]:
            values = [
                value for run in runs for value in ([run[0]] * run[1] if isinstance(run, list) else [run])
            ]
            rows.append([metric, first, steps, values])
        return {"m": rows}
    return answer
