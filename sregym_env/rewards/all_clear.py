"""Grading a free text where there is no fault: whether it says that nothing is wrong, of the whole, and blames nobody.

There is one thing to say, so it is all or nothing. Who looked at this and that, found it well and says so, or tells what
has passed by itself, is right all the same; who names a cause, accuses or suspects somebody, or leaves it open, is not.
"""

from __future__ import annotations

import re

from sregym_env.cluster.app import App
from sregym_env.rewards import checklist
from sregym_env.rewards.case import Case
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.names import names_of
from sregym_env.rewards.reading.account import Statement, read

_WHOLE = (
    r"(?:(?:the|this|our|its|all|all of|all the|every|whole|entire|overall|both) |of |@\w* )*(?:application|app|system|platform|cluster|environment|namespace|stack|everything|all|"
    r"services?|components?|workloads?|deployments?|pods?|microservices?|journeys?|users?|requests?|traffic|user traffic|things?)"
)
"""What is meant by everything. A plural or a singular alone may mean one of them: see :data:`_ALL`."""

_ALL = re.compile(
    r"\b(?:application|app|system|platform|cluster|environment|namespace|stack|everything|(?:all|every)\b.*)\b"
)

_ADVERB = r"(?:currently |presently |now |still |really |actually |fully |all |completely |perfectly |again |back |up and |running |being |at present |in fact )*"

_ABSENT = re.compile(
    r"\bnothing(?: here| there| at all| currently| now| really| actually| in (?:the|this) \w+)*(?:'s| is| was| are| seems| seems to be| appears| appears to be| looks| has been| has gone| had been)?(?: \w+ly| now| at present| currently)?"
    r" (?:wrong|broken|amiss|faulty|at fault|failing|misconfigured|unhealthy|out of order|to (?:fix|repair|diagnose|mitigate|report|correct|remedy))\b"
    r"|\b(?:there(?:'s| is| was| are| were)|i(?: have|'ve)?|we(?: have|'ve)?|find|found|see|saw|with|has|have|identified|detected|could find|conclusion:|diagnosis:|result:|verdict:|finding:|^)\s*(?:find |found |see |saw |identified |detected |had )*(?:currently |actually |really |at present |now )*"
    r"(?:no|not any|not a single|zero) (?:(?:sign|signs|evidence|trace|indication) of (?:a |an |any )?)?(?:(?:real|actual|active|ongoing|current|present|underlying|persistent|lasting|injected|genuine|remaining|open|live|root) )*(?:faults?|problems?|(?:root )?causes?|issues?|incidents?|outages?|defects?|misconfigurations?|anomal(?:y|ies)|failures?)\b"
    r"|\b(?:not|unable to|failed to|couldn't|didn't|can't|cannot) (?:find|see|identify|detect|discover|spot|reproduce) (?:any|a single|a) (?:(?:real|actual|active|ongoing|current|present|underlying|persistent|genuine|root) )*(?:faults?|problems?|(?:root )?causes?|issues?|incidents?|defects?|misconfigurations?|anomal(?:y|ies)|failures?)\b"
    r"|\bfalse alarm\b|\ball clear\b"
    r"|\bno (?:action|repair|fix|change|mitigation|intervention|remediation)s? (?:is |are |was |were )?(?:needed|required|necessary|called for|to be made|warranted)\b"
)
"""Says that there is no fault."""

_WELL = re.compile(
    rf"\b{_WHOLE} (?:is|are|was|were|looks?|seems?(?: to be)?|appears?(?: to be)?|works?|runs?|serves?|behaves?|functions?|operates?|remains?) {_ADVERB}"
    r"(?:healthy|fine|well|ok|okay|good|in order|normal|normally|as (?:it|they) should|as (?:intended|expected|designed)|operational|correctly|properly|sound|in good (?:health|shape|order))\b"
)
"""Says that everything is well."""

_BUT_FOR = re.compile(
    r"\W*(?:with|in|about|of|at|on|inside|within|for|from|wrong with) (?:the |its |this )?(?!(?:\w[\w@-]* ){0,2}(?:application|app|system|platform|cluster|namespace|environment|moment|present|time|all)\b)"
    r"|,? ?(?:but|except|other than|besides|beside|apart from|aside from|beyond|save|until|unless|if|when|yet|only|yesterday|earlier|before|initially|at first|last \w+|the day before)\b"
)
"""After it, what makes it less than the whole: "nothing is wrong with geo", "no fault but one"."""

