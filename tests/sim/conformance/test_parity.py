"""Every built-in kind is described and listed by the kubectl in process as the real one does it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from sregym_env.sim.bringup.deploy import bare_cluster
from tests.parity.harness import Case, Outcome, Sides, sides
from tests.serve.serving import real_kubectl
from tests.sim.conformance.entries import Entry, entries

pytestmark = pytest.mark.skipif(real_kubectl() is None, reason="no kubectl 1.32 on this machine")

LINES = (
    "describe {key} {name} -n conformance",
    "get {key} {name} -n conformance -o yaml",
)


@pytest.fixture(scope="module")
def both() -> Iterator[Sides]:
    base = bare_cluster()
    base.run_until(base.now() + 1_000_000 - base.now() % 1_000_000)
    files = {f"{entry.resource.key}.json": json.dumps(entry.manifest(entry.rich)) for entry in entries()}
    with sides(base, files) as found:
        yield found


@pytest.mark.parametrize("line", LINES, ids=["describe", "yaml"])
@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.resource.key) for entry in entries()])
def test_as_the_real_one(both: Sides, entry: Entry, line: str) -> None:
    before = ("create namespace conformance", f"create -f {entry.resource.key}.json")
    case = Case(line.format(key=entry.resource.key, name=entry.name), before=before)
    real, ours = both.compare(case)
    assert _comparable(ours, entry) == _comparable(real, entry)


def _comparable(found: Outcome, entry: Entry) -> Outcome:
    """Without the one date that kubectl prints in a form of its own (of NetworkPolicies), and without an order
    where it has none: it lists the resources of a LimitRange and the data of a ConfigMap as Go walks a map, another way
    every time."""
    text = re.sub(r"Created on: .*", "", found.stdout)
    if entry.resource.plural in ("limitranges", "configmaps"):
        text = "\n".join(sorted(text.split("\n")))
    return replace(found, stdout=text)
