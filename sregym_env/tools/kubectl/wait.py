"""``kubectl wait``: let time pass until objects meet a condition."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sregym_env.kube.jsonpath import compile_template, relaxed
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import (
    ALL_NAMESPACES,
    FIELD_SELECTOR,
    FILENAME,
    OUTPUT,
    PRINTING,
    RECURSING,
    SELECTOR,
    Flag,
)
from sregym_env.tools.kubectl.output import FORMATS_WITHOUT_TABLE, split_format, unknown_format
from sregym_env.tools.kubectl.resolve import Info, Target, get_object, list_objects, targets, visit
from sregym_env.tools.kubectl.writing import ALL, NOTHING_GIVEN, UNNAMED, chosen, report, until

Condition = Callable[[Manifest | None], bool]


def wait(call: Call) -> None:
    """Wait for a condition, a JSONPath value, creation or deletion."""
    name, _ = split_format(call)
    if name and name not in FORMATS_WITHOUT_TABLE.split(","):
        raise unknown_format(call.flags["output"], FORMATS_WITHOUT_TABLE)
    condition, deletion = _condition(str(call.flags["for"]))
    nanoseconds = int(call.flags["timeout"])
    limit = nanoseconds / 1e9 if nanoseconds >= 0 else 7 * 24 * 3600.0
    ends = call.cluster.now() + round(limit * 1_000_000)
    wanted = targets(call)
    if not wanted:
        raise failure(NOTHING_GIVEN)
    if call.flags["local"] and not call.flags["filename"]:
        raise KubectlError(_LOCAL)
    if str(call.flags["for"]).lower() == "create":
        if not any(target.name for target in wanted) and not _selected(call):
            raise failure(UNNAMED)
        if not until(call, partial(_all_there, call, wanted), limit):
            raise failure("timed out waiting for the condition")
    infos = list(chosen(call, need_name=UNNAMED, wanted=wanted)) if not deletion else _present(call, wanted)
    if not infos and not deletion:
        if not call.exit_code:
            raise failure("no matching resources found")
        return
    late = []
    for info in infos:
        left = max(0.0, (ends - call.cluster.now()) / 1e6)
        if until(call, partial(_meets, call, info, condition), left):
            report(call, info.resource, info.object, "condition met")
        elif not limit:
            late.append(f"condition not met for {info.resource.plural}/{info.name}")
        elif deletion and late:
            late.append(_NO_TIME)
        else:
            late.append(f"timed out waiting for the condition on {info.resource.plural}/{info.name}")
    if late:
        raise KubectlError("\n".join(late) if len(late) > 1 else f"error: {late[0]}")


def _meets(call: Call, info: Info, condition: Condition) -> bool:
    return condition(_current(call, info))


_LOCAL = (
    "error: you must specify resources by --filename when --local is set.\nExample resource specifications include:\n"
    "   '-f rsrc.yaml'\n   '--filename=rsrc.json'"
)


def _selected(call: Call) -> bool:
    return bool(call.flags["all"] or call.flags["selector"] or call.flags["field-selector"])


def _present(call: Call, wanted: list[Target]) -> list[Info]:
    named = any(target.name is not None for target in wanted)
    if not named and not _selected(call):
        raise failure(UNNAMED)
    return list(visit(call, wanted, ignore_not_found=True))


_NO_TIME = "client rate limiter Wait returned an error: context deadline exceeded"
"""What is said of the next objects when all the time was spent on those before: they are not even asked for."""


def _all_there(call: Call, wanted: list[Target]) -> bool:
    """Whether there is all that is waited for: of several that are missing, and of what files name, kubectl tells at once."""
    missing: list[StatusError] = []
    for target in wanted:
        try:
            get_object(call, target) if target.name is not None else list_objects(call, target.resource)
        except StatusError as error:
            if error.code != 404:
                raise
            missing.append(error)
    if len(missing) > 1 or (missing and wanted[0].source):
        for told in missing[:-1]:
            call.fail(told)
        raise missing[-1]
    return not missing


def _current(call: Call, info: Info) -> Manifest | None:
    try:
        found = call.cluster.get(info.resource.address, info.name, info.namespace)
    except StatusError as error:
        if error.code == 404:
            return None
        raise
    return found


def _condition(text: str) -> tuple[Condition, bool]:
    lowered = text.lower()
    if lowered == "delete":
        return (lambda obj: obj is None), True
    if lowered == "create":
        return (lambda obj: obj is not None), False
    if lowered.startswith("condition="):
        name, _, value = text.partition("=")[2].partition("=")
        wanted = (value or "true").lower()
        return (lambda obj: _has_condition(obj, name.lower(), wanted)), False
    if lowered.startswith("jsonpath="):
        return _jsonpath(text[len("jsonpath=") :]), False
    raise failure(f'unrecognized condition: "{text}"')


def _has_condition(obj: Manifest | None, name: str, wanted: str) -> bool:
    if obj is None:
        return False
    generation = obj["metadata"].get("generation", 0)
    status = obj.get("status") or {}
    if status.get("observedGeneration", generation) < generation:
        return False
    return any(
        c["type"].lower() == name and c["status"].lower() == wanted for c in status.get("conditions") or ()
    )


def _jsonpath(text: str) -> Condition:
    bare = text.strip("'\"")
    expression, equals, value = bare.partition("}=") if "}=" in bare else bare.partition("=")
    if equals and "{" in expression and not expression.endswith("}"):
        expression += "}"
    if not expression:
        raise failure("jsonpath expression cannot be empty")
    if expression.count("{") != expression.count("}"):
        raise failure(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or "
            "'{.name1.name2}'"
        )
    if equals and not value:
        raise failure("jsonpath wait value cannot be empty")
    template = compile_template(relaxed(expression))
    wanted = value.strip("'\"")

    def met(obj: Manifest | None) -> bool:
        if obj is None:
            return False
        found = template.render(obj)
        if wanted and found[:1] in "{[" and found:
            raise failure("jsonpath leads to a nested object or list which is not supported")
        return found == wanted if wanted else bool(found)

    return met


WAIT = Verb(
    "wait",
    "Experimental: Wait for a specific condition on one or many resources",
    wait,
    (
        FILENAME,
        RECURSING,
        SELECTOR,
        FIELD_SELECTOR,
        ALL,
        ALL_NAMESPACES,
        OUTPUT,
        *PRINTING,
        Flag(
            "for",
            help="The condition to wait on: [create|delete|condition=NAME[=VALUE]|jsonpath='{PATH}'=VALUE].",
        ),
        Flag(
            "timeout",
            kind="duration",
            default=30_000_000_000,
            help="The length of time to wait before giving up.",
        ),
        Flag("local", kind="bool", help="If true, do not contact the API server."),
    ),
    usage="wait ([-f FILENAME] | resource.group/resource.name | resource.group [(-l label | --all)]) [--for=create|--for=delete|--for condition=available|--for=jsonpath='{}'[=value]]",
    group="Other Commands",
)
