"""Datasets: written in any order, killed at any moment, read as streams."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.errors import UsageError
from sregym_env.llm.messages import Function, Message, call
from sregym_env.rollouts.dataset import files
from sregym_env.rollouts.dataset.files import CutOff, compressed, read_lines
from sregym_env.rollouts.dataset.manifest import About, read_manifest
from sregym_env.rollouts.dataset.parts import PARTS, part_paths
from sregym_env.rollouts.dataset.reader import open_dataset
from sregym_env.rollouts.dataset.writer import DatasetWriter
from sregym_env.rollouts.runner import Rollout
from tests.rollouts.played import BOTH, PROBLEM, TRAINED, expert, said, talked, typed

RUN = About(title="Tests", run={"plan": "a"})


def groups() -> dict[int, list[Rollout]]:
    """Groups of two splits and one of several families."""
    mixed = said("submit mitigation", problem=BOTH, index=2)
    return {
        0: [expert(index=0), talked(0), typed(0)],
        1: [expert(TRAINED, index=1)],
        2: [mixed],
        5: [talked(5, 0)],
    }


def written(folder: Path, order: Sequence[int] = (0, 1, 2, 5), **options: Any) -> Path:
    writer = DatasetWriter(folder, RUN, **options)
    for index in order:
        writer.add(index, groups()[index])
    writer.finish()
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_what_is_written_is_read(tmp_path: Path) -> None:
    dataset = open_dataset(written(tmp_path))
    everything = [rollout for _, group in sorted(groups().items()) for rollout in group]
    assert list(dataset.rollouts()) == everything
    assert list(dataset.episodes()) == [rollout.record for rollout in everything]
    assert dataset.labels() == {rollout.record.rollout_id: rollout.labels for rollout in everything}
    assert [index for index, _ in dataset.indexed()] == [0, 0, 0, 1, 2, 5]


def test_the_order_of_arrival_leaves_no_trace(tmp_path: Path) -> None:
    forwards = written(tmp_path / "a")
    assert contents(forwards) == contents(written(tmp_path / "b", (5, 2, 0, 1))) == whole()
    assert sorted(contents(forwards)) == [
        "README.md",
        "dataset.json",
        *(f"episodes-0000{number}.jsonl.zst" for number in range(3)),
        *(f"labels-0000{number}.jsonl.zst" for number in range(3)),
    ]


def test_an_interrupted_run_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    first = DatasetWriter(tmp_path / "a", RUN)
    first.add(1, groups()[1])
    second = DatasetWriter(tmp_path / "a", RUN)
    assert second.done == {1}
    for index in (5, 0, 2):
        second.add(index, groups()[index])
    second.finish()
    assert contents(tmp_path / "a") == whole()


def test_a_finished_dataset_can_grow(tmp_path: Path) -> None:
    written(tmp_path / "a", (0, 5))
    writer = DatasetWriter(tmp_path / "a", RUN)
    assert writer.done == {0, 5}
    writer.add(2, groups()[2])
    writer.add(1, groups()[1])
    assert not open_dataset(tmp_path / "a").manifest.finished
    writer.finish()
    assert contents(tmp_path / "a") == whole()


def test_finishing_twice_changes_nothing(tmp_path: Path) -> None:
    before = contents(written(tmp_path))
    DatasetWriter(tmp_path, RUN).finish()
    assert contents(tmp_path) == before


def test_a_group_that_comes_again_replaces_itself(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, RUN)
    writer.add(0, [typed(0)])
    writer.add(0, [talked(0)])
    writer.finish()
    assert [record.policy.model for record in open_dataset(tmp_path).episodes()] == ["talker-1"]


def test_a_growing_dataset_can_be_read(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, RUN)
    writer.add(5, groups()[5])
    writer.add(0, groups()[0])
    dataset = open_dataset(tmp_path)
    assert not dataset.manifest.finished
    assert [record.rollout_id for record in dataset.episodes()] == [
        rollout.record.rollout_id for rollout in (*groups()[0], *groups()[5])
    ]
    assert len(dataset.labels()) == 4
    assert dataset.splits == ("test",)
    assert list(dataset.episodes("train")) == []


@cache
def whole() -> dict[str, bytes]:
    """The files of the dataset that nothing happened to."""
    with TemporaryDirectory() as folder:
        return contents(written(Path(folder)))


CUTS = (0, 1, 20, -30, -1)
"""Where a part is cut: an empty file, its magic number, its beginning, its end, its last byte."""


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("which", [0, 1], ids=["episodes", "labels"])
def test_a_part_that_was_cut_off_is_not_there(tmp_path: Path, which: int, cut: int) -> None:
    writer = DatasetWriter(tmp_path, RUN)
    for index in (0, 1):
        writer.add(index, groups()[index])
    path = part_paths(tmp_path, 1)[which]
    path.write_bytes(path.read_bytes()[:cut])
    assert [record.group_id for record in open_dataset(tmp_path).episodes()] == ["group-0"] * 3
    again = DatasetWriter(tmp_path, RUN)
    assert again.done == {0}
    again.add(1, groups()[1])
    again.finish()
    assert len(list(open_dataset(tmp_path).episodes())) == 4


def test_a_damaged_part_is_not_there(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, RUN)
    writer.add(1, groups()[1])
    path, _ = part_paths(tmp_path, 1)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))
    assert DatasetWriter(tmp_path, RUN).done == frozenset()


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    held, done = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        writer = DatasetWriter(tmp_path, RUN)
        os.write(held[1], b".")
        os.read(done[0], 1)
        os._exit(0 if writer.done == frozenset() else 1)
    os.read(held[0], 1)
    with pytest.raises(UsageError, match="being written by another process"):
        DatasetWriter(tmp_path, RUN)
    os.write(done[1], b".")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    first = DatasetWriter(tmp_path, RUN)
    # In one process writers follow each other.
    DatasetWriter(tmp_path, RUN).add(0, [typed(0)])
    assert first.done == frozenset()


@pytest.mark.parametrize("line", [b'{"rollout_id": "x', b"\xff\xfe"])
def test_a_part_with_a_line_that_nobody_can_read_is_not_there(tmp_path: Path, line: bytes) -> None:
    DatasetWriter(tmp_path, RUN).add(0, [typed(0)])
    part_paths(tmp_path, 0)[0].write_bytes(compressed([line]))
    assert DatasetWriter(tmp_path, RUN).done == frozenset()


def test_a_record_that_nobody_can_read_is_told_with_its_place(tmp_path: Path) -> None:
    DatasetWriter(tmp_path, RUN).add(0, [typed(0)])
    (line,) = read_lines(part_paths(tmp_path, 0)[0])
    record = json.loads(line)
    del record["policy"]
    part_paths(tmp_path, 0)[0].write_bytes(compressed([json.dumps(record).encode()]))
    with pytest.raises(
        UsageError, match=r"an episode cannot be read: policy: Field required; the line begins"
    ):
        list(open_dataset(tmp_path).episodes())


@pytest.mark.parametrize("moment", [0, 1])
def test_a_killed_writer_leaves_whole_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """Killed with SIGKILL before the labels or the episodes of the second group get their name."""
    writer = DatasetWriter(tmp_path, RUN)
    writer.add(0, [typed(0)])
    second = typed(1)
    renamed = count()
    real = os.replace

    def replace(source: Any, target: Any) -> None:
        if next(renamed) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        real(source, target)

    child = os.fork()
    if not child:
        monkeypatch.setattr(os, "replace", replace)
        writer.add(1, [second])
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    again = DatasetWriter(tmp_path, RUN)
    assert again.done == {0}
    again.finish()
    assert [record.group_id for record in open_dataset(tmp_path).episodes()] == ["group-0"]
    assert not [name for name in contents(tmp_path) if name.endswith(".new") or PARTS in name]


@pytest.mark.parametrize("moment", [0, 3, 6, 7])
def test_putting_together_can_break_off_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    writer = DatasetWriter(tmp_path, RUN)
    for index, group in groups().items():
        writer.add(index, group)
    renamed = count()
    real = os.replace

    def replace(source: Any, target: Any) -> None:
        if next(renamed) == moment:
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        writer.finish()
    monkeypatch.undo()
    assert len(list(open_dataset(tmp_path).episodes())) == 6
    again = DatasetWriter(tmp_path, RUN)
    assert again.done == {0, 1, 2, 5}
    again.finish()
    assert contents(tmp_path) == whole()


def test_another_run_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    with pytest.raises(UsageError, match="differs in plan"):
        DatasetWriter(tmp_path, About(run={"plan": "b"}))
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        DatasetWriter(tmp_path / "else", RUN)
    with pytest.raises(UsageError, match="no dataset in"):
        open_dataset(tmp_path / "else")


@pytest.mark.parametrize(("index", "size"), [(-1, 1), (0, 0)])
def test_groups_have_an_index_and_episodes(tmp_path: Path, index: int, size: int) -> None:
    with pytest.raises(UsageError):
        DatasetWriter(tmp_path, RUN).add(index, [typed(0)] * size)


def test_shards_are_bounded_and_stay_in_order(tmp_path: Path) -> None:
    manifest = read_manifest(written(tmp_path, shard_bytes=1))
    assert [(shard.split, shard.lines, shard.groups) for shard in manifest.shards] == [
        ("train", 1, ((1, 1, 1),)),
        ("test", 3, ((0, 1, 3),)),
        ("test", 1, ((5, 1, 1),)),
        ("mixed", 1, ((2, 1, 1),)),
    ]
    assert [index for index, _ in open_dataset(tmp_path).indexed()] == [0, 0, 0, 1, 2, 5]
    for shard in manifest.shards:
        for file in (shard.episodes, shard.labels):
            assert files.digest(tmp_path / file.name) == file.sha256
            assert (tmp_path / file.name).stat().st_size == file.bytes


def test_many_groups_take_few_words_in_the_manifest(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, RUN)
    for index in (*range(20), 30, 31):
        writer.add(index, [typed(0)])
    manifest = writer.finish()
    assert [shard.groups for shard in manifest.shards] == [((0, 20, 1), (30, 2, 1))]
    assert manifest.groups == {*range(20), 30, 31}


def test_splits_go_by_what_is_wrong(tmp_path: Path) -> None:
    dataset = open_dataset(written(tmp_path))
    found = {
        split: {labels.problem["id"] for labels in dataset.labels(split).values()} for split in dataset.splits
    }
    assert found == {"train": {TRAINED}, "test": {PROBLEM}, "mixed": {"two-causes"}}
    assert dataset.manifest.splits == {"train": 1, "test": 4, "mixed": 1}
    with pytest.raises(UsageError, match="no split 'dev'"):
        list(dataset.episodes("dev"))


def test_the_manifest_says_how_it_came_about(tmp_path: Path) -> None:
    manifest = read_manifest(written(tmp_path))
    assert manifest.counts.model_dump() == {
        "groups": 4,
        "episodes": 6,
        "steps": sum(len(rollout.record.steps) for group in groups().values() for rollout in group),
        "trainable": 6,
        "succeeded": 2,
        "masked_secrets": 0,
    }
    assert sorted(str(policy["model"]) for policy in manifest.policies) == ["None", "None", "talker-1"]
    assert manifest.judges == (expert().record.config["judge"],)
    assert all("judge" not in each for each in manifest.configurations)
    assert manifest.about == RUN


def test_the_card_has_the_front_matter_that_hubs_read(tmp_path: Path) -> None:
    _, front, text = (written(tmp_path) / "README.md").read_text().split("---\n", 2)
    card = yaml.safe_load(front)
    assert card["license"] == "apache-2.0"
    assert card["task_categories"] == ["text-generation", "reinforcement-learning"]
    assert card["size_categories"] == ["n<1K"]
    manifest = read_manifest(tmp_path)
    for config in card["configs"]:
        listed = {each["split"]: each["path"] for each in config["data_files"]}
        assert listed == {
            split: [
                getattr(shard, config["config_name"]).name
                for shard in manifest.shards
                if shard.split == split
            ]
            for split in ("train", "test", "mixed")
        }
    assert "# Tests" in text
    assert "6 episodes in 4 groups" in text


def test_a_dataset_without_labels_can_be_read(tmp_path: Path) -> None:
    for path in written(tmp_path).glob("labels-*"):
        path.unlink()
    dataset = open_dataset(tmp_path)
    assert len(list(dataset.episodes("test"))) == 4
    assert dataset.labels() == {}
    with pytest.raises(UsageError, match="without its labels"):
        list(dataset.rollouts())


def test_a_shard_that_was_cut_off_is_told(tmp_path: Path) -> None:
    (shard,) = (each for each in read_manifest(written(tmp_path)).shards if each.split == "test")
    path = tmp_path / shard.episodes.name
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(CutOff, match=shard.episodes.name):
        list(open_dataset(tmp_path).episodes())


def test_shards_are_read_by_other_tools(tmp_path: Path) -> None:
    """One frame a file: many readers stop after the first."""
    for shard in read_manifest(written(tmp_path)).shards:
        with zstandard.open(tmp_path / shard.episodes.name, "rt") as file:
            assert [json.loads(line)["schema_version"] for line in file] == [
                "sregym-episodes/1"
            ] * shard.lines


ODD = 'a half \ud800 character, a line\u2028separator, "quotes" and \\ more'


def test_what_models_write_can_be_written_down(tmp_path: Path) -> None:
    """Half characters and numbers beyond 64 bits come out of models and fit into no file."""
    odd = typed(0).record
    huge = Message(
        role="assistant",
        content=ODD,
        tool_calls=(
            call("c", "wait").model_copy(
                update={"function": Function(name="wait", arguments={"seconds": 2**70})}
            ),
        ),
    )
    record = odd.model_copy(update={"messages": (huge, *odd.messages)})
    writer = DatasetWriter(tmp_path, RUN)
    writer.add(0, [Rollout(record, typed(0).labels)])
    writer.finish()
    (read,) = open_dataset(tmp_path).episodes()
    assert read.messages[0].content == ODD.replace("\ud800", "?")
    assert read.messages[0].tool_calls[0].function.arguments == {"seconds": 2**70}
    assert read.messages[1:] == odd.messages


@given(
    st.lists(st.binary(min_size=1, max_size=40).map(lambda line: line.replace(b"\n", b" ")), max_size=8),
    st.data(),
)
def test_lines_are_read_up_to_where_a_file_is_cut(lines: list[bytes], data: st.DataObject) -> None:
    whole = compressed(lines)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lines.jsonl.zst"
        path.write_bytes(whole)
        assert list(read_lines(path)) == lines
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
        read = []
        with pytest.raises(CutOff):
            for line in read_lines(path):
                read.append(line)
        assert read == lines[: len(read)]


def test_plain_lines_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_bytes(b"one\ntwo\nthr")
    lines = read_lines(path)
    assert [next(lines), next(lines)] == [b"one", b"two"]
    with pytest.raises(CutOff):
        next(lines)


def test_reading_holds_one_group_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = DatasetWriter(tmp_path, RUN)
    for index in range(40):
        writer.add(index, [typed(0)])
    writer.finish()
    monkeypatch.setattr(files, "_CHUNK", 64)
    read = 0
    real = files._chunks

    def counting(path: Path) -> Any:
        nonlocal read
        for chunk in real(path):
            read += 1
            yield chunk

    monkeypatch.setattr(files, "_chunks", counting)
    episodes = open_dataset(tmp_path).episodes()
    next(episodes)
    first = read
    assert len(list(episodes)) == 39
    assert first < read
