"""From a text as handed in to passages: prose, with what its heading, label or JSON key makes of it.

Tables, manifests, events and logs that were copied are no prose and assert nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sregym_env.rewards.reading import output

MAX_CHARS = 8_000
"""A diagnosis is read up to here."""

Label = Literal["", "place", "cause", "effect", "cleared", "remedy", "guess", "detail", "quoted"]
"""What a heading announces; what was copied from a terminal is ``quoted``."""

_WORDS: tuple[tuple[Label, str], ...] = (
    (
        "cleared",
        r".*\b(?:ruled? out|discarded|discounted|not (?:the )?(?:root[- ]?)?(?:cause|culprit|at fault|affected|involved|related)|healthy|cleared|innocent|unrelated|unaffected|red herrings?"
        r"|false leads?|eliminated|excluded|distractions?|distractors?|what it is not|rejected|dismissed|fine)\b.*|(?:other )?(?:recent )?changes(?: .*)?|checked(?: .*)?|looked at",
    ),
    (
        "cause",
        r"(?:why|what)(?!.*(?:\bnot\b|n't|\bwell\b|\bbadly\b|\bpoorly\b|\blearn))(?: (?:is|was|are|were|does|do|did|no|it|this|went|\w+) .*| happened| broke| breaks| failed| changed| was done)?|how",
    ),
    (
        "guess",
        r".*\b(?:ideas?|theor(?:y|ies)|leads|thoughts|hypothes[ie]s|considered|possible|potential|candidates?|suspects?|suspicions?|guess(?:es)?|alternatives?|differential|questions?)\b.*",
    ),
    (
        "remedy",
        r"what (?:went|worked|did|we|i) .*\b(?:well|badly|poorly|learn\w*)|went (?:well|badly|poorly)|(?:the )?(?:good|bad)|(?:key )?(?:lessons?|learnings|take-?aways?)(?: learn\w*)?|where we (?:got|were) (?:un)?lucky|luck|appendi\w+|glossary|links?|references?|see also|supporting (?:information|material)|communication|response|recovery|owner|severity|status"
        r"|.*\b(?:fix(?:es)?|remed\w+|mitigations?|repairs?|solutions?|recommended|recommendations|next steps?|resolution|actions?|prevention|follow-?ups?|how to .*|to do|todo|proposed|plan)\b.*",
    ),
    (
        "effect",
        r"(?:directly |also |who is |who's |what is |indirectly |only |then |who gets |who was )*(?:hurt|hit|hits|struck|down|caught)(?: by it| too| as well| with it)?|who (?:suffers|is hit|feels it|notices|cares|pays)|victims?|users?|customers?|callers?|where it hurts|seen|visible|detection|detected|trigger\w*"
        r"|.*\b(?:affected|affects|impact\w*|victims?|symptoms?|downstream|scope|consequences?|effects?|blast radius|suffer\w*|observed|user[- ]facing|fallout|result(?:s|ing)?|extent)\b.*",
    ),
    (
        "place",
        r"(?:faulty |root[- ]cause |culprit |failing |broken |target |offending )?(?:components?|locations?|culprits?|origins?|where|workloads?|place|at fault|faulty|blamed?|services?|pods?|deployments?)"
        r"(?: at fault| \(s\)|\(s\))?|faulty_components?|root_cause_components?|root_cause_service",
    ),
    (
        "cause",
        r"(?:the )?(?:actual |true |real |underlying |final |my |likely )?(?:root[- _]?causes?|causes?|reasons?|diagnos[ie]s|problems?|issues?|faults?|findings?|found|defects?|mistakes?|mechanisms?|change|what(?:'s| is) wrong|what went wrong"
        r"|what happened|why|explanation|conclusions?|verdict|answer|tl;?dr|summary|in short|bottom line|root_cause_\w+|.*_cause|description|details?)(?: \d+| #\d+)?",
    ),
    (
        "detail",
        r"(?:mutated |wrong |bad |faulty |changed |current |healthy |expected |right |correct |actual |should be |object |resource |api )?_?(?:fields?|values?|objects?|resources?|kinds?|names?|namespace|keys?|settings?"
        r"|expected|actual|current|wrong|right|healthy|was|now|before|after|correct|should be|path|spec|type|old|new|container|layer)(?:_value|_kind|_name|_now|_field| value| kind| name)?",
    ),
)
"""Labels by the words that announce them, the first that fits."""

_LABELS = tuple((label, re.compile(rf"(?:{words})")) for label, words in _WORDS)


_SENTENCE = re.compile(r"(?:i|we|it|this|that|they|there|you) (?!is\b)")
"""How a sentence begins, and no heading: "I can rule out geo: ..." """

_LONGEST_LABEL = 5
"""Words that a label has at most."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Prose under one label."""

    label: Label
    text: str


