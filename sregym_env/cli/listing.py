"""What ``sregym list`` lists, as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sregym_env import apps
from sregym_env.errors import AppError, UsageError
from sregym_env.faults.problems import curated
from sregym_env.faults.registry import declaration, declarations
from sregym_env.tools.taxonomy import ANSWERS

Row = dict[str, Any]


def _problems() -> list[Row]:
    return [
        {
            "id": problem.id,
            "app": problem.app,
            "faults": ", ".join(f"{each.fault}:{each.target}" for each in problem.faults) or "none",
        }
        for problem in curated()
    ]


def _faults() -> list[Row]:
    return [
        {"fault": each.name, "layer": each.layer, "level": each.level, "what": each.summary}
        for each in declarations()
    ]


def _apps() -> list[Row]:
    rows = []
    for name in apps.names():
        try:
            app = apps.app(name)
        except AppError as error:
            rows.append({"app": name, "namespace": "", "components": 0, "journeys": str(error)})
            continue
        rows.append(
            {
                "app": app.name,
                "namespace": ", ".join(app.namespaces),
                "components": len(app.components),
                "journeys": ", ".join(journey.name for journey in app.journeys),
            }
        )
    return rows


def _pairs() -> list[Row]:
    # The other listings need no cluster, which takes three times as long to import as all the rest.
    from sregym_env.envs.tasks.splits import family, split_of
    from sregym_env.envs.tasks.suites import suite

    return [
        {
            "app": problem.app,
            "fault": problem.faults[0].fault,
            "target": problem.faults[0].target,
            "family": family(problem.faults[0].fault),
            "split_by_family": split_of(problem, "family"),
            "split_by_target": split_of(problem, "target"),
        }
        for problem in suite("all")
    ]


def _suites() -> list[Row]:
    from sregym_env.envs.tasks.suites import names, suite

    return [{"suite": name, "problems": len(suite(name))} for name in names()]


def _mechanisms() -> list[Row]:
    return [
        {"mechanism": kind.key, "title": kind.title, "definition": kind.definition}
        for kind in ANSWERS.values()
    ]


def listed(
    what: str, *, app: str | None = None, fault: str | None = None, family: str | None = None
) -> list[Row]:
    """The rows of a listing, those alone that are about an application, a fault or a family of faults.

    Raises UsageError for a listing that there is not, or that says nothing of what is asked for; AppError and
    ProblemError for an application or a fault that there is not.
    """
    if what not in LISTINGS:
        raise UsageError(f"cannot list {what!r}; there are {', '.join(LISTINGS)}")
    for name, value in (("app", app), ("fault", fault), ("family", family)):
        if value is not None and what not in _ABOUT[name]:
            raise UsageError(f"--{name} is for {' and '.join(_ABOUT[name])}, not for {what}")
    if app is not None:
        apps.app(app)
    if fault is not None:
        declaration(fault)
    rows = LISTINGS[what]()
    families = {row["family"] for row in rows if "family" in row}
    if family is not None and family not in families:
        raise UsageError(f"no family {family!r}; there are {', '.join(sorted(families))}")
    return [
        row
        for row in rows
        if app in (None, row.get("app"))
        and (fault is None or fault in _faults_of(row))
        and family in (None, row.get("family"))
    ]


_ABOUT: Mapping[str, tuple[str, ...]] = {
    "app": ("problems", "pairs"),
    "fault": ("problems", "pairs"),
    "family": ("pairs",),
}


def _faults_of(row: Row) -> list[str]:
    """Those of a pair, or of a curated problem."""
    return (
        [row["fault"]] if "fault" in row else [each.partition(":")[0] for each in row["faults"].split(", ")]
    )


LISTINGS: Mapping[str, Callable[[], list[Row]]] = {
    "problems": _problems,
    "faults": _faults,
    "apps": _apps,
    "pairs": _pairs,
    "suites": _suites,
    "mechanisms": _mechanisms,
}
