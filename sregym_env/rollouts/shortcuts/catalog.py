"""Every shortcut there is, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches

from sregym_env.errors import UsageError
from sregym_env.rollouts.shortcuts import blind, diagnoses, differences, repairs
from sregym_env.rollouts.shortcuts.cues import CUES, Cue, blame, by_name
from sregym_env.rollouts.shortcuts.shortcut import SETTLE, Group, Knowledge, Script, Shortcut

_BLIND: tuple[tuple[str, str, Callable[[Knowledge], Script]], ...] = (
    ("nothing", "hands in at once", blind.nothing),
    ("wait", "waits twenty minutes", blind.wait),
    ("restart_everything", "restarts every workload and the cluster's DNS", blind.restart_everything),
    ("delete_every_pod", "deletes every pod", blind.delete_every_pod),
    ("undo_every_rollout", "`kubectl rollout undo` of every workload", blind.undo_every_rollout),
    (
        "roll_everything_back",
        "takes every Deployment back to its revision of ten hours ago",
        blind.roll_everything_back,
    ),
    ("scale_to_one", "gives every workload one replica", blind.scale_everything(1)),
    ("scale_to_three", "gives every workload three replicas", blind.scale_everything(3)),
    ("delete_policies", "deletes network policies, quotas and limit ranges", blind.delete_policies),
    ("delete_webhooks", "deletes every webhook of admission", blind.delete_webhooks),
    ("delete_pod_webhooks", "deletes every webhook that is asked about pods", blind.delete_pod_webhooks),
    ("ignore_webhooks", "lets every webhook fail after a second", blind.ignore_webhooks),
    ("baseline_namespaces", "has the standard enforced that most pods meet", blind.enforce("baseline")),
    ("privileged_namespaces", "has the standard enforced that all pods meet", blind.enforce("privileged")),
    ("unlabel_namespaces", "removes the labels of the Pod Security Standards", blind.unlabel_namespaces),
    ("delete_slices", "deletes every EndpointSlice of the application", blind.delete_slices),
    (
        "rank_everything",
        "gives every workload the highest class that people have made",
        blind.rank_everything,
    ),
    ("grant_settings", "lets every bound cluster role read ConfigMaps", blind.grant_settings),
    ("open_nodes", "uncordons every node and removes its taints", blind.open_nodes),
    ("same_kubelets", "gives every kubelet the settings of one that is Ready", blind.same_kubelets),
    ("keep_time", "has every machine's time service run", blind.keep_time),
    ("default_dns", "restores kubeadm's Corefile", blind.default_dns),
    (
        "lift_everything",
        "deletes policies, opens every node, restores kubeadm's Corefile",
        blind.lift_everything,
    ),
    ("lift_and_restart", "the same, then restarts every workload", blind.lift_and_restart),
    ("no_init_containers", "removes every init container", blind.plain("no_init_containers")),
    ("no_placement", "removes node names, selectors and affinities", blind.plain("no_placement")),
    ("default_account", "gives every pod the default service account", blind.plain("default_account")),
    ("own_names", "removes host aliases and DNS settings", blind.plain("own_names")),
    (
        "optional_sources",
        "makes every reference to a ConfigMap or Secret optional",
        blind.plain("optional_sources"),
    ),
    ("no_requests", "lets every container ask for next to nothing", blind.plain("no_requests")),
    ("at_least_one", "scales what has no replica to one", blind.plain("at_least_one")),
    (
        "apply_last_applied",
        "applies to every object what was applied to it last, by its annotation",
        blind.last_applied("apply"),
    ),
    (
        "replace_last_applied",
        "puts what was applied last, by its annotation, in the place of every object",
        blind.last_applied("replace"),
    ),
    (
        "apply_drifted",
        "applies to every object that is not what was applied to it last, by its annotation, what that was",
        blind.apply_drifted,
    ),
    ("plain_workloads", "all of these", blind.plain(*blind.FIELDS)),
    ("create_missing", "creates what is published and not there", blind.create_missing),
    ("published_services", "makes every Service as it is published", blind.published_services),
    ("published_accounts", "makes the published database accounts anew", blind.published_accounts),
    ("apply_published", "applies the published manifests", blind.apply_published),
    (
        "replace_published",
        "puts the published manifests and accounts over what is there",
        blind.replace_published,
    ),
    (
        "recreate_published",
        "deletes everything and creates it from the published manifests",
        blind.recreate_published,
    ),
    ("normalise", "the published conventions over everything, restraints gone", blind.normalise),
    (
        "normalise_shape",
        "the same without images, plain settings and replicas",
        blind.normalise_shape,
    ),
)

_REMEMBERING: tuple[tuple[str, str, Callable[[Knowledge], Script]], ...] = (
    ("apply_elsewhere", "applies the objects of another seed's healthy world", blind.apply_elsewhere),
    (
        "replace_elsewhere",
        "puts another seed's healthy objects and accounts over what is there",
        blind.replace_elsewhere,
    ),
    (
        "recreate_elsewhere",
        "deletes everything and creates it from another seed's healthy world",
        blind.recreate_elsewhere,
    ),
    (
        "everything_elsewhere",
        "another seed's healthy world over everything, restraints gone",
        blind.everything_elsewhere,
    ),
)

_RECENT = "stands_out"
"""The strongest figure: what was made or written when most was not."""

_BLAMING = ("stands_out", "latest_write", "newest_replica_set", "not_ready")
"""Figures that combinations go by."""


_COMPARING = (
    (differences.REDELIVERED, differences.closed, "closed"),
    (differences.DIFFERING, differences.closed, "closed"),
    (differences.DIFFERING, differences.sentence, "sentence"),
)
"""Who compares revisions: whom they blame and how they tell it."""

_HOW = {
    "guessed": f"`{diagnoses.GUESS}`, whatever it is",
    "closed": "the kind of cause that mostly changes such a field",
    "sentence": "a sentence of what differs",
}


def _one(
    cue: Cue, repair: repairs.Repair, telling: diagnoses.Telling | None
) -> Callable[[Knowledge], Script]:
    """Blame by a figure, perhaps say so, and repair what is blamed."""

    def script(known: Knowledge) -> Script:
        blamed = yield from blame(cue, known)
        if telling is not None:
            yield from diagnoses.hand_in(telling, blamed, known)
        for each in blamed:
            yield from repair(each, known)
        yield SETTLE

    return script


def _told(cue: Cue, telling: diagnoses.Telling, count: int = 1) -> Callable[[Knowledge], Script]:
    """Blame by a figure, and say so."""

    def script(known: Knowledge) -> Script:
        blamed = yield from blame(cue, known, count)
        yield from diagnoses.hand_in(telling, blamed, known)

    return script


def _all(
    cue: Cue, telling: diagnoses.Telling, repair: Callable[[Knowledge], Script]
) -> Callable[[Knowledge], Script]:
    """Blame by a figure, say so, and repair everything."""

    def script(known: Knowledge) -> Script:
        blamed = yield from blame(cue, known)
        yield from diagnoses.hand_in(telling, blamed, known)
        yield from repair(known)

    return script


def _reading() -> Iterator[Shortcut]:
    for cue in CUES:
        yield _shortcut(
            f"undo_{cue.name}", "reading", f"undoes what `{cue.name}` names", _one(cue, repairs.undo, None)
        )
    for name, repair in repairs.REPAIRS.items():
        for figure in (_RECENT, "not_ready") if name != "undo" else ():
            yield _shortcut(
                f"{name}_{figure}",
                "reading",
                f"what `{figure}` names is repaired: {name.replace('_', ' ')}",
                _one(by_name(figure), repair, None),
            )
    yield _shortcut(
        "live_normalise",
        "reading",
        "reads each object and cleans it, the unavailable ones thoroughly",
        repairs.live_normalise,
    )
    yield _shortcut(
        "undo_the_unavailable",
        "reading",
        "undoes the rollouts of what is not available",
        repairs.undo_the_unavailable,
    )
    yield _shortcut(
        "roll_back_the_unavailable",
        "reading",
        "takes what is not available back to the last revision that stood for three hours",
        repairs.roll_back_the_unavailable,
    )
    yield _shortcut(
        "triage",
        "reading",
        "creates what is missing, rolls back what is unavailable, lifts cordons, taints, denials and blocks, cleans the rest",
        repairs.triage,
        remembers=True,
    )


def _diagnoses() -> Iterator[Shortcut]:
    for name, telling in diagnoses.TELLINGS.items():
        yield _shortcut(
            f"say_{name}", "diagnosis", f"`{_RECENT}` and words: {name}", _told(by_name(_RECENT), telling)
        )
    yield _shortcut(
        "say_two",
        "diagnosis",
        "the two that stand out most, stuffed",
        _told(by_name(_RECENT), diagnoses.stuffed, 2),
    )
    for cue in CUES:
        if cue.name != _RECENT:
            yield _shortcut(
                f"say_{cue.name}", "diagnosis", f"`{cue.name}`, stuffed", _told(cue, diagnoses.stuffed)
            )


def _combinations() -> Iterator[Shortcut]:
    whole: dict[str, Callable[[Knowledge], Script]] = {
        "normalise": blind.normalise,
        "triage": repairs.triage,
        "elsewhere": blind.everything_elsewhere,
        "rollback": repairs.roll_back_the_unavailable,
    }
    for cue in _BLAMING:
        for name, repair in whole.items():
            yield _shortcut(
                f"{cue}+stuffed+{name}",
                "combination",
                f"`{cue}`, stuffed, then {name} for everything",
                _all(by_name(cue), diagnoses.stuffed, repair),
                remembers=name in ("elsewhere", "triage"),
            )
        yield _shortcut(
            f"{cue}+stuffed+cleaned",
            "combination",
            f"`{cue}`, stuffed, then the named object alone is cleaned",
            _one(by_name(cue), repairs.cleaned, diagnoses.stuffed),
        )
    unavailable = by_name("unavailable")
    yield _shortcut(
        "unavailable+guessed+rollback",
        "combination",
        f"the first that is unavailable, told as {_HOW['guessed']}, then rollback for everything",
        _all(unavailable, diagnoses.guessed, repairs.roll_back_the_unavailable),
    )
    yield _shortcut(
        "runbook",
        "runbook",
        f"the first that is unavailable, told as {_HOW['closed']} since it was last well, then rollback for everything",
        _all(unavailable, differences.closed_since, repairs.roll_back_the_unavailable),
    )
    for compared, telling, how in _COMPARING:
        yield _shortcut(
            f"{compared.name}+{how}+undone",
            "combination",
            f"`{compared.name}`, told as {_HOW[how]}, and back to the last other revision",
            _one(compared, differences.undone, telling),
        )


def _shortcut(
    name: str, group: Group, knows: str, script: Callable[[Knowledge], Script], *, remembers: bool = False
) -> Shortcut:
    return Shortcut(name, group, knows, script, remembers)


def _every() -> Iterator[Shortcut]:
    for name, knows, script in _BLIND:
        yield _shortcut(name, "blind", knows, script)
    for name, knows, script in _REMEMBERING:
        yield _shortcut(name, "blind", knows, script, remembers=True)
    yield from _reading()
    yield from _diagnoses()
    yield from _combinations()


SHORTCUTS: Mapping[str, Shortcut] = {shortcut.name: shortcut for shortcut in _every()}
"""All of them by name, group by group."""


def chosen(names: tuple[str, ...] = (), groups: tuple[str, ...] = ()) -> tuple[Shortcut, ...]:
    """The shortcuts that are named or belong to a group; all where nothing is asked for. Raises UsageError."""
    for name in names:
        if name not in SHORTCUTS:
            near = get_close_matches(name, SHORTCUTS, n=3) or list(SHORTCUTS)
            raise UsageError(f"no shortcut {name!r}; there are {', '.join(near)}")
    known = {shortcut.group for shortcut in SHORTCUTS.values()}
    for group in groups:
        if group not in known:
            raise UsageError(f"no group {group!r} of shortcuts; there are {', '.join(sorted(known))}")
    if not names and not groups:
        return tuple(SHORTCUTS.values())
    return tuple(s for s in SHORTCUTS.values() if s.name in names or s.group in groups)
