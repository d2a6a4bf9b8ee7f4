"""``tar``: archives in memory, byte for byte what other programs read, from standard input and to standard output."""

from __future__ import annotations

import io
import posixpath
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import bulk
from sregym_env.runtime.numbers import whole
from sregym_env.shell.commands.arguments import UsageError, options, reason
from sregym_env.shell.files import MAX_BYTES, DirectoryEntry, FileEntry, Files, SymlinkEntry, decoded, encoded
from sregym_env.shell.run import Call

MAX_MEMBERS = 20_000
"""Files in one archive."""

_BLOCK = 10_240
"""Archives are padded to this size: twenty records."""

_SHORT = "cxtvzjJf:C:mpOPhkokb:X:T:"
_LONG = {
    "create": "c",
    "extract": "x",
    "get": "x",
    "list": "t",
    "verbose": "v",
    "gzip": "z",
    "file": "f:",
    "directory": "C:",
    "touch": "m",
    "to-stdout": "O",
    "preserve-permissions": "p",
    "same-permissions": "p",
    "no-same-permissions": "o",
    "no-same-owner": "o",
    "absolute-names": "P",
    "dereference": "h",
    "keep-old-files": "k",
    "strip-components": "S:",
    "exclude": "E:",
    "overwrite": "o",
    "numeric-owner": "o",
    "warning": "W:",
}

_TRY = "Try 'tar --help' or 'tar --usage' for more information.\n"


class _Failed(Exception):
    """The archive cannot be used; carries tar's complaint."""


@dataclass(slots=True)
class _Request:
    mode: str = ""
    file: str = "-"
    directory: str = ""
    gzip: bool = False
    verbose: int = 0
    to_stdout: bool = False
    touch: bool = False
    keep: bool = False
    absolute: bool = False
    strip: int = 0
    excluded: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


class Tar:
    """The command: create, extract and list, plain or with gzip."""

    name = "tar"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Work on the shell's files; 2 where something could not be done."""
        try:
            request = _request(args)
        except UsageError as error:
            return ExecResult("", f"tar: {error}\n{_TRY}", 2)
        if len(request.mode) != 1:
            text = "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option"
            if not request.mode:
                text = "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options"
            return ExecResult("", f"tar: {text}\n{_TRY}", 2)
        base = ctx.resolve(request.directory or ".")
        if request.directory and not ctx.fs.is_folder(base):
            text = f"tar: {request.directory}: Cannot open: No such file or directory\n"
            return ExecResult("", text + "tar: Error is not recoverable: exiting now\n", 2)
        try:
            if request.mode == "c":
                return _create(request, ctx, ctx.fs, base)
            return _read(request, ctx, ctx.fs, base)
        except _Failed as error:
            return ExecResult("", f"tar: {error}\ntar: Error is not recoverable: exiting now\n", 2)


def _request(args: list[str]) -> _Request:
    """The command line; the first word may be a bundle without a dash, whose values follow in order."""
    words = list(args)
    if words and not words[0].startswith("-"):
        bundle = words.pop(0)
        opened: list[str] = []
        for letter in bundle:
            opened.append(f"-{letter}")
            if f"{letter}:" in _SHORT:
                if not words:
                    raise UsageError(f"Old option '{letter}' requires an argument.")
                opened.append(words.pop(0))
        words = [*opened, *words]
    given, names = options(words, _SHORT, _LONG)
    request = _Request(names=names)
    for letter, value in given:
        _put(request, letter, value)
    return request


def _put(request: _Request, letter: str, value: str) -> None:
    if letter in "cxt":
        request.mode += "" if letter in request.mode else letter
    elif letter == "f":
        request.file = value
    elif letter == "C":
        request.directory = posixpath.join(request.directory, value)
    elif letter == "z":
        request.gzip = True
    elif letter == "v":
        request.verbose += 1
    elif letter == "O":
        request.to_stdout = True
    elif letter == "m":
        request.touch = True
    elif letter == "k":
        request.keep = True
    elif letter == "P":
        request.absolute = True
    elif letter == "S":
        request.strip = whole(value, 0)
    elif letter == "E":
        request.excluded.append(value)


