"""Label sets of time series: sorted pairs of name and value, without empty values.

A plain tuple, because it is a dictionary's key in every join and aggregation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from sregym_env.telemetry.gotext import quote

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""(name, value) pairs in the order of their names."""

NAME = "__name__"
"""The label that holds a metric's name."""

EMPTY: Labels = ()


def labels_of(values: Mapping[str, str]) -> Labels:
    """The label set of a mapping; a label with an empty value is a label that is not there."""
    return tuple(sorted((name, value) for name, value in values.items() if value))


def value_of(labels: Labels, name: str) -> str:
    """A label's value; empty where it is not there."""
    for key, value in labels:
        if key == name:
            return value
    return ""


def keep(labels: Labels, names: Iterable[str]) -> Labels:
    """The labels with these names."""
    return tuple([pair for pair in labels if pair[0] in names])


def drop(labels: Labels, names: Iterable[str]) -> Labels:
    """The labels without these names."""
    return tuple([pair for pair in labels if pair[0] not in names])


def nameless(labels: Labels) -> Labels:
    """The labels without the metric's name."""
    for at, pair in enumerate(labels):
        if pair[0] == NAME:
            return labels[:at] + labels[at + 1 :]
    return labels


def replaced(labels: Labels, name: str, value: str) -> Labels:
    """The labels with one set, or with an empty value taken away."""
    rest = [pair for pair in labels if pair[0] != name]
    if value:
        rest.append((name, value))
        rest.sort()
    return tuple(rest)


def text_of(labels: Labels) -> str:
    """Labels as Prometheus's errors print them: ``{__name__="up", job="node"}``."""
    return "{" + ", ".join(f"{name}={quote(value)}" for name, value in labels) + "}"


def metric_text(labels: Labels) -> str:
    """Labels as a query is written: ``up{job="node"}``."""
    name = value_of(labels, NAME)
    rest = ",".join(f"{key}={quote(value)}" for key, value in labels if key != NAME)
    return f"{name}{{{rest}}}" if rest or not name else name
