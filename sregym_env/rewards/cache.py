"""What was judged once need not be judged again: grades on disk, one file each, shared by processes and machines."""

from __future__ import annotations

import os
import secrets
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from sregym_env.llm.messages import Frozen
from sregym_env.rewards.checklist import Answer, checklist


class _Kept(Frozen):
    """One answer on disk."""

    id: str
    answer: Literal["yes", "no"]
    evidence: str


class _Entry(Frozen):
    """One file. It holds no prompt, no truth and no key of an endpoint."""

    format: Literal["sregym-judgement/1"] = "sregym-judgement/1"
    key: str
    model: str
    answers: tuple[_Kept, ...]


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of answers by key. A file that cannot be read or written costs a warning and never an episode."""

    folder: Path

    def get(self, key: str) -> tuple[Answer, ...] | None:
        """The answers under a key; None if there are none that can be used."""
        path = self._path(key)
        try:
            entry = _Entry.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            _warn(f"the kept judgement {path} is ignored: {type(error).__name__}")
            return None
        if entry.key != key or [kept.id for kept in entry.answers] != [q.id for q in checklist().questions]:
            _warn(f"the kept judgement {path} is ignored: it answers something else")
            return None
        return tuple(Answer(kept.id, kept.answer == "yes", kept.evidence) for kept in entry.answers)

    def put(self, key: str, model: str, answers: tuple[Answer, ...]) -> None:
        """Keep answers. Who reads at the same time sees all of them or none."""
        entry = _Entry(key=key, model=model, answers=tuple(_Kept(**answer.to_dict()) for answer in answers))
        path = self._path(key)
        # Not the process id, which machines that share a folder have in common.
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(entry.model_dump_json(indent=1), "utf-8")
            os.replace(unfinished, path)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink()
            _warn(f"a judgement could not be kept in {path}: {error.strerror}")

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=4)
