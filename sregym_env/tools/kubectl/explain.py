"""``kubectl explain``."""

from __future__ import annotations

import textwrap

from sregym_env.kube.explanation import Explanation, FieldDoc, UnknownField, explain
from sregym_env.kube.registry import Resource
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import Flag

_WIDTH = 80


def run(call: Call) -> None:
    """Document a resource or one of its fields."""
    if len(call.args) != 1:
        if not call.args:
            raise failure(
                "You must specify the type of resource to explain. "
                'Use "kubectl api-resources" for a complete list of supported resources.'
            )
        raise failure("We accept only this format: explain RESOURCE")
    if call.flags["output"] not in ("plaintext", "plaintext-openapiv2"):
        raise failure(f"unrecognized format: {call.flags['output']}")
    resource, path = _split(call, call.args[0])
    wanted = call.flags["api-version"]
    if wanted and wanted != resource.api_version:
        resource = _in_version(call, resource, wanted)
    try:
        found = explain(resource, path)
    except UnknownField as error:
        call.print(_heading(resource))
        raise KubectlError(f"error: {error.args[0]}") from None
    call.print(_heading(resource) + _text(found))
    if not found.fields:
        call.print("\n")
        return
    call.print("FIELDS:\n")
    if call.flags["recursive"]:
        call.print("".join(_tree(resource, path, found, 1)) + "\n")
    else:
        call.print("\n".join(_field(field) for field in found.fields) + "\n\n")


def _split(call: Call, word: str) -> tuple[Resource, tuple[str, ...]]:
    """The resource and field path in ``pods.spec.containers``; a group may follow the resource's name."""
    if call.lookup(word) is not None:
        return call.find(word), ()
    token, _, rest = word.partition(".")
    if "," in word:
        raise failure("unrecognized character in action: U+002C ','")
    if not token or "[" in word:
        raise failure("invalid jsonpath syntax, first node must be field node")
    if call.lookup(token) is None:
        raise KubectlError(f'the server doesn\'t have a resource type "{token}"')
    return call.find(token), tuple(part.split("[")[0] for part in rest.split(".") if part)


def _in_version(call: Call, resource: Resource, api_version: str) -> Resource:
    for other in call.registry.resources:
        if other.plural == resource.plural and other.api_version == api_version:
            return other
    shown = api_version if "/" in api_version else f"/{api_version}"
    raise failure(f'couldn\'t find resource for "{shown}, Resource={resource.plural}"')


def _heading(resource: Resource) -> str:
    group = f"GROUP:      {resource.group}\n" if resource.group else ""
    return f"{group}KIND:       {resource.kind}\nVERSION:    {resource.version}\n\n"


def _text(found: Explanation) -> str:
    lines = []
    if found.field:
        values = "".join(f"    {value}\n" for value in found.enum)
        below = f"ENUM:\n{values}\n" if values else "\n\n"
        lines.append(f"FIELD: {found.field} {found.type}\n{below}")
    lines.append("DESCRIPTION:\n")
    lines.append(f"{_wrapped(found.description)}    \n" if found.description else "    <empty>\n")
    return "".join(lines)


def _wrapped(text: str) -> str:
    out = []
    for paragraph in text.split("\n"):
        if paragraph.startswith("\t"):
            out.append(f"    {paragraph}\n")  # an example is shown as it is
            continue
        pieces = textwrap.wrap(paragraph, _WIDTH - 4, break_long_words=False, break_on_hyphens=False) or [""]
        out += [f"    {piece}\n" for piece in pieces]
    return "".join(out)


def _field(field: FieldDoc) -> str:
    required = " -required-" if field.required else ""
    text = _wrapped(field.description or "<no description>")
    return f"  {field.name}\t{field.type}{required}\n{_values(field, '  ')}{text}"


def _values(field: FieldDoc, indent: str) -> str:
    """The values of an enumeration, below its field."""
    return f"{indent}enum: {', '.join(field.enum)}\n" if field.enum else ""


def _tree(
    resource: Resource, path: tuple[str, ...], found: Explanation, depth: int, above: tuple[str, ...] = ()
) -> list[str]:
    out = []
    for field in found.fields:
        required = " -required-" if field.required else ""
        out.append(f"{'  ' * depth}{field.name}\t{field.type}{required}\n{_values(field, '  ' * depth)}")
        inner = explain(resource, (*path, field.name))
        kind = field.type.strip("<>[]")
        named = kind != "Object"  # an object without a name of its type cannot contain itself
        recursive = named and any(other.type.strip("<>[]") == kind for other in inner.fields)
        if inner.fields and not (named and kind in above) and not recursive:
            out += _tree(resource, (*path, field.name), inner, depth + 1, (*above, kind))
    return out


VERB = Verb(
    "explain",
    "Get documentation for a resource",
    run,
    flags=(
        Flag("api-version", help="Use given api-version (group/version) of the resource."),
        Flag("output", "o", default="plaintext", help="Format in which to render the schema."),
        Flag("recursive", kind="bool", help="When true, print the name of all the fields recursively."),
    ),
    usage="explain TYPE [--recursive=FALSE|TRUE] [--api-version=api-version-group] [options]",
    examples=(
        "# Get the documentation of the resource and its fields\n  kubectl explain pods",
        "# Get the documentation of a specific field of a resource\n  kubectl explain pods.spec.containers",
    ),
    group="Basic Commands (Intermediate)",
)
