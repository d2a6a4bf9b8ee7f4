"""What must not be in a dataset is kept out of it, and found where it is in: answers, keys, contradictions."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from sregym_env.faults.problems import curated
from sregym_env.faults.registry import declarations
from sregym_env.llm.messages import Message
from sregym_env.rollouts.dataset.consistency import incoherent
from sregym_env.rollouts.dataset.exporters import FORMATS, export
from sregym_env.rollouts.dataset.files import compressed, read_lines
from sregym_env.rollouts.dataset.leaks import leaks
from sregym_env.rollouts.dataset.manifest import About, read_manifest
from sregym_env.rollouts.dataset.parquet import write_mirror
from sregym_env.rollouts.dataset.reader import open_dataset
from sregym_env.rollouts.dataset.secrets import Scrubber, own_values
from sregym_env.rollouts.dataset.validation import validate
from sregym_env.rollouts.dataset.writer import DatasetWriter
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.replay import replay
from sregym_env.rollouts.runner import Rollout
from sregym_env.tools.taxonomy import TAXONOMY
from tests.rollouts.played import BOTH, PROBLEM, TRAINED, calls, expert, said, talked, typed

PLANTED = {
    "ANTHROPIC_KEY": "sk-ant-api03-" + "Ab1-" * 8,
    "OPENAI_KEY": "sk-proj-" + "Zy9_" * 8,
    "HUGGINGFACE_TOKEN": "hf_" + "QwErTy12" * 4,
    "GITHUB_TOKEN": "ghp_" + "a1B2c3D4e5" * 4,
    "GITLAB_TOKEN": "glpat-" + "x9Y8z7W6v5" * 2,
    "AWS_KEY": "AKIA" + "ABCDEFGH12345678",
    "GOOGLE_KEY": "AIza" + "Sy12345_-" * 3 + "abcdefgh",
    "SLACK_TOKEN": "xoxb-" + "1234567890-abcdef",
    "STRIPE_KEY": "sk_live_" + "1234abcd" * 3,
    "PROVIDER_KEY": "gsk_" + "abcdEFGH1234" * 3,
    "HEADER": "Authorization: Bearer " + "opaque-but-long-enough-9",
}
"""By the name of the mask."""

OWN = "correct-horse-battery-staple"
"""The value of a variable of this process that is named like a key."""


@pytest.mark.parametrize(("name", "key"), PLANTED.items())
@pytest.mark.parametrize(
    "around", ["{}", "x\n{}\ny", 'export KEY="{}"', "curl -H '{}' host", '{{"k": "{}"}}']
)
def test_keys_are_masked_wherever_they_stand(name: str, key: str, around: str) -> None:
    scrubber = Scrubber(())
    masked = scrubber.mask({"a": [around.format(key)]}, simulated=True)["a"][0]
    assert key not in masked
    assert f"MASKED_{name}" in masked
    assert scrubber.found == {name: 1}


INNOCENT = (
    "sk-1, task-force, disk-usage-of-the-node, risk-assessment-of-everything-there",
    "kubectl describe pod frontend-7d6f8c8d4b-62vsz",
    "curl -H 'Authorization: Bearer $TOKEN' https://kubernetes.default",
    "curl -H 'Authorization: Bearer $(cat /var/run/secrets/token)' https://kubernetes.default",
    "hf_hub_download, AIza, ghp_short",
    "sha256:3f5a0e1c9b7d8e6f4a2c1b0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f",
)


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_texts_are_left_alone(text: str) -> None:
    assert Scrubber(()).mask(text, simulated=False) == text


def test_what_a_simulated_cluster_shows_is_no_secret() -> None:
    token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJlLW9m"
    assert Scrubber(()).mask(token, simulated=True) == token
    assert Scrubber(()).mask(token, simulated=False) == "MASKED_JWT"


def test_own_variables_that_are_named_like_keys_are_known() -> None:
    variables = {
        "SREGYM_JUDGE_API_KEY": OWN,
        "MY_TOKEN": "short",
        "HOME": "/home/somebody/with/a/long/path",
        "SSH_KEY_FILE": "/home/somebody/.ssh/id_ed25519",
        "KEYBOARD_LAYOUT": "a-very-long-layout-name",
        "DB_PASSWORD": "another-long-password",
    }
    assert own_values(variables) == (OWN, "another-long-password")


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file, decompressed."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            found[path.name] = (
                zstandard.ZstdDecompressor().decompressobj().decompress(data)
                if path.suffix == ".zst"
                else data
            )
    return found


def test_planted_keys_are_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In what a model says and thinks, in arguments, in what the cluster echoes, in settings and in the run's own."""
    monkeypatch.setenv("SREGYM_TEST_API_KEY", OWN)
    openai, anthropic = PLANTED["OPENAI_KEY"], PLANTED["ANTHROPIC_KEY"]
    rollout = said(
        calls(
            ("shell", {"command": f"export K={openai}; echo $K; echo {OWN}"}), thought=f"I use {anthropic}."
        ),
        calls(
            ("shell", {"command": f"curl -H '{PLANTED['HEADER']}' frontend:5000"}), reasoning=f"Key {openai}"
        ),
        f'submit diagnosis "the key {anthropic}\nis wrong"',
        "submit mitigation",
        model=f"model-{anthropic}",
    )
    about = About(run={"policy": {"api_key": openai}, "headers": [PLANTED["HEADER"]]}, description=OWN)
    writer = DatasetWriter(tmp_path / "ds", about)
    writer.add(0, [rollout])
    planted = [openai, anthropic, OWN, "opaque-but-long-enough-9"]
    for stage in ("parts", "shards", "exports"):
        if stage == "shards":
            writer.finish()
            write_mirror(tmp_path / "ds")
        if stage == "exports":
            for name in FORMATS:
                export(open_dataset(tmp_path / "ds"), tmp_path / "out", name)
        for file, data in files_below(tmp_path).items():
            assert not [key for key in planted if key.encode() in data], (stage, file)
    (record,) = open_dataset(tmp_path / "ds").episodes()
    assert "MASKED_OPENAI_KEY\nMASKED_OWN_VALUE\n" in record.observation(record.steps[0])
    assert read_manifest(tmp_path / "ds").counts.masked_secrets > 5