_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot|can't|hardly|doubt|deny|untrue|wrong|false|neither|whether|if|unless|don't|doesn't|isn't|wasn't|far from|although|though|while|even if|as if|as though|until|once|before|should|would|will|used to)\b[^.;:,]{0,40}|n't [^.;:,]{0,30})$"
)
"""Before it, what takes it back."""

_CONDITION = re.compile(
    r"^\W*(?:if|unless|when|once|as long as|provided|assuming|suppose|supposing|whether)\b"
)
"""Begins a sentence that says what would be."""

_OPEN = re.compile(
    r"\b(?:possibl[ey]|perhaps|maybe|might|may|could(?! not)|probably|presumably|either|unless|unsure|must be|has to be|have to be|ought to be|not (?:sure|certain)|uncertain|unclear|inconclusive|suspect|guess|unknown|likely|not (?:been )?(?:checked|verified|ruled out))\b"
)
"""Leaves it open."""

_UNWELL = re.compile(
    rf"\b{_WHOLE} (?:is|are|was|were|does|do|did|has|have)(?:n't| not\b(?! affected)| {_ADVERB}(?:broken|down|failing|degraded|unhealthy|slow|unavailable|affected))"
)
"""Says that the whole is not well."""

_REPAIRED = re.compile(
    r"\b(?:i|we)(?: have|'ve)? (?:now |then |just |already )?(?:restarted|rolled|changed|fixed|scaled|deleted|patched|edited|set|corrected|restored|reverted|recreated|applied|removed|added|repaired)\b"
)
"""Tells of a repair: what was repaired was wrong."""

_PASSED = re.compile(
    r"\b(?:recovered|resolved|healed|cleared|subsided|passed|went away|gone (?:by|now|again|since)|is over|was over|has ended|brief(?:ly)?|transient(?:ly)?|temporar(?:y|ily)|short-lived|momentar(?:y|ily)|blip|self-heal\w*|by itself|on its own|harmless|benign|unrelated|expected|routine|no (?:effect|impact))\b"
)
"""Says of what is told that it is over, or harms nobody."""


def grade(diagnosis: str, app: App) -> Grade:
    """The grade of a text where nothing is wrong: all questions are answered alike."""
    reading = Case(tuple(read(diagnosis, names := names_of(app))), (), names, app)
    if reading.listing:
        return checklist.none("a list of guesses")
    said = next((each for each in reversed(reading.statements) if _clears(each)), None)
    if said is None:
        return checklist.none("does not say that nothing is wrong")
    if blamed := _blamed(reading, reading.statements.index(said)):
        return checklist.none(f"blames {', '.join(blamed)}")
    return checklist.all_or_none(True, said.text[:160])


def _clears(each: Statement) -> bool:
    """Whether a statement says of the whole that nothing is wrong."""
    if each.label == "quoted" or each.text.endswith("?") or _CONDITION.match(each.text):
        return False
    text = each.masked
    for pattern in (_ABSENT, _WELL):
        for match in pattern.finditer(text):
            if pattern is _WELL and _ALL.search(match.group()) is None:
                continue
            if "cause" in match.group() and "there" not in match.group():
                # Who has found no cause may not have looked well.
                continue
            before, after = text[: match.start()], text[match.end() :]
            if _BUT_FOR.match(after) or _DENIED.search(before[-60:]) or _OPEN.search(text):
                continue
            return True
    return False


def _blamed(reading: Case, cleared: int) -> list[str]:
    """What is claimed, and who is blamed for it, apart from what a search suspected before it was cleared."""
    found: list[str] = []
    for each in reading.statements:
        if each.label != "quoted" and (_UNWELL.search(each.masked) or _REPAIRED.search(each.text)):
            found.append("the whole")
        if each.label == "remedy":
            found += [f"{name}, to be repaired" for mention in each.mentions for name in mention.components]
    for claim in reading.claims:
        if not _told(reading, claim.statement, cleared):
            found.append(claim.key.replace("_", " "))
    for number, each in enumerate(reading.statements):
        if not _told(reading, number, cleared):
            found += reading.pointed_at(each)
            if each.label not in ("quoted", "cleared") and _OPEN.search(each.text):
                found += [f"perhaps {name}" for mention in each.mentions for name in mention.components]
    return list(dict.fromkeys(found))


def _told(reading: Case, number: int, cleared: int) -> bool:
    """Whether a statement tells of a search that ended in nothing, or of what is over."""
    each = reading.statements[number]
    return _PASSED.search(each.text) is not None or (number < cleared and reading.explores(number))
