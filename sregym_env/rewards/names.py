"""Finding an application's components in prose, whatever engineers call them.

``mongodb-geo`` may be written as itself, with a pod's suffix, as its Service, volume claim or container,
or as "the geo database". ``user`` and ``rate`` are also English words and are not always components.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sregym_env.cluster.app import App
from sregym_env.cluster.composed import JOINED

# The letters of generated names in Kubernetes: no vowels, so that no words come out, and no 0, 1, 3.
_SAFE = "[bcdfghj-np-tvwxz2456789]"
_SUFFIX = (
    rf"(?:-{_SAFE}{{5,10}}(?:-{_SAFE}{{5}})?|-\d{{1,2}}"
    r"|[-_](?:deployment|service|svc|pod|pods|container|microservice))?"
)
# A part of a longer name, as `geo` in `mongodb-geo` or in `srv.geo`, is no mention.
_BEFORE = r"(?<![\w-])(?<!\w\.)"
_AFTER = r"(?:'s)?(?![\w-])"
_WORKLOAD = r"(?:micro-?)?(?:service|deployment|pods?|component|workload|container|svc|app)"

_STORES = {
    "mongodb": r"(?:mongo ?-?db|mongo|mdb|data ?base|db|data ?store)",
    "memcached": r"(?:memcached?|mmc|mc|cache)",
    "postgresql": r"(?:postgres(?:ql)?|data ?base|db)",
    "redis": r"(?:redis|cache)",
}

_RATES = (
    r"\b(?:error|success|failure|fail|request|hit|miss|arrival|high|low|response|read|per-second) rates?\b"
    r"|\bsearch(?:es|ing)? (?:for|in vain|the|an?|its|their|this|that)\b|\bsearch (?:domains?|lists?|paths?)\b"
    r"|\brate (?:of|limit\w*(?! (?:itself|its|the|all|callers|clients)\b)|at)\b|\bat (?:a|the) rate\b"
)
_DONE = r"(?:requests?(?! (?:host ?-?port|\d|memory|cpu|more|an?|the|for)\b)|endpoints?|results?|journeys?|traffic|quer(?:y|ies)|path|page|api|data|calls?(?! (?:an?|the|its|it|\w+ (?:under|at|on|by|via|host))\b)|functionality)\b"
"""After the word for an activity: what users do is meant, and no component."""

_WORDS_TOO_COMMON = frozenset({"user", "ad", "email", "quote", "cart", "order"})
"""Component names that are taken for components only beside a word that says so, or in quotes."""


_BEFORE_A_NAME = (
    ", ", "; ", ": ", r"\(", "-> ", "<- ", r"\| ", r"\+ ", "& ", "/",
    *(rf"\b{word} " for word in (
        "of", "for", "by", "to", "from", "and", "because", "since", "so", "with", "why", "when", "but", "where", "then", "while", "through", "via",
        "reach", "lets", "let", "makes", "gives", "as", "kills", "restarts", "behind", "on", "cause", "keeps", "kept", "prevents", "only", "stops", "in", "at", "from", "into", "onto", "inside", "gives", "gave", "beside",
    )),
)  # fmt: skip
"""What stands before a name and not before a common noun, which has an article."""

_PEOPLE = (
    "to|of|in|admin|root|account|accounts|named|called|name|names|id|ids|experience|facing|traffic|requests?|journeys?|logins?|errors?|"
    "impact|interface|agents?|data|sessions?|credentials?|and role|roles?|permissions?|does not exist|doesn't exist|gone|missing|was dropped|is gone|"
    "is missing|exists|not found|by|with which|record|object|documents?"
)
"""What follows a common noun and no component."""


_TYPOGRAPHY = {
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2212\ufe63\uff0d"), "-"),
    **dict.fromkeys(map(ord, "\u2018\u2019\u2032"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u2033"), '"'),
    **dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), None),
    **dict.fromkeys(map(ord, "\u2192\u21d2\u21a6\u27f6"), " -> "),
    **dict.fromkeys(map(ord, "\u2190\u21d0"), " <- "),
}
"""Hyphens, quotes and invisible characters as word processors and language models write them."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A component's name at a place in a text; several components where a group is named."""

    components: tuple[str, ...]
    start: int
    end: int
    count: int = 0
    """How many of a group are meant, where that is said."""


def plain(text: str) -> str:
    """Lower case, plain typography, no marks of emphasis."""
    return re.sub(r"(?<!-)\*|`", "", unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHY).lower())


