"""A diagnosis as understood: its sentences, with who is named where and what is asserted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from sregym_env.faults.ways import Sentence, tagged
from sregym_env.rewards.names import Mention, Names, plain
from sregym_env.rewards.reading.clauses import (
    Clause,
    announces_doubt,
    clauses,
    knows_nothing,
    others_say,
    retracts,
    sentences,
    undoes,
    withdraws,
)
from sregym_env.rewards.reading.documents import Label, Passage, passages
from sregym_env.rewards.reading.output import own_words, without_messages
from sregym_env.rewards.reading.polarity import acquittals, alternative, disputes, leaning, offers_two

MAX_SENTENCES = 120
"""A diagnosis is read up to here."""

MAX_WORDS = 160
"""A sentence is read up to here: nobody needs more for one."""

_TO_THE_POINT = re.compile(
    r"\b(?:the|this|root|real|actual) (?:cause|culprit|problem|fault|issue|reason) (?:is|was|lies)\b|\broot cause:"
    r"|\bwhat (?:did|has|had) change|\bturn(?:s|ed) out\b|^(?:then|finally|in the end|at last|so)\b|^because\b|\bthat(?:'s| is) (?:it|why)\b|\bwhat i found\b|\bwhat(?:'s| is| was) (?:true|left|really|actually)\b|\bthe truth\b|\bin truth\b"
    r"|\b(?:first|second|third|fourth|last|latter|former|remaining)(?: (?:one|candidate|suspect))? it is\b|\bit is the (?:first|second|third|last|latter|former)\b|\b(?:what|which|that) (?:remains|leaves)\b|\bthe winner\b|\bculprit\b.{0,16}:|\b(?:culprit|cause) (?:found|identified|located|established)\b|^(?:confirmed|proven|verified)\b|[–—:-] (?:confirmed|proven|verified)\b"
)
_SCHEDULER = re.compile(
    r"\d+ node\(s\) (?:had untolerated taint \{node-role[^}]{0,80}\}|didn't match pod's node affinity/selector),? ?"
)
"""What the scheduler says of every pod: no account of a cause."""

_SHORT_FORMS = (
    (re.compile(r"\bcan not\b"), "cannot"),
    (re.compile(r"\b(do|does|did|is|are|was|were|has|have|had|could|would|should|wo|ca)nt\b"), r"\1n't"),
    (re.compile(r"\b(that|there|what|here)s\b"), r"\1's"),
    (re.compile(r"(?<!\S)w/o(?!\S)"), "without"),
    (re.compile(r"(?<!\S)w/ ?(?=\S)"), "with "),
    (re.compile(r"(?<!\S)tho(?!\S)"), "though"),
)
"""How chats spell words of grammar."""


def _spelt(said: str) -> str:
    """A sentence, lower case, with words of grammar spelt in full."""
    for short, full in _SHORT_FORMS:
        said = short.sub(full, said)
    return said


_THEORIES = re.compile(
    r"\b(?:two|three|several|some|a few|2|3) (?:\w+ )?(?:theories|ideas|hypotheses|candidates|possibilities|suspicions|guesses)\b|\bdecide between\b|^(?:ideas|theories|things) (?:i|we) (?:had|tried|considered)\b"
)
"""Announces guesses."""

_INSTEAD = re.compile(
    r"\W*(?:but|however|instead|actually|in fact|in truth|in reality|what (?:i|we) (?:do )?know)\b"
)
"""Ends what was announced as doubtful."""

_TURN = re.compile(r"^(?:\w+ ){0,3}\w+,? but ")
"""Ends the guesses."""

_UNASSERTED: frozenset[Label] = frozenset({"cleared", "remedy", "guess", "quoted"})
"""Labels under which nothing is asserted."""

_KEPT = re.compile(
    r"(?:services?|svc|deployments?|pods?|containers?|databases?|db|dbs|deploy|mongo\w*)(?:'s)?\W*$"
)


@dataclass(frozen=True, eq=False)
class Statement:
    """One sentence: the text, lower case; the components named in it; its clauses."""

    label: Label
    text: str
    masked: str
    """The text with components as ``@___``, character for character."""
    mentions: tuple[Mention, ...]
    clauses: tuple[Clause, ...]

    @cached_property
    def asserted(self) -> str:
        """The masked text with what is not asserted blanked, word for word."""
        if self.label in _UNASSERTED:
            return _blank(self.masked)
        parts = [
            body if clause.asserted else _blank(body)
            for clause in self.clauses
            for body in [self.masked[clause.start : clause.end]]
        ]
        # What Kubernetes says in a sentence is not said by its author.
        return without_messages("".join(parts))

    @cached_property
    def sentence(self) -> Sentence:
        """What is asserted, with its concepts."""
        return tagged(self.asserted)

    @cached_property
    def whole(self) -> Sentence:
        """All of it, whatever is asserted, with its concepts."""
        return tagged(self.masked)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where its words begin."""
        return tuple(match.start() for match in re.finditer(r"\S+", self.masked))

    def at(self, word: int) -> int:
        """Where a word begins; the end of the text for one past the last."""
        return self.starts[word] if word < len(self.starts) else len(self.text)

    def clause_of(self, offset: int) -> Clause:
        """The clause around a place."""
        return next(
            (clause for clause in self.clauses if clause.start <= offset < clause.end), self.clauses[-1]
        )

    def stated(self, start: int, end: int) -> bool:
        """Whether what stands at a place is asserted."""
        return self.label not in _UNASSERTED and self.clause_of(start).asserted

    def consequence(self, offset: int) -> bool:
        """Whether a place is in words that tell what follows from something else."""
        return self.label == "effect" or self.clause_of(offset).role == "effect"

    def within(self, clause: Clause) -> list[Mention]:
        """Mentions in a clause, whatever it asserts."""
        return [mention for mention in self.mentions if self.clause_of(mention.start) is clause]

    def named(self, clause: Clause | None = None) -> list[Mention]:
        """Mentions in a clause that asserts something, or in all of those."""
        return [
            mention
            for mention in self.mentions
            if (here := self.clause_of(mention.start)).asserted and (clause is None or here is clause)
        ]

    @cached_property
    def own_words(self) -> bool:
        """Whether its author says something in it: labels, values and copied messages alone say nothing."""
        return self.label != "quoted" and own_words(self.masked)

    @cached_property
    def acquittals(self) -> tuple[tuple[int, int], ...]:
        """Where it says that nothing is wrong with what was spoken of."""
        return tuple(acquittals(self.masked))

    @property
    def asserts(self) -> bool:
        """Whether anything is asserted in it."""
        return self.label not in _UNASSERTED and any(c.asserted for c in self.clauses)


