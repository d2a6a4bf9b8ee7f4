"""Telling components of the same name apart where several applications are in one cluster.

``frontend`` may be Hotel Reservation's or the Astronomy Shop's. Whoever diagnoses says which: with the namespace before
it (``astronomy-shop/frontend``), after it (``frontend.astronomy-shop``, "frontend in astronomy-shop"), or by the
application that the sentence, or what was said before, is about. Judges that read see every such component under one name
of its own; a name that nothing tells apart is nobody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from sregym_env.cluster.app import App, Component
from sregym_env.faults.spec import FaultSpec
from sregym_env.tools.causes import Cause, causes_of

_KIND = r"(?:deployments?|deploy|statefulsets?|services?|svc|pods?|workload|component)"
_POD = r"(?:-[a-z0-9]{8,10}-[a-z0-9]{5}|-(?:service|svc|deployment|pods?))?"


@dataclass(frozen=True)
class Apart:
    """The components of applications in one cluster that bear the same name."""

    app: App

    @cached_property
    def read(self) -> App:
        """The application as judges read it: every component has one name, without a slash."""
        return _read(self.app)

    def text(self, text: str, namespace: str = "") -> str:
        """A text in which every such component that is told apart bears its own name; ``namespace`` is what it is about
        where it does not say."""
        about = namespace
        found = []
        for sentence in re.split(r"(?<=[.!?;\n])(?=\s|$)", text):
            found.append(self._sentence(sentence, about))
            about = max(_mentions(self.app, sentence), default=(0, about))[1]
        return "".join(found)

    def _sentence(self, sentence: str, about: str) -> str:
        spaces = {space for _, space in _mentions(self.app, sentence)} or {about}
        joined = self._joined(sentence, spaces)
        mentions = list(_mentions(self.app, joined))
        return _names(self.app).sub(lambda match: self._told(match, mentions, about), joined)

    def _joined(self, sentence: str, spaces: Set[str]) -> str:
        """A sentence with what an application calls its services in one word, where it is about that one alone: elsewhere
        the first of them may be a component too ("the user service")."""
        for part in self.app.parts if len(spaces) == 1 else ():
            if not spaces.isdisjoint(part.namespaces):
                services = [c.name for c in part.components if c.name.endswith("-service")]
                for name in sorted(services, key=len, reverse=True):
                    spaced = rf"(?<![\w-]){name.replace('-', ' ')}(?![\w-])"
                    sentence = re.sub(spaced, name, sentence, flags=re.IGNORECASE)
        return sentence

    def specs(self, specs: Sequence[FaultSpec]) -> tuple[FaultSpec, ...]:
        """The faults, by the names that judges read."""
        return tuple(map(self._spec, specs))

    def causes(self, causes: Sequence[Cause]) -> tuple[Cause, ...]:
        """Causes in closed answers, by the names that judges read."""
        return tuple(map(self._cause, causes))

    def doubt(self, diagnosis: str) -> str:
        """What to say of a component that several applications have and that is not told apart; empty if there is none."""
        causes = causes_of(diagnosis)
        if causes is None:
            left = (match for match in _names(self.app).finditer(self.text(diagnosis)))
            said = [match["name"].lower() for match in left if not (match["before"] or match["after"])]
        else:
            named = [each for cause in causes for each in cause.components if self._placed(each) == each]
            said = [name for each in named if (name := each.lower().rpartition("/")[2]) in _owners(self.app)]
        if not said:
            return ""
        names = " or ".join(f"{space}/{said[0]}" for space in _owners(self.app)[said[0]])
        return f"there are several components called {said[0]}: say {names}"

    # --- one by one ------------------------------------------------------------------------------

    def _told(self, match: re.Match[str], mentions: Sequence[tuple[int, str]], about: str) -> str:
        name = match["name"].lower()
        owners = _owners(self.app)[name]
        said = (match["before"] or match["after"] or "").lower()
        if said:
            return f"{said}-{name}{match['pod']}" if said in owners else match[0]
        # What stands nearest to it; of two alike what is said first.
        near = sorted((_distance(match, at), at, space) for at, space in mentions if space in owners)
        space = near[0][2] if near else about
        return f"{match['kind'] or ''}{space}-{name}{match['pod']}" if space in owners else match[0]

    def _placed(self, said: str) -> str:
        """A component as an answer names it, under its own name."""
        words = said.strip().lower()
        for name, owners in _owners(self.app).items():
            for space in owners:
                forms = (f"{space}/{name}", f"{name}.{space}", f"{space}-{name}", f"{space}.{name}")
                if words in forms or re.fullmatch(
                    rf"{re.escape(space)}/{_KIND}/{re.escape(name)}|{_KIND}/{re.escape(space)}/{re.escape(name)}",
                    words,
                ):
                    return f"{space}-{name}"
        return said

    def _cause(self, cause: Cause) -> Cause:
        components = tuple(map(self._placed, cause.components))
        spaces = [space for name in components for space in self._spaces(name)]
        name, owners = cause.name, _owners(self.app).get(cause.name.strip().lower().rpartition("/")[2], ())
        if owners:
            name = self._placed(name)
            if name == cause.name and spaces and spaces[0] in owners:
                name = f"{spaces[0]}-{name.rpartition('/')[2].lower()}"
        return replace(cause, components=components, name=name)

    def _spaces(self, name: str) -> list[str]:
        """The namespace of a component as judges name it."""
        return [c.namespace for c in self.read.components if c.name == name]

    def _spec(self, spec: FaultSpec) -> FaultSpec:
        def own(name: str) -> str:
            return f"{spec.namespace}-{name}" if spec.namespace in _owners(self.app).get(name, ()) else name

        def many(names: Sequence[str]) -> tuple[str, ...]:
            return tuple(own(name.replace("/", "-")) for name in names)

        return spec.model_copy(
            update={
                "components": many(spec.components),
                "affected": many(spec.affected),
                "aliases": many(spec.aliases),
                "resource_name": own(spec.resource_name),
                "cause": self.text(spec.cause, spec.namespace),
            }
        )


def _distance(match: re.Match[str], at: int) -> int:
    return match.start() - at if at < match.start() else at - match.end()


def _mentions(app: App, sentence: str) -> Iterator[tuple[int, str]]:
    """(place, namespace) of what tells which application a sentence is about."""
    for pattern, space in _places(app.parts):
        for match in pattern.finditer(sentence):
            yield match.start(), space


@lru_cache(maxsize=8)
def _patterns(spaces: tuple[tuple[str, str], ...]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (
            re.compile(rf"(?<![\w-]){'[- ]'.join(map(re.escape, words.split('-')))}(?![\w-])", re.IGNORECASE),
            space,
        )
        for words, space in spaces
    )


def _places(parts: Sequence[App]) -> tuple[tuple[re.Pattern[str], str], ...]:
    found: dict[tuple[str, str], None] = {}
    for part in parts:
        for space in part.namespaces:
            found[space, space] = None
        found[part.name, part.namespace] = None
        found[part.title.lower().replace(" ", "-"), part.namespace] = None
    return _patterns(tuple(found))


def _owners(app: App) -> Mapping[str, tuple[str, ...]]:
    """Names that several components bear, each with the namespaces of those."""
    found: dict[str, tuple[str, ...]] = {}
    for component in app.components:
        if component.bears:
            found[component.bears] = (*found.get(component.bears, ()), component.namespace)
    return found


def _names(app: App) -> re.Pattern[str]:
    owners = _owners(app)
    return _pattern(tuple(owners), tuple(dict.fromkeys(s for spaces in owners.values() for s in spaces)))


@lru_cache(maxsize=8)
def _pattern(names: tuple[str, ...], spaces: tuple[str, ...]) -> re.Pattern[str]:
    """What may be one of these components: a name that is no value of a label and no part of a longer word."""
    name, space = (
        "|".join(map(re.escape, sorted(words, key=len, reverse=True))) for words in (names, spaces)
    )
    return re.compile(
        rf"(?<![\w=./-])(?<![:=][\"'])(?:(?P<before>{space})/(?:{_KIND}/)?|(?P<kind>{_KIND}/))?"
        rf"(?P<name>{name})(?P<pod>{_POD})(?:\.(?P<after>{space})(?:\.svc(?:\.cluster\.local)?)?)?(?![\w=-]|[./]\w)",
        re.IGNORECASE,
    )


def _read(app: App) -> App:
    owners = _owners(app)

    def own(component: Component) -> Component:
        return replace(
            component,
            name=component.name.replace("/", "-"),
            container="" if component.container in owners else component.container,
            service="" if component.service in owners else component.service,
            dependencies=tuple(
                replace(each, on=each.on.replace("/", "-")) for each in component.dependencies
            ),
        )

    return replace(
        app,
        components=tuple(map(own, app.components)),
        entry=app.entry.replace("/", "-"),
        journeys=tuple(
            replace(j, through=tuple(name.replace("/", "-") for name in j.through)) for j in app.journeys
        ),
    )
