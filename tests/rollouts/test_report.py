"""The report: what is in it, what never is, and what a real browser makes of it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from sregym_env.apps import app as application
from sregym_env.cli.main import app as command_line
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.llm.messages import Message
from sregym_env.rollouts.dataset.writer import DatasetWriter
from sregym_env.rollouts.policies import ExpertPolicy
from sregym_env.rollouts.record import EpisodeRecord, Labels
from sregym_env.rollouts.replay import replay
from sregym_env.rollouts.report import report, write_report
from sregym_env.rollouts.report.choice import chosen
from sregym_env.rollouts.report.page import inert
from sregym_env.rollouts.report.sampling import Samples
from sregym_env.rollouts.report.transcript import cut, said
from sregym_env.rollouts.runner import Rollout, run_episode
from tests.rollouts.golden_run import HOSTILE, PROBLEMS, golden_run, written


@pytest.fixture(scope="module")
def run() -> list[Rollout]:
    """The run."""
    return list(golden_run())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It as a dataset."""
    return written(tmp_path_factory.mktemp("run") / "dataset")


@pytest.fixture(scope="module")
def file(folder: Path) -> Path:
    """Its report."""
    out = folder.parent / "report.html"
    write_report(folder, out)
    return out


def data_of(html: str) -> dict[str, Any]:
    """The data in a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    value: dict[str, Any] = json.loads(found[1])
    return value


def labels_of(run: list[Rollout]) -> dict[str, Labels]:
    """The labels by rollout id."""
    return {rollout.labels.rollout_id: rollout.labels for rollout in run}


def records_of(run: list[Rollout]) -> list[EpisodeRecord]:
    """The records."""
    return [rollout.record for rollout in run]


# --- the page --------------------------------------------------------------------------------------


def test_the_page_loads_nothing_and_executes_only_its_own_script(file: Path) -> None:
    html = file.read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert policy is not None and len(scripts) == len(styles) == 1
    hashes = [
        "'sha256-" + b64encode(sha256(each.encode()).digest()).decode() + "'" for each in scripts + styles
    ]
    assert policy[1].split("; ")[:3] == [
        "default-src 'none'",
        f"script-src {hashes[0]}",
        f"style-src {hashes[1]}",
    ]
    assert "unsafe" not in policy[1]
    own = html.replace(re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)[0], "")
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", own) == []
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|@import|url\(",
        own.replace("url(#arrow)", ""),
    )


@given(st.text())
def test_data_is_inert_and_comes_back(text: str) -> None:
    told = inert({"text": [text + HOSTILE]})
    assert "<" not in told
    assert told.isascii()
    assert json.loads(told) == {"text": [text + HOSTILE]}


def test_the_same_run_gives_the_same_bytes(folder: Path, file: Path, tmp_path: Path) -> None:
    write_report(folder, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == file.read_bytes()


def test_a_report_of_twelve_episodes_stays_small(run: list[Rollout]) -> None:
    record = run[1].record
    long = [
        message if message.role == "assistant" else message.model_copy(update={"content": "x" * 40_000})
        for message in record.messages
    ]
    many = [
        record.model_copy(update={"messages": tuple(long), "rollout_id": f"r{index}"}) for index in range(12)
    ]
    html = report(many, {}, title="long")
    assert len(html) < 2_000_000
    assert len(data_of(html)["episodes"]) == 12


def test_without_the_truth_nothing_of_the_labels_is_in_the_page(run: list[Rollout]) -> None:
    random = [rollout for rollout in run if rollout.record.policy.name == "random"]
    html = report(records_of(random), labels_of(random), title="t", truth=False)
    data = data_of(html)
    assert [episode["world"]["app"] for episode in data["episodes"]] == ["hotel-reservation"] * 3
    for rollout in random:
        for spec in rollout.labels.specs:
            for secret in (spec["fault"], spec["cause"], spec["mechanism"]):
                assert json.dumps(secret)[1:-1] not in html
    assert not any(check.get("observed") for episode in data["episodes"] for check in episode["checks"])
    told = data_of(report(records_of(random), labels_of(random), title="t"))
    assert told["episodes"][0]["causes"][0]["cause"]
    assert told["truth"] and not data["truth"]


def test_without_labels_there_are_transcripts_but_no_replay(run: list[Rollout]) -> None:
    data = data_of(report(records_of(run), {}, title="published"))
    assert not data["truth"]
    assert all("labels" in episode["world"]["note"] for episode in data["episodes"])
    assert len(data["rows"]["values"]) == len(run)


def test_an_episode_that_goes_another_way_is_not_shown_as_if_it_had_not(run: list[Rollout]) -> None:
    record = run[0].record
    changed = [step.model_copy(update={"sim_time_s": step.sim_time_s + 5}) for step in record.steps]
    other = record.model_copy(update={"steps": tuple(changed)})
    (episode,) = data_of(report([other], labels_of(run), title="t"))["episodes"]
    assert "went another way: step 0, sim_time_s: recorded 6" in episode["world"]["note"]
    masked = list(record.messages)
    masked[2] = masked[2].model_copy(update={"content": "something else"})
    (episode,) = data_of(
        report([record.model_copy(update={"messages": tuple(masked)})], labels_of(run), title="t")
    )["episodes"]
    assert "differs from the record: step 0, observation" in episode["world"]["warning"]
    assert episode["world"]["times"]


def test_mistakes_are_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are no episodes"):
        report([], {}, title="nothing")
    with pytest.raises(UsageError, match="no dataset in"):
        write_report(tmp_path, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_place_for_a_report(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder; name the HTML file to write"):
        write_report(folder, tmp_path)
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}*"))


def test_the_command_writes_a_report(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "report.html"
    result = CliRunner().invoke(
        command_line, ["report", str(folder), "--out", str(out), "--episodes", "1", "--no-truth"]
    )
    assert result.exit_code == 0, result.output
    assert str(out) in result.output.replace("\n", "")
    data = data_of(out.read_text("utf-8"))
    assert (len(data["episodes"]), data["truth"]) == (1, False)
    missing = CliRunner().invoke(command_line, ["report", str(tmp_path / "none")])
    assert missing.exit_code == 2


# --- what is told of the run and of its episodes ---------------------------------------------------


def test_the_numbers_are_the_runs(run: list[Rollout]) -> None:
    data = data_of(report(records_of(run), labels_of(run), title="t", episodes=0))
    assert data["episodes"] == []
    named = {policy["name"]: policy for policy in data["policies"]}
    assert data["policies"][0]["name"] == "expert"
    assert named["expert"]["success"]["value"] == 1.0
    assert named["expert"]["success"]["low"] == pytest.approx(0.4385, abs=1e-3)
    assert named["random"]["success"]["value"] == 0.0
    assert (named["broken"]["episodes"], named["broken"]["scored"], named["broken"]["success"]) == (
        1,
        0,
        None,
    )
    assert data["all"]["failures"]["world"] == {"server": 1}
    against = {each["first"]: each for each in data["comparisons"]}
    assert (against["random"]["pairs"], against["random"]["only_second"]) == (3, 3)
    families = {family["name"]: family["policies"]["expert"]["n"] for family in data["families"]}
    assert families == {"network": 1, "application": 2}
    settings = dict(map(tuple, data["configuration"]))
    assert settings["judge.name"] == ["spec-12"]


def test_every_episode_has_its_row(run: list[Rollout]) -> None:
    data = data_of(report(records_of(run), labels_of(run), title="t", episodes=2))
    rows = {
        row["id"]: row
        for row in (
            dict(zip(data["rows"]["columns"], values, strict=True)) for values in data["rows"]["values"]
        )
    }
    assert len(rows) == len(run)
    assert {episode["id"] for episode in data["episodes"]} < set(rows)
    for rollout in run:
        record, row = rollout.record, rows[rollout.record.rollout_id]
        assert row["steps"] == len(record.steps)
        assert (row["success"], row["scored"], row["return"]) == (
            record.success,
            record.trainable,
            record.return_,
        )
        assert row["target"] == rollout.labels.specs[0]["components"][0]


def test_policies_are_told_apart_by_their_models(run: list[Rollout]) -> None:
    record = run[0].record
    models = [
        record.model_copy(update={"policy": record.policy.model_copy(update={"model": model})})
        for model in ("small", "large")
    ]
    data = data_of(report(models, {}, title="t", episodes=0))
    assert [policy["name"] for policy in data["policies"]] == ["expert · large", "expert · small"]


def test_policies_are_told_apart_by_the_settings_that_differ(run: list[Rollout]) -> None:
    record = run[0].record
    hotter = [
        record.model_copy(
            update={
                "policy": record.policy.model_copy(
                    update={"settings": {"style": "tools", "temperature": heat}}
                )
            }
        )
        for heat in (0.5, 1.0)
    ]
    data = data_of(report([*hotter, run[1].record], {}, title="t", episodes=0))
    assert sorted(policy["name"] for policy in data["policies"]) == [
        "expert (temperature=0.5)",
        "expert (temperature=1.0)",
        "random",
    ]


def test_datasets_beside_each_other_are_one_run(run: list[Rollout], tmp_path: Path) -> None:
    for rollout in run[:2]:
        writer = DatasetWriter(tmp_path / "compared" / rollout.record.policy.name)
        writer.add(0, [rollout])
    write_report(tmp_path / "compared", tmp_path / "report.html")
    data = data_of((tmp_path / "report.html").read_text("utf-8"))
    assert data["title"] == "compared"
    assert [policy["name"] for policy in data["policies"]] == ["expert", "random"]
    assert len(data["episodes"]) == 2
    assert data["comparisons"][0]["pairs"] == 1


def test_the_choice_takes_turns_and_does_not_depend_on_the_order(run: list[Rollout]) -> None:
    records = records_of(run)
    three = chosen(records, 3)
    assert three == chosen(records[::-1], 3)
    assert len({(record.success, record.policy.name) for record in three}) == 3
    assert len(chosen(records, 100)) == len(records)
    assert chosen(records, 0) == []
    four = [record for record in chosen(records, 5) if record.policy.name in ("expert", "random")]
    assert len({record.task_id for record in four if record.policy.name == "expert"}) == len(
        [record for record in four if record.policy.name == "expert"]
    )


def test_episodes_without_steps_are_chosen_last(run: list[Rollout]) -> None:
    empty = run[0].record.model_copy(update={"steps": (), "rollout_id": "0"})
    records = [empty, *records_of(run[1:])]
    assert empty not in chosen(records, len(records) - 1)
    assert empty in chosen(records, len(records))


def test_looking_changes_nothing_and_sees_the_incident_come_and_go() -> None:
    env = SREGymEnv(PROBLEMS[0], raise_errors=True, variation=False)
    rollout = run_episode(env, ExpertPolicy(), seed=4, digests=True)
    samples = Samples()
    assert replay(rollout.record, rollout.labels, samples.look).differences == ()
    assert samples.looks_at(rollout.record)
    assert len(samples.components) == len(samples.alerts) == len(rollout.record.steps) + 1
    told = samples.to_json()
    assert told["times"] == sorted(told["times"])
    recommend = list(zip(told["times"], told["journeys"][1]["success"], strict=True))
    assert told["journeys"][1]["name"] == "recommend"
    assert recommend[0] == (-170.0, 1.0)
    assert next(share for time, share in recommend if time >= 0) == 0.0
    assert recommend[-1] == (rollout.record.sim_time_s, 1.0)
    first, last = samples.components[0], {}
    for changed in samples.components:
        last.update(changed)
    assert first["recommendation"][0] == "silent"
    assert first["frontend"][0] == "degraded"
    assert last["recommendation"][0] == last["frontend"][0] == "ok"
    assert first["consul"][0] == "idle"
    assert any(alert["name"] == "HighRequestErrorRate" for alerts in samples.alerts for alert in alerts)
    assert not any(alert["name"] == "ServiceEndpointDown" for alert in samples.alerts[-1])


def test_components_without_pods_are_down(run: list[Rollout]) -> None:
    rollout = next(each for each in run if each.labels.problem["id"] == "revoke_auth_mongodb-1")
    samples = Samples()
    replay(rollout.record, rollout.labels, samples.look)
    states = {name: told[0] for name, told in samples.components[0].items()}
    spec = rollout.labels.specs[0]
    assert states[spec["affected"][0]] == "down"
    assert set(states) == {component.name for component in application("hotel-reservation").components}


def test_thoughts_and_actions_are_told_apart() -> None:
    assert said(Message(role="assistant", content="alerts", reasoning_content="hm")) == ("hm", "alerts")
    calls = [
        {"id": "1", "function": {"name": "shell", "arguments": {"command": "kubectl get pods"}}},
        {"id": "2", "function": {"name": "submit_diagnosis", "arguments": {"text": "geo"}}},
        {"id": "3", "function": {"name": "wait", "arguments": {"seconds": 5}}},
        {"id": "4", "function": {"name": "alerts", "arguments": {}}},
    ]
    message = Message.model_validate({"role": "assistant", "content": "I look", "tool_calls": calls})
    assert said(message) == ("I look", 'kubectl get pods\nsubmit_diagnosis geo\nwait {"seconds": 5}\nalerts')


@given(st.text(max_size=300), st.integers(20, 200))
def test_what_is_cut_says_how_much(text: str, longest: int) -> None:
    told = cut(text, longest)
    if len(text) <= longest:
        assert told == text
        return
    missing = re.search(r"\n\[\.\.\. ([\d,]+) characters left out here \.\.\.\]\n", told)
    assert missing is not None
    kept = len(told) - len(missing[0])
    assert kept + int(missing[1].replace(",", "")) == len(text)
    assert kept <= longest