class Names:
    """Every way to name the components of one application."""

    def __init__(
        self,
        rows: tuple[tuple[str, ...], ...],
        kinds: tuple[tuple[str, str], ...] = (),
        title: str = "",
        activities: tuple[str, ...] = (),
    ) -> None:
        """``rows``: each component's name, followed by what else is only its own; ``kinds``: the kind of each;
        ``title`` and ``activities`` (regular expressions) are the application's, and no component is meant by them.
        """
        self._not_components = re.compile("|".join(_elsewhere(title, activities)))
        self._patterns: list[tuple[re.Pattern[str], tuple[str, ...]]] = []
        known = {name.lower() for name, *_ in rows}
        # The longest first: `geo` in what `mongodb-geo` is called is no mention of geo.
        for component, *aliases in sorted(rows, key=lambda row: (-len(row[0]), row)):
            name = component.lower()
            others = [alias.lower() for alias in aliases if alias]
            patterns = [
                *(rf"{_BEFORE}{re.escape(other)}{_SUFFIX}{_AFTER}" for other in others if other not in known),
                *_store_patterns(name),
                _name_pattern(name),
            ]
            self._patterns.append((re.compile("|".join(f"(?:{each})" for each in patterns)), (component,)))
        for kind, words in _STORES.items():
            members = tuple(name for name, of in kinds if of == kind)
            if len(members) > 1:
                owners = {name.partition("-")[2]: name for name in members if "-" in name}
                self._patterns.insert(0, (re.compile(_group_pattern(words)), members))
                self._patterns[:0] = _owned_patterns(words, owners)

    def find(self, text: str) -> list[Mention]:
        """Mentions in a plain text, in reading order."""
        return list(_found(self, text))

    def _find(self, text: str) -> list[Mention]:
        left = self._not_components.sub(lambda m: " " * len(m.group()), text)
        found: list[Mention] = []
        for pattern, components in self._patterns:
            for match in list(pattern.finditer(left)):
                start, end = match.span()
                said = match.groupdict().get("count") or ""
                found.append(
                    Mention(components, start, end, COUNTS.get(said, int(said) if said.isdigit() else 0))
                )
                left = f"{left[:start]}{' ' * (end - start)}{left[end:]}"
        return sorted(found, key=lambda mention: mention.start)

    def components(self, text: str) -> list[str]:
        """Distinct components in a plain text, in reading order."""
        return unique(name for mention in self.find(text) for name in mention.components)


@lru_cache(maxsize=1024)
def _found(names: Names, text: str) -> tuple[Mention, ...]:
    return tuple(names._find(text))


def names_of(app: App) -> Names:
    """The names of an application's components; the same object for the same components."""
    rows = tuple((c.name, c.container, c.service, c.volume) for c in app.components)
    return _names(rows, tuple((c.name, c.kind) for c in app.components), app.name, app.activities)


@lru_cache(maxsize=16)
def _names(
    rows: tuple[tuple[str, ...], ...],
    kinds: tuple[tuple[str, str], ...],
    title: str,
    activities: tuple[str, ...],
) -> Names:
    return Names(rows, kinds, title, activities)


def _elsewhere(title: str, activities: tuple[str, ...]) -> list[str]:
    """Regular expressions for words that look like a component's name and mean something else."""
    found = [_RATES]
    if title:
        # Where there are several applications, one's name may stand before a component's.
        end = r"(?!-)\b" if JOINED in title else r"\b"
        found[:0] = [rf"{'[- ]'.join(map(re.escape, each.split('-')))}{end}" for each in title.split(JOINED)]
    if activities:
        found.append(rf"(?<![\w-])(?:{'|'.join(activities)}) {_DONE}")
    return found


def unique(items: Iterable[str]) -> list[str]:
    """The distinct items in order of first appearance."""
    return list(dict.fromkeys(items))


