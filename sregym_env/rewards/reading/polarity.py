"""Whether an account accuses or acquits: what it says of its subject after naming it, whatever the mechanism.

"The limit is 10Mi, and that leaves it ample room" states a limit and no fault. What acquits is said in words that evaluate
(it is meant to, fits, succeeds, is there), dismiss (plays no part) or doubt (take it with a grain of salt): a closed list of
English, independent of the mechanisms. It counts for the subject that was spoken of last.
"""

from __future__ import annotations

import re

_ADVERB = r"(?:really |actually |also |all |still |just |quite |perfectly |very |entirely |completely |exactly |certainly |clearly |simply |more than |already |even |indeed |now |always |both |equally |probably |of course )*"
_BE = r"(?:is|are|was|were|'s|'re|be|been|remains?|stays?|seems?|looks?|proved|turned out(?: to be)?)"

ACQUITTED = re.compile(
    # what is so is meant to be so
    rf"\b{_BE} {_ADVERB}(?:meant|intended|supposed|designed|allowed|permitted) (?:to(?! (?:be|have|listen|run|use|point|match|serve))|that way|like that|so\b|for (?:it|this|that))"
    rf"|\b{_BE} {_ADVERB}(?:(?:a|an|the) )?(?:accurate|appropriate|adequate|sufficient|enough(?! to)|plenty|ample|generous|intended|intentional|deliberate|legitimate|legit|proper|reasonable|acceptable|satisfied|satisfiable|consistent|compatible|in order|by design|on purpose"
    r"|harmless|benign|justified|reachable|true to|as (?:designed|intended|documented|wanted|desired|specified|planned|required|described)|what (?:it|they|we) (?:should|want|expect|need)\w*|within (?:bounds|limits|range|capacity)|not (?:short|low|tight|missing|gone|wrong|expired|cordoned|tainted|down)|nowhere near|far from (?:full|exhausted|its))\b"
    r"|\b(?:leaves|left|gives|gave|offers|has|had|have|with) (?:it |them |him |us )?(?:\w+ )?(?:ample|plenty|enough|sufficient|lots|generous|more than enough|room to spare|room)\b(?! (?:of )?(?:trouble|errors))(?<!not enough)(?<!n't enough)"
    r"|\b(?:plenty|ample|more than enough|generous)\b(?! of (?:trouble|errors))|\bno shortage\b"
    # it does what it should
    r"|\b(?:it|this|that|they|these|which|who|probe|check|image|pull|pod|node|claim|service|role|user|account|webhook|limit|selector|label|port|rule|entry|flag|name|policy|binding|one) (?:\w+ly )?(?:succeeds?|succeeded|passes(?! (?:over|out|away|through|traffic|connections|packets))|passed|fits|works(?! off)|worked(?! off)|resolves(?! to)|resolved(?! to)|complies|suffices|sufficed|behaves?|behaved|answered (?:fine|well|promptly|properly|straight|right)|matche[sd] (?:exactly|just|precisely|the right|what|its|all|one|two|three|his|their))\b"
    r"|\bgets? along\b|\bco-?exists?\b|\bside by side\b(?! (?:on|with) the same)|\bfits? (?:easily|comfortably|well|fine|in|there|onto|on)\b|\b(?:succeeds?|succeeded|passes|passed|answers|answered|responds|responded) (?:each|every|all the|at once|straight|within|promptly|in \d)|\b(?:got|gets?|gives?|receives?|received) (?:an? )?(?:\w+ )?(?:answer|reply|response|200|ok|pong)\b(?! (?:that|which|saying|only))"
    r"|\b(?:returns?|returned|answers? with|answered with|gives?|gave|yields?) (?:an? )?(?:http )?(?:code )?(?:200|ok)\b|\bcan be (?:pulled|scheduled|resolved|reached|mounted|read|placed|called|created|met|satisfied)\b(?! (?:on no|by no|no|nowhere))|\blets? (?:all|every|any)\w* (?:\w+ )?(?:traffic|connections?|requests?|through|pass)|\b(?:without|with no) (?:any |a )?(?:problem|issue|trouble|error|difficult|fault|hitch|delay|restart|complaint)\w*"
    # it is there
    r"|\b(?:it|that|this|they|which|both|one|user|role|account|secret|service|key|claim|config\w*|image|node|sa) (?:is|are|was|were|'s|has been|have been)(?: \w+ly)? (?:still |all |right |indeed |already |definitely |certainly )*(?:there|present|in place|available|defined|registered|set up|up and running|on the node|in the (?:registry|cache|namespace|cluster))\b(?!,? (?:but|though|yet|however))(?! (?:by|under|as|with the wrong|where|in)\b)"
    r"|\b(?:it|that|this|they|one) (?:still |does |do |did )(?:exists?|have|has|holds?|carr(?:y|ies)|keeps?|works?)\b(?!,? (?:but|though|yet))|\b(?:it|that|they|which|and) exists?\b(?! (?:but|yet|only|nowhere|not|no))(?!,? (?:but|though|yet|only))|\bstill (?:has|have|holds?|owns?|carr(?:y|ies)|contains?) (?!to\b|its old|the old|not\b|no\b)(?:\w+)|\b(?:isn't|is not|aren't|are not|wasn't|was not|hasn't been|have not been|haven't been|has not been|were not|weren't|never) (?:missing|gone|absent|deleted|removed|revoked|cordoned|tainted|expired|wrong|misconfigured|changed|dropped|throttled|blocked|too (?:low|high|small|large|tight)|short of|lacking|oom\w*)\b"
    r"|\b(?:nobody|no ?one|nothing)(?: has| was| had| were| is| ever| been| here| there)* (?:took|taken|removed|deleted|changed|touched|edited|revoked|dropped|wrong|altered|missing|lost|amiss|broke|broken)\b(?! (?:but|except|else|other))|\bno (?:container|pod|process|request|connection|query|write|read|lookup)s? (?:has|have|had|was|were|is|are|ever)(?: ever| been)* (?:been )?(?:oom\w*|killed|throttled|refused|denied|lost|rejected|dropped|restarted|blocked|evicted)\b"
    # it has no part in it
    r"|\b(?:play(?:s|ed)?|had|has|have|took|takes?) no (?:part|role|share|hand|bearing|influence|merit)\b|\bnothing to (?:answer for|do with|complain|see here|fix|repair|report|worry)\b|\b(?:no|any|without) (?:merit|relevance|bearing)\b|\birrelevant\b|\bimmaterial\b|\bbeside the point\b|\boff the (?:hook|table|list)\b|\bbeyond suspicion\b|\bexonerat\w+|\babove board\b|\bcan be (?:dismissed|ignored|crossed|discarded|excluded|set aside|struck)\b|\b(?:dismiss|discount|disregard)(?:ed|ing)? (?:it|this|that|them)\b|\bcross(?:ed|ing)? (?:it|this|that) off\b|\bcleared of\b"
    r"|\b(?:so|and|but|hence|therefore|thus|which|that|it|this|they|there) (?:(?:is|are|was|were|'s) not|isn't|wasn't|aren't|weren't) (?:our|the|what|where|why|an?) (?:[\w-]+ ){0,2}?(?:problem|culprit|issue|cause|reason|fault|story|explanation|suspect|hurts|fails|broke|broken|search\w*|look\w*|breaks)\b"
    r"|\b(?:isn't|is not|wasn't|was not|aren't|are not|cannot be|can't be|could not be|couldn't be) (?:it|what (?:hurts|fails|broke|breaks|we|is|happened|keeps|makes|caused|causes|kills|stops)|why|where|the (?:\w+ )?(?:one|story|reason|cause|culprit|problem|issue|fault|explanation|bottleneck)|our (?:\w+ )?(?:problem|issue|culprit|cause)|an issue|a problem|at fault|to blame|guilty|involved|responsible|behind)\b|(?:^|[.;,:] ?)not (?:it|the one|guilty|this|that|our \w+|the (?:\w+ )?(?:cause|culprit|problem|reason|issue))\W*(?:$|[.;,])"
    r"|\b(?:look|search|dig|keep looking|go) (?:elsewhere|somewhere else|further)\b|\bsame (?:errors?|failures?|symptoms?|result|behaviou?r) (?:with|without|after|before|when|even)\b|\bwould (?:rule|argue|speak) (?:it|this|that)? ?(?:out|against)\b|\bspeaks? against\b"
    # who says so errs
    r"|\b(?:is|are|was|were) (?:\w+ )?(?:mistaken|wrong (?:to|about|in)|in error|confused|misled|imagining|refuted|debunked|disproved|unfounded|baseless|groundless)\b|\b(?:does|do|did)(?: not|n't) (?:\w+ )?(?:match|fit|agree with|reflect|correspond|hold|stand up|survive|square|bear out)(?: \w+){0,6} (?:reality|facts?|evidence|scrutiny|inspection|up|what)\b|\bleave (?:it |this |that )?to others\b|\bcontrary to (?:its name|what|the|popular|first|that|some)\b|\b(?:myth|legend|rumou?r|hearsay|gossip)\b"
    r"|\b(?:that|this|the) (?:report|claim|story|theory|suspicion|idea|rumou?r|suggestion|hypothesis|assertion|allegation) (?:\w+ ){0,8}?(?:false|wrong|untrue|unfounded|not|no|does not|doesn't|did not|didn't|fell|collapsed|dead)\b"
)
"""Says of what was named that nothing is wrong with it, or that it is not the cause."""

