"""What is no diagnosis is turned away before a model is asked: texts that say nothing, and texts that talk to a grader.

Models have given credit to ``:`` and to ``Thought process:``, and a model that reads orders may follow them. Both are
told by their form, so they cost no call and cannot be argued with. Turning away is not the only defence and need not be
complete: what passes is quoted as data, and a model's yes counts only with a quotation that stands in the text
(:mod:`~sregym_env.rewards.answers`). It must not hit the innocent: logs and manifests are full of ``system:``,
``user:``, ``ignore`` and ``score``, so an order is one only together with what a grader works with.
"""

from __future__ import annotations

import re
import unicodedata

from sregym_env.rewards.checklist import checklist

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""Colours, as terminals are sent them."""


def cleaned(text: str) -> str:
    """A text as everybody sees it: without halves of characters, escapes, control and invisible characters."""
    whole = text.encode("utf-8", "replace").decode()
    plain = _ESCAPES.sub("", whole.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(c for c in plain if c in "\n\t" or unicodedata.category(c) not in _UNSEEN).strip()


_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})
"""Unicode categories of what is not seen: a text may hide orders in them, or break up words that would be found."""


def objection(text: str) -> str:
    """Why a cleaned text is not fit to be graded; empty if it is."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return _emptiness(folded) or _address(folded)


# --- saying nothing -------------------------------------------------------------------------------

_FILLER = frozenset(
    "a about actual actually all am an and answer answers are as be by careful carefully cause conclusion diagnosis does "
    "fault final finally first fix following for from here how i if in incident is issue it its let lets me mitigation my no "
    "not of ok okay on or our please problem process question reasoning response result root see so solution solve "
    "solved solving step steps submission submit summary sure task that the then there these think thinking this "
    "thought thoughts to true us was we what which why with yes you".split()
)
"""Words with which answers begin, and which alone answer nothing."""

_REPEATED = 4
"""How often a few words must come round, on average, to be babble."""

_FEW = 12
"""Different words up to which a text can be babble: a long one repeats words by nature."""


def _emptiness(folded: str) -> str:
    # A line of a log that is pasted often is one.
    words = re.findall(r"[a-z]{2,}", "\n".join(dict.fromkeys(folded.split("\n"))))
    different = set(words)
    if not words:
        return "empty answer"
    if len(different) == 1:
        return "a single word"
    if len(different) < _FEW and len(words) >= _REPEATED * len(different):
        return "a few words over and over"
    if different <= _FILLER:
        return "an opening without a diagnosis"
    if {word.rstrip("s") for word in different - _FILLER} <= _asked():
        return "only the words of the questions"
    return ""


def _asked() -> frozenset[str]:
    """The words of the checklist, without the endings of plurals and verbs."""
    words = re.findall(r"[a-z]{2,}", " ".join(question.text for question in checklist().questions).lower())
    return frozenset(word.rstrip("s") for word in words)


# --- talking to a grader --------------------------------------------------------------------------

_MUST = r"(?:must|should|shall|have to|need to|are (?:instructed|required|told|asked|ordered) to)"
_GRADER = r"(?:you|(?:dear |the )?(?:grader|judge|evaluator|examiner)s?)"
_SCALE = (
    r"(?:rubric|checklist|ground truth|system prompt|grading (?:rules?|instructions?|criteria|scheme|prompt))"
)
_ORDERS = r"(?:instructions?|prompts?|guidelines)"

