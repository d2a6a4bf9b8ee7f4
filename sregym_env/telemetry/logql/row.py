"""One line on its way through a pipeline: its text, its labels and what went wrong with it."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.telemetry.logql.labels import ERROR, ERROR_DETAILS, Labels

DUPLICATE = "_extracted"
"""What is put behind a label found in a line where the stream has one of that name."""


class Row:
    """A line and its labels. Stages change both."""

    __slots__ = ("base", "details", "error", "labels", "line", "time")

    def __init__(self, time: int, line: str, base: Mapping[str, str]) -> None:
        self.time = time
        """Nanoseconds since the epoch."""
        self.line = line
        self.base = base
        """Labels of the stream."""
        self.labels = dict(base)
        self.error = ""
        """``JSONParserErr`` and the like: what ``__error__`` says."""
        self.details = ""

    def get(self, name: str) -> str | None:
        """A label's value, or None where there is none."""
        if name == ERROR:
            return self.error or None
        if name == ERROR_DETAILS:
            return self.details or None
        return self.labels.get(name)

    def extract(self, name: str, value: str) -> None:
        """Set a label that was found in the line."""
        self.labels[name + DUPLICATE if name in self.base else name] = value

    def fail(self, error: str, details: str = "") -> None:
        """Note that a stage could not work on this line."""
        self.error = error
        self.details = details

    def all(self) -> dict[str, str]:
        """All labels, the ones of errors included."""
        if not self.error:
            return self.labels
        labels = {**self.labels, ERROR: self.error}
        if self.details:
            labels[ERROR_DETAILS] = self.details
        return labels

    def result(self) -> Labels:
        """The labels that a client sees."""
        return tuple(sorted(self.all().items()))
