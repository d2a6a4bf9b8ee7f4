"""Expert demonstrations to fine-tune a model on: played, written, exported for two kinds of trainers, checked.

    python examples/07_finetuning_data.py [EPISODES] [FOLDER] [WORKERS]

Six episodes without arguments; a thousand take some minutes on a laptop. More than one worker needs
sregym-env[ray]. Only faults of the training split are played, so that the others stay unseen.
"""

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from sregym_env.envs.tasks.splits import split
from sregym_env.rollouts.dataset.build import build
from sregym_env.rollouts.dataset.exporters import export
from sregym_env.rollouts.dataset.filters import Filter
from sregym_env.rollouts.dataset.reader import open_dataset
from sregym_env.rollouts.dataset.validation import validate
from sregym_env.rollouts.plan import PolicyChoice, RunPlan, groups
from sregym_env.rollouts.pool import LocalPool, Pool
from sregym_env.rollouts.runs import play


def planned(episodes: int) -> RunPlan:
    """So many episodes of the expert, spread evenly over the problems of the training split."""
    problems = split("train")
    if episodes < len(problems):
        problems = problems[:: len(problems) // episodes][:episodes]
    rounds = -(-episodes // len(problems))
    chosen = groups(problems, rounds=rounds)
    # The first round of every problem before the second of any.
    in_turn = [group for number in range(rounds) for group in chosen[number::rounds]][:episodes]
    return RunPlan.of(
        [group.model_copy(update={"index": index}) for index, group in enumerate(in_turn)],
        policy=PolicyChoice(name="expert"),
        env={"max_commands": 200},
    )


def pool_of(workers: int, stack: ExitStack) -> Pool:
    """This process alone, or actors of Ray."""
    if workers == 1:
        return LocalPool()
    from sregym_env.rollouts.ray import RolloutPool

    return stack.enter_context(RolloutPool(workers))


def check(path: Path, arguments: type) -> int:
    """Every call has an answer and arguments of the right type, and the assistant speaks last; how many examples."""
    examples = 0
    for line in path.read_text().splitlines():
        messages: list[dict[str, Any]] = json.loads(line)["messages"]
        waiting: list[str] = []
        for message in messages:
            if message["role"] == "tool":
                assert message["tool_call_id"] == waiting.pop(0)
            for call in message.get("tool_calls", ()):
                assert isinstance(call["function"]["arguments"], arguments)
                waiting.append(call["id"])
        assert messages[-1]["role"] == "assistant"
        examples += 1
    return examples


def main(episodes: int, folder: Path, workers: int) -> None:
    """Play, build, export, check."""
    began = perf_counter()
    plan = planned(episodes)
    with ExitStack() as stack:
        run = play(plan, pool_of(workers, stack), folder=folder / "run", resume=True)
    played = perf_counter()
    solved = sum(record.success for record in run.records)
    print(f"{len(run.records)} episodes of {episodes} played in {played - began:.1f} s, {solved} solved")

    built = build(
        [folder / "run"], folder / "dataset", filter=Filter(success=True), title="Expert demonstrations"
    )
    found = validate(folder / "dataset")
    assert not found, found
    print(
        f"{built.manifest.counts.episodes} episodes, {built.manifest.counts.steps} steps in {folder / 'dataset'}"
    )

    dataset = open_dataset(folder / "dataset")
    for format, arguments in (("openai", str), ("trl", dict)):
        for exported in export(dataset, folder / "files", format):
            assert check(exported.path, arguments) == exported.rows
            size = exported.path.stat().st_size / 1e6
            print(f"{exported.path}: {exported.rows} examples, {size:.1f} MB")
    print(f"built, validated, exported and checked in {perf_counter() - played:.1f} s")


with TemporaryDirectory() as temporary:
    given = dict(enumerate(sys.argv[1:]))
    main(int(given.get(0, 6)), Path(given.get(1, temporary)), int(given.get(2, 1)))
