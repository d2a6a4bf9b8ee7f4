"""A policy that learns, and is then asked about components that it has never been trained on.

Numbers in, an entry of a menu out (``NumericView``). The policy is linear and looks at every component through the same
weights, so that what it learns of one holds for all: which signs mean which kind of cause, and which operation cures it.
It learns by REINFORCE with group-relative advantages: several members start from one and the same broken world, and each
is compared with the mean of its group. Faults of five families strike the training components; everything that is
reported is measured on the held-out ones, on which no training episode is ever played.

    python examples/train_reinforce.py --seeds 3 --workers 2      # the real run
    python examples/train_reinforce.py --quick                    # half a minute of one core, and it must have learnt

Needs numpy alone; Ray for ``--workers`` (``pip install 'sregym-env[ray]'``) and matplotlib for the picture
(``pip install 'sregym-env[plot]'``).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sregym_env.envs.pairs import pairs

from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.wrappers import NumericView, StepLimit

APP = "hotel-reservation"
FAMILIES = {
    "scale_to_zero": "scaled_to_zero",
    "network_policy_block": "network_policy_isolation",
    "service_selector_mismatch": "wrong_selector",
    "service_target_port_mismatch": "wrong_target_port",
    "non_existent_node": "unsatisfiable_node_selector",
}
"""Fault families and the kind of cause that each of them is."""

VERBS = ("restart", "undo", "scale", "admit", "reselect", "retarget", "unpin")
MAX_STEPS = 6

Floats = NDArray[np.floating[Any]]


# --- what is trained on, and what is asked afterwards ---------------------------------------------------


@dataclass(frozen=True, order=True)
class Task:
    """A fault on a component."""

    fault: str
    target: str

    @property
    def held_out(self) -> bool:
        """Whether its component is kept from training: decided by its name alone, whatever the fault."""
        return blake2b(self.target.encode(), digest_size=8).digest()[0] % 3 == 0


def tasks(faults: Iterable[str], *, held_out: bool) -> list[Task]:
    """Every pair of these families on one side of the split."""
    found = [Task(fault, pair.faults[0].target) for fault in faults for pair in pairs(APP, fault)]
    return sorted(task for task in found if task.held_out == held_out)


EVALUATION_SEEDS = 1_000_000
"""Training episodes have smaller seeds."""


# --- the policy ---------------------------------------------------------------------------------------


class Chooser:
    """How scores become choices: the menu and the layout of a view, as arrays."""

    def __init__(self, view: NumericView) -> None:
        self.layout = view.layout
        component = {name: index for index, name in enumerate(view.layout.components)}
        kinds: dict[tuple[str, str], int] = {}
        self.general: list[int] = []  # entries that concern no component
        self.special: list[int] = []
        self.diagnoses: set[int] = set()
        rows, columns = [], []
        for entry, choice in enumerate(view.menu.choices):
            if not choice.component:
                self.general.append(entry)
                continue
            self.special.append(entry)
            if choice.mechanism:
                self.diagnoses.add(entry)
            rows.append(component[choice.component])
            columns.append(kinds.setdefault((choice.verb, choice.mechanism), len(kinds)))
        self.rows, self.columns = np.array(rows), np.array(columns)
        self.kinds = list(kinds)
        self.features = len(view.layout.features) + 1
        self.rest = len(view.layout.rest) + 1

    @property
    def size(self) -> int:
        """How many weights a policy has."""
        return self.features * len(self.kinds) + self.rest * len(self.general)

    def parts(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weights of a component's features for every kind of choice, and of the rest for the general ones."""
        cut = self.features * len(self.kinds)
        return weights[:cut].reshape(self.features, -1), weights[cut:].reshape(self.rest, -1)

    def inputs(self, observation: Floats) -> tuple[Floats, Floats]:
        """An observation as a table of components and the rest, each with a constant 1.

        Of a component it is told how it differs from the others: what is the same for all says nothing.
        """
        table, rest = self.layout.split(observation)
        table = table - table.mean(axis=0)
        return np.hstack([table, np.ones((len(table), 1))]), np.append(rest, 1.0)

    def probabilities(self, weights: Floats, observation: Floats, mask: NDArray[np.int8]) -> Floats:
        """How likely every entry of the menu is."""
        special, general = self.parts(weights)
        table, rest = self.inputs(observation)
        scores = np.empty(len(mask))
        scores[self.special] = (table @ special)[self.rows, self.columns]
        scores[self.general] = rest @ general
        scores[mask == 0] = -np.inf
        likely = np.exp(scores - scores.max())
        return likely / likely.sum()

    def gradient(self, likely: Floats, observation: Floats, entry_weights: Floats) -> Floats:
        """The gradient of the scores' weighted sum by the weights."""
        table, rest = self.inputs(observation)
        per_kind = np.zeros((len(table), len(self.kinds)))
        np.add.at(per_kind, (self.rows, self.columns), entry_weights[self.special])
        general = np.outer(rest, entry_weights[self.general])
        return np.concatenate([(table.T @ per_kind).ravel(), general.ravel()])

    def learnt(self, episode: Episode, mean: Earned, weights: Floats, entropy: float) -> Floats:
        """The direction in which what an episode did better than its group becomes likelier, and what worse, less."""
        total = np.zeros(self.size)
        for step in episode.steps:
            likely = self.probabilities(weights, step.observation, step.mask)
            # A diagnosis changes nothing in the cluster: what the repair earns is not its merit.
            diagnosis = step.entry in self.diagnoses
            advantage = (
                episode.earned.diagnosis - mean.diagnosis if diagnosis else episode.earned.total - mean.total
            )
            chosen = -advantage * likely
            chosen[step.entry] += advantage
            surprise = -np.log(np.maximum(likely, 1e-12))
            chosen += entropy * likely * (surprise - (likely * surprise).sum())
            total += self.gradient(likely, step.observation, chosen)
        return total


