"""Episodes in a single file of lines, with or without its dataset around it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from sregym_env.errors import UsageError
from sregym_env.rollouts.dataset.files import CutOff, read_lines
from sregym_env.rollouts.dataset.reader import open_dataset
from sregym_env.rollouts.record import EpisodeRecord, Labels
from sregym_env.rollouts.runner import Rollout


def rollouts_of(path: Path) -> Iterator[Rollout]:
    """The episodes of a dataset's folder, or of one file ``episodes-...`` with ``labels-...`` beside it.

    Of a file that ends in the middle the whole lines, with a warning. Raises UsageError where there are no labels, or
    other ones.
    """
    if path.is_dir():
        yield from open_dataset(path).rollouts()
        return
    labels = path.with_name(path.name.replace("episodes", "labels", 1))
    if not path.is_file():
        raise UsageError(f"no episodes in {path}: there is no such file or folder")
    if labels == path or not labels.is_file():
        raise UsageError(f"{path} has no labels beside it ({labels.name}): nobody knows what was played")
    try:
        for episode, truth in zip(read_lines(path), read_lines(labels), strict=False):
            yield Rollout(EpisodeRecord.model_validate_json(episode), Labels.model_validate_json(truth))
    except CutOff as error:
        warnings.warn(f"{error}; the rest of it is left out", RuntimeWarning, stacklevel=2)
    except ValidationError as error:
        raise UsageError(f"{path} holds something else than episodes: {error.errors()[0]['msg']}") from error