def test_masked_episodes_still_replay(tmp_path: Path) -> None:
    key = PLANTED["OPENAI_KEY"]
    writer = DatasetWriter(tmp_path, About())
    writer.add(0, [said(f"echo {key}", f'K={key}; echo "$K"', "submit mitigation")])
    writer.finish()
    (rollout,) = open_dataset(tmp_path).rollouts()
    differing = {difference.what for difference in replay(rollout.record, rollout.labels).differences}
    # A digest of the workstation knows what was typed; everything that was seen is the same.
    assert differing <= {"state_digest", "final_digest"}


# --- ground truth ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rollout", [expert, talked, typed])
def test_no_episode_tells_its_answer(rollout: Callable[[], Rollout]) -> None:
    played = rollout()
    assert list(leaks(played.record, played.labels)) == []


def test_no_id_of_any_problem_or_fault_is_in_an_episode(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, About())
    for index, problem in enumerate((PROBLEM, TRAINED, "revoke_auth_mongodb-1")):
        writer.add(index, [expert(problem, index=index), typed(index)])
    writer.finish()
    ids = [each.id for each in curated()] + [each.name for each in declarations()]
    for name, data in files_below(tmp_path).items():
        if not name.startswith("labels"):
            told = data.decode()
            assert "[fault_spec]" not in told
            # Ids of a single word are words of Kubernetes, too; kinds of cause are listed for everybody.
            secret = [each for each in ids if "_" in each and each not in TAXONOMY]
            assert [each for each in secret if each in told] == [], name


