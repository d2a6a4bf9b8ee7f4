"""The ``sregym`` command."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sregym_env.cli.main import app
from sregym_env.errors import told_of

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


@pytest.mark.parametrize("what", ["problems", "faults", "apps", "pairs", "suites", "mechanisms"])
def test_listings_are_json_on_request(what: str) -> None:
    code, output = run("list", what, "--json")
    assert code == 0
    rows = json.loads(output)
    assert rows
    assert all(row.keys() == rows[0].keys() for row in rows)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (
            ("pairs", "--app", "social-network", "--fault", "scale_to_zero"),
            lambda row: row["app"] == "social-network",
        ),
        (("pairs", "--family", "images"), lambda row: row["family"] == "images"),
        (("problems", "--fault", "wrong_binary"), lambda row: "wrong_binary:" in row["faults"]),
        (("problems", "--app", "astronomy-shop"), lambda row: row["app"] == "astronomy-shop"),
    ],
)
def test_listings_can_be_narrowed(words: tuple[str, ...], found: Callable[[dict[str, str]], bool]) -> None:
    code, output = run("list", *words, "--json")
    rows = json.loads(output)
    assert code == 0
    assert 0 < len(rows) < len(json.loads(run("list", words[0], "--json")[1]))
    assert all(map(found, rows))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("list", "pairs", "--fault", "zoo"), "no fault 'zoo'; there are"),
        (("list", "pairs", "--app", "zoo"), "no application 'zoo'; there are"),
        (("list", "pairs", "--family", "zoo"), "no family 'zoo'; there are"),
        (("list", "suites", "--app", "hotel-reservation"), "--app is for problems and pairs, not for suites"),
        (("bench", "--only", "zoo"), "no promise is called 'zoo'; there are import"),
    ],
)
def test_what_there_is_not_is_an_error_that_says_what_there_is(words: tuple[str, ...], told: str) -> None:
    code, output = run(*words)
    assert (code, told in " ".join(output.split())) == (2, True), output


def test_an_unknown_listing_is_an_error() -> None:
    assert run("list", "zoo")[0] == 2


def test_unknown_problems_are_named_with_near_ones() -> None:
    code, output = run("run", "network_policy_blok")
    assert code == 2
    assert PROBLEM in output


def test_a_place_where_nothing_can_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes").touch()
    code, output = run("run", PROBLEM, "--out", str(tmp_path / "notes" / "run"))
    assert code == 2
    assert output.endswith("notes/run: Not a directory; name another\n") and "Errno" not in output


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk")
def test_a_full_disk_behind_the_standard_output_is_told() -> None:
    line = [sys.executable, "-m", "sregym_env.cli.main", "list", "mechanisms"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "sregym: standard output: No space left on device\n")


def test_a_dataset_is_not_published_without_a_licence(tmp_path: Path) -> None:
    code, output = run("dataset", "build", str(tmp_path / "a"), str(tmp_path / "b"), "--licence", " ")
    assert (code, output) == (2, "sregym: --licence wants an SPDX identifier, such as apache-2.0\n")


def test_who_closes_the_standard_output_hears_nothing() -> None:
    line = f"{shlex.quote(sys.executable)} -m sregym_env.cli.main list mechanisms >&-"
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_machine_refuses_is_told_with_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert run("run", PROBLEM, "--policy", "wait", "--out", str(tmp_path / "data"))[0] == 0
    monkeypatch.setattr(os, "fsync", full)
    code, output = run("dataset", "export", str(tmp_path / "data"), str(tmp_path / "files"))
    assert code == 2
    assert re.fullmatch(
        r"sregym: \S+/files/\S+\.report\.json: No space left on device; name another\n", output
    )
    code, output = run("run", PROBLEM, "--policy", "wait", "--out", str(tmp_path / "more"))
    assert code == 2
    assert str(tmp_path / "more") in output and "Errno" not in output


def test_a_file_keeps_its_name_and_a_draft_has_its_own(tmp_path: Path) -> None:
    for place, told in (
        (tmp_path / "none" / "a.json", "none/a.json"),
        (tmp_path / "none" / ".a.json.new", "none/a.json"),
        (tmp_path / "none" / "b.json", "none/b.json"),
    ):
        with pytest.raises(FileNotFoundError) as caught, told_of(tmp_path / "none" / "a.json"):
            place.read_bytes()
        assert str(caught.value.filename) == str(tmp_path / told)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("serve X --step --speed 5", "--step lets time stand still between requests"),
        ("serve X --ready-file FOLDER", "--ready-file FOLDER is a folder; name a file in it"),
        ("shortcuts --audit 2 --policy wait --published", "--audit plays nothing: leave --policy, --published out"),
        ("validate --problem X --sample 3", "leave --app, --fault, --target, --sample and --shortcuts out"),
        ("bench --rounds 2 --only import", "--rounds is for comparisons"),
        ("bench --against FOLDER --only import", "FOLDER is no checkout to compare with"),
        ("run X --policy llm --model m --option model=n", "--option model=... contradicts an option of its own"),
        ("run X --policy wait --noise --env noise=false", "--env noise=... contradicts an option of its own"),
        ("run X --policy wait --out FOLDER/new --report FOLDER/notes.txt", "notes.txt is there and no HTML file"),
    ],
)  # fmt: skip
def test_what_would_not_be_heeded_is_refused(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "notes.txt").write_text("dear diary")
    words = [word.replace("FOLDER", str(tmp_path)).replace("X", PROBLEM) for word in line.split()]
    code, output = run(*words)
    assert code == 2
    assert said.replace("FOLDER", str(tmp_path)) in output
    assert sorted(each.name for each in tmp_path.iterdir()) == ["notes.txt"]


def test_a_report_overwrites_nothing_but_a_report(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "report.html"
    assert run("run", PROBLEM, "--policy", "wait", "--out", str(data), "--report", str(out))[0] == 0
    assert run("report", str(data), "--out", str(out))[0] == 0
    code, output = run("report", str(data), "--out", str(data / "dataset.json"))
    assert (code, "dataset.json is there and no HTML file; name another" in output) == (2, True)
    assert run("dataset", "validate", str(data))[0] == 0


def test_a_folder_of_applications_that_is_none_is_told_with_its_variable() -> None:
    line = [sys.executable, "-m", "sregym_env.cli.main", "list", "apps"]
    environment = {**os.environ, "SREGYM_APPS": "/nowhere"}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("sregym: SREGYM_APPS: no application in /nowhere: app.yaml cannot be read")
