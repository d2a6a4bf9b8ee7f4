"""No action costs more than it should, and none voids its episode: a sample of the hostile corpus, and what it rests on.

``make hostile`` plays all of it and measures seconds; here work is counted, so that nothing depends on the machine.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from sregym_env.runtime import effort
from sregym_env.sim.world.logs import FILE_BYTES, Burst, ContainerLog, Cycle
from tests.redteam.hostile.attempt import Attempt
from tests.redteam.hostile.corpus import corpus
from tests.redteam.hostile.playing import Cost, played, staged

N = "-n hotel-reservation"
SLACK = 1.5
"""How much more than an allowance is counted at most: what cannot be stopped half-way is counted afterwards."""
MOST = (effort.OWN + effort.WORLD) * SLACK

SAMPLE = [attempt for attempt in corpus() if len("".join(attempt.actions)) < 20_000][::37]


def costs(*actions: str) -> list[Cost]:
    """What actions cost that are typed one after the other."""
    return list(played(Attempt("test", "test", actions)))


def test_the_corpus_is_large_and_every_attempt_has_a_name() -> None:
    attempts = corpus()
    assert len(attempts) >= 3_000
    assert len({attempt.id for attempt in attempts}) == len(attempts)


@pytest.mark.sampled
@pytest.mark.parametrize("attempt", SAMPLE, ids=lambda attempt: attempt.id)
def test_a_hostile_action_is_bounded_and_answered(attempt: Attempt) -> None:
    for cost in played(attempt):
        assert cost.exit_reason in ("", "submitted", "max_commands"), cost
        assert cost.units <= MOST + 4e6 * (cost.exit_reason == "submitted"), cost
        assert not cost.failure, cost
        assert "Traceback" not in cost.text and "object at 0x" not in cost.text, cost
        assert cost.chars <= 16_000


def test_work_is_counted_the_same_every_time() -> None:
    actions = (
        "for i in {1..300}; do echo $i | sed s/1/2/; done | awk '{n+=$1} END{print n}'",
        f"kubectl get all {N}",
    )
    first, again = costs(*actions), costs(*actions)
    assert [cost.units for cost in first] == [cost.units for cost in again]
    assert all(cost.units > 100 for cost in first)


# --- findings, each as it was found ------------------------------------------------------------------


def test_nested_ranges_are_an_error_of_the_template() -> None:
    template = "{range .items[*]}" * 500
    (cost,) = costs(f"kubectl get pods -A -o jsonpath='{template}'")
    assert (cost.exit_reason, cost.exit_code) == ("", 1)


@pytest.mark.parametrize(
    ("line", "said", "code"),
    [
        ("sed ':a;s/x/xx/g;ba' <<< x", "Killed\n", 137),
        ("echo {a..z}{a..z}{a..z}{a..z}{a..z}{a..z}{a..z}", "brace expansion too long\n", 126),
        ("a=x; while true; do a=$a$a; done", "cannot allocate memory\n", 2),
        ("awk 'BEGIN{while(1);}'", "Killed\n", 137),
        ("jq -n 'last(range(1e9))'", "Killed\n", 137),
    ],
)
def test_what_is_too_much_ends_as_on_a_machine_with_limits(line: str, said: str, code: int) -> None:
    (cost,) = costs(line)
    assert cost.text.endswith(said)
    assert cost.exit_code == code


def test_many_interpreters_share_one_allowance() -> None:
    (cost,) = costs("for i in {1..500}; do awk 'BEGIN{for(i=0;i<100000;i++)x++}'; done; echo done")
    assert cost.text.endswith("Killed\n")
    assert cost.units <= effort.OWN * SLACK


def test_the_session_outlives_what_was_killed() -> None:
    costs_ = costs("x=5; while true; do :; done", "echo $x", f"kubectl get deploy geo {N} -o name")
    assert [cost.text for cost in costs_[1:]] == ["5\n", "deployment.apps/geo\n"]


def test_fleets_that_spin_or_sleep_cost_next_to_nothing() -> None:
    for script in (
        "while true; do :; done",
        "while true; do sleep 1; done",
        "while true; do echo a; sleep 1; done",
    ):
        _, slept, handed_in = costs(
            f"kubectl create deploy d {N} --image=busybox --replicas=40 -- sh -c '{script}'",
            "sleep 600",
            "submit mitigation",
        )
        assert slept.exit_code == 0
        assert slept.units < 600_000
        assert handed_in.exit_reason == "submitted"


def test_a_loop_says_what_it_would_have_said() -> None:
    script = 'echo start; while true; do echo a; sleep 1; echo "b  $HOSTNAME"; sleep 2; done'
    *_, read, tail = costs(
        f"kubectl run p {N} --image=busybox -- sh -c '{script}'",
        "sleep 20",
        f"kubectl logs p {N} | head -5",
        f"kubectl logs p {N} --timestamps --tail=3 | cut -c18-19,31-; kubectl get pod p {N} --no-headers",
    )
    assert read.text == "start\na\nb  p\na\nb  p\n"
    seconds = [int(line[:2]) for line in tail.text.split("\n")[:3]]
    assert sorted(((later - earlier) % 60) for earlier, later in pairwise(seconds)) == [
        1,
        2,
    ]
    assert "Running" in tail.text


def test_a_script_without_end_computes_and_is_seen_to() -> None:
    *_, top, shown = costs(
        f"kubectl run p {N} --image=busybox -- sh -c 'i=0; while true; do i=$((i+1)); done'",
        "sleep 90",
        f"kubectl top pod p {N} --no-headers",
        f"kubectl get pod p {N} --no-headers; kubectl logs p {N}",
    )
    assert 900 <= int(top.text.split()[1].removesuffix("m")) <= 1100
    assert "1/1   Running   0" in " ".join(shown.text.split(" ")).replace("     ", "   ")
    assert "Killed" not in shown.text


# --- logs --------------------------------------------------------------------------------------------


def test_only_the_newest_file_of_a_log_is_read() -> None:
    log = ContainerLog()
    log.open_burst(Burst(0, None, 100.0, "x" * 160, "seed"))
    day = 86_400 * 1_000_000
    lines = log.read(30 * day)
    assert 0 < sum(len(line.text) + 41 for line in lines) <= FILE_BYTES
    assert lines[-1].time > 30 * day - 1_000_000


def test_what_is_not_asked_for_is_not_made() -> None:
    log = ContainerLog()
    now = 30 * 86_400 * 1_000_000
    log.open_burst(Burst(now - 60_000_000, None, 1000.0, "line {time}", "seed"))
    assert len(log.read(now, limit=5)) == 5
    assert 900 < len(log.read(now, since=now - 1_000_000)) < 1100
    made = sum(1 for _ in Burst(0, None, 1000.0, "x", "seed").lines_before(now, now - 10_000))
    assert made < 20


def test_a_cycle_ends_with_its_process() -> None:
    log = ContainerLog()
    log.open_burst(Cycle(0, None, 3_000_000, ((0, "a"), (1_000_000, "b"))))
    log.close_bursts(4_000_000)
    assert [line.text for line in log.read(8_000_000)] == ["a", "b", "a", "b", "a", "b"]
    log.close(4_500_000)
    assert [(line.time, line.text) for line in log.read(9_000_000)] == [
        (0, "a"),
        (1_000_000, "b"),
        (3_000_000, "a"),
        (4_000_000, "b"),
    ]


def test_numbers_count_up_whoever_connects() -> None:
    log = ContainerLog()
    given = [log.number(0, 5), log.number(0, 5)]
    for seed in ("one", "other"):
        log.open_burst(Burst(0, None, 2.0, "conn{ordinal}", seed))
    given += [log.number(time * 1_000_000, 0) for time in (1, 1, 30)]
    log.close_bursts(40_000_000)
    log.open_burst(Burst(40_000_000, None, 1.0, "conn{ordinal}", "later"))
    written = [int(line.text.removeprefix("conn")) for line in log.read(60_000_000)]
    assert len(written) > 150
    assert len({*written, *given}) == len(written) + len(given)
    assert given == sorted(given) and min(written) > given[1]
    assert log.number(60_000_000, 0) > max(written)


# --- the shell's dice ----------------------------------------------------------------------------------


def test_random_differs_between_episodes_and_not_within_one() -> None:
    line = "echo $RANDOM $RANDOM; bash -c 'echo $RANDOM'"
    one, other = staged().fork(), staged().fork()
    assert one.step(line)[0] == other.step(line)[0]
    other.reset(seed=6)
    assert one.fork().step("echo $RANDOM")[0] != other.step("echo $RANDOM")[0]
