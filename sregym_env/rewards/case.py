"""What a free text says, beside what is true: who and what it blames, what of the faults it understands, and whom it accuses wrongly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from sregym_env.cluster.app import App
from sregym_env.faults.mechanisms import MECHANISMS, STAYING, own_fields, unlike
from sregym_env.faults.spec import FaultSpec
from sregym_env.faults.ways import (
    VALUE,
    Hit,
    Match,
    keys,
    matches,
    matches_across,
    matches_anywhere,
    tagged,
    valued,
    with_denied,
)
from sregym_env.faults.words import FIELDS, POINTED
from sregym_env.rewards.details import Details, says
from sregym_env.rewards.names import Names
from sregym_env.rewards.reading.account import Statement, read, statement
from sregym_env.rewards.reading.blame import Group, bare, blamed, focus, groups, subjects, troubled
from sregym_env.rewards.reading.polarity import of_another

_KINDS_GUESSED = 3
"""Kinds of cause beside the right ones from which a text is a list of guesses, which earns nothing."""

_KEYWORDS = 7
"""Different fields in one statement from which it is a list of keywords."""

_NEAR = 6
"""Statements between a value and what is said of it."""

_FEW = 7
"""Words from which a sentence without a single word of grammar or mark of punctuation is such a list."""

_SOUP = 11
"""Words from which a sentence without words of grammar is a list of keywords."""

_GRAMMAR = frozenset(
    "the a an is are was were be been has have had of to in on at for from by with and but so its it that which who whose because as not no "
    "does do did can cannot can't now than then this these there where while since after before into under over s -> <- = :".split()
)


def _soup(each: Statement, alone: bool = False) -> bool:
    """Whether a statement is words without grammar, or a list of such: "selector, targetPort, 9999, image ..."

    ``alone``: it is all that is said, and then fewer words are too many.
    """
    words = each.text.split()
    grammatical = sum(word.strip(",;.()") in _GRAMMAR for word in words)
    if (
        alone
        and len(words) >= _FEW
        and not grammatical
        and not re.search(r"[:;=,<>()]|[.] | - |->", each.masked)
    ):
        return True
    if len(words) >= _SOUP and grammatical * 12 < len(words) and not re.search(r"[:;=,<>]", each.text):
        return True
    tags = sum(word.startswith("#") for word in words)
    items = [item.split() for item in re.split(r"[,;|/+]", each.text) if re.search(r"\w", item)]
    named = sum(
        len(item) == 1 and item[0].startswith("@")
        for item in (i.split() for i in re.split(r"[,;|/+]", each.masked))
    )
    listed = (
        len(items) - named >= _ITEMS
        and len(words) <= _WORDS_OF_ITEM * len(items)
        and grammatical * 12 < len(words)
    )
    return listed or tags >= _TAGS


_ITEMS = 5
"""Items, names of components apart, from which a list of a word or two each is one of keywords."""

_WORDS_OF_ITEM = 2.4

_TAGS = 3

ANOTHER_CAUSE = "other_cause"
"""What is claimed by whoever names a cause that is none of the taxonomy's."""

_SAID_WITH = {
    "certificate_expired": "tls",
    "untrusted_authority": "tls|certificates?",
    "autoscaler_counts_others": r"hpa|auto-?scal",
    "admission_deadline_exceeded": r"host ?network",
}
"""How other causes begin that are said of a mechanism as a matter of course."""

_NO_EFFECT = FIELDS | {"webhook", "upstream", "headless", "node_clock", "time_service", "io_error"}
"""What is said of these is no consequence of anything, whatever word stands before it."""

_LOOKED_UP = re.compile(r"[^a-z_]")
"""What is in a value that somebody must have seen: ``Fail`` and ``true`` are one of two, and are guessed."""

_FRAGMENT = 3
"""Words of a line that says nothing by itself."""

_ADDED = re.compile(
    r"\b(?:also|too|besides|second|moreover|furthermore|in addition|as well|additionally|another)\b"
)
"""Says that something comes on top."""

_SEVERAL = re.compile(
    r"\b(?:second|other|another|further|additional) (?:independent |separate |root )*(?:root )?(?:causes?|faults?) (?:is|are|was|were|has|have|and|,|beside)\b"
    r"|\bthat is the second (?:root )?cause\b|\bboth (?:of them )?(?:have to|must|need(?:ed|s)?(?: to)?|should) (?:be )?(?:repair|fix|correct|downgrad|roll|rolled|restor|revert|chang)\w*|\bcontribut\w+ just as much\b"
    r"|\b(?:two|three|several|2|3) (?:independent |separate |different |unrelated |distinct |root )*(?:causes|faults)\b|\broot causes? \(\d\)|\b(?:takes|needs) both (?:repairs|fixes)\b|\bcause b:"
    r"|\bon the other hand,? (?:the|a|its)\b"
)
"""Says that there is more than one cause."""

_OR = re.compile(r"\b(?:or|and/or|alternatively|respectively)\b")
"""What stands between two guesses."""

_NODES = re.compile(
    r"\bnodes\b|\b(?:every|each|any|all|no) (?:worker )?(?:nodes?|machines?|hosts?|workers?)\b|\bworkers\b|\bmachines\b"
)
"""The nodes in general: the place of a cause that lies in all of them."""

_EXPLORED = re.compile(
    r"\b(?:i|we|they|somebody|people|everyone|everybody|everything|one|colleagues?)(?:'d| had| have)? (?:\w+ly |first |also |then |next |both )*(?:suspected|thought|assumed|blamed|guessed|believed|looked|checked|went|started|began|considered|wondered|feared"
    r"|expected|tried|followed|chased|pointed|spent|compared|ruled|inspected|examined|verified|tested|asked|turned|took|suspect|figured|feared|lost|wasted|excluded|dismissed|discarded)\b"
    r"|\b(?:first|initial|obvious|usual|second|next|early|earlier|prime|other|another|main|immediate|natural)(?: \w+)? (?:suspects?|suspicions?|gues\w+|ideas?|thoughts?|theor\w+|stop|hunch|candidates?|hypothes\w+|assumptions?|leads?|reflex|impressions?|instinct)\b"
    r"|\b(?:at first|initially|originally|to begin with|first of all|for a while|at a glance|on the face of it)\b|\blook(?:ed|s) (?:like|as if|guilty|suspicious|bad|odd|promising)\b|\bseemed\b|\bappeared\b|\bsuspect\w*|\bred herrings?\b|\bfalse (?:leads?|trails?|alarms?)\b|\bdead ends?\b|\btempting\b|\?$"
)
"""Tells of the search, and of what it did not find."""

