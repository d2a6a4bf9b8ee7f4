"""What server-side apply does for ``kubectl``, which came from client-side apply.

The manager ``kubectl`` may take what the object's last-applied annotation says and the object still has, and
an annotation that is there is kept up to date. Every other manager gets no such treatment.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sregym_env.kube.ownership.checked import complaint
from sregym_env.kube.ownership.compare import compare, fields_of
from sregym_env.kube.ownership.entries import Entry
from sregym_env.kube.ownership.fields import LEAF, Fields, difference
from sregym_env.kube.ownership.inferred import LAST_APPLIED
from sregym_env.kube.ownership.writes import Applied, ApplyConflict, Versions, Writer
from sregym_env.kube.ownership.writes import applied as applied_plainly
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_compact_json

KUBECTL = "kubectl"

MOST_ANNOTATION_BYTES = 256 * 1024
"""Total size of an object's annotations (``ValidateAnnotationsSize``)."""


def applied(
    versions: Versions,
    live: Manifest,
    config: Manifest,
    entries: Sequence[Entry],
    writer: Writer,
    *,
    force: bool = False,
) -> Applied:
    """Like :func:`sregym_env.kube.ownership.writes.applied`, with kubectl's way out of client-side apply.

    Raises the API's Conflict.
    """
    try:
        found = _applied(versions, live, config, entries, writer, force)
    except ApplyConflict as conflict:
        raise conflict.error from None
    return _with_current_annotation(found, config) if writer.manager == KUBECTL else found


def _applied(
    versions: Versions,
    live: Manifest,
    config: Manifest,
    entries: Sequence[Entry],
    writer: Writer,
    force: bool,
) -> Applied:
    try:
        return applied_plainly(versions, live, config, entries, writer, force=force)
    except ApplyConflict as conflict:
        allowed = _last_applied_fields(versions, live) if writer.manager == KUBECTL else None
        if allowed is None:
            raise
        left = conflict.without(allowed)
        if left.conflicts:
            raise left from None
    return applied_plainly(versions, live, config, entries, writer, force=True)


def _last_applied_fields(versions: Versions, live: Manifest) -> Fields | None:
    """What was last applied by the client and is still so; None where nothing was."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED) if "metadata" in live else None
    if not text:
        return None
    try:
        last = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(last, dict) or last.get("apiVersion") != versions.current:
        return None
    shape = versions.shape
    if complaint(shape, last):
        return None
    found = compare(shape, last, live)
    fields = difference(difference(fields_of(shape, last), found.changed), found.removed)
    return fields or LEAF


def _with_current_annotation(found: Applied, config: Manifest) -> Applied:
    metadata = found.object.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if not annotations.get(LAST_APPLIED):
        return found
    said = dict(config["metadata"])
    if "annotations" in said:
        left = {k: v for k, v in (said["annotations"] or {}).items() if k != LAST_APPLIED}
        said["annotations"] = left
    text = to_compact_json({**config, "metadata": said}) + "\n"
    changed = {**annotations, LAST_APPLIED: text}
    if sum(len(key) + len(value.encode()) for key, value in changed.items()) > MOST_ANNOTATION_BYTES:
        changed.pop(LAST_APPLIED)
    obj = {**found.object, "metadata": {**metadata, "annotations": changed}}
    return Applied(obj, found.entries)