def _blank(text: str) -> str:
    """A text without its words; its punctuation stays, so that what stands beside it ends where it did."""
    return re.sub(r"[^\s,;:.()]", "_", text)


_OF_THE_SEARCH = re.compile(
    r"\b(?:ruled? out|excluded|dismissed|discarded|rejected|considered|looked (?:at|into)|checked|hypothes\w+|suspects?|candidates?|theor(?:y|ies)|leads)\b"
)
_MADE_UP = re.compile(
    r"\b(?:imagin\w*|suppos\w*|assum\w*|example|fict\w+|in theory|what if|pretend\w*|say)\b"
)
_ENTRY = re.compile(r"\W*(?:t ?[+=-] ?\d|\d\d:\d\d)", re.IGNORECASE)


def _past(head: str, passage: Passage) -> bool:
    """Whether a passage is beyond what was announced as doubtful: the cause after what the search has ruled out, or the
    next entry of a timeline."""
    if _ENTRY.match(head):
        return _ENTRY.match(passage.text) is not None
    return (
        passage.label == "cause" and _OF_THE_SEARCH.search(head) is not None and _MADE_UP.search(head) is None
    )


def read(text: str, names: Names) -> list[Statement]:
    """The statements of a diagnosis, in reading order."""
    found: list[Statement] = []
    guesses = doubted = False
    head = ""
    for passage in passages(text):
        if doubted and _past(head, passage):
            guesses = doubted = False
        for number, sentence in enumerate(sentences(passage.text)):
            said = " ".join(plain(sentence).split(" "))
            said = re.sub(r"\s+", " ", said).strip(" -*#>")
            words = said.split(" ")
            if len(words) > MAX_WORDS:
                said = " ".join(words[:MAX_WORDS])
            if not said:
                continue
            said = _spelt(_SCHEDULER.sub("", said))
            last = next(
                (each for each in reversed(found) if each.label not in ("remedy", "cleared", "quoted")), None
            )
            masked = names_masked(said, names)
            if (last is not None and last.asserts and withdraws(masked)) or (
                any(each.asserts for each in found) and undoes(masked)
            ):
                found = [_withdrawn(each) for each in found]
            elif retracts(said) and found:
                found[-1] = _withdrawn(found[-1])
            other = (bool(found) and alternative(said)) or offers_two(said)
            doubting = other or leaning(said)
            if doubting and found and not _TURN.search(said) and not names.find(said):
                # "It looks cordoned. I did not look at the nodes, though."
                found = [*map(_withdrawn, found)] if disputes(said) else [*found[:-1], _withdrawn(found[-1])]
            if knows_nothing(said) or other:
                if not other and not any(each.asserts and each.mentions for each in found):
                    # "I could not find the cause. Things to look at: ..."
                    doubted = True
                found = [_withdrawn(each) for each in found]
            label = passage.label
            if doubting and label not in _UNASSERTED and " but " not in said:
                label = "guess"
            if label not in _UNASSERTED and " but " not in said and others_say(masked):
                label = "guess"
            if doubted and (_TO_THE_POINT.search(said) or _INSTEAD.match(said)):
                doubted = False
            ahead = announces_doubt(said)
            if doubted or (ahead and not number):
                head = head if doubted else said
                label, doubted = ("guess" if label not in _UNASSERTED else label), True
            if (
                label in _UNASSERTED
                and number
                and (_TO_THE_POINT.search(said) or (label == "guess" and _INSTEAD.match(said)))
            ):
                # "Ruled out: the disk. The cause is ...": a label does not reach that far.
                label = "cause"
            if label == "guess" and doubted:
                found.append(statement(label, said, names))
                continue
            guesses = (guesses or _THEORIES.search(said) is not None) and not _TO_THE_POINT.search(said)
            if guesses:
                turn = _TURN.search(said)
                if turn is not None and label not in _UNASSERTED:
                    # "(3) a revoked role. Closer, but the account is not there at all."
                    guesses = False
                    said = said[turn.end() :]
                else:
                    label = "guess"
            found.append(statement(label, said, names))
            if len(found) == MAX_SENTENCES:
                return found
    return found


def names_masked(said: str, names: Names) -> str:
    """A sentence with components as ``@___``."""
    return _masked(said, tuple(names.find(said)))


def statement(label: Label, said: str, names: Names) -> Statement:
    """A sentence as a statement."""
    mentions = tuple(names.find(said))
    masked = _masked(said, mentions)
    return Statement(label, said, masked, mentions, tuple(clauses(masked)))


def _withdrawn(last: Statement) -> Statement:
    denied = tuple(Clause(c.start, c.end, c.role, False) for c in last.clauses)
    return Statement(last.label, last.text, last.masked, last.mentions, denied)


def _masked(text: str, mentions: tuple[Mention, ...]) -> str:
    for mention in mentions:
        inside = text[mention.start : mention.end]
        words = [
            word if number and _KEPT.match(word) else "@" + "_" * (len(word) - 1)
            for number, word in enumerate(inside.split(" "))
        ]
        text = text[: mention.start] + " ".join(words) + text[mention.end :]
    return text
