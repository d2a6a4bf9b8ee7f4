"""Cues: regular expressions that are written as data, a phrase a line, with named lists of words in them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

_NAME = re.compile(r"\{([a-z_]+)\}")


class Cues(BaseModel):
    """A file of cues. ``words``: alternatives by name. ``cues``: by name the forms of a cue. In both ``{name}``
    stands for the words of that name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: Mapping[str, tuple[str, ...]]
    cues: Mapping[str, tuple[str, ...]]

    def compiled(self) -> dict[str, re.Pattern[str]]:
        """Each cue as one expression: of several forms that fit at one place the first counts.

        Raises KeyError for a name that no list of words has.
        """
        return {name: re.compile("|".join(map(self._spelt, forms))) for name, forms in self.cues.items()}

    def _spelt(self, form: str) -> str:
        return _NAME.sub(lambda match: f"(?:{'|'.join(map(self._spelt, self.words[match[1]]))})", form)


def cues_of(name: str) -> dict[str, re.Pattern[str]]:
    """The cues of a file beside this module."""
    text = files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return Cues.model_validate(tomllib.loads(text)).compiled()
