"""Playing episodes at a terminal: by hand, by the expert, by a built-in policy."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.rollouts.policies import ExpertPolicy, Policy, RandomPolicy
from sregym_env.rollouts.record import EpisodeRecord
from sregym_env.rollouts.runner import Rollout, run_episode

_HEREDOC = re.compile(r"""(?<!<)<<-?\s*(['"]?)(?P<end>[A-Za-z_]\w*)\1""")
"""The redirection that begins a heredoc: not a here-string, not a shift in arithmetic."""

POLICIES: Mapping[str, Callable[[], Policy]] = {"expert": ExpertPolicy, "random": RandomPolicy}


def play(problem: str, *, seed: int, noise: bool, mode: str) -> None:
    """A person is the agent; ends with the episode or at end of input."""
    env = SREGymEnv(problem, noise=noise, mode=mode, max_commands=10_000, raise_errors=True)
    observation, _ = env.reset(seed=seed)
    print(observation)
    while True:
        try:
            line = _command("\n$ ")
        except (EOFError, KeyboardInterrupt):
            print()
            return
        if not line.strip():
            continue
        observation, reward, terminated, truncated, info = env.step(line)
        print(observation, end="" if observation.endswith("\n") else "\n")
        if terminated or truncated:
            _print_result(reward, info)
            return


def demonstrate(problem: str, *, seed: int) -> bool:
    """The expert plays, its commands and what it sees are printed; whether it succeeded."""
    console = Console(highlight=False, soft_wrap=True)

    def watch(action: str, observation: str, info: dict[str, Any]) -> None:
        console.print(f"[bold cyan]$ {escape(action)}[/]")
        console.print(escape(_shortened(observation).rstrip("\n")))
        console.print(f"[dim]  ({info['sim_time_s']:.0f} s into the incident)[/]\n")

    env = SREGymEnv(problem, max_commands=200, raise_errors=True)
    rollout = run_episode(env, ExpertPolicy(), seed=seed, watch=watch)
    record = rollout.record
    console.print(
        f"[bold]{'Solved' if record.success else 'Not solved'}[/] in {len(record.steps)} actions and "
        f"{record.sim_time_s:.0f} s of the cluster's time: reward {record.return_:.2f} "
        f"({record.reward_terms['mitigation']:.2f} mitigation, {record.reward_terms['diagnosis']:.2f} diagnosis)"
    )
    return record.success


def run_policy(problem: str, policy: str, *, seed: int, noise: bool) -> Rollout:
    """One episode with a built-in policy. Raises UsageError for an unknown one."""
    if policy not in POLICIES:
        raise UsageError(f"no policy {policy!r}; there are {', '.join(POLICIES)}")
    player: Policy = POLICIES[policy]()
    env = SREGymEnv(problem, noise=noise, max_commands=200, raise_errors=True)
    return run_episode(env, player, seed=seed)


def summary(record: EpisodeRecord) -> dict[str, Any]:
    """A record in one row."""
    return {
        "return": record.return_,
        "success": record.success,
        "exit": record.exit_reason,
        "steps": len(record.steps),
        "sim_time_s": round(record.sim_time_s, 1),
        "mitigation": record.reward_terms["mitigation"],
        "diagnosis": record.reward_terms["diagnosis"],
    }


def _command(prompt: str) -> str:
    """A line from the terminal, with the lines of a heredoc that it begins."""
    lines = [input(prompt)]
    for heredoc in _HEREDOC.finditer(lines[0]):
        lines.append(input("> "))
        while lines[-1].strip() != heredoc["end"]:
            lines.append(input("> "))
    return "\n".join(lines)


def _print_result(reward: float, info: dict[str, Any]) -> None:
    print(f"\nreward {reward:.3f}, diagnosis {info['Diagnosis']}, mitigation {info['Mitigation']}")
    if info["grade"]:
        for part, verdict in json.loads(info["grade"]).items():
            for check in (verdict or {}).get("checks", ()) or (verdict or {}).get("answers", ()):
                print(f"  {part}: {json.dumps(check)}")


def _shortened(text: str, lines: int = 24) -> str:
    listed = text.split("\n")
    if len(listed) <= lines:
        return text
    return "\n".join([*listed[:lines], f"... ({len(listed) - lines} more lines)", ""])
