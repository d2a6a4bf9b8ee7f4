"""Structured diagnoses: closed answers, compared field by field.

For each cause: the component or components, the kind and name of the object that is wrong, one mechanism of the published
taxonomy, the field, its wrong value, and a sentence that is kept and not graded. What is left out earns nothing; a
component, an object or a value that is given must be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sregym_env.cluster.app import App
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards import checklist
from sregym_env.rewards.checklist import Answer, Grade
from sregym_env.rewards.details import ABSENT, Details, quantity
from sregym_env.rewards.names import Names, names_of, plain
from sregym_env.tools.causes import Cause, causes_of

_WORKLOADS = frozenset(
    (
        "deployment",
        "statefulset",
        "daemonset",
        "replicaset",
        "pod",
        "container",
        "workload",
        "cronjob",
        "job",
        "podtemplate",
        "deploy",
    )
)
_COMPONENTS_OWN = _WORKLOADS | {"service"}
"""Kinds of objects that bear a component's name."""

_SAME_KIND = {
    "mongodbaccount": ("user", "account", "mongodbuser", "databaseuser", "databaseaccount", "role", "mongodb", "database", "deployment", "mongodbrole", "dbuser"),
    "service": ("endpoints", "endpointslice", "svc"),
    "configmap": ("cm", "corefile", "coredns"),
    "networkpolicy": ("netpol",),
    "resourcequota": ("quota",),
    "node": ("disk", "nodes"),
}  # fmt: skip
"""Other names of a kind, or of what it works through."""

parsed = causes_of


def grade(causes: Sequence[Cause], specs: Sequence[FaultSpec], app: App) -> Grade:
    """The nine answers to a structured diagnosis of these faults, or of none."""
    acquits = [cause for cause in causes if cause.nothing]
    if not specs:
        only = len(acquits) == len(causes) == 1
        return checklist.all_or_none(
            only, "nothing_wrong" if only else "blames somebody where nothing is wrong"
        )
    if acquits:
        return checklist.none("says that nothing is wrong")
    names = names_of(app)
    compared = _matched([[_Compared(cause, spec, names) for spec in specs] for cause in causes])
    truth = {name for spec in specs for name in spec.components}
    named = [name for cause in causes for name in _components(cause, specs, names)]
    wrong = [name for name in dict.fromkeys(named) if name not in truth]
    if len(wrong) > max(1, len(truth)):
        return checklist.none("a list of guesses")
    found = [pair for pair in compared if pair is not None and pair.located]
    return checklist.grade(_answers(causes, specs, compared, wrong), len(found) / len(specs))


@dataclass(frozen=True)
class _Compared:
    """An answer beside a fault."""

    cause: Cause
    spec: FaultSpec
    names: Names

    @property
    def located(self) -> bool:
        """Whether it names a component of the fault."""
        return bool(set(_components(self.cause, (self.spec,), self.names)) & set(self.spec.components))

    @property
    def complete(self) -> bool:
        """Whether it names all of the fault's components, directly or by the node that they have in common."""
        return set(_components(self.cause, (self.spec,), self.names)) >= set(self.spec.components)

    @property
    def understood(self) -> bool:
        """Whether it is the mechanism."""
        return self.cause.mechanism == self.spec.mechanism

    @property
    def object(self) -> bool | None:
        """Whether the object is right; None where none is given."""
        kind, name = _kind(self.cause.kind), plain(self.cause.name).strip()
        if "/" in name and not kind:
            kind, _, name = name.partition("/")
        if not kind and not name:
            return None
        return (not kind or kind in self._kinds) and (not name or self._named(name.rpartition("/")[2]))

    @property
    def _kinds(self) -> set[str]:
        own = _kind(self.spec.resource_kind)
        allowed = {own, *map(_kind, MECHANISMS[self.spec.mechanism].kinds)}
        if allowed & _WORKLOADS:
            allowed |= _WORKLOADS
        return allowed | {other for kind in allowed for other in _SAME_KIND.get(kind, ())}

    def _named(self, name: str) -> bool:
        known = {plain(each) for each in (self.spec.resource_name, *self.spec.aliases)}
        known |= {plain(word) for word in Details(self.spec).values}
        if self.spec.resource_kind == "Node" and name in (
            "all",
            "*",
            "all nodes",
            "all worker nodes",
            "worker nodes",
        ):
            return True
        if name in known:
            return True
        # A component's name is that of its workload and its Service, and of nothing else that may be wrong.
        meant = set(self.names.components(name))
        return bool(self._kinds & _COMPONENTS_OWN) and bool(meant) and meant <= set(self.spec.components)

    @property
    def field(self) -> bool:
        """Whether the field is right, by its last part, or by the words of the fault's own."""
        said, own = _words(self.cause.field) - _VAGUE, _words(self.spec.field) - _VAGUE
        if not own:
            return not said or bool(self.object)
        described = " " in self.spec.field
        return (own <= said and len(said) <= len(own) + _PATH) or (described and bool(said) and said <= own)

    @property
    def value(self) -> bool | None:
        """Whether the wrong value is right; None where none is given that could be compared."""
        said = plain(self.cause.value).strip().strip("\"'")
        if _READ_ERROR.search(said) and "eio" in _atoms(plain(self.spec.wrong)):
            return True
        if said and said == plain(self.spec.wrong).strip():
            return True
        if said in ABSENT:
            return True if not self.spec.wrong else None
        if not self.spec.wrong:
            # Of what is gone one may give the name, or what it was.
            known = {
                plain(word)
                for word in (
                    self.spec.right,
                    self.spec.field,
                    self.spec.resource_name,
                    *Details(self.spec).values,
                )
            }
            return said in known or bool(_words(said) & {w for each in known for w in _words(each)}) or None
        wrong = plain(self.spec.wrong).strip()
        if said == wrong or (quantity(said) is not None and quantity(said) == quantity(wrong)):
            return True
        if len(_atoms(said)) > len(_atoms(wrong)) + _PATH:
            # All that stands in an object is no value.
            return False
        telling = {word for word in _atoms(wrong) if word not in _atoms(plain(self.spec.right))}
        return bool(_atoms(said) & (telling or _atoms(wrong)))


