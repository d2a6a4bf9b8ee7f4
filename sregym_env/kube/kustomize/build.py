"""From a directory with a kustomization file to the objects it stands for."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from sregym_env.kube.kustomize import fields
from sregym_env.kube.kustomize.errors import KustomizeError
from sregym_env.kube.kustomize.files import Files, Tree, documents, manifests
from sregym_env.kube.kustomize.generators import combined, generated, with_hash
from sregym_env.kube.kustomize.patching import apply_patch
from sregym_env.kube.kustomize.references import with_names_followed
from sregym_env.kube.kustomize.replacing import apply_replacement
from sregym_env.kube.kustomize.resource import Id, Piece, id_of, in_order
from sregym_env.kube.kustomize.transforming import in_namespace, marked, named, scaled, with_images
from sregym_env.kube.types import Manifest

_DEPRECATED = {
    "bases": "resources",
    "patchesJson6902": "patches",
    "patchesStrategicMerge": "patches",
    "commonLabels": "labels",
    "vars": "replacements",
}
_KNOWN = frozenset(
    "apiVersion kind metadata openapi namePrefix nameSuffix namespace commonLabels labels commonAnnotations "
    "patchesStrategicMerge patchesJson6902 patches images imageTags replacements replicas vars sortOptions resources "
    "components crds bases configMapGenerator secretGenerator helmGlobals helmCharts helmChartInflationGenerator "
    "generatorOptions configurations generators transformers validators buildMetadata".split()
)
_REFUSED = ("vars", "helmCharts", "helmChartInflationGenerator", "generators", "transformers", "validators",
            "configurations", "crds", "openapi", "buildMetadata", "imageTags")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Built:
    """What a kustomization stands for."""

    objects: tuple[Manifest, ...]
    warnings: tuple[str, ...]
    """Lines kustomize writes to stderr: deprecated fields."""
    ordered: bool = False
    """Whether the kustomization says in which order the objects are printed."""


def build(files: Files, folder: str, *, home: str = "/") -> Built:
    """The objects of the kustomization in ``folder``; ``home`` is what paths are shown relative to.

    Raises KustomizeError.
    """
    tree = Tree(files, home)
    builder = _Builder(tree)
    if "://" in folder or folder.startswith("github.com/"):
        raise KustomizeError(
            f"evalsymlink failure on '{folder}' : lstat {tree.shown(folder)}: no such file or directory"
        )
    if not tree.is_folder(folder):
        if tree.text(folder) is not None:
            raise KustomizeError(f"must build at directory: '{folder}': file is not directory")
        raise KustomizeError(
            f"must build at directory: not a valid directory: evalsymlink failure on '{folder}' : "
            f"lstat {tree.shown(folder)}: no such file or directory"
        )
    layer = builder.read(posixpath.normpath(folder))
    pieces = builder.layer(posixpath.normpath(folder), layer, [], ())
    pieces = with_names_followed([with_hash(piece) for piece in pieces])
    options = layer.get("sortOptions") or {}
    legacy = options.get("legacySortOptions") or {}
    ordered = in_order(
        pieces, options.get("order", "legacy"), legacy.get("orderFirst") or [], legacy.get("orderLast") or []
    )
    return Built(tuple(piece.obj for piece in ordered), tuple(builder.warnings), bool(options))


class _Builder:
    """Reads layers and lays them over each other."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.warnings: list[str] = []

    def read(self, folder: str, kind: str = "Kustomization") -> Mapping[str, Any]:
        """The kustomization of a directory, checked."""
        text = self._tree.kustomization(folder)
        try:
            found = documents(text)
        except yaml.YAMLError as error:
            raise KustomizeError(f"invalid Kustomization: {_yaml_complaint(error)}") from None
        layer = found[0] if found else None
        if layer is None:
            raise KustomizeError("kustomization.yaml is empty")
        if not isinstance(layer, dict):
            raise KustomizeError(
                "invalid Kustomization: json: cannot unmarshal "
                f"{'array' if isinstance(layer, list) else 'string'} into Go value of type types.Kustomization"
            )
        unknown = sorted(set(layer) - _KNOWN)
        if unknown:
            raise KustomizeError(f'invalid Kustomization: json: unknown field "{unknown[0]}"')
        for field in _REFUSED:
            if layer.get(field):
                raise KustomizeError(f"{field} are not supported here")
        for old, new in _DEPRECATED.items():
            if layer.get(old):
                self.warnings.append(
                    f"# Warning: '{old}' is deprecated. Please use '{new}' instead. Run 'kustomize edit fix' to update "
                    "your Kustomization automatically."
                )
        return layer

    def layer(
        self, folder: str, layer: Mapping[str, Any], pieces: list[Piece], above: tuple[str, ...]
    ) -> list[Piece]:
        """The objects of one directory: those below it (and ``pieces``), transformed."""
        for entry in [*(layer.get("resources") or ()), *(layer.get("bases") or ())]:
            pieces = self._merge(pieces, self._resource(folder, entry, (*above, folder)), folder, entry)
        pieces = self._generate(folder, layer, pieces)
        for entry in layer.get("components") or ():
            at = posixpath.normpath(posixpath.join(folder, entry))
            component = self.read(at, "Component")
            if component.get("kind") != "Component":
                raise KustomizeError(
                    f"accumulating components: accumulateDirectory: \"expected kind != 'Kustomization' for path '{entry}'\""
                )
            pieces = self.layer(at, component, pieces, (*above, folder))
        return self._transform(folder, layer, pieces)

    def _resource(self, folder: str, entry: str, above: tuple[str, ...]) -> list[Piece]:
        at = posixpath.normpath(posixpath.join(folder, entry))
        text = self._tree.text(at)
        if text is not None:
            try:
                found = manifests(text)
            except yaml.YAMLError as error:
                shown = f"accumulating resources from '{entry}': MalformedYAMLError: yaml: {_yaml_complaint(error)} in File: {entry}"
                raise KustomizeError(f"accumulating resources: {shown}") from None
            return [Piece(_checked(obj, entry, self._tree.shown(at))) for obj in found]
        if self._tree.is_folder(at):
            if at in above:
                where = self._tree.shown(at)
                raise KustomizeError(
                    f"accumulating resources: accumulation err='accumulating resources from '{entry}': '{where}' must "
                    f"resolve to a file': cycle detected: candidate root '{where}' contains visited root '{where}'"
                )
            below = self.read(at)
            if below.get("kind") == "Component":
                raise KustomizeError(
                    f"accumulating resources: accumulation err='accumulating resources from '{entry}': "
                    f"'{self._tree.shown(at)}' must resolve to a file': recursed accumulation of path "
                    f"'{self._tree.shown(at)}': expected kind != 'Component' for path '{entry}'"
                )
            return self.layer(at, below, [], above)
        shown = self._tree.shown(at)
        if "://" in entry or entry.startswith("github.com/"):
            raise KustomizeError(
                f"accumulating resources: accumulation err='accumulating resources from '{entry}': Get \"{entry}\": "
                f"dial tcp: lookup {entry.split('/')[2] if '://' in entry else 'github.com'}: no such host'"
            )
        raise KustomizeError(
            f"accumulating resources: accumulation err='accumulating resources from '{entry}': evalsymlink failure on "
            f"'{shown}' : lstat {shown}: no such file or directory': must build at directory: not a valid directory: "
            f"evalsymlink failure on '{shown}' : lstat {shown}: no such file or directory"
        )

    def _merge(self, pieces: list[Piece], more: Sequence[Piece], folder: str, entry: str) -> list[Piece]:
        known = {piece.id for piece in pieces}
        for piece in more:
            if piece.id in known:
                shown = self._tree.shown(posixpath.join(folder, entry))
                raise KustomizeError(
                    f"accumulating resources: accumulation err='merging resources from '{entry}': may not add resource "
                    f"with an already registered id: {piece.id}': must build at directory: '{shown}': file is not "
                    "directory"
                )
            known.add(piece.id)
        return [*pieces, *more]

    def _generate(self, folder: str, layer: Mapping[str, Any], pieces: list[Piece]) -> list[Piece]:
        common = layer.get("generatorOptions") or {}
        for field, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
            for arguments in layer.get(field) or ():
                made = generated(self._tree, folder, kind, arguments, common)
                pieces = _absorbed(pieces, made, arguments.get("behavior") or "create")
        return pieces

    def _transform(self, folder: str, layer: Mapping[str, Any], pieces: list[Piece]) -> list[Piece]:
        for entry in _patches(layer):
            pieces = apply_patch(pieces, self._tree, folder, entry)
        if namespace := layer.get("namespace"):
            pieces = [in_namespace(piece, namespace) for piece in pieces]
        prefix, suffix = layer.get("namePrefix") or "", layer.get("nameSuffix") or ""
        if prefix or suffix:
            pieces = [named(piece, prefix, suffix) for piece in pieces]
        pieces = [_labelled(piece, layer) for piece in pieces]
        annotations = layer.get("commonAnnotations") or {}
        pieces = [marked(piece, annotations, fields.ANNOTATIONS) for piece in pieces]
        for entry in layer.get("patchesJson6902") or ():
            pieces = apply_patch(pieces, self._tree, folder, entry)
        for entry in layer.get("replicas") or ():
            pieces = scaled(pieces, entry["name"], int(entry.get("count", 0)))
        pieces = [with_images(piece, layer.get("images") or ()) for piece in pieces]
        for entry in layer.get("replacements") or ():
            pieces = self._replaced(folder, entry, pieces)
        return pieces

    def _replaced(self, folder: str, entry: Mapping[str, Any], pieces: list[Piece]) -> list[Piece]:
        if "path" not in entry:
            return apply_replacement(pieces, entry)
        text = self._tree.text(posixpath.normpath(posixpath.join(folder, entry["path"])))
        if text is None:
            shown = self._tree.shown(posixpath.join(folder, entry["path"]))
            raise KustomizeError(
                f"evalsymlink failure on '{shown}' : lstat {shown}: no such file or directory"
            )
        for document in documents(text):
            for each in document if isinstance(document, list) else [document]:
                pieces = apply_replacement(pieces, each)
        return pieces


