"""A move is the same submission as a command line and as a tool call."""

from __future__ import annotations

import pytest

from sregym_env.errors import UsageError
from sregym_env.rollouts.policies.expert import ExpertPolicy
from sregym_env.rollouts.policies.move import Move
from sregym_env.tools.call import Submission
from sregym_env.tools.causes import Cause, causes_of
from sregym_env.tools.submit import from_line

CAUSES = (
    Cause(
        ("geo",),
        "wrong_target_port",
        "Service",
        "geo",
        "targetPort",
        "9999",
        "geo's container listens on 8083",
    ),
    Cause(("user", "rate"), "disk_read_errors"),
)


def test_closed_answers_are_read_back_from_the_line() -> None:
    understood = from_line(Move("", "diagnosis", "prose", CAUSES).line)
    assert isinstance(understood, Submission)
    assert causes_of(understood.text) == CAUSES


def test_closed_answers_are_a_tool_call_of_their_own() -> None:
    made = Move("", "diagnosis", "prose", CAUSES).call("call-1", dedicated=False)
    assert made.function.name == "submit_structured_diagnosis"
    assert made.function.arguments["causes"][1] == {
        "component": ["user", "rate"],
        "mechanism": "disk_read_errors",
    }


def test_prose_is_handed_in_where_there_are_no_closed_answers() -> None:
    move = Move("", "diagnosis", "geo forwards to a dead port")
    assert from_line(move.line) == Submission("diagnosis", "geo forwards to a dead port")
    assert move.call("call-1", dedicated=False).function.name == "submit_diagnosis"


def test_an_unknown_form_of_diagnosis_is_named() -> None:
    with pytest.raises(UsageError, match="no form of diagnosis 'sung'; there are structured, text"):
        ExpertPolicy(diagnosis="sung")
