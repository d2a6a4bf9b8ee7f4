"""Who a statement is about: the components that it makes out to be at fault.

Whose statement it is follows from where names stand: the first group of names in a clause that is not merely referred to
("reaches", "used by", "instead of"), or what was spoken of last. Who is in a list with somebody shares in what is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sregym_env.faults.ways import Match
from sregym_env.rewards.names import Mention
from sregym_env.rewards.reading.account import Statement
from sregym_env.rewards.reading.clauses import Clause, repairs
from sregym_env.rewards.reading.cues import cues_of

_CUES = cues_of("blame")


@dataclass(frozen=True, slots=True)
class Group:
    """Components that are named in one breath."""

    mentions: tuple[Mention, ...]
    rank: int
    """How far they are from being spoken of: -1 what is said is called theirs, 0 they are, 1 they do or suffer something,
    2 they are only referred to, 3 they suffer from what is said."""

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.mentions[0].start

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.mentions[-1].end


_GLUE = re.compile(
    r"(?:[\s,/&+\"'()]|and|or|of|in|for|the|its|also|as well as|plus|then|services?|deployments?|pods?|deploy|svc|databases?|both|caches?)*"
)
_OWN_PORTS = re.compile(
    r"^(?:'s)? (?:pods? |container |deployment )?(?:itself )?(?:listens?|serves?|runs on|is listening)"
)


def groups(statement: Statement, clause: Clause | None = None) -> list[Group]:
    """The groups of names in a clause, or in all that is asserted, in reading order."""
    return _in_breaths(statement, statement.named(clause))


def _in_breaths(statement: Statement, named: Sequence[Mention]) -> list[Group]:
    runs: list[list[Mention]] = []
    for mention in named:
        between = statement.text[runs[-1][-1].end : mention.start] if runs else ""
        if runs and _GLUE.fullmatch(between):
            runs[-1].append(mention)
        else:
            runs.append([mention])
    return [Group(tuple(run), _rank(statement.text, run[0].start, run[-1].end)) for run in runs]


def _rank(text: str, start: int, end: int) -> int:
    before, after = text[max(0, start - 48) : start], text[end : end + 60]
    if _CUES["before"].search(before) is not None or _PATH.match(after) is not None:
        return 2
    return 1 if _CUES["after"].match(after) is not None or _OWN_PORTS.match(after) is not None else 0


_PATH = re.compile(r"^ ?-> ?")
"""A step on the way of a request: spoken of is the last."""


_OWN = re.compile(
    r"(?:'s)?(?: (?:own|main|new|kubernetes|k8s|container|pod|service|svc|deployment|\w+))? ?[\"'(]?$"
)
"""Between a name and what is called its: "geo's readiness probe", "the geo image"."""

_OF = re.compile(
    r"^s?\)?(?: (?:field|setting|entry|value|spec|object|rule))? (?:of|for|on|in|at)(?: (?:the|a|its|both|all|service|svc|deployment|deploy|workload|component|database|pods?|"
    r"containers?|statefulset|pod template|template|spec|of|in|for))* ?[\"'(]?$"
)
"""Between what is somebody's and the name: "the readiness probe of the Deployment geo"."""


def _owned(statement: Statement, match: Match, group: Group) -> bool:
    """Whether the head of a match is called a group's own."""
    start, end = match.head.start, match.head.end
    if group.end <= start:
        between = statement.text[group.end : start]
        possessive = statement.text[: group.end].endswith("'s")
        return (
            len(between) < 32 and between.count(" ") <= 2 + possessive and _OWN.fullmatch(between) is not None
        )
    between = statement.text[end : group.start]
    return group.start >= end and len(between) < 60 and _OF.match(between) is not None


def subjects(statement: Statement, match: Match) -> list[Group]:
    """The groups that a statement of a mechanism may be about, the likeliest first; none where nobody is named."""
    found = _by_grammar(statement, match)
    owned = [replace(group, rank=-1) for group in found if _owned(statement, match, group)]
    return [*owned, *(group for group in found if all(group.start != other.start for other in owned))]


_OR = re.compile(r"\bor\b")
"""What stands after it is another guess."""


def _by_grammar(statement: Statement, match: Match) -> list[Group]:
    head = statement.clause_of(statement.at(match.head.first))
    others = [c for c in statement.clauses if c.asserted and c is not head]
    first, last = statement.at(match.first), statement.at(match.last)
    within = [c for c in others if first < c.end and c.start <= last]
    own = [group for clause in (head, *within) for group in groups(statement, clause)]
    place = statement.at(match.head.first)
    before = [c for c in others if c.end <= place and c not in within]
    rest = [group for clause in reversed(before) for group in groups(statement, clause)]
    for clause in others:
        if clause.start > place and clause not in within:
            after = groups(statement, clause)
            rest += [
                replace(group, rank=4)
                if _OR.search(statement.text, place, group.start)
                else replace(group, rank=3)
                if clause.role == "effect" or group.rank == 1
                else group
                for group in after
            ]
    return sorted([*own, *rest], key=lambda group: 2 * group.rank + (group not in own))