_TOLD_ON = 1
"""Sentences that the telling of a search goes on without saying so."""

_STAYS = re.compile(
    r"\b(?:removed|deleted|gone|missing|there|present|in place|dropped|taken|revoked|exists?|still)\b"
)
"""What acquits whoever would be missing, and nobody who should be."""

_TURNED = re.compile(
    r"^\W*(?:but|however|yet|instead|still|nevertheless|even so|only|then|finally|in the end|what)\b"
)


def _turned(text: str) -> bool:
    """Whether a sentence turns from what was said before it."""
    return _TURNED.match(text) is not None


_CLEARS = re.compile(
    r"\b(?:consequences?|irrelevant|unrelated|innocent|victims?|harmless|herrings?|not (?:a|the|its|our) (?:\w+ )?(?:cause|culprit|problem|reason|fault)|noise|coincidence|old news|as usual|as expected|expected|follow-?on|knock-?on"
    r"|collateral|side effects?|symptoms?|only because|merely|healthy|fine|well|recovers?|will recover|stopped|gone since|nothing to do)\b"
)
"""What is said of who is well after all."""

_RESULTED = re.compile(
    r"\b(?:those|these|that|they|which) (?:are|were|is|was) (?:only |just |merely )?(?:a |the |its )?(?:results?|consequences?|symptoms?|(?:after-?|side-? ?)?effects?|knock-ons?)(?=\W*(?:[.;,)]|$))"
)
"""Says of what stands before it that it followed."""

_MARRED = re.compile(
    r"\b(?:wrong\w*|bad|broken?|faulty|defect\w*|mistakes?|mis-?config\w*|mis-?set|typos?|no better|worse|same|trouble\w*|likewise|too|as well|also|blame|responsib\w+|guilty|culprit|fault|fix|repair\w*|roll-?back|rolled back"
    r"|changed|edited|errors?|problems?|issues?|fail\w*|crash\w*|down|missing|gone|deleted|removed|scaled|unavailable|hangs?|stuck|pending|flawed|botched|bug\w*|second|another|alone|joins?)\b"
)
"""What is said of nobody who is well."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A mechanism that a text asserts, and of whom."""

    key: str
    match: Match
    statement: int
    groups: tuple[Group, ...]
    """Whom it may be about, by the words around it, the likeliest first."""


@lru_cache(maxsize=128)
def _stated(statements: tuple[Statement, ...]) -> tuple[Claim, ...]:
    """Every mechanism that is asserted in a text, whatever is true."""
    found = []
    for number, each in enumerate(statements):
        if each.asserts:
            sentence = each.sentence
            for key, mechanism in MECHANISMS.items():
                for match in _distinct(matches(mechanism.ways, sentence)):
                    if each.consequence(match.head.start) and match.head.concept not in _NO_EFFECT:
                        # "... so its service is gone": what follows from a cause in such words is none.
                        continue
                    found.append(Claim(key, match, number, tuple(subjects(each, match))))
            for hit in sentence.hits.get(ANOTHER_CAUSE, ())[:1]:
                if not each.consequence(hit.start):
                    match = Match(hit, hit.first, hit.last, (hit.concept,))
                    found.append(Claim(ANOTHER_CAUSE, match, number, tuple(subjects(each, match))))
            for match in keys(sentence):
                found.append(Claim(match.head.concept, match, number, tuple(subjects(each, match))))
    return tuple(found)


