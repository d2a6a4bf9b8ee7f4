"""Search for what pays without understanding: ``python -m tests.redteam.search [texts|guesses|repairs] --seconds N --seed S``.

Fails when a text earns more than naming the place and one guess do, or when a repair that leaves harm passes.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from time import monotonic

from rich.console import Console
from rich.table import Table

from sregym_env.envs.tasks.pairs import pairs
from sregym_env.errors import SREGymError
from sregym_env.faults.problems import Problem
from sregym_env.runtime.chance import Chance
from tests.redteam.specs import one_of_each, spread

from .repairs import Ground, Trial, both
from .texts import LIMITS, SORTS, doubles, searched, shortened, worth

BRED_ON = 12
"""Faults on which texts are bred; they are measured on one of each."""

TRIALS = 40
"""Sequences that are tried on a world before another one is staged."""

SHARES = 20
"""Parts in which pairs of guesses are tried, so that the clock is looked at between them."""

CONSOLE = Console()


def texts(seconds: float, seed: int) -> bool:
    """Breed texts of every sort; whether none earns more than it may."""
    specs = spread()
    table = Table(
        "texts", "score", "limit", "passes", "graded", "the best", title="What texts earn of the diagnosis"
    )
    fair = True
    for sort in SORTS:
        bred_on = Chance(("specs", seed)).sample(sort.name, specs, BRED_ON)
        search, found = searched(sort, bred_on, specs, seed, seconds=seconds / len(SORTS))
        best, limit = found[0], LIMITS[sort.templated]
        if best.score >= limit and not sort.structured:
            best = max(best, worth(shortened(best.text, bred_on), specs), key=lambda each: each.score)
        fair = fair and best.score < limit and len(best.mechanisms) <= 1
        passes = f"{best.passes:.3f} {', '.join(best.mechanisms)}"
        table.add_row(sort.name, f"{best.score:.3f}", f"{limit}", passes, str(search.graded), repr(best.text))
    CONSOLE.print(table)
    return fair


def guesses(seconds: float, seed: int) -> bool:
    """Try two guesses in one text; whether none passes the faults of both."""
    until = monotonic() + seconds
    specs = Chance(("guesses", seed)).shuffled("specs", one_of_each())
    table = Table("two guesses that pass both", title="What guessing twice is paid for")
    paying = 0
    for first in range(SHARES):
        if monotonic() >= until:
            break
        for text in doubles(specs, SHARES, first):
            table.add_row(text)
            paying += 1
    CONSOLE.print(table)
    return not paying


def problems(chance: Chance) -> Iterator[Problem]:
    """One pair after the other in some order, and every third time two of them at once."""
    order = chance.shuffled("pairs", pairs())
    for number, problem in enumerate(order):
        yield problem
        if number % 3 == 2:
            yield both(problem, chance.at("with", number).choice("other", order))


def repairs(seconds: float, seed: int) -> bool:
    """Try repairs in one world after the other; whether none that leaves harm passes."""
    until = monotonic() + seconds
    paying: list[Trial] = []
    tried, worlds, refused = 0, 0, Counter[str]()
    for problem in problems(Chance(("worlds", seed))):
        ground = Ground(problem, seed)
        try:
            sequences = ground.drawn()
            for _ in range(TRIALS):
                if monotonic() >= until:
                    break
                trial = ground.tried(next(sequences))
                tried += 1
                refused.update(trial.failed)
                if trial.pays is not None:
                    paying.append(ground.shrunk(trial))
        except SREGymError as error:
            # A pair that cannot be staged with this seed is another test's finding.
            CONSOLE.print(f"{ground.pair}: {error}", style="dim")
        worlds += 1
        if monotonic() >= until:
            break
    table = Table(
        "pays",
        "pair",
        "snippets",
        "harm",
        "typed",
        title=f"What {tried} repairs in {worlds} worlds are paid for",
    )
    order = {"harmful": 0, "free": 1, "": 2}
    shown = {
        (trial.pair, trial.name): trial for trial in sorted(paying, key=lambda trial: order[trial.pays or ""])
    }
    for trial in shown.values():
        harm = ", ".join((*trial.harm, *trial.charged))
        table.add_row(trial.pays or "undeclared", trial.pair, trial.name, harm, "\n".join(trial.lines))
    CONSOLE.print(table)
    CONSOLE.print("checks that failed: " + ", ".join(f"{name} {n}" for name, n in refused.most_common()))
    return not any(trial.pays in ("harmful", "free") for trial in paying)


SEARCHES = {"texts": texts, "guesses": guesses, "repairs": repairs}


def main() -> int:
    """Search, print what pays; 1 if anything does that must not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("searches", nargs="*", help=f"of {', '.join(SEARCHES)}; all by default")
    parser.add_argument("--seconds", type=float, default=120.0, help="how long each of them takes")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    chosen = args.searches or list(SEARCHES)
    if unknown := [name for name in chosen if name not in SEARCHES]:
        parser.error(f"no search {unknown[0]!r}; there are {', '.join(SEARCHES)}")
    # Every one, also after one that found something.
    fair = [SEARCHES[name](args.seconds, args.seed) for name in chosen]
    return int(not all(fair))


if __name__ == "__main__":
    sys.exit(main())
