"""Exported files load in packages that are too heavy for every checkout: `make exports` runs this with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sregym_env.rollouts.dataset.exporters import Settings, export
from sregym_env.rollouts.dataset.manifest import About
from sregym_env.rollouts.dataset.parquet import write_mirror
from sregym_env.rollouts.dataset.reader import open_dataset
from sregym_env.rollouts.dataset.writer import DatasetWriter
from tests.rollouts.played import expert, talked, typed

datasets: Any = pytest.importorskip("datasets")


@pytest.fixture(name="folder", scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dataset")
    writer = DatasetWriter(folder, About())
    writer.add(0, [expert(), talked(), typed()])
    writer.finish()
    write_mirror(folder)
    return folder


def load(path: Path, tmp_path: Path) -> Any:
    return datasets.load_dataset(
        "json", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache")
    )


@pytest.mark.parametrize("format", ["openai", "trl", "trl-preference", "sharegpt", "tasks"])
def test_rows_load_as_they_were_written(folder: Path, tmp_path: Path, format: str) -> None:
    """Above all: arguments of different tools are not filled up with each other's keys."""
    (exported,) = export(open_dataset(folder), tmp_path, format, settings=Settings(text_calls=True))
    loaded = load(exported.path, tmp_path)
    assert [dict(row) for row in loaded] == [
        json.loads(line) for line in exported.path.read_text().splitlines()
    ]


def test_the_card_tells_datasets_what_there_is(folder: Path, tmp_path: Path) -> None:
    names = datasets.get_dataset_config_names(str(folder))
    assert set(names) == {"episodes", "labels"}
    for name in names:
        loaded = datasets.load_dataset(str(folder), name, cache_dir=str(tmp_path / name))
        assert {split: len(loaded[split]) for split in loaded} == {"test": 3}, name
    tables = str(folder / "steps" / "*.parquet")
    steps = datasets.load_dataset(
        "parquet", data_files=tables, split="train", cache_dir=str(tmp_path / "steps")
    )
    records = list(open_dataset(folder).episodes())
    assert steps["action"][:3] == list(records[0].actions[:3])


def test_pandas_reads_the_tables(folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    steps = pandas.read_parquet(folder / "steps" / "test-00000.parquet")
    episodes = pandas.read_parquet(folder / "episodes" / "test-00000.parquet")
    rewards = steps.groupby("rollout_id")["reward"].sum()
    returned = episodes.set_index("rollout_id")["return"]
    assert (rewards - returned).abs().max() < 1e-4
