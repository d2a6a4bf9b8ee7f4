"""What is played, lost, played again and given up, whoever plays it: groups here, bookkeeping with a crew on paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.faults.problems import Problem, problem
from sregym_env.rollouts.ledger import Job, RunError
from sregym_env.rollouts.plan import Group, PolicyChoice, RunPlan, groups, member_seed
from sregym_env.rollouts.policies import policy
from sregym_env.rollouts.pool import (
    Died,
    Finished,
    GroupResult,
    Here,
    LocalPool,
    Raised,
    Told,
    drive,
    in_order,
    play_group,
)
from sregym_env.rollouts.runner import Budgets, Place, play_opened, run_episode

PROBLEMS = (problem("network_policy_block"), problem("hotel-reservation/scale_to_zero/geo"))
RANDOM = PolicyChoice(name="random", options={"steps": 3})


def plan(*problems: Problem, samples: int = 1, episodes: int = 1, policy: PolicyChoice = RANDOM) -> RunPlan:
    """A plan of random episodes, quickly played."""
    return RunPlan.of(groups(problems or PROBLEMS, samples=samples, rounds=episodes, seed=3), policy=policy)


def played(plan: RunPlan, places: int = 1) -> list[GroupResult]:
    """Its results in order, played in this process."""
    return list(in_order(drive(Here(plan, places), plan.groups), plan.groups))


# --- one group ------------------------------------------------------------------------------------


def test_a_group_begins_in_one_state_and_its_members_differ() -> None:
    made = plan(samples=3)
    records = [rollout.record for rollout in play_group(made.without_groups(), made.groups[0])]
    assert len({record.messages[0].content for record in records}) == 1
    assert len({record.actions for record in records}) == 3
    assert len({record.rollout_id for record in records}) == 3
    assert {(record.run_id, record.group_id, record.seed, record.attempt) for record in records} == {
        (made.run_id, made.groups[0].group_id, made.groups[0].seed, 0)
    }
    assert [record.sample_index for record in records] == [0, 1, 2]


@pytest.mark.parametrize("sample", [0, 1, 2])
def test_a_member_is_played_as_an_episode_of_its_own(sample: int) -> None:
    made = plan(samples=3)
    group = made.groups[0]
    env = SREGymEnv(group.problem)
    own = play_opened(
        env,
        policy("random", {"steps": 3}),
        env.reset(seed=group.seed),
        seed=group.seed,
        policy_seed=member_seed(group.seed, sample),
        place=Place(made.run_id, group.group_id, sample),
    )
    assert play_group(made, group)[sample] == own


def test_a_policy_without_dice_does_the_same_in_every_member() -> None:
    """To the last byte of the world: nobody plays in what others are forked from."""
    made = plan(samples=3, policy=PolicyChoice(name="restart"))
    records = [rollout.record for rollout in play_group(made, made.groups[0])]
    assert len(records[0].steps) > 2
    first, *others = [(record.messages, record.steps, record.final_digest) for record in records]
    assert others == [first, first]


def test_a_plan_says_how_is_played() -> None:
    made = RunPlan.of(
        groups(PROBLEMS[:1]),
        policy=RANDOM,
        env={"noise": True, "stage": "mitigation", "max_commands": 50},
        budgets=Budgets(steps=2),
        digests=True,
    )
    (rollout,) = play_group(made, made.groups[0])
    assert rollout.record.config["noise"] is True
    assert rollout.record.config["stage"] == "mitigation"
    assert rollout.record.exit_reason == "max_steps"
    assert all(step.state_digest for step in rollout.record.steps)
    assert rollout.labels.problem["id"] == PROBLEMS[0].id


# --- in this process ------------------------------------------------------------------------------


def test_threads_play_what_one_thread_plays() -> None:
    made = plan(episodes=3, samples=2)
    assert played(made, 4) == played(made)


def test_what_threads_play_when_interrupted_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is waited for anyway."""
    made = plan(episodes=3)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sregym_env.rollouts.pool.wait", interrupted)
    kept = []
    with pytest.raises(KeyboardInterrupt):
        for result in drive(Here(made, 2), made.groups):
            kept.append(result)
    monkeypatch.undo()
    assert sorted(kept, key=lambda result: result.index) == played(made)[:2]