def passages(text: str) -> list[Passage]:
    """The passages of a text, in reading order; those of a JSON object with its places first."""
    text = text.strip()[:MAX_CHARS]
    document = _document(text)
    if document is not None:
        return list(_of_json(document, "quoted" if output.is_manifest(document) else ""))
    return [piece for passage in _of_lines(text.split("\n")) for piece in _inline(passage)]


_INLINE = re.compile(r"(?:^|(?<=[.;!?] ))([A-Z][A-Za-z' ]{1,28}): (?=\S)")


def _ended_soon(label: Label, passage: Passage, text: str) -> Iterator[Passage]:
    """A guess or a dismissal in running text reaches to the end of its sentence."""
    if label in ("guess", "cleared") and label != passage.label:
        end = re.search(r"[.!?]\s", text)
        if end is not None:
            yield Passage(label, text[: end.end()].strip())
            yield Passage(passage.label, text[end.end() :].strip())
            return
    yield Passage(label, text)


_RUN_IN = re.compile(
    r"^((?!It|They|That|This)[A-Z][A-Za-z']{2,14}(?: (?!is\b|are\b|was\b)[A-Za-z']{2,14}){0,2})\. (?=\S)"
)
"""A heading at the begin of its paragraph: "Impact. No bookings." """


def _inline(passage: Passage) -> Iterator[Passage]:
    """The pieces of a passage in which labels stand: "Trigger: ... Effect: ... Fix: ..." """
    run_in = _RUN_IN.match(passage.text)
    if run_in is not None and passage.label not in _OTHERS:
        own = "remedy" if run_in[1].lower() == "recommendation" else label_of(run_in[1])
        if own in ("cause", "effect", "remedy", "cleared"):
            passage = Passage(own, passage.text[run_in.end() :])
    label, start = passage.label, 0
    for match in _INLINE.finditer(passage.text):
        own = label_of(match[1])
        if own is None or own == "detail":
            continue
        if match.start() > start:
            yield from _ended_soon(label, passage, passage.text[start : match.start()].strip())
        label, start = (
            (passage.label if passage.label in _OTHERS and own not in ("cause", "place") else own),
            match.end(),
        )
    if label != passage.label:
        yield from _ended_soon(label, passage, passage.text[start:].strip())
        return
    yield Passage(label, passage.text[start:].strip())


def label_of(key: str) -> Label | None:
    """What a key or heading announces; None for one that announces nothing known."""
    words = re.sub(r"[\s_*#:`?]+", " ", key).strip().lower()
    if len(words.split()) > _LONGEST_LABEL or _SENTENCE.match(words):
        return None
    for label, pattern in _LABELS:
        if pattern.fullmatch(words):
            return label
    return None


# --- JSON -----------------------------------------------------------------------------------------


_LEAD_IN = re.compile(r"[^{}\[\]\n]{1,80}[:.]\s*\n\s*(?=(?:```\w*\s*)?\{)")


def _document(text: str) -> Any:
    after = _LEAD_IN.match(text)
    if after is not None:
        # "Final answer: {...}"
        text = text[after.end() :]
    fenced = re.fullmatch(r"```\w*\s*(.*?)\s*```", text, re.DOTALL)
    inside = fenced[1] if fenced else text
    if inside[:1] not in ("{", "["):
        return None
    try:
        return json.loads(inside)
    except (ValueError, RecursionError):
        return None


def _of_json(value: Any, label: Label = "", depth: int = 0) -> Iterator[Passage]:
    if depth > 5 or value is None:
        return
    if isinstance(value, list):
        if all(not isinstance(item, Mapping | list) for item in value):
            words = ", ".join(map(_scalar, value))
            if words:
                yield Passage(label, words)
            return
        for item in value:
            yield from _of_json(item, label, depth + 1)
        return
    if not isinstance(value, Mapping):
        words = _scalar(value)
        if words:
            yield Passage(label, words)
        return
    keyed = [(str(key), item, label_of(str(key))) for key, item in value.items()]
    # Keys come in any order, but what is said of a component follows its name.
    keyed.sort(key=lambda each: each[2] != "place")
    details = []
    for key, item, own in keyed:
        inner: Label = label if own is None or (own == "detail" and label in _OTHERS) else own
        if label in _OTHERS:
            inner = label
        if not isinstance(item, Mapping | list) and inner in ("detail", ""):
            details.append(f"{re.sub(r'[_-]', ' ', key)} {_scalar(item)}")
        elif own is None and not isinstance(item, Mapping | list):
            yield Passage(inner, f"{re.sub(r'[_-]', ' ', key)}: {_scalar(item)}")
        elif own is None:
            # A key that is no label may be a component's name.
            for passage in _of_json(item, inner, depth + 1):
                yield Passage(passage.label, f"{key}: {passage.text}")
        else:
            yield from _of_json(item, inner, depth + 1)
    if details:
        yield Passage("", ", ".join(details))