def _patches(layer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    merges = [
        {"patch": entry} if "\n" in entry else {"path": entry}
        for entry in layer.get("patchesStrategicMerge") or ()
    ]
    return [*merges, *(layer.get("patches") or ())]


def _labelled(piece: Piece, layer: Mapping[str, Any]) -> Piece:
    for entry in layer.get("labels") or ():
        spots: tuple[fields.Spot, ...] = fields.METADATA_LABELS
        if entry.get("includeSelectors"):
            spots = (*fields.SELECTORS, *fields.TEMPLATE_LABELS, *spots)
        elif entry.get("includeTemplates"):
            spots = (*fields.TEMPLATE_LABELS, *spots)
        more = tuple(
            fields.Spot(
                each.get("kind", ""),
                tuple(each["path"].split("/")),
                bool(each.get("create")),
                each.get("group", ""),
            )
            for each in entry.get("fields") or ()
        )
        piece = marked(piece, entry.get("pairs") or {}, (*more, *spots))
    common = layer.get("commonLabels") or {}
    return marked(piece, common, (*fields.SELECTORS, *fields.TEMPLATE_LABELS, *fields.METADATA_LABELS))


def _absorbed(pieces: list[Piece], made: Piece, behavior: str) -> list[Piece]:
    wanted = made.id
    found = [at for at, piece in enumerate(pieces) if any(_same(each, wanted) for each in piece.ids)]
    if behavior == "create":
        if found:
            raise KustomizeError(
                "merging from generator &{<nil> map[] map[]}: id "
                f"{_object_id(wanted)} exists; behavior must be merge or replace"
            )
        return [*pieces, made]
    if not found:
        raise KustomizeError(
            f"merging from generator &{{<nil> map[] map[]}}: id {_object_id(wanted)} does not exist; cannot merge or replace"
        )
    changed = list(pieces)
    changed[found[0]] = combined(pieces[found[0]], made, behavior)
    return changed


def _object_id(found: Id) -> str:
    return f'resid.ResId{{Gvk:resid.Gvk{{Group:"{found.group}", Version:"{found.version}", Kind:"{found.kind}", isClusterScoped:false}}, Name:"{found.name}", Namespace:"{found.namespace}"}}'


def _same(one: Id, other: Id) -> bool:
    return (one.kind, one.group, one.name, one.place) == (other.kind, other.group, other.name, other.place)


def _checked(obj: Any, source: str, shown: str) -> Manifest:
    if not isinstance(obj, dict):
        raise KustomizeError(
            f"accumulating resources: accumulating resources from '{source}': expected a mapping"
        )
    found = id_of(obj)
    if not found.kind:
        raise KustomizeError(
            f"accumulating resources: accumulation err='accumulating resources from '{source}': missing Resource metadata'"
        )
    if not found.name and not (obj.get("metadata") or {}).get("generateName"):
        metadata = obj.get("metadata") or {}
        marks = " ".join(_go_map(metadata.get(field)) for field in ("labels", "annotations"))
        raise KustomizeError(
            f"accumulating resources: accumulation err='accumulating resources from '{source}': missing metadata.name "
            f"in object {{{{{obj.get('apiVersion', '')} {found.kind}}} {{{{ {metadata.get('namespace', '')}}} {marks}}}}}': "
            f"must build at directory: '{shown}': file is not directory"
        )
    return obj


def _go_map(marks: Any) -> str:
    return f"map[{' '.join(f'{k}:{v}' for k, v in sorted((marks or {}).items()))}]"


def _yaml_complaint(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    return f"line {mark.line + 1}: {problem}" if mark is not None else str(problem)