_DITTO = re.compile(
    r"^(?:'s)? (?:does|do|did|has|have|had|is|are|was|were|runs?|gets?),? (?:too|as well|likewise|so too|also wrong|the same(?=\W*$))\b|^(?:'s)?,? (?:too|as well|likewise)\W*$"
)
_ALSO = re.compile(
    r"\b(?:same|likewise|ditto|equally|also|too|as well|similarly|identical(?:ly)?|both|in addition|moreover|furthermore)\b"
)

_SAME = re.compile(
    r"^[^.;]{0,40}\b(?:same|identical) (?:\w+ )?(?:wrong|bad|broken|missing\S*|faulty|invalid|defective|mistakes?|faults?|defects?|errors?|misconfigurations?|problems?|treatment|edit)\b"
)
"""What makes somebody share in what was said of another: "and rate does too", "rate: same wrong version"."""


def blamed(statement: Statement) -> list[Group]:
    """Groups that are called the cause, in whatever clause."""
    if statement.label == "place":
        return groups(statement)
    if statement.label in ("cleared", "remedy", "guess", "quoted"):
        return []
    found = []
    for clause in statement.clauses:
        said = statement.text[clause.start : clause.end]
        if not clause.asserted and not repairs(said):
            continue
        shared = (
            clause.role != "effect"
            and _ALSO.search(said) is not None
            and _CUES["at_fault"].search(said) is not None
        )
        for group in _in_breaths(statement, statement.within(clause)):
            before, after = (
                statement.text[max(0, group.start - 110) : group.start],
                statement.text[group.end : group.end + 70],
            )
            if re.search(r"\b(?:innocent|healthy|fine|victims?|unaffected|blameless)\b", statement.text):
                # "b is innocent, and so is c".
                shared = False
                before = before if clause.asserted and not _CUES["so_does"].search(before) else ""
            needs = (
                shared
                or _CUES["own_fault"].match(after) is not None
                or _CUES["needs"].match(after) is not None
            )
            if needs or (clause.asserted and _called(group, before, after)):
                found.append(group)
    return found


def _called(group: Group, before: str, after: str) -> bool:
    """Whether a group between two texts is called the cause, or said to share in it."""
    if _DITTO.match(after) or _CUES["so_does"].search(before) or (_SAME.search(after) and not group.rank):
        return True
    called = _CUES["culprit_is"].search(before) is not None and _CUES["after"].match(after) is None
    return (
        called or _CUES["is_culprit"].match(after) is not None or _CUES["due_to"].search(before) is not None
    )


def troubled(statement: Statement) -> list[Group]:
    """Groups that are said to be in trouble without being called victims."""
    if statement.label in ("effect", "cleared", "remedy", "guess", "quoted"):
        return []
    return [
        group
        for clause in statement.clauses
        if clause.asserted and clause.role != "effect"
        for group in groups(statement, clause)
        if _CUES["trouble"].match(statement.text[group.end : group.end + 70])
    ]


def bare(statement: Statement) -> list[Group]:
    """Groups in a statement that is hardly more than names."""
    words = [
        word
        for word in re.findall(r"[a-z]{2,}", re.sub(r"@\w*", " ", statement.masked))
        if word not in _FILLING
    ]
    told = statement.label not in ("cleared", "remedy", "guess", "quoted")
    return groups(statement) if told and statement.mentions and not words else []


_FILLING = frozenset(
    "the and of in namespace service services deployment deployments pod pods svc deploy component components database databases "
    "mongodb object app workload hotel reservation is its also or svc apps com all kind name".split()
)


def everyone(found: Iterable[Group]) -> list[str]:
    """The components of groups, each once."""
    return list(
        dict.fromkeys(name for group in found for mention in group.mentions for name in mention.components)
    )


def focus(statements: Sequence[Statement], before: int) -> list[str]:
    """Who was spoken of before a statement: the first and the last of those named in the nearest one that names any."""
    for statement in reversed(statements[:before]):
        found = groups(statement)
        if found:
            straight = [group for group in found if not group.rank] or found
            return everyone([straight[0], found[-1]])
        if statement.mentions:
            # "Geo itself works. It is its probe that ..."
            return list(statement.mentions[-1].components)
    return []