def test_what_is_right_is_in_an_episode_only_where_the_agent_saw_it() -> None:
    """Of the values that a fault changed, those that nobody printed are in the labels alone."""
    rollout = typed()
    seen = "\n".join(message.content for message in rollout.record.messages)
    beside = rollout.record.model_dump_json(exclude={"messages", "diagnosis"})
    for spec in rollout.labels.specs:
        for value in (spec["resource_name"], spec["cause"], spec["wrong"], spec["right"]):
            if len(value) > 3 and value not in seen:
                assert value not in beside


def told(*messages: Message) -> list[str]:
    record = typed().record
    return list(leaks(record.model_copy(update={"messages": (*record.messages, *messages)}), typed().labels))


def test_a_leak_is_found() -> None:
    assert told(Message(role="tool", content=f"chaos/{PROBLEM}: active"))
    assert told(Message(role="user", content="[fault_spec] component=x"))
    assert told(Message(role="assistant", content="[fault_spec] component=x"))
    record = typed().record
    labelled = record.model_copy(update={"config": {**record.config, "problem": PROBLEM}})
    assert list(leaks(labelled, typed().labels))


def test_an_agent_may_guess_a_name_and_hear_it_again() -> None:
    guess = Message(role="assistant", content=f"echo {PROBLEM}")
    assert told(guess, Message(role="tool", content=PROBLEM)) == []
    assert told(Message(role="tool", content=PROBLEM), guess)


# --- contradictions -------------------------------------------------------------------------------


def step_changed(number: int, **changes: Any) -> Callable[[EpisodeRecord], EpisodeRecord]:
    def change(record: EpisodeRecord) -> EpisodeRecord:
        steps = list(record.steps)
        steps[number] = steps[number].model_copy(update=changes)
        return record.model_copy(update={"steps": tuple(steps)})

    return change


def changed(**changes: Any) -> Callable[[EpisodeRecord], EpisodeRecord]:
    return lambda record: record.model_copy(update=changes)


CONTRADICTIONS: dict[str, Callable[[EpisodeRecord], EpisodeRecord]] = {
    "is numbered": step_changed(1, t=5),
    "lies outside": step_changed(6, message_span=(12, 99)),
    "does not begin where": step_changed(1, message_span=(2, 4)),
    "messages after the last step": lambda record: record.model_copy(
        update={"messages": (*record.messages, Message(role="user", content="x"))}
    ),
    "no message before": step_changed(0, message_span=(0, 2)),
    "do not belong together": lambda record: record.model_copy(
        update={
            "messages": tuple(
                m.model_copy(update={"tool_call_id": "z"}) if m.role == "tool" else m for m in record.messages
            )
        }
    ),
    "ends the episode": step_changed(2, terminated=True),
    "has not ended": changed(exit_reason=""),
    "nothing says why": changed(failure=None),
    "succeeded and failed": changed(success=True),
    "has a return": changed(return_=None),
    "its reward is": step_changed(2, reward=0.5),
    "rewards of the steps sum": step_changed(6, reward=0.5),
    "rewards of the terms sum": changed(reward_terms={"mitigation": 1.0}),
}


@pytest.mark.parametrize(("what", "change"), CONTRADICTIONS.items())
def test_contradictions_are_found(what: str, change: Callable[[EpisodeRecord], EpisodeRecord]) -> None:
    assert any(what in text for text in incoherent(change(talked().record)))


@pytest.mark.parametrize("rollout", [expert, talked, typed, lambda: said(), lambda: said("ls")])
def test_records_agree_with_themselves(rollout: Callable[[], Rollout]) -> None:
    assert list(incoherent(rollout().record)) == []


# --- whole datasets -------------------------------------------------------------------------------


def sound(folder: Path) -> Path:
    writer = DatasetWriter(folder, About())
    writer.add(0, [expert(), talked(), typed()])
    writer.add(1, [expert(TRAINED, index=1)])
    writer.add(2, [said("submit mitigation", problem=BOTH, index=2)])
    writer.finish()
    return folder


