"""What right and wrong diagnoses claim: a rule for every category, so that the label follows from how it was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sregym_env.cluster.app import App
from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.labelled.grammar.scene import Scene
from sregym_env.rewards.labelled.grammar.telling import Claim, Teller
from sregym_env.rewards.labelled.grammar.voice import abbreviated, has_abbreviations
from sregym_env.rewards.labelled.specs import Pair
from sregym_env.runtime.chance import Chance


@dataclass(frozen=True, slots=True)
class Told:
    """A text in the making: who tells it in which register, and every fault that there could have been."""

    teller: Teller
    register: str
    app: App
    specs: Mapping[Pair, FaultSpec]
    number: int = 1
    """Its number among the texts of its fault and category."""
    second: Scene | None = None
    """The other fault, where there are two."""

    @property
    def chance(self) -> Chance:
        """What this text is drawn from."""
        return self.teller.draw.chance

    @property
    def scene(self) -> Scene:
        """What has really happened."""
        return self.teller.scene

    def write(self, claim: Claim) -> str:
        """The text."""
        return self.teller.tell(self.register, claim)

    def sparing(self, *others: Scene) -> Told:
        """The same, without a good word for who else is accused."""
        spared = tuple(name for other in others for name in other.spec.components)
        return replace(self, teller=replace(self.teller, spared=spared))

    def about(self, scene: Scene) -> Told:
        """The same told of another scene."""
        return replace(self, teller=self.teller.of(scene))

    def elsewhere(self) -> Scene:
        """The same fault on components that have no part in it; moved by hand where there is no such pair."""
        spec = self.scene.spec
        there = [
            other
            for other in self.specs.values()
            if other.fault == spec.fault
            and not {*other.components, other.resource_name} & {*spec.components, *_nodes(spec)}
        ]
        if there:
            return Scene(self.chance.choice("elsewhere", there), self.app)
        kind = self.scene.component.kind
        names = [each.name for each in self.app.components if each.kind in (kind, "grpc_service")]
        return self.scene.moved(
            self.chance.choice("moved", [name for name in names if name != self.scene.component.name])
        )

    def otherwise(self, name: str = "otherwise") -> Scene:
        """A fault of another family on the same component."""
        spec = self.scene.spec
        mechanism = MECHANISMS[spec.mechanism]
        others = [
            other
            for other in self.specs.values()
            if other.components == spec.components[:1]
            and MECHANISMS[other.mechanism].family != mechanism.family
            and other.mechanism not in mechanism.kin
        ]
        return Scene(self.chance.choice(name, others), self.app)

    def innocent(self) -> Scene:
        """A fault of another kind on a component that has none: one that suffers, where there is one."""
        spec = self.scene.spec
        family = MECHANISMS[spec.mechanism].family
        others = [
            other
            for other in self.specs.values()
            if len(other.components) == 1
            and other.components[0] not in spec.components
            and MECHANISMS[other.mechanism].family != family
        ]
        suffering = [other for other in others if other.components[0] in spec.affected]
        return Scene(self.chance.choice("innocent", suffering or others), self.app)


def _nodes(spec: FaultSpec) -> tuple[str, ...]:
    return (spec.resource_name,) if spec.resource_kind == "Node" else ()


def second(spec: FaultSpec, specs: Mapping[Pair, FaultSpec], chance: Chance) -> Pair:
    """Another fault that can come at the same time and is not mistaken for the first: on other components, of another
    family."""
    family = MECHANISMS[spec.mechanism].family
    others = [
        pair
        for pair, other in specs.items()
        if not {*other.components} & {*spec.components}
        and MECHANISMS[other.mechanism].family != family
        and other.resource_kind not in ("Node", "ResourceQuota")
    ]
    return chance.choice("second", others)


# Right ones.


def _plain(told: Told) -> str:
    if told.second is None:
        return told.write(told.teller.cause())
    other = told.teller.of(told.second).put("plain")
    text = told.teller.frame("both", clause=told.teller.put("plain"), other=other)
    return told.sparing(told.second).write(Claim(text, certain=False, quote=told.teller.cause().quote))


def _paraphrase(told: Told) -> str:
    return told.write(replace(told.teller.cause("para"), note=""))


def _consequences(told: Told) -> str:
    return told.write(
        replace(told.teller.cause(), extras=(told.teller.at("extra").consequence(),), certain=False)
    )


def _group(told: Told) -> str:
    return told.write(replace(told.teller.cause(), extras=(told.teller.at("extra").group(),), certain=False))


def _cleared(told: Told) -> str:
    return told.write(replace(told.teller.cause(), extras=told.teller.at("extra").cleared()))


def _quoted(told: Told) -> str:
    claim = told.teller.cause()
    if told.register == "quoting":
        return told.write(claim)
    return told.write(replace(claim, extras=(told.teller.quotation(claim.quote),)))


def _timeline(told: Told) -> str:
    claim = told.teller.cause()
    if told.register == "timeline":
        return told.write(claim)
    return told.write(replace(claim, extras=("\n" + told.teller.at("extra").timeline(claim),)))


def _abbreviation(told: Told) -> str:
    claim = told.teller.cause()
    text = told.write(claim if told.chance.yes("long", 0.5) else replace(claim, text=f"{claim.note}."))
    short = abbreviated(text)
    # Where nothing could be cut short, the namespace still can be named so.
    where = "" if has_abbreviations(short) else f" (ns {told.scene.spec.namespace})"
    return f"{short}{where}"


# Wrong ones.


def _stated(told: Told) -> Claim:
    """What holds of the scene without what would show it."""
    claim = told.teller.cause()
    return replace(claim, quote="")


def _near_miss(told: Told) -> str:
    teller = told.teller
    line = teller.draw.nth_wording(told.scene.spec.fault, "near", told.number)
    clause = teller.voice.told(line, told.scene)
    return told.write(Claim(teller.frame("cause_clause", clause=clause), clause))


def _other_component(told: Told) -> str:
    return (there := told.about(told.elsewhere())).write(_stated(there))


def _other_mechanism(told: Told) -> str:
    return (other := told.about(told.otherwise())).write(_stated(other))


def _symptom_only(told: Told) -> str:
    symptom = told.teller.put("symptom")
    return told.write(Claim(told.teller.frame("symptom_only", symptom=symptom)))


def _place_only(told: Told) -> str:
    return told.write(Claim(told.teller.frame("place_only")))


def _reserved(name: str) -> Callable[[Told], str]:
    """The truth, beside something else and in a frame that does not stand by it."""

    def write(told: Told) -> str:
        other = told.teller.of(told.otherwise()).put("plain")
        text = told.teller.frame(name, clause=told.teller.put("plain"), other=other)
        return told.write(Claim(text, certain=False))

    return write


def _blamed(told: Told) -> str:
    innocent = told.innocent()
    other = told.teller.of(innocent).put("plain")
    text = told.teller.frame("blamed_too", clause=told.teller.put("plain"), other=other)
    return told.sparing(innocent).write(Claim(text, certain=False))


def _partial(told: Told) -> str:
    return told.write(told.teller.cause())


RULES: Mapping[str, Callable[[Told], str]] = {
    "plain": _plain,
    "paraphrase": _paraphrase,
    "consequences": _consequences,
    "group": _group,
    "cleared-suspects": _cleared,
    "quoted-output": _quoted,
    "timeline": _timeline,
    "abbreviation": _abbreviation,
    "near-miss": _near_miss,
    "other-component": _other_component,
    "other-mechanism": _other_mechanism,
    "symptom-only": _symptom_only,
    "place-only": _place_only,
    "hedged": _reserved("hedged"),
    "negated": _reserved("negated"),
    "conditional": _reserved("conditional"),
    "innocent-blamed": _blamed,
    "partial": _partial,
}
"""How a text of each category comes about."""
