"""Structured diagnoses as they are handed in: causes in fields, by flags, by a tool call, or as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sregym_env.tools.taxonomy import NOTHING_WRONG, keyed, near

MAX_CAUSES = 16
"""Causes in one diagnosis."""

FIELDS: Mapping[str, str] = {
    "component": "the component at fault; several as a list; none where nothing is wrong",
    "kind": "kind of the object that is wrong, e.g. Service",
    "name": "its name",
    "mechanism": "what is wrong with it, a key of the taxonomy",
    "field": "the field that is wrong, e.g. spec.ports[0].targetPort",
    "value": "the wrong value it has now; empty where something is absent",
    "because": "a sentence that says why",
}
"""What is answered of each cause, and what it means."""

REQUIRED = ("component", "mechanism")
"""What must be answered of each."""

_ALIASES = {
    "components": "component",
    "object": "name",
    "object_name": "name",
    "object_kind": "kind",
    "resource_kind": "kind",
    "resource_name": "name",
    "wrong_value": "value",
    "wrong": "value",
    "reason": "because",
    "explanation": "because",
    "why": "because",
}
"""Other names under which models tend to give them."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause as it is answered."""

    components: tuple[str, ...]
    mechanism: str
    kind: str = ""
    name: str = ""
    field: str = ""
    value: str = ""
    because: str = ""

    @property
    def nothing(self) -> bool:
        """Whether it says that there is no cause."""
        return self.mechanism == NOTHING_WRONG.key

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, by the names of the fields."""
        component: str | list[str] = (
            self.components[0] if len(self.components) == 1 else list(self.components)
        )
        rest = {name: getattr(self, name) for name in FIELDS if name != "component"}
        return {"component": component, **rest}


def handed_in(causes: Sequence[Cause]) -> str:
    """Causes as the text of a submission."""
    return json.dumps({"causes": [cause.to_dict() for cause in causes]}, ensure_ascii=False)


def flags(causes: Sequence[Cause]) -> str:
    """Causes as the flags of ``submit diagnosis``."""
    return " ".join(map(_flags, causes))


def _flags(cause: Cause) -> str:
    fields = {**cause.to_dict(), "component": ",".join(cause.components)}
    return " ".join(f"--{name} {shlex.quote(value)}" for name, value in fields.items() if value)


def causes_of(text: str) -> tuple[Cause, ...] | None:
    """The causes in a submission's text; None where it is no structured diagnosis but prose."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(document, Mapping) and set(document) == {"causes"}:
        document = document["causes"]
    entries = document if isinstance(document, list) else [document]
    found = [understood(entry) for entry in entries]
    causes = tuple(cause for cause in found if isinstance(cause, Cause))
    return causes if causes and len(causes) == len(found) <= MAX_CAUSES else None


def understood(entry: Any) -> Cause | str:
    """One cause from a mapping of its fields, or what is wrong with it."""
    if not isinstance(entry, Mapping):
        return "a cause is an object with the fields " + ", ".join(FIELDS)
    given = {_ALIASES.get(str(key), str(key)): value for key, value in entry.items()}
    unknown = sorted(set(given) - set(FIELDS))
    if unknown:
        return f'unknown field "{unknown[0][:40]}"; there are {", ".join(FIELDS)}'
    components = _names(given.pop("component", ""))
    if components is None:
        return "component must be a name or a list of names"
    words = {name: _word(value) for name, value in given.items()}
    wrong = [name for name, value in words.items() if value is None]
    if wrong:
        return f"{wrong[0]} must be a string"
    return checked(
        Cause(components, **{"mechanism": "", **{k: v for k, v in words.items() if v is not None}})
    )


def checked(cause: Cause) -> Cause | str:
    """A cause that names a component and a published mechanism, or that there is none; or what is wrong with it."""
    key = keyed(cause.mechanism)
    if key == NOTHING_WRONG.key:
        said = [name for name in ("kind", "name", "field", "value") if getattr(cause, name)]
        if cause.components or said:
            return f"{key} blames nobody: leave {', '.join(['component'] if cause.components else said)} out"
        return replace(cause, mechanism=key)
    if not cause.components:
        return "component is missing: name the component at fault"
    if not cause.mechanism.strip():
        return "mechanism is missing: choose one of the taxonomy (`submit mechanisms` lists them)"
    if key:
        return replace(cause, mechanism=key)
    hint = f"did you mean {' or '.join(near(cause.mechanism))}? " if near(cause.mechanism) else ""
    return f'no mechanism "{cause.mechanism[:60]}"; {hint}`submit mechanisms` lists them'


def _names(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(dict.fromkeys(name for item in value if (name := item.strip())))


def _word(value: Any) -> str | None:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | Mapping) else None
