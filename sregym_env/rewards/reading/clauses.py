"""Clauses: how a sentence is cut at its connectives, and which of its clauses assert something.

What is negated, hedged, asked, supposed, proposed or cleared asserts nothing, whatever it mentions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from sregym_env.rewards.reading.cues import cues_of

_CUES = cues_of("clauses")

Role = Literal["plain", "cause", "effect"]

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|approx|cf|resp|incl|no|fig|al|st|ca)|\betc)\.$", re.IGNORECASE
)
_END = re.compile(
    r"[.!?][\"')\]]*\s+|;\s+(?!(?:its?|their|they|this|that|the|so) )(?=(?:[\w-]+,? ){0,4}?(?:and )?[\w-]+ (?:can(?:not|'t| not)|therefore|then|fails?) )|\s*\|\|\s*"
)


def sentences(text: str) -> list[str]:
    """The sentences of a passage, with their marks of punctuation."""
    found: list[str] = []
    begin = 0
    for match in _END.finditer(text):
        so_far = text[begin : match.start() + 1].rstrip()
        following = text[match.end() : match.end() + 1]
        if match.group().startswith(".") and _ABBREVIATION.search(so_far) and not following.isupper():
            continue
        found.append(text[begin : match.end()].strip(" |"))
        begin = match.end()
    found.append(text[begin:].strip())
    return [each for each in found if re.search(r"\w", each)]


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of a sentence, in characters."""

    start: int
    end: int
    role: Role
    asserted: bool = True


_SUPPOSED = re.compile(
    r"\b(?:if|unless|(?<!decides )(?<!decide )(?<!tells )(?<!checks )(?<!determines )(?<!judges )(?<!asks )(?<!regardless of )(?<!verifies )whether|assuming|suppos(?:e|ing)|provided(?: that)?|in case|in the event|were to|were it|should it|as soon as (?:somebody|someone|anybody|one|you|we)|had (?:@\w*|it|the \w+) been|would)\b"
)


_HEAD = re.compile(r"^[^:;]{1,90}?:(?= )")


def announces_doubt(sentence: str) -> int:
    """How many characters of a sentence announce that what follows is no assertion: "My hunch: ...", 0 if it does not."""
    if "the following" in sentence and _CUES["doubtful_head"].search(sentence):
        return len(sentence)
    head = _HEAD.match(sentence) or (re.fullmatch(r".{1,90}:", sentence))
    if (
        head is None
        or len(head.group().split()) > _LONGEST_HEAD
        or _CUES["doubtful_head"].search(head.group()) is None
    ):
        return 0
    return head.end()


_LONGEST_HEAD = 10
"""Words in which something is announced at most."""

_SHORT = 18
"""Words in which an account is taken back at most."""


def withdraws(sentence: str) -> bool:
    """Whether a sentence takes back all that was said before, and says nothing else: "That theory did not hold up." """
    return (
        len(sentence.split()) <= _SHORT
        and "@" not in sentence
        and _CUES["withdrawn"].search(sentence) is not None
        and not re.search(r"\b(?:who|whose|when)\b", sentence)
    )


_ONE = (
    r"(?:i|we|you|they|he|she|somebody|someone|everybody|everyone|nobody|no ?one|people|some(?: \w+)?|others)"
)
_SAYING = (
    r"\b(?:possib\w+|chance|risk|theory|suspicion|rumou?r|speculation|talk|hypothesis|danger|idea|notion|report|word|legend|hope|fear|"
    r"impression|assumption|belief|feeling|suggestion|allegation|question|thought)"
)
_MATRIX = re.compile(
    rf"^\W*(?:(?:and|but|so|now|well|then|also|still|personally|honestly|perhaps),? )?"
    rf"((?:(?:under|by|in|at) (?:\w+ ){{1,3}}(?:would|do|did|can|could) )?{_ONE}(?:'[a-z]+)?(?: [a-z'-]+){{1,9}}?"
    rf"|(?:it|that) (?:may|might|could|cannot|can't|can hardly|must not|need not) (?:well )?be|it (?:is|was) (?:\w+ )?(?:possible|conceivable|thinkable|imaginable|likely|probable|unlikely|rumou?red|doubtful|false|untrue|wrong)"
    rf"|(?:there(?: is|'s| was| are| were)|(?:the|a|an|my|our|one|some) )?[a-z ]{{0,24}}?{_SAYING}(?: [a-z']+){{0,3}}?|(?:it )?(?:seems|appears|looks) to (?:me|us)|(?:is|was|could|can|may|might|would) (?:it|this) (?:be |really |then )?(?:so|true|possible|the case|right)) that (?=\S)"
)
"""What stands before "that" where somebody says, thinks or wants something."""