_OTHERS = ("effect", "cleared", "remedy", "guess", "quoted")


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value).strip()


# --- lines ----------------------------------------------------------------------------------------

_BULLET = re.compile(r"^\s*(?:[-*+\u2022]|\d{1,2}[.)]|\(\d{1,2}\))\s+")
_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s+(?P<hash>.+?)\s*#*|\*\*(?P<bold>[^*]{1,60}?):?\*\*:?|(?P<bare>[A-Za-z][^.:;,=!?]{1,48}):|<(?P<tag>[a-z][\w -]{2,40})>)\s*$"
)
_KEYED = re.compile(
    r"^\s*(?:\*\*|__)?(?P<key>[A-Za-z][\w /'()#-]{0,44}?)\??(?:\*\*|__)?\s*(?::|=(?=\S)| [-\u2013\u2014](?= ))(?:\*\*|__)?\s*(?P<rest>\S.*)$"
)

_COPIED = re.compile(
    r"\S(?: {3,}|\t+)\S.*(?: {3,}|\t+)\S"  # columns
    r"|^(?:[A-Z]+ )?\d{4}[-/]\d\d[-/]\d\d[T ]|^[EWI]\d{4} |^\d\d:\d\d:\d\d(?:[.,]\d+|\s+(?:\[?(?:INFO?|WARN\w*|ERR\w*|DEBUG|FATAL|FTL|TRC|DBG|[A-Z]\w+(?:Error|Failed|Ready|Looping|Down|Mismatch))\b|[{\[]|[\w/.-]+\[\d))|^\[?\d{4}-\d\d"  # logs
    r"|^\s*(?:apiVersion|kind|metadata|spec|status|uid|resourceVersion|creationTimestamp|managedFields)\s*:\s*\S*$"
    r"|^\s{4,}[\w.-]+:\s*\S*$|^\s*- (?:name|image|containerPort|mountPath|key|type): |^\s*\[(?:FIRING|RESOLVED|alert)|^\s*(?:Warning|Normal)\s+\w+\s"
    r"|^\s*(?:Readiness|Liveness|Startup) probe (?:failed|errored): |^(?!(?:because|why|since|so|cause|reason|root cause|effect|impact|where|what|fix|component|object|field|change|mechanism|diagnosis)\b)[\w][\w /()-]{0,30}:\s{3,}\S|^\s*(?:ALERT|FIRING|RESOLVED|CRITICAL|WARNING|INFO|DEBUG|WARN|ERROR|FTL|INF|ERR|DBG)\b|^[A-Z][\w-]*:\s{2,}\S|^\s*level=|^\{\"|^\s*\$ |^\s*>{1,3} "
)


_FRAGMENT = 7
"""Words that a line has at most which is taken for copied because those around it are."""


_DESCRIBED = re.compile(
    r"^\s*(?:Name|Namespace|Labels|Annotations|Age|Kind|API Version|Status|Controlled By|Priority|Start Time|Node|IP|Events)\s*:"
)
_PAIR = re.compile(r"^\s*[\w ./-]{1,30}[:=] ?\S")


def _described(lines: list[str]) -> list[bool]:
    """Which lines are output: keys and values among three or more of kubectl describe's own, or what follows a prompt."""
    found: list[bool] = []
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
            continue
        described = sum(_DESCRIBED.match(each) is not None for each in block) >= _OWN_KEYS
        manifest = sum(_MANIFEST.match(each) is not None for each in block) >= _OWN_KEYS - 1
        prompted = bool(block) and block[0].lstrip().startswith("$ ")
        found += [
            manifest
            or ((described or prompted) and _PAIR.match(each) is not None and not each.rstrip().endswith("."))
            for each in block
        ]
        found.append(False)
        block = []
    return found[: len(lines)]


_MANIFEST = re.compile(r"^(?:apiVersion|kind|metadata|spec|status|data):")

_OWN_KEYS = 3
"""Keys of kubectl describe from which a block is its output."""


_QUOTATION = re.compile(r"\"[^\"\n]{8,}\"|`[^`\n]{8,}`")
_AROUND = 7
"""Words around a quotation from which a line is its author's."""


def _unquoted(line: str) -> str:
    """A line without the output that its author quotes within it."""
    rest = _QUOTATION.sub("_", line)
    return rest if len(rest.split()) >= _AROUND else line


