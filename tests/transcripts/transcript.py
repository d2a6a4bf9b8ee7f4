"""Golden transcripts: what an engineer types in an incident and what the cluster answers.

A transcript is a text file. Its head names the problem and the seed; then every line that begins with ``$``
is typed on the workstation (a here-document continues until its delimiter), and what follows is the answer.
``python -m tests.transcripts.transcript`` types every transcript again and rewrites the answers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import gymnasium as gym

import sregym_env  # noqa: F401  (registers the environments)

FOLDER = Path(__file__).parent
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")


@dataclass(frozen=True)
class Transcript:
    """A named incident: its problem, seed, what is said about it, and the commands typed."""

    path: Path
    problem: str
    seed: int
    notes: tuple[str, ...]
    commands: tuple[str, ...]
    text: str


def load(path: Path) -> Transcript:
    """Read one transcript file."""
    text = path.read_text()
    head = dict(re.findall(r"^# (problem|seed): (.+)$", text, re.MULTILINE))
    notes = tuple(
        line
        for line in text.split("\n\n")[0].splitlines()
        if line.startswith("#") and not re.match(r"# (problem|seed):", line)
    )
    return Transcript(path, head["problem"], int(head["seed"]), notes, tuple(_commands(text)), text)


def _commands(text: str) -> Iterator[str]:
    lines = iter(text.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            continue
        command = line[2:]
        heredoc = _HEREDOC.search(command)
        if heredoc is not None:
            for more in lines:
                command += f"\n{more}"
                if more.strip() == heredoc[2]:
                    break
        yield command


def play(transcript: Transcript) -> str:
    """The transcript as it reads when its commands are typed now."""
    env = gym.make(f"SREGym/{transcript.problem}-v0", max_steps=200)
    try:
        env.reset(seed=transcript.seed)
        parts = ["\n".join((f"# problem: {transcript.problem}", f"# seed: {transcript.seed}", *transcript.notes))]
        for command in transcript.commands:
            observation, *_ = env.step(command)
            parts.append(f"$ {command}\n{observation.rstrip()}".rstrip())
        return "\n\n".join(parts) + "\n"
    finally:
        env.close()


def every() -> list[Path]:
    """All transcript files, in order."""
    return sorted(FOLDER.glob("*.txt"))


if __name__ == "__main__":
    for file in every():
        file.write_text(play(load(file)))
        sys.stdout.write(f"{file.name}\n")
