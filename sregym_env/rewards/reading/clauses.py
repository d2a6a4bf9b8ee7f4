"""Clauses: how a sentence is cut at its connectives, and which of its clauses assert something.

What is negated, hedged, asked, supposed, proposed or cleared asserts nothing, whatever it mentions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

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


_CUT = re.compile(
    r"(?P<hence>\b(?:because of|due to|owing to|as a result of|on account of) (?:this|that|it)\b(?! \w+ (?:is|was|has)\b))|(?P<back>\bbecause(?: of)?\b|\b(?:cuz|coz|bc|b/c)\b|(?<!the )(?<!root )(?<!root-)(?<!that )(?<!and )\bcause(?= (?:the|its|it|there|somebody|someone|of|@\w*) )| <- |\bfor (?:lack|want) of\b|\bdue to\b|\bcaused by\b|\bas a result of\b|\bowing to\b|\bstem(?:s|ming|med)? from\b|\bresult(?:s|ing|ed)? from\b"
    r"|\bcom(?:es?|ing) from\b|\btraced (?:back )?to\b|\battributable to\b|\bthanks to\b|\bon account of\b|\bgiven that\b|\bsince\b|, for (?=\w)|\btriggered by\b|\bbrought about by\b"
    r"|\bas(?= (?:the|its|it|all|no|nothing|every|they|their|there|somebody|someone|a|an|@\w*) )|, as )"
    r"|(?P<effect>,? ?\bso(?: that)?(?= (?!that)[\w/@])(?! (?:called|far|few|many|much|low|small|high)\b)|\btherefore\b|\bhence\b|\bthus\b|\bthereby\b|\bconsequently\b|\baccordingly\b|\bas a (?:result|consequence)\b|\bwhich is why\b"
    r"|\b(?:(?:which|that|this|it|and)(?: then| in turn| now| also)? )?(?<!what )(?:causes?|causing|caused(?! by)|leads? to|leading to|led to|results? in|resulting in|resulted in|(?:makes?|making|made)(?= (?:it|them|him|her|the|its|all|every\w*|any|sure|@\w*|\w+s) )|breaks|breaking|broke"
    r"|prevents?|preventing|prevented|affects|affecting|leaves|leaving|brings? down|takes? down|took down|knocks? out|propagat\w+ to|cascad\w+ (?:to|into)|means|meaning|explains|explaining)\b"
    r"|\bdownstream\b|\bin turn\b)"
    r"|(?P<fresh>\b(?:the )?(?:actual |true |real |underlying )?root[ -]causes?(?: of [^:,.]{0,60}?)?(?: is| was| are|:|=)|\bthe (?:culprit|origin|fault|problem|issue)(?: here)?(?: is| lies| was|:|=))"
    r"|(?P<turn>,? ?\b(?:but|while|whereas|although|though|however|yet|nevertheless|except that|unlike)\b| - | \u2014 | \u2013 |: |; )"
    r"|(?P<same> -> |, (?=@\w* (?!and\b|or\b|both\b|all\b|@)\w)|, (?:and|which|whose|who|where|when|then)\b| \(|\)|, (?=(?:its|it|they|all|no|nothing|users|clients)\b)|(?:, | and )(?=(?:the )?(?:@\w*|it|they|its \w+|\w+|\w+ [+&] \w+) (?:\w+ )?(?:is|was|are|were|has|had|cannot|can't|fails|carr\w+|does|do|never|runs?|waits?|hangs?|exits?|dies|crash\w*|asks?|stays?|reports?)\b))"
)

_HEDGED = re.compile(
    r"\b(?:might|may(?= (?:be|have(?! to\b)|well|also|just|explain|cause|indicate|point|mean|come|stem|result|lie|suggest)\b)|could(?! not|n't)|perhaps|maybe|possibly|probably|presumably|likely|suspect\w*|suspicion\w*|guess(?! what)\w*|hypothes\w+|potentially|conceivabl\w+|plausibl\w+"
    r"|possible (?:cause|reason|explanation|that|culprit)|not (?:\w+ )?(?:sure|certain|clear)|unsure|uncertain|unclear|unconfirmed|speculat\w+|i (?:wonder|assume|presume)|one of (?:these|the following|several|them)(?! (?:is|are|has|have|loses?|fails?|crash\w*|dies|cannot|can't|gets?|always|then|was))"
    r"|either(?! (?:database|pod|workload|direction|one|node|end|copy|of|side|way|service|component|end|container|deployment))|can(?:no|')t (?:tell|say|confirm|verify|decide)|could(?: not|n't) (?:tell|say|confirm|verify|determine|decide|establish|rule out)"
    r"|(?:some|any) (?:kind|sort) of|smells? like|looks? like it (?:might|may|could)|chances are|as if|supposedly|seemingly|prolly|prob|probs|mebbe|gut feeling|my gut|i'd wager|idk|dunno|imagine|or something|something like (?:that|it)|not 100 ?%|tbc|tbd|might've|could've|in all likelihood|presumptive|tentative\w*|circumstantial|educated guess)\b"
)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|assuming|suppos(?:e|ing)|provided(?: that)?|in case|in the event|were to|were it|should it|had (?:@\w*|it|the \w+) been|would)\b"
)
_TAKEN_BACK = re.compile(
    r"\b(?:this|that|it|which) (?:is|was|'s) (?:what|only what|just what) (?:\w+ )?(?:claimed|said|thought|claims|says|thinks|believes|believed)\b|\b(?:it|this|that) (?:is|was) (?:false|untrue|not true|not so|not the case)\W*$"
    r"|\b(?:i|we) (?:have )?(?:ruled|rule) (?:it|this|that|them) out\b|\bso (?:there is |it is )?no (?:conflict|problem|issue)\b|\bno change, so\b|\bnone of (?:this|that|it|these|which) (?:\w+ )?(?:happened|is|was|took|applies|holds)\b|\b(?:did not|didn't|never) (?:\w+ )?happen(?:ed)?\b|\b(?:cannot|can't|could not|couldn't) (?:\w+ )?(?:be|have been) (?:the|a|its|our|what) (?:\w+ )?(?:reason|cause|culprit|problem|explanation|causes)\b"
    r"|\b(?:that|this|it|which|they) (?:is|was|are|were)(?: not|n't) (?:the|a|our|its) (?:\w+ )?(?:cause|reason|culprit|problem|explanation|issue)\b|\bnothing (?:at all )?(?:is|was) (?:the matter|amiss)\b|\b(?:is|was|are) (?:mistaken|in error|misinformed)\b|\b(?:has|have|had|was|were)(?: been)? (?:since |already |long )*(?:repaired|fixed|reverted|corrected)(?: since| long ago| already)?, (?:so|and)\b"
)
_DOUBTED_WHOLE = re.compile(
    r"^\W*(?:it (?:has been|had been|was|is)|(?:some|people|others|they|colleagues) (?:have |had )?)(?: (?:also|sometimes|often|widely|first))? ?(?:said|say|claimed?|alleged|suggested|argued?|asserted|rumou?red|reported by some)\b"
    r"|"
    r"^\W*(?:(?:or|and|but|so|also|then)\W+)*(?:perhaps|maybe|possibly|conceivably|presumably|probably|either)\b"
    r"|\b(?:at first|initially|first|originally|earlier) (?:i|we) (?:thought|assumed|believed|suspected)\b|\b(?:i|we) (?:first |initially |originally )?(?:thought|assumed|believed) (?:at first |first |initially )?that\b"
    r"|^\W*(?:(?:my|the|our) )?(?:first|second|third|fourth|next|another|other|initial) (?:theory|guess|idea|suspect|suspicion|hypothesis|thought|bet|candidate|assumption)\b|^\W*my (?:first|second|third|next|other) (?:was|is|one)\b"
    r"|^\W*(?:first|second|third|fourth|next): |^\W*(?:i |we |also |then |first |next )*(?:checked|looked at|looked into|inspected|examined|reviewed|verified|went through|considered|compared|excluded|ruled out|tried|thought of|thought about)\b(?!.*\b(?:found|which|saw|turned out)\b)"
    r"|\b(?:i|we) (?:first |initially )?(?:thought|suspected|wondered|considered) (?:first )?(?:of|about)\b|\b(?:rumou?r|idea|notion|story|belief|assertion|allegation|suggestion|suspicion|theory|hypothesis) (?:is |was )?that\b|\b(?:whoever|anyone who|anybody who|those who|people who|everyone who) (?:\w+ )?(?:says?|claims?|thinks?|believes?|blames?|said)\b|\bin case\b|\bif\b(?! (?:asked|addressed|called|one|you|any|not|nothing))|^\W*(?:in case|were it|suppose|supposing|should (?:it|the|@\w*))\b|\bif it (?:turns|turned|should turn) out\b|\b(?:would|could|might) explain\b|\bprovided that\b|\bassuming\b"
)
_DENIED = re.compile(
    r"\b(?:it|that|this|which) (?:is|was|'s) (?:not (?:true|the case|so|that|correct)|false|untrue|unlikely|impossible)\b|\b(?:it|this) (?:is|was) wrong (?:that|to)\b|\b(?:do|does|did|don't|doesn't|didn't)(?: not)? (?:think|believe|see|find|suspect|suggest|indicate|notice|show)"
    r"\b|\b(?:no|without|any|not any|little) (?:evidence|signs?|indication|proof|trace|reason to)\b|\bnothing (?:suggests|indicates|points to|shows)\b|\bfar from\b|(?:\bnot|n't) (?:saying|blaming|claiming|suggesting|accusing)\b|\b(?:i|we) (?:\w+ ){0,2}?(?:do not|don't|did not|didn't|am not|are not|would not|wouldn't|will not|won't|never|cannot|can't|could not|couldn't) (?:\w+ ){0,2}?(?:say|saying|claim\w*|blam\w*|suggest\w*|accus\w*|assert\w*|maintain\w*|mean|imply\w*|conclud\w*|suspect\w*|insinuat\w*|think\w*|believ\w*)\b"
    r"|\b(?:nobody|no ?one) (?:\w+ ){0,2}?(?:says?|said|claims?|claimed|blames?|believes?|thinks?|suggests?|would|should)\b|\bfar be it\b|\bby no means\b|\bin no way\b|\b(?:certainly|definitely|absolutely|surely|clearly|obviously) (?:not|isn't|wasn't|no)\b|\bnot at all\b|\b(?:is|was|be) (?:\w+ )?(?:nonsense|absurd|ridiculous|a fairy tale|hearsay)\b"
    r"|\bit would be (?:\w+ )?(?:wrong|a mistake|unfair|absurd|premature|false|hasty)\b|\bfails? to convince\b|\b(?:neither|none) of (?:this|that|these|which) (?:is|was|applies|holds)\b|\beasy to (?:say|think|blame|claim|conclude|believe)\b|^\W*(?:forget|scratch|strike|never ?mind)\b|\bi (?:reject|deny|doubt|exclude|excluded|rejected)\b|\bnot because\b|\bit is a (?:myth|lie)\b"
    r"|\b(?:can|could|have|to|i|we)(?: be)? ruled? out (?:that|the|a|an|any)\b|\bnobody should (?:say|think|believe|conclude)\b|\b(?:wrong|mistake|misleading|tempting|incorrect) to (?:say|think|believe|conclude|claim)\b"
    r"|\bcontrary to\b|\bunlikely\b|\bdoubt(?:ful)?\b|\b(?:can|could) be (?:ruled out|excluded)\b|\bfalsely\b|\ballegedly\b|\bis (?:disproved|refuted|false|not true)\W*$"
)
_CLEARED = re.compile(
    r"\b(?:is|are|was|were|be|been|looks?|looked|seems?|seemed|appears?|appeared|remains?|stays?|works?|worked|runs?|ran|running|behaves?|behaved|feels?|there is|there's|doing|serves?)"
    r"(?: the| \w+ly| also| all| both| still| now| itself| themselves| just| all of them| very| quite| each)* (?:healthy|fine|ok|okay|normal\w*|unaffected|innocent|clean|good|sound|intact|correct\w*|right\w*|well|unchanged|unrelated|irrelevant|harmless|benign|routine|expected|up to date|untouched|as (?:it|they) should be|as expected"
    r"|valid|standard(?: one)?|usual(?: one)?|default(?: one)?|coincidental|a coincidence|a red herring|red herrings|planned|without (?:problems?|issues?|errors?|trouble)|problem-free|nominal|operational|perfect\w*|victims?|bystanders?|downstream victims?"
    r"|not (?:(?:the|a|an|at|in|to|itself|really|actually|also|part of|in any way) )*(?:root |actual |real |true )?(?:cause|causes|culprit|culprits|problem|issue|fault|faulty|origin|blame|responsible|involved|broken|related|wrong|misconfigured|relevant|affected|guilty|reason))\b(?! is\b)"
    r"|(?:, |: |\()(?:correct|fine|ok|okay|healthy|as expected|good|normal|no|nope|negative|clean|intact|no issues?|not guilty|innocent|excluded|unremarkable|all good)(?=[,;.)]|$)|(?<!not )(?<!n't )(?<!nothing )(?<!never )\b(?:as|where) (?:it|they) (?:should|ought|was|were|belongs?)\b|\bas before\b|^\W*(?:it(?:'s| is| was) |this is )?not (?:the|a|an|its|because of|due to)\b|\bnot this one\b|^[\"'(]?(?:please |you should |one should )?(?:do not|don't|never|not to) [a-z]+\b|\b(?:isn't|is not|wasn't|was not) from\b|\bexists?(?=,? (?:but|and|yet)\b)|\bunaffected\b|\b(?:ruled?|ruling) (?:\S+ ){0,6}out\b|\bnothing (?:is |was |else is |seems )?(?:wrong|unusual|suspicious|amiss)\b|\b(?:no|without|any) (?:\w+ )?(?:issues?|problems?|faults?|errors?|trouble|anomal\w+|role|part|connection) (?:with|in|on|at|for|to|there)\b"
    r"|\b(?:only|merely|just|simply|is|are|as|are all|are just|all|but) (?:a |an |the |its |other )*(?:downstream |innocent |collateral |secondary )*(?:victims?|symptoms?|bystanders?|consequences?|casualt\w+)\b|\bvictims? (?:of|only)\b|\b(?:not|n't) (?:caused by|the fault of|due to|to blame|at fault|involved|a factor)\b"
    r"|\bunrelated\b|\bred herrings?\b|\binnocent\b|\bharmless\b|\bexonerat\w+\b|\bcleared\b|\bnothing to do with\b|\b(?:had|has|have) no (?:effect|bearing|influence|impact|part|role|connection)\b|\bcoincidence\b|\bsuffers? (?:from it |only |too |as well )?(?:although|though|as|because)\b"
    r"|\b(?:i |we |also |then |first )*(?<!is )(?<!are )(?<!was )(?<!gets )(?:checked|looked at|looked into|inspected|examined|reviewed|verified|went through|considered|compared|excluded)\b(?!.*\b(?:and (?:found|saw|it|its)|found|which)\b)|\bdoes(?: not|n't) (?:explain|matter|cause|contribute)\b|\bdid(?: not|n't) (?:cause|matter|contribute|change)\b"
    r"|\bno (?:other|further|additional|more) (?:\w+ )?(?:causes?|faults?|problems?|issues?|component\w*|objects?)\b"
)
_REMEDY = re.compile(
    r"^(?:\W|please |then |finally |first |next |simply |just |to fix(?: it| this)?,? )*(?:set|change|restore|patch|fix|revert|roll ?back|re-?create|add|grant|update|correct|uncordon|untaint|edit|apply|undo|create|increase|raise|lower|delete|remove|scale|redeploy|point|replace|put|give|rename|reset|repair|recommend(?:ed|ing|s)?|suggest\w*|kubectl (?:scale|edit|patch|set|apply|delete|rollout|create|replace|label|annotate|uncordon|taint))\b"
    r"|\b(?:should|must|needs? to|has to|have to|ought to) be (?:\w+ )?(?:set|changed|restored|patched|fixed|reverted|rolled|recreated|re-created|added|granted|updated|corrected|removed|deleted|raised|lowered|increased|reduced|scaled|replaced|pointed|edited|given|put|uncordoned|repaired|adjusted|repointed)\b"
    r"|\bto (?:fix|repair|resolve|remedy|mitigate|restore|recover)\b|\b(?:restoring|reverting|rolling back|setting|fixing|the (?:fix|remedy|repair|solution|mitigation) (?:is|would|:))\b"
)
_UNKNOWN = re.compile(
    r"\b(?:the |real |actual |true |root )*causes? (?:(?:is|are|remains?|lies|must be|has to be)(?: still| yet| to be| simply)* (?:unknown|unclear|open|found|elsewhere|something else|another one|somewhere else|not (?:yet )?(?:known|clear|found)))"
    r"|\bi (?:still )?(?:do not|don't) know (?:the|what the|what is the) (?:real |root |actual )?cause\b"
)
_OPEN = re.compile(
    r"(?<!had )(?<!has )\b(?:no|not a|haven't a|without a|not the faintest|any) (?:clue|idea)\b(?! (?:who|whose|when|how (?:it|this|that)))"
    r"|\b(?:i|we) (?:have(?: not|n't)|had(?: not|n't)|did(?: not|n't)|could(?: not|n't)|can(?:not|'t)|(?:was|were|am|are) (?:not able|unable) to|(?:have|had) (?:not )?been (?:un)?able to|(?:have|had) yet to)"
    r"(?: \w+){0,3}? (?:look(?:ed)?|check(?:ed)?|verify|verified|find out|found (?:out|what|the)|tell|say|decide|narrow\w*|determined?|got it|pin\w*|confirm(?:ed)?|established?|prove[dn]?|had (?:a chance|time))\b(?! (?:who|when|any(?:thing)? (?:else|other|more)))"
    r"|\b(?:to be|needs? to be|has to be|have to be|should be|remains to be|yet to be) (?:verified|checked|confirmed|looked (?:at|into)|investigated|proven|established)\b"
    r"|\b(?:worth|deserves) (?:a )?(?:check\w*|look\w*|verif\w*|investigat\w*)|\b(?:first|next|only|best) thing to (?:check|look|verify)"
    r"|\b(?:will|i'd|i would|let's|lets|let us|someone|somebody|anyone|anybody|please|pls|plz)(?: \w+){0,4}? (?:check|verify|look into|look at|take a look|confirm|have a look)\b"
    r"|\b(?:looking|look|search(?:ing)?) elsewhere\b|\b(?:cause|problem|reason|trouble|fault|failure|whatever \S+ \S+(?: \S+)?|it|inability)(?: \S+){0,5}? (?:lies|must lie|is|must be|comes?(?: from)?|must come from|has to come from) (?:in |at |from )?(?:elsewhere|something else|somewhere else|another place)"
    r"|\b(?:something|smth|sth) else (?:is|must be|has to be|broke|causes)|\b(?:remains?|is|stays?|are|still) (?:\w+ )?(?:unexplained|a mystery|a riddle|unsolved)\b|\bunexplained$"
    r"|\b(?:leave|left|leaving) (?:\S+ ){0,4}?open\b|\b(?:cause|question|verdict|matter|issue) (?:remains|stays|is)(?: still)? open\b|\bopen question\b|^\W*(?:one of (?:those|these|the two|two|them)|one or the other)\W*$|, one or the other\W*$"
    r"|\b(?:more|further) (?:data|evidence|investigation|information|logs?|digging|work|analysis) (?:is |are )?(?:needed|required|necessary)\b|\bout of time\b|\bconfidence\W+(?:is )?(?:low|medium|moderate|none|[1-6]\d? ?%)"
    r"|\b(?:i|we) (?:\w+ )?(?:lean|bet|gamble)\b|\bmy (?:money|bet) is on\b|\bcause (?:not (?:found|known|established)|unknown|undetermined)\b|\b(?:undetermined|inconclusive)\b|\bstill (?:searching|looking|investigating|digging|puzzled|in the dark)\b|\bkeep (?:looking|searching|digging)\b|\b(?:i'm|i am|we are|we're|am|are) (?:stuck|at a loss|puzzled|baffled|stumped|out of ideas|in the dark)\b|\bout of ideas\b|\bcame up empty\b|\bbeats me\b|\bno (?:leads?|explanation|answer|solution|finding|verdict|conclusion)(?: yet| so far| for it| for this)?\W*$"
    r"|\b(?:investigation|search|analysis|hunt) (?:continues|goes on|is (?:still )?(?:ongoing|open|running)|ongoing)\b|\bnot (?:yet )?found (?:the|its|a|any|out)(?: \w+)? (?:cause|reason|culprit|why|explanation)\b|\b(?:didn't|did not|couldn't|could not|haven't|have not) f(?:ind|ound) (?:the|its|a|any|out)(?: \w+)? ?(?:cause|reason|culprit|why|explanation|fault|defect|problem)\b"
    r"|\bhand(?:ing|ed)? (?:it |this )?over (?:to|without)\b|\b(?:do not|don't) know (?:yet )?(?:why|what|where|which)\b(?! (?:for|did|made|changed|deleted|caused the (?:change|edit)))|\b(?:real |root |actual )?cause:? (?:not found|unknown|unclear|open|tbd|\?)"
)
"""The account leaves open what the cause is."""
_META = re.compile(
    r"\b(?:nobody has (?:looked|checked|verified)|(?:i|we) (?:did not|didn't|have not|haven't) (?:get round to|look|check|verif)\w*|(?:it|that|this) (?:is|was|'s|turned out)(?: to be)? not so\b|(?:it|that|this)(?: is|'s)?n't so\b|it'sn't so\b|(?:cannot|can't|could not|couldn't) decide\b|(?:am|was|'m|are|is)(?: \w+)? (?:not (?:\w+ )?(?:sure|certain|confident)|unsure|uncertain|guessing|speculating|unproven|unverified|unconfirmed)|could(?: not|n't) (?:\w+ )?(?:confirm|verify|tell|prove|determine|establish)"
    r"|can(?:no|')t (?:tell|confirm|say|verify|prove)|(?:just|only|merely|pure) (?:a |my )?(?:guess\w*|hunch|hypothes\w+|speculation|theory|idea)|i (?:may|might|could) be wrong|don't know|do not know|not confirmed|no idea|needs? (?:more )?(?:investigation|confirmation)|none of (?:this|that|the above) is (?:certain|true|confirmed|so)"
    r"|\b(?:forget|ignore|scratch|strike) (?:that|what|it|everything|all)\b|\bnever ?mind\b|\bi (?:take|took) (?:it|that|this|all that) back\b|\bi withdraw\b|^\W*not (?:that|it|this|him|her)(?: one)?\W*$|^(?:\W*)(?:no|not really|that is not so|not so|i do not think so|i don't think so|just kidding|wrong|false|not true)(?:[.!,]|$)|(?:the above|this|that) (?:is|was|may be|might be) (?:false|not true|untrue|incorrect|a lie|a joke|a guess|speculation|only a guess)|the above (?:is|was) wrong)"
)


_DOUBTFUL_HEAD = re.compile(
    r"\b(?:if|suppose|supposing|assum\w+|guess\w*|hunch|theor(?:y|ies)|hypothes\w+|assumptions?|suspicions?|speculat\w+|possibilit(?:y|ies)|possible|maybe|perhaps|possibly|probably|presumably|might|could(?! not|n't)|would|conceivabl\w+|"
    r"isn't (?:this|that|it|so|true)|wasn't (?:this|that|it|so|true)|unconfirmed|unverified|untested|unproven|disproved|refuted|excluded|ruled? out|untrue|rumou?rs?|myth|denied|not (?:true|so|the case|this|that|it|happen\w*|what)|n't (?:true|so|the case|this|it|happen\w*))\b"
)
_HEAD = re.compile(r"^[^:;]{1,90}?:(?= )")


def announces_doubt(sentence: str) -> int:
    """How many characters of a sentence announce that what follows is no assertion: "My hunch: ...", 0 if it does not."""
    if "the following" in sentence and _DOUBTFUL_HEAD.search(sentence):
        return len(sentence)
    head = _HEAD.match(sentence) or (re.fullmatch(r".{1,90}:", sentence))
    if (
        head is None
        or len(head.group().split()) > _LONGEST_HEAD
        or _DOUBTFUL_HEAD.search(head.group()) is None
    ):
        return 0
    return head.end()


_LONGEST_HEAD = 10
"""Words in which something is announced at most."""

_WITHDRAWN = re.compile(
    r"^\W*(?:(?:but|and|so|no|nope|i checked|at least|or|well|still|though|although|all)\W+)*(?:(?:that|this|it|all this|the above|this theory|that theory|the theory|my theory|everything|that hypothesis|this hypothesis)(?:'s| is| was| has| did| does| would| might| may| could| cannot| can't| turned| will| isn't| wasn't| hasn't| didn't)\b.{0,60}?"
    r"\b(?:wrong|incorrect|false|untrue|disproved|refuted|excluded|ruled out|not (?:so|it|true|the case|verified|confirmed|proven|certain)|so|guess|theory|hypothesis|assumption|speculation|possibility|thought|believed|confirmed|verified|hold(?: up)?|out|conjecture|idea|fine|repaired(?: since)?|fixed(?: since)?|claims?|reported)\b"
    r"|or so i \w+|(?:i|we) (?:have |had |then |since |later )*(?:excluded|ruled out|disproved|refuted|rejected|dismissed|discarded|dropped|checked) (?:this|that|it)|(?:i|we) (?:have |had )*(?:not|never) (?:verified|checked|confirmed|tested)|(?:i|we) (?:haven't|didn't|hadn't|couldn't) (?:verif\w+|check\w*|confirm\w*|test\w*)|(?:i|we) (?:first |initially |at first )(?:believed|thought|assumed)"
    r"|(?:not|un|to be|yet to be|still to be|needs to be|never) ?(?:verified|confirmed|proven|tested|checked)|disproved|refuted|false alarm|provided that|(?:assuming|if|unless|as long as) (?:nobody|nothing|no ?one|this|that|it|the above)|speculat\w+|\(speculation\)|(?:only |just |merely |pure )?(?:a |my )?(?:guess|hunch|speculation|conjecture|theory|hypothesis)"
    r"|\d\d? ?(?:%|percent)(?: sure| certain| confident\w*| likely)?|(?:could|may|might)(?: also| just as well| as well)? be|or (?:it|perhaps|maybe|something|else)|perhaps not|maybe not|i (?:may|might|could) be|is that so)\b"
)
_SHORT = 18
"""Words in which an account is taken back at most."""


def withdraws(sentence: str) -> bool:
    """Whether a sentence takes back all that was said before, and says nothing else: "That theory did not hold up." """
    return (
        len(sentence.split()) <= _SHORT
        and "@" not in sentence
        and _WITHDRAWN.search(sentence) is not None
        and not re.search(r"\b(?:who|whose|when)\b", sentence)
    )


def repairs(text: str) -> bool:
    """Whether a clause tells what is to be done."""
    return _REMEDY.search(text) is not None


def retracts(sentence: str) -> bool:
    """Whether a sentence takes back the one before it: "I am not sure." """
    return _META.search(sentence) is not None


def knows_nothing(sentence: str) -> bool:
    """Whether a sentence says that the cause is not known, or another than all that was said."""
    return _UNKNOWN.search(sentence) is not None or _OPEN.search(sentence) is not None


def clauses(text: str) -> list[Clause]:
    """The clauses of a sentence, in lower case and with components masked."""
    question = text.rstrip(" \"')").endswith("?")
    pieces = _cut(text)
    found: list[Clause] = []
    taken_back = max((match.start() for match in _TAKEN_BACK.finditer(text)), default=0)
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
        if _DOUBTED_WHOLE.search(body):
            # "Perhaps a fails because b": the doubt reaches over the reason.
            doubtful = whole = True
        if _HEDGED.search(body) or _SUPPOSED.search(body):
            doubtful = True
        if _DENIED.search(body):
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
    return carried


def _asserting(text: str, start: int, end: int, role: Role, asserted: bool) -> list[Clause]:
    body = text[start:end]
    remedy = _REMEDY.search(body)
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
    cleared = _CLEARED.search(body)
    if cleared is None:
        return [Clause(start, end, role)]
    # "The Service is gone, the pods are fine": what stands before the comma is another matter.
    before = [
        match
        for match in _ANOTHER_MATTER.finditer(body, 0, cleared.start())
        if _FINITE.search(body, 0, match.start())
    ]
    if before and not _DENIED.search(body):
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
    for match in _CUT.finditer(text):
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
