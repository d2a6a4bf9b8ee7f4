"""What was copied from a terminal, by its form: it may support a diagnosis, and never is one.

Tables, manifests, JSON objects, prompts, logs and the messages of Kubernetes itself are not their author's words. A line
is judged by its form and its neighbours, a message within a sentence by how Kubernetes and the databases begin theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.rewards.reading.cues import cues_of

_CUES = cues_of("output")


_ENDS = re.compile(
    r"['\"`)]*(?:\.(?=\s|$)|;| - | -> | => | \u2014 | \u2013 |, (?:so|because|which|since|as|i\.e\.)\b|\bbecause\b|(?<!\(s)[)]|\n)"
)
"""Where a message within a sentence ends at the latest."""

_KEY = re.compile(r"^\s*(?:- )?[\"']?[A-Za-z][\w./-]*[\"']?:(?:\s|$)")
_NESTED = re.compile(
    r"^(?:\s+(?:- )?|- )[\"']?[\w./-]+[\"']?:(?:\s|$)|^\s*- \S+$|^\s*[\w.-]+: [|>]-?$|^\s*[\"']?[a-z]+(?:[A-Z][a-z]+)+[\"']?:\s*(?:$|[\[{\"'])"
)
"""A line of YAML below another one, a scalar's begin, or a key of the API's with its own capitals and a bracket."""

_PROMPT = re.compile(
    r"^\s*(?:[\w.-]{1,40}@[\w.-]{1,60}[:~][^\s$#>%]{0,80})?[$#>%] ?(?:kubectl|k|curl|db\.|show|select|cat|grep|promql|logql|nslookup|dig|mongo\w*|psql|redis-cli)\b|^\s*[\w.-]{1,40}@[\w.-]{1,60}:[^\s$#]{0,80}[$#] |^\s*> ?db\."
)
_TABLE = re.compile(
    r"^\s*(?:NAME|NAMESPACE|TYPE|LAST SEEN)\s{2,}[A-Z]|\S {2,}\S.* {2,}\S|\t\S+\t|^\S+ {1,}\d+/\d+ {1,}[A-Z]\w+(?: {1,}\d|$)"
)
_OBJECT = re.compile(
    r"^\s*(?:[\w./-]{1,60}: ?)?\{\"\w+\":.*\}\s*$|^\s*[\[{].*[\]}],?\s*$|^\s*[\]}],?\s*$|^\s*[\[{]\s*$|^\s*\{ ?\"?_?\w+\"?: "
)
_KUBERNETES = frozenset(("apiVersion", "kind", "metadata", "spec", "status", "items", "data"))

_DESCRIBE = frozenset(
    ("name", "namespace", "labels", "annotations", "selector", "type", "ip", "port", "targetport", "target port", "endpoints", "session affinity", "events",
     "state", "last state", "reason", "message", "exit code", "started", "finished", "ready", "restart count", "limits", "requests", "memory", "cpu", "image",
     "image id", "command", "args", "environment", "mounts", "conditions", "volumes", "node-selectors", "tolerations", "taints", "unschedulable", "status", "node",
     "podselector", "pod selector", "allowing ingress traffic", "allowing egress traffic", "not affecting ingress traffic", "not affecting egress traffic", "policytypes", "replicas", "strategytype", "liveness", "readiness", "host port", "policy types", "spec", "from", "age", "containers", "controlled by", "service account")
)  # fmt: skip
"""Keys of ``kubectl describe``, lower case."""

_BLOCK_KEYS = 2
"""Such keys from which lines without words of their own are its output."""


_BLANK = re.compile(r"<(?:none|unset|nil|unknown|invalid|pending|error|set to the key [^<>]{0,120})>")
"""What kubectl prints where there is nothing to print, lower case."""


_TYPED = re.compile(r"\b(?:kubectl|k|oc) (?:-n \S+ )?(?:get|describe|logs|exec|top|edit|explain)\b")
"""How a command begins: nobody says anything with it."""


def is_manifest(document: Any) -> bool:
    """Whether a JSON document is an object of Kubernetes and no account: it has two of every object's own keys."""
    return isinstance(document, Mapping) and len(_KUBERNETES & {str(key) for key in document}) > 1


def own_words(text: str) -> bool:
    """Whether a text, lower case, says something beside what Kubernetes says in it."""
    return _CUES["own"].search(_TYPED.sub("_", _BLANK.sub("_", without_messages(text)))) is not None


def without_messages(text: str) -> str:
    """A text with the messages of Kubernetes blanked, character for character."""
    parts: list[str] = []
    at = 0
    for match in _CUES["message"].finditer(text):
        if match.start() < at:
            continue
        stop = next(
            (end.start() for end in _ENDS.finditer(text, match.end()) if _closes(text, match.start(), end)),
            len(text),
        )
        parts += [text[at : match.start()], re.sub(r"[^\s,;:.()]", "_", text[match.start() : stop])]
        at = stop
    return "".join([*parts, text[at:]])


def _closes(text: str, begin: int, end: re.Match[str]) -> bool:
    """Whether an end is one: a bracket that is opened within the message is closed within it."""
    within = text[begin : end.end()]
    return not within.endswith(")") or within.count(")") > within.count("(")


def copied(lines: Sequence[str]) -> list[bool]:
    """Which lines are output by their form and by those around them, in blocks between blank lines."""
    found: list[bool] = []
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
            continue
        found += [*_in_block(block), False]
        block = []
    return found[: len(lines)]


def _in_block(block: Sequence[str]) -> list[bool]:
    sure = [_shaped(line) for line in block]
    keys = [line.partition(":")[0].strip(" -*").lower() for line in block if _KEYED.match(line)]
    described = sum(key in _DESCRIBE for key in keys) >= _BLOCK_KEYS
    many = sum(sure) >= _BLOCK_KEYS
    nested = sum(_NESTED.match(line) is not None for line in block) >= _BLOCK_KEYS
    found = list(sure)
    for number, line in enumerate(block):
        if found[number]:
            continue
        value = line.partition(":")[2] if _KEYED.match(line) else line
        silent = not own_words(value.lower())
        prompted = number > 0 and _PROMPT.match(block[number - 1]) is not None
        if (many and _COMMAND.match(line)) or (described and _TOLD_BY_KUBELET.match(line)):
            found[number] = True
            continue
        found[number] = silent and (
            (described and _KEYED.match(line) is not None)
            or (nested and (_KEY.match(line) is not None or line.rstrip().endswith(":")))
            or (nested and _NESTED.match(line) is not None)
            or prompted
        )
    return found


_KEYED = re.compile(r"^\s*(?:[-*] )?[A-Za-z][\w /-]{0,24}:(?:\s|$)")


_COMMAND = re.compile(r"^\s*(?:kubectl|k|curl|promql|logql|nslookup|dig) ")
_TOLD_BY_KUBELET = re.compile(r"^\s*(?:Message|Reason|State|Last State|Exit Code):", re.IGNORECASE)
_EVENT = re.compile(r"^\s*(?:Warning|Normal)\s{2,}\S")


def _shaped(line: str) -> bool:
    if any(form.search(line) is not None for form in (_PROMPT, _TABLE, _OBJECT, _EVENT)):
        return True
    # A line that begins with a message and holds no more than it.
    said = line.strip().lower()
    if _CUES["line"].match(said):
        return True
    return _CUES["message"].match(said) is not None and not without_messages(said).replace("_", "").strip(
        " ,;:.()"
    )
