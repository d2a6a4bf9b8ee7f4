"""Recording the lines of a state, and playing them again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sregym_env.sim.embedded import EmbeddedWorld
from tests.parity.harness import Bench, Case, InProcess, Outcome
from tests.parity.recording import Line, Recording
from tests.parity.standing import Moment, Replay, Unanswered, moment_of, place, standing_world
from tests.parity.states import State
from tests.parity.witness import Witness


@dataclass(frozen=True)
class Played:
    """What the in-process kubectl printed for a recorded line."""

    line: Line
    ours: Outcome
    otherwise: Sequence[str]
    """What it asked that it had not asked when it was recorded."""


def recorded(state: State, real: Iterable[tuple[Case, Outcome]], home: Path) -> list[Line]:
    """Lines with what the real kubectl printed for them and what they depend on in today's world."""
    ours = InProcess(state.make(), state.bench(home))
    moments: dict[tuple[str, ...], Moment] = {}
    lines = []
    for case, outcome in real:
        prepared = ours.prepared(case)
        if case.before not in moments:
            moments[case.before] = moment_of(prepared.fork())
        witness = Witness(prepared.fork())
        ours.bench.typed(witness.cluster, case)
        lines.append(Line(case, outcome, moments[case.before], witness.heard))
    return lines


def played(recording: Recording, bench: Bench) -> Iterator[Played]:
    """Every line, typed again into the recorded objects."""
    worlds: dict[int, EmbeddedWorld] = {}
    base = recording.lines[0].moment
    first = standing_world(base)
    for line in recording.lines:
        key = id(line.moment)
        if key not in worlds:
            worlds[key] = first if line.moment is base else _moved(first, base, line.moment)
        replay = Replay(worlds[key].fork(), line.heard)
        try:
            ours = bench.typed(replay.cluster, line.case)
        except Unanswered as error:
            ours = Outcome("", f"asked otherwise than when it was recorded: {error}", -1)
        yield Played(line, ours, replay.otherwise)


def _moved(first: EmbeddedWorld, base: Moment, moment: Moment) -> EmbeddedWorld:
    """A standing world at another moment."""
    world = first.fork()
    objects = moment.objects
    place(world.store, ((slot, None) for slot in base.objects if slot not in objects))
    place(world.store, ((slot, obj) for slot, obj in objects.items() if base.objects.get(slot) is not obj))
    world.store.revision, world.clock = moment.revision, moment.clock
    return world
