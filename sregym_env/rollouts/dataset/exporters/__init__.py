"""Formats that trainers and viewers read, by name, and writing them.

A dataset's splits are written apart, each to a file or folder that is named after it; what lies in several splits is
written only when it is asked for.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.exporters.atif import ATIF
from sregym_env.rollouts.dataset.exporters.exporter import Exported, Format, Losses, Settings, Source
from sregym_env.rollouts.dataset.exporters.minari_dataset import MINARI
from sregym_env.rollouts.dataset.exporters.openai_chat import OPENAI
from sregym_env.rollouts.dataset.exporters.sessions import SESSIONS
from sregym_env.rollouts.dataset.exporters.sharegpt import SHAREGPT
from sregym_env.rollouts.dataset.exporters.tasks import TASKS
from sregym_env.rollouts.dataset.exporters.trl import TRL_PREFERENCE, TRL_SFT
from sregym_env.rollouts.dataset.files import write_whole
from sregym_env.rollouts.dataset.filters import Filter
from sregym_env.rollouts.dataset.reader import Dataset
from sregym_env.rollouts.dataset.splits import MIXED, SPLITS

__all__ = ["FORMATS", "Exported", "Settings", "export", "format_named"]

FORMATS: Final[Mapping[str, Format]] = {
    each.name: each for each in (OPENAI, TRL_SFT, TRL_PREFERENCE, SHAREGPT, ATIF, MINARI, TASKS, SESSIONS)
}


def format_named(name: str) -> Format:
    """A format by name. Raises UsageError for one that there is not."""
    if name not in FORMATS:
        raise UsageError(f"no format {name!r}; there are {', '.join(FORMATS)}")
    return FORMATS[name]


def export(
    dataset: Dataset,
    out: Path,
    format: str,
    *,
    splits: Sequence[str] = (),
    filter: Filter = Filter(),
    settings: Settings = Settings(),
) -> tuple[Exported, ...]:
    """Write splits of a dataset in a format, beside a report of what was lost: ``FORMAT-SPLIT.report.json``.

    Without ``splits`` all that there are, except the mixed one. Raises UsageError for a format or split there is not, for
    settings that the format does not heed, and where no episode is wanted: what an earlier export has left stays as it was then.
    """
    chosen = format_named(format)
    chosen.demand_fit(settings)
    if not splits:
        splits = [split for split in dataset.splits if split != MIXED]
    for split in splits:
        if split not in SPLITS:
            raise UsageError(f"no split {split!r}; there are {', '.join(SPLITS)}")
    if not any(any(True for _ in Source(dataset, split, filter).records()) for split in splits):
        wanted = ", ".join(f"{name}={value}" for name, value in filter.to_dict().items())
        raise UsageError(
            f"no episode of {dataset.folder} is wanted ({wanted or 'it has none'}); nothing is written"
        )
    out.mkdir(parents=True, exist_ok=True)
    return tuple(_export(Source(dataset, split, filter), out, chosen, settings) for split in splits)


def _export(source: Source, out: Path, format: Format, settings: Settings) -> Exported:
    path = out / f"{format.name}-{source.split}{format.suffix}"
    told = out / f"{format.name}-{source.split}.report.json"
    if path.is_dir():
        # An earlier export, whose files must not be mixed with those of this one.
        if not told.exists():
            raise UsageError(f"{path} exists and is no export; choose another folder")
        shutil.rmtree(path)
    losses = Losses()
    rows = format.write(source, path, settings, losses)
    exported = Exported(format.name, source.split, path, rows, losses.counts)
    report = json.dumps(exported.to_dict(), indent=2)
    write_whole(told, f"{report}\n".encode())
    return exported