def _copied(lines: list[str]) -> list[bool]:
    """Which lines were copied from a terminal: by their form, or short ones without a full stop between such."""
    lines = [_unquoted(line) for line in lines]
    sure = [
        _COPIED.search(line) is not None or described
        for line, described in zip(lines, _described(lines), strict=True)
    ]
    return [
        own
        or formed
        or (
            number > 0
            and sure[number - 1]
            and (number + 1 == len(lines) or sure[number + 1])
            and len(line.split()) <= _FRAGMENT
            and not line.rstrip().endswith((".", ":", ";", "!", "?"))
        )
        for number, (line, own, formed) in enumerate(zip(lines, sure, output.copied(lines), strict=True))
    ]


_ROW = re.compile(r"^\s*\|(.*\S)\s*$")
_RULE = re.compile(r"[\s|:-]+")


def _without_tables(lines: list[str]) -> Iterator[str]:
    """The lines, with a table's rows as records: "what: value", or "column value, column value" where there are more."""
    columns: list[str] = []
    for number, line in enumerate(lines):
        row = _ROW.match(line)
        if row is None:
            columns = []
            yield line
            continue
        if _RULE.fullmatch(line):
            continue
        cells = [cell.strip() for cell in row[1].strip("|").split("|")]
        if number + 1 < len(lines) and _RULE.fullmatch(lines[number + 1]) and "-" in lines[number + 1]:
            columns = cells
        elif columns and label_of(columns[0]) in _OTHERS and label_of(cells[0]) is None:
            yield f"{columns[0]}: {', '.join(cells)}"
        elif len(cells) == 2:
            yield f"{cells[0]}: {cells[1]}"
        elif len(cells) == len(columns):
            yield (
                "- "
                + ", ".join(f"{column} {cell}" for column, cell in zip(columns, cells, strict=True))
                + "."
            )
        else:
            yield "- " + ", ".join(cells) + "."


def _of_lines(lines: list[str]) -> Iterator[Passage]:
    heading: Label = ""
    waiting: list[str] = []
    label: Label = ""
    details: list[str] = []
    fenced = False

    def flush() -> Iterator[Passage]:
        nonlocal waiting, details
        if waiting:
            yield Passage(label, " ".join(waiting))
            waiting = []
        if details:
            yield Passage("", ", ".join(details))
            details = []

    lines = list(_without_tables(lines))
    copied = _copied(lines)
    for number, line in enumerate(lines):
        if re.fullmatch(r"\s*</[\w -]+>\s*", line):
            yield from flush()
            heading = ""
            continue
        if line.strip().startswith("```"):
            fenced = not fenced
            continue
        if not line.strip():
            yield from flush()
            if heading in ("effect", "cleared", "remedy", "guess") and not _BULLET.match(line):
                heading = heading
            continue
        if copied[number]:
            yield from flush()
            yield Passage("quoted", line.strip())
            continue
        bare = _BULLET.sub("", line).strip()
        title = _HEADING.match(bare)
        if title is not None:
            words = (
                title["hash"]
                or title["bold"]
                or title["bare"]
                or (title["tag"] or "").replace("_", " ")
                or ""
            )
            own = (
                "remedy"
                if (title["hash"] or title["tag"]) and words.lower() == "recommendation"
                else label_of(words)
            )
            if own is not None or title["hash"]:
                yield from flush()
                heading = own or ""
                if heading == "detail":
                    heading = ""
                if own is None and title["hash"]:
                    yield Passage("", words)
                continue
        keyed = _KEYED.match(bare)
        own = label_of(keyed["key"]) if keyed is not None else None
        if keyed is not None and own is not None:
            if own == "detail" and heading not in _OTHERS:
                key = re.sub(
                    r"^(?:faulty|broken|defective|culprit|offending)\b",
                    "wrong",
                    keyed["key"],
                    flags=re.IGNORECASE,
                )
                details.append(f"{key} {keyed['rest'].strip()}")
                continue
            yield from flush()
            yield Passage(heading if own == "detail" else own, keyed["rest"].strip())
            continue
        if waiting and (
            bare != line.strip()
            or _ended(waiting[-1])
            or _TIMED.match(bare)
            or (_TIMED.match(waiting[0]) and bare[:1].isupper())
        ):
            yield from flush()
        label = heading
        waiting.append(re.sub(r"\*\*|__", "", bare))
    yield from flush()


_TIMED = re.compile(r"\[?\d\d:\d\d|[Tt] ?[+=] ?\d")
"""How an entry of a timeline begins."""


_WRAPPED = 120
"""Characters of a line beyond which nobody has broken it by hand."""


def _ended(line: str) -> bool:
    return not 60 <= len(line) <= _WRAPPED or line.rstrip().endswith((".", ":", ";", "!", "?"))
