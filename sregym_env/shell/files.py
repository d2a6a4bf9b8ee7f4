"""An in-memory file tree for the shell that forks cheaply and takes its times from the caller's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from just_bash.fs import in_memory_fs
from just_bash.fs.in_memory_fs import DirectoryEntry, FileEntry, InMemoryFs, SymlinkEntry


def encoded(text: str) -> bytes:
    """The bytes that a text stands for: UTF-8, with bytes that are none as lone surrogates (PEP 383)."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        return text.encode("utf-8", "replace")


def decoded(data: bytes) -> str:
    """The text that stands for bytes; :func:`encoded` gives them back."""
    return data.decode("utf-8", "surrogateescape")


MAX_BYTES = 32 * 1024 * 1024
"""Everything one tree may hold; more is "No space left on device"."""


class Files(InMemoryFs):  # type: ignore[misc]
    """Directories, text files and symbolic links of one machine or container.

    ``mtime`` is what a newly written file gets, Unix seconds; the owner sets it before running commands.
    """

    def __init__(self, files: Mapping[str, str] | None = None, *, mtime: float = 0.0) -> None:
        self._data: dict[str, Any] = {"/": DirectoryEntry(mtime=mtime)}
        self.mtime = mtime
        self._bytes = 0
        for path in ("/home", "/tmp"):
            self._data[path] = DirectoryEntry(mtime=mtime)
        if files:
            self.add(files)

    def add(self, files: Mapping[str, str]) -> None:
        """Put text files at absolute, normal paths, with their parent directories; a path with a slash at its end
        is a directory."""
        data = self._data
        mtime = self.mtime
        for path, text in files.items():
            self._parents(path)
            if path[-1] == "/":
                continue
            data[path] = FileEntry(content=encoded(text), mtime=mtime)

    def add_directories(self, paths: Iterable[str]) -> None:
        """Make sure directories exist."""
        for path in paths:
            self._parents(path)
            if path not in self._data:
                self._data[path] = DirectoryEntry(mtime=self.mtime)

    def text(self, path: str) -> str | None:
        """A file's text, or None where there is no file."""
        entry = self._data.get(self._resolve_path_with_symlinks(path))
        return decoded(entry.content) if isinstance(entry, FileEntry) else None

    def bytes_of(self, path: str) -> bytes | None:
        """A file's bytes, or None where there is no file."""
        entry = self._data.get(self._resolve_path_with_symlinks(path))
        return entry.content if isinstance(entry, FileEntry) else None

    def entry(self, path: str) -> Any:
        """What is at an absolute path, links followed; None where there is nothing."""
        return self._data.get(self._resolve_path_with_symlinks(path))

    def put_link(self, path: str, target: str) -> None:
        """Make a symbolic link at an absolute path."""
        self._parents(path)
        self._data[path] = SymlinkEntry(target=target, mtime=self.mtime)

    def is_folder(self, path: str) -> bool:
        """Whether there is a directory at an absolute path."""
        return isinstance(self._data.get(self._resolve_path_with_symlinks(path)), DirectoryEntry)

    def put_bytes(self, path: str, data: bytes) -> None:
        """Write a file at an absolute path. Raises OSError where that cannot be (a directory, a full disk)."""
        self._write_file_sync(path, data)

    def remove(self, path: str) -> None:
        """Remove the file at an absolute path, if there is one."""
        self._data.pop(self._normalize_path(path), None)

    def below(self, path: str) -> list[tuple[str, Any]]:
        """(path relative to the directory, entry) of everything in a directory, sorted; nothing for no directory."""
        root = self._resolve_path_with_symlinks(path).rstrip("/") + "/"
        return sorted(
            (name[len(root) :], entry)
            for name, entry in self._data.items()
            if name.startswith(root) and name != root
        )

    async def read_file(self, path: str, encoding: str = "utf-8") -> str:
        """A file's text. Raises FileNotFoundError, IsADirectoryError."""
        return decoded(await self.read_file_bytes(path))

    def texts(self) -> dict[str, str]:
        """Every regular file's text by path."""
        return {
            path: decoded(entry.content) for path, entry in self._data.items() if isinstance(entry, FileEntry)
        }

    def tree(self) -> dict[str, str]:
        """Every regular file's text by path, and every directory as its path and a slash with no text."""
        found: dict[str, str] = {}
        for path, entry in self._data.items():
            if isinstance(entry, FileEntry):
                found[path] = decoded(entry.content)
            elif isinstance(entry, DirectoryEntry):
                found[f"{path}/"] = ""
        return found

    def fork(self) -> Files:
        """An independent tree with the same entries; entries themselves are shared and never changed."""
        copy = Files.__new__(Files)
        copy._data = self._data.copy()
        copy.mtime = self.mtime
        copy._bytes = self._bytes
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """Entries as plain values: their classes cannot be found by name (see below)."""
        entries = {path: (_KINDS.index(type(entry)), vars(entry)) for path, entry in self._data.items()}
        return {"mtime": self.mtime, "_bytes": self._bytes, "entries": entries}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.mtime, self._bytes = state["mtime"], state["_bytes"]
        self._data = {path: _KINDS[kind](**fields) for path, (kind, fields) in state["entries"].items()}

    def _parents(self, path: str) -> None:
        parent = path.rpartition("/")[0]
        while parent and parent not in self._data:
            self._data[parent] = DirectoryEntry(mtime=self.mtime)
            parent = parent.rpartition("/")[0]

    def _write_file_sync(self, path: str, content: str | bytes, encoding: str = "utf-8") -> None:
        data = encoded(content) if isinstance(content, str) else content
        self._bytes += len(data)
        if self._bytes > MAX_BYTES:
            raise OSError(f"ENOSPC: no space left on device, write '{path}'")
        normal = self._normalize_path(path)
        if isinstance(self._data.get(normal), DirectoryEntry):
            raise IsADirectoryError(f"EISDIR: illegal operation on a directory, write '{path}'")
        if normal == "/dev/null":
            return
        self._ensure_parent_dirs(normal)
        self._data[normal] = FileEntry(content=data, mtime=self.mtime)

    async def append_file(self, path: str, content: str | bytes, encoding: str = "utf-8") -> None:
        """Add to the end of a file, creating it where it is not."""
        known = self._data.get(self._normalize_path(path))
        data = encoded(content) if isinstance(content, str) else content
        self._write_file_sync(path, known.content + data if isinstance(known, FileEntry) else data)


_KINDS: tuple[Callable[..., Any], ...] = (FileEntry, DirectoryEntry, SymlinkEntry)


class Clock:
    """The present of the shell that runs now, Unix seconds; :class:`~sregym_env.shell.shell.Shell` sets it."""

    now = 0.0


def _stamped(kind: Callable[..., Any]) -> Callable[..., Any]:
    """A constructor of entries that carry the shell's time where the interpreter would read the wall clock."""

    def make(**fields: Any) -> Any:
        fields.setdefault("mtime", Clock.now)
        return kind(**fields)

    return make


in_memory_fs.FileEntry = _stamped(FileEntry)
in_memory_fs.DirectoryEntry = _stamped(DirectoryEntry)
in_memory_fs.SymlinkEntry = _stamped(SymlinkEntry)

__all__ = ["MAX_BYTES", "Clock", "DirectoryEntry", "FileEntry", "Files", "SymlinkEntry", "decoded", "encoded"]
