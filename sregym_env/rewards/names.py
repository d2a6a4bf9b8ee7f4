"""Finding an application's components in prose, whatever engineers call them.

``mongodb-geo`` may be written as itself, with a pod's suffix, as its Service, volume claim or container,
or as "the geo database". ``user`` and ``rate`` are also English words and are not always components.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from sregym_env.cluster.app import App

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
    "mongodb": r"(?:mongo ?-?db|mongo|data ?base|db|data ?store)",
    "memcached": r"(?:memcached?|cache)",
    "postgresql": r"(?:postgres(?:ql)?|data ?base|db)",
    "redis": r"(?:redis|cache)",
}

_RATES = (
    r"\b(?:error|success|failure|fail|request|hit|miss|arrival|high|low|response|read|per-second) rates?\b"
    r"|\brate (?:of|limit\w*|at)\b|\bat (?:a|the) rate\b"
)
_DONE = r"(?:requests?|endpoints?|results?|journeys?|traffic|quer(?:y|ies)|path|page|api|data|calls?|functionality)\b"
"""After the word for an activity: what users do is meant, and no component."""

_WORDS_TOO_COMMON = frozenset({"user", "ad", "email", "quote", "cart", "order"})
"""Component names that are taken for components only beside a word that says so, or in quotes."""


_TYPOGRAPHY = {
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2212\ufe63\uff0d"), "-"),
    **dict.fromkeys(map(ord, "\u2018\u2019\u2032"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u2033"), '"'),
    **dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), None),
    **dict.fromkeys(map(ord, "\u2192\u21d2"), " -> "),
}
"""Hyphens, quotes and invisible characters as word processors and language models write them."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A component's name at a place in a text."""

    component: str
    start: int
    end: int


class Names:
    """Every way to name the components of one application."""

    def __init__(
        self, rows: tuple[tuple[str, ...], ...], title: str = "", activities: tuple[str, ...] = ()
    ) -> None:
        """``rows``: each component's name, followed by what else is only its own; ``title`` and ``activities``
        (regular expressions) are the application's, and no component is meant by them.
        """
        self._not_components = re.compile("|".join(_elsewhere(title, activities)))
        self._rewrites: list[tuple[re.Pattern[str], str]] = []
        self._patterns: list[tuple[re.Pattern[str], str]] = []
        # The longest first: what `mongodb-geo` is called must be rewritten before `geo` is looked for.
        for component, *aliases in sorted(rows, key=lambda row: (-len(row[0]), row)):
            name = component.lower()
            for other in sorted({alias.lower() for alias in aliases} - {"", name}):
                self._rewrites.append((re.compile(rf"{_BEFORE}{re.escape(other)}{_SUFFIX}{_AFTER}"), name))
            self._rewrites.extend((pattern, name) for pattern in _store_patterns(name))
            self._patterns.append((re.compile(_name_pattern(name)), component))

    def normalise(self, text: str) -> str:
        """Lower case, single spaces, and every indirect name replaced by the component's own."""
        text = re.sub(r"[*`]", "", unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHY).lower())
        for pattern, name in self._rewrites:
            text = pattern.sub(name, text)
        return text

    def find(self, text: str) -> list[Mention]:
        """Mentions in a normalised text, in reading order."""
        blanked = self._not_components.sub(lambda m: " " * len(m.group()), text)
        found = [
            Mention(component, match.start(), match.end())
            for pattern, component in self._patterns
            for match in pattern.finditer(blanked)
        ]
        return sorted(found, key=lambda mention: (mention.start, -mention.end))

    def components(self, text: str) -> list[str]:
        """Distinct components in a normalised text, in reading order."""
        return unique(mention.component for mention in self.find(text))


def names_of(app: App) -> Names:
    """The names of an application's components; the same object for the same components."""
    rows = tuple((c.name, c.container, c.service, c.volume) for c in app.components)
    return _names(rows, app.name, app.activities)


@lru_cache(maxsize=16)
def _names(rows: tuple[tuple[str, ...], ...], title: str, activities: tuple[str, ...]) -> Names:
    return Names(rows, title, activities)


def _elsewhere(title: str, activities: tuple[str, ...]) -> list[str]:
    """Regular expressions for words that look like a component's name and mean something else."""
    found = [_RATES]
    if title:
        found.insert(0, rf"{'[- ]'.join(map(re.escape, title.split('-')))}\b")
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
    described = rf"{_BEFORE}{word}[ -]{_WORKLOAD}(?!\w)"
    prefixed = (
        rf"(?:{_WORKLOAD}|deploy)(?:[/=]| named | called |: ?){word}(?![\w-])"
        rf"|(?:deployment|component|workload|svc|(?:service|pods?|containers?) of) {word}(?![\w-])"
    )
    quoted = rf"[\"']{word}[\"'](?: {_WORKLOAD})"
    listed = rf"component(?:=|s?\": ?\[?\"?|: ?){word}(?![\w-])"
    return f"{hashed}|{described}|{prefixed}|{quoted}|{listed}"


def _store_patterns(name: str) -> list[re.Pattern[str]]:
    """ "The geo database" and its variants, for a store called ``mongodb-geo``."""
    kind, _, base = name.partition("-")
    words = _STORES.get(kind)
    if words is None or not base:
        return []
    owner = re.escape(base)
    if base in _WORDS_TOO_COMMON:
        return [
            re.compile(rf"{_BEFORE}{owner} {_WORKLOAD}(?:'s)? {words}(?![\w-])"),
            re.compile(rf"{_BEFORE}{words} (?:for|of|behind|used by) (?:the )?{owner} {_WORKLOAD}(?![\w-])"),
        ]
    return [
        re.compile(rf"{_BEFORE}{owner}(?:'s| service's| service)?[ -]{words}(?:[ -]\d)?(?![\w-])"),
        re.compile(
            rf"{_BEFORE}{words}(?: instance| server| pod| database| deployment)? "
            rf"(?:for|of|behind|used by|backing|serving|belonging to) (?:the )?{owner}(?: service)?(?![\w-])"
        ),
        re.compile(rf"{_BEFORE}{words}[ _-]{owner}{_SUFFIX}{_AFTER}"),
    ]
