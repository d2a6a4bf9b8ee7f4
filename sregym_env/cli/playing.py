"""Playing episodes at a terminal: by hand, or watching the expert."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from sregym_env.cli.outcome import report, truth
from sregym_env.envs.env import SREGymEnv
from sregym_env.llm.messages import Call
from sregym_env.rollouts.policies import ExpertPolicy, Policy, Turn
from sregym_env.rollouts.runner import run_episode
from sregym_env.tools.causes import Cause, flags, understood

_HEREDOC = re.compile(r"""(?<!<)<<-?\s*(['"]?)(?P<end>[A-Za-z_]\w*)\1""")
"""The redirection that begins a heredoc: not a here-string, not a shift in arithmetic."""


def play(
    problem: str, *, seed: int, noise: bool, variation: bool = True, mode: str, reveal: bool = False
) -> None:
    """A person is the agent; ends with the episode or at end of input, with a report.

    What was really wrong is told on request: ``reveal``, or an answer of yes to the question that comes last.
    """
    env = SREGymEnv(
        problem, noise=noise, variation=variation, mode=mode, max_commands=10_000, raise_errors=True
    )
    observation, info = env.reset(seed=seed)
    print(observation)
    ended = False
    while not ended:
        try:
            line = _command("\n$ ")
        except (EOFError, KeyboardInterrupt):
            print("\nYou leave before everything is handed in.")
            *_, info = env.finish("gave_up")
            break
        if not line.strip():
            continue
        observation, _, terminated, truncated, info = env.step(line)
        print(observation, end="" if observation.endswith("\n") else "\n")
        ended = terminated or truncated
    print(f"\n{report(env, info)}")
    if reveal or _agreed("\nShow what was really wrong? [y/N] "):
        print(f"\n{truth(env)}")


def _agreed(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        print()
        return False


def demonstrate(problem: str, *, seed: int, style: str = "mixed") -> bool:
    """The expert plays; what it thinks and types and what it sees are printed. Whether it succeeded."""
    console = Console(highlight=False, soft_wrap=True)
    expert = _Aloud(ExpertPolicy(style=style), console)
    env = SREGymEnv(problem, max_commands=200, raise_errors=True)

    def watch(action: str, observation: str, info: dict[str, Any]) -> None:
        console.print(escape(_shortened(observation).rstrip("\n")))
        console.print(f"[dim]  ({info['sim_time_s']:.0f} s into the incident)[/]\n")

    record = run_episode(env, expert, seed=seed, watch=watch).record
    console.print(
        f"[bold]{'Solved' if record.success else 'Not solved'}[/] in {len(record.steps)} actions and "
        f"{record.sim_time_s:.0f} s of the cluster's time: reward {record.return_ or 0.0:.2f} "
        f"({record.reward_terms['mitigation']:.2f} mitigation, {record.reward_terms['diagnosis']:.2f} diagnosis)"
    )
    return record.success


class _Aloud:
    """A policy whose turns are printed before they are carried out."""

    def __init__(self, policy: Policy, console: Console) -> None:
        self.name, self.version, self.settings = policy.name, policy.version, policy.settings
        self.begin = policy.begin
        self._policy, self._console = policy, console

    def act(self, observation: str, info: Mapping[str, Any]) -> str | Turn:
        """The policy's turn."""
        said = self._policy.act(observation, info)
        if isinstance(said, str):
            self._console.print(f"[bold cyan]$ {escape(said)}[/]")
            return said
        self._console.print(f"[italic]{escape(said.message.content)}[/]")
        for call in said.message.tool_calls:
            self._console.print(f"[bold cyan]$ {escape(_typed(call))}[/]")
        return said


def _typed(call: Call) -> str:
    """A tool call as somebody would type it."""
    name, arguments = call.function.name, call.function.arguments
    if name == "kubectl":
        return f"kubectl {arguments['command']}"
    if name == "shell":
        return str(arguments["command"])
    if name == "submit_structured_diagnosis":
        causes = [cause for cause in map(understood, arguments["causes"]) if isinstance(cause, Cause)]
        return f"submit diagnosis {flags(causes)}"
    return " ".join((name.replace("_", " "), *(f'"{value}"' for value in arguments.values())))


def _command(prompt: str) -> str:
    """A line from the terminal, with the lines of a heredoc that it begins."""
    lines = [input(prompt)]
    for heredoc in _HEREDOC.finditer(lines[0]):
        lines.append(input("> "))
        while lines[-1].strip() != heredoc["end"]:
            lines.append(input("> "))
    return "\n".join(lines)


def _shortened(text: str, lines: int = 24) -> str:
    listed = text.split("\n")
    if len(listed) <= lines:
        return text
    return "\n".join([*listed[:lines], f"... ({len(listed) - lines} more lines)", ""])