def test_a_sound_dataset_is_found_sound(tmp_path: Path) -> None:
    assert validate(sound(tmp_path)) == ()
    write_mirror(tmp_path)
    assert validate(tmp_path) == ()


def rewritten(folder: Path, kind: str, change: Callable[[dict[str, Any]], None], split: str = "test") -> None:
    """Change the first line of a shard, and its hash: what a hash does not notice."""
    document = json.loads((folder / "dataset.json").read_text())
    for shard in document["shards"]:
        if shard["split"] == split:
            path = folder / shard[kind]["name"]
            lines = list(read_lines(path))
            first = orjson.loads(lines[0])
            change(first)
            data = compressed([orjson.dumps(first), *lines[1:]])
            path.write_bytes(data)
            shard[kind].update(bytes=len(data), sha256=sha256(data).hexdigest())
    (folder / "dataset.json").write_text(json.dumps(document))


SPOILED: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a changed byte": ("hashes", lambda folder: (folder / "episodes-00000.jsonl.zst").write_bytes(b"x")),
    "a lost file": ("files", lambda folder: (folder / "labels-00001.jsonl.zst").unlink()),
    "a stray file": ("files", lambda folder: (folder / "episodes-00009.jsonl.zst").write_bytes(b"")),
    "a missing key": (
        "schema",
        lambda folder: rewritten(folder, "episodes", lambda record: record.pop("seed")),
    ),
    "an unknown key": (
        "schema",
        lambda folder: rewritten(folder, "episodes", lambda record: record.update(fault="x")),
    ),
    "a contradiction": (
        "records",
        lambda folder: rewritten(folder, "episodes", lambda record: record.update(exit_reason="")),
    ),
    "other labels": (
        "labels",
        lambda folder: rewritten(folder, "labels", lambda labels: labels.update(rollout_id="x")),
    ),
    "half labels": (
        "labels",
        lambda folder: rewritten(folder, "labels", lambda labels: labels.update(specs=[])),
    ),
    "no problem": (
        "labels",
        lambda folder: rewritten(folder, "labels", lambda labels: labels.update(problem={})),
    ),
    "the answer": (
        "ground truth",
        lambda folder: rewritten(
            folder, "episodes", lambda record: record["messages"][0].update(content=f"It is {PROBLEM}.")
        ),
    ),
    "a key": (
        "secrets",
        lambda folder: rewritten(
            folder,
            "episodes",
            lambda record: record["messages"][0].update(content=f"\n{PLANTED['OPENAI_KEY']}"),
        ),
    ),
    "a wrong count": (
        "counts",
        lambda folder: (folder / "dataset.json").write_text(
            (folder / "dataset.json").read_text().replace('"succeeded": 2', '"succeeded": 3')
        ),
    ),
    "a wrong split": (
        "splits",
        lambda folder: (folder / "dataset.json").write_text(
            (folder / "dataset.json").read_text().replace('"split": "test"', '"split": "train"')
        ),
    ),
}


@pytest.mark.parametrize(("check", "spoil"), SPOILED.values(), ids=SPOILED.keys())
def test_what_is_wrong_is_found(tmp_path: Path, check: str, spoil: Callable[[Path], None]) -> None:
    spoil(sound(tmp_path))
    assert check in {finding.check for finding in validate(tmp_path)}


def test_an_unfinished_dataset_is_told_and_looked_through(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, About())
    broken = talked().record.model_copy(update={"exit_reason": ""})
    writer.add(0, [Rollout(broken, talked().labels)])
    assert [finding.check for finding in validate(tmp_path)] == ["finished", "records"]


def test_an_episode_twice_is_found(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, About())
    writer.add(0, [typed(), typed()])
    writer.finish()
    assert [finding.what for finding in validate(tmp_path)] == ["its rollout id is not the only one"]
