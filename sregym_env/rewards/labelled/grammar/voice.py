"""How one writer writes: what names look like, how sentences begin, which words are cut short."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sregym_env.rewards.labelled.grammar.lines import filled
from sregym_env.rewards.labelled.grammar.scene import Scene, joined
from sregym_env.runtime.chance import Chance

_MARKS = {"": 0.5, "`": 0.4, '"': 0.1}
_WORKLOADS = ("the Deployment {}", "the {} Deployment", "Deployment {}", "deployment/{}", "Deployment/{}")
_SERVICES = ("the Service {}", "the {} Service", "Service {}", "service/{}", "Service/{}")
_PODS = ("the {} pods", "the pods of {}", "{}'s pods")
_SHORT = {
    "workload": ("deploy/{}", "the {} deploy"),
    "service": ("svc/{}", "the {} svc"),
    "pods": ("the {} pods",),
}
_KINDS = {
    "grpc_service": "service",
    "web": "service",
    "mongodb": "database",
    "memcached": "cache",
    "registry": "registry",
}

_BARE = re.compile(
    r"((?:\b(?:the|a|Service|Deployment|name|named|of the|svc|deploy|endpoints|for|shows|is|not|be|instead of|runs|=)|[/=])\s?)<c>"
    r"|<c>(?= (?:pods?|program|instances|binary|deploy)\b|'|-|\.)"
)
"""Where the bare name has to stand: behind its kind or in a name, or before what it is the name of."""

_ABBREVIATIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?<![\w/-]){words}(?![\w/-])"), short)
    for words, short in (
        ("ConfigMap", "cm"),
        ("Deployment", "deploy"),
        ("Services?", "svc"),
        ("PersistentVolumeClaim|persistentvolumeclaim", "pvc"),
        ("PersistentVolume", "pv"),
        ("NetworkPolicy", "netpol"),
        ("ReplicaSet", "rs"),
        ("ServiceAccount|service account", "sa"),
        ("ResourceQuota", "quota"),
        ("namespace", "ns"),
        ("environment variable", "env var"),
        ("environment", "env"),
        ("because", "b/c"),
        ("without", "w/o"),
        ("configuration", "config"),
        ("memory", "mem"),
        ("database", "db"),
        ("databases", "dbs"),
        ("container", "ctr"),
        ("Kubernetes", "k8s"),
        ("connections?", "conn"),
        ("deployment", "deploy"),
        ("requests", "reqs"),
    )
)
_SHORT_WORDS = re.compile(
    r"(?<![\w-])(?:cm|deploy|svc|pvc|pv|netpol|rs|sa|ns|env|config|mem|dbs?|ctr|k8s|conn|reqs?|b/c|w/o|auth|img|init|cpu)(?![\w-])"
)

_CONTRACTIONS = (
    ("does not", "doesn't"),
    ("cannot", "can't"),
    ("is not", "isn't"),
    ("has been", "was"),
    ("it is", "it's"),
)
_ARTICLE = re.compile(r"\b(?:the|a|an) (?=[a-z])")
_STARTS = re.compile(r"(^|[.:!?] |\n)([A-Z][a-z]+)\b")


@dataclass(frozen=True, slots=True)
class Voice:
    """A writer's habits with names."""

    mark: str
    workload: str
    service: str
    pods: str
    kinds: bool
    """Whether a component is called by what it is: ``the geo service``."""

    @classmethod
    def drawn(cls, chance: Chance, *, short: bool = False) -> Voice:
        """Somebody; ``short`` for one who cuts words short."""
        workloads, services, pods = (
            (_SHORT["workload"], _SHORT["service"], _SHORT["pods"])
            if short
            else (_WORKLOADS, _SERVICES, _PODS)
        )
        return cls(
            mark=chance.weighted("mark", _MARKS),
            workload=chance.choice("workload", workloads),
            service=chance.choice("service", services),
            pods=chance.choice("pods", pods),
            kinds=not short and chance.yes("kinds", 0.35),
        )

    def marked(self, name: str) -> str:
        """A name as this writer sets it."""
        return f"{self.mark}{name}{self.mark}" if name else name

    def titled(self, style: str, name: str) -> str:
        """An object by its kind and name; ``deployment/geo`` is one word."""
        return self.marked(style.format(name)) if "/" in style else style.format(self.marked(name))

    def listed(self, names: Iterable[str]) -> str:
        """Several of them."""
        return joined(tuple(map(self.marked, names)))

    def place(self, scene: Scene) -> str:
        """The object or the components at fault."""
        if len(scene.spec.components) > 1:
            return self.listed(scene.spec.components)
        name = scene.component.name
        match scene.spec.resource_kind:
            case "Service":
                return self.titled(self.service, name)
            case "Deployment":
                return self.titled(self.workload, name)
            case _:
                return self.marked(name)

    def told(self, line: str, scene: Scene) -> str:
        """A wording with its slots filled from a scene."""
        name = scene.component.name
        slots = {slot: self.marked(value) for slot, value in scene.names.items()} | {
            **scene.numbers,
            "c": self._called(scene),
            "bare": self.marked(name),
            "w": self.titled(self.workload, name),
            "s": self.titled(self.service, name),
            "pods": self.pods.format(self.marked(name)),
            "place": self.place(scene),
            "comps": self.listed(scene.spec.components),
        }
        return filled(_BARE.sub(r"\1<bare>", line), slots)

    def _called(self, scene: Scene) -> str:
        name = self.marked(scene.component.name)
        return f"the {name} {_KINDS[scene.component.kind]}" if self.kinds else name


def quoted(line: str, scene: Scene) -> str:
    """A wording of output: names as the machine prints them."""
    return filled(line, {**scene.names, **scene.numbers, "c": scene.component.name})


def capital(text: str, names: Iterable[str]) -> str:
    """A sentence's beginning in capitals, unless it begins with a name."""
    first = text.split(" ", 1)[0].rstrip(",.:;")
    return text if not first.isalpha() or first in names else text[:1].upper() + text[1:]


def lowered(text: str) -> str:
    """A sentence's beginning in small letters."""
    return (
        _STARTS.sub(lambda found: found[1] + found[2].lower(), text, count=1) if text[:1].isupper() else text
    )


def abbreviated(text: str) -> str:
    """The long words of the trade cut short."""
    for words, short in _ABBREVIATIONS:
        text = words.sub(short, text)
    return text


def has_abbreviations(text: str) -> bool:
    """Whether a text has short forms of long words."""
    return _SHORT_WORDS.search(text) is not None


def casual(text: str) -> str:
    """As one types in a chat."""
    for words, short in _CONTRACTIONS:
        text = text.replace(words, short)
    return _STARTS.sub(lambda found: found[1] + found[2].lower(), text).rstrip(".")


def foreign(text: str, chance: Chance) -> str:
    """As somebody writes who thinks in another language: articles are lost, cannot is two words."""
    pieces = _ARTICLE.split(text)
    articles = _ARTICLE.findall(text)
    out = [pieces[0]]
    for number, (article, piece) in enumerate(zip(articles, pieces[1:], strict=True)):
        out += ["" if chance.yes(f"article {number}", 0.4) else article, piece]
    swaps: Mapping[str, str] = {
        "cannot": "can not",
        "does not exist": "is not existing",
        "any more": "anymore",
    }
    written = "".join(out)
    for words, other in swaps.items():
        written = written.replace(words, other)
    return written
