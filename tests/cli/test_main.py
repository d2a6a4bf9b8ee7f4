"""The ``sregym`` command."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from sregym_env.cli.main import app

PROBLEM = "network_policy_block"


def run(*arguments: str, input: str | None = None) -> tuple[int, str]:
    """Exit code and output of one command."""
    result = CliRunner().invoke(app, list(arguments), input=input)
    return result.exit_code, result.output


@pytest.mark.parametrize("command", ["list", "play", "demo", "run", "validate", "bench", "serve"])
def test_every_command_has_help(command: str) -> None:
    code, output = run(command, "--help")
    assert code == 0
    assert "Usage" in output


@pytest.mark.parametrize("what", ["problems", "faults", "apps", "pairs"])
def test_listings_are_json_on_request(what: str) -> None:
    code, output = run("list", what, "--json")
    assert code == 0
    rows = json.loads(output)
    assert rows
    assert all(row.keys() == rows[0].keys() for row in rows)


def test_an_unknown_listing_is_an_error() -> None:
    assert run("list", "zoo")[0] == 2


def test_unknown_problems_are_named_with_near_ones() -> None:
    code, output = run("run", "network_policy_blok")
    assert code == 2
    assert PROBLEM in output


def test_the_expert_solves_a_problem() -> None:
    code, output = run("run", PROBLEM, "--policy", "expert", "--seed", "3", "--json")
    assert code == 0
    record = json.loads(output)
    assert record["success"]
    assert record["return"] == pytest.approx(1.0)


def test_an_unknown_policy_is_an_error() -> None:
    assert run("run", PROBLEM, "--policy", "oracle")[0] == 2


def test_a_person_can_play() -> None:
    code, output = run("play", PROBLEM, input="kubectl get nodes\nsubmit mitigation\n")
    assert code == 0
    assert "control-plane" in output
    assert "Earned: 0.00" in output


def test_a_person_can_type_heredocs_here_strings_and_shifts() -> None:
    typed = "cat <<'END'\nfrom the document\nEND\ncat <<< 'from the string'\necho $((1<<4)) sixteen\n"
    code, output = run("play", PROBLEM, input=typed)
    assert code == 0
    for line in ("from the document", "from the string", "16 sixteen"):
        assert line in output


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", PROBLEM, "--seed", "-1"),
        ("run", "hotel-reservation/scale_to_zero/goe"),
        ("validate", "--jobs", "0"),
        ("validate", "--problem", "no_such_problem"),
        ("validate", "--problem", "wrong_bin_usage", "--fault", "scale_to_zero"),
        ("validate", "--fault", "scale_to_zero", "--target", "goe"),
        ("serve", PROBLEM, "--port", "99999"),
        ("serve", PROBLEM, "--directory", "/dev/null/nowhere"),
    ],
)
def test_wrong_arguments_are_told_without_a_traceback(arguments: tuple[str, ...]) -> None:
    code, output = run(*arguments)
    assert code == 2
    assert "Traceback" not in output


def test_a_pair_can_be_run_by_its_id() -> None:
    code, output = run("run", "hotel-reservation/scale_to_zero/geo", "--json")
    assert code == 0
    assert json.loads(output)["success"]


def test_validation_prints_a_matrix() -> None:
    code, output = run("validate", "--fault", "network_policy_block", "--sample", "1", "--json")
    (report,) = json.loads(output)
    assert report["passed"], [line for line in report["lines"] if not line["passed"]]
    assert code == 0
