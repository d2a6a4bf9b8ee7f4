"""``-o``: the printers a read command may be asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from sregym_env.kube.columns import parse_columns, parse_columns_file
from sregym_env.kube.goorder import to_go_json
from sregym_env.kube.gotemplate import TemplateError, compile_go_template, go_print
from sregym_env.kube.jsonpath import JSONPathError, Template, compile_template, go_quote, go_syntax
from sregym_env.kube.ownership.inferred import with_managed_fields
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_compact_json, to_json, to_yaml
from sregym_env.tools.kubectl.call import Call
from sregym_env.tools.kubectl.errors import KubectlError
from sregym_env.tools.kubectl.resolve import Info

FORMATS = (
    "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,"
    "name,template,templatefile,wide,yaml"
)
FORMATS_WITHOUT_TABLE = "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,name,template,templatefile,yaml"
_TEMPLATED = ("go-template", "template", "jsonpath", "jsonpath-as-json", "custom-columns")
_FROM_FILE = {
    "go-template-file": "go-template",
    "templatefile": "go-template",
    "jsonpath-file": "jsonpath",
}


def split_format(call: Call) -> tuple[str, str]:
    """The format of ``-o FORMAT=ARGUMENT`` and its argument, ``--template`` taken into account."""
    text = call.flags.get("output") or ""
    if not text and call.flags.get("template"):
        return "go-template", call.flags["template"]
    name, equals, argument = text.partition("=")
    if equals and call.flags.get("template"):
        return text, ""  # the template is looked for in one place only
    if equals and name not in (*_TEMPLATED, *_FROM_FILE, "custom-columns-file"):
        return text, ""
    if not equals and name.lower() in ("json", "yaml", "name"):
        name = name.lower()
    if name == "wide" or not equals:
        argument = call.flags.get("template") or "" if name in _TEMPLATED or name in _FROM_FILE else ""
    return name, argument


def print_value(call: Call, name: str, argument: str, value: Manifest) -> None:
    """Print one object (or List) in a format other than a table. Raises on an unknown format."""
    if name == "yaml":
        call.print(to_yaml(value))
    elif name == "json":
        call.print(to_go_json(value) if _made_here(call) else to_json(value))
    else:
        renderer(call, name, argument)(value)


_MAKING = (
    "create ", "run", "expose", "autoscale", "rollout history", "rollout pause", "rollout restart", "auth whoami", "config view",
    "set image", "set env",
)  # fmt: skip


def _made_here(call: Call) -> bool:
    """Whether what the command prints are Go structs of its own, not what the server sent."""
    return call.command.startswith(_MAKING)


def renderer(call: Call, name: str, argument: str) -> Callable[[Manifest], None]:
    """A printer for one of the templated formats; malformed templates are refused here, before any request."""
    if name in _FROM_FILE:
        argument = _read(call, argument)
        name = _FROM_FILE[name]
    if name in ("jsonpath", "jsonpath-as-json"):
        return _jsonpath(call, argument, as_json=name != "jsonpath")
    if name in ("go-template", "template"):
        return _go_template(call, argument)
    if name in ("custom-columns", "custom-columns-file"):
        return _custom_columns(call, name, argument)
    if name in ("yaml", "json"):
        return lambda value: print_value(call, name, argument, value)
    raise unknown_format(call.flags.get("output") or name)


def unknown_format(text: str, formats: str = FORMATS) -> KubectlError:
    """The complaint about a format there is no printer for."""
    return KubectlError(
        f'error: unable to match a printer suitable for the output format "{text}", allowed formats are: {formats}'
    )


def _read(call: Call, path: str) -> str:
    try:
        if call.files is None or not path:
            raise FileNotFoundError(path)
        return call.files.read_text(path)
    except OSError:
        raise KubectlError(
            f"error: error reading --template {path}, open {path}: no such file or directory"
        ) from None


def _need_template(argument: str) -> None:
    if not argument:
        raise KubectlError("error: template format specified but no template given")


def _jsonpath(call: Call, argument: str, *, as_json: bool) -> Callable[[Manifest], None]:
    _need_template(argument)
    try:
        template = compile_template(argument)
    except JSONPathError as error:
        raise KubectlError(f"error: error parsing jsonpath {argument}, {error}") from None
    allow_missing = bool(call.flags.get("allow-missing-template-keys", True))

    def render(value: Manifest) -> None:
        call.print(_render_jsonpath(template, value, allow_missing, as_json))

    return render


def _render_jsonpath(template: Template, value: Manifest, allow_missing: bool, as_json: bool) -> str:
    try:
        return template.render(value, allow_missing=allow_missing, as_json=as_json)
    except JSONPathError as error:
        raise KubectlError(
            f"error: error executing jsonpath {go_quote(template.source)}: Error executing template: {error}. "
            "Printing more information for debugging the template:\n"
            f"\ttemplate was:\n\t\t{template.source}\n"
            f"\tobject given to jsonpath engine was:\n\t\t{go_syntax(value)}\n\n"
        ) from None


_SOMEWHERE = 'output:1: executing "output"'
"""Where something went wrong, if that is not known."""


def _go_template(call: Call, argument: str) -> Callable[[Manifest], None]:
    _need_template(argument)
    try:
        template = compile_go_template(argument)
    except TemplateError as error:
        raise KubectlError(f"error: error parsing template {argument}, {error}") from None

    allow_missing = bool(call.flags.get("allow-missing-template-keys", True))

    def render(value: Manifest) -> None:
        try:
            call.print(template.render(value, allow_missing=allow_missing))
        except TemplateError as error:
            text = f"template: {error.spot or _SOMEWHERE}: {error}"
            # Where it can be seen, as the real one thinks.
            call.print(
                f"{error.written}Error executing template: {text}. Printing more information for debugging the template:\n"
                f"\ttemplate was:\n\t\t{argument}\n\traw data was:\n\t\t{to_compact_json(value)}\n"
                f"\tobject given to template engine was:\n\t\t{go_print(value)}\n\n"
            )
            raise KubectlError(f"error: error executing template {go_quote(argument)}: {text}") from None

    return render


def _custom_columns(call: Call, name: str, argument: str) -> Callable[[Manifest], None]:
    try:
        if name == "custom-columns-file":
            columns = parse_columns_file(_read(call, argument))
        else:
            columns = parse_columns(argument)
    except JSONPathError as error:
        raise KubectlError(f"error: {error}") from None
    no_headers = bool(call.flags.get("no-headers"))

    def render(value: Manifest) -> None:
        items = value["items"] if value.get("kind") == "List" and "items" in value else [value]
        call.print(columns.render(items, no_headers=no_headers))

    return render


def without_managed_fields(obj: Manifest) -> Manifest:
    """The object without ``metadata.managedFields``, as kubectl shows it by default."""
    metadata = obj.get("metadata") or {}
    if "managedFields" not in metadata:
        return obj
    return {**obj, "metadata": {k: v for k, v in metadata.items() if k != "managedFields"}}


_WHOLE = re.compile(
    r"managedFields|metadata *(?:$|[^\w.\[ ])|@(?!\.)|\{ *\.? *\}|items\[[^\]]*\] *\}|:\.? *(?:$|,)"
    r"|\.\.(?:\*|apiVersion|manager|operation|subresource|time)"
)
"""Templates that print owners: those that name them, and those that print all there is."""


def shown(call: Call, info: Info, name: str, argument: str) -> Manifest:
    """The object as a format prints it: only JSON and YAML leave the owners of fields out unless asked."""
    if name in ("yaml", "json"):
        if call.flags.get("show-managed-fields"):
            return with_managed_fields(info.resource, info.object)
        return without_managed_fields(info.object)
    if _WHOLE.search(argument):
        return with_managed_fields(info.resource, info.object)
    return info.object


def as_list(objects: Sequence[Manifest]) -> Manifest:
    """The ``v1 List`` kubectl wraps several objects in."""
    return {
        "apiVersion": "v1",
        "items": list(objects),
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }


def print_infos(call: Call, name: str, argument: str, infos: Sequence[Info], *, single: bool) -> None:
    """Print objects in a format other than a table: alone when one was asked for by name, else as a List."""
    if name == "name":
        call.print("".join(f"{info.label}\n" for info in infos))
        return
    objects = [shown(call, info, name, argument) for info in infos]
    alone = single and len(objects) == 1
    before = len(call.out)
    try:
        print_value(call, name, argument, objects[0] if alone else as_list(objects))
    except KubectlError:
        # Some complaints quote the whole object.
        del call.out[before:]
        objects = [with_managed_fields(info.resource, info.object) for info in infos]
        print_value(call, name, argument, objects[0] if alone else as_list(objects))


def check_printable(call: Call) -> None:
    """Refuse a format in which what has been written cannot be printed."""
    name, argument = split_format(call)
    if name not in FORMATS_WITHOUT_TABLE.split(","):
        raise unknown_format(call.flags["output"], FORMATS_WITHOUT_TABLE)
    if name not in ("yaml", "json", "name"):
        renderer(call, name, argument)


def print_object(call: Call, info: Info, message: str) -> None:
    """What a write command prints: ``deployment.apps/x created``, or the object in the format asked for."""
    name, argument = split_format(call)
    if not name:
        call.print(f"{info.label} {message}\n")
    elif name == "name":
        call.print(f"{info.label}\n")
    elif name not in FORMATS_WITHOUT_TABLE.split(","):
        raise unknown_format(call.flags["output"], FORMATS_WITHOUT_TABLE)
    else:
        obj = shown(call, info, name, argument)
        if name == "yaml" and call.out and not _separate(call):
            call.print("---\n")
        before = len(call.out)
        try:
            print_value(call, name, argument, obj)
        except KubectlError:
            del call.out[before:]
            print_value(call, name, argument, with_managed_fields(info.resource, info.object))


def _separate(call: Call) -> bool:
    """Whether the command has a new printer for each object, which knows of no object before."""
    return call.command in ("label", "annotate")


@lru_cache(maxsize=1)
def known_formats() -> frozenset[str]:
    """Formats ``get`` accepts."""
    return frozenset((*FORMATS.split(","), ""))


def check_format(call: Call, name: str, argument: str) -> None:
    """Refuse an unknown format or malformed template before anything is requested."""
    if name not in known_formats():
        raise unknown_format(call.flags.get("output") or name)
    if name not in ("", "wide", "yaml", "json", "name"):
        renderer(call, name, argument)
