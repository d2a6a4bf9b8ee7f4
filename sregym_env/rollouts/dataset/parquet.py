"""The Parquet mirror: a table of episodes and one of steps per split, for analysis; the lines of JSON stay the truth.

Values that are nested in the record are columns of JSON text. Columns have the record's names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.card import write_card
from sregym_env.rollouts.dataset.files import digest, put_in_place
from sregym_env.rollouts.dataset.manifest import File, Manifest
from sregym_env.rollouts.dataset.reader import Dataset, open_dataset
from sregym_env.rollouts.record import EpisodeRecord

_BATCH = 256
"""Episodes in memory at a time."""

_EPISODE: Final[Mapping[str, str]] = {
    "rollout_id": "string",
    "run_id": "string",
    "group_id": "string",
    "sample_index": "int64",
    "attempt": "int64",
    "task_id": "string",
    "episode_id": "string",
    "backend": "string",
    "seed": "int64",
    "config": "json",
    "policy": "json",
    "package": "json",
    "created_at": "string",
    "tools": "json",
    "messages": "json",
    "return": "float64",
    "reward_terms": "json",
    "success": "bool",
    "exit_reason": "string",
    "failure": "json",
    "trainable": "bool",
    "diagnosis": "string",
    "grade": "json",
    "oracle": "json",
    "ttd_s": "float64",
    "ttm_s": "float64",
    "sim_time_s": "float64",
    "commands": "int64",
    "usage": "json",
    "wall_s": "float64",
    "final_digest": "string",
}

_STEP: Final[Mapping[str, str]] = {
    "rollout_id": "string",
    "t": "int64",
    "action": "string",
    "observation": "string",
    "reward": "float64",
    "reward_terms": "json",
    "terminated": "bool",
    "truncated": "bool",
    "tool": "string",
    "exit_code": "int64",
    "error_type": "string",
    "obs_truncated": "bool",
    "stage": "string",
    "commands": "int64",
    "sim_time_s": "float64",
    "potential": "float64",
    "state_digest": "string",
    "tokens": "json",
    "usage": "json",
    "finish_reason": "string",
    "timing": "json",
}


def write_mirror(folder: Path) -> Manifest:
    """Write ``episodes/*.parquet`` and ``steps/*.parquet`` into a finished dataset, and note them in its manifest.

    Raises UsageError without pyarrow, and for a dataset that is not finished.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise UsageError("pyarrow is not installed; install sregym-env[data]") from error
    dataset = open_dataset(folder)
    if not dataset.manifest.finished:
        raise UsageError(f"{folder} is not finished: go on with the run")
    files = []
    for split in dataset.splits:
        for kind, columns, rows in (("episodes", _EPISODE, _episodes), ("steps", _STEP, _steps)):
            path = folder / kind / f"{split}-00000.parquet"
            path.parent.mkdir(exist_ok=True)
            _write(pyarrow, path, columns, dataset, split, rows)
            name = path.relative_to(folder).as_posix()
            files.append(File(name=name, bytes=path.stat().st_size, sha256=digest(path)))
    manifest = dataset.manifest.model_copy(update={"parquet": tuple(files)})
    write_card(folder, manifest)
    manifest.write(folder)
    return manifest


def _write(
    pyarrow: ModuleType,
    path: Path,
    columns: Mapping[str, str],
    dataset: Dataset,
    split: str,
    rows: Callable[[EpisodeRecord], Iterator[dict[str, Any]]],
) -> None:
    kinds = {
        "string": pyarrow.string(),
        "json": pyarrow.string(),
        "int64": pyarrow.int64(),
        "float64": pyarrow.float64(),
        "bool": pyarrow.bool_(),
    }
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    temporary = path.with_name(f".{path.name}.new")
    records = dataset.episodes(split)
    with pyarrow.parquet.ParquetWriter(temporary, schema, compression="zstd") as writer:
        while batch := list(islice(records, _BATCH)):
            told = [_row(row, columns) for record in batch for row in rows(record)]
            if told:
                writer.write_table(pyarrow.Table.from_pylist(told, schema=schema))
    put_in_place(temporary, path)


def _episodes(record: EpisodeRecord) -> Iterator[dict[str, Any]]:
    yield record.model_dump(mode="json", by_alias=True, exclude={"steps"})


def _steps(record: EpisodeRecord) -> Iterator[dict[str, Any]]:
    for step in record.steps:
        yield {
            "rollout_id": record.rollout_id,
            "action": record.action(step),
            "observation": record.observation(step),
            **step.model_dump(mode="json"),
        }


def _row(values: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    return {name: _cell(values[name], kind) for name, kind in columns.items()}


def _cell(value: Any, kind: str) -> Any:
    return value if value is None or kind != "json" else json.dumps(value, ensure_ascii=False, sort_keys=True)
