"""A policy that learns, and is then asked about components that it has never been trained on.

Numbers in, an entry of a menu out (``NumericView``). The policy is linear and looks at every component through the same
weights, so that what it learns of one holds for all: where something is wrong, which signs mean which kind of cause, and
which operation cures it. It learns by REINFORCE with group-relative advantages: several members start from one and the
same broken world, and each is measured by its group. Faults of five families strike the components of the training split;
what is reported is measured on components of the test split, which the training environment refuses to play.

    python examples/train_reinforce.py --seeds 3 --workers 2 --picture curve.png   # the real run
    python examples/train_reinforce.py --quick                                     # half a minute of one core, and it must have learnt

Needs numpy alone; Ray for ``--workers`` (``pip install 'sregym-env[ray]'``) and matplotlib for the picture
(``pip install 'sregym-env[plot]'``).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sregym_env.envs.env import SREGymEnv
from sregym_env.envs.tasks.pairs import pairs
from sregym_env.envs.tasks.splits import SPLITS, Split, split
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
COMMAND_COST = 0.002

Floats = NDArray[np.floating[Any]]


# --- what is trained on, and what is asked afterwards ---------------------------------------------------


@dataclass(frozen=True, order=True)
class Task:
    """A fault on a component."""

    fault: str
    target: str


def tasks(faults: Iterable[str], side: Split) -> list[Task]:
    """Every pair of these families whose component belongs to one side of the split, whatever strikes it."""
    listed = [pair for fault in faults for pair in pairs(APP, fault)]
    return sorted(
        Task(each.faults[0].fault, each.faults[0].target)
        for each in split(side, by="target", problems=listed)
    )


EVALUATION_SEEDS = 1_000_000
"""Training episodes have smaller seeds."""


@dataclass(frozen=True)
class Plan:
    """How much is played, and how fast is learnt."""

    faults: tuple[str, ...] = tuple(FAMILIES)
    verbs: tuple[str, ...] = VERBS
    max_steps: int = 4
    iterations: int = 20
    groups: int = 1
    """Groups per family in each iteration."""
    members: int = 16
    rate: float = 12.0
    """The step's length at first; it falls to a fifth of that."""
    entropy: float = 0.03
    look_every: int = 4
    """Iterations between looks at the validation components."""
    worlds: int = 3
    """Worlds per test task in the end."""