_PATH = 6
"""Words that a field may have beside its own: those of the path to it; and parts that a value may."""

_READ_ERROR = re.compile(r"\b(?:i/?o|input/output|read)[ -]errors?\b")
"""What tools print for ``EIO``."""

_VAGUE = frozenset({"spec", "template", "container", "metadata", "data", "resource"})
"""Words of paths that stand in most of them."""


def _kind(text: str) -> str:
    """A kind without spelling: ``resource quotas`` as ``resourcequota``."""
    letters = re.sub(r"[^a-z]", "", text.lower())
    return letters if letters in ("endpoints",) else letters.removesuffix("s")


def _words(text: str) -> set[str]:
    """The words of a field, also those that capitals make, in the singular."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    parts = [part.lower() for part in re.split(r"[^A-Za-z0-9]+", spaced) if len(part) > 2]
    return {_SINGULAR.get(part, part.removesuffix("s")) for part in parts}


_SINGULAR = {"alias": "alias", "aliases": "alias", "dns": "dns", "policies": "policy"}


def _atoms(text: str) -> set[str]:
    return {
        part
        for part in re.split(r"[\s,;=\[\]{}\"'()]+|:(?=\d)", text)
        if part and part not in ("on", "port", "true")
    } or {text}


def _components(cause: Cause, specs: Sequence[FaultSpec], names: Names) -> list[str]:
    """The components that an answer names; a node or another place stands for those of its fault."""
    found: list[str] = []
    for said in cause.components:
        word = plain(said).strip().rpartition("/")[2]
        exact = names.components(f"component={word}") or names.components(word)
        places = [
            name
            for spec in specs
            if word in {plain(alias) for alias in (spec.resource_name, *spec.aliases)}
            for name in spec.components
        ]
        found += exact or places or [said]
    return list(dict.fromkeys(found))


def _matched(table: Sequence[Sequence[_Compared]]) -> list[_Compared | None]:
    """For every fault the answer that fits it best, each answer taken once."""
    faults = len(table[0]) if table else 0
    free = list(range(len(table)))
    best: list[_Compared | None] = [None] * faults
    ranked = sorted(
        ((row[number], index, number) for index, row in enumerate(table) for number in range(faults)),
        key=lambda each: (
            -(each[0].located + 2 * (each[0].located and each[0].understood) + each[0].complete),
            each[1],
            each[2],
        ),
    )
    for compared, index, number in ranked:
        shared = compared.understood and compared.located
        if best[number] is None and compared.located and (index in free or shared):
            # One answer may list the components of several faults of one kind.
            best[number] = compared
            if index in free:
                free.remove(index)
    return best


def _answers(
    causes: Sequence[Cause],
    specs: Sequence[FaultSpec],
    compared: Sequence[_Compared | None],
    wrong: Sequence[str],
) -> Iterator[Answer]:
    found = [each for each in compared if each is not None]
    located = bool(found)
    named = ", ".join(dict.fromkeys(name for cause in causes for name in cause.components))
    objects = [each.object for each in found]
    misplaced = any(right is False for right in objects)
    first = causes[0] if causes else None
    only = f"names {', '.join(wrong)}" if wrong else f"names {named}"
    yield Answer("D1-Q1", located, only if not located else named)
    origin = located and not misplaced and (first is None or not set(first.components) <= set(wrong))
    yield Answer("D1-Q2", origin, named if origin else "the object is another" if misplaced else only)
    yield Answer("D1-Q3", located and not wrong, only)
    said = ", ".join(cause.mechanism for cause in causes)
    right = len(found) == len(specs) and all(each.understood and each.value is not False for each in found)
    untrue = any(each.understood and each.value is False for each in found)
    yield Answer("D2-Q1", right, "the value is another" if untrue else said)
    detail = right and all(each.field and each.value for each in found)
    yield Answer("D2-Q2", detail, ", ".join(f"{cause.field}={cause.value}" for cause in causes))
    answered = {id(each.cause) for each in found if each.understood}
    strays = [cause.mechanism for cause in causes if id(cause) not in answered]
    yield Answer("D2-Q3", right and not strays, f"also claims {', '.join(strays)}" if strays else said)
    yield Answer("D3-Q1", located and not wrong, only)
    missed = [
        name
        for spec, each in zip(specs, compared, strict=True)
        for name in spec.components
        if each is None or not each.complete
    ]
    yield Answer("D3-Q2", not missed, f"misses {', '.join(missed)}" if missed else named)
    told = ", ".join(f"{cause.kind} {cause.name}".strip() for cause in causes)
    yield Answer("D3-Q3", bool(objects) and all(objects), told or "no object is named")
