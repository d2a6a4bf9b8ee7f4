"""Ways of saying a mechanism, and finding them in a sentence.

A way is a few concepts (:mod:`~sregym_env.faults.words`) that stand near each other: ``"target_port wrong|dead"``. The
first term is its head, the thing that the statement is about. Options: ``!term`` must not stand near, ``>term`` comes after
the term before it, ``=`` says that no mark of punctuation lies between, ``/n`` lets ``n`` words lie between the first and the last term. A predicate belongs to the nearest
field: in "the Service fails for a missing key" nothing is said of a missing Service.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from sregym_env.faults.words import CONCEPTS, FIELDS
from sregym_env.tools.taxonomy import TAXONOMY

SPAN = 9
"""Words between the first and the last term of a way that does not say otherwise."""

MOST_HITS = 10
"""Hits of one concept in one sentence that are looked at: who says a word more often than that says nothing."""

WHOLE = 10_000
"""Words that lie between terms at most where any number may."""

ACROSS = 24
"""Words that lie between terms at most where they stand in two sentences."""

_NEAR = 4
"""Words within which an excluded term excludes, beyond the way's own."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A concept in a sentence: its words, counted from the sentence's begin, and its characters."""

    concept: str
    first: int
    last: int
    start: int
    end: int

    def overlaps(self, other: Hit) -> bool:
        """Whether both have a character in common."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence whose concepts have been found."""

    text: str
    hits: Mapping[str, Sequence[Hit]]
    fields: Sequence[Hit]
    """The fields in it, in reading order."""
    breaks: frozenset[int]
    """Words that end with a mark of punctuation."""
    count: int
    """How many words it has."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way of saying a mechanism."""

    terms: tuple[tuple[str, ...], ...]
    """Concepts, alternatives in each; the first is the head."""
    after: frozenset[int]
    """Which terms must come after the one before."""
    without: tuple[str, ...]
    span: int
    unbroken: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """Where a way was found."""

    head: Hit
    first: int
    last: int
    concepts: tuple[str, ...] = ()


@lru_cache(maxsize=1024)
def way(text: str) -> Way:
    """A way as it is written."""
    terms: list[tuple[str, ...]] = []
    after: set[int] = set()
    without: list[str] = []
    span = SPAN
    unbroken = False
    for word in text.split():
        if word == "=":
            unbroken = True
        elif word[0] == "!":
            without += word[1:].split("|")
        elif word[0] == "/":
            span = int(word[1:])
        else:
            if word[0] == ">":
                after.add(len(terms))
            terms.append(tuple(word.lstrip(">").split("|")))
    unknown = {*without, *(term for each in terms for term in each)} - {*CONCEPTS, VALUE}
    if unknown or not terms:
        raise KeyError(f"no such concept in {text!r}: {', '.join(sorted(unknown))}")
    return Way(tuple(terms), frozenset(after), tuple(without), span, unbroken)


VALUE = "VALUE"
"""The concept of a fault's own wrong value or object, where somebody tags it."""

_PATTERNS = {
    concept: re.compile(rf"(?<![\w@-])(?:{words})(?!\w|-\w)")
    if concept not in ("path",)
    else re.compile(words)
    for concept, words in CONCEPTS.items()
}
_KEYS = re.compile(rf"(?<![\w-])(?:{'|'.join(key.replace('_', '[_-]') for key in TAXONOMY)})(?![\w-])")
_WORD = re.compile(r"\S+")
_NEGATED = re.compile(
    r"(?:\b(?:not|nor|neither|never|hardly)|n't)(?: (?:the|a|an|any|in the|because of|due to|caused by|from|by|a matter of|a case of|been|be|at all|actually|really|its|with|about))*"
    r" (?:\w+ )?$"
)
_DENIABLE = frozenset({"gone", "lack", "scaled_away", "dropped_user", "wrong", "absent", "revoked", "blocked", "low", "high", "defective", "on", "external", "incompatible", "conflict", "changed", "rewrites", "tolerated", "pullable", "webhook_up", "pull_fails", "unplaced", "throttled", "oom", "replicas", "soft"})  # fmt: skip


@lru_cache(maxsize=2048)
def tagged(text: str) -> Sentence:
    """A sentence with its concepts: lower case, components masked (``@___``). The same object for the same text."""
    return _tagged(text, _denied)


@lru_cache(maxsize=2048)
def with_denied(text: str) -> Sentence:
    """A sentence with its concepts, predicates too that are negated where they stand: what it says or denies."""
    return _tagged(text, lambda concept, text, at: concept not in _DENIABLE and _denied(concept, text, at))