# --- playing ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """What was seen and chosen."""

    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    entry: int


@dataclass(frozen=True)
class Earned:
    """A return, and the part of it that is the diagnosis'."""

    total: float
    diagnosis: float

    @classmethod
    def mean(cls, members: Sequence[Episode]) -> Earned:
        """What the members of a group earned in the mean."""
        return cls(
            float(np.mean([each.earned.total for each in members])),
            float(np.mean([each.earned.diagnosis for each in members])),
        )


@dataclass(frozen=True)
class Episode:
    """One member of a group."""

    steps: tuple[Step, ...]
    earned: Earned
    success: bool
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Members that start from one and the same world."""

    task: Task
    seed: int
    members: int
    greedy: bool = False


def make_view(verbs: Sequence[str], faults: Iterable[str]) -> NumericView:
    """The environment: both halves of the job, a few steps, a small price for every command."""
    env = SREGymEnv(fault=next(iter(FAMILIES)), app=APP, grade_at_limit=True, reward={"command_cost": 0.002})
    mechanisms = [FAMILIES[fault] for fault in faults]
    return NumericView(StepLimit(env, MAX_STEPS), app=APP, verbs=verbs, mechanisms=mechanisms)


def play(view: NumericView, chooser: Chooser, weights: Floats, group: Group) -> list[Episode]:
    """All members of a group: forks of one reset."""
    options = {"fault": group.task.fault, "target": group.task.target}
    begun = view.reset(seed=group.seed, options=options)
    chance = np.random.default_rng([group.seed, 7])
    return [
        _finished(view.fork(), begun, chooser, weights, None if group.greedy else chance)
        for _ in range(group.members)
    ]


def _finished(
    view: NumericView,
    begun: tuple[NDArray[np.float32], dict[str, Any]],
    chooser: Chooser,
    weights: Floats,
    chance: np.random.Generator | None,
) -> Episode:
    observation, info = begun
    steps, names, total, diagnosis, over = [], [], 0.0, 0.0, False
    while not over:
        likely = chooser.probabilities(weights, observation, info["action_mask"])
        entry = int(likely.argmax() if chance is None else chance.choice(len(likely), p=likely))
        steps.append(Step(observation, info["action_mask"], entry))
        observation, reward, terminated, truncated, info = view.step(np.int64(entry))
        total, diagnosis = total + reward, diagnosis + info["reward_diagnosis"]
        over = terminated or truncated
        names.append(info["choice"])
    return Episode(tuple(steps), Earned(total, diagnosis), bool(info["is_success"]), tuple(names))


Player = Callable[[Floats, Sequence[Group]], list[list[Episode]]]
"""Plays groups with given weights; the order of the results is that of the groups."""


def player(verbs: Sequence[str], faults: Sequence[str], workers: int) -> Player:
    """Plays in this process, or shares the groups out to Ray workers: the results are the same."""
    if workers < 1:
        view = make_view(verbs, faults)
        chooser = Chooser(view)
        return lambda weights, groups: [play(view, chooser, weights, group) for group in groups]
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)

    @ray.remote(num_cpus=1)
    class Worker:
        """An environment of its own."""

        def __init__(self) -> None:
            self.view = make_view(verbs, faults)
            self.chooser = Chooser(self.view)

        def play(self, weights: Floats, groups: Sequence[Group]) -> list[list[Episode]]:
            """Some of the groups."""
            return [play(self.view, self.chooser, weights, group) for group in groups]

    team = [Worker.remote() for _ in range(workers)]

    def shared(weights: Floats, groups: Sequence[Group]) -> list[list[Episode]]:
        parts = [
            worker.play.remote(weights, groups[index::workers])  # type: ignore[attr-defined]
            for index, worker in enumerate(team)
        ]
        played = ray.get(parts)
        return [played[index % workers][index // workers] for index in range(len(groups))]

    return shared


# --- learning -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """How much is played, and how fast is learnt."""

    faults: tuple[str, ...] = tuple(FAMILIES)
    verbs: tuple[str, ...] = VERBS
    iterations: int = 30
    groups: int = 8
    members: int = 8
    rate: float = 0.15
    entropy: float = 0.003
    look_every: int = 5
    look_worlds: int = 1
    """Worlds per held-out task at every look."""
    last_worlds: int = 2
    """The same at the last look."""


QUICK = replace(
    Plan(),
    faults=("scale_to_zero", "network_policy_block"),
    verbs=("restart", "scale", "admit"),
    iterations=12,
    groups=4,
    look_every=12,
    last_worlds=1,
)


@dataclass(frozen=True)
class Score:
    """How a policy does on a set of tasks."""

    episodes: int
    success: float
    total: float

    @classmethod
    def of(cls, groups: Iterable[Sequence[Episode]]) -> Score:
        """The means over every member of every group."""
        played = [episode for group in groups for episode in group]
        return cls(
            len(played),
            float(np.mean([episode.success for episode in played])),
            float(np.mean([episode.earned.total for episode in played])),
        )

    def __str__(self) -> str:
        return f"success {self.success:6.1%}, return {self.total:6.3f} ({self.episodes} episodes)"


def asked(plan: Plan, worlds: int, *, greedy: bool, members: int = 1) -> list[Group]:
    """Groups of held-out tasks."""
    return [
        Group(task, EVALUATION_SEEDS + world, members, greedy)
        for task in tasks(plan.faults, held_out=True)
        for world in range(worlds)
    ]


@dataclass(frozen=True)
class Run:
    """What one seed led to."""

    seed: int
    chance: Score
    train: tuple[float, ...]
    """Mean return of each iteration's training episodes."""
    looks: tuple[tuple[int, Score], ...]
    """(training episodes played, score on the held-out tasks)."""
    weights: Floats

    @property
    def last(self) -> Score:
        """The score after training."""
        return self.looks[-1][1]


