"""Policies that compare revisions find what was rolled out, and tell and undo it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

from sregym_env import apps
from sregym_env.cluster.oncall import ONCALL
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.rollouts.shortcuts import diagnoses, differences
from sregym_env.rollouts.shortcuts.cues import Blamed, blame
from sregym_env.rollouts.shortcuts.shortcut import Knowledge
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.tools.workstation import Workstation

HOTEL = apps.app("hotel-reservation")
KNOWN = Knowledge(HOTEL)
GEO = Blamed("Deployment", "geo")
SPACE = "-n hotel-reservation"


@pytest.fixture
def desk() -> Workstation:
    """At the published application, of which one workload has been rolled out anew."""
    found = Workstation(deployed_world(HOTEL, 0), ONCALL)
    for line in (
        f"kubectl set image deployment/search '*=yinfangchen/hotelreservation:9.9' {SPACE}",
        "sleep 60",
        f"kubectl set env deployment/geo LIMIT=12 {SPACE}",
        "sleep 120",
        f"kubectl rollout restart deployment/geo {SPACE}",
        "sleep 120",
    ):
        assert found.run(line).exit_code == 0
    return found


def answered(script: Generator[str, str, Any], desk: Workstation) -> Any:
    """What a script finds that gets what its lines print."""
    line = next(script)
    while True:
        try:
            line = script.send(desk.run(line).text)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("cue", [differences.REDELIVERED, differences.DIFFERING], ids=lambda cue: cue.name)
def test_who_was_rolled_out_is_named_and_who_got_another_tag_is_not(cue: Any, desk: Workstation) -> None:
    assert answered(blame(cue, KNOWN), desk) == [GEO]


def test_the_difference_is_told(desk: Workstation) -> None:
    (name, value) = answered(differences.changes(GEO, KNOWN), desk)
    assert (name.path.rpartition(".")[2], name.was, name.now) == ("name", "null", '"LIMIT"')
    assert (value.path.rpartition(".")[2], value.was, value.now) == ("value", "null", '"12"')
    assert answered(differences.sentence([GEO], KNOWN), desk) == (
        'The root cause is the geo deployment: a wrong containers env name "LIMIT" was added, and a wrong containers env value '
        '"12" was added.'
    )
    assert '"mechanism": "wrong_variable"' in answered(differences.closed([GEO], KNOWN), desk)


def test_it_is_undone_however_often_it_was_delivered(desk: Workstation) -> None:
    lines: Iterator[str] = differences.undone(GEO, KNOWN)
    assert all(desk.run(line).exit_code == 0 for line in lines)
    assert desk.run(f"kubectl get deployment geo {SPACE} -o yaml | grep -c LIMIT").text.strip() == "0"


def test_nobody_is_told_of_where_nobody_is_blamed(desk: Workstation) -> None:
    for telling in (differences.sentence, differences.closed, differences.closed_since):
        assert answered_at_once(telling([], KNOWN)) == HOTEL.entry


def answered_at_once(script: Generator[str, str, str]) -> str:
    """What a script says that looks at nothing."""
    with pytest.raises(StopIteration) as end:
        next(script)
    said: str = end.value.value
    return said


def test_every_kind_of_cause_that_a_field_stands_for_is_one() -> None:
    assert {mechanism for _, mechanism in differences.MECHANISMS} | {diagnoses.GUESS} <= set(MECHANISMS)
