"""Compares the two kubectls byte for byte, state by state, and records what the real one printed for new lines.

    python -m tests.parity [-v] [--new | --anew | --check] [--jobs N] [--states PREFIX] [WORD ...]

Every line is typed into today's world of its state. What has been recorded stays as it is: only ``--anew`` replaces
it, in whole states. ``--new`` types nothing but lines that have no recording. ``WORD``s select lines that contain
them all; then, and with ``--check``, nothing is recorded.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.parity.compare import Compared, Job, jobs_of, run_all, version_of
from tests.parity.harness import Case
from tests.parity.known import reason
from tests.parity.playing import recorded
from tests.parity.recording import Recording, load, recorded_states, save, share
from tests.parity.states import State, state, states
from tests.serve.serving import real_kubectl


def main(argv: Sequence[str]) -> int:
    """Compare, record, report."""
    options = _options(argv)
    binary = real_kubectl()
    if binary is None:
        print("no kubectl 1.32 found; name one in SREGYM_KUBECTL")
        return 2
    chosen = [each for each in states() if each.name.startswith(options.states)]
    jobs = [job for each in chosen for job in _jobs(each, options)]
    equal = cases = unknown = 0
    for name, of_state in groupby(run_all(jobs, options.jobs), key=lambda pair: pair[0].state):
        done = [each for _, compared in of_state for each in compared]
        if not (options.check or options.words):
            _record(state(name), done, version_of(binary), anew=options.anew)
        for each in done:
            cases += 1
            if each.real == each.ours:
                equal += 1
            elif reason(name, each.case) is None:
                unknown += 1
                _print(name, each, options.verbose)
    if options.anew and not options.states:
        share()
    print(
        f"{equal} of {cases} command lines byte-equal ({equal / max(cases, 1):.2%}) in {len(chosen)} states; "
        f"{cases - equal - unknown} differ for known reasons, {unknown} otherwise"
    )
    return 0 if not unknown else 1


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.parity")
    parser.add_argument("words", nargs="*")
    parser.add_argument("-v", "--verbose", action="store_true", help="show differences whole")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--new", action="store_true", help="only lines that are not recorded")
    how.add_argument("--anew", action="store_true", help="replace what is recorded")
    how.add_argument("--check", action="store_true", help="record nothing")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--states", default="", help="only states whose names begin so")
    return parser.parse_intermixed_args(list(argv))


def _jobs(chosen: State, options: argparse.Namespace) -> list[Job]:
    cases = _new(chosen) if options.new else chosen.cases(chosen.make())
    return jobs_of(chosen.name, [case for case in cases if all(word in str(case) for word in options.words)])


def _new(chosen: State) -> Sequence[Case]:
    """Lines that have no recording. What was looked up in a world was looked up in the one that is recorded."""
    if chosen.name not in recorded_states():
        return chosen.cases(chosen.make())
    known = {line.case for line in load(chosen.name).lines}
    return [case for case in chosen.lines if case not in known]


def _record(chosen: State, done: Sequence[Compared], kubectl: str, *, anew: bool) -> None:
    whole = anew or chosen.name not in recorded_states()
    new = {each.case for each in done} if whole else set(_new(chosen))
    real = [(each.case, each.real) for each in done if each.case in new]
    if not real:
        return
    with TemporaryDirectory(prefix="sregym-parity-") as home:
        lines = recorded(chosen, real, Path(home))
    kept = () if whole else load(chosen.name).lines
    save(Recording(chosen.name, kubectl, [*kept, *lines]))
    print(f"{chosen.name}: {len(lines)} lines recorded")


def _print(name: str, each: Compared, verbose: bool) -> None:
    for part in each.real.differing(each.ours):
        print(f"--- {name}: kubectl {each.case}: {part}")
        lines = list(
            difflib.unified_diff(
                str(getattr(each.real, part)).splitlines(keepends=True),
                str(getattr(each.ours, part)).splitlines(keepends=True),
                n=0,
            )
        )[2:]
        shown = lines if verbose else lines[:8]
        print("".join(f"    {line.rstrip(chr(10))[: 400 if verbose else 200]}\n" for line in shown), end="")
        if len(lines) > len(shown):
            print(f"    ... {len(lines) - len(shown)} more lines")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
