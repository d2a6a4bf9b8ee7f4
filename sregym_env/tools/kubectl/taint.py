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
    words = [word for word in args if _is_taint(word)]
    resources = args[: args.index(words[0])] if words else args
    for word in args[len(resources) :]:
        if not _is_taint(word):
            raise failure(f"all resources must be specified before taint changes: {word}")
    if not resources:
        raise failure("one or more resources must be specified as <resource> <name>")
    call.connect()
    if not words:
        raise failure("at least one taint update is required")
    added, removed = _parse(words)
    if call.lookup(resources[0]) is None:
        raise KubectlError(f'the server doesn\'t have a resource type "{resources[0]}"')
    if resources[0].lower() not in ("node", "nodes", "no"):
        raise failure(f"invalid resource type {resources[0]}, only node types are supported")
    named = resources[1:]
    for taint_ in added:
        if (taint_["key"], taint_["effect"]) in removed or (taint_["key"], "") in removed:
            effect = taint_["effect"] if (taint_["key"], taint_["effect"]) in removed else ""
            raise failure(
                "can not both modify and remove the following taint(s) in the same command: "
                f"{taint_['key']}={effect}"
            )
    if call.flags["all"] and call.flags["selector"]:
        raise failure("setting 'all' parameter with a non empty selector is prohibited.")
    if not named and not (call.flags["all"] or call.flags["selector"]):
        raise failure("at least one resource name must be specified since 'all' parameter is not set")
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


def _is_taint(word: str) -> bool:
    return "=" in word or ":" in word or word.endswith("-")


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
