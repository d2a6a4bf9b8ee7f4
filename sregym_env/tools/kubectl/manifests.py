"""Manifests a person hands to kubectl: files, directories, standard input; YAML with several documents, or JSON."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence

import yaml
from yaml.scanner import ScannerError

from sregym_env.kube import gojson, yamlin
from sregym_env.kube.types import Json, Manifest
from sregym_env.kube.yamlout import to_compact_json
from sregym_env.tools.kubectl import kustomize
from sregym_env.tools.kubectl.call import Call
from sregym_env.tools.kubectl.errors import KubectlError


def read_sources(call: Call, files: Sequence[str]) -> Iterator[tuple[str, Manifest]]:
    """Every object in the files, lists unrolled, with the name of the file it came from.

    Raises kubectl's errors, after the objects that stand before what is wrong.
    """
    if folder := call.flags.get("kustomize"):
        yield from ((folder, manifest) for manifest in kustomize.built(call, folder))
        return
    found = False
    validate = call.flags.get("validate", "false") not in ("false", "ignore", "warn")
    need_paths(call, files)
    call.connect()
    for path, text in _sources(call, files):
        for manifest in parse_manifests(text, path, validate=validate):
            found = True
            yield path, manifest if manifest.get("apiVersion") else _unversioned(call, manifest, path)
    if not found and call.command not in ("get", "describe", "delete", "replace", "diff"):
        raise KubectlError("error: no objects passed to " + call.command.split()[0])


def _unversioned(call: Call, manifest: Manifest, source: str) -> Manifest:
    """An object of no version is taken for one of the core API's; what is asked for it then is served nowhere."""
    core = {**manifest, "apiVersion": "v1"}
    if call.resource_of(core) is None:
        return manifest
    if call.command in ("describe", "patch"):
        return core
    doing = {"delete": "deleting", "apply": "creating", "create": "creating", "replace": "replacing"}.get(
        call.command
    )
    where = f'error when {doing} "{source}": ' if doing else ""
    raise KubectlError(
        f"Error from server (NotFound): {where}the server could not find the requested resource"
    )


def _sources(call: Call, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in files:
        if path == "-":
            yield "STDIN", call.stdin
        elif path.startswith(("http://", "https://")):
            # No request leaves the process: this is a machine without a way to the outside.
            host = path.split("/")[2]
            raise KubectlError(
                f'error: unable to read URL "{path}": Get "{path}": dial tcp: lookup {host}: no such host'
            )
        else:
            yield from _file(call, path)


def need_paths(call: Call, files: Sequence[str]) -> None:
    """Raise kubectl's complaint about the first path at which there is nothing."""
    for path in files:
        if path != "-" and not path.startswith(("http://", "https://")):
            next(_file(call, path), None)


def _file(call: Call, path: str) -> Iterator[tuple[str, str]]:
    if call.files is None:
        raise KubectlError(f'error: the path "{path}" does not exist')
    try:
        yield path, call.files.read_text(path)
        return
    except IsADirectoryError:
        pass
    except OSError:
        raise KubectlError(f'error: the path "{path}" does not exist') from None
    names = [n for n in call.files.list_files(path) if n.endswith((".yaml", ".yml", ".json"))]
    if not names:
        raise KubectlError(
            f"error: error reading [{path}]: recognized file extensions are [.json .yaml .yml]"
        )
    for name in names:
        full = name if "/" in name else posixpath.join(path, name)
        yield full, call.files.read_text(full)


def parse_manifests(text: str, source: str = "STDIN", *, validate: bool = False) -> Iterator[Manifest]:
    """The objects of one text. Raises kubectl's errors about what is not a manifest."""
    for document in _documents(text, source):
        if document is None:
            continue
        if not isinstance(document, dict) and validate:
            raise KubectlError(
                f'error: error validating "{source}": error validating data: invalid object to validate; if you choose '
                "to ignore these errors, turn validation off with --validate=false"
            )
        if not isinstance(document, dict):
            raise KubectlError(
                f'error: unable to decode "{source}": json: cannot unmarshal {json_type(document)} into Go value of '
                "type unstructured.detector"
            )
        if validate:
            _check_type(document, source)
        yield from _unrolled(document, source)


def _documents(text: str, source: str) -> Iterator[Json]:
    """The documents of a text: a stream of JSON where it begins with a brace, else YAML, as kubectl reads them."""
    if is_json(text):
        try:
            for value in gojson.values(text.encode(errors="replace")):
                yield yamlin.plain(json.loads(value))
        except (ValueError, RecursionError, yaml.YAMLError) as error:
            raise KubectlError(f"error: error parsing {source}: {error}") from None
        return
    try:
        documents = yamlin.load_all(text)
    except yaml.YAMLError as error:
        raise KubectlError(
            f"error: error parsing {source}: error converting YAML to JSON: yaml: {yaml_text(error, text)}"
        ) from None
    yield from documents


def is_json(text: str) -> bool:
    """Whether a text is taken to be JSON, right or wrong: it begins with a brace."""
    return text.lstrip(" \t\r\n\v\f").startswith("{")


def json_type(value: Json) -> str:
    """A value's type as Go's JSON decoder names it."""
    if isinstance(value, list | dict):
        return "array" if isinstance(value, list) else "object"
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else "string"


def _check_type(document: Manifest, source: str) -> None:
    """What client-side validation says about a document that does not tell its type."""
    unset = [f"{field} not set" for field in ("apiVersion", "kind") if not document.get(field)]
    if unset:
        text = unset[0] if len(unset) == 1 else f"[{', '.join(unset)}]"
        raise KubectlError(
            f'error: error validating "{source}": error validating data: {text}; if you choose to ignore these '
            "errors, turn validation off with --validate=false"
        )


def _unrolled(document: Manifest, source: str) -> list[Manifest]:
    if not document.get("kind"):
        raise KubectlError(
            f"error: unable to decode \"{source}\": Object 'Kind' is missing in '{to_compact_json(document)}'"
        )
    if str(document["kind"]).endswith("List") and isinstance(document.get("items"), list):
        return [obj for item in document["items"] for obj in _unrolled(item, source)]
    return [document]


def yaml_text(error: yaml.YAMLError, text: str = "") -> str:
    """The parser's complaint about a text. go-yaml counts lines from zero, one more for the scanner, and keeps quiet on zero."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    line = mark.line if mark is not None else 0
    if mark is not None and problem == "found undefined alias":
        lines = text.splitlines()
        name = re.match(r"\*(\w+)", lines[line][mark.column :]) if line < len(lines) else None
        return f"unknown anchor '{name[1] if name else ''}' referenced"
    if line and isinstance(error, ScannerError):
        line += 1
    return f"line {line}: {problem}" if line else str(problem)