_OTHER_TIME = re.compile(
    r"\b(?:before|earlier|previously|used to|until|originally|formerly|once|after|should|would|when|will|previous|old|former|again|afterwards|then on)\b"
)
"""What was so, or is to be so, acquits nobody."""

_NOT = re.compile(
    r"(?:\b(?:not|no longer|never|hardly|barely|no|nobody|nothing|neither|nor|without|none|than|only|cannot|too)|n't)(?: \w+){0,2} $|\bno (?:new )?pods?(?: [\w@-]+){0,5} $"
)

_NOWHERE = re.compile(
    r"\W*(?:(?:on|in|to|by|with|at) )?(?:nowhere|nothing|nobody|no|none|neither|only|badly|poorly|if|when|unless)\b"
)
"""What turns the words before it round: "the pod fits nowhere"."""

_GIVEN = re.compile(r"\W*(?:and |but |so )?(?:with|without|using|given|by)\b")
"""Before what would do otherwise: "with false it works"."""

_LEANING = re.compile(
    r"\b(?:i|we) (?:have|had|got) (?:a|the|this|an) (?:\w+ )?(?:feeling|hunch|inkling|impression|theory|suspicion|instinct|idea that)\b|\b(?:grain|pinch) of salt\b|\bwith salt\b|\b(?:most |more |very )?plausible\b|\bbest guess\b|\bworking (?:theory|hypothesis|assumption)\b|\b(?:i|we) (?:reckon|figure(?! out)|imagine|gather|bet|venture|presume|fancy)\b|\bi'd (?:guess|say|bet|wager|reckon|imagine|put)\b|\bi would (?:guess|say|bet)\b"
    r"|\b(?:has|have|had) (?:not|never|yet) (?:been )?(?:consulted|checked|verified|confirmed|looked at|inspected|examined|proven|queried)\b|\b(?:not|un)(?:-| )?(?:checked|verified|confirmed|proven)\b|\b(?:i |we )?(?:didn't|did not|haven't|have not|couldn't|could not) (?:list|look|check|inspect|verify|confirm|get to|query|prove|describe|dig|actually (?:look|check|see|test|verify))\b(?! (?:any|an?y other|other))"
    r"|\bpending (?:confirmation|verification|proof)\b|\btake your pick\b|\b(?:leave|left) (?:it |this |that )?(?:to|for|up to) (?:the|you|others|whoever|someone|somebody)\b|\bmay be (?:found )?(?:among|one of|either)\b|\bi leave\b|\btop suspect\b|\bprime suspect\b|\b(?:one|a|possible|likely|strong|good|best|main) candidate\b(?! (?:image|build|release))|\bsounds like\b|\bseems (?:as if|like|plausible|possible)\b|\bfeels like\b|\bcould well\b|\bworth (?:a |check|look|verif|ruling)|\bat a guess\b|\bone guess\b|\bif i had to\b|\bnot (?:proven|certain|conclusive)\b|\binconclusive\b|\bthen it is\b|\bor else it is\b|\bif not that\b|\bwould (?:fit|explain|match|account for|be consistent|do it|cause|produce)\b|\b(?:is|are|be) consistent with\b(?! the (?:logs|events))"
)
"""Doubts what was said."""