@dataclass(frozen=True)
class Case:
    """A diagnosis beside the truth, with what the questions have in common."""

    statements: tuple[Statement, ...]
    specs: tuple[FaultSpec, ...]
    names: Names
    app: App

    # --- what is claimed, whatever is true -------------------------------------------------------

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Every mechanism that is asserted."""
        return tuple(claim for claim in self._stated if not self._acquitted(claim))

    @cached_property
    def _stated(self) -> tuple[Claim, ...]:
        return _stated(self.statements)

    def _acquitted(self, claim: Claim) -> bool:
        """Whether the account goes on to say that nothing is wrong with what a claim is about, before it speaks of others."""
        each = self.statements[claim.statement]
        # What it is about, in its author's words.
        kinds = MECHANISMS[claim.key].kinds if claim.key in MECHANISMS else ()
        spoken_of = f"{each.masked[: each.at(claim.match.last + 1)]} {' '.join(kinds).lower()}"
        staying = claim.key in STAYING
        if any(
            start >= claim.match.head.start
            and not of_another(each.masked, (start, end), spoken_of)
            and not (staying and _STAYS.search(each.masked, start, end))
            for start, end in each.acquittals
        ):
            return True
        about = claim.groups[:1] if claim.groups and claim.groups[0].rank < 1 else ()
        own = {name for group in about for name in self.members(group)} or {
            name for mention in each.mentions for name in mention.components
        }
        for other in self.statements[claim.statement + 1 : claim.statement + 1 + _NEAR]:
            if other.label in ("remedy", "effect", "cleared", "quoted"):
                return False
            if any(not own & set(mention.components) for mention in other.mentions) or _turned(other.text):
                return False
            if any(
                not of_another(other.masked, span, spoken_of)
                and not (staying and _STAYS.search(other.masked, *span))
                for span in other.acquittals
            ):
                return True
        return False

    @cached_property
    def several(self) -> bool:
        """Whether the text says that there is more than one cause."""
        return any(_SEVERAL.search(each.text) for each in self.statements if each.label != "cleared")

    @property
    def copied(self) -> bool:
        """Whether a text has no word of its own."""
        return not any(each.own_words for each in self.statements)

    @cached_property
    def listing(self) -> bool:
        """Whether some statement is a list of keywords."""
        return any(
            len({hit.concept for hit in each.sentence.fields}) >= _KEYWORDS
            or _soup(each, alone=len(self.statements) == 1)
            for each in (*self.statements, *self._fragments)
            if each.asserts
        )

    @cached_property
    def _fragments(self) -> tuple[Statement, ...]:
        """Lines of a word or two, read as one list."""
        short = [
            each.text
            for each in self.statements
            if not each.label
            and len(each.text.split()) <= _FRAGMENT
            and not each.text.endswith((".", "!", "?"))
        ]
        if len(short) < _ITEMS or len(short) * 4 < len(self.statements) * 3:
            return ()
        return (statement("", ", ".join(short), self.names),)

    # --- the truth ---------------------------------------------------------------------------------

    @cached_property
    def truth(self) -> frozenset[str]:
        """Components at fault."""
        return frozenset(name for spec in self.specs for name in spec.components)

    @cached_property
    def details(self) -> tuple[Details, ...]:
        known = frozenset(component.name for component in self.app.components)
        return tuple(Details(spec, known) for spec in self.specs)

    @cached_property
    def implied(self) -> frozenset[str]:
        """Mechanisms that the faults' own accounts state, by the way."""
        own = {spec.mechanism for spec in self.specs}
        for spec in self.specs:
            own |= _implied(spec.cause, self.names)
        return frozenset(own)

    @cached_property
    def bystanders(self) -> frozenset[str]:
        """Components that the faults' own accounts name beside the culprits."""
        told = " ".join(f"{spec.cause} {spec.wrong} {spec.right} {spec.resource_name}" for spec in self.specs)
        return frozenset(self.names.components(told.lower())) - self.truth

    @cached_property
    def reached(self) -> frozenset[str]:
        """Components that need a faulty one, however indirectly, or that it needs."""
        reached = set(self.truth)
        grew = True
        while grew:
            callers = {
                c.name
                for c in self.app.components
                if c.name not in reached and any(d.on in reached for d in c.dependencies)
            }
            reached |= callers
            grew = bool(callers)
        needs = [d.on for c in self.app.components if c.name in self.truth for d in c.dependencies]
        affected = [name for spec in self.specs for name in spec.affected]
        return frozenset([*reached, *needs, *affected, *self.bystanders])

    @cached_property
    def suffering(self) -> frozenset[str]:
        """Those, and components whose names are also those of what users do in vain: "search and booking fail"."""
        return self.reached.union(journey for spec in self.specs for journey in spec.journeys)

    # --- the truth in the text ---------------------------------------------------------------------

    @cached_property
    def _named(self) -> frozenset[str]:
        """Components that are named by a name of their own."""
        return frozenset(
            mention.components[0]
            for each in self.statements
            for mention in each.mentions
            if len(mention.components) == 1
        )

    def members(self, group: Group) -> list[str]:
        """The components of a group; of "both databases" those two that the text names."""
        found: list[str] = []
        for mention in group.mentions:
            members = list(mention.components)
            if mention.count and mention.count < len(members):
                named = [name for name in members if name in self._named]
                members = named if len(named) == mention.count else []
            elif len(members) > 1 and not self.truth & set(members):
                # "redis pods carry it too": of a kind those who have a part in it are meant.
                members = [name for name in members if name in self.bystanders] or members
            found += members
        return list(dict.fromkeys(found))

    @cached_property
    def readings(self) -> tuple[tuple[Claim | None, ...], ...]:
        """For every fault the claim by which it is understood in every statement, None where in none."""
        return tuple(
            tuple(self._understood(spec, details, number) for number in range(len(self.statements)))
            for spec, details in zip(self.specs, self.details, strict=True)
        )

    def _understood(self, spec: FaultSpec, details: Details, number: int) -> Claim | None:
        """The claim of a fault's own mechanism in a statement, or none."""
        here = [claim for claim in self.claims if claim.statement == number]
        own = [claim for claim in here if claim.key == spec.mechanism]
        each = self.statements[number]
        copied = self._shows and not each.own_words
        if copied:
            own = []
        if not own and not copied and each.asserts and (spans := details.spans(each.text)):
            stated = [span for span in spans if each.stated(*span) and _own_field(spec.mechanism, each, span)]
            sentence = valued(each.sentence, stated)
            own = [
                Claim(spec.mechanism, match, number, _others(subjects(each, match), stated))
                for match in matches_anywhere(_with_value(MECHANISMS[spec.mechanism].valued), sentence)[:1]
            ]
        if (
            not own
            and not copied
            and each.asserts
            and all(clause.asserted for clause in each.clauses)
            and not [claim for claim in here if claim.key != ANOTHER_CAUSE]
        ):
            # No other mechanism is said in it: then the words of this one may stand further apart.
            far = matches_anywhere(MECHANISMS[spec.mechanism].ways, each.sentence)
            own = [Claim(spec.mechanism, match, number, tuple(subjects(each, match))) for match in far[:1]]
        found = (
            own[0]
            if own
            else self._pieced_together(spec, details, number) or self._in_two(spec, details, number)
        )
        return None if found is None or self._acquitted(found) else found

    def _pieced_together(self, spec: FaultSpec, details: Details, number: int) -> Claim | None:
        """A claim whose value stands in this statement and whose words in those around it.

        Only who has looked knows the value, so that little else need be said, and hardly ever in one breath.
        """
        each = self.statements[number]
        quoted = each.label == "quoted"
        if not each.asserts and not quoted:
            return None
        spans = [
            span
            for span in details.spans(each.text)
            if quoted or (each.stated(*span) and _own_field(spec.mechanism, each, span))
        ]
        if not spans:
            return None
        ways = MECHANISMS[spec.mechanism].valued
        near = sorted(range(len(self.statements)), key=lambda other: (abs(other - number), other))[
            : 2 * _NEAR + 1
        ]
        for other in near:
            beside = self.statements[other]
            if other == number or not beside.asserts or (self._shows and not beside.own_words):
                continue
            pair = (each, beside) if other > number else (beside, each)
            shift = len(beside.asserted) + 3 if other < number else 0
            sentence = tagged(f"{pair[0].asserted} . {pair[1].asserted}")
            places = [(start + shift, end + shift) for start, end in spans]
            for match in matches_anywhere(_with_value(ways), valued(sentence, places))[:1]:
                start, end = spans[0]
                word = each.text.count(" ", 0, start)
                head = Hit(VALUE, word, word, start, end)
                here = Match(head, word, word, match.concepts)
                return Claim(spec.mechanism, here, number, _others(subjects(each, here), spans))
        return None

    def _in_two(self, spec: FaultSpec, details: Details, number: int) -> Claim | None:
        """A claim half of which stands in this statement and half in the next, if they are of the same and nothing else is
        claimed in either: "A second container was added to geo. Both want port 11211." """
        each = self.statements[number]
        if number + 1 == len(self.statements):
            return None
        other = self.statements[number + 1]
        shown = not each.own_words and _IT.match(other.text) is not None
        if not each.asserts and not shown:
            return None
        if (
            not other.asserts
            or other.label not in ("", "cause")
            or (each.label != other.label and not shown)
            or self.explores(number + 1)
            or each.acquittals
            or (other.acquittals and not shown)
        ):
            return None
        own = {*spec.components, *self.bystanders}
        if any(not set(mention.components) & own for mention in (*each.mentions, *other.mentions)):
            return None
        near = {spec.mechanism, *MECHANISMS[spec.mechanism].through, *MECHANISMS[spec.mechanism].kin}
        if any(claim.statement in (number, number + 1) and claim.key not in near for claim in self.claims):
            return None
        together = f"{each.text} {other.text}"
        if details.contradicted(together) or (
            not details.spans(together) and details.stranger(f"{each.masked} {other.masked}")
        ):
            return None
        first = each.masked if shown else each.asserted
        border = len(first.split())
        sentence = tagged(f"{first} {other.asserted}")
        for match in matches_across(MECHANISMS[spec.mechanism].ways, sentence, border):
            if match.head.last < border:
                return Claim(spec.mechanism, match, number, tuple(subjects(each, match)))
        return None

    def placed(self, spec: FaultSpec, claim: Claim) -> list[str]:
        """Those of a fault's components that a claim is about."""
        found = self.about(claim)
        if self._own_object(claim, spec):
            return list(spec.components)
        if own := [name for name in spec.components if any(name in names for names in found)]:
            return own
        if found and self._blames(claim):
            return []
        text = self.statements[claim.statement].text
        if not claim.groups:
            # Nobody is named beside it: the object may be named in another sentence.
            text = " . ".join(
                each.text
                for each in self.statements
                if each.label not in ("cleared", "remedy", "guess", "quoted")
            )
        return list(spec.components) if self._object_named(spec, text) and self._not_others(spec) else []

    def _not_others(self, spec: FaultSpec) -> bool:
        """Whether the account is not of other components alone: of a fault of most components none is another."""
        if len(spec.components) * 2 > len(self.app.components):
            return True
        said = {
            name
            for each in self.statements
            if each.asserts
            for mention in each.named()
            for name in mention.components
        }
        return not said or bool(said & {*spec.components, *spec.affected})

    def _own_object(self, claim: Claim, spec: FaultSpec) -> bool:
        """Whether a claim of a fault's mechanism stands beside the name of its object, which tells whose it is."""
        text = self.statements[claim.statement].text
        if (
            claim.groups
            and claim.groups[0].rank < 1
            and not set(self.members(claim.groups[0])) & {*self.reached, *self.truth}
        ):
            return False
        return claim.key == spec.mechanism and self._object_named(spec, text, own=True)

    def _object_named(self, spec: FaultSpec, text: str, own: bool = False) -> bool:
        """Whether a text names the object that is wrong, or the place by another name than a component's.

        ``own``: by a name that tells whose it is, as ``deny-all-user``.
        """
        known = {component.name for component in self.app.components}
        if own:
            parts = {part for name in spec.components for part in name.split("-")[-1:]}
            telling = [
                alias
                for alias in (spec.resource_name, *spec.aliases)
                if alias not in known and parts & set(alias.split("-"))
            ]
            return any(says(alias, text) for alias in telling)
        if (
            spec.resource_kind == "Node"
            and len([a for a in spec.aliases if "worker" in a]) != 1
            and _NODES.search(text)
        ):
            return True
        return any(
            says(alias, text)
            for alias in (spec.resource_name, *spec.aliases)
            if alias not in known and len(alias) > 5
        )

    def about(self, claim: Claim) -> list[list[str]]:
        """Whom a claim may be about, whatever is true: one reading, or two where grammar does not decide."""
        each = self.statements[claim.statement]
        if _OF_THAT_NAME.match(each.text, claim.match.head.end):
            # "it cannot look b up, since there is no Service of that name"
            last = [mention for mention in each.mentions if mention.end <= claim.match.head.start]
            if last:
                return [list(last[-1].components)]
        named = [self.members(group) for group in claim.groups]
        found: list[list[str]] = []
        if claim.groups and claim.groups[0].rank < 1:
            found = named[:1]
            if set(named[0]) <= self.bystanders and not self._hard(claim):
                # The account names others too: "pods of A carry the label that Service B asks for".
                found = [*named[:2], *([name] for name in focus(self.statements, claim.statement))]
        elif claim.groups and claim.groups[0].rank == 1:
            # "A connects to B, whose ...": nobody is the subject, so it may be either.
            found = [
                members for members, group in zip(named[:2], claim.groups, strict=False) if group.rank < 3
            ]
            found += [self.accused] if self.accused else []
        else:
            # "Its limit is too low for what frontend sends": whose it is was said elsewhere.
            own = (
                [list(mention.components) for mention in each.mentions[:1]]
                if not named
                else [members for members, group in zip(named, claim.groups, strict=True) if group.rank < 4][
                    :2
                ]
            )
            spoken_of = [[name] for name in focus(self.statements, claim.statement)]
            found = [*own, *spoken_of, *self._quoted(claim.statement)] or (
                [self.accused] if self.accused else self._next(claim.statement)
            )
        return [names for names in found if names]

    def _quoted(self, number: int) -> list[list[str]]:
        """The only component in what was copied before a statement: "The Service ..." is then its."""
        names = {
            name
            for each in self.statements[:number]
            if each.label == "quoted"
            for mention in each.mentions
            for name in mention.components
        }
        return [list(names)] if len(names) == 1 else []

    def _next(self, number: int) -> list[list[str]]:
        """Who is spoken of after a statement before which nobody was: "The targetPort is wrong. That hits ..." """
        for each in self.statements[number + 1 :]:
            if each.mentions and each.asserts:
                return [list(each.mentions[0].components)]
        return []

    def _about(self, claim: Claim) -> list[str]:
        """Whom a claim is about, by the reading that is kinder."""
        found = self.about(claim)
        return next((names for names in found if set(names) & self.truth), found[0] if found else [])

    def _hard(self, claim: Claim) -> bool:
        """Whether the first group is called by the very kind of object that the mechanism is about."""
        text = self.statements[claim.statement].text
        start = claim.groups[0].start
        kinds = "|".join(kind.lower() for kind in MECHANISMS[claim.key].kinds)
        return (
            bool(kinds)
            and re.search(rf"(?:{kinds}|selector of) $", text[max(0, start - 24) : start]) is not None
        )

    def _blames(self, claim: Claim) -> bool:
        """Whether a claim says by itself whom it is about."""
        return bool(claim.groups) and claim.groups[0].rank < 3

    def _suffered(self, claim: Claim) -> bool:
        """Whether a claim tells beside the object that is wrong what becomes of who suffers from it."""
        if not claim.groups or claim.groups[0].rank != 1 or not set(self._about(claim)) <= set(self.reached):
            return False
        text = self.statements[claim.statement].text
        return any(claim.key == spec.mechanism and self._object_named(spec, text) for spec in self.specs)

    # --- the search ------------------------------------------------------------------------------

    @cached_property
    def _found(self) -> int:
        """The first statement in which all faults are understood; 0 where they are not."""
        claims = [claim.statement for claim in self.understanding if claim is not None]
        return max(claims) if len(claims) == len(self.specs) else 0

    def _searched(self, number: int) -> bool:
        """Whether a statement tells of the search before what it found: the last word of an account counts."""
        return number < self._found and self.explores(number)

    def explores(self, number: int) -> bool:
        """Whether a statement tells of a search, or goes on with one."""
        return any(
            _EXPLORED.search(each.text) is not None
            for each in self.statements[max(0, number - _TOLD_ON) : number + 1]
        )

    # --- verdicts ----------------------------------------------------------------------------------

    @cached_property
    def understanding(self) -> tuple[Claim | None, ...]:
        """For every fault the claim that understands it, of its mechanism and in its place; None where none does."""
        return tuple(self._understanding(number) for number in range(len(self.specs)))

    def _understanding(self, number: int) -> Claim | None:
        spec = self.specs[number]
        claims = [claim for claim in self.readings[number] if claim is not None]
        covered: set[str] = set()
        first: Claim | None = None
        for claim in claims:
            here = self.placed(spec, claim)
            if here:
                covered |= set(here)
                first = first or claim
        if first is None or self.contradiction(number) or self.unlike(spec) or self._denied(spec):
            return None
        return None if self.spared(spec) else first

    def unlike(self, spec: FaultSpec) -> bool:
        """Whether the account tells of something else that is said in much the same words."""
        ways = unlike(spec.mechanism)
        return any(
            matches(ways, each.whole)
            for each in self.statements
            if ways and each.label not in ("guess", "quoted", "remedy")
        )

    def spared(self, spec: FaultSpec) -> bool:
        """Whether the account says of some of a fault's components that it is not theirs: "a alone is hit, b is unaffected"."""
        own = set(spec.components)
        if len(own) < 2 or len(own) * 2 > len(self.app.components):
            # Of a fault of most components whoever is called well is so beside it.
            return False
        for each in self.statements:
            if each.label in ("remedy", "quoted", "guess"):
                continue
            spoken_of: set[str] = set()
            for clause in each.clauses:
                named = {name for mention in each.within(clause) for name in mention.components}
                spoken_of = named if named else spoken_of
                said = each.masked[clause.start : clause.end]
                # "geo itself is fine" says where the cause is not, and not whom it spares.
                if spoken_of and spoken_of < own and _SPARED.search(said) and " itself" not in said:
                    return True
        return False

    @cached_property
    def _shows(self) -> bool:
        """Whether output is copied into the account: what has no words of its own belongs to it then."""
        return any(each.label == "quoted" for each in self.statements)

    def _denied(self, spec: FaultSpec) -> bool:
        """Whether the account denies of a fault's own components what is wrong with them: "so geo was not scaled to 0"."""
        ways = MECHANISMS[spec.mechanism].ways
        for number, each in enumerate(self.statements):
            if each.label not in ("", "cause", "place") or self.explores(number):
                continue
            if any(not set(mention.components) & self.truth for mention in each.mentions):
                continue
            found = matches_anywhere if _SO_NOT.search(each.masked) else matches
            if not found(ways, each.whole) and found(ways, with_denied(each.masked)):
                return not any(claim.key == spec.mechanism for claim in self.claims)
        return False

    def contradiction(self, number: int) -> str:
        """A value of a fault's own sort that is another than the fault's, where its mechanism is stated."""
        details = self.details[number]
        texts = [
            self.statements[claim.statement].text for claim in self.readings[number] if claim is not None
        ]
        found = [details.contradicted(text) for text in texts]
        if found and all(found):
            return found[0]
        whole = " . ".join(each.text for each in self.statements)
        if details.spans(whole):
            return ""
        masked = " ".join(
            self.statements[claim.statement].masked for claim in self.readings[number] if claim is not None
        )
        return details.stranger(masked)

    @cached_property
    def accused(self) -> list[str]:
        """Who is called the cause outright."""
        found = [name for each in self.statements for group in blamed(each) for name in self.members(group)]
        return list(dict.fromkeys(found))

    def pointed_at(self, each: Statement) -> list[str]:
        """Who is called the cause, in trouble, or named without a word in a statement."""
        said = (*blamed(each), *troubled(each), *bare(each))
        return [name for group in said for name in self.members(group)]

    @cached_property
    def located(self) -> tuple[bool, ...]:
        """For every fault whether its place is named as a place of a cause."""
        return tuple(
            self.understanding[number] is not None or self._located(spec, number)
            for number, spec in enumerate(self.specs)
        )

    def _located(self, spec: FaultSpec, number: int) -> bool:
        wanted = set(spec.components)
        if wanted & set(self.accused):
            return True
        if any(wanted & set(self._about(claim)) for claim in self.claims if claim.key != ANOTHER_CAUSE):
            return True
        if any(claim is not None and self.placed(spec, claim) for claim in self.readings[number]):
            return True
        said = (group for each in self.statements for group in (*troubled(each), *bare(each)))
        return any(wanted & set(self.members(group)) for group in said)

    @property
    def located_share(self) -> float:
        """The share of the faults that are located."""
        return sum(self.located) / len(self.located)

    @cached_property
    def own_heads(self) -> frozenset[tuple[int, int]]:
        """(statement, word) of every head of a claim that is a fault's own: other ways to say it are no other claim."""
        found: set[tuple[int, int]] = set()
        for spec, claims in zip(self.specs, self.readings, strict=True):
            for claim in claims:
                if claim is not None:
                    sentence = self.statements[claim.statement].sentence
                    own = [claim.match, *matches(MECHANISMS[spec.mechanism].ways, sentence)]
                    found |= {(claim.statement, match.head.start) for match in own}
        return frozenset(found)

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Mechanisms that are claimed and are not the faults'."""
        keys: list[str] = []
        beside: list[tuple[tuple[int, int], str]] = []
        for claim in self.claims:
            if claim.key in self._own_keys or self._searched(claim.statement):
                continue
            if claim.key == ANOTHER_CAUSE:
                if not self._told_anyway(claim):
                    keys.append(claim.key)
                continue
            if self.alternative(claim) or self._rival(claim):
                keys.append(claim.key)
                continue
            if claim.key in self.implied or self._through(claim):
                continue
            if self._instead(claim):
                keys.append(claim.key)
                continue
            if (claim.statement, claim.match.head.start) in self.own_heads:
                continue
            if self._beside(claim) or self._by_the_way(claim):
                beside.append(((claim.statement, claim.match.head.start), claim.key))
            else:
                keys.append(claim.key)
        if len(self.specs) == 1 and len(self.truth) == 1 and self.several:
            keys.append("a second cause")
        # One may be said by chance, in the words around what is right.
        return tuple(
            dict.fromkeys(
                [*keys, *([key for _, key in beside] if len({key for _, key in beside}) > 1 else [])]
            )
        )

    def _instead(self, claim: Claim) -> bool:
        """Whether a claim is what an account makes of a fault's value: no words of the fault's own mechanism are in it."""
        return any(
            any(claims)
            and not any(other.key == spec.mechanism for other in self._stated)
            and claim.key not in MECHANISMS[spec.mechanism].through
            for spec, claims in zip(self.specs, self.readings, strict=True)
        )

    def _beside(self, claim: Claim) -> bool:
        """Whether a claim is made of the words around a fault's own value, or of words that say many things."""
        return any(
            c.match.first - 2 <= claim.match.head.first <= c.match.last + 1
            and (VALUE in c.match.concepts or claim.match.head.concept not in FIELDS)
            for claims in self.readings
            if (c := claims[claim.statement]) is not None
        )

    def _told_anyway(self, claim: Claim) -> bool:
        """Whether the words of another cause are those of a fault's own account."""
        head = claim.match.head
        if any(
            re.match(_SAID_WITH.get(spec.mechanism, "$"), self.statements[claim.statement].text[head.start :])
            for spec in self.specs
        ):
            return True
        text = self.statements[claim.statement].text
        if _RESULTED.search(text, head.end):
            return True
        word = _bare(text[head.start : head.end])
        tail = word.split()[-1] if word.split() else word
        return any(
            len(tail) > 3 and re.search(rf"\b{re.escape(tail)}\b", _bare(spec.cause.lower())) is not None
            for spec in self.specs
        ) or any(
            word in _bare(f"{spec.cause} {spec.wrong} {spec.resource_name}".lower()) for spec in self.specs
        )

    def _by_the_way(self, claim: Claim) -> bool:
        """Whether a claim is of nobody else and of no field, in an account that knows a fault's own value."""
        known = any(
            found is not None and VALUE in found.match.concepts and _seen(spec, self.app)
            for found, spec in zip(self.valued, self.specs, strict=True)
        )
        added = _ADDED.search(self.statements[claim.statement].text) is not None
        return (
            known
            and not added
            and claim.match.head.concept not in POINTED
            and set(self._about(claim)) <= self.truth
        )

    @cached_property
    def valued(self) -> tuple[Claim | None, ...]:
        """For every fault a claim with its own value."""
        found = []
        for spec, details, claims in zip(self.specs, self.details, self.readings, strict=True):
            own = next((claim for claim in claims if claim is not None and self.placed(spec, claim)), None)
            if own is not None and details.spans(self.statements[own.statement].text):
                own = replace(own, match=replace(own.match, concepts=(*own.match.concepts, VALUE)))
            found.append(own)
        return tuple(found)

    def _rival(self, claim: Claim) -> bool:
        """Whether a claim is of the mechanism that is easily taken for a fault's own, and said in words of its own."""
        for spec, claims in zip(self.specs, self.readings, strict=True):
            if claim.key not in MECHANISMS[spec.mechanism].rivals:
                continue
            own = claims[claim.statement]
            if any(
                known is not None
                and known.key == spec.mechanism
                and VALUE in known.match.concepts
                and _seen(spec, self.app)
                for known in self.valued
            ):
                # Who knows the value has not taken the one for the other.
                continue
            if own is None or own.match.head.start != claim.match.head.start:
                return True
        return False

    def _through(self, claim: Claim) -> bool:
        """Whether a claim only tells how a fault's own works: near it, and of what it works through."""
        for spec, claims in zip(self.specs, self.readings, strict=True):
            if claim.key not in MECHANISMS[spec.mechanism].through or not any(claims):
                continue
            if not self._blames(claim) or set(self._about(claim)) <= self.truth:
                return True
        return False

    @cached_property
    def _own_keys(self) -> frozenset[str]:
        return frozenset(spec.mechanism for spec in self.specs)

    def alternative(self, claim: Claim) -> bool:
        """Whether a claim is offered as an alternative to a fault's own: "this or that" is a guess, and no by-word."""
        each = self.statements[claim.statement]
        for claims in self.readings:
            own = claims[claim.statement]
            if own is None:
                continue
            first, last = sorted((own.match, claim.match), key=lambda match: (match.head.start, match.last))
            between = each.text[first.head.start : each.at(max(first.last, last.last) + 1)]
            if _OR.search(between):
                return True
        return False

    @cached_property
    def innocents(self) -> tuple[str, ...]:
        """Components that are blamed although nothing is wrong with them."""
        found: list[str] = [
            name
            for number, each in enumerate(self.statements)
            if not self._searched(number)
            for group in blamed(each)
            for name in self.members(group)
            if name not in self.truth and not self._taken_in(name, number)
        ]
        found += self._alike
        found += self._listed
        found += self._strangers
        for claim in self.claims:
            if (
                claim.key == ANOTHER_CAUSE
                or self._searched(claim.statement)
                or any(self._own_object(claim, spec) for spec in self.specs)
                or self._suffered(claim)
            ):
                continue
            if self._blames(claim) and not set(self._about(claim)) & set(self._excused(claim)):
                each = self.statements[claim.statement]
                some = {
                    n for group in claim.groups if self._some_of(each, group) for n in self.members(group)
                }
                found += [name for name in self._about(claim) if name not in self.truth | some]
        for number, each in enumerate(self.statements):
            if self._searched(number):
                continue
            for group in (*troubled(each), *bare(each)):
                found += [name for name in self.members(group) if name not in self.suffering]
            for group in bare(each):
                if each.label in ("", "cause", "place"):
                    found += [
                        name
                        for name in self.members(group)
                        if name not in self.truth and len(group.mentions) > 1
                    ]
        return tuple(dict.fromkeys(found))

    @cached_property
    def _listed(self) -> list[str]:
        """Innocents of whom a fault's own is said in one breath with a culprit, or right after it: "b has a missing one too"."""
        found: list[str] = []
        for claims in self.readings:
            for claim in claims:
                if claim is None:
                    continue
                first = claim.groups[0] if claim.groups else None
                if first is not None and first.rank < 1 and len(first.mentions) > 1:
                    members = set(self.members(first))
                    if members & self.truth:
                        found += sorted(members - self.truth - self.bystanders)
                for other in self.statements[claim.statement + 1 : claim.statement + 2]:
                    if (
                        other.label in ("", "cause")
                        and _TOO.search(other.masked)
                        and not _SUFFERS.search(other.masked)
                    ):
                        found += [
                            name
                            for group in groups(other)[:1]
                            if group.rank < 1
                            for name in self.members(group)
                            if name not in self.truth and name not in self.bystanders
                        ]
        return found

    def _taken_in(self, name: str, number: int) -> bool:
        """Whether somebody is only the stranger whose pods a Service selects too: "the label is on geo as well"."""
        return name in self.bystanders and any(
            spec.mechanism == "extra_endpoints" and claims[number] is not None
            for spec, claims in zip(self.specs, self.readings, strict=True)
        )

    @cached_property
    def _strangers(self) -> list[str]:
        """Components that have nothing to do with a fault, and of which something bad is said without being cleared."""
        found: list[str] = []
        for number, each in enumerate(self.statements):
            if each.label not in ("", "cause", "place") or self.explores(number):
                continue
            beside = [each, *(s for s in self.statements[number + 1 : number + 2] if not s.mentions)]
            if any(s.acquittals or _CLEARS.search(s.text) for s in beside):
                continue
            own = {name for mention in each.mentions for name in mention.components}
            for clause in each.clauses:
                said = each.masked[clause.start : clause.end]
                if not clause.asserted or _MARRED.search(said) is None:
                    continue
                if clause.role == "effect" and not (_ADDED.search(said) and not self.truth & own):
                    # "Memcached also crashes for lack of memory" tells of no victim, if nobody at fault is named beside it.
                    continue
                found += [
                    name
                    for group in groups(each, clause)
                    if group.rank < 2 and not self._some_of(each, group)
                    for name in self.members(group)
                    if name not in self.suffering
                ]
        return found

    def _some_of(self, each: Statement, group: Group) -> bool:
        """Whether only those of a group are spoken of who are somewhere, or of a sort, and culprits or victims are among it:
        "the MongoDB pods bound to that node". Who names what is wrong in no other sentence has only this to say of the place."""
        return (
            bool(self.reached & set(self.members(group)))
            and _SORT.match(each.masked[group.end :]) is not None
            and all(
                any(says(spec.resource_name, other.text) for other in self.statements if other is not each)
                for spec in self.specs
            )
        )

    @cached_property
    def _alike(self) -> list[str]:
        """Innocents of whom the same is said as of a culprit, in a clause of their own: "and b is started as c too"."""
        found: list[str] = []
        for claims in self.readings:
            for claim in claims:
                if claim is None:
                    continue
                each = self.statements[claim.statement]
                own = each.clause_of(each.at(claim.match.head.first))
                said = _told(each.masked[own.start : own.end])
                for mention in each.named():
                    if set(mention.components) & self.truth:
                        beside = each.clause_of(mention.start)
                        said |= _told(each.masked[beside.start : beside.end])
                for other in self.statements[claim.statement : claim.statement + 2]:
                    if other.label in ("effect", "cleared", "remedy", "guess", "quoted"):
                        continue
                    for clause in other.clauses:
                        if (
                            not clause.asserted
                            or clause.role == "effect"
                            or (other is each and clause == own)
                        ):
                            continue
                        words = _told(other.masked[clause.start : clause.end])
                        if not said & words:
                            continue
                        found += [
                            name
                            for group in groups(other, clause)
                            if group.rank < 2
                            for name in self.members(group)
                            if name not in self.truth and name not in self.bystanders
                        ]
        return found

    def _excused(self, claim: Claim) -> list[str]:
        """Those a claim names who are not blamed by it: its own heads say a fault, and they belong to its account."""
        if (claim.statement, claim.match.head.start) in self.own_heads and not self._hard(claim):
            return [name for name in self._about(claim) if name in self.bystanders]
        return []

    @cached_property
    def guessing(self) -> bool:
        """Whether so much is claimed that nothing is."""
        innocents = len(self.innocents)
        return self.listing or len(self.foreign) >= _KINDS_GUESSED or innocents > max(1, len(self.truth))