def test_names_in_place_of_what_they_name_are_refused() -> None:
    with pytest.raises(UsageError, match=r"groups are of problems, .* not 'network_policy_block'"):
        groups(["network_policy_block"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match=r"a plan's policy is a PolicyChoice.*, not 'wait'"):
        RunPlan.of(groups(PROBLEMS), policy="wait")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"a policy has begin.* and act.*, which 'wait' has not"):
        run_episode(SREGymEnv(PROBLEMS[0]), "wait", seed=1)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="concurrency must be a whole number, at least 1, not '2'"):
        LocalPool("2")  # type: ignore[arg-type]


def test_what_makes_no_sense_ends_the_run() -> None:
    with pytest.raises(UsageError, match="no policy"):
        played(plan(policy=PolicyChoice(name="oracle")))


@pytest.mark.parametrize("places", [1, 3])
def test_a_problem_that_cannot_be_played_is_given_up_at_once(places: int) -> None:
    unplayable = Problem(
        id="x", app="hotel-reservation", faults=({"fault": "scale_to_zero", "target": "no"},)
    )  # type: ignore[arg-type]
    results = played(plan(*PROBLEMS, unplayable), places)
    assert [bool(result.rollouts) for result in results] == [True, True, False]
    assert results[2].error is not None
    assert "ProblemError" in results[2].error
    assert results[2].attempt == 0


# --- a crew on paper ------------------------------------------------------------------------------

FOREVER = float("inf")
OUTCOMES = ("ok", "raise", "refuse", "die", "hang")


def paper(number: int) -> tuple[Group, ...]:
    """Groups that nobody really plays."""
    return tuple(
        Group(index=index, group_id=f"{index:012x}", problem={}, seed=index) for index in range(number)
    )


@dataclass
class Paper:
    """Workers with a clock of their own; what a group does is said beforehand, by index and attempt."""

    workers: int
    places: int
    outcome: Callable[[int, int], str]
    now: float = 0.0
    playing: dict[int, dict[int, tuple[float, str]]] = field(default_factory=dict)
    begun: Counter[int] = field(default_factory=Counter)
    most: int = 0
    abandoned: bool = False
    made: int = 0

    def __post_init__(self) -> None:
        for _ in range(self.workers):
            self._hire()

    def _hire(self) -> None:
        self.playing[self.made] = {}
        self.made += 1

    def clock(self) -> float:
        return self.now

    def ready(self) -> list[int]:
        return list(self.playing)

    def start(self, worker: int, job: Job) -> None:
        index = job.group.index
        assert job.attempt == self.begun[index], "attempts count what was begun"
        assert all(index not in flights for flights in self.playing.values()), "played twice at once"
        self.begun[index] += 1
        outcome = self.outcome(index, job.attempt)
        end = FOREVER if outcome == "hang" else self.now + 1 + index % 3
        self.playing[worker][index] = (end, outcome)
        assert len(self.playing[worker]) <= self.places
        self.most = max(self.most, sum(map(len, self.playing.values())))

    def wait(self, seconds: float | None) -> list[Told]:
        ends = [end for flights in self.playing.values() for end, _ in flights.values()]
        limit = FOREVER if seconds is None else self.now + seconds
        self.now = min([*ends, limit])
        assert self.now < FOREVER, "waits for ever"
        told: list[Told] = []
        for worker, flights in list(self.playing.items()):
            for index, (end, outcome) in list(flights.items()):
                if end > self.now or worker not in self.playing:
                    continue
                del flights[index]
                if outcome == "ok":
                    told.append(Finished(worker, index, ()))
                elif outcome == "die":
                    del self.playing[worker]
                    self._hire()
                    told.append(Died(worker, "killed"))
                else:
                    told.append(Raised(worker, index, "KeyError: 1", again=outcome == "raise"))
        return told

    def stop(self, worker: int) -> None:
        del self.playing[worker]
        self._hire()

    def last(self) -> list[Told]:
        return []

    def abandon(self) -> None:
        self.abandoned = True


def driven(crew: Paper, number: int, **limits: float) -> list[GroupResult]:
    return list(drive(crew, paper(number), clock=crew.clock, **{"group_seconds": 100.0, **limits}))  # type: ignore[arg-type]


