"""An in-memory file tree for the shell that forks cheaply and takes its times from its owner."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from errno import EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOSPC, ENOTDIR, ENOTEMPTY
from os import strerror
from typing import Any

from sregym_env.runtime import bulk, effort
from sregym_env.runtime.clock import SECOND
from sregym_env.shell.crowds import Crowd, joined, packed, unpacked


def encoded(text: str) -> bytes:
    """The bytes that a text stands for: UTF-8, with bytes that are none as lone surrogates (PEP 383)."""
    if type(text) is Crowd:
        return packed(text, [encoded(part) for _, part in text.parts])
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        return text.encode("utf-8", "replace")


def decoded(data: bytes) -> str:
    """The text that stands for bytes; :func:`encoded` gives them back."""
    if data[:1] == b"\0" and (known := unpacked(data)) is not None:
        return Crowd((times, decoded(body)) for times, body in known)
    return data.decode("utf-8", "surrogateescape")


def readable(text: str) -> str:
    """The text as a terminal shows it and as an API takes it: no lone surrogates, whatever they stood for."""
    return text if text.isascii() else encoded(text).decode("utf-8", "replace")


MAX_BYTES = 32 * 1024 * 1024
"""Everything that may be written to one tree; more is "No space left on device"."""
MAX_ENTRIES = 65_536
"""Files and directories of one tree: the inodes of a file system of 1 GiB. More is "No space left on device"."""
PATH_MAX = 4096
NAME_MAX = 255
"""Bytes of a path, and of a name in it (``linux/limits.h``); here characters."""
LOOK_EFFORT = 0.25
CHANGE_EFFORT = 4.0
"""What it costs to look at an entry of a tree, and to put one there (units of ``runtime/effort.py``)."""
MOST_LINKS = 40
"""Symbolic links that one path may lead over."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A regular file."""

    content: bytes = b""
    mode: int = 0o644
    mtime: float = 0.0


class LateEntry(FileEntry):
    """A file that the kernel writes when somebody reads it: its content is found then, and never looked at otherwise."""

    __slots__ = ("_text",)
    _text: Callable[[], str]

    def __init__(self, text: Callable[[], str], mtime: float = 0.0) -> None:
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "mode", 0o444)
        object.__setattr__(self, "mtime", mtime)

    @property
    def content(self) -> bytes:
        """What is in it now."""
        return encoded(self._text())


class GrowingEntry(LateEntry):
    """A file of which content, size and time are found when they are asked for, such as a log that somebody goes on writing."""

    __slots__ = ("_size", "_when")
    _size: Callable[[], int]
    _when: Callable[[], float]

    def __init__(
        self, text: Callable[[], str], size: Callable[[], int], when: Callable[[], float], mode: int = 0o640
    ) -> None:
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_size", size)
        object.__setattr__(self, "_when", when)
        object.__setattr__(self, "mode", mode)

    @property
    def size(self) -> int:
        """Bytes that are in it now."""
        return self._size()

    @property
    def mtime(self) -> float:
        """When it was written last."""
        return self._when()


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """A directory."""

    mode: int = 0o755
    mtime: float = 0.0


@dataclass(frozen=True, slots=True)
class SymlinkEntry:
    """A symbolic link."""

    target: str
    mode: int = 0o777
    mtime: float = 0.0


Entry = FileEntry | DirectoryEntry | SymlinkEntry


def _error(kind: type[OSError], code: int, path: str) -> OSError:
    return kind(code, strerror(code), path)


def _altered(entry: Entry, mode: int | None = None, mtime: float | None = None) -> Entry:
    """An entry with other permissions or another time; what is found when it is asked for stays as it is now."""
    mode, mtime = entry.mode if mode is None else mode, entry.mtime if mtime is None else mtime
    if isinstance(entry, LateEntry):
        return FileEntry(entry.content, mode, mtime)
    return replace(entry, mode=mode, mtime=mtime)


def _kept(entry: FileEntry) -> str:
    """The text that a file keeps: none where it is written for each who reads it."""
    return "" if isinstance(entry, LateEntry) else decoded(entry.content)


