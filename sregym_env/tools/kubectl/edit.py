"""``kubectl edit``: objects as a file, an editor of this machine run on it, and what changed sent as a patch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import Literal

import yaml

from sregym_env.kube import patch as patches
from sregym_env.kube import yamlin
from sregym_env.kube.status import StatusError, unknown_path
from sregym_env.kube.types import Json, Manifest
from sregym_env.kube.yamlout import to_compact_json, to_json, to_yaml
from sregym_env.runtime.streams import keyed_bits
from sregym_env.shell.files import decoded, encoded
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.desk import Desk
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.manifests import parse_manifests, yaml_text
from sregym_env.tools.kubectl.output import without_managed_fields
from sregym_env.tools.kubectl.resolve import Info, no_match, targets, visit
from sregym_env.tools.kubectl.writing import (
    FIELD_MANAGER,
    NOTHING_GIVEN,
    SAVE_CONFIG,
    VALIDATE,
    identity,
    recorded,
    with_last_applied,
)

MOST_ROUNDS = 10
"""How often the editor is opened again on a file that is not valid: nobody can interrupt an editor that never mends it."""

_HEADER = """# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
"""
_MUST_STAY = ("apiVersion", "kind")
_NO_VALID_CHANGES = "Edit cancelled, no valid changes were saved."


@dataclass(slots=True)
class _Round:
    """What came of one pass of the editor."""

    reasons: list[tuple[str, list[str]]] = field(default_factory=list)
    """(heading, details) of what was wrong, for the head of the file."""
    invalid: int = 0
    not_found: int = 0
    retryable: int = 0


def run(call: Call) -> None:
    """Edit the selected objects together in one file."""
    wanted = targets(call)
    if not wanted:
        raise failure(NOTHING_GIVEN)
    if call.flags["output"] not in ("", "yaml", "json"):
        text = f'unable to match a printer suitable for the output format "{call.flags["output"]}"'
        raise failure(f"{text}, allowed formats are: json,yaml")
    infos = [_viewed(call, info) for info in visit(call, wanted)]
    if call.exit_code:
        return
    if not infos:
        raise failure("edit cancelled, no objects found")
    desk = call.desk
    if desk is None:
        raise failure('unable to launch the editor "vi"')
    _edit(call, desk, infos)


def _viewed(call: Call, info: Info) -> Info:
    """The object as it is edited: without managed fields, or the view that a subresource gives of it."""
    subresource = call.flags["subresource"]
    obj = without_managed_fields(info.object)
    if subresource == "scale" and "scale" in info.resource.subresources:
        kept = ("creationTimestamp", "name", "namespace", "resourceVersion", "uid")
        metadata = {key: obj["metadata"][key] for key in kept if key in obj["metadata"]}
        replicas = {"replicas": obj["spec"].get("replicas", 0)}
        obj = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": replicas}
    elif subresource and subresource not in info.resource.subresources:
        raise unknown_path()
    return Info(info.resource, obj)


def edited(call: Call, obj: Manifest) -> Manifest | None:
    """What an editor made of an object in one pass; None where it changed nothing. Raises kubectl's complaints."""
    if call.desk is None:
        raise failure('unable to launch the editor "vi"')
    before = _text(call, [Info(call.find("configmaps"), obj)])
    path = _temporary(call, 0)
    after = _launched(call, call.desk, path, before, "")
    if complaint := _complaint(after):
        raise _preserved(call, call.desk, path, failure(f"The edited file failed validation: {complaint}"))
    call.desk.remove(path)
    if _stripped(before) == _stripped(after):
        call.warn("Edit cancelled, no changes made.")
        return None
    return next(iter(parse_manifests(after, "edited-file")), None)


# --- the loop ---------------------------------------------------------------------------------------


def _edit(call: Call, desk: Desk, infos: Sequence[Info]) -> None:
    original = _text(call, infos)
    content, edited, path = original, "", ""
    failing = False
    for attempt in range(MOST_ROUNDS):
        previous_path, before = path, edited
        path = _temporary(call, attempt)
        edited = _launched(call, desk, path, content, previous_path)
        if failing and _stripped(before) == _stripped(edited):
            raise _preserved(call, desk, path, failure(_NO_VALID_CHANGES))
        if previous_path:
            desk.remove(previous_path)
        outcome = _Round()
        complaint = _complaint(edited)
        if complaint:
            name = infos[0].name
            what = _plural(infos[0])
            detail = f'<nil>: Invalid value: "The edited file failed validation": {complaint}'
            outcome.reasons.append((f'{what} "{name}" was not valid', [detail]))
            call.warn(f'error: {what} "{name}" is invalid')
        elif _stripped(original) == _stripped(edited):
            desk.remove(path)
            call.warn("Edit cancelled, no changes made.")
            return
        else:
            updated = _parsed(call, edited, outcome)
            if updated is not None and _sent(call, desk, infos, updated, outcome, path):
                return
        failing = True
        content = (
            (_HEADER if call.flags["output"] != "json" else "")
            + _reasons(outcome)
            + _without_comments(edited)
        )
        if call.flags["output"] == "json":
            content = _without_comments(edited)
    raise _preserved(call, desk, path, failure(_NO_VALID_CHANGES))