def _bare(text: str) -> str:
    """Words without the ending of plurals and verbs: "pods leak memory", "it leaks memory"."""
    return re.sub(r"s\b", "", text)


_SPARED = re.compile(
    r"\bonly @|@_* (?:only|alone)\b|^\W*it alone\b|\bthe only (?:\w+ )?(?:database|one|workload|pod|component|service|client)\b"
    r"|(?:\bnot|n't|\bnever) (?:\w+ )?(?:hit|concerned|affected|involved|touched|part of (?:this|it|the)|on (?:that|this|the same) (?:disk|node|machine))\b"
    r"|\b(?:unaffected|untouched|unharmed|unrelated|spared)\b|\bruns? on (?:another|a different) (?:node|machine|host|disk)\b"
    r"|\b(?:running|runs|works?|working|is|are) (?:fine|normally|healthy|without trouble|as usual)\b|\bof its own\b"
)
"""Says of somebody that a fault is not theirs, or of somebody else's alone."""

_TOO = re.compile(r"\b(?:too|as well|likewise)\W*$")

_SUFFERS = re.compile(
    r"\b(?:fail\w*|time\w*|tim(?:es|ed) out|errors?|hit|affected|down|suffers?|can(?:not|'t)|slow\w*|unavailable|returns?|crash\w*|hurt|unreachable|gone|stuck|waits?|fine|healthy|ok|well)\b(?! (?:as well)\W*$)"
)
"""What is said of a victim, or of who is well."""