QUICK = replace(
    Plan(),
    faults=("scale_to_zero", "network_policy_block"),
    verbs=("restart", "scale", "admit"),
    max_steps=2,
    iterations=8,
    rate=16.0,
    look_every=8,
    worlds=1,
)


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
        return self.features * (1 + len(self.kinds)) + self.rest * len(self.general)

    def parts(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Weights of a component's features: where to act, and with which kind of choice; weights of the rest."""
        cut = self.features * (1 + len(self.kinds))
        special = weights[:cut].reshape(self.features, -1)
        return special[:, 0], special[:, 1:], weights[cut:].reshape(self.rest, -1)

    def inputs(self, observation: Floats) -> tuple[Floats, Floats]:
        """An observation as a table of components and the rest, each with a constant 1.

        Of a component it is told how it differs from the others: what is the same for all says nothing.
        """
        table, rest = self.layout.split(observation)
        table = table - table.mean(axis=0)
        return np.hstack([table, np.ones((len(table), 1))]), np.append(rest, 1.0)

    def probabilities(self, weights: Floats, observation: Floats, mask: NDArray[np.int8]) -> Floats:
        """How likely every entry of the menu is."""
        where, what, general = self.parts(weights)
        table, rest = self.inputs(observation)
        scores = np.empty(len(mask))
        scores[self.special] = (table @ where)[self.rows] + (table @ what)[self.rows, self.columns]
        scores[self.general] = rest @ general
        scores[mask == 0] = -np.inf
        likely = np.exp(scores - scores.max())
        return likely / likely.sum()

    def gradient(self, observation: Floats, entry_weights: Floats) -> Floats:
        """The gradient of the scores' weighted sum by the weights."""
        table, rest = self.inputs(observation)
        per_kind = np.zeros((len(table), len(self.kinds)))
        np.add.at(per_kind, (self.rows, self.columns), entry_weights[self.special])
        general = np.outer(rest, entry_weights[self.general])
        special = table.T @ np.hstack([per_kind.sum(axis=1, keepdims=True), per_kind])
        return np.concatenate([special.ravel(), general.ravel()])

    def learnt(self, episode: Episode, group: Standard, weights: Floats, entropy: float) -> Floats:
        """The direction in which what an episode did better than its group becomes likelier, and what worse, less."""
        total = np.zeros(self.size)
        for step in episode.steps:
            likely = self.probabilities(weights, step.observation, step.mask)
            # A diagnosis changes nothing in the cluster: what the repair earns is not its merit.
            advantage = group.advantage(episode.earned, diagnosis=step.entry in self.diagnoses)
            chosen = -advantage * likely
            chosen[step.entry] += advantage
            surprise = -np.log(np.maximum(likely, 1e-12))
            chosen += entropy * likely * (surprise - (likely * surprise).sum())
            total += self.gradient(step.observation, chosen)
        return total


# --- playing ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """What was seen and chosen."""

    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    entry: int


class Earned(NamedTuple):
    """A return, and the part of it that is the diagnosis'."""

    total: float
    diagnosis: float


@dataclass(frozen=True)
class Standard:
    """What the members of a group are measured by: the mean and the spread of the whole and of the diagnosis."""

    means: Floats
    spreads: Floats

    @classmethod
    def of(cls, members: Sequence[Episode]) -> Standard:
        """A group's."""
        parts = np.array([each.earned for each in members])
        # Where all did alike there is nothing to learn: no spread must not make much of nothing.
        return cls(parts.mean(axis=0), parts.std(axis=0) + 0.05)

    def advantage(self, earned: Earned, *, diagnosis: bool) -> float:
        """How much better than its group a member did, in spreads."""
        place = int(diagnosis)
        return float((earned[place] - self.means[place]) / self.spreads[place])


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

    side: Split
    task: Task
    seed: int
    members: int
    greedy: bool = False


def make_view(plan: Plan, side: Split) -> NumericView:
    """The environment: both halves of the job, a few steps, a small price for every command.

    It refuses problems of another side of the split.
    """
    env = SREGymEnv(
        fault=next(iter(FAMILIES)),
        app=APP,
        split=side,
        split_by="target",
        grade_at_limit=True,
        # Who can do nothing yet learns to find and to repair sooner where each is paid for itself.
        reward={"command_cost": COMMAND_COST, "unexplained": 1},
    )
    mechanisms = [FAMILIES[fault] for fault in plan.faults]
    return NumericView(StepLimit(env, plan.max_steps), app=APP, verbs=plan.verbs, mechanisms=mechanisms)


class Table:
    """Plays groups: one environment for each side of the split, none of which plays what belongs to another."""

    def __init__(self, plan: Plan) -> None:
        self.views = {side: make_view(plan, side) for side in SPLITS}
        self.chooser = Chooser(self.views["train"])

    def play(self, weights: Floats, groups: Sequence[Group]) -> list[list[Episode]]:
        """All members of every group: forks of one reset."""
        return [self._group(weights, group) for group in groups]

    def cpu_seconds(self) -> float:
        """What this process has used."""
        return time.process_time()

    def _group(self, weights: Floats, group: Group) -> list[Episode]:
        view = self.views[group.side]
        begun = view.reset(seed=group.seed, options={"fault": group.task.fault, "target": group.task.target})
        chance = None if group.greedy else np.random.default_rng([group.seed, 7])
        return [_finished(view.fork(), begun, self.chooser, weights, chance) for _ in range(group.members)]


def _finished(
    view: NumericView,
    begun: tuple[NDArray[np.float32], dict[str, Any]],
    chooser: Chooser,
    weights: Floats,
    chance: np.random.Generator | None,
) -> Episode:
    observation, info = begun
    steps, names, total, over = [], [], 0.0, False
    while not over:
        likely = chooser.probabilities(weights, observation, info["action_mask"])
        entry = int(likely.argmax() if chance is None else chance.choice(len(likely), p=likely))
        steps.append(Step(observation, info["action_mask"], entry))
        observation, reward, terminated, truncated, info = view.step(np.int64(entry))
        total, over = total + reward, terminated or truncated
        names.append(info["choice"])
    earned = Earned(total, info["reward_diagnosis"])
    return Episode(tuple(steps), earned, bool(info["is_success"]), tuple(names))


Player = Callable[[Floats, Sequence[Group]], list[list[Episode]]]
"""Plays groups with given weights; the order of the results is that of the groups."""


def player(plan: Plan, workers: int) -> tuple[Player, Callable[[], float]]:
    """Plays in this process, or shares the groups out to Ray workers: the results are the same.

    The second result tells the CPU seconds that other processes have used.
    """
    if workers < 1:
        return Table(plan).play, lambda: 0.0
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    team = [ray.remote(num_cpus=1)(Table).remote(plan) for _ in range(workers)]

    def shared(weights: Floats, groups: Sequence[Group]) -> list[list[Episode]]:
        # One group at a time, to whoever is free: some take ten times as long as others.
        waiting, busy, played = list(enumerate(groups)), {}, {}
        free = list(team)
        while waiting or busy:
            while free and waiting:
                index, group = waiting.pop(0)
                worker = free.pop(0)
                busy[worker.play.remote(weights, [group])] = index, worker
            (done, *_), _ = ray.wait(list(busy))
            index, worker = busy.pop(done)
            played[index] = ray.get(done)[0]
            free.append(worker)
        return [played[index] for index in range(len(groups))]

    return shared, lambda: sum(ray.get([worker.cpu_seconds.remote() for worker in team]))


# --- learning -----------------------------------------------------------------------------------------


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


def asked(plan: Plan, side: Split, worlds: int, *, greedy: bool) -> list[Group]:
    """Groups of one, of every task on a side of the split."""
    return [
        Group(side, task, EVALUATION_SEEDS + world, 1, greedy)
        for task in tasks(plan.faults, side)
        for world in range(worlds)
    ]


@dataclass(frozen=True)
class Run:
    """What one seed led to."""

    seed: int
    chance: Score
    """On the test components, without any weights: every admissible choice as likely as any other."""
    train: tuple[float, ...]
    """Mean return of each iteration's training episodes."""
    looks: tuple[tuple[int, Score], ...]
    """(training episodes played, score on the validation components)."""
    last: Score
    """On the test components, after training."""
    weights: Floats


def train(plan: Plan, seed: int, playing: Player) -> Run:
    """One training run, deterministic in its plan and seed, whoever plays."""
    chooser = Chooser(make_view(plan, "train"))
    dice = np.random.default_rng(seed)
    material = {fault: tasks([fault], "train") for fault in plan.faults}
    weights = np.zeros(chooser.size)
    chance = Score.of(playing(weights, asked(plan, "test", plan.worlds, greedy=False)))
    curve: list[float] = []
    looks = [(0, Score.of(playing(weights, asked(plan, "validation", 1, greedy=False))))]
    for iteration in range(1, plan.iterations + 1):
        # Every family in every iteration: what is not rehearsed is forgotten.
        picked = [
            listed[int(dice.integers(len(listed)))]
            for listed in material.values()
            for _ in range(plan.groups)
        ]
        groups = [Group("train", task, int(dice.integers(EVALUATION_SEEDS)), plan.members) for task in picked]
        played = playing(weights, groups)
        gradient = np.zeros(chooser.size)
        for members in played:
            standard = Standard.of(members)
            for episode in members:
                gradient += chooser.learnt(episode, standard, weights, plan.entropy)
        rate = plan.rate * (1.0 - 0.8 * iteration / plan.iterations)
        weights = weights + rate * gradient / (len(groups) * plan.members)
        score = Score.of(played)
        curve.append(score.total)
        print(f"  seed {seed} iteration {iteration:3d}: training   {score}", flush=True)
        if iteration % plan.look_every == 0:
            seen = Score.of(playing(weights, asked(plan, "validation", 1, greedy=True)))
            looks.append((iteration * len(groups) * plan.members, seen))
            print(f"  seed {seed} iteration {iteration:3d}: VALIDATION {seen}", flush=True)
    last = Score.of(playing(weights, asked(plan, "test", plan.worlds, greedy=True)))
    print(f"  seed {seed}: TEST {last} (chance: {chance})", flush=True)
    return Run(seed, chance, tuple(curve), tuple(looks), last, weights)


# --- telling ------------------------------------------------------------------------------------------


def spread(values: Sequence[float]) -> str:
    """A mean with its least and greatest."""
    return f"{np.mean(values):.3f} [{min(values):.3f}, {max(values):.3f}]"


def tell(runs: Sequence[Run]) -> None:
    """What all seeds led to, on the test components."""
    for name, scores in (("chance", [run.chance for run in runs]), ("trained", [run.last for run in runs])):
        print(
            f"{name:8} success {spread([score.success for score in scores])}, "
            f"return {spread([score.total for score in scores])}  (mean [least, greatest] of {len(runs)} seeds)"
        )


def draw(runs: Sequence[Run], plan: Plan, path: Path) -> None:
    """The learning curve: means over the seeds, with bands from the least to the greatest."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.4), constrained_layout=True)
    size = plan.groups * len(plan.faults) * plan.members
    played = np.arange(1, plan.iterations + 1) * size
    looks = [episodes for episodes, _ in runs[0].looks]
    panels: tuple[tuple[Any, str, Callable[[Score], float]], ...] = (
        (left, "return", lambda score: score.total),
        (right, "success", lambda score: score.success),
    )
    for axes, name, value in panels:
        seen = np.array([[value(score) for _, score in run.looks] for run in runs])
        axes.fill_between(looks, seen.min(0), seen.max(0), alpha=0.25, color="tab:blue", linewidth=0)
        axes.plot(looks, seen.mean(0), "o-", color="tab:blue", markersize=4, label="validation components")
        last = [value(run.last) for run in runs]
        spread_up = [[np.mean(last) - min(last)], [max(last) - np.mean(last)]]
        axes.errorbar(
            [played[-1]],
            [np.mean(last)],
            spread_up,
            fmt="s",
            color="tab:red",
            capsize=4,
            label="test components",
        )
        chance = float(np.mean([value(run.chance) for run in runs]))
        axes.axhline(chance, color="black", linestyle=":", label="chance")
        axes.set(xlabel="training episodes", ylabel=name, ylim=(min(-0.05, chance - 0.05), 1.05))
    training = np.array([run.train for run in runs])
    left.fill_between(played, training.min(0), training.max(0), alpha=0.2, color="tab:orange", linewidth=0)
    left.plot(played, training.mean(0), color="tab:orange", label="training components, as it explores")
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
    given = parser.parse_args(arguments)
    if given.picture and find_spec("matplotlib") is None:
        parser.error("--picture needs matplotlib: pip install 'sregym-env[plot]'")
    plan = QUICK if given.quick else Plan()
    if given.iterations:
        plan = replace(plan, iterations=given.iterations)
    for side in SPLITS:
        listed = tasks(plan.faults, side)
        print(f"{side}: {len(listed)} tasks, on {', '.join(sorted({task.target for task in listed}))}")
    started = time.perf_counter()
    playing, elsewhere = player(plan, given.workers)
    runs: list[Run] = []
    for seed in range(given.seeds):
        runs.append(train(plan, seed, playing))
        tell(runs)
        print(
            f"{time.perf_counter() - started:.0f} s, {time.process_time() + elsewhere():.0f} s of CPU",
            flush=True,
        )
        if given.picture:
            draw(runs, plan, given.picture)
    assert all(run.last.total > run.chance.total + 0.25 for run in runs), "nothing has been learnt"
    return runs


if __name__ == "__main__":
    main()
