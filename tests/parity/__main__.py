"""Prints how much of the corpus comes out byte for byte as from the real kubectl, and the differences."""

from __future__ import annotations

import difflib
import sys

from tests.parity.corpus import CORPUS, MANIFESTS
from tests.parity.harness import Difference, parity
from tests.serve.serving import real_kubectl


def main(words: list[str]) -> int:
    """Compare the cases whose line contains all of ``words``; ``-v`` shows the differences whole."""
    if real_kubectl() is None:
        print("no kubectl 1.32 found; name one in SREGYM_KUBECTL")
        return 2
    verbose = "-v" in words
    wanted = [word for word in words if word != "-v"]
    with parity() as sides:
        for name, text in MANIFESTS.items():
            sides.write(name, text)
        cases = [case for case in CORPUS if all(word in case.line for word in wanted)]
        result = sides.run_all(cases)
    for difference in result.differences:
        _print(difference, verbose)
    print(f"{result.equal} of {result.cases} command lines byte-equal ({result.share:.1%})")
    return 0


def _print(difference: Difference, verbose: bool) -> None:
    before = f"   (after {'; '.join(difference.case.before)})" if difference.case.before else ""
    print(f"--- kubectl {difference.case.line}: {difference.part}{before}")
    lines = list(
        difflib.unified_diff(
            difference.real.splitlines(), difference.ours.splitlines(), "real", "in process", lineterm="", n=0
        )
    )[2:]
    shown = lines if verbose else lines[:8]
    print("\n".join(f"    {line[:200]}" for line in shown))
    if len(lines) > len(shown):
        print(f"    ... {len(lines) - len(shown)} more lines")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