_DOING = re.compile(
    r"\b(?:made|created?|added?|changed?|removed?|deleted?|set|put|gave|has|have|had|took|edited|owns?|uses?|used|runs?|pushed|built|applied|registered|defined|mounts?|needs?|wants?|"
    r"re-?enabled|restored?|dropped|broke|breaks|hits?|serves?|reach\w*|gets?|got|missed|is|are)$"
)
_DONE = re.compile(
    rf"^\W*(?:\w+,? )?{_ONE}(?: (?:has|have|had|must have))?(?: (?:just|recently|apparently|then|also|\w+ly))? (?:inserted|added|put|created|deployed|rolled|"
    r"pushed|changed|edited|set|left|installed|introduced|applied|wrote|configured|gave|made|removed|deleted|swapped|replaced|pointed|"
    r"moved|scaled|patched|pasted|slipped|registered|rewrote|renamed|wired|shipped)\b"
)
"""What was done by somebody: what follows is about the thing that he made, and not what he says."""
_ASSERTIVE = re.compile(
    r"\b(?:f[io]u?nds?|sees?|saw|seen|kn[eo]ws?|known|confirm\w*|sure|certain|convinced|positive|clear\w*|evident|obvious\w*|notic\w+|conclu\w+|verif\w+|establish\w*|turn\w* out|discover\w*|observ\w+|learn\w*"
    r"|show\w*|prov\w+|means?|meant|fact|causes?|reasons?|problem|issue|culprit|fault|point|thing|trouble|truth|result|consequence|effect|reali[sz]\w+|spotted|determined|demonstrat\w+|reveal\w*|see|missed|overlooked|forgot\w*|diagnosis|finding|answer|explanation)\b"
)
_UNASSERTIVE = re.compile(
    r"n't\b|\b(?:not|never|no|nobody|nothing|neither|hardly|cannot|would|could|might|may|like to|love to|want to|if|whether|tempted|afraid|hope\w*|wish\w*|asked|told|unable|before|until|only if)\b"
)


def others_say(text: str) -> bool:
    """Whether a sentence, lower case and with components masked, only tells what somebody says, thinks, fears or asks.

    Of what may stand before "that" only what asserts is listed, as there is no end of what does not.
    """
    found = _MATRIX.match(text)
    if found is None or "@" in found[1]:
        return False
    if _DOING.search(found[1]) or _DONE.match(found[1]):
        # "Nobody ever made that Secret": no clause follows.
        return False
    return _ASSERTIVE.search(found[1]) is None or _UNASSERTIVE.search(found[1]) is not None


_POINTS = r"(?:it|this|that|these|those|so|such a thing|the kind|the sort|data|facts?|logs?|evidence|manifests?|metrics|anything|something)"
_NAY = r"(?:n't|\bnot|\bnever|\bno|\bnothing|\bnobody|\bnone|\bhardly|\bneither|\bwithout)"
_PROVEN = (
    r"(?:prov\w+|proof|support\w*|confirm\w*|evidence|true|truth|bears? (?:it |this |that )?out|back(?:s|ed)? (?:it |this |that )?up|convinc\w+|verif\w+|happen\w*|"
    r"holds?(?: up| water| true)|stands? up|the case|expected|right|correct|substantiat\w*|corroborat\w*|reproduc\w*)"
)
_UNDONE = re.compile(
    rf"{_NAY}\b(?: [\w'-]+){{0,4}}? {_PROVEN}\b|\b{_PROVEN}(?: \w+){{0,2}} (?:not|nothing|nobody|false|no longer)\b"
    r"|\b(?:may|might|could)(?: well| also| equally| just as well)* be (?:something|anything|somewhere|another|a different|different|someone|elsewhere)\b"
    r"|^\W*(?:nope|no|nah)[,.!;:-].*\b(?:fine|good|ok|okay|healthy|clean|wrong)\b"
    r"|^\W*(?:but |and |yet |however,? |sadly,? |alas,? )?(?:i|we|it|this|that|they)(?:'m| am| are|'re| is| was| were|'s| did| do| does| have| has)?(?: not|n't)\W*$"
)
_ELSEWHERE = re.compile(
    r"\b(?:other|others|else|further|more|again|since|once|any ?more|no longer|yet changed|on its own|by itself|where|when|until|older|earlier|previous|because|so that)\b"
)
_SHORTEST = 6
"""Words below which a sentence need not say what it points at."""

_LONGEST_UNDOING = 16
"""Words in which somebody says that what was said is not so."""


def undoes(sentence: str) -> bool:
    """Whether a sentence without a name says of what was said that nothing bears it out: "The data does not support it." """
    return (
        len(sentence.split()) <= _LONGEST_UNDOING
        and "@" not in sentence
        and _UNDONE.search(sentence) is not None
        and (re.search(rf"\b{_POINTS}\b", sentence) is not None or len(sentence.split()) < _SHORTEST)
        and _ELSEWHERE.search(sentence) is None
    )


def repairs(text: str) -> bool:
    """Whether a clause tells what is to be done."""
    return _CUES["remedy"].search(text) is not None


def retracts(sentence: str) -> bool:
    """Whether a sentence takes back the one before it: "I am not sure." """
    return _CUES["of_the_account"].search(sentence) is not None


def knows_nothing(sentence: str) -> bool:
    """Whether a sentence says that the cause is not known, or another than all that was said."""
    return _CUES["unknown"].search(sentence) is not None or _CUES["open"].search(sentence) is not None


