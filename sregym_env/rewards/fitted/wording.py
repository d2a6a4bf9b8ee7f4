"""Features of a text: words and pairs of words of its clauses, by what the clauses are to the account.

Two kinds. :func:`topics` are of the text alone, with components masked. :func:`told` are of a text beside a fault: its
components, objects and values are replaced by what they are to the fault, so that what is learnt of one holds of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from zlib import crc32

from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.details import Details, places
from sregym_env.rewards.reading.account import Statement
from sregym_env.rewards.reading.clauses import Clause

_WORD = re.compile(r"<\w+>|[a-z]+(?:[a-z_]*[a-z])?n't|'s|[\w@][\w.@/:=-]*\w|\w|[?!;:.>]|->|=")
_NEGATIVE = frozenset({"not", "no", "never", "none", "nobody", "nothing", "without", "neither", "nor", "can't", "hardly"})  # fmt: skip

_REACH = 4
"""Words that a negative reaches."""

_BESIDE = 4
"""Concepts that are paired with one before them."""

_IRREGULAR = {
    "were": "be", "was": "be", "is": "be", "are": "be", "been": "be", "being": "be", "had": "have", "has": "have", "does": "do",
    "did": "do", "done": "do", "goes": "go", "went": "go", "doesn't": "don't", "didn't": "don't", "wasn't": "isn't", "aren't": "isn't",
    "weren't": "isn't", "hasn't": "haven't", "hadn't": "haven't", "couldn't": "can't", "cannot": "can't", "an": "a", "these": "this",
    "those": "that", "i": "we", "my": "our", "mine": "our", "ran": "run", "kept": "keep", "lost": "lose", "left": "leave", "held": "hold",
    "sent": "send", "made": "make", "took": "take", "taken": "take", "gave": "give", "given": "give", "found": "find", "saw": "see",
    "seen": "see", "said": "say", "told": "tell", "got": "get", "became": "become", "began": "begin", "wrote": "write",
    "written": "write", "died": "die", "dies": "die", "hung": "hang",
}  # fmt: skip

_MASK = re.compile(r"@_*")
_STEM = 4
"""Letters that a word has in common with its relatives."""


@dataclass(frozen=True)
class Truth:
    """What names and values are to one fault."""

    spec: FaultSpec
    details: Details
    components: frozenset[str]
    bystanders: frozenset[str]
    """Components that the fault's own account names beside the culprits."""
    reached: frozenset[str]
    """Components that suffer, or that the culprits need."""
    known: tuple[str, ...]
    """All components of the application."""

    @cached_property
    def objects(self) -> tuple[str, ...]:
        """Names of the object that is wrong, and of its place, that are no component's."""
        named = dict.fromkeys((self.spec.resource_name, *self.spec.aliases))
        return tuple(name.lower() for name in named if len(name) > 3 and name not in self.known)

    @cached_property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """Components whose names may be a part of longer words, and what such a word begins with."""
        own = sorted(self.components, key=lambda name: (-len(name), name))
        others = sorted(set(self.known) - self.components, key=lambda name: (-len(name), name))
        return (
            *((name.lower(), "own") for name in own),
            *((name.lower(), "other") for name in others if len(name) > 3),
        )

    def role(self, named: Iterable[str]) -> str:
        """What the components of a mention are to the fault."""
        names = set(named)
        if names & self.components:
            return "<culprit>" if names <= self.components else "<group>"
        if names & self.bystanders:
            return "<bystander>"
        return "<victim>" if names & self.reached else "<stranger>"


@dataclass(frozen=True)
class Told:
    """Features of a text beside a fault."""

    shared: tuple[int, ...]
    """What any account may have."""
    own: tuple[int, ...]
    """What tells of one mechanism or another."""
    named: bool
    """Whether a culprit or its object is named where something is asserted."""


def told(statements: Sequence[Statement], truth: Truth) -> Told:
    """Features of a text beside a fault."""
    shared: set[str] = set()
    own: set[str] = set()
    named = False
    for each in statements:
        for clause, text in _replaced(each, truth):
            zone = _zone(each, clause)
            wide = _WIDE.get(zone, "u")
            words = [_said(word, truth) for word in _words(text)]
            named = named or (wide != "u" and not _NAMED.isdisjoint(words))
            _of_words(words, zone, wide, shared, own)
            concepts = _concepts(each, clause)
            for number, concept in enumerate(concepts):
                shared.add(f"{zone}#{concept}")
                own.add(f"{wide}#{concept}")
                for other in concepts[number + 1 : number + 1 + _BESIDE]:
                    if other != concept:
                        shared.add(f"{wide}#{concept}>{other}")
                        own.add(f"{wide}#{concept}>{other}")
    return Told(_hashed(shared), _hashed(own), named)


_NAMED = frozenset({"<culprit>", "<group>", "<object>"})
_WIDE = {"a": "a", "e": "a", "q": "q"}
"""Zones by whether something is asserted or quoted in them."""