def _tree(entries: Iterable[tuple[str, Entry]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path, entry in entries:
        if isinstance(entry, FileEntry):
            found[path] = _kept(entry)
        elif isinstance(entry, DirectoryEntry):
            found[f"{path}/"] = ""
    return found


class Files:
    """Directories, text files and symbolic links of one machine or container.

    ``mtime`` is what a newly written file gets, Unix seconds; the owner sets it before running commands.
    Every error is an OSError with the number and the text of the system's.
    """

    __slots__ = ("_children", "_data", "_links", "_written", "crowded", "mtime")

    def __init__(self, files: Mapping[str, str] | None = None, *, mtime: float = 0.0) -> None:
        folder = DirectoryEntry(mtime=mtime)
        self._data: dict[str, Entry] = {"/": folder, "/home": folder, "/tmp": folder}
        self._links = False
        """Whether there may be a symbolic link."""
        self.mtime = mtime
        self.crowded = False
        """Whether there may be a file with a text in parts (:mod:`sregym_env.shell.crowds`)."""
        self._written = 0
        self._children: dict[str, list[str]] | None = None
        """Sorted names by directory; None when it must be made anew. It is never changed once made."""
        if files:
            self.add(files)

    def fork(self) -> Files:
        """An independent tree with the same entries; entries themselves are shared and never changed."""
        copy = Files.__new__(Files)
        copy._data = self._data.copy()
        copy.mtime, copy._written, copy._links = self.mtime, self._written, self._links
        copy.crowded = self.crowded
        copy._children = self._children
        return copy

    def point(self) -> Files | None:
        """How the tree is now, for :meth:`back`; None where nobody has looked into it."""
        return self.fork()

    def back(self, point: Files | None) -> None:
        """Be as at a point: what was written here since is forgotten."""
        assert point is not None
        self._data = point._data.copy()
        self._written, self._links, self._children = point._written, point._links, point._children
        self.crowded = point.crowded

    # --- setting up ---------------------------------------------------------------------------------

    def add(self, files: Mapping[str, str]) -> None:
        """Put text files at absolute, normal paths, with their parent directories; a path with a slash at its end
        is a directory."""
        data = self._data
        mtime = self.mtime
        for path, text in files.items():
            self._parents(path)
            if path[-1] == "/":
                continue
            written = bulk.written(text)
            self.crowded = self.crowded or type(text) is Crowd
            data[path] = FileEntry(encoded(text), 0o644, mtime if written is None else written / SECOND)
        self._children = None

    def add_late(self, files: Mapping[str, Callable[[], str]]) -> None:
        """Put files at absolute, normal paths that are written when they are read."""
        for path, text in files.items():
            self._parents(path)
            self._data[path] = LateEntry(text, self.mtime)
        self._children = None

    def add_entries(self, entries: Mapping[str, Entry]) -> None:
        """Put entries as they are at absolute, normal paths, with their parent directories."""
        for path, entry in entries.items():
            self._parents(path)
            self._data[path] = entry
            self._links = self._links or isinstance(entry, SymlinkEntry)
        self._children = None

    def restamp(self, root: str, change: Callable[[str, Entry], Entry]) -> None:
        """Have entries at and below a directory, named by their paths relative to it, be as ``change`` has them; what is
        found when it is asked for stays."""
        start = len(root.rstrip("/")) + 1
        for path, entry in self._data.items():
            if (path == root or path.startswith(root.rstrip("/") + "/")) and not isinstance(entry, LateEntry):
                self._data[path] = change(path[start:], entry)

    def rooted(self, path: str) -> Files:
        """The tree below a directory as one of its own, as ``chroot`` shows it."""
        made = Files(mtime=self.mtime)
        root = self.real(path).rstrip("/") or "/"
        made._data = {"/": self._data[root], **{f"/{name}": entry for name, entry in self.below(path)}}
        made._links, made.crowded = self._links, self.crowded
        return made

    def add_directories(self, paths: Iterable[str]) -> None:
        """Make sure directories exist."""
        for path in paths:
            self._parents(path)
            if path not in self._data:
                self._data[path] = DirectoryEntry(mtime=self.mtime)
        self._children = None

    def _parents(self, path: str) -> None:
        parent = path.rpartition("/")[0]
        while parent and parent not in self._data:
            self._data[parent] = DirectoryEntry(mtime=self.mtime)
            parent = parent.rpartition("/")[0]

    # --- paths --------------------------------------------------------------------------------------

    @staticmethod
    def resolve_path(base: str, path: str) -> str:
        """An absolute normal path."""
        normal = posixpath.normpath(posixpath.join(base, path)) if path else base
        return normal[1:] if normal.startswith("//") else normal

    def real(self, path: str) -> str:
        """The path with all links followed. Raises OSError for links that lead in a circle."""
        if not self._links:
            return path
        seen = 0
        done = ""
        waiting = [part for part in reversed(path.split("/")) if part]
        while waiting:
            part = waiting.pop()
            if part == "..":
                done = done.rpartition("/")[0]
                continue
            if part == ".":
                continue
            entry = self._data.get(f"{done}/{part}")
            if not isinstance(entry, SymlinkEntry):
                done = f"{done}/{part}"
                continue
            seen += 1
            if seen > MOST_LINKS:
                raise _error(OSError, ELOOP, path)
            if entry.target.startswith("/"):
                done = ""
            waiting += [step for step in reversed(entry.target.split("/")) if step]
        return done or "/"

    def _place(self, path: str) -> str:
        """Where an entry at a path is kept: links in its directory are followed, it itself is not."""
        if not self._links:
            return path
        folder, _, name = path.rpartition("/")
        real = self.real(folder or "/")
        return f"{real.rstrip('/')}/{name}" if name else real

    # --- looking ------------------------------------------------------------------------------------

    def entry(self, path: str) -> Entry | None:
        """What is at an absolute path, links followed; None where there is nothing."""
        try:
            return self._data.get(self.real(path))
        except OSError:
            return None

    def own_entry(self, path: str) -> Entry | None:
        """What is at an absolute path, the link itself if it is one."""
        return self._data.get(self._place(path))

    def bytes_of(self, path: str) -> bytes | None:
        """A file's bytes, or None where there is no file."""
        entry = self.entry(path)
        return entry.content if isinstance(entry, FileEntry) else None

    def text(self, path: str) -> str | None:
        """A file's text, or None where there is no file."""
        data = self.bytes_of(path)
        return None if data is None else decoded(data)

    def read(self, path: str) -> bytes:
        """A file's bytes. Raises FileNotFoundError, IsADirectoryError, NotADirectoryError."""
        if path == "/dev/null":
            return b""
        entry = self._data.get(self.real(path))
        if isinstance(entry, FileEntry):
            return entry.content
        if isinstance(entry, DirectoryEntry):
            raise _error(IsADirectoryError, EISDIR, path)
        self._check_folder(path)
        raise _error(FileNotFoundError, ENOENT, path)

    def read_text(self, path: str) -> str:
        """A file's text; see :meth:`read`."""
        return decoded(self.read(path))

    def _check_folder(self, path: str) -> None:
        """Complain where a directory of a path is a file."""
        folder = path.rpartition("/")[0]
        while folder:
            entry = self.entry(folder)
            if isinstance(entry, FileEntry):
                raise _error(NotADirectoryError, ENOTDIR, path)
            if entry is not None:
                return
            folder = folder.rpartition("/")[0]

    def is_folder(self, path: str) -> bool:
        """Whether there is a directory at an absolute path."""
        return isinstance(self.entry(path), DirectoryEntry)

    def names(self, path: str) -> list[str]:
        """Names of what is directly in a directory, sorted; nothing for no directory."""
        try:
            real = self.real(path)
        except OSError:
            return []
        children = self._children
        if children is None:
            effort.spend(4 * LOOK_EFFORT * len(self._data))
            children = {}
            for each in sorted(self._data):
                folder, _, name = each.rpartition("/")
                if name:
                    children.setdefault(folder or "/", []).append(name)
            self._children = children
        return children.get(real, [])[:]

    def below(self, path: str) -> list[tuple[str, Entry]]:
        """(path relative to the directory, entry) of everything in a directory, sorted; nothing for no directory."""
        root = self.real(path).rstrip("/") + "/"
        effort.spend(LOOK_EFFORT * len(self._data))
        return sorted(
            (
                (name[len(root) :], entry)
                for name, entry in self._data.items()
                if name.startswith(root) and name != root
            ),
            key=lambda item: item[0],
        )

    def texts(self) -> dict[str, str]:
        """Every regular file's text by path."""
        return {path: _kept(entry) for path, entry in self._data.items() if isinstance(entry, FileEntry)}

    def tree(self) -> dict[str, str]:
        """Every regular file's text by path, and every directory as its path and a slash with no text."""
        return _tree(self._data.items())

    # --- changing -----------------------------------------------------------------------------------

    def put_bytes(self, path: str, data: bytes) -> None:
        """Write a file at an absolute path, making the directories it lies in. Raises OSError where that cannot be
        (a directory, a full disk)."""
        self._put(path, data, len(data))

    def _put(self, path: str, data: bytes, fresh: int) -> None:
        """Write a file of which ``fresh`` bytes are new."""
        if path == "/dev/null":
            return
        self._written += fresh
        if self._written > MAX_BYTES:
            raise _error(OSError, ENOSPC, path)
        real = self.real(path)
        known = self._data.get(real)
        if isinstance(known, DirectoryEntry):
            raise _error(IsADirectoryError, EISDIR, path)
        self._check_folder(real)
        if known is None:
            self._check_room(real)
            self._parents(real)
            self._children = None
        self.crowded = self.crowded or (data[:1] == b"\0" and unpacked(data) is not None)
        self._data[real] = FileEntry(data, 0o644 if known is None else known.mode, self.mtime)

    def put_text(self, path: str, text: str) -> None:
        """Write a text file; see :meth:`put_bytes`."""
        self.put_bytes(path, encoded(text))

    def append_bytes(self, path: str, data: bytes) -> None:
        """Add to the end of a file, making it where it is not; see :meth:`put_bytes`."""
        before = self.bytes_of(path) or b""
        whole = before + data
        if before and b"\0" in (before[:1], data[:1]):
            # Texts in parts are none within another.
            whole = encoded(joined([decoded(before), decoded(data)]))
        self._put(path, whole, len(data))

    def put_link(self, path: str, target: str) -> None:
        """Make a symbolic link at an absolute path. Raises OSError for a full disk and for names that are too long."""
        self._check_room(path)
        self._parents(path)
        self._data[self._place(path)] = SymlinkEntry(target, mtime=self.mtime)
        self._links, self._children = True, None

    def make_directory(self, path: str) -> None:
        """Make one directory. Raises FileExistsError, FileNotFoundError, NotADirectoryError."""
        place = self._place(path)
        if place in self._data:
            raise _error(FileExistsError, EEXIST, path)
        parent = self._data.get(place.rpartition("/")[0] or "/")
        if not isinstance(parent, DirectoryEntry):
            self._check_folder(place)
            raise _error(FileNotFoundError, ENOENT, path)
        self._check_room(place)
        self._data[place] = DirectoryEntry(mtime=self.mtime)
        self._children = None

    def remove(self, path: str) -> None:
        """Remove the file or link at an absolute path, if there is one."""
        self._data.pop(self._place(path), None)
        self._children = None

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory. Raises OSError."""
        place = self._place(path)
        entry = self._data.get(place)
        if entry is None:
            raise _error(FileNotFoundError, ENOENT, path)
        if not isinstance(entry, DirectoryEntry):
            raise _error(NotADirectoryError, ENOTDIR, path)
        if self.names(place):
            raise _error(OSError, ENOTEMPTY, path)
        del self._data[place]
        self._children = None

    def remove_tree(self, path: str) -> None:
        """Remove what is at a path with everything in it."""
        place = self._place(path)
        effort.spend(LOOK_EFFORT * len(self._data))
        for name in [name for name in self._data if name == place or name.startswith(f"{place}/")]:
            del self._data[name]
        self._children = None

    def put_entry(self, path: str, entry: Entry) -> None:
        """Put an entry as it is, as a copy does. Raises OSError for a full disk and for names that are too long."""
        if isinstance(entry, GrowingEntry):
            entry = FileEntry(entry.content, entry.mode, entry.mtime)
        if isinstance(entry, FileEntry):
            self._written += len(entry.content)
            if self._written > MAX_BYTES:
                raise _error(OSError, ENOSPC, path)
        elif isinstance(entry, SymlinkEntry):
            self._links = True
        place = self._place(path)
        self._check_folder(place)
        if place not in self._data:
            self._check_room(place)
            self._parents(place)
        self._data[place] = entry
        self._children = None

    def copy_tree(self, path: str, to: str, *, over: bool = True) -> None:
        """Put what is in a directory into another, which is made where it is not there; ``over`` what is there already.

        Raises OSError for a full disk and for names that are too long.
        """
        inside = self.below(path)
        if not self.is_folder(to):
            self.put_entry(to, DirectoryEntry(mtime=self.mtime))
        for name, entry in inside:
            place = f"{to.rstrip('/')}/{name}"
            known = self.own_entry(place)
            if known is None or (over and not isinstance(entry, DirectoryEntry)):
                self.put_entry(place, entry)

    def move_tree(self, path: str, to: str) -> None:
        """Give what is at a path, with everything in it, another one. Raises OSError for names that are too long."""
        place, goal = self._place(path), self._place(to)
        inside = [
            (goal, self._data[place]),
            *((f"{goal}/{name}", entry) for name, entry in self.below(place)),
        ]
        longest = max((name for name, _ in inside), key=len)
        if len(longest) > PATH_MAX:
            raise _error(OSError, ENAMETOOLONG, path)
        effort.spend(CHANGE_EFFORT * len(inside))
        self.remove_tree(path)
        self.remove_tree(to)
        self._parents(goal)
        self._data.update(inside)

    def _check_room(self, path: str) -> None:
        """Complain where another entry finds no room. Raises OSError."""
        effort.spend(CHANGE_EFFORT)
        if len(path) > PATH_MAX or len(path.rpartition("/")[2]) > NAME_MAX:
            raise _error(OSError, ENAMETOOLONG, path)
        if len(self._data) >= MAX_ENTRIES:
            raise _error(OSError, ENOSPC, path)

    def touch(self, path: str, mtime: float) -> None:
        """Set the time of what is at a path, making an empty file where there is nothing. Raises OSError."""
        real = self.real(path)
        entry = self._data.get(real)
        if entry is None:
            self.put_bytes(path, b"")
            entry = self._data[real]
        self._data[real] = _altered(entry, mtime=mtime)

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permissions of what is at a path. Raises FileNotFoundError."""
        real = self.real(path)
        entry = self._data.get(real)
        if entry is None:
            raise _error(FileNotFoundError, ENOENT, path)
        self._data[real] = _altered(entry, mode=mode)

    def walk(self, path: str) -> Iterator[tuple[str, Entry]]:
        """Every path below a directory and what is there, parents first, in order of names; links are not followed."""
        for name in self.names(path):
            inner = f"{path.rstrip('/')}/{name}"
            entry = self.own_entry(inner)
            if entry is None:
                continue
            yield inner, entry
            if isinstance(entry, DirectoryEntry):
                yield from self.walk(inner)


class LateFiles(Files):
    """A tree that is made when somebody first looks into it, which most commands never do; it knows what was changed since.

    ``make`` fills it; what that writes bears the time at which the tree was asked for.
    """

    __slots__ = ("_asked", "_made", "_make")

    def __init__(self, make: Callable[[Files], None], *, mtime: float = 0.0) -> None:
        self._make = make
        self._asked = self.mtime = mtime

    def __getattr__(self, name: str) -> Any:
        # Asked only for what is not there: until the tree is made that is all of it.
        if name not in Files.__slots__:
            raise AttributeError(name)
        mtime = self.mtime
        super().__init__(mtime=self._asked)
        self._make(self)
        self._made, self.mtime = self.fork(), mtime
        return getattr(self, name)

    def _is_made(self) -> bool:
        return getattr(self, "_made", None) is not None

    def point(self) -> Files | None:
        """How the tree is now: nobody needs it made for that."""
        return self.fork() if self._is_made() else None

    def back(self, point: Files | None) -> None:
        """Be as at a point: where nobody had looked into it, as it was made since."""
        if self._is_made():
            super().back(self._made if point is None else point)

    def changed(self) -> dict[str, str | None]:
        """What is otherwise than it was made, as :meth:`tree` tells it; None for what is gone. Sorted by path."""
        if not self._is_made():
            return {}
        made: Mapping[str, Entry] = self._made._data
        paths = {path for path, entry in self._data.items() if made.get(path) is not entry}
        paths |= made.keys() - self._data.keys()
        now, then = (
            _tree((path, entries[path]) for path in paths if path in entries)
            for entries in (self._data, made)
        )
        return {path: now.get(path) for path in sorted({*now, *then}) if now.get(path) != then.get(path)}
