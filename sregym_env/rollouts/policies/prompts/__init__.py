"""What a model is told before the briefing: files that one can read and change.

``sre.md`` is for models that call tools, ``sre_text.md`` for those that write their actions into their words; ``brief.md``
says next to nothing, for training without our opinions.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from sregym_env.errors import UsageError

MAX_CHARS = 200_000
"""Longer files are no prompts."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system's prompt."""

    name: str
    """The shipped one's name, or the file's."""
    text: str

    @property
    def sha(self) -> str:
        """A hash of the text: names stay when texts change."""
        return sha256(self.text.encode()).hexdigest()[:16]


def shipped() -> tuple[str, ...]:
    """Names of the prompts that ship with the package."""
    names = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".md") for name in names if name.endswith(".md")))


def found(name: str) -> Prompt:
    """A prompt by its name or by the path of its file. Raises UsageError where there is none."""
    if name in shipped():
        return Prompt(name, files(__name__).joinpath(f"{name}.md").read_text("utf-8").strip())
    path = Path(name).expanduser()
    if not path.is_file():
        raise UsageError(f"no prompt {name!r}: there are {', '.join(shipped())}, or give the path of a file")
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"prompt {name}: {error}") from None
    if not text or len(text) > MAX_CHARS:
        raise UsageError(f"prompt {name}: the file has {len(text)} characters; 1 to {MAX_CHARS} are read")
    return Prompt(path.name, text)