@given(
    st.integers(1, 12),
    st.integers(1, 4),
    st.integers(1, 4),
    st.dictionaries(st.tuples(st.integers(0, 11), st.integers(0, 6)), st.sampled_from(OUTCOMES)),
)
def test_every_group_comes_once_whatever_happens(
    number: int, workers: int, places: int, said: Mapping[tuple[int, int], str]
) -> None:
    crew = Paper(workers, places, lambda index, attempt: said.get((index, attempt), "ok"))
    results = driven(crew, number)
    assert sorted(result.index for result in results) == list(range(number))
    for result in results:
        own = [said.get((result.index, attempt), "ok") for attempt in range(crew.begun[result.index])]
        assert result.attempt == crew.begun[result.index] - 1
        if result.error is None:
            assert own[-1] == "ok"
        else:
            # Given up for its own deeds: refused once, or failed three times.
            assert own[-1] == "refuse" or sum(each in ("raise", "die", "hang") for each in own) >= 3
    assert not crew.abandoned


@pytest.mark.parametrize("deed", ["raise", "die", "hang"])
@pytest.mark.parametrize("places", [1, 4])
def test_who_always_fails_is_given_up_and_nobody_else(deed: str, places: int) -> None:
    crew = Paper(2, places, lambda index, attempt: deed if index == 5 else "ok")
    results = {result.index: result for result in driven(crew, 12)}
    assert [index for index, result in results.items() if result.error is not None] == [5]
    # In company it is not known who killed the worker: that time is not counted.
    assert crew.begun[5] in ((3, 4) if deed == "die" and places > 1 else (3,))
    assert results[5].attempt == crew.begun[5] - 1


def test_a_worker_that_died_with_several_groups_is_tried_one_by_one() -> None:
    """The innocent come through although they were there each time."""
    crew = Paper(1, 4, lambda index, attempt: "die" if index == 0 else "ok")
    results = driven(crew, 4)
    assert [result.index for result in results if result.error] == [0]
    assert crew.begun[0] == 4
    assert all(crew.begun[index] <= 2 for index in (1, 2, 3))


def test_it_goes_on_after_losses() -> None:
    """Once each: a death, a hang and an exception cost an attempt and no result."""
    deeds = {(0, 0): "die", (1, 0): "hang", (2, 0): "raise"}
    crew = Paper(2, 1, lambda index, attempt: deeds.get((index, attempt), "ok"))
    results = driven(crew, 6)
    assert {result.index: result.attempt for result in results} == {0: 1, 1: 1, 2: 1, 3: 0, 4: 0, 5: 0}
    assert all(result.error is None for result in results)


def test_all_places_are_used() -> None:
    crew = Paper(3, 4, lambda index, attempt: "ok")
    driven(crew, 40)
    assert crew.most == 12


def test_who_is_asked_late_is_not_found_overdue() -> None:
    """Between two results the trainer trains for hours; what was done meanwhile is done."""
    crew = Paper(2, 1, lambda index, attempt: "ok")
    results = []
    for result in drive(crew, paper(8), group_seconds=100.0, clock=crew.clock):
        results.append(result)
        crew.now += 10_000
    assert sorted(result.index for result in results) == list(range(8))
    assert all(result.attempt == 0 for result in results)


def test_a_run_in_which_everything_fails_ends() -> None:
    with pytest.raises(RunError, match="7 groups could not be played; the last because of: KeyError: 1"):
        driven(Paper(2, 1, lambda index, attempt: "raise"), 50, given_up=7)


def test_who_stops_listening_stops_the_crew() -> None:
    crew = Paper(2, 1, lambda index, attempt: "ok")
    stream = drive(crew, paper(9), clock=crew.clock)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert crew.abandoned


@given(st.permutations(range(7)))
def test_results_are_put_in_order(order: list[int]) -> None:
    every = paper(7)
    results = [GroupResult(every[index], (), 0) for index in order]
    assert [result.index for result in in_order(results, every)] == list(range(7))


@pytest.mark.parametrize("limits", [{"attempts": 0}, {"group_seconds": 0.0}, {"given_up": 0}])
def test_limits_that_make_no_sense(limits: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        driven(Paper(1, 1, lambda index, attempt: "ok"), 1, **limits)
