"""Golden transcripts: what an engineer types in an incident and what the cluster answers.

A transcript is a text file. Its head names the seed and the problem, or the fault and its target, and whether the world
is the published one; one of a runtime names an application instead, which is healthy and as published. Then every line that begins with ``$``
is typed on the workstation (a here-document continues until its delimiter), and what follows is the answer.
``python -m tests.transcripts.transcript`` types every transcript again and rewrites the answers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import gymnasium as gym

import sregym_env  # noqa: F401  (registers the environments)
from sregym_env import apps
from sregym_env.cluster.oncall import ONCALL
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.tools.workstation import Workstation

FOLDER = Path(__file__).parent
_HEAD = re.compile(r"# (problem|fault|target|seed|world|app): (.+)")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")


@dataclass(frozen=True)
class Transcript:
    """A named incident: its problem, seed, what is said about it, and the commands typed."""

    path: Path
    head: tuple[str, ...]
    problem: str
    """Id of a curated problem, or empty where the head names a fault and its target."""
    fault: str
    target: str
    app: str
    """The application of a transcript without a fault, or empty."""
    seed: int
    published: bool
    """Whether it is played in the application as published, without a past."""
    notes: tuple[str, ...]
    commands: tuple[str, ...]
    text: str


def load(path: Path) -> Transcript:
    """Read one transcript file."""
    text = path.read_text()
    top = [line for line in text.split("\n\n")[0].splitlines() if line.startswith("#")]
    matches = [match for match in map(_HEAD.fullmatch, top) if match is not None]
    named = [match[0] for match in matches]
    head = {match[1]: match[2] for match in matches}
    return Transcript(
        path,
        head=tuple(named),
        problem=head.get("problem", ""),
        fault=head.get("fault", ""),
        target=head.get("target", ""),
        app=head.get("app", ""),
        seed=int(head["seed"]),
        published=head.get("world") == "published",
        notes=tuple(line for line in top if line not in named),
        commands=tuple(_commands(text)),
        text=text,
    )


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


def _environment(transcript: Transcript) -> gym.Env[str, str]:
    arguments = {"max_commands": 200, "variation": not transcript.published}
    if transcript.problem:
        return gym.make(f"SREGym/{transcript.problem}-v0", **arguments)
    return gym.make(
        "SREGym/Pair-v0",
        app="hotel-reservation",
        fault=transcript.fault,
        target=transcript.target,
        **arguments,
    )


def play(transcript: Transcript) -> tuple[str, bool]:
    """The transcript as it reads when its commands are typed now, and whether the incident, if there is one, was solved."""
    if transcript.app:
        desk = Workstation(deployed_world(apps.app(transcript.app), transcript.seed), ONCALL)
        return _typed(transcript, lambda command: desk.run(command).text), True
    env = _environment(transcript)
    try:
        env.reset(seed=transcript.seed)
        info: dict[str, object] = {}

        def step(command: str) -> str:
            nonlocal info
            observation, _, _, _, info = env.step(command)
            return observation

        return _typed(transcript, step), bool(info.get("is_success"))
    finally:
        env.close()


def _typed(transcript: Transcript, type_in: Callable[[str], str]) -> str:
    parts = ["\n".join((*transcript.head, *transcript.notes))]
    for command in transcript.commands:
        shown = "\n".join(line.rstrip() for line in type_in(command).rstrip().splitlines())
        parts.append(f"$ {command}\n{shown}".rstrip())
    return "\n\n".join(parts) + "\n"


def every() -> list[Path]:
    """All transcript files, in order."""
    return sorted(FOLDER.glob("*.txt")) + sorted(FOLDER.glob("runtimes/*.txt"))


if __name__ == "__main__":
    for file in every():
        file.write_text(play(load(file))[0])
        sys.stdout.write(f"{file.name}\n")
