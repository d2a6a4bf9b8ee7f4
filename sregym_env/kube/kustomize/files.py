"""The directory tree kustomizations are read from."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Any, Protocol

from sregym_env.kube import yamlin
from sregym_env.kube.kustomize.errors import KustomizeError
from sregym_env.kube.types import Manifest

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")


class Files(Protocol):
    """Files by path."""

    def read_text(self, path: str) -> str:
        """Content of a file. Raises FileNotFoundError, IsADirectoryError."""
        ...

    def list_files(self, path: str) -> Sequence[str]:
        """Paths of the files directly in a directory, sorted; empty when ``path`` is no directory."""
        ...


class Tree:
    """The files as seen from the working directory of the person who builds."""

    __slots__ = ("_files", "_home")

    def __init__(self, files: Files, home: str) -> None:
        self._files = files
        self._home = home

    def shown(self, path: str) -> str:
        """The absolute path, as messages name it."""
        return posixpath.normpath(posixpath.join(self._home, path))

    def text(self, path: str) -> str | None:
        """Content of a file, None where there is none."""
        try:
            return self._files.read_text(path)
        except OSError:
            return None

    def is_folder(self, path: str) -> bool:
        """Whether this is a directory with files in it."""
        return bool(self._files.list_files(path))

    def kustomization(self, folder: str) -> str:
        """Text of the kustomization file of a directory. Raises where there is not exactly one."""
        texts = [text for name in NAMES if (text := self.text(posixpath.join(folder, name))) is not None]
        if not texts:
            raise KustomizeError(
                "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory "
                f"'{self.shown(folder)}'"
            )
        if len(texts) > 1:
            raise KustomizeError(f"Found multiple kustomization files under: {self.shown(folder)}\n")
        return texts[0]


def documents(text: str) -> list[Any]:
    """The YAML documents of a text, empty ones left out. Raises yaml.YAMLError."""
    return [document for document in yamlin.load_all(text) if document is not None]


def manifests(text: str) -> list[Manifest]:
    """The objects of a text, lists unrolled. Raises yaml.YAMLError, KustomizeError."""
    found: list[Manifest] = []
    for document in documents(text):
        if not isinstance(document, dict):
            raise KustomizeError(
                "MalformedYAMLError: yaml: unmarshal errors: cannot unmarshal into a resource"
            )
        if str(document.get("kind", "")).endswith("List") and isinstance(document.get("items"), list):
            found.extend(document["items"])
        else:
            found.append(document)
    return found
