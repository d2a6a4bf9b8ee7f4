"""Programs that look at the file tree: ``ls``, ``stat``, ``file``, ``du``, ``tree``, ``readlink``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import bulk
from sregym_env.runtime.numbers import whole
from sregym_env.shell import crowds
from sregym_env.shell.commands.arguments import UsageError, options, reason
from sregym_env.shell.commands.lines import refused
from sregym_env.shell.commands.printed import Printed
from sregym_env.shell.files import DirectoryEntry, Entry, FileEntry, GrowingEntry, LateEntry, SymlinkEntry
from sregym_env.shell.run import Call, Program


def mode_text(entry: Entry) -> str:
    """Permissions as ``ls -l`` shows them."""
    kind = "d" if isinstance(entry, DirectoryEntry) else "l" if isinstance(entry, SymlinkEntry) else "-"
    bits = "".join(letter if entry.mode >> (8 - i) & 1 else "-" for i, letter in enumerate("rwxrwxrwx"))
    return kind + bits


def size_of(entry: Entry) -> int:
    """Bytes of a file, none where the kernel writes it for who reads it, or what a directory takes."""
    if isinstance(entry, GrowingEntry):
        return entry.size
    if isinstance(entry, LateEntry):
        return 0
    if isinstance(entry, FileEntry):
        content = entry.content
        return bulk.size(content) if bulk.counted(content) else crowds.bytes_of(content)
    return 4096 if isinstance(entry, DirectoryEntry) else len(entry.target)


def human(size: int) -> str:
    """A size with a unit, as ``-h`` shows it."""
    value = float(size)
    if value < 1024:
        return str(size)
    for unit in "KMGT":
        value = value / 1024
        if value < 1024 or unit == "T":
            rounded = -(-value * 10 // 1) / 10
            return f"{rounded:.1f}{unit}" if rounded < 10 else f"{-(-value // 1):.0f}{unit}"
    return str(size)


def _stamp(mtime: float) -> datetime:
    return datetime.fromtimestamp(int(mtime), UTC)


def _owner(call: Call) -> str:
    name = call.run.session.variables.get("USER", "root")
    return name if isinstance(name, str) else "root"


# --- ls ---------------------------------------------------------------------------------------------

_LS_LONG = {
    "all": "a", "almost-all": "A", "recursive": "R", "human-readable": "h", "directory": "d", "classify": "F::",
    "reverse": "r", "size": "s", "color": "z::", "group-directories-first": "z", "full-time": "T", "time-style": "z:",
    "inode": "i", "no-group": "G", "numeric-uid-gid": "n", "dereference": "L", "quote-name": "Q", "sort": "y:",
}  # fmt: skip


def ls(args: list[str], call: Call) -> ExecResult:
    """``ls [-1aAdFhlrRStUn] [file...]``."""
    try:
        given, operands = options(args, "1aAdFhlrRStUnsgGoipLHQCxmNk", _LS_LONG)
    except UsageError as error:
        return refused(call, error, 2)
    flags = "".join(letter for letter, _ in given)
    printed = Printed()
    files: list[tuple[str, Entry]] = []
    folders: list[str] = []
    for operand in operands or ["."]:
        path = call.resolve(operand)
        own, entry = call.fs.own_entry(path), call.fs.entry(path)
        if own is None or (entry is None and not isinstance(own, SymlinkEntry)):
            printed.err(f"ls: cannot access '{operand}': No such file or directory\n", 2)
        elif (
            isinstance(entry, DirectoryEntry)
            and "d" not in flags
            and not (isinstance(own, SymlinkEntry) and "l" in flags)
        ):
            folders.append(operand)
        else:
            files.append((operand, own))
    titled = len(operands) > 1 or "R" in flags
    if files:
        printed.out(_listed(call, sorted(files, key=lambda item: item[0]), flags))
    first = not files
    for folder in sorted(folders):
        first = _folder(call, printed, folder, flags, titled=titled, first=first)
    return printed.result()


def _folder(call: Call, printed: Printed, folder: str, flags: str, *, titled: bool, first: bool) -> bool:
    call.run.spend()
    path = call.resolve(folder)
    names = call.fs.names(path)
    if "a" not in flags and "A" not in flags:
        names = [name for name in names if not name.startswith(".")]
    inside = path.rstrip("/")
    entries = [
        (name, entry) for name in names if (entry := call.fs.own_entry(f"{inside}/{name}")) is not None
    ]
    if "a" in flags:
        entries = [
            (".", _itself(call, path)),
            ("..", _itself(call, path.rpartition("/")[0] or "/")),
            *entries,
        ]
    title = (("" if first else "\n") + f"{folder}:\n") if titled else ""
    total = ""
    if "l" in flags or "s" in flags:
        total = f"total {sum(-(-size_of(entry) // 4096) * 4 for _, entry in entries)}\n"
    printed.out(title + total + _listed(call, entries, flags))
    if "R" in flags:
        for name, entry in entries:
            if isinstance(entry, DirectoryEntry) and name not in (".", ".."):
                _folder(call, printed, f"{folder.rstrip('/')}/{name}", flags, titled=True, first=False)
    return False


def _itself(call: Call, path: str) -> Entry:
    """The directory at a path; a plain one where nothing is known of it."""
    return call.fs.entry(path) or DirectoryEntry(mtime=call.fs.mtime)


def _listed(call: Call, entries: list[tuple[str, Entry]], flags: str) -> str:
    if "S" in flags:
        entries = sorted(entries, key=lambda item: -size_of(item[1]))
    elif "t" in flags:
        entries = sorted(entries, key=lambda item: -item[1].mtime)
    if "r" in flags:
        entries = entries[::-1]
    if not set("lgon") & set(flags):
        return "".join(f"{_marked(name, entry, flags)}\n" for name, entry in entries)
    owner = "1000" if "n" in flags else _owner(call)
    sizes = [human(size_of(entry)) if "h" in flags else str(size_of(entry)) for _, entry in entries]
    width = max((len(size) for size in sizes), default=1)
    out = []
    for (name, entry), size in zip(entries, sizes, strict=True):
        links = 2 if isinstance(entry, DirectoryEntry) else 1
        shown = _marked(name, entry, flags)
        if isinstance(entry, SymlinkEntry):
            shown += f" -> {entry.target}"
        owners = f"{owner} {owner}"
        stamp = f"{_stamp(entry.mtime):%b %e %H:%M}"
        if "T" in flags:
            stamp = f"{_stamp(entry.mtime):%Y-%m-%d %H:%M:%S}.000000000 +0000"
        out.append(f"{mode_text(entry)} {links} {owners} {size:>{width}} {stamp} {shown}\n")
    return "".join(out)


def _marked(name: str, entry: Entry, flags: str) -> str:
    if "F" in flags or ("p" in flags and isinstance(entry, DirectoryEntry)):
        if isinstance(entry, DirectoryEntry):
            return f"{name}/"
        if isinstance(entry, SymlinkEntry):
            return name if "l" in flags else f"{name}@"
        return f"{name}*" if entry.mode & 0o111 else name
    return name


# --- looking ----------------------------------------------------------------------------------------


def stat(args: list[str], call: Call) -> ExecResult:
    """``stat [-c format] file...``."""
    try:
        given, operands = options(args, "c:Lft", {"format": "c:", "printf": "p:", "dereference": "L"})
        if not operands:
            raise UsageError("missing operand")
    except UsageError as error:
        return refused(call, error)
    printed = Printed()
    asked = dict(given)
    for operand in operands:
        entry = call.fs.own_entry(call.resolve(operand))
        if entry is None:
            printed.err(f"stat: cannot statx '{operand}': No such file or directory\n")
            continue
        form = asked.get("c", asked.get("p"))
        if form is None:
            printed.out(_described(call, operand, entry))
        else:
            printed.out(_formatted(call, operand, entry, form) + ("\n" if "c" in asked else ""))
    return printed.result()


def _kind(entry: Entry) -> str:
    if isinstance(entry, DirectoryEntry):
        return "directory"
    if isinstance(entry, SymlinkEntry):
        return "symbolic link"
    return "regular file" if entry.content else "regular empty file"


def _formatted(call: Call, name: str, entry: Entry, form: str) -> str:
    moment = f"{_stamp(entry.mtime):%Y-%m-%d %H:%M:%S}.000000000 +0000"
    owner = _owner(call)
    number = "0" if owner == "root" else "1000"
    values = {
        "n": name, "N": f"'{name}'", "s": str(size_of(entry)), "F": _kind(entry), "a": f"{entry.mode:o}",
        "A": mode_text(entry), "u": number, "g": number, "U": owner, "G": owner, "Y": str(int(entry.mtime)),
        "X": str(int(entry.mtime)), "Z": str(int(entry.mtime)), "y": moment, "x": moment, "z": moment, "%": "%",
        "h": "1", "i": "1", "b": str(-(-size_of(entry) // 4096) * 8), "B": "512",
    }  # fmt: skip
    return re.sub(r"%(.)", lambda match: values.get(match[1], "?"), form).replace("\\n", "\n")


def _described(call: Call, name: str, entry: Entry) -> str:
    shown = f"{name} -> {entry.target}" if isinstance(entry, SymlinkEntry) else name
    size = size_of(entry)
    owner = _owner(call)
    number = 0 if owner == "root" else 1000
    moment = f"{_stamp(entry.mtime):%Y-%m-%d %H:%M:%S}.000000000 +0000"
    who = f"({number:>5}/{owner:>8})"
    return (
        f"  File: {shown}\n  Size: {size:<15} Blocks: {-(-size // 4096) * 8:<10} IO Block: 4096   {_kind(entry)}\n"
        f"Device: 0,1\tInode: 1           Links: {2 if isinstance(entry, DirectoryEntry) else 1}\n"
        f"Access: ({entry.mode:04o}/{mode_text(entry)})  Uid: {who}   Gid: {who}\n"
        f"Access: {moment}\nModify: {moment}\nChange: {moment}\n Birth: -\n"
    )


def file(args: list[str], call: Call) -> ExecResult:
    """``file [-b] name...``."""
    brief = "-b" in args
    printed = Printed()
    for operand in (word for word in args if not word.startswith("-")):
        entry = call.fs.own_entry(call.resolve(operand))
        if entry is None:
            kind = f"cannot open `{operand}' (No such file or directory)"
        elif isinstance(entry, DirectoryEntry):
            kind = "directory"
        elif isinstance(entry, SymlinkEntry):
            kind = f"symbolic link to {entry.target}"
        else:
            kind = _content_kind(entry.content)
        printed.out(f"{kind}\n" if brief else f"{operand}: {kind}\n")
    return printed.result()


def _content_kind(data: bytes) -> str:
    if not data:
        return "empty"
    if data.startswith(b"\x1f\x8b"):
        return "gzip compressed data"
    if bulk.counted(data):
        return "MPEG transport stream data"
    if data.startswith(b"#!"):
        return (
            "Bourne-Again shell script, ASCII text executable"
            if b"bash" in data[:40]
            else "POSIX shell script, ASCII text executable"
        )
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "data"
    if "\0" in text:
        return "data"
    if text.lstrip()[:1] in ("{", "["):
        return "JSON text data"
    return "ASCII text" if text.isascii() else "Unicode text, UTF-8 text"


def du(args: list[str], call: Call) -> ExecResult:
    """``du [-abchsx] [-d depth] [file...]``; there is one file system, and no file has two names."""
    try:
        given, operands = options(
            args,
            "abchksmd:xlDHLP",
            {
                "max-depth": "d:",
                "human-readable": "h",
                "summarize": "s",
                "all": "a",
                "bytes": "b",
                "apparent-size": "p",
                "total": "c",
                "one-file-system": "x",
                "count-links": "l",
                "dereference": "L",
                "no-dereference": "P",
            },
        )
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    deepest = 0 if "s" in asked else whole(asked.get("d", ""), 1 << 30)
    printed = Printed()

    def shown(size: int) -> str:
        if "b" in asked:
            return str(size)
        return human(size) if "h" in asked else str(-(-size // (1 << 20 if "m" in asked else 1024)))

    def visit(name: str, path: str, depth: int) -> int:
        call.run.spend()
        entry = call.fs.own_entry(path)
        if entry is None:
            return 0
        if not isinstance(entry, DirectoryEntry):
            size = size_of(entry) if "b" in asked else -(-size_of(entry) // 4096) * 4096
            if "a" in asked or depth == 0:
                printed.out(f"{shown(size)}\t{name}\n")
            return size
        size = 4096
        for inner in call.fs.names(path):
            size += visit(f"{name.rstrip('/')}/{inner}", f"{path.rstrip('/')}/{inner}", depth + 1)
        if depth <= deepest:
            printed.out(f"{shown(size)}\t{name}\n")
        return size

    total = 0
    for operand in operands or ["."]:
        path = call.resolve(operand)
        if call.fs.own_entry(path) is None:
            printed.err(f"du: cannot access '{operand}': No such file or directory\n")
            continue
        total += visit(operand, path, 0)
    if "c" in asked:
        printed.out(f"{shown(total)}\ttotal\n")
    return printed.result()


def tree(args: list[str], call: Call) -> ExecResult:
    """``tree [-ad] [-L depth] [directory]``."""
    try:
        given, operands = options(args, "adfiL:", {})
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    deepest = whole(asked.get("L", ""), 1 << 30)
    printed = Printed()
    counts = [0, 0]

    def visit(path: str, prefix: str, depth: int) -> None:
        call.run.spend()
        if depth > deepest:
            return
        names = [name for name in call.fs.names(path) if "a" in asked or not name.startswith(".")]
        entries = [(name, call.fs.own_entry(f"{path.rstrip('/')}/{name}")) for name in names]
        if "d" in asked:
            entries = [item for item in entries if isinstance(item[1], DirectoryEntry)]
        for index, (name, entry) in enumerate(entries):
            last = index == len(entries) - 1
            is_folder = isinstance(entry, DirectoryEntry)
            counts[0 if is_folder else 1] += 1
            target = f" -> {entry.target}" if isinstance(entry, SymlinkEntry) else ""
            printed.out(f"{prefix}{'└── ' if last else '├── '}{name}{target}\n")
            if is_folder:
                visit(f"{path.rstrip('/')}/{name}", prefix + ("    " if last else "│   "), depth + 1)

    for operand in operands or ["."]:
        path = call.resolve(operand)
        if not call.fs.is_folder(path):
            printed.out(f"{operand}  [error opening dir]\n")
            printed.code = 2
            continue
        printed.out(f"{operand}\n")
        visit(path, "", 1)
    folders = f"{counts[0]} director{'y' if counts[0] == 1 else 'ies'}"
    printed.out(
        f"\n{folders}\n"
        if "d" in asked
        else f"\n{folders}, {counts[1]} file{'' if counts[1] == 1 else 's'}\n"
    )
    return printed.result()


def readlink(args: list[str], call: Call) -> ExecResult:
    """``readlink [-f] file...`` and ``realpath file...``."""
    flags = "".join(word[1:] for word in args if word.startswith("-"))
    printed = Printed()
    for operand in (word for word in args if not word.startswith("-")):
        path = call.resolve(operand)
        if call.name == "realpath" or set(flags) & set("fem"):
            try:
                real = call.fs.real(path)
            except OSError as error:
                printed.err(f"{call.name}: {operand}: {reason(error)}\n")
                continue
            parent = real.rpartition("/")[0] or "/"
            if not call.fs.is_folder(parent) or ("e" in flags and call.fs.entry(real) is None):
                if call.name == "realpath":
                    printed.err(f"{call.name}: {operand}: No such file or directory\n")
                printed.code = 1
                continue
            printed.out(f"{real}\n")
            continue
        entry = call.fs.own_entry(path)
        if isinstance(entry, SymlinkEntry):
            printed.out(f"{entry.target}\n")
        else:
            printed.code = 1
    return printed.result()


PROGRAMS: Mapping[str, Program] = {
    "ls": ls,
    "stat": stat,
    "file": file,
    "du": du,
    "tree": tree,
    "readlink": readlink,
    "realpath": readlink,
}
