"""``kubectl taint``."""

from __future__ import annotations

from sregym_env.kube import names
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure, usage_failure
from sregym_env.tools.kubectl.flags import DRY_RUN, OUTPUT, SELECTOR, Flag
from sregym_env.tools.kubectl.resolve import Info, Target, visit
from sregym_env.tools.kubectl.writing import (
    ALL,
    FIELD_MANAGER,
    VALIDATE,
    dry_run_of,
    report,
)

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def taint(call: Call) -> None:
    """Set and remove taints of nodes."""
    args = list(call.args)
    if not args or args[0] not in ("node", "nodes", "no"):
        if not args:
            raise failure("one or more resources must be specified as <resource> <name>")
        raise failure(f"invalid resource type {args[0]}, only node types are supported")
    words = [word for word in args[1:] if "=" in word or ":" in word or word.endswith("-")]
    named = [word for word in args[1:] if word not in words]
    if not words:
        raise failure("at least one taint update is required")
    if not named and not (call.flags["all"] or call.flags["selector"]):
        raise failure("one or more nodes must be specified by name, --selector or --all")
    added, removed = _parse(words)
    for taint_ in added:
        if (taint_["key"], taint_["effect"]) in removed or (taint_["key"], "") in removed:
            effect = taint_["effect"] if (taint_["key"], taint_["effect"]) in removed else ""
            raise failure(
                "can not both modify and remove the following taint(s) in the same command: "
                f"{taint_['key']}={effect}"
            )
    nodes = call.find("nodes")
    wanted = [Target(nodes, name) for name in named] or [Target(nodes)]
    problems = []
    for info in visit(call, wanted):
        try:
            _taint_one(call, info, added, removed)
        except KubectlError as error:
            problems.append(error.text.removeprefix("error: "))
    if problems:
        raise KubectlError("\n".join(problems) if len(problems) > 1 else f"error: {problems[0]}")


def _parse(words: list[str]) -> tuple[list[Manifest], list[tuple[str, str]]]:
    added: list[Manifest] = []
    removed: list[tuple[str, str]] = []
    for word in words:
        body, effect = word.rstrip("-"), ""
        if ":" in body:
            body, _, effect = body.rpartition(":")
        if effect and effect not in _EFFECTS:
            raise usage_failure(f"invalid taint effect: {effect}, unsupported taint effect", "taint")
        key, _, value = body.partition("=")
        if not word.endswith("-") and effect and (problems := "; ".join(names.qualified_name(key))):
            raise usage_failure(f"invalid taint spec: {word}, {problems}", "taint")
        if word.endswith("-"):
            removed.append((key, effect))
        elif not effect:
            problems = "; ".join(names.qualified_name(word)) or "expected format is <key>=<value>:<effect>"
            raise usage_failure(f"invalid taint spec: {word}, {problems}", "taint")
        else:
            added.append({"key": key, **({"value": value} if value else {}), "effect": effect})
    return added, removed


def _taint_one(call: Call, info: Info, added: list[Manifest], removed: list[tuple[str, str]]) -> None:
    current = list(info.object["spec"].get("taints") or ())
    for taint_ in added:
        same = [t for t in current if t["key"] == taint_["key"] and t["effect"] == taint_["effect"]]
        if same and not call.flags["overwrite"]:
            raise failure(
                f"node {info.name} already has {taint_['key']} taint(s) with same effect(s) and --overwrite is false"
            )
        current = [t for t in current if t not in same] + [taint_]
    for key, effect in removed:
        left = [t for t in current if not (t["key"] == key and effect in ("", t["effect"]))]
        if len(left) == len(current):
            raise failure(f'taint "{key}{":" + effect if effect else ""}" not found')
        current = left
    word = (
        "modified"
        if call.flags["overwrite"] or (added and removed)
        else ("tainted" if added else "untainted")
    )
    dry_run = dry_run_of(call)
    if dry_run == "client":
        report(call, info.resource, info.object, word)
        return
    body = {"spec": {"taints": current or None}}
    stored = call.cluster.patch(
        "nodes", info.name, body, type="merge", dry_run=dry_run == "server", field_manager=call.manager
    )
    report(call, info.resource, stored, word)


TAINT = Verb(
    "taint",
    "Update the taints on one or more nodes",
    taint,
    (
        SELECTOR,
        ALL,
        DRY_RUN,
        OUTPUT,
        FIELD_MANAGER,
        VALIDATE,
        Flag("overwrite", kind="bool", help="If true, allow taints to be overwritten."),
    ),
    usage="taint NODE NAME KEY_1=VAL_1:TAINT_EFFECT_1 ... KEY_N=VAL_N:TAINT_EFFECT_N",
    group="Cluster Management Commands",
)
