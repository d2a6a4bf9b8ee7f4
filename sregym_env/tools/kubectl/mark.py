"""``kubectl label`` and ``annotate``."""

from __future__ import annotations

from sregym_env.kube import names
from sregym_env.kube.status import StatusError, conflict
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import (
    ALL_NAMESPACES,
    DRY_RUN,
    FIELD_SELECTOR,
    FILENAME,
    KUSTOMIZE,
    OUTPUT,
    RECORD,
    RECURSIVE,
    SELECTOR,
    Flag,
)
from sregym_env.tools.kubectl.output import FORMATS_WITHOUT_TABLE, split_format, unknown_format
from sregym_env.tools.kubectl.resolve import Info
from sregym_env.tools.kubectl.writing import (
    ALL,
    FIELD_MANAGER,
    LOCAL,
    UNNAMED,
    chosen,
    dry_run_of,
    fail_all,
    patch_object,
    recorded,
    report,
)


def label(call: Call) -> None:
    """Set and remove labels."""
    _mark(call, "labels", "label", "labeled", "unlabeled")


def annotate(call: Call) -> None:
    """Set and remove annotations."""
    _mark(call, "annotations", "annotation", "annotated", "annotated")


def _mark(call: Call, field: str, word: str, added: str, removed: str) -> None:
    flags = call.flags
    objects, changes = _split(call, word)
    if flags["local"] and objects:
        file = "rsrc" if word == "annotation" else "pod"
        text = (
            f"can only use local files by -f {file}.yaml or --filename={file}.json when --local=true is set"
        )
        raise failure(text)
    if flags["all"] and flags["field-selector"]:
        raise failure("cannot set --all and --field-selector at the same time")
    if not objects and not flags["filename"] and not flags["kustomize"]:
        raise failure("one or more resources must be specified as <resource> <name> or <resource>/<name>")
    if not changes and not flags["list"]:
        raise failure(f"at least one {word} update is required")
    if (
        word == "annotation"
        and (form := split_format(call)[0])
        and form not in FORMATS_WITHOUT_TABLE.split(",")
    ):
        raise unknown_format(flags["output"], FORMATS_WITHOUT_TABLE)
    errors: list[StatusError] = []
    infos = list(chosen(call, objects, need_name=UNNAMED, failed=errors.append))
    for info in infos:
        said = len(call.out)
        if changes:
            try:
                _mark_one(call, info, field, word, changes, added, removed)
            except StatusError as error:
                errors.append(error)
                continue
        if flags["list"]:
            # A list takes the place of the report.
            del call.out[said:]
            _list(info if not changes else _again(call, info), call, field, word, many=len(infos) > 1)
    fail_all(call, errors)


def _again(call: Call, info: Info) -> Info:
    if call.flags["local"]:
        return info
    return Info(info.resource, call.cluster.get(info.resource.address, info.name, info.namespace))


def _list(info: Info, call: Call, field: str, word: str, *, many: bool) -> None:
    if many:
        call.print(f"Listing {word}s for {info.resource.kind}.{info.resource.group}/{info.name}:\n")
    marks = info.object["metadata"].get(field) or {}
    indent = " " if many else ""
    call.print("".join(f"{indent}{key}={value}\n" for key, value in sorted(marks.items())))


def _article(word: str) -> str:
    return f"an {word}" if word == "annotation" else f"a {word}"


def _split(call: Call, word: str) -> tuple[list[str], dict[str, str | None]]:
    objects: list[str] = []
    changes: dict[str, str | None] = {}
    for arg in call.args:
        key, equals, value = arg.partition("=")
        if equals and key:
            if word == "label" and "=" in value:
                raise failure(f"invalid label spec: {arg}")
            if word == "label" and (problems := list(names.label_value(value))):
                raise failure(f'invalid label value: "{arg}": {"; ".join(problems)}')
            if f"{key}-" in call.args:
                if word == "annotation":
                    raise failure(
                        f"can not both modify and remove the following annotation(s) in the same command: {key}"
                    )
                raise failure(f"can not both modify and remove {_article(word)} in the same command")
            changes[key] = value
        elif arg.endswith("-") and len(arg) > 1 and objects:
            changes[arg[:-1]] = None
        elif changes:
            raise failure(f"all resources must be specified before {word} changes: {arg}")
        else:
            objects.append(arg)
    return objects, changes


def _mark_one(
    call: Call, info: Info, field: str, word: str, changes: dict[str, str | None], added: str, removed: str
) -> None:
    metadata = info.object["metadata"]
    current: dict[str, str] = metadata.get(field) or {}
    wanted = call.flags["resource-version"]
    if wanted and wanted != metadata.get("resourceVersion"):
        raise conflict(info.resource, info.name)
    if not call.flags["overwrite"]:
        for key, value in changes.items():
            if value is not None and key in current and current[key] != value:
                said = f"'{key}' already has a value ({current[key]})"
                if word == "annotation":
                    raise failure(
                        f"--overwrite is false but found the following declared annotation(s): {said}"
                    )
                raise failure(f"{said}, and --overwrite is false")
    if word == "label":
        for key, value in changes.items():
            if value is None and key not in current:
                call.print(f'{word} "{key}" not found.\n')
    real = {k: v for k, v in changes.items() if current.get(k) != v}
    if not real and word == "label":
        report(call, info.resource, info.object, f"not {added}", dry_run_of(call))
        return
    operation = added if any(v is not None for v in real.values()) else removed
    body = recorded(call, {"metadata": {field: real}})
    patch_object(call, info, body, operation, type="merge", own_copy=word == "label")


_SELECTION = (
    FILENAME,
    KUSTOMIZE,
    RECURSIVE,
    SELECTOR,
    FIELD_SELECTOR,
    ALL,
    ALL_NAMESPACES,
    OUTPUT,
    DRY_RUN,
    FIELD_MANAGER,
    LOCAL,
)
_MARKING = (
    RECORD,
    *_SELECTION,
    Flag("overwrite", kind="bool", help="If true, allow labels to be overwritten."),
    Flag("list", kind="bool", help="If true, display the labels or annotations for a given resource."),
    Flag(
        "resource-version", help="If non-empty, the update will only succeed if this is the current version."
    ),
)

LABEL = Verb(
    "label",
    "Update the labels on a resource",
    label,
    _MARKING,
    usage="label [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N",
    group="Settings Commands",
)
ANNOTATE = Verb(
    "annotate",
    "Update the annotations on a resource",
    annotate,
    _MARKING,
    usage="annotate [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N",
    group="Settings Commands",
)
