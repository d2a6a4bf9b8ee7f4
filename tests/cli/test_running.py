"""``sregym run`` and ``sregym eval``: what they print, what they leave on disk, and what survives being killed."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from typer.testing import CliRunner

from sregym_env.cli.evaluating import parsed
from sregym_env.cli.main import app
from sregym_env.envs import staging
from sregym_env.envs.staged import Staged
from sregym_env.errors import StagingError, UsageError
from sregym_env.faults.problems import Problem
from sregym_env.rollouts.dataset.manifest import MANIFEST, read_manifest
from sregym_env.rollouts.dataset.parts import PARTS
from sregym_env.rollouts.dataset.reader import open_dataset
from sregym_env.rollouts.runs import PLAN, saved_plan
from tests.llm.server import Heard, Said, ScriptedServer, Trouble

PROBLEM = "network_policy_block"
PAIR = "hotel-reservation/scale_to_zero/geo"
QUICK = ("--policy", "random", "--option", "steps=3")


def sregym(*words: str | Path) -> tuple[int, str, str]:
    """Exit code, output and complaints of one command."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def answered(*words: str | Path) -> dict[str, Any]:
    """What a command prints as JSON."""
    code, out, err = sregym(*words, "--json")
    assert code == 0, err
    answer: dict[str, Any] = json.loads(out)
    return answer


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# --- one process ----------------------------------------------------------------------------------


def test_one_episode_is_told_as_its_record() -> None:
    record = answered("run", PROBLEM, "--seed", "3")
    assert (record["seed"], record["success"]) == (3, True)
    code, out, _ = sregym("run", PROBLEM, "--seed", "3")
    assert code == 0
    assert "submitted" in out


def test_many_episodes_are_summed_up_with_intervals(tmp_path: Path) -> None:
    out = tmp_path / "x"
    told = answered("run", PROBLEM, PAIR, "--rounds", "2", "--samples", "2", *QUICK, "--out", out)
    (summary,) = told["summaries"]
    assert (told["episodes"], summary["episodes"], summary["problems"]) == (8, 8, 2)
    assert summary["success"]["value"] == 0
    assert summary["success"]["high"] > 0.1
    assert summary["failures"]["agent"]
    dataset = open_dataset(out)
    assert dataset.manifest.finished
    records = list(dataset.episodes())
    assert [record.sample_index for record in records] == [0, 1] * 4
    assert {record.run_id for record in records} == {told["run_id"]} == {saved_plan(out).run_id}
    # What may be published tells neither problem nor fault.
    for text in (dataset.manifest.model_dump_json(), *(record.to_json() for record in records)):
        assert "scale_to_zero" not in text


def test_the_summary_can_be_by_something_else() -> None:
    told = answered("run", PROBLEM, PAIR, *QUICK, "--by", "exit_reason")
    assert [summary["by"] for summary in told["summaries"]] == ["exit_reason"]


def test_how_it_is_played_can_be_said() -> None:
    record = answered(
        *(
            "run",
            PROBLEM,
            *QUICK,
            "--noise",
            "--env",
            "stage=mitigation",
            "--env",
            'reward={"preset": "sparse"}',
        ),
        *("--budget-steps", "2", "--digests"),
    )
    config = record["config"]
    assert (config["noise"], config["stage"], config["reward"]["preset"]) == (True, "mitigation", "sparse")
    assert record["exit_reason"] == "max_steps"
    assert all(step["state_digest"] for step in record["steps"])


def test_models_are_asked_for_several_episodes_at_once(tmp_path: Path) -> None:
    together = Barrier(3)

    def brain(heard: Heard) -> Said:
        if heard.turns == 0:
            together.wait(60)  # nobody is answered before all three have asked
            return Said("kubectl get nodes")
        return Said("submit mitigation")

    with ScriptedServer(brain) as server:
        words = ("run", PROBLEM, "--episodes", "3", "--model", "m", "--base-url", server.base_url("chat"))
        told = answered(*words, "--concurrency", "3", "--out", tmp_path)
    assert told["summaries"][0]["name"] == "llm"
    assert told["summaries"][0]["tokens"]["value"] > 0
    for record in open_dataset(tmp_path).episodes():
        assert record.actions == ("kubectl get nodes", "submit mitigation")
        assert record.policy.model == "m"


