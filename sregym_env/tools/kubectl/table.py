"""Tables of objects, as ``get`` and ``get --watch`` print them."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.kube.registry import Resource
from sregym_env.kube.tables import Printer, cell_text, format_labels, printer, since
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call


class TablePrinter:
    """Tables of objects with the columns the flags ask for."""

    __slots__ = ("_call", "_headers", "_labels", "_show_labels", "_wide")

    def __init__(self, call: Call, *, wide: bool) -> None:
        self._call = call
        self._wide = wide
        self._headers = not call.flags.get("no-headers")
        self._labels: tuple[str, ...] = call.flags.get("label-columns") or ()
        self._show_labels = bool(call.flags.get("show-labels"))

    def lines(
        self, resource: Resource, objects: Sequence[Manifest], *, kind: bool, headers: bool | None = None
    ) -> list[list[str]]:
        """Cells of the table of one type, header line first when wanted."""
        call = self._call
        if call.flags.get("server-print") is False:
            return self._plain_lines(resource, objects, headers)
        chosen = printer(resource)
        with_namespace = call.all_namespaces and resource.namespaced
        out: list[list[str]] = []
        if self._headers if headers is None else headers:
            out.append(self._header(chosen, with_namespace))
        prefix = resource.group_kind.lower() + "/" if kind else ""
        name_at = next((i for i, c in enumerate(chosen.columns) if c.format == "name"), -1)
        now, wide = call.cluster.now(), self._wide
        plain = not (with_namespace or prefix or self._labels or self._show_labels)
        for obj in objects:
            line = [
                cell if type(cell) is str and "\n" not in cell else cell_text(cell)
                for cell in chosen.cells(obj, now, wide)
            ]
            if not plain:
                if prefix and 0 <= name_at < len(line):
                    line[name_at] = prefix + line[name_at]
                self._decorate(line, obj, with_namespace)
            out.append(line)
        return out

    def _plain_lines(
        self, resource: Resource, objects: Sequence[Manifest], headers: bool | None
    ) -> list[list[str]]:
        """What kubectl makes of objects without the server's help: their names and ages."""
        with_namespace = self._call.all_namespaces and resource.namespaced
        head = [*(["NAMESPACE"] if with_namespace else []), "NAME", "AGE"]
        lines = [head] if (self._headers if headers is None else headers) else []
        for obj in objects:
            metadata = obj["metadata"]
            line = [metadata["name"], since(metadata.get("creationTimestamp"), self._call.cluster.now())]
            lines.append([metadata.get("namespace", ""), *line] if with_namespace else line)
        return lines

    def _header(self, chosen: Printer, with_namespace: bool) -> list[str]:
        header = ["NAMESPACE"] if with_namespace else []
        header += chosen.headers(self._wide)
        header += [label.rpartition("/")[2].upper() for label in self._labels]
        if self._show_labels:
            header.append("LABELS")
        return header

    def _decorate(self, line: list[str], obj: Manifest, with_namespace: bool) -> None:
        metadata = obj["metadata"]
        if with_namespace:
            line.insert(0, metadata.get("namespace", ""))
        labels = metadata.get("labels") or {}
        line.extend(labels.get(label, "") for label in self._labels)
        if self._show_labels:
            line.append(format_labels(labels))
