"""Whether an account accuses or acquits: what it says of its subject after naming it, whatever the mechanism.

"The limit is 10Mi, and that leaves it ample room" states a limit and no fault. What acquits is said in words that evaluate
(it is meant to, fits, succeeds, is there), dismiss (plays no part) or doubt (take it with a grain of salt): a closed list of
English, independent of the mechanisms, which stands in ``polarity.toml``. It counts for the subject that was spoken of last.
"""

from __future__ import annotations

import re

from sregym_env.rewards.reading.cues import cues_of

_CUES = cues_of("polarity")

_NOT = re.compile(
    r"(?:\b(?:not|no longer|never|hardly|barely|no|nobody|nothing|neither|nor|without|none|than|only|cannot|too)|n't)(?: \w+){0,2} $|\bno (?:new )?pods?(?: [\w@-]+){0,7} $"
)

_NOWHERE = re.compile(
    r"\W*(?:(?:on|in|to|by|with|at) )?(?:nowhere|nothing|nobody|no|none|neither|only|badly|poorly|if|when|unless)\b"
)
"""What turns the words before it round: "the pod fits nowhere"."""

_GIVEN = re.compile(
    r"\W*(?:and |but |so |while )?(?:with|without|using|given|by|elsewhere|everywhere else|anywhere else"
    r"|(?:from|on|in|via|through|for) (?:the |all |any |every )?(?:others?|another|different|rest|elsewhere))\b"
)
"""Before what would do otherwise, or does elsewhere: "with false it works", "from other nodes it works"."""

_INVERTED = re.compile(
    r"^\W*(?:were|had|should|did|was) (?:the|an?|any\w*|some\w*|@|there|it|this|that|its|their|nobody|no)\b(?![^?]*\?)|^\W*(?:should|were|had) (?:\S+ ){1,3}(?:be|been|turn out|prove|have)\b(?![^?]*\?)"
)
"""A condition without "if"."""


def alternative(text: str) -> bool:
    """Whether a sentence, lower case, offers another guess for what was said before."""
    return _CUES["alternative"].search(text) is not None


def offers_two(text: str) -> bool:
    """Whether a sentence, lower case, offers a guess and another one for it."""
    return _CUES["alternative_within"].search(text) is not None


_BACK = re.compile(r"\b(?:it|this|that|either|them|these|those|both|neither|one)\b")
"""Points back at what was said."""


def disputes(text: str) -> bool:
    """Whether a sentence, lower case, denies what it says, or says that nothing supports it."""
    return _CUES["disputed"].search(text) is not None and _BACK.search(text) is not None


def leaning(text: str) -> bool:
    """Whether a sentence, lower case, doubts what it or the one before it says."""
    return any(form.search(text) is not None for form in (_CUES["leaning"], _INVERTED, _CUES["disputed"]))


def acquittals(text: str) -> list[tuple[int, int]]:
    """Where a sentence, lower case and with components masked, says that nothing is wrong with what was named."""
    found = []
    for match in _CUES["acquitted"].finditer(text):
        if match.end() == match.start():
            continue
        before = text[max(0, match.start() - 72) : match.start()]
        begin = max((mark.start() for mark in _MARK.finditer(text, 0, match.start())), default=-1)
        stop = min((end for mark in ",;:.)" if (end := text.find(mark, match.end())) >= 0), default=len(text))
        if (
            _NOT.search(before)
            or _CUES["other_time"].search(text, begin + 1, stop)
            or _NOWHERE.match(text, match.end())
            or _GIVEN.match(text, begin + 1)
        ):
            continue
        found.append(match.span())
    return found


_MARK = re.compile(r"[,;:.](?= )|\(")
_OF_THE_SAME = re.compile(r"\W*(?:it|this|that|they|which|these)\b(?! (?:pod|node|cluster)s?\b)")
_BEGIN = re.compile(r"[,;:.(] ?|\b(?:and|but|so|while|whereas|though|although|because|since) ")
_WITH = re.compile(r" (?:with|in|on|at|about|of|for) [^,;:.()]*")
_THING = re.compile(
    r"@|\b(?:pods?|deployments?|services?|containers?|process|programs?|servers?|databases?|nodes?|everything|everybody|all|others?|rest|users?|clients?|cluster|traffic|endpoints?|logs|metrics|alerts?|names?|connections?|images?|volumes?|data|"
    r"policy|policies|probes?|limits?|(?:node ?)?selectors?|(?:anti-?)?affinity|labels?|(?:host ?)?ports?|configmaps?|secrets?|claims?|webhooks?|accounts?|roles?|dns|quotas?|taints?|command|config\w*|flags?|keys?|memory|cpu|network|disks?|code|software|application|binary|hardware|kernel|scheduler|kubelet|manifest)\b"
)


def of_another(text: str, span: tuple[int, int], spoken_of: str) -> bool:
    """Whether the words before an acquittal, in its clause, name another thing than those spoken of."""
    begin = 0
    for match in _BEGIN.finditer(text, 0, span[0]):
        begin = match.end()
    if (same := _OF_THE_SAME.match(text, begin)) and begin <= span[0]:
        # "The selector ties it to a node, which is meant": of what stands before it, if that is something else.
        before = [match.group().rstrip("s") for match in _THING.finditer(text, 0, begin)]
        which = same.group().strip() == "which"
        return which and bool(before) and not any(name in spoken_of for name in before)
    # "Nothing is wrong with its code": what is well may be named after it.
    beside = _WITH.match(text, span[1])
    named = [
        match.group().rstrip("s")
        for match in _THING.finditer(text, begin, beside.end() if beside else span[1])
    ]
    return bool(named) and not any(name in spoken_of for name in named)