def _name_pattern(name: str) -> str:
    word = re.escape(name)
    if name not in _WORDS_TOO_COMMON:
        return rf"{_BEFORE}{word}{_SUFFIX}{_AFTER}"
    hashed = rf"{_BEFORE}{word}-{_SAFE}{{8,10}}(?:-{_SAFE}{{5}})?(?![\w-])"
    described = (
        rf"{_BEFORE}{word}[ -]{_WORKLOAD}(?!\w)"
        rf"|{_BEFORE}{word}'s (?=(?:new |only |own |old )?(?:deployments?|pods?|containers?|service|replica\w*|image|manifest|template|spec|process|probes?|readiness|liveness|memory|cpu|command)\b)"
    )
    prefixed = (
        rf"(?:{_WORKLOAD}|deploy)(?:[/=]| named | called |: ?){word}(?![\w-])"
        rf"|(?:deployment|component|workload|svc|(?:service|pods?|containers?) of) {word}(?![\w-])"
    )
    placed = rf"(?<= in ){word}(?=[,.;:]|$)|{_BEFORE}{word}(?= (?:cannot|can't|times out|crash\w*|logs in|cannot) )"
    if name != "user":
        # Not with the word before it, which tells what it is about. "The service user" is an account.
        placed = rf"{placed}|(?<=\bservice ){word}(?![\w-])"
    quoted = rf"[\"']{word}[\"'](?: {_WORKLOAD})"
    # "The user" is a person, "user is down" a component.
    heads = "|".join(rf"(?<={before})" for before in _BEFORE_A_NAME)
    alone = rf"(?:^|{heads}){word}(?:'s)?(?![\w-])(?! (?:{_PEOPLE})\b)(?! [\"'])"
    listed = rf"component(?:=|s?\": ?\[?\"?|: ?){word}(?![\w-])"
    return f"{hashed}|{described}|{prefixed}|{placed}|{quoted}|{listed}|{alone}"


def _store_patterns(name: str) -> list[str]:
    """ "The geo database" and its variants, for a store called ``mongodb-geo``."""
    kind, _, base = name.partition("-")
    words = _STORES.get(kind)
    if words is None or not base:
        return []
    owner = rf"(?:{re.escape(base)}|{re.escape(_STEMS.get(base, base))})"
    behind = r"(?:for|of|behind|used by|backing|serving|belonging to|under)"
    if base in _WORDS_TOO_COMMON:
        return [
            rf"{_BEFORE}{owner}(?: {_WORKLOAD})?(?:'s)? {words}(?! (?:user|account|role)s?\b)(?![\w-])",
            rf"{_BEFORE}{words} {behind} (?:the )?{owner}(?: {_WORKLOAD})?(?![\w-])",
        ]
    return [
        rf"{_BEFORE}{owner}(?:'s own|'s| service's| service)?[ _-]{words}(?:[ -]\d)?(?:'s)?(?![\w-])",
        rf"{_BEFORE}{words}(?: instance| server| pod| database| deployment)? {behind} (?:the )?{owner}(?: service)?(?![\w-])",
        rf"{_BEFORE}{words}[ _/-]{owner}{_SUFFIX}{_AFTER}",
    ]


_STEMS = {"reserve": "reservation", "reservation": "reservations", "recommendation": "recommendations"}
"""Other forms of an owner's name."""

_COUNT = r"(?:all|every|each|both|two|three|four|five|six|\d|of|the|these|those|our|its|application's|app's|hotel|\(|\))"
_THINGS = r"(?:deployments?|databases?|instances?|pods?|services?|workloads?|stores?|servers?|containers?|components?|statefulsets?|clusters?|backends?|dbs?)"


def _group_pattern(words: str) -> str:
    """ "All mongodb deployments", "the six databases", "mongodb-*": every store of a kind."""
    whose = r"(?! (?:users?|accounts?|roles?|versions?|images?|admins?)(?![\w-]))"
    return (
        rf"{_BEFORE}(?:(?P<count>both|two|three|four|five|six|\d)|all|every|each|any)(?: {_COUNT})* {words}s?"
        rf"(?:[ -]{_THINGS}|-?\*|(?<=s)){whose}(?![\w-])"
        rf"|{_BEFORE}(?:the|these|those|our)(?: {_COUNT})* {words}s?(?:[ -]{_THINGS}(?<=s)|-?\*|(?<=s)){whose}(?![\w-])"
        rf"|{_BEFORE}(?:all|every|each)(?: {_COUNT})* {words}{whose}(?![\w-])"
        rf"|{_BEFORE}{words}s{whose}(?![\w-])|{_BEFORE}{words} (?:deployments|instances|databases|pods|services|workloads|servers)(?![\w-])"
        rf"|{_BEFORE}{words}[ -]?\*"
    )


COUNTS = {"both": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
"""Words for how many of a group are meant."""


def _owned_patterns(words: str, owners: Mapping[str, str]) -> list[tuple[re.Pattern[str], tuple[str, ...]]]:
    """ "The databases of user and recommendation": two owners, in any order."""
    patterns: list[tuple[re.Pattern[str], tuple[str, ...]]] = []
    for first in owners:
        for second in owners:
            if first != second:
                pattern = rf"{_BEFORE}{words}s? (?:of|for|behind) (?:the )?{first}(?:,| and| &) (?:the )?{second}(?![\w-])"
                patterns.append((re.compile(pattern), (owners[first], owners[second])))
    return patterns