_IT = re.compile(r"\W*(?:(?:so|and|but) )?(?:it|that|this|which|the one)\b")
"""Begins a sentence about what was shown before it."""

_OF_THAT_NAME = re.compile(
    r" (?:object )?(?:(?:of|by|with|under) (?:that|this|the same) name|called (?:that|so|like that))\b"
)

_SO_NOT = re.compile(r"\b(?:so|hence|therefore|thus|meaning|which means)\b[^,;.]{0,40}(?:n't| not| never) ")
"""Concludes that something is not so."""

_PREDICATES = re.compile(
    r"(?<![\w-])(?:isolated|isolates|cut|cuts|started|(?:runs?|running)(?! on\b)|asks?|points?|forwards?|lacks?|lost|misses|missing|gone|deleted|removed|dropped|wrong|bad|broken|faulty|changed|scaled|pinned|blocked|blocks|limited|capped|denied|denies|revoked"
    r"|exposes?|bogus|misconfigured|tainted|cordoned|expired|throttled|starved|oomkilled|mistake|defective|given|takes?|wears?|carries|same|likewise|edited|overwritten|set)(?![\w-])"
)
"""What may be said of a culprit, and shares the blame where it is said of another one."""


_SORT = re.compile(
    r"[\w-]*(?: (?:pods?|ones?|databases?|caches?|instances?|deployments?|services?|replicas?))? "
    r"(?:bound|pinned|tied|placed|scheduled|that|which|whose|who|running|sitting|living|(?:up)?on (?:that|this|the same|it)\b|there)\b"
)
"""What follows a group of whom only some are meant."""