_INVERTED = re.compile(
    r"^\W*(?:were|had|should|did|was) (?:the|an?|any\w*|some\w*|@|there|it|this|that|its|their|nobody|no)\b(?![^?]*\?)"
)
"""A condition without "if"."""


_ALTERNATIVE = re.compile(
    r"^\W*(?:or(?! rather\b)|alternatively|otherwise|else|if not|failing that|either that)\b|\b(?:take your pick|one or the other|one of (?:the|these|those) two|whichever (?:you|it is|one)|which of (?:the|these|those|them)|either way it is)\b"
)
"""Offers another guess for the one before it."""

_DISPUTED = re.compile(
    r"\b(?:i|we|nobody|no ?one)(?: \w+){0,2} (?:dispute|contest|refute|rebut|deny|disagree|reject|refrain|retract|withdraw|decline|refuse to (?:say|believe|claim)|object)s?\b|\b(?:out of the question|not to be believed|cannot be said|can't be said|not the case|nothing (?:supports|suggests|speaks for|points to)|no basis|no substance|a fabrication|fiction|invented|made up)\b"
    r"|\b(?:is|are|was|were|be) (?:being |not )?(?:disputed|contested|refuted|hereby \w+|disputable|untenable|unproven|unfounded)\b|\b(?:no|without) (?:basis|foundation|proof|evidence)\b"
)
"""Denies what it says."""