def _of_words(words: list[str], zone: str, wide: str, shared: set[str], own: set[str]) -> None:
    negated = 0
    for number, word in enumerate(words):
        shared.add(f"{zone}|{word}")
        own.update((f"{wide}|{word}", f"*|{word}"))
        if len(word) > _STEM and word.isalpha():
            shared.add(f"{wide}|{word[:_STEM]}~")
            own.add(f"*|{word[:_STEM]}~")
        if negated:
            shared.add(f"{zone}|!{word}")
            own.add(f"{wide}|!{word}")
            negated -= 1
        if word in _NEGATIVE or word.endswith("n't"):
            negated = _REACH
        if number:
            shared.add(f"{zone}|{words[number - 1]} {word}")
            own.add(f"{wide}|{words[number - 1]} {word}")
        if number > 1:
            shared.add(f"{zone}|{words[number - 2]} _ {word}")
            own.add(f"{wide}|{words[number - 2]} _ {word}")
        if number > 2 and "<" in (words[number - 3][0], word[0]):
            shared.add(f"{zone}|{words[number - 3]} __ {word}")
    if words:
        shared.update((f"{zone}|^{words[0]}", f"{zone}|{words[-1]}$"))


def topics(statements: Sequence[Statement]) -> tuple[tuple[int, ...], ...]:
    """Features of every statement alone, with components masked: what it is about, whatever is true."""
    return tuple(_topic(each) for each in statements)


@lru_cache(maxsize=2048)
def _topic(each: Statement) -> tuple[int, ...]:
    found: set[str] = set()
    for clause in each.clauses:
        if _zone(each, clause) not in _WIDE:
            continue
        text = each.masked[clause.start : clause.end]
        words = [_lemma(word) for word in _words(_MASK.sub(" <c> ", text) if each.mentions else text)]
        for number, word in enumerate(words):
            if word == "<c>":
                continue
            found.add(word)
            if len(word) > _STEM and word.isalpha():
                found.add(f"{word[:_STEM]}~")
            if number:
                found.add(f"{words[number - 1]} {word}")
            if number > 1:
                found.add(f"{words[number - 2]} _ {word}")
        concepts = _concepts(each, clause)
        for number, concept in enumerate(concepts):
            found.add(f"#{concept}")
            for other in concepts[number + 1 : number + 1 + _BESIDE]:
                if other != concept:
                    found.add(f"#{'|'.join(sorted((concept, other)))}")
    return _hashed(found)


def _concepts(each: Statement, clause: Clause) -> list[str]:
    """The concepts of a clause in reading order."""
    hits = sorted(
        (hit.start, hit.concept)
        for found in each.whole.hits.values()
        for hit in found
        if clause.start <= hit.start < clause.end
    )
    return [concept for _, concept in hits]


def _zone(each: Statement, clause: Clause) -> str:
    """What a clause is to the account: asserted (a), an effect (e), quoted (q), or nothing that is asserted."""
    if each.label == "quoted":
        return "q"
    if each.label in ("remedy", "cleared", "guess"):
        return each.label[0]
    if not clause.asserted:
        return "u"
    return "e" if clause.role == "effect" or each.label == "effect" else "a"


def _replaced(each: Statement, truth: Truth) -> Iterator[tuple[Clause, str]]:
    """The clauses of a statement, names and values replaced by what they are to the fault."""
    text = each.text
    found: list[tuple[int, int, str]] = []

    def put(start: int, end: int, word: str) -> None:
        if not any(first < end and start < last for first, last, _ in found):
            found.append((start, end, word))

    for name in truth.objects:
        for span in places(name, text):
            put(*span, "<object>")
    for mention in each.mentions:
        put(mention.start, mention.end, truth.role(mention.components))
    for span in truth.details.spans(text):
        put(*span, "<wrong>")
    for value in truth.details.rights:
        for span in places(value, text):
            put(*span, "<right>")
    found.sort()
    for clause in each.clauses:
        pieces: list[str] = []
        at = clause.start
        for start, end, word in found:
            if clause.start <= start < clause.end:
                pieces += [text[at:start], f" {word} "]
                at = max(at, end)
        pieces.append(text[at : clause.end])
        yield clause, "".join(pieces)


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _said(word: str, truth: Truth) -> str:
    """A word as a feature: names with a component's in them by whose it is, all others by their stem."""
    if "-" in word or "_" in word:
        for name, whose in truth.parts:
            if name in word and (name != word or whose == "other"):
                return f"{whose}:{word.replace(name, '~')}"[:24]
    return _lemma(word)


@lru_cache(maxsize=8192)
def _lemma(word: str) -> str:
    """A word without the endings of plurals and verbs; numbers and identifiers as what they are."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word[0] == "<":
        return word
    if re.search(r"\d", word):
        return _figure(word)
    if not word.isalpha():
        return word[:24]
    if len(word) > 4:
        if word.endswith("ies"):
            word = f"{word[:-3]}y"
        elif word.endswith(("sses", "ches", "shes", "xes")):
            word = word[:-2]
        elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
        elif word.endswith("ing") and len(word) > 6:
            word = word[:-3]
        elif word.endswith("ed") and len(word) > 5:
            word = word[:-2]
        if len(word) > 5 and word.endswith("ly"):
            word = word[:-2]
        if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sl":
            word = word[:-1]
        if len(word) > 4 and word.endswith("e"):
            word = word[:-1]
    return word


def _figure(word: str) -> str:
    if re.fullmatch(r"\d+(?:[.,]\d+)?", word):
        return "zero" if word == "0" else "0"
    if re.fullmatch(r"\d\d:\d\d(?::\d\d)?z?", word):
        return "00:00"
    if re.fullmatch(r"\d+(?:\.\d+)?[a-z%]{1,5}", word):
        return f"0{re.sub(r'[0-9.]', '', word)}"
    if re.search(r"[a-z]", word) and re.search(r"[-./:=]", word):
        return "<id>"
    return re.sub(r"\d+", "0", word)


def _hashed(features: Iterable[str]) -> tuple[int, ...]:
    return tuple(sorted({crc32(feature.encode()) for feature in features}))