def test_a_folder_holds_one_run_and_goes_on_only_when_told(tmp_path: Path) -> None:
    out = tmp_path / "x"
    words = ("run", PROBLEM, "--episodes", "2", *QUICK, "--out", out)
    first = answered(*words)
    before = contents(out)
    assert sregym(*words)[0] == 2
    assert "--resume" in sregym(*words)[2]
    for change in (("--seed", "1"), ("--noise",), ("--option", "steps=4"), ("--episodes", "3")):
        code, _, err = sregym(*words, *change, "--resume")
        assert code == 2
        assert "another run" in err
        assert {"--seed": "groups", "--noise": "env", "--option": "policy", "--episodes": "groups"}[
            change[0]
        ] in err
    assert contents(out) == before
    # Nothing is left to do, and the folder itself knows what is meant.
    again = answered("run", "--resume", "--out", out)
    assert again["summaries"] == first["summaries"]
    assert (again["resumed"], first["resumed"]) == (2, 0)
    for change in (("--seed", "1"), ("--policy", "random"), ("--env", "max_commands=5", "--noise")):
        code, _, err = sregym("run", "--resume", "--out", out, *change)
        assert code == 2
        assert f"heeds no {', '.join(word for word in reversed(change) if word.startswith('--'))}" in err
    assert contents(out) == before


def test_what_has_no_outcome_is_played_again_when_asked(tmp_path: Path) -> None:
    def brain(heard: Heard) -> Said:
        return Said("submit mitigation")

    with ScriptedServer(brain) as server:
        words = ("run", PROBLEM, "--episodes", "3", "--model", "m", "--base-url", server.base_url("chat"))
        words = (*words, "--option", 'retry={"attempts": 1}', "--out", str(tmp_path))
        server.misbehave(Trouble(), Trouble(status=500))
        first = answered(*words)["summaries"][0]
        assert (first["episodes"], first["scored"], first["failures"]["world"]) == (3, 2, {"server": 1})
        before = server.requests
        assert answered(*words, "--resume")["summaries"][0]["scored"] == 2
        assert server.requests == before
        again = answered(*words, "--resume", "--redo-void")
    assert server.requests == before + 1
    assert (again["summaries"][0]["scored"], again["resumed"]) == (3, 2)
    assert [record.trainable for record in open_dataset(tmp_path).episodes()] == [True] * 3


def test_what_keeps_episodes_from_an_outcome_is_told(tmp_path: Path) -> None:
    """What the error of a test that fails says, too, where nothing at all could be played."""
    nobody = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--option", 'retry={"attempts": 1}')
    code, out, err = sregym("run", PROBLEM, "--episodes", "2", *nobody)
    assert code == 1
    assert "world: unreachable 2" in out
    assert "sregym: 2 episodes have no outcome: world: unreachable (m: ConnectError" in err
    single = sregym("run", PROBLEM, *nobody)
    assert (single[0], "sregym: 1 episode has no outcome" in single[2]) == (1, True)
    policies = 'wait,llm[model=m;base_url=http://127.0.0.1:9/v1;retry={"attempts": 1}]'
    compared = sregym("eval", PROBLEM, "--policies", policies)
    assert (compared[0], "sregym: 1 episode has no outcome" in compared[2]) == (1, True)


def test_a_run_can_be_reported(tmp_path: Path) -> None:
    page = tmp_path / "x.html"
    assert sregym("run", PROBLEM, PAIR, *QUICK, "--out", tmp_path / "x", "--report", page)[0] == 0
    assert "<html" in page.read_text()