def train(plan: Plan, seed: int, playing: Player) -> Run:
    """One training run, deterministic in its plan and seed, whoever plays."""
    chooser = Chooser(make_view(plan.verbs, plan.faults))
    dice = np.random.default_rng(seed)
    material = tasks(plan.faults, held_out=False)
    weights, first, second = np.zeros(chooser.size), np.zeros(chooser.size), np.zeros(chooser.size)
    # Without any weights every admissible choice is as likely as any other.
    chance = Score.of(playing(weights, asked(plan, 1, greedy=False, members=2)))
    curve: list[float] = []
    looks: list[tuple[int, Score]] = [(0, chance)]
    for iteration in range(1, plan.iterations + 1):
        picked = [material[int(index)] for index in dice.integers(len(material), size=plan.groups)]
        assert not any(task.held_out for task in picked)
        groups = [Group(task, int(dice.integers(EVALUATION_SEEDS)), plan.members) for task in picked]
        played = playing(weights, groups)
        gradient = np.zeros(chooser.size)
        for members in played:
            mean = Earned.mean(members)
            for episode in members:
                gradient += chooser.learnt(episode, mean, weights, plan.entropy)
        gradient /= plan.groups * plan.members
        # Adam (Kingma and Ba 2015).
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        corrected = first / (1 - 0.9**iteration), second / (1 - 0.99**iteration)
        weights = weights + plan.rate * corrected[0] / (np.sqrt(corrected[1]) + 1e-8)
        score = Score.of(played)
        curve.append(score.total)
        print(f"  seed {seed} iteration {iteration:3d}: training {score}", flush=True)
        if iteration % plan.look_every == 0 or iteration == plan.iterations:
            worlds = plan.last_worlds if iteration == plan.iterations else plan.look_worlds
            seen = Score.of(playing(weights, asked(plan, worlds, greedy=True)))
            looks.append((iteration * plan.groups * plan.members, seen))
            print(f"  seed {seed} iteration {iteration:3d}: HELD OUT {seen}", flush=True)
    return Run(seed, chance, tuple(curve), tuple(looks), weights)