def _told(text: str) -> set[str]:
    return {re.sub(r"(?:es|ed|s|d|e)$", "", match.group()) for match in _PREDICATES.finditer(text)}


def _seen(spec: FaultSpec, app: App) -> bool:
    """Whether who gives a fault's own value must have looked it up."""
    value = spec.wrong.lower()
    return not value or value in app.by_name or _LOOKED_UP.search(value) is not None


def _distinct(found: Sequence[Match]) -> list[Match]:
    """Matches about different things: of all that have one head the first."""
    return list({match.head.start: match for match in reversed(found)}.values())[::-1]


def _others(found: Sequence[Group], values: Sequence[tuple[int, int]]) -> tuple[Group, ...]:
    """Groups that are no value: of "command: geo" geo is no subject."""
    return tuple(
        group
        for group in found
        if not any(start <= group.start and group.end <= end for start, end in values)
    )


def _own_field(key: str, each: Statement, span: tuple[int, int]) -> bool:
    """Whether a value is said of a field of a mechanism's own: the nearest one in its sentence is, or there is none."""
    near = sorted(each.sentence.fields, key=lambda hit: min(abs(hit.end - span[0]), abs(hit.start - span[1])))
    return not near or any(
        hit.concept in own_fields(key) for hit in near if hit.first == near[0].first or hit.overlaps(near[0])
    )


def _with_value(ways: Sequence[str]) -> list[str]:
    return [terms if terms.startswith(VALUE) else f"{VALUE} {terms}" for terms in ways]


@lru_cache(maxsize=512)
def _implied(cause: str, names: Names) -> frozenset[str]:
    """Mechanisms that a cause states."""
    found: set[str] = set()
    for each in read(cause, names):
        sentence = each.sentence
        found |= {key for key, mechanism in MECHANISMS.items() if matches(mechanism.ways, sentence)}
    return frozenset(found)
