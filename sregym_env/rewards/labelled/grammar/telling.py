"""Whole texts: a claim told as the registers do, with what the categories add."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sregym_env.rewards.labelled.grammar.lines import Draw, filled
from sregym_env.rewards.labelled.grammar.scene import Scene
from sregym_env.rewards.labelled.grammar.voice import Voice, capital, casual, foreign, lowered, quoted

_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}

_LONGEST_CHAIN = 4
"""With more victims than that one is not behind the other."""

_BLOCK = re.compile(r"(?:^|\n)(?:```|> .*|    .*|.*\d\d.*: .*|T\+.*)$")
"""Text that ends with a line of its own: output, or an event with its time."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a diagnosis says is wrong."""

    text: str
    """In whole sentences."""
    clause: str = ""
    """As a clause, where it is one thing that is said without reserve."""
    note: str = ""
    """As a note, where there is one."""
    extras: tuple[str, ...] = ()
    """Sentences that belong to it."""
    quote: str = ""
    """A line of output beside it."""
    certain: bool = True
    """Whether consequences may be drawn from it."""


@dataclass(frozen=True, slots=True)
class Teller:
    """Somebody who tells of a scene: the one who writes, what they saw, and their chance."""

    scene: Scene
    voice: Voice
    draw: Draw
    spared: tuple[str, ...] = ()
    """Components of which nothing good is said either, because the claim has to do with them too."""

    def at(self, name: str) -> Teller:
        """The same with other chance."""
        return replace(self, draw=Draw(self.draw.chance.at(name), self.draw.part))

    def of(self, scene: Scene) -> Teller:
        """The same writer about another scene."""
        return replace(self, scene=scene)

    # What is said about a cause.

    def put(self, kind: str) -> str:
        """A wording of the cause, of a kind."""
        return self.voice.told(self.draw.wording(self.scene.spec.fault, kind), self.scene)

    def frame(self, name: str, **slots: str) -> str:
        """A frame, with these slots and what every frame may speak of."""
        victims = self.scene.spec.affected
        innocents = self._innocents()
        known: dict[str, str] = {
            "place": self.voice.place(self.scene),
            "ns": self.scene.spec.namespace,
            "v1": self.voice.marked(victims[0]) if victims else "the front end",
            "rest": self.voice.listed(victims[1:]) if len(victims) > 1 else "",
            "victims": self.voice.listed(victims) if victims else "",
            "count": f"{_NUMBERS.get(len(victims), str(len(victims)))} services",
            "i1": self.voice.marked(innocents[0]),
            "i2": self.voice.marked(innocents[1]),
            **slots,
        }
        known |= {key.capitalize(): self.capital(value) for key, value in known.items()}
        return filled(self.draw.frame(name), known)

    def capital(self, text: str) -> str:
        """A text as a sentence's beginning."""
        return capital(text, self.scene.app.by_name)

    def sentence(self, text: str) -> str:
        """A clause as a sentence."""
        return f"{self.capital(text)}."

    def cause(self, kind: str = "plain") -> Claim:
        """The cause stated: as a clause, a noun phrase, or behind what is seen."""
        clause, spec = self.put(kind), self.scene.spec
        shape = (
            "clause"
            if kind == "para"
            else self.draw.chance.weighted("shape", {"clause": 5, "noun": 2, "pron": 2})
        )
        match shape:
            case "noun":
                text = self.frame("cause_noun", noun=self.put("noun"))
            case "pron":
                place = self.voice.listed(spec.components)
                text = self.frame(
                    "cause_pron", symptom=self.put("symptom"), pron=self.put("pron"), place=place
                )
            case _:
                text = self.frame("cause_clause", clause=clause)
        quote = quoted(self.draw.wording(spec.fault, "evidence"), self.scene)
        note = replace(self, voice=replace(self.voice, kinds=False)).put("frag")
        return Claim(text, clause, note, quote=quote)

    # What else is said.

    def consequence(self) -> str:
        """Who suffers from it."""
        if len(self.scene.spec.components) > 1:
            return self.frame("chain_both")
        count = len(self.scene.spec.affected)
        if count > _LONGEST_CHAIN:
            return self.frame("chain_many")
        return self.frame(("chain_none", "chain_one")[count] if count < 2 else "chain_more")

    def group(self) -> str:
        """The same of all at once."""
        if len(self.scene.spec.components) > 1:
            return self.frame("group_both")
        count = len(self.scene.spec.affected)
        return self.frame(("group_none", "group_one")[count] if count < 2 else "group_some")

    def cleared(self) -> tuple[str, ...]:
        """Who is not to blame."""
        one = (self.frame("cleared_victims"),) if self.scene.spec.affected else ()
        return (*one, self.frame("cleared"))

    def quotation(self, line: str) -> str:
        """A line of output in the text."""
        shown = self.draw.chance.choice(
            "quotation", ("\n```\n{}\n```", "`{}`.", "\n> {}", '"{}".', "\n    {}")
        )
        if '"' in line or "`" in line:
            shown = shown if "\n" in shown else "\n    {}"
        elif line.endswith("."):
            shown = shown.rstrip(".")
        return self.frame("quoted", quote=shown.format(line))

    def neutral(self) -> str:
        """A line of output that tells of no cause."""
        return self.draw.frame("neutral_quote")

    def timeline(self, claim: Claim) -> str:
        """How it came to light, ending with the claim."""
        chance = self.draw.chance
        minute, hour = chance.between("minute", 0, 25), chance.between("hour", 6, 22)
        ending = self.frame("recognised", clause=claim.clause) if claim.clause else claim.text
        events = [
            self.draw.frame("first_seen"),
            self.put("symptom"),
            self.draw.frame("looked_at"),
            ending.rstrip("."),
        ]
        shape = chance.choice(
            "clock", ("{h:02}:{m:02} {e}", "{h:02}:{m:02} UTC - {e}", "- {h:02}:{m:02}Z: {e}", "T+{t}m: {e}")
        )
        lines, passed = [], 0
        for number, event in enumerate(events):
            lines.append(shape.format(h=hour, m=minute + passed, t=passed, e=event))
            passed += chance.between(f"gap {number}", 2, 9)
        return "\n".join(lines)

    # Registers.

    def tell(self, register: str, claim: Claim) -> str:
        """The claim in a register."""
        text = _REGISTERS[register](self, claim)
        return "\n".join(line.rstrip() for line in text.splitlines()).strip()

    def terse(self, claim: Claim) -> str:
        """A note, or a sentence."""
        short = claim.note if claim.note and self.draw.chance.yes("note", 0.6) else claim.text
        return _flow(short if not claim.extras else f"{short.rstrip('.')}.", *claim.extras)

    def verbose(self, claim: Claim) -> str:
        """Paragraphs."""
        first = _flow(self.frame("opening"), self.frame("found"))
        last = _flow(self._effect(claim), self.frame("closing") if claim.certain else "")
        body = _flow(claim.text, *claim.extras)
        return (
            "\n\n".join(part for part in (first, body, last) if part)
            if self._yes("airy")
            else _flow(first, body, last)
        )

    def report(self, claim: Claim) -> str:
        """A post-mortem with headings."""
        heads = self.draw.frame("report_heads").split("|")
        seen = self.sentence(self.put("symptom"))
        bodies = [
            self.frame("effect") if seen[1:-1] in claim.text else seen,
            claim.text,
            self._effect(claim),
            self.frame("found"),
            _flow(*claim.extras),
        ]
        shape = self.draw.chance.choice("heading", ("## {}\n{}", "{}: {}", "**{}**: {}"))
        between = "\n\n" if "#" in shape else "\n"
        return between.join(shape.format(h, b) for h, b in zip(heads, bodies, strict=True) if b)

    def foreign(self, claim: Claim) -> str:
        """Somebody whose language this is not."""
        said = self.frame("foreign_cause", clause=claim.clause) if claim.clause else claim.text
        effect = self.frame("foreign_effect") if claim.certain and self.scene.spec.affected else ""
        return foreign(_flow(self.frame("foreign_opening"), said, *claim.extras, effect), self.draw.chance)

    def quoting(self, claim: Claim) -> str:
        """Words and output."""
        quote = self.quotation(claim.quote or self.neutral())
        order = (claim.text, quote) if "\n" in quote or self._yes("first") else (quote, claim.text)
        return _flow(*order, *claim.extras)

    def consequences(self, claim: Claim) -> str:
        """What follows from it, or what it follows from."""
        if not claim.certain:
            return _flow(claim.text, self.frame("effect"), *claim.extras)
        if self._yes("group"):
            return _flow(claim.text, self.group(), *claim.extras)
        return _flow(claim.text, self.consequence(), self.frame("effect"), *claim.extras)

    def clocked(self, claim: Claim) -> str:
        """By the clock."""
        return "\n".join(part for part in (self.timeline(claim), _flow(*claim.extras)) if part)

    def guesses(self, claim: Claim) -> str:
        """What was thought first."""
        return _flow(self.frame("discarded"), claim.text, *claim.extras)

    def chat(self, claim: Claim) -> str:
        """As one types it."""
        said = (claim.note if self._yes("note") else claim.clause) or claim.text
        aside = []
        if claim.certain and self.scene.spec.affected and self._yes("effect"):
            aside.append(f"{self.frame('chat_effect')}.")
        if self._yes("cleared"):
            aside.append(f"{self.frame('chat_cleared')}.")
        opened = f"{self.frame('chat_opening')} {lowered(said).rstrip('.')}."
        # What a machine printed is not the writer's to spell.
        printed = [each for each in claim.extras if claim.quote and claim.quote in each]
        return _flow(
            casual(_flow(opened, *aside, *(each for each in claim.extras if each not in printed))), *printed
        )

    def listed(self, claim: Claim) -> str:
        """Labelled lines."""
        heads = self.draw.frame("list_heads").split("|")
        place = self.voice.place(self.scene)
        shape = self.draw.chance.choice("bullet", ("- {}: {}", "* **{}**: {}", "{}: {}"))
        bodies = [place, claim.text, self._effect(claim), _flow(*claim.extras)]
        return "\n".join(shape.format(h, b) for h, b in zip(heads, bodies, strict=True) if b)

    # Small things.

    def _effect(self, claim: Claim) -> str:
        return self.consequence() if claim.certain else self.frame("effect")

    def _yes(self, name: str) -> bool:
        return self.draw.chance.yes(name, 0.5)

    def _innocents(self) -> list[str]:
        """Components that have no part in it, in some order."""
        part = {
            *self.spared,
            *self.scene.spec.components,
            *self.scene.spec.affected,
            *self.scene.spec.aliases,
        }
        part |= {
            need.on
            for name in self.scene.spec.components
            for need in self.scene.app.by_name[name].dependencies
        }
        others = [
            each.name for each in self.scene.app.components if each.name not in part and each.kind != "load"
        ]
        return [*self.draw.chance.shuffled("innocents", others), "jaeger", "kube-proxy"]


_REGISTERS: Mapping[str, Callable[[Teller, Claim], str]] = {
    "terse": Teller.terse,
    "verbose": Teller.verbose,
    "post-mortem": Teller.report,
    "non-native": Teller.foreign,
    "quoting": Teller.quoting,
    "consequences": Teller.consequences,
    "timeline": Teller.clocked,
    "discarded-guesses": Teller.guesses,
    "chat": Teller.chat,
    "structured-prose": Teller.listed,
}


def _flow(*parts: str) -> str:
    """Parts after each other, those that are not empty; what stands on lines of its own stays there."""
    flowing = ""
    for part in filter(None, parts):
        apart = "\n" in flowing and _BLOCK.search(flowing)
        between = "" if not flowing or part.startswith("\n") else "\n" if apart else " "
        flowing += between + part
    return flowing.replace(" \n", "\n")
