"""What the real kubectl printed, kept as data: one file per state of the world."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.parity.harness import Case, Outcome

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Recording:
    """The outcomes of one state's cases."""

    state: str
    kubectl: str
    """Version of the binary."""
    digest: str
    """Of the world the commands were typed in."""
    outcomes: Sequence[tuple[Case, Outcome]]


def path_of(state: str) -> Path:
    """The file of a state."""
    return FOLDER / f"{state}.json.gz"


def recorded_states() -> list[str]:
    """Names of the states there are recordings of."""
    return sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz"))


def save(recording: Recording) -> None:
    """Write a recording; the same one gives the same bytes."""
    cases = [
        {
            "line": case.line,
            **({"before": list(case.before)} if case.before else {}),
            **({"stdin": case.stdin} if case.stdin else {}),
            "stdout": outcome.stdout,
            **({"stderr": outcome.stderr} if outcome.stderr else {}),
            **({"code": outcome.code} if outcome.code else {}),
        }
        for case, outcome in recording.outcomes
    ]
    head = {"state": recording.state, "kubectl": recording.kubectl, "digest": recording.digest}
    text = json.dumps({**head, "cases": cases}, indent=1, ensure_ascii=False) + "\n"
    path_of(recording.state).parent.mkdir(parents=True, exist_ok=True)
    path_of(recording.state).write_bytes(gzip.compress(text.encode(), mtime=0))


def load(state: str) -> Recording:
    """The recording of a state."""
    data = json.loads(gzip.decompress(path_of(state).read_bytes()))
    outcomes = [
        (
            Case(case["line"], tuple(case.get("before", ())), case.get("stdin", "")),
            Outcome(case["stdout"], case.get("stderr", ""), case.get("code", 0)),
        )
        for case in data["cases"]
    ]
    return Recording(data["state"], data["kubectl"], data["digest"], outcomes)