def _tagged(text: str, denied: Callable[[str, str, int], bool]) -> Sentence:
    starts = [match.start() for match in _WORD.finditer(text)]
    ends = [match.end() for match in _WORD.finditer(text)]
    index = _indexer(starts)
    hits: dict[str, list[Hit]] = {}
    for concept, pattern in _PATTERNS.items():
        found = [
            Hit(concept, index(match.start()), index(match.end() - 1), *match.span())
            for match in _first(pattern, text)
            if not denied(concept, text, match.start())
        ]
        if found:
            hits[concept] = found
    fields = sorted(
        (hit for concept in FIELDS for hit in hits.get(concept, ())), key=lambda hit: (hit.first, hit.concept)
    )
    breaks = frozenset(
        number
        for number, end in enumerate(ends)
        if text[end - 1] in ",;:.)" or text[end + 1 : end + 2] == "("
    )
    return Sentence(text, hits, fields, breaks, len(starts))


def valued(sentence: Sentence, places: Sequence[tuple[int, int]]) -> Sentence:
    """The sentence with a fault's values found at some places of its text."""
    index = _indexer([match.start() for match in _WORD.finditer(sentence.text)])
    found = [Hit(VALUE, index(start), index(end - 1), start, end) for start, end in places[:MOST_HITS]]
    return replace(sentence, hits={**sentence.hits, VALUE: found})