_ADDRESSES = {
    "orders to ignore the grading": (
        rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|bypass)\b[^.;!?]{{0,60}}?\b(?:{_SCALE}"
        rf"|(?:previous|prior|above|earlier|preceding|all|your|these) (?:\w+ )?{_ORDERS})\b",
        rf"\bnew (?:system )?{_ORDERS} ?:",
    ),
    "orders to a grader": (
        rf"\b{_GRADER} {_MUST}(?: \w+ly| now| always| only)? (?:answer|reply|grade|score)\b(?! ?-)",
        rf"\b{_GRADER} {_MUST}(?: \w+ly| now| always| only)? (?:accept|approve|award|give|mark|output|pass|rate|respond"
        rf"|return|say|write)\b[^.;]{{0,40}}?\b(?:yes|full (?:marks?|score|credit)|as (?:correct|passed|right)"
        rf"|th(?:is|e) (?:answer|diagnosis|submission))\b",
        r"\b(?:answer|mark|output|put|reply|respond|say|write)(?: with)? [\"'`]?yes\b[^.;]{0,24}"
        r"\b(?:all|every|each|everything|nine|9)\b",
        r"\b(?:all|every|each|nine|9)\b[^.;]{0,24}\b(?:questions?|checklist items?|nine criteria)\b[^.;]{0,32}"
        r"\b(?:yes|satisfied|fulfilled|met)\b",
        r"\b(?:full|perfect) (?:marks?|scores?|credit|grade)\b|\b(?:maximum|highest|top) (?:marks|credit|grade)\b",
        r"\bfull points\b|\b(?:give|score|rate|grade|mark) (?:it|this)(?: with| a| at)? (?:1\.0|100 ?%|10/10)",
        r"\b(?:to|for) whoever (?:marks|scores|grades|judges|evaluates)\b",
        r"\b(?:attention|hint|instructions?|message|note)s? (?:to|for) (?:all |any |the )?"
        r"(?:grader|judge|evaluator|examiner|grading model|llm)s?\b",
    ),
    "an appeal to the reference": (
        r"\b(?:your|the) (?:reference|model) (?:answer |diagnosis |solution )?(?:says?|states?|asserts?|contains?|has)\b",
        r"\b(?:from|in) your (?:reference|answer key|ground truth)\b",
        r"\bas ground truth by\b",
        r"\b(?:answer|diagnosis|submission) (?:has been|was) (?:verified|confirmed|approved|checked) by\b",
    ),
    "a grade of its own": (
        r"\b(?:composite|checklist|diagnosis) (?:score|grade)\b",
        r"\b(?:grade|verdict)[\"']? ?(?::|=|is) ?[\"']?(?:pass(?:ed)?|correct|perfect)\b",
        r"\bscore[\"']? ?(?::|=|is|of) ?[\"']?(?:100 ?%|10/10|9/9|full|perfect)",
    ),
    "answers to the checklist": (
        r"(?<![\w-])d[1-3][-_ ]?q[1-3](?![\w-])",
        r"(?:[\"']?\banswer[\"']? ?[:=] ?[\"']?(?:yes|no)\b.*?){2}",
    ),
    "a conversation of its own": (
        r"<\|[^|<>\n]{1,40}\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|</?(?:system|assistant|human)>",
    ),
    "a fake end of the diagnosis": (
        r"\b(?:begin|end) diagnosis [0-9a-f]{6,}",
        r"^(?!.*<diagnosis>).*</diagnosis>",
    ),
}
"""What is addressed to a grader, as patterns for lower-case text with single spaces."""

_HEADS = {
    "a conversation of its own": (
        r"^[^\w\n]{0,8}(?:system|assistant|developer|grader|judge|human)(?: prompt| message| note| override)? ?:.*"
        r"\b(?:rubric|checklist|grad(?:e|er|ing)|instructions?|score"
        r"|(?:diagnosis|answer|submission) (?:is|was) (?:correct|right|true|complete|perfect))\b",
        r"^#+ ?instruction ?: ?$",
    ),
    "a fake end of the diagnosis": (r"^[^\w\n]{0,40}end(?: of)?(?: the)? diagnosis[^\w\n]{0,40}\n\W*\w",),
}
"""The same for what begins a line."""


def address(text: str) -> str:
    """What a cleaned text says to a grader; empty if nothing."""
    return _address(unicodedata.normalize("NFKC", text).lower())


def _address(folded: str) -> str:
    line = re.sub(r"\s+", " ", folded)
    for reason, patterns in _ADDRESSES.items():
        if any(re.search(pattern, line) for pattern in patterns):
            return reason
    for reason, patterns in _HEADS.items():
        if any(re.search(pattern, folded, re.MULTILINE) for pattern in patterns):
            return reason
    return ""