def _text(call: Call, infos: Sequence[Info]) -> str:
    obj = infos[0].object
    if len(infos) > 1:
        obj = {"apiVersion": "v1", "items": [info.object for info in infos], "kind": "List", "metadata": {}}
    return to_json(obj) if call.flags["output"] == "json" else _HEADER + to_yaml(obj)


def _reasons(outcome: _Round) -> str:
    lines = []
    for head, details in outcome.reasons:
        lines.append(f"# {_commented(head)}{':' if details else ''}\n")
        lines += [f"# * {_commented(detail)}\n" for detail in details]
        lines.append("#\n")
    return "".join(lines)


def _commented(text: str) -> str:
    return text.replace("\n", "\n# ")


def _without_comments(text: str) -> str:
    kept = []
    for line in text.split("\n"):
        bare = line.strip()
        if not bare.startswith("#") or bare.startswith("#!"):
            kept.append(f"{line}\n")
    return "".join(kept)


def _stripped(text: str) -> Json:
    """What a file says, whatever its comments and layout."""
    try:
        loaded: Json = yamlin.load_all(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return _without_comments(text)
    return loaded


def _complaint(text: str) -> str:
    """What is wrong with a file before anything in it is looked at."""
    try:
        documents = yamlin.load_all(_without_comments(text))
    except yaml.YAMLError as error:
        return f"yaml: {yaml_text(error)}"
    except (ValueError, RecursionError) as error:
        return f"yaml: {error}"
    document = documents[0] if documents else None
    if not isinstance(document, dict):
        return "invalid object to validate"
    unset = [f"{name} not set" for name in ("apiVersion", "kind") if not document.get(name)]
    return unset[0] if len(unset) == 1 else f"[{', '.join(unset)}]" if unset else ""


# --- the editor -------------------------------------------------------------------------------------


def _temporary(call: Call, attempt: int) -> str:
    # Looks as random as the real name and is the same in every run.
    number = keyed_bits(call.cluster.now(), "kubectl edit", attempt) % 4_294_967_296
    return f"/tmp/kubectl-edit-{number}.{'json' if call.flags['output'] == 'json' else 'yaml'}"


def _launched(call: Call, desk: Desk, path: str, content: str, previous: str) -> str:
    """What the editor made of a file. Raises kubectl's complaints about the editor."""
    editor = desk.variable("KUBE_EDITOR") or desk.variable("EDITOR") or "vi"
    words = editor.split(" ")
    shown = editor
    if any(char in editor for char in "\"'\\"):
        shell = desk.variable("SHELL") or "/bin/bash"
        script = f"{editor} {quote(path)}"
        shown = f'{shell} -c {editor} "{path}"'
    else:
        script = " ".join([*map(quote, words), quote(path)])
    if not desk.has(words[0]):
        raise _preserved(call, desk, previous, failure(f"unable to launch the editor {_quoted(editor)}"))
    desk.write_bytes(path, encoded(content))
    done = desk.execute(script)
    call.print(done.stdout)
    if done.stderr:
        call.complain(done.stderr)
    if done.exit_code:
        raise _preserved(
            call, desk, previous, failure(f"there was a problem with the editor {_quoted(shown)}")
        )
    try:
        return decoded(desk.read_bytes(path))
    except OSError:
        raise failure(f"open {path}: no such file or directory") from None


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _preserved(call: Call, desk: Desk, path: str, error: KubectlError) -> KubectlError:
    """Say where the changes are that were not sent."""
    if path:
        try:
            desk.read_bytes(path)
        except OSError:
            return error
        call.warn(f'A copy of your changes has been stored to "{path}"')
    return error


# --- what was edited --------------------------------------------------------------------------------


def _parsed(call: Call, text: str, outcome: _Round) -> list[Info] | None:
    """The objects in an edited file; None where it cannot be understood, with the reason."""
    try:
        found = []
        for manifest in parse_manifests(text, "edited-file"):
            resource = call.resource_of(manifest)
            if resource is None:
                raise no_match(manifest, ("edited-file",))
            found.append(Info(resource, manifest))
    except KubectlError as error:
        reason = error.text.removeprefix("error: ")
        outcome.reasons.append((f"The edited file had a syntax error: {reason}", []))
        return None
    return found


def _sent(
    call: Call, desk: Desk, originals: Sequence[Info], updated: Sequence[Info], outcome: _Round, path: str
) -> bool:
    """Patch what has changed; whether that was all. Raises kubectl's errors about changes that cannot be made."""
    for info in updated:
        try:
            _patch(call, originals, info, outcome)
        except KubectlError as error:
            raise _preserved(call, desk, path, error) from None
    if outcome.retryable:
        call.warn(f"You can run `kubectl replace -f {path}` to try this update again.")
        raise KubectlError("")
    if outcome.not_found:
        call.warn(f'The edits you made on deleted resources have been saved to "{path}"')
        raise KubectlError("")
    if outcome.invalid:
        return False
    desk.remove(path)
    return True


def _patch(call: Call, originals: Sequence[Info], info: Info, outcome: _Round) -> None:
    metadata = info.object.get("metadata") or {}
    uid = metadata.get("uid")
    original = next((known for known in originals if known.object["metadata"].get("uid") == uid), None)
    if original is None:
        raise failure(f"no original object found for {to_compact_json(info.object)}")
    namespace = metadata.get("namespace")
    if info.resource.namespaced and "namespace" in call.given and namespace != call.namespace:
        raise failure(
            f'the namespace from the provided object "{namespace}" does not match the namespace "{call.namespace}". '
            f"You must pass '--namespace={namespace}' to perform this operation."
        )
    edited = with_last_applied(info.object) if call.flags["save-config"] else info.object
    if edited != original.object:
        edited = recorded(call, edited)
    if edited == original.object:
        _say(call, info, original.object, "skipped")
        return
    same = all(edited.get(name) == original.object.get(name) for name in _MUST_STAY)
    if not same or metadata.get("name") != original.name:
        raise failure("At least one of apiVersion, kind and name was changed")
    kind: Literal["merge", "strategic"] = "merge" if info.resource.custom else "strategic"
    if kind == "merge":
        delta = patches.two_way_merge(original.object, edited)
    else:
        delta = patches.two_way(original.object, edited, info.resource)
    if call.flags["output-patch"]:
        call.print(f"Patch: {to_compact_json(delta)}\n")
    try:
        stored = call.cluster.patch(
            original.resource.key,
            original.name,
            delta,
            namespace=original.namespace,
            type=kind,
            subresource=call.flags["subresource"],
            strict=call.flags["validate"] not in ("ignore", "false", "warn"),
            field_manager=call.manager,
        )
    except StatusError as error:
        call.warn(_noted(error, info, outcome))
        return
    _say(call, info, stored, "edited")


def _say(call: Call, info: Info, stored: Manifest, operation: str) -> None:
    if call.flags["output"]:
        shown = stored if call.flags["show-managed-fields"] else without_managed_fields(stored)
        call.print(to_json(shown) if call.flags["output"] == "json" else to_yaml(shown))
    else:
        call.print(f"{identity(info.resource, stored)} {operation}\n")


def _noted(error: StatusError, info: Info, outcome: _Round) -> str:
    """Remember why an object could not be patched; what is said about it."""
    what, name = _plural(info), info.name
    if error.reason == "Invalid":
        causes = [f"{cause['field']}: {cause['message']}" for cause in error.details.get("causes") or ()]
        outcome.invalid += 1
        outcome.reasons.append((f'{what} "{name}" was not valid', causes))
        return f'error: {what} "{name}" is invalid'
    if error.code == 404:
        outcome.not_found += 1
        return f'error: {what} "{name}" could not be found on the server'
    outcome.retryable += 1
    return f'error: {what} "{name}" could not be patched: {error.message}'


def _plural(info: Info) -> str:
    return f"{info.resource.plural}.{info.resource.group}" if info.resource.group else info.resource.plural


VERB = Verb(
    "edit",
    "Edit a resource on the server",
    run,
    flags=(
        f.ALLOW_MISSING,
        FIELD_MANAGER,
        f.FILENAME,
        f.KUSTOMIZE,
        f.OUTPUT,
        Flag("output-patch", kind="bool", help="Output the patch if the resource is edited."),
        f.RECORD,
        f.RECURSIVE,
        SAVE_CONFIG,
        f.SHOW_MANAGED_FIELDS,
        Flag(
            "subresource",
            help="If specified, edit will operate on the subresource of the requested object. This flag is beta and "
            "may change in the future.",
        ),
        f.TEMPLATE,
        VALIDATE,
        Flag(
            "windows-line-endings",
            kind="bool",
            help="Defaults to the line ending native to your platform.",
        ),
    ),
    usage="edit (RESOURCE/NAME | -f FILENAME) [options]",
    description="Edit a resource from the default editor.",
    examples=(
        "# Edit the service named 'registry'\n  kubectl edit svc/registry",
        '# Use an alternative editor\n  KUBE_EDITOR="nano" kubectl edit svc/registry',
    ),
    group="Basic Commands (Intermediate)",
)
