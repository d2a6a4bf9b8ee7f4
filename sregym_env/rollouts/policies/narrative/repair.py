"""Repairs: the declared remedies of all faults as one sequence of commands, and what each of them does in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from sregym_env.rollouts.policies.narrative.diagnosis import listed

APART = 3
"""So many waits are typed one by one; more of them are one command."""


def merged(remedies: Sequence[Sequence[str]]) -> list[str]:
    """One sequence that carries out all remedies, stage by stage: what several of them say is said once.

    A stage is what a remedy does until it has waited for it: nothing is restarted before what it needs is back.
    """
    done = []
    for together in zip_longest(*(_stages(remedy) for remedy in remedies), fillvalue=()):
        commands = list(dict.fromkeys(command for stage in together for command in stage))
        waits = [command for command in commands if awaits(command)]
        done += _joined([command for command in commands if not awaits(command)], _RESTART)
        done += _joined(waits, _AWAIT) if len(waits) > APART else waits
    return list(dict.fromkeys(done))


def awaits(command: str) -> bool:
    """Whether a command only waits."""
    return " rollout status " in command


_RESTART = re.compile(r"(?P<head>kubectl rollout restart) (?P<names>[\w/. -]+?)(?P<tail> -n \S+)")
_AWAIT = re.compile(r"(?P<head>kubectl rollout status) (?P<names>[\w/.-]+)(?P<tail> -n \S+ --timeout=\S+)")


def _stages(remedy: Iterable[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    waiting = False
    for command in remedy:
        if waiting and not awaits(command):
            found.append([])
        waiting = awaits(command)
        found[-1].append(command)
    return found


def _joined(commands: Iterable[str], form: re.Pattern[str]) -> list[str]:
    """Commands of one form in one namespace, on one kind of object, as one command, where the first of them stood."""
    names: dict[tuple[str, ...], dict[str, None]] = {}
    order: list[str | tuple[str, ...]] = []
    for command in commands:
        match = form.fullmatch(command)
        if match is None:
            order.append(command)
            continue
        for name in match["names"].split():
            place = (match["head"], name.partition("/")[0], match["tail"])
            if place not in names:
                names[place] = {}
                order.append(place)
            names[place][name] = None
    return [
        place if isinstance(place, str) else f"{place[0]} {' '.join(names[place])}{place[2]}"
        for place in order
    ]


# --- in words -------------------------------------------------------------------------------------


def deed(command: str) -> tuple[str, str]:
    """What a command of a repair is for (a key of the aims) and what it does."""
    if awaits(command):
        return "await", ""
    restarted = re.search(r"rollout restart (.+?) -n", command)
    if restarted:
        return "restart", f"restart {_objects(restarted.group(1))}"
    if re.search(r"delete pods? -l", command):
        return "restart", "replace the pods"
    return "repair", next(
        (say(match) for form, say in _DEEDS if (match := form.search(command))), "put it right"
    )


def _objects(words: str) -> str:
    return listed(word.rpartition("/")[2] for word in words.split())


def _applied(match: re.Match[str]) -> str:
    found = re.findall(r"^kind: (\S+)$.*?^  name: (\S+)$", match.string, re.MULTILINE | re.DOTALL)
    kinds = list(dict.fromkeys(kind for kind, _ in found))
    if len(found) > 1 and len(kinds) == 1:
        return f"apply the {kinds[0]}s {listed(name for _, name in found)} as they should be"
    return f"apply {listed(f'the {kind} {name}' for kind, name in found)} as declared"


def _patched(match: re.Match[str]) -> str:
    """A JSON patch in words: what is removed, or what is set and, where that is short, to what."""
    object_, patch = match.group(1), match.string
    fields = listed(dict.fromkeys(map(_field, re.findall(r'"path":\s*"([^"]+)"', patch)))) or "the setting"
    operations = set(re.findall(r'"op":\s*"(\w+)"', patch))
    if operations == {"remove"}:
        return f"remove {fields} from {object_}"
    value = re.fullmatch(r'.*"value":\s*"?([^"{}\[\],]+)"?\}\]\'?.*', patch)
    if len(re.findall(r'"path"', patch)) == 1 and value:
        return f"set {fields} of {object_} to {value.group(1)}"
    return f"correct {fields} of {object_}"


def _field(path: str) -> str:
    """The telling part of a JSON pointer: its last name, with the list it is in for an item of a list."""
    parts = [part.replace("~1", "/") for part in path.strip("/").split("/")]
    if parts[-1].isdigit():
        return f"item {parts[-1]} of {parts[-2]}"
    return parts[-1]


_DEEDS = (
    (re.compile(r"get configmap \S+ .*\| kubectl apply"), lambda _: "take the bad block out of the Corefile"),
    (re.compile(r"kubectl apply -f -"), _applied),
    (re.compile(r"kubectl patch (\S+)"), _patched),
    (re.compile(r"set image (\S+) \S+?=(\S+)"), lambda m: f"give {m.group(1)} the image {m.group(2)} again"),
    (re.compile(r"kubectl delete (\S+) (\S+)"), lambda m: f"delete the {m.group(1)} {m.group(2)}"),
    (re.compile(r"kubectl scale (\S+) .*--replicas=(\d+)"), lambda m: f"scale {m.group(1)} to {m.group(2)}"),
    (re.compile(r"kubectl uncordon"), lambda _: "open the nodes for pods again"),
    (re.compile(r"kubectl cordon (\S+)"), lambda m: f"close node {m.group(1)} to new pods"),
    (
        re.compile(r"kubectl taint nodes .* (\S+)-$"),
        lambda m: f"remove the taint {m.group(1)} from the nodes",
    ),
    (
        re.compile(r"kubectl create (\S+)(?: generic)? (\S+)"),
        lambda m: f"create the {m.group(1)} {m.group(2)}",
    ),
    (re.compile(r"createUser"), lambda _: "create the account again"),
    (re.compile(r"grantRolesToUser"), lambda _: "give the account its role back"),
)