def test_who_interrupts_is_told_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = []

    def stage(problem: Problem, *rest: Any, **options: Any) -> Staged:
        played.append(problem.id)
        if len(played) == 2:
            raise KeyboardInterrupt
        return staging.stage(problem, *rest, **options)

    words = ("run", PROBLEM, PAIR, *QUICK, "--out", str(tmp_path))
    monkeypatch.setattr("sregym_env.envs.env.stage", stage)
    code, _, err = sregym(*words)
    assert code == 130
    assert f"--resume --out {tmp_path}" in err
    monkeypatch.undo()
    assert answered(*words, "--resume")["resumed"] == 1


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    code, _, err = sregym("run", PROBLEM, *QUICK, "--out", tmp_path)
    assert code == 2
    assert "not empty" in err
    assert sregym("run", "--resume", "--out", tmp_path)[0] == 2
    assert list(tmp_path.iterdir()) == [tmp_path / "thesis.tex"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "nothing to play"),
        (("--suite", "lit"), "did you mean lite"),
        (("network_policy_blok",), PROBLEM),
        (("hotel-reservation/scale_to_zero/goe",), "did you mean geo"),
        ((PROBLEM, "--policy", "oracle"), "no policy"),
        ((PROBLEM, "--option", "steps"), "KEY=VALUE"),
        ((PROBLEM, "--option", "alternativ=1"), "alternativ"),
        ((PROBLEM, "--env", "mood=1"), "mood"),
        ((PROBLEM, "--env", "stage=lunch"), "stage must be one of"),
        ((PROBLEM, "--by", "mood"), "mood"),
        ((PROBLEM, "--resume"), "--out"),
        ((PROBLEM, "--report", "x.html"), "--out"),
        ((PROBLEM, "--redo-void", "--out", "x"), "--resume"),
        ((PROBLEM, "--group-seconds", "5"), "--workers 2"),
        ((PROBLEM, "--budget-sim-seconds", "-1"), "must be positive"),
    ],
)
def test_mistakes_are_told_before_anything_is_played(words: tuple[str, ...], told: str) -> None:
    code, out, err = sregym("run", *words)
    assert (code, out) == (2, "")
    assert told in err
    assert "Traceback" not in err


def test_what_cannot_be_played_is_told_and_the_rest_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stage(problem: Problem, *rest: Any, **options: Any) -> Staged:
        if problem.id == PAIR:
            raise StagingError("nobody suffers")
        return staging.stage(problem, *rest, **options)

    monkeypatch.setattr("sregym_env.envs.env.stage", stage)
    words = ("run", PROBLEM, PAIR, *QUICK, "--out", tmp_path / "x", "--json")
    code, out, err = sregym(*words)
    assert code == 1
    assert f"gave up {PAIR}" in err
    assert "nobody suffers" in err
    told = json.loads(out)
    assert (told["episodes"], len(told["given_up"])) == (1, 1)
    assert PAIR not in out
    # Another time it may go better.
    monkeypatch.undo()
    again = answered(*words[:-1], "--resume")
    assert (again["episodes"], again["resumed"], again["given_up"]) == (2, 1, [])


def test_more_workers_without_ray_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "sregym_env.rollouts.ray", raising=False)
    code, _, err = sregym("run", PROBLEM, "--workers", "2")
    assert code == 2
    assert "pip install 'sregym-env[ray]'" in err


# --- comparing ------------------------------------------------------------------------------------


def test_policies_are_compared_on_the_same_episodes(tmp_path: Path) -> None:
    words = ("eval", PROBLEM, PAIR, "--policies", "random[steps=3],expert", "--out", tmp_path)
    told = answered(*words)
    assert [summary["name"] for summary in told["summaries"]] == ["expert", "random[steps=3]"]
    (comparison,) = told["comparisons"]
    assert (comparison["first"], comparison["second"]) == ("random[steps=3]", "expert")
    assert (comparison["pairs"], comparison["only_second"], comparison["unpaired"]) == (2, 2, 0)
    assert comparison["success"]["low"] > 0
    played = [
        [(record.task_id, record.seed) for record in open_dataset(tmp_path / folder).episodes()]
        for folder in ("random_steps_3", "expert")
    ]
    assert played[0] == played[1]
    code, out, _ = sregym(*words, "--resume")
    assert code == 0
    assert "success difference" in out


