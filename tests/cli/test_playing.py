"""What a person sees who plays, and who watches: golden transcripts of whole episodes."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from sregym_env.cli.main import app

PROBLEM = "network_policy_block"

TYPED = """\
kubectl get networkpolicies -n hotel-reservation

submit diagnosis "The Deployment geo is broken."
kubectl delete networkpolicy deny-all-recommendation -n hotel-reservation
submit mitigation
"""

REPORT = """\
Diagnosis: not right, 0.00 of 1 (0.70 passes)
  where it lies
    no   Does the diagnosis name a component in which the fault really lies?
         it rests on: also blames geo
    no   Does it put the origin there, rather than in a component that merely suffers from it?
         it rests on: also blames geo
    no   Is every component that it blames really at fault? Victims, and what is said to be healthy,
         are not blamed.
         it rests on: also blames geo
  what went wrong
    no   Does it assert what actually went wrong with every fault, whatever the words, and not
         merely its symptoms?
         it rests on: the mechanism is not stated for 1 of 1 faults
    no   Does it give the concrete detail that was changed (a field, key, value, role, object)?
         it rests on: no concrete detail
    no   Is it free of causes of another kind, and of several kinds to choose from?
         it rests on: the mechanism is not stated for 1 of 1 faults
  how far it reaches
    no   Does it keep to what is at fault, without a list of further suspects?
         it rests on: also blames geo
    no   Does it cover every component at fault?
         it rests on: misses recommendation
    no   Is what it says of the object at fault, and of who is affected, true?
         it rests on: the place is not named as a cause

Repair: done
    yes  journeys: every journey met the SLO
         wanted: success >= 99% and mean latency <= 0.5 s for 60 s
"""

EARNED = """\
Earned: 0.18 (+0.18 repair, +0.00 diagnosis)
A repair without a diagnosis that passes earns 30% of its worth.
Took: diagnosis after 2 s, repair after 5 s, 4 commands in 4 actions
"""

TRUTH = """\
What was really wrong
  NetworkPolicy deny-all-recommendation selects the pods of recommendation and allows no ingress and
  no egress; all their connections time out.
  It lies in NetworkPolicy deny-all-recommendation and hurts recommendation, frontend; journeys:
  recommend.
  A repair that works:
    $ kubectl delete networkpolicy deny-all-recommendation -n hotel-reservation
"""


def played(typed: str, *arguments: str) -> str:
    """What is printed to somebody who types this."""
    result = CliRunner().invoke(app, ["play", PROBLEM, "--published", *arguments], input=typed)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_person_is_told_what_both_graders_answer_and_what_it_earned() -> None:
    output = played(TYPED)
    assert REPORT in output
    assert EARNED in output
    assert "{" not in output.partition("Mitigation received")[2]


def test_the_truth_is_told_on_request_alone() -> None:
    assert TRUTH not in played(TYPED)
    assert TRUTH not in played(f"{TYPED}n\n")
    assert TRUTH in played(f"{TYPED}y\n")
    assert TRUTH in played(TYPED, "--reveal")
    assert "Show what was really wrong?" not in played(TYPED, "--reveal")


def test_who_leaves_early_is_told_what_there_is() -> None:
    output = played("kubectl get nodes\n")
    assert "You leave before everything is handed in." in output
    assert "Diagnosis: none was handed in" in output
    assert "Repair: none was handed in" in output
    assert "Earned: 0.00" in output


def test_a_failed_check_says_what_was_seen_and_what_was_wanted() -> None:
    output = played("submit diagnosis 'I do not know.'\nsubmit mitigation\n")
    assert "Repair: not done" in output
    failed = output.partition("    no   journeys: ")[2]
    assert failed.splitlines()[0]
    assert "wanted: success >= 99%" in failed


@pytest.mark.parametrize("style", ["direct", "thorough", "dead_ends"])
def test_the_demonstration_shows_thoughts_before_commands(style: str) -> None:
    result = CliRunner().invoke(app, ["demo", PROBLEM, "--style", style, "--seed", "3"])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    commands = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    assert len(commands) > 5
    for number in commands:
        assert lines[number - 1].strip() and not lines[number - 1].startswith(("$", "  ("))
    assert any(line.startswith("$ submit diagnosis") for line in lines)
    assert lines[-1].startswith("Solved in ")


def test_an_unknown_style_is_an_error() -> None:
    assert CliRunner().invoke(app, ["demo", PROBLEM, "--style", "hasty"]).exit_code == 2
