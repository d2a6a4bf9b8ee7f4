"""Runs become datasets: merged, filtered, counted, mirrored as tables; and the commands that do it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sregym_env.cli.main import app
from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.build import build
from sregym_env.rollouts.dataset.filters import CHARS_PER_TOKEN, Filter, estimated
from sregym_env.rollouts.dataset.manifest import About
from sregym_env.rollouts.dataset.parquet import write_mirror
from sregym_env.rollouts.dataset.reader import open_dataset
from sregym_env.rollouts.dataset.secrets import Scrubber
from sregym_env.rollouts.dataset.stats import BY, statistics
from sregym_env.rollouts.dataset.validation import validate
from sregym_env.rollouts.dataset.writer import DatasetWriter
from sregym_env.rollouts.runner import Rollout
from tests.rollouts.played import TRAINED, expert, said, talked, typed


def run_folder(folder: Path, *groups: list[Rollout], plan: str = "a") -> Path:
    writer = DatasetWriter(folder, About(run={"plan": plan}))
    for index, group in enumerate(groups):
        writer.add(index, group)
    writer.finish()
    return folder


@pytest.fixture(name="runs")
def two_runs(tmp_path: Path) -> tuple[Path, Path]:
    """A run of the expert and a model on one problem, and one of others."""
    broken = said("ls", index=1)
    return (
        run_folder(tmp_path / "one", [expert(), talked()], [broken]),
        run_folder(tmp_path / "two", [expert(TRAINED, index=7)], [typed(7)], plan="b"),
    )


FILTERS: dict[str, tuple[Filter, int]] = {
    "nothing": (Filter(), 5),
    "success": (Filter(success=True), 2),
    "failure": (Filter(success=False), 3),
    "trainable": (Filter(trainable=True), 4),
    "return": (Filter(min_return=0.9), 2),
    "some return": (Filter(min_return=0.0), 4),
    "exit": (Filter(exit_reasons=("infra",)), 1),
    "policy": (Filter(policies=("expert",)), 2),
    "tokens": (Filter(max_tokens=10), 0),
    "all": (Filter(success=True, policies=("says",)), 0),
}


@pytest.mark.parametrize(("filter", "left"), FILTERS.values(), ids=FILTERS.keys())
def test_filters_keep_what_is_wanted(
    tmp_path: Path, runs: tuple[Path, Path], filter: Filter, left: int
) -> None:
    built = build(runs, tmp_path / "out", filter=filter)
    assert (built.manifest.counts.episodes, built.filtered) == (left, 5 - left)
    assert all(filter.wants(record) for record in open_dataset(tmp_path / "out").episodes())
    assert built.manifest.about.run["filter"] == filter.to_dict()
    assert built.manifest.about.run["built_from"] == [{"plan": "a"}, {"plan": "b"}]


def test_a_built_dataset_is_sound_and_in_order(tmp_path: Path, runs: tuple[Path, Path]) -> None:
    build(runs, tmp_path / "out", title="Two runs")
    assert validate(tmp_path / "out") == ()
    dataset = open_dataset(tmp_path / "out")
    expected = [rollout for run in runs for rollout in open_dataset(run).rollouts()]
    assert list(dataset.rollouts()) == expected
    assert [index for index, _ in dataset.indexed()] == [0, 0, 1, 2, 3]
    assert dataset.manifest.about.title == "Two runs"


def test_duplicates_are_left_out(tmp_path: Path) -> None:
    twice = [talked(0, 1), talked(0, 2), expert()]
    other_seed = said("submit mitigation", seed=5, index=2)
    again = said("submit mitigation", seed=6, index=3)
    run = run_folder(tmp_path / "run", twice, [other_seed], [again])
    for dedupe, left in (("episode", 4), ("task", 3), ("none", 5)):
        built = build([run], tmp_path / dedupe, dedupe=dedupe)  # type: ignore[arg-type]
        assert (built.manifest.counts.episodes, built.duplicates) == (left, 5 - left), dedupe


def test_keys_are_refused_on_demand(tmp_path: Path) -> None:
    key = "sk-proj-" + "a1B2" * 8
    planted = said(f"echo {key}", "submit mitigation")
    run = tmp_path / "run"
    writer = DatasetWriter(run, About(), scrubber=_Blind())
    writer.add(0, [planted])
    writer.finish()
    assert key in (record := next(open_dataset(run).episodes())).to_json()
    with pytest.raises(UsageError, match="OPENAI_KEY") as refusal:
        build([run], tmp_path / "out", secrets="refuse")
    assert key not in str(refusal.value)
    assert not (tmp_path / "out").exists()
    build([run], tmp_path / "out")
    masked = next(open_dataset(tmp_path / "out").episodes())
    assert masked.to_json() == record.to_json().replace(key, "MASKED_OPENAI_KEY")


class _Blind(Scrubber):
    """A scrubber that sees nothing: for runs of before there was one."""

    def mask(self, value: Any, *, simulated: bool) -> Any:
        return value


def test_a_filter_that_nothing_passes_is_told(tmp_path: Path, runs: tuple[Path, Path]) -> None:
    code, told = sregym("dataset", "build", *runs, tmp_path / "out", "--policy", "nobody")
    assert code == 1
    assert "no episode is left" in told
    code, told = sregym("dataset", "build", *runs, tmp_path / "nan", "--min-return", "nan")
    assert (code, (tmp_path / "nan").exists()) == (2, False)
    assert "min_return must be a finite number" in told


def test_an_interrupted_build_leaves_nothing(
    tmp_path: Path, runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(DatasetWriter, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build(runs, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_is_built_over_something(tmp_path: Path, runs: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="not empty"):
        build(runs[:1], runs[1])


def test_statistics_count_by_family(runs: tuple[Path, Path]) -> None:
    one = {row["family"]: row for row in statistics(open_dataset(runs[0]))}
    assert list(one) == ["isolation", "all"]
    records = list(open_dataset(runs[0]).episodes())
    tokens = [estimated(record) for record in records]
    assert one["all"] == {
        "family": "all",
        "split": "test",
        "episodes": 3,
        "trainable": 2,
        "success": 0.5,
        "return": round(sum(record.return_ or 0 for record in records) / 2, 3),
        "steps": round(sum(len(record.steps) for record in records) / 3, 1),
        "most_steps": max(len(record.steps) for record in records),
        "tokens": round(sum(tokens) / 3),
        "most_tokens": max(tokens),
        "all_tokens": sum(tokens),
    }


@pytest.mark.parametrize("by", BY)
def test_statistics_by_anything_add_up(runs: tuple[Path, Path], by: str) -> None:
    *rows, everything = statistics(open_dataset(runs[0]), by)
    for name in ("episodes", "trainable", "all_tokens"):
        assert sum(row[name] for row in rows) == everything[name]
    with pytest.raises(UsageError, match="cannot count by"):
        statistics(open_dataset(runs[0]), "weather")


def test_tokens_are_about_a_third_of_the_characters() -> None:
    record = talked().record
    characters = sum(len(message.content) for message in record.messages) + len(str(record.tools))
    assert estimated(record) >= characters // CHARS_PER_TOKEN


def test_the_tables_hold_what_the_lines_hold(tmp_path: Path, runs: tuple[Path, Path]) -> None:
    import pyarrow.parquet

    build(runs, tmp_path / "out")
    manifest = write_mirror(tmp_path / "out")
    assert [file.name for file in manifest.parquet] == [
        f"{kind}/{split}-00000.parquet" for split in ("train", "test") for kind in ("episodes", "steps")
    ]
    records = list(open_dataset(tmp_path / "out").episodes("test"))
    episodes = pyarrow.parquet.read_table(tmp_path / "out/episodes/test-00000.parquet").to_pylist()
    assert [row["rollout_id"] for row in episodes] == [record.rollout_id for record in records]
    assert [row["return"] for row in episodes] == [record.return_ for record in records]
    assert [json.loads(row["messages"]) for row in episodes] == [
        json.loads(record.to_json())["messages"] for record in records
    ]
    steps = pyarrow.parquet.read_table(tmp_path / "out/steps/test-00000.parquet").to_pylist()
    assert [(row["action"], row["observation"], row["reward"]) for row in steps] == [
        (record.action(step), record.observation(step), step.reward)
        for record in records
        for step in record.steps
    ]
    assert "steps/*.parquet" in (tmp_path / "out" / "README.md").read_text()
    assert validate(tmp_path / "out") == ()


# --- commands -------------------------------------------------------------------------------------


def sregym(*arguments: str | Path) -> tuple[int, str]:
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
    return answer.exit_code, answer.output


def test_the_way_from_runs_to_files_for_a_trainer(tmp_path: Path, runs: tuple[Path, Path]) -> None:
    code, printed = sregym("dataset", "build", *runs, tmp_path / "out", "--trainable", "--parquet", "--json")
    assert code == 0
    (row,) = json.loads(printed)
    assert (row["episodes"], row["filtered"], row["split train"], row["split test"]) == (4, 1, 1, 3)
    assert sregym("dataset", "validate", tmp_path / "out") == (0, f"{tmp_path / 'out'} is sound\n")
    code, printed = sregym("dataset", "stats", tmp_path / "out", "--by", "split", "--json")
    assert [(each["split"], each["episodes"]) for each in json.loads(printed)][:2] == [
        ("test", 3),
        ("train", 1),
    ]
    code, printed = sregym(
        "dataset",
        "export",
        tmp_path / "out",
        tmp_path / "files",
        "--format",
        "trl",
        "--split",
        "train",
        "--json",
    )
    assert (code, json.loads(printed)[0]["rows"]) == (0, 1)
    assert [path.name for path in sorted((tmp_path / "files").iterdir())] == [
        "trl-train.jsonl",
        "trl-train.report.json",
    ]
    code, printed = sregym("dataset", "export", tmp_path / "out", tmp_path / "files", "--text-calls")
    assert code == 0
    assert "observations after the last turn" in printed


def test_replay_tells_by_its_exit_code(tmp_path: Path, runs: tuple[Path, Path]) -> None:
    code, printed = sregym("replay", runs[0], "--jobs", "2", "--json")
    assert (code, [row["equal"] for row in json.loads(printed)]) == (0, [True] * 3)
    forged = talked().record.model_copy(update={"return_": 1.0})
    folder = run_folder(tmp_path / "forged", [typed(), Rollout(forged, talked().labels)])
    code, printed = sregym("replay", folder)
    assert code == 1
    assert "return_: recorded 1.0" in printed
    code, printed = sregym("replay", folder, "--episode", typed().record.rollout_id[:12])
    assert code == 0
    assert forged.rollout_id not in printed
    (path,) = folder.glob("episodes-*")
    assert sregym("replay", path, "--limit", "1")[0] == 0


def test_a_file_of_lines_is_replayed_up_to_where_it_is_cut(tmp_path: Path) -> None:
    first, second = typed(), talked()
    lines = f"{first.record.to_json()}\n{second.record.to_json()[:-50]}"
    (tmp_path / "episodes.jsonl").write_text(lines)
    (tmp_path / "labels.jsonl").write_text(f"{first.labels.to_json()}\n{second.labels.to_json()}\n")
    with pytest.warns(RuntimeWarning, match="left out"):
        code, printed = sregym("replay", tmp_path / "episodes.jsonl", "--json")
    assert (code, [row["episode"] for row in json.loads(printed)]) == (0, [first.record.rollout_id])


WRONG: tuple[tuple[str, ...], ...] = (
    ("replay", "/nowhere"),
    ("replay", "RUN", "--episode", "zzz"),
    ("dataset", "build", "RUN"),
    ("dataset", "build", "RUN", "RUN"),
    ("dataset", "build", "RUN", "OUT", "--dedupe", "mostly"),
    ("dataset", "export", "RUN", "OUT", "--format", "csv"),
    ("dataset", "export", "RUN", "OUT", "--split", "dev"),
    ("dataset", "export", "RUN", "OUT", "--format", "minari", "--minari-id", "a b c"),
    ("dataset", "stats", "/nowhere"),
    ("dataset", "stats", "RUN", "--by", "weather"),
    ("dataset", "validate", "/nowhere"),
)


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_mistakes_are_told_in_a_line(tmp_path: Path, runs: tuple[Path, Path], words: tuple[str, ...]) -> None:
    named = {"RUN": str(runs[0]), "OUT": str(tmp_path / "new")}
    code, printed = sregym(*(named.get(word, word) for word in words))
    assert code == 2
    assert printed.startswith("sregym: ")
    assert "Traceback" not in printed


def test_a_dataset_that_is_not_sound_is_told_by_the_exit_code(runs: tuple[Path, Path]) -> None:
    (runs[0] / "labels-00000.jsonl.zst").unlink()
    code, printed = sregym("dataset", "validate", runs[0])
    assert code == 1
    assert "is missing" in printed