def alternative(text: str) -> bool:
    """Whether a sentence, lower case, offers another guess for what was said before."""
    return _ALTERNATIVE.search(text) is not None


_BACK = re.compile(r"\b(?:it|this|that|either|them|these|those|both|neither|one)\b")
"""Points back at what was said."""


def disputes(text: str) -> bool:
    """Whether a sentence, lower case, denies what it says, or says that nothing supports it."""
    return _DISPUTED.search(text) is not None and _BACK.search(text) is not None


def leaning(text: str) -> bool:
    """Whether a sentence, lower case, doubts what it or the one before it says."""
    return any(form.search(text) is not None for form in (_LEANING, _INVERTED, _DISPUTED))


def acquittals(text: str) -> list[tuple[int, int]]:
    """Where a sentence, lower case and with components masked, says that nothing is wrong with what was named."""
    found = []
    for match in ACQUITTED.finditer(text):
        if match.end() == match.start():
            continue
        before = text[max(0, match.start() - 32) : match.start()]
        begin = max(text.rfind(mark, 0, match.start()) for mark in ",;:.(")
        stop = min((end for mark in ",;:.)" if (end := text.find(mark, match.end())) >= 0), default=len(text))
        if (
            _NOT.search(before)
            or _OTHER_TIME.search(text, begin + 1, stop)
            or _NOWHERE.match(text, match.end())
            or _GIVEN.match(text, begin + 1)
        ):
            continue
        found.append(match.span())
    return found


_BEGIN = re.compile(r"[,;:.(] ?|\b(?:and|but|so|while|whereas|though|although|because|since) ")
_THING = re.compile(
    r"@|\b(?:pods?|deployments?|services?|containers?|process|programs?|servers?|databases?|nodes?|everything|everybody|all|others?|rest|users?|clients?|cluster|traffic|endpoints?|logs|metrics|alerts?|names?|connections?|images?|volumes?|data|"
    r"policy|policies|probes?|limits?|selectors?|labels?|ports?|configmaps?|secrets?|claims?|webhooks?|accounts?|roles?|dns|quotas?|taints?|command|config\w*|flags?|keys?|memory|cpu|network|disks?)\b"
)


def of_another(text: str, span: tuple[int, int], spoken_of: str) -> bool:
    """Whether the words before an acquittal, in its clause, name another thing than those spoken of."""
    begin = 0
    for match in _BEGIN.finditer(text, 0, span[0]):
        begin = match.end()
    named = [match.group().rstrip("s") for match in _THING.finditer(text, begin, span[1])]
    return bool(named) and not any(name in spoken_of for name in named)