def clauses(text: str) -> list[Clause]:
    """The clauses of a sentence, in lower case and with components masked."""
    question = text.rstrip(" \"')").endswith("?")
    pieces = _cut(text)
    found: list[Clause] = []
    taken_back = max((match.start() for match in _CUES["taken_back"].finditer(text)), default=0)
    doubtful, denied, whole = question, False, False
    for kind, start, end, role in pieces:
        body = text[start:end]
        if body.startswith(("; ", ": ")) and not denied and not question:
            doubtful = whole = False
        turned = re.match(r",? ?\b(?:but|however|yet)\b", body) is not None
        if (
            not denied
            and not question
            and ((turned and (not whole or body.startswith(","))) or (kind == "back" and not whole))
        ):
            doubtful = whole = False
        if _CUES["doubted"].search(body):
            # "Perhaps a fails because b": the doubt reaches over the reason.
            doubtful = whole = True
        if _CUES["hedged"].search(body) or _SUPPOSED.search(body):
            doubtful = True
        if _CUES["denied"].search(body):
            # "It is not true that ...": whatever follows is denied too, reasons included.
            doubtful = denied = True
        found += _asserting(text, start, end, role, not doubtful and start >= taken_back)
    return _carried_back(text, found)


def _carried_back(text: str, found: list[Clause]) -> list[Clause]:
    """A subject before a parenthesis shares the fate of the predicate after it: "a lost key (of b) was ruled out"."""
    carried = list(found)
    for number in range(len(found) - 2):
        subject, aside, predicate = found[number : number + 3]
        opened = (
            text[aside.start : aside.end].startswith(" (")
            and text[predicate.start : predicate.start + 1] == ")"
        )
        if (
            opened
            and subject.asserted
            and not predicate.asserted
            and not _FINITE.search(text, subject.start, subject.end)
        ):
            carried[number] = replace(subject, asserted=False)
            carried[number + 1] = replace(aside, asserted=False)
    for number, (listed, said) in enumerate(pairwise(found)):
        # "command, image, selector: each of these was examined"
        if (
            listed.asserted
            and not said.asserted
            and text[said.start : said.start + 1] == ":"
            and text.count(",", listed.start, listed.end) > 1
            and not _FINITE.search(text, listed.start, listed.end)
        ):
            carried[number] = replace(listed, asserted=False)
    return carried


def _asserting(text: str, start: int, end: int, role: Role, asserted: bool) -> list[Clause]:
    body = text[start:end]
    remedy = _CUES["remedy"].search(body)
    if not asserted or remedy is not None:
        if asserted and remedy is not None:
            # "It is gone and has to be re-created": what stands before is another matter.
            told = [
                m
                for m in _ANOTHER_MATTER.finditer(body, 0, remedy.start() + 1)
                if _FINITE.search(body, 0, m.start())
            ]
            if told:
                middle = start + told[-1].start()
                return [*_asserting(text, start, middle, role, True), Clause(middle, end, role, False)]
        return [Clause(start, end, role, False)]
    cleared = _CUES["cleared"].search(body)
    if cleared is None:
        return [Clause(start, end, role)]
    # "The Service is gone, the pods are fine": what stands before the comma is another matter.
    before = [
        match
        for match in _ANOTHER_MATTER.finditer(body, 0, cleared.start())
        if _FINITE.search(body, 0, match.start())
    ]
    if before and not _CUES["denied"].search(body):
        middle = start + before[-1].start()
        return [Clause(start, middle, role), *_asserting(text, middle, end, role, True)]
    # "Although a and b are healthy, c ...": what follows the comma is another matter.
    stop = _ANOTHER_MATTER.search(body, cleared.end())
    if stop is None:
        return [Clause(start, end, role, False)]
    middle = start + stop.end()
    return [Clause(start, middle, role, False), *_asserting(text, middle, end, role, True)]


_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|got|gets|lost|lacks|misses|does|do|did|fails?|cannot|can't|points?|asks?|wants?|runs?|carr(?:y|ies)|forwards?)\b"
)
"""What makes words a sentence."""

_NAME_BEFORE = re.compile(r"@\w*(?: (?:service|deployment|pods?))?$")
_ANOTHER_MATTER = re.compile(r"[,:;] | (?:and|but|yet) ")


def _cut(text: str) -> list[tuple[str, int, int, Role]]:
    pieces: list[tuple[str, int, int, Role]] = []
    kind, start, role = "", 0, "plain"
    for match in _CUES["cut"].finditer(text):
        new = match.lastgroup or ""
        if match.group() in (" and ", ", ") and _NAME_BEFORE.search(
            text, max(0, match.start() - 40), match.start()
        ):
            # "geo and rate cannot start" is one clause.
            continue
        here: Role = role  # type: ignore[assignment]
        if new == "back" and role == "plain":
            here = "effect"
        if match.start() > start:
            pieces.append((kind, start, match.start(), here))
        kind, start = new, match.start()
        role = {
            "back": "cause",
            "effect": "effect",
            "hence": "effect",
            "fresh": "cause",
            "turn": "plain",
        }.get(new, here)
    pieces.append((kind, start, len(text), role))  # type: ignore[arg-type]
    return pieces