def _first(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    for match in pattern.finditer(text):
        if match.end() > match.start():
            found.append(match)
            if len(found) == MOST_HITS:
                break
    return found


def _indexer(starts: Sequence[int]) -> Callable[[int], int]:
    return lambda offset: max(0, bisect_right(starts, offset) - 1)


def _denied(concept: str, text: str, at: int) -> bool:
    """Whether the word at a place is negated: "is not wrong", "nor the liveness probe"."""
    if (
        concept not in _DENIABLE
        and concept not in FIELDS
        and concept not in _PRESENT
        and concept != "present"
    ):
        return False
    before = text[max(0, at - 40) : at]
    if concept in _PRESENT and (_NO.search(before) or _NOT_HAD.search(before)):
        return True
    if concept in ("cordon", "taint") and _NO_ONE_IS.search(before):
        return True
    if concept in _BAD and _NO_THING.search(before):
        return True
    if concept not in FIELDS and _NONE.search(before):
        return True
    if concept == "present" and _UNSURE.search(before):
        return True
    found = _NEGATED.search(before)
    if found is None:
        return False
    if concept in _GOOD or concept not in FIELDS:
        return True
    # "does not have the role" is a lack and no denial.
    return _LACK.search(before) is None


_NONE = re.compile(
    r"\b(?:nobody|no ?one|nothing|none)(?: (?:has|have|had|was|were|been|ever|is|are|of|them|else))* (?:\w+ )?$"
)
_GOOD = frozenset({"tolerated", "pullable", "webhook_up"})
"""What is no lack, and denied by whatever negates it."""
_BAD = frozenset(
    {"absent", "gone", "wrong", "revoked", "low", "high", "on", "conflict", "defective", "blocked", "changed"}
)
_NO_THING = re.compile(r"(?:^|[,;:] |and |is |are |was |were )no (?:[\w-]+ ){1,2}$")
"""Before what is said to be wrong: "no key (is) missing"."""
_UNSURE = re.compile(
    r"\b(?:no|nor|neither|nothing|none|nobody|never|not|that|which|whether|if|what|longer|cannot)\b(?: \S+){0,5} $|n't(?: \S+){0,2} $"
)
_NOT_HAD = re.compile(
    r"\b(?:does|do|did|has|have|had)(?: not|n't) (?:\w+ly )?(?:(?:use|have|got|carry|contain|include|ask for|request|want|need|set|define|declare|bind|mount|run) )?(?:an?y? |the |its |such an? |one )*$"
)
_NO = re.compile(r"\b(?:no|without|without any|not any|zero)(?: (?:such|other|kubernetes|extra|added))? $")
_NO_ONE_IS = re.compile(
    r"\b(?:no|not one|not a single|none of the) (?:single )?(?:worker|node|machine|host|pod|workload)s? (?:is|are|was|were|has|have|had|carries)(?: (?:been|a|an|any|the|such|marked))* $"
)
_PRESENT = frozenset(
    {
        "taint",
        "cordon",
        "quota",
        "sidecar",
        "host_alias",
        "hosts_file",
        "limit_range",
        "deny_all",
        "bygone_pods",
        "absent",
        "gone",
        "host_port",
        "anti_affinity",
        "node_selector",
        "memory_limit",
        "io_error",
        "corrupt",
        "webhook",
        "cronjob",
        "oom",
        "throttled",
        "foreign_pods",
        "stray",
        "conflict",
        "wrong",
        "defective",
    }
)
"""What is well where there is none."""
_LACK = re.compile(r"\b(?:has|have|had|does|do|did)(?: not|n't)(?: \w+){0,3} $")


def matches(ways: Sequence[str], sentence: Sentence) -> list[Match]:
    """Every place where one of the ways is said."""
    hits = sentence.hits.keys()
    return [
        found
        for asked in map(way, ways)
        # Of a thousand ways hardly any is begun.
        if not hits.isdisjoint(asked.terms[0])
        for found in _match(asked, sentence)
    ]


def matches_anywhere(ways: Sequence[str], sentence: Sentence) -> list[Match]:
    """Every place where one of the ways is said, however far apart: for ways with a value, which nobody says by chance."""
    return [found for text in ways for found in _match(_wide(way(text)), sentence)]


def matches_across(ways: Sequence[str], sentence: Sentence, border: int) -> list[Match]:
    """Every place where one of the ways is said in two sentences, the second of which begins with the word ``border``."""
    wide = (replace(way(text), span=ACROSS) for text in ways if len(way(text).terms) > 1)
    return [found for each in wide for found in _match(each, sentence) if found.first < border <= found.last]


def _wide(asked: Way) -> Way:
    return replace(asked, span=WHOLE)


def keys(sentence: Sentence) -> list[Match]:
    """Every place where a mechanism is named by its published key; the head's concept is the key."""
    found = []
    for match in _first(_KEYS, sentence.text):
        word = sentence.text.count(" ", 0, match.start())
        key = match.group().replace("-", "_")
        found.append(Match(Hit(key, word, word, *match.span()), word, word, (key,)))
    return found


def _match(asked: Way, sentence: Sentence) -> Iterator[Match]:
    options = []
    for term in asked.terms:
        found = [hit for concept in term for hit in sentence.hits.get(concept, ())]
        if not found:
            return
        options.append(sorted(found, key=lambda hit: (hit.first, hit.last))[:MOST_HITS])
    for head in options[0]:
        chosen = _chosen(asked, sentence, [head], options[1:])
        if chosen is not None:
            first, last = min(hit.first for hit in chosen), max(hit.last for hit in chosen)
            if not _excluded(asked, sentence, first, last, chosen):
                yield Match(head, first, last, tuple(hit.concept for hit in chosen))


def _chosen(
    asked: Way, sentence: Sentence, taken: list[Hit], rest: Sequence[Sequence[Hit]]
) -> list[Hit] | None:
    if not rest:
        return taken if _bound(asked, sentence, taken) else None
    number = len(taken)
    for hit in sorted(rest[0], key=lambda each: (abs(each.first - taken[0].first), each.first)):
        if any(hit.overlaps(other) for other in taken):
            continue
        if number in asked.after and hit.start < taken[-1].end:
            continue
        spread = [*taken, hit]
        if max(each.first for each in spread) - min(each.last for each in spread) > asked.span:
            continue
        found = _chosen(asked, sentence, spread, rest[1:])
        if found is not None:
            return found
    return None


def _bound(asked: Way, sentence: Sentence, chosen: Sequence[Hit]) -> bool:
    """Whether no other field stands between the terms, nor takes the last one for itself."""
    own = {concept for term in asked.terms for concept in term}
    first, last = min(hit.last for hit in chosen), max(hit.first for hit in chosen)
    if asked.span == WHOLE:
        return True
    others = [
        hit
        for hit in sentence.fields
        if hit.concept not in own and not any(hit.overlaps(mine) for mine in chosen)
    ]
    if any(first < hit.first and hit.last < last for hit in others):
        return False
    if asked.unbroken and any(first <= word < last for word in sentence.breaks):
        return False
    tail = max(chosen, key=lambda hit: hit.first)
    if tail is chosen[0] or tail.concept in FIELDS or tail.last in sentence.breaks:
        return True
    # "the Service ... a missing key": the predicate is the next noun's.
    attributive = re.search(r"\b(?:a|an|the|any|wrong|missing|bad)$", " ".join(sentence.text.split()[max(0, tail.first - 1) : tail.first])) if tail.concept in ("wrong", "lack", "absent") else None  # fmt: skip
    near = [hit for hit in others if tail.last < hit.first <= tail.last + 2]
    return attributive is None or not near


def _excluded(asked: Way, sentence: Sentence, first: int, last: int, chosen: Sequence[Hit]) -> bool:
    begin, end = min(hit.start for hit in chosen), max(hit.end for hit in chosen)
    return any(
        first - _NEAR <= hit.first
        and hit.last <= last + _NEAR
        and not _of_another(sentence.text, hit, begin, end)
        for concept in asked.without
        for hit in sentence.hits.get(concept, ())
    )


def _of_another(text: str, hit: Hit, begin: int, end: int) -> bool:
    """Whether a mark of punctuation and a name stand between: "a lost its role, b's account is gone"."""
    between = text[hit.end : begin] if hit.end <= begin else text[end : hit.start]
    return re.search(r"[,;:] [^,;:]*@", between) is not None
