"""Recordings as files: what the real kubectl printed, and all that it follows from.

One file per state, compressed JSON. Every object stands in it once; moments, answers and changes refer to it by its
position. The first moment is the state itself, the others hold what is different from it after preparing commands.
Objects that several states have stand in a file of their own, by a hash of their content.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from sregym_env.cluster.http import HttpExchange
from sregym_env.cluster.streams import Attached, ExecResult
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from tests.parity.harness import Case, Outcome
from tests.parity.seam import Change, Exchange, Heard, View
from tests.parity.standing import Moment

FOLDER = Path(__file__).parent / "data"
_ENDING = ".json.xz"


@dataclass(frozen=True)
class Line:
    """A recorded command line."""

    case: Case
    real: Outcome
    """What the real kubectl printed."""
    moment: Moment
    """The objects that it found."""
    heard: Heard
    """What the in-process kubectl was told beyond them."""


@dataclass(frozen=True)
class Recording:
    """The recorded lines of one state."""

    state: str
    kubectl: str
    """Version of the binary."""
    lines: Sequence[Line]


def recorded_states() -> list[str]:
    """Names of the states there are recordings of."""
    return sorted(path.name.removesuffix(_ENDING) for path in FOLDER.glob(f"*{_ENDING}"))


def path_of(state: str) -> Path:
    """The file of a state."""
    return FOLDER / f"{state}{_ENDING}"


# --- writing --------------------------------------------------------------------------------------


def save(recording: Recording) -> None:
    """Write a recording; the same one gives the same bytes."""
    pool = _Pool()
    common = _common(_common_path())
    base = recording.lines[0].moment
    at: dict[int, int] = {}
    moments: list[dict[str, Any]] = []
    for line in recording.lines:
        if id(line.moment) not in at:
            at[id(line.moment)] = len(moments)
            moments.append(_moment(line, {} if line.moment is base else base.objects, pool))
    lines = [
        {
            "line": line.case.line,
            "moment": at[id(line.moment)],
            **_without_empty(stdin=line.case.stdin),
            "stdout": line.real.stdout,
            **_without_empty(stderr=line.real.stderr, code=line.real.code),
            **_heard(line.heard, pool),
        }
        for line in recording.lines
    ]
    data = {
        "state": recording.state,
        "kubectl": recording.kubectl,
        "objects": [hashed if (hashed := _hash(obj)) in common else obj for obj in pool.objects],
        "moments": moments,
        "lines": lines,
    }
    _write(path_of(recording.state), data)


def share() -> None:
    """Find out anew which objects several states have, and write all files accordingly."""
    recordings = [load(state) for state in recorded_states()]
    objects: dict[str, Manifest] = {}
    states: Counter[str] = Counter()
    for recording in recordings:
        own = {_hash(obj): obj for obj in _found(_read(path_of(recording.state))["objects"])}
        objects |= own
        states.update(own.keys())
    _write(_common_path(), {hashed: objects[hashed] for hashed in sorted(objects) if states[hashed] > 1})
    _common.cache_clear()
    for recording in recordings:
        save(recording)


def _common_path() -> Path:
    return FOLDER / "common" / "objects.json.xz"


@cache
def _common(path: Path) -> dict[str, Manifest]:
    return _read(path) if path.exists() else {}


def _found(objects: Iterable[Any]) -> list[Manifest]:
    common = _common(_common_path())
    return [common[obj] if isinstance(obj, str) else obj for obj in objects]


def _hash(obj: Manifest) -> str:
    return blake2b(json.dumps(obj).encode(), digest_size=6).hexdigest()


def _write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(json.dumps(data, separators=(",", ":")).encode()))


def _read(path: Path) -> Any:
    return json.loads(lzma.decompress(path.read_bytes()))


class _Pool:
    """Objects, each once."""

    def __init__(self) -> None:
        self.objects: list[Manifest] = []
        self._at: dict[str, int] = {}

    def put(self, obj: Manifest) -> int:
        """Position of an object."""
        text = json.dumps(obj)
        if text not in self._at:
            self._at[text] = len(self.objects)
            self.objects.append(obj)
        return self._at[text]


def _moment(line: Line, known: Mapping[Any, Manifest], pool: _Pool) -> dict[str, Any]:
    moment = line.moment
    changed = [
        [*slot, pool.put(obj)] for slot, obj in sorted(moment.objects.items(), key=lambda item: item[0])
        if known.get(slot) != obj
    ]  # fmt: skip
    gone = sorted([*slot, None] for slot in known if slot not in moment.objects)
    return {
        **_without_empty(before=line.case.before),
        "clock": moment.clock,
        "revision": moment.revision,
        "objects": changed + gone,
    }


def _heard(heard: Heard, pool: _Pool) -> dict[str, Any]:
    return _without_empty(
        asked=[
            [
                json.loads(each.question),
                _encoded(each.answer, pool),
                each.after,
                list(each.warnings),
                _changes(each.changes, pool),
            ]
            for each in heard.exchanges
        ],
        later=_changes(heard.later, pool),
        views={
            resource: [[pool.put(obj) for obj in view.objects], list(view.warnings)]
            for resource, view in heard.views.items()
        },
    )


def _changes(changes: Iterable[Change], pool: _Pool) -> list[list[Any]]:
    return [
        [each.after, each.resource, *each.key, None if each.object is None else pool.put(each.object)]
        for each in changes
    ]


def _encoded(answer: Any, pool: _Pool) -> dict[str, Any]:
    if isinstance(answer, StatusError):
        return {"error": [answer.code, answer.reason, answer.message, answer.details]}
    for kind, type_ in _ANSWERS.items():
        if isinstance(answer, type_):
            return {kind: answer._asdict() if isinstance(answer, Attached) else asdict(answer)}
    if isinstance(answer, Mapping) and "metadata" in answer:
        return {"object": pool.put(dict(answer))}
    return {"plain": dict(answer) if isinstance(answer, Mapping) else answer}


_ANSWERS: Mapping[str, type[Any]] = {"exec": ExecResult, "attached": Attached, "http": HttpExchange}


def _without_empty(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


# --- reading --------------------------------------------------------------------------------------


def load(state: str) -> Recording:
    """The recording of a state."""
    data = _read(path_of(state))
    objects = _found(data["objects"])
    moments: list[tuple[tuple[str, ...], Moment]] = []
    for each in data["moments"]:
        found = dict(moments[0][1].objects) if moments else {}
        for resource, namespace, name, at in each["objects"]:
            slot = (resource, namespace, name)
            if at is None:
                del found[slot]
            else:
                found[slot] = objects[at]
        moments.append((tuple(each.get("before", ())), Moment(each["clock"], each["revision"], found)))
    lines = [
        Line(
            Case(each["line"], moments[each["moment"]][0], each.get("stdin", "")),
            Outcome(each["stdout"], each.get("stderr", ""), each.get("code", 0)),
            moments[each["moment"]][1],
            _told(each, objects),
        )
        for each in data["lines"]
    ]
    return Recording(data["state"], data["kubectl"], lines)


def _told(line: Mapping[str, Any], objects: Sequence[Manifest]) -> Heard:
    return Heard(
        [
            Exchange(
                json.dumps(question, sort_keys=True),
                _decoded(answer, objects),
                after,
                tuple(warnings),
                _changed(changes, objects),
            )
            for question, answer, after, warnings, changes in line.get("asked", ())
        ],
        list(_changed(line.get("later", ()), objects)),
        {
            resource: View(tuple(objects[at] for at in found), tuple(warnings))
            for resource, (found, warnings) in line.get("views", {}).items()
        },
    )


def _changed(changes: Iterable[Sequence[Any]], objects: Sequence[Manifest]) -> tuple[Change, ...]:
    return tuple(
        Change(after, resource, (namespace, name), None if at is None else objects[at])
        for after, resource, namespace, name, at in changes
    )


def _decoded(answer: Mapping[str, Any], objects: Sequence[Manifest]) -> Any:
    [(kind, value)] = answer.items()
    if kind == "error":
        return StatusError(*value)
    if kind == "object":
        return objects[value]
    return _ANSWERS[kind](**value) if kind in _ANSWERS else value