def test_policies_are_spelled_with_their_options() -> None:
    found = parsed("expert, llm[model=a/b-1.5;base_url=http://h:1/v1] ,random[steps=3]")
    assert list(found) == ["expert", "llm[model=a/b-1.5;base_url=http://h:1/v1]", "random[steps=3]"]
    assert [choice.options for choice in found.values()] == [
        {},
        {"model": "a/b-1.5", "base_url": "http://h:1/v1"},
        {"steps": 3},
    ]


@pytest.mark.parametrize("text", ["", "expert,expert", "a[b", "a[b=1]]", "a[b]"])
def test_other_spellings_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parsed(text)


# --- killed and gone on with ----------------------------------------------------------------------


def awaited(what: Callable[[], Any], process: subprocess.Popen[bytes]) -> Any:
    """Wait until something is there; fail where the process ends before, or after two minutes."""
    until = time.monotonic() + 120
    while not (found := what()):
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < until, "nothing happened"
        time.sleep(0.01)
    return found


def descendants(pid: int) -> set[int]:
    """Every process below one, by what the kernel says."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue  # it has ended meanwhile
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    found: set[int] = set()
    grown = {pid}
    while grown:
        grown = {child for child, parent in parents.items() if parent in grown} - found
        found |= grown
    return found


def actors(driver: int) -> list[int]:
    """The workers of a driver."""
    found = []
    for pid in descendants(driver):
        try:
            title = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::Worker"):
            found.append(pid)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds its workers in /proc")
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs Ray")
@pytest.mark.ray
def test_a_run_that_is_killed_twice_ends_like_one_that_is_not(tmp_path: Path) -> None:
    words = ["run", "--suite", "smoke", "--rounds", "4", "--samples", "2", "--seed", "5", *QUICK, "--out"]
    answered(*words, tmp_path / "whole")
    killed = tmp_path / "killed"

    def parts() -> int:
        return len(list((killed / PARTS).glob("*"))) if (killed / PARTS).exists() else 0

    command = [sys.executable, "-m", "sregym_env.cli.main", *words, str(killed), "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        awaited(parts, driver)
        victim, *_ = awaited(lambda: actors(driver.pid), driver)
        os.kill(victim, signal.SIGKILL)
        seen = parts()
        awaited(lambda: parts() > seen + 2, driver)
        left = actors(driver.pid)
        driver.kill()
    assert (killed / MANIFEST).exists()
    assert not read_manifest(killed).finished
    done = len(list(open_dataset(killed).episodes()))
    assert 0 < done < 40
    told = answered("run", "--resume", "--out", killed)
    assert told["resumed"] == done
    assert told["episodes"] == 40
    assert contents(killed) == contents(tmp_path / "whole")
    assert PLAN in contents(killed)
    # Nobody plays on; Ray's own agents take a minute to notice.
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in left):
        assert time.monotonic() < until, "workers outlive their driver"
        time.sleep(0.05)


def heeding_interrupts() -> None:
    """What a shell begins in the background ignores interrupts, and so does all that it begins."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_second_interrupt_waits_for_nobody(tmp_path: Path) -> None:
    """The first one waits for what threads play, here for a model that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        words = ["run", "--suite", "smoke", "--policy", "llm", "--model", "m", "--base-url", where]
        command = [sys.executable, "-m", "sregym_env.cli.main", *words, "--concurrency", "2", "--out", str(tmp_path / "out")]  # fmt: skip
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=heeding_interrupts
        ) as driver:
            silent.settimeout(120)
            asked = [silent.accept()[0] for _ in range(2)]
            driver.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                driver.wait(1.5)
            # Two signals that come before a busy machine has run the first one's handler are one to it.
            for _ in range(3):
                driver.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    driver.wait(20)
                    break
            else:
                driver.kill()
            _, told = driver.communicate(timeout=60)
            assert driver.returncode == 130
            assert b"interrupted; go on with: sregym ... --resume" in told and b"Traceback" not in told
        for each in asked:
            each.close()