# --- telling ------------------------------------------------------------------------------------------


def spread(values: Sequence[float]) -> str:
    """A mean with its least and greatest."""
    return f"{np.mean(values):.3f} [{min(values):.3f}, {max(values):.3f}]"


def draw(runs: Sequence[Run], plan: Plan, path: Path) -> None:
    """The learning curve: means over the seeds, with bands from the least to the greatest."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.4), constrained_layout=True)
    played = np.arange(1, plan.iterations + 1) * plan.groups * plan.members
    looks = [episodes for episodes, _ in runs[0].looks]
    panels: tuple[tuple[Any, str, Callable[[Score], float]], ...] = (
        (left, "return", lambda score: score.total),
        (right, "success", lambda score: score.success),
    )
    for axes, name, value in panels:
        held = np.array([[value(score) for _, score in run.looks] for run in runs])
        axes.fill_between(looks, held.min(0), held.max(0), alpha=0.25, color="tab:blue", linewidth=0)
        axes.plot(looks, held.mean(0), "o-", color="tab:blue", label="held-out components, greedy")
        chance = float(np.mean([value(run.chance) for run in runs]))
        axes.axhline(chance, color="black", linestyle=":", label="chance")
        axes.set(xlabel="training episodes", ylabel=name, ylim=(min(-0.12, chance - 0.05), 1.03))
    training = np.array([run.train for run in runs])
    left.fill_between(played, training.min(0), training.max(0), alpha=0.2, color="tab:orange", linewidth=0)
    left.plot(played, training.mean(0), color="tab:orange", label="training components, sampled")
    left.legend(fontsize=8, loc="lower right")
    figure.suptitle(f"REINFORCE on {len(plan.faults)} fault families, {len(runs)} seeds", fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    pyplot.close(figure)


def main(arguments: Sequence[str] | None = None) -> list[Run]:
    """Train as the command line says; returns what every seed led to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=1, help="how many independent runs")
    parser.add_argument("--workers", type=int, default=0, help="Ray workers; 0 plays in this process")
    parser.add_argument("--iterations", type=int, help="steps of learning")
    parser.add_argument("--quick", action="store_true", help="two families, a short run")
    parser.add_argument("--picture", type=Path, help="where to save the learning curve as PNG")
    parser.add_argument("--save", type=Path, help="where to save scores and weights as JSON")
    given = parser.parse_args(arguments)
    plan = QUICK if given.quick else Plan()
    if given.iterations:
        plan = replace(plan, iterations=given.iterations)
    known, unseen = (tasks(plan.faults, held_out=side) for side in (False, True))
    assert not {task.target for task in known} & {task.target for task in unseen}
    print(f"{len(known)} tasks to train on, {len(unseen)} on components that are held out:")
    print("  " + ", ".join(sorted({task.target for task in unseen})))
    wall, cpu = time.perf_counter(), time.process_time()
    playing = player(plan.verbs, plan.faults, given.workers)
    runs = [train(plan, seed, playing) for seed in range(given.seeds)]
    print(
        f"chance:   success {spread([run.chance.success for run in runs])}, "
        f"return {spread([run.chance.total for run in runs])}"
    )
    print(
        f"held out: success {spread([run.last.success for run in runs])}, "
        f"return {spread([run.last.total for run in runs])}   (mean [least, greatest] of {len(runs)} seeds)"
    )
    print(
        f"{time.perf_counter() - wall:.0f} s, of which {time.process_time() - cpu:.0f} s CPU in this process"
    )
    if given.picture:
        draw(runs, plan, given.picture)
    if given.save:
        document = [
            {
                "seed": run.seed,
                "success": run.last.success,
                "return": run.last.total,
                "weights": list(run.weights),
            }
            for run in runs
        ]
        given.save.write_text(json.dumps(document), encoding="utf-8")
    assert all(run.last.success > run.chance.success + 0.25 for run in runs), "nothing has been learnt"
    return runs


if __name__ == "__main__":
    main()
