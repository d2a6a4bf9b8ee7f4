"""Compares the two kubectls byte for byte, state by state, and records what the real one printed.

    python -m tests.parity [-v] [--check] [--jobs N] [--states PREFIX] [WORD ...]

``WORD``s select lines that contain them all. Whole states are recorded unless ``--check`` is given.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from itertools import groupby

from tests.parity.compare import Compared, recording_of, run_all, version_of
from tests.parity.known import reason
from tests.parity.recording import save
from tests.parity.states import states
from tests.serve.serving import real_kubectl


def main(argv: Sequence[str]) -> int:
    """Compare, record, report."""
    options = _options(argv)
    binary = real_kubectl()
    if binary is None:
        print("no kubectl 1.32 found; name one in SREGYM_KUBECTL")
        return 2
    names = [each.name for each in states() if each.name.startswith(options.states)]
    equal = cases = unknown = 0
    done = run_all(names, options.words, options.jobs)
    for name, of_state in groupby(done, key=lambda pair: pair[0].state):
        pairs = list(of_state)
        if not (options.check or options.words):
            save(recording_of(pairs, version_of(binary)))
        for each in (each for _, compared in pairs for each in compared):
            cases += 1
            if each.real == each.ours:
                equal += 1
            elif reason(name, each.case) is None:
                unknown += 1
                _print(name, each, options.verbose)
    print(
        f"{equal} of {cases} command lines byte-equal ({equal / max(cases, 1):.2%}) in {len(names)} states; "
        f"{cases - equal - unknown} differ for known reasons, {unknown} otherwise"
    )
    return 0 if not unknown else 1


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.parity")
    parser.add_argument("words", nargs="*")
    parser.add_argument("-v", "--verbose", action="store_true", help="show differences whole")
    parser.add_argument("--check", action="store_true", help="record nothing")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--states", default="", help="only states whose names begin so")
    return parser.parse_intermixed_args(list(argv))


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