# --- creating ---------------------------------------------------------------------------------------


def _create(request: _Request, ctx: Call, files: Files, base: str) -> ExecResult:
    if not request.names:
        return ExecResult("", f"tar: Cowardly refusing to create an empty archive\n{_TRY}", 2)
    made = io.BytesIO()
    shown: list[str] = []
    complaints: list[str] = []
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in request.names:
            full = files.resolve_path(base, name)
            stored = _stored(name, request.absolute, complaints)
            found = list(_members(files, full, stored))
            if not found:
                complaints.append(f"tar: {name}: Cannot stat: No such file or directory\n")
            for member, entry in found:
                if _excluded(request, member):
                    continue
                _add(archive, member, entry)
                if isinstance(entry, FileEntry) and bulk.size(entry.content) > MAX_BYTES:
                    raise _Failed(f"{request.file}: Cannot write: No space left on device")
                ctx.charge(1000 + (len(entry.content) if isinstance(entry, FileEntry) else 0))
                shown.append(f"{member}/" if isinstance(entry, DirectoryEntry) else member)
                if made.tell() > MAX_BYTES or len(shown) > MAX_MEMBERS:
                    raise _Failed(f"{request.file}: Cannot write: No space left on device")
    data = made.getvalue()
    data = data.ljust(-(-len(data) // _BLOCK) * _BLOCK, b"\0")
    if request.gzip:
        data = _compressed(data)
    failed = any("Removing" not in complaint for complaint in complaints)
    if failed:
        complaints.append("tar: Exiting with failure status due to previous errors\n")
    listing = "".join(f"{name}\n" for name in shown) if request.verbose else ""
    if request.file == "-":
        return ExecResult(decoded(data), listing + "".join(complaints), 2 if failed else 0)
    try:
        files.put_bytes(files.resolve_path(ctx.cwd, request.file), data)
    except OSError as error:
        raise _Failed(f"{request.file}: Cannot open: {reason(error)}") from None
    return ExecResult(listing, "".join(complaints), 2 if failed else 0)


def _stored(name: str, absolute: bool, complaints: list[str]) -> str:
    """The name under which a member is kept: relative, unless asked otherwise."""
    bare = name if absolute else name.lstrip("/")
    if bare != name:
        complaints.append("tar: Removing leading `/' from member names\n")
    return bare.rstrip("/") or ("." if not name.startswith("/") else "./")


def _members(files: Files, full: str, stored: str) -> Iterator[tuple[str, Any]]:
    """(member name, entry) of a file or of a directory and everything in it."""
    entry = files.entry(full)
    if entry is None:
        return
    yield stored, entry
    if isinstance(entry, DirectoryEntry):
        for name, inner in files.below(full):
            yield posixpath.join(stored, name), inner


def _excluded(request: _Request, member: str) -> bool:
    parts = member.split("/")
    return any(
        fnmatchcase(member, pattern) or any(fnmatchcase(part, pattern) for part in parts)
        for pattern in request.excluded
    )


def _add(archive: tarfile.TarFile, member: str, entry: Any) -> None:
    info = tarfile.TarInfo(member)
    info.mode, info.mtime = entry.mode, int(entry.mtime)
    info.uname = info.gname = "root"
    if isinstance(entry, FileEntry):
        info.size = len(entry.content)
        archive.addfile(info, io.BytesIO(entry.content))
        return
    info.type = tarfile.DIRTYPE if isinstance(entry, DirectoryEntry) else tarfile.SYMTYPE
    if isinstance(entry, SymlinkEntry):
        info.linkname = entry.target
    archive.addfile(info)


def _compressed(data: bytes) -> bytes:
    """gzip without the time of day in its header."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


# --- reading ----------------------------------------------------------------------------------------


def _read(request: _Request, ctx: Call, files: Files, base: str) -> ExecResult:
    data = _input(request, ctx, files)
    if data[:2] == b"\x1f\x8b":
        data = _expanded(data)
    elif request.gzip:
        raise _Failed("Child returned status 1")
    if not data.strip(b"\0"):
        if not data:
            raise _Failed("This does not look like a tar archive")
        return ExecResult("", "", 0)
    out: list[str] = []
    complaints: list[str] = []
    wanted = [name.rstrip("/") for name in request.names]
    met: set[str] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for count, info in enumerate(archive):
                if count >= MAX_MEMBERS:
                    raise _Failed("too many members")
                hits = [name for name in wanted if info.name == name or info.name.startswith(f"{name}/")]
                if (wanted and not hits) or _excluded(request, info.name):
                    continue
                met.update(hits)
                _take(request, archive, info, files, base, out, complaints)
    except (tarfile.TarError, ValueError, OverflowError, EOFError, UnicodeError):
        raise _Failed("This does not look like a tar archive") from None
    except OSError as error:
        raise _Failed(f"{request.file}: {reason(error)}") from None
    complaints += [f"tar: {name}: Not found in archive\n" for name in wanted if name not in met]
    failed = any("Removing" not in complaint for complaint in complaints)
    if failed:
        complaints.append("tar: Exiting with failure status due to previous errors\n")
    return ExecResult("".join(out), "".join(dict.fromkeys(complaints)), 2 if failed else 0)


def _input(request: _Request, ctx: Call, files: Files) -> bytes:
    if request.file == "-":
        return encoded(ctx.stdin or "")
    data = files.bytes_of(files.resolve_path(ctx.cwd, request.file))
    if data is None:
        raise _Failed(f"{request.file}: Cannot open: No such file or directory")
    return data


def _expanded(data: bytes) -> bytes:
    """The archive in a gzip file, as far as it may be large."""
    opened = zlib.decompressobj(31)
    try:
        whole = opened.decompress(data, MAX_BYTES)
    except zlib.error:
        raise _Failed("Child returned status 1") from None
    if opened.unconsumed_tail:
        raise _Failed("Cannot write: No space left on device")
    return whole


def _take(
    request: _Request,
    archive: tarfile.TarFile,
    info: tarfile.TarInfo,
    files: Files,
    base: str,
    out: list[str],
    complaints: list[str],
) -> None:
    """List one member, print it, or put it into the tree."""
    shown = f"{info.name}/" if info.isdir() else info.name
    if request.mode == "t":
        out.append(_listed(info, shown) if request.verbose else f"{shown}\n")
        return
    if request.verbose and not request.to_stdout:
        out.append(f"{shown}\n")
    name = info.name
    if name.startswith("/"):
        complaints.append("tar: Removing leading `/' from member names\n")
        name = name.lstrip("/")
    if ".." in name.split("/"):
        complaints.append(f"tar: {info.name}: Member name contains '..'\n")
        return
    parts = [part for part in name.split("/") if part not in ("", ".")][request.strip :]
    if request.to_stdout:
        if info.isfile():
            out.append(decoded(_content(archive, info)))
        return
    if not parts:
        return
    target = files.resolve_path(base, "/".join(parts))
    if info.isdir():
        files.add_directories((target,))
    elif info.issym():
        files.put_link(target, info.linkname)
    elif info.isfile():
        if request.keep and files.bytes_of(target) is not None:
            complaints.append(f"tar: {info.name}: Cannot open: File exists\n")
            return
        try:
            files.put_bytes(target, _content(archive, info))
        except IsADirectoryError:
            complaints.append(f"tar: {info.name}: Cannot open: Is a directory\n")


def _content(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    opened = archive.extractfile(info)
    return b"" if opened is None else opened.read(MAX_BYTES)


def _listed(info: tarfile.TarInfo, shown: str) -> str:
    kind = "d" if info.isdir() else "l" if info.issym() else "-"
    bits = "".join(
        letter if info.mode >> (8 - place) & 1 else "-" for place, letter in enumerate("rwxrwxrwx")
    )
    moment = datetime.fromtimestamp(min(max(info.mtime, 0), 4e9), UTC).strftime("%Y-%m-%d %H:%M")
    owner = f"{info.uname or info.uid}/{info.gname or info.gid}"
    arrow = f" -> {info.linkname}" if info.issym() else ""
    return f"{kind}{bits} {owner} {info.size:>{max(1, 19 - len(owner))}} {moment} {shown}{arrow}\n"
