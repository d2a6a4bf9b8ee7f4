"""Programs that change the file tree: ``touch``, ``mkdir``, ``rm``, ``cp``, ``mv``, ``ln``, ``chmod``, ``tee``, ``split``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.numbers import whole
from sregym_env.shell.commands.arguments import UsageError, options, reason
from sregym_env.shell.commands.lines import read, refused, whole_lines
from sregym_env.shell.commands.printed import Printed
from sregym_env.shell.crowds import joined
from sregym_env.shell.files import DirectoryEntry, FileEntry
from sregym_env.shell.run import Call, Program


def touch(args: list[str], call: Call) -> ExecResult:
    """``touch [-c] file...``."""
    try:
        given, operands = options(args, "acmd:t:r:", {"no-create": "c", "date": "d:", "reference": "r:"})
        if not operands:
            raise UsageError("missing file operand")
    except UsageError as error:
        return refused(call, error)
    printed = Printed()
    for operand in operands:
        path = call.resolve(operand)
        if call.fs.entry(path) is None and any(letter == "c" for letter, _ in given):
            continue
        try:
            if call.fs.entry(path) is None and not call.fs.is_folder(path.rpartition("/")[0] or "/"):
                raise FileNotFoundError(2, "No such file or directory", path)
            call.fs.touch(path, call.now)
        except OSError as error:
            printed.err(f"touch: cannot touch '{operand}': {reason(error)}\n")
    return printed.result()


def mkdir(args: list[str], call: Call) -> ExecResult:
    """``mkdir [-pv] [-m mode] directory...``."""
    try:
        given, operands = options(args, "pvm:", {"parents": "p", "verbose": "v", "mode": "m:"})
        if not operands:
            raise UsageError("missing operand")
    except UsageError as error:
        return refused(call, error)
    letters = {letter for letter, _ in given}
    printed = Printed()
    for operand in operands:
        path = call.resolve(operand)
        try:
            if "p" in letters:
                parts = path.split("/")[1:]
                for index in range(1, len(parts) + 1):
                    step = "/" + "/".join(parts[:index])
                    if not call.fs.is_folder(step):
                        call.fs.make_directory(step)
            else:
                call.fs.make_directory(path)
        except OSError as error:
            printed.err(f"mkdir: cannot create directory '{operand}': {reason(error)}\n")
            continue
        if "v" in letters:
            printed.out(f"mkdir: created directory '{operand}'\n")
    return printed.result()


def rmdir(args: list[str], call: Call) -> ExecResult:
    """``rmdir directory...``."""
    operands = [word for word in args if not word.startswith("-")]
    if not operands:
        return refused(call, UsageError("missing operand"))
    printed = Printed()
    for operand in operands:
        try:
            call.fs.remove_directory(call.resolve(operand))
        except OSError as error:
            printed.err(f"rmdir: failed to remove '{operand}': {reason(error)}\n")
    return printed.result()


def rm(args: list[str], call: Call) -> ExecResult:
    """``rm [-dfirv] file...``."""
    try:
        given, operands = options(
            args,
            "dfirRvI",
            {"force": "f", "recursive": "r", "verbose": "v", "dir": "d", "no-preserve-root": "n"},
        )
    except UsageError as error:
        return refused(call, error)
    letters = {letter.lower() for letter, _ in given}
    if not operands:
        return ExecResult() if "f" in letters else refused(call, UsageError("missing operand"))
    printed = Printed()
    for operand in operands:
        path = call.resolve(operand)
        entry = call.fs.own_entry(path)
        if path == "/":
            printed.err(
                "rm: it is dangerous to operate recursively on '/'\nrm: use --no-preserve-root to override this failsafe\n"
            )
        elif operand.rstrip("/").rpartition("/")[2] in (".", ".."):
            printed.err(f"rm: refusing to remove '.' or '..' directory: skipping '{operand}'\n")
        elif entry is None:
            if "f" not in letters:
                printed.err(f"rm: cannot remove '{operand}': No such file or directory\n")
        elif isinstance(entry, DirectoryEntry) and "r" not in letters:
            printed.err(f"rm: cannot remove '{operand}': Is a directory\n")
        else:
            call.fs.remove_tree(path)
            if "v" in letters:
                printed.out(
                    f"removed {'directory ' if isinstance(entry, DirectoryEntry) else ''}'{operand}'\n"
                )
    return printed.result()


def _goal(call: Call, operands: list[str], folder: str) -> tuple[list[str], str, bool]:
    """Sources, the destination, and whether that is a directory to put them in. Raises UsageError."""
    if folder:
        return operands, folder, True
    if not operands:
        raise UsageError("missing file operand")
    if len(operands) == 1:
        raise UsageError(f"missing destination file operand after '{operands[0]}'")
    return operands[:-1], operands[-1], call.fs.is_folder(call.resolve(operands[-1]))


def _place(call: Call, source: str, goal: str, inside: bool) -> str:
    """Where a source goes. ``folder/.`` is all that is in the folder, not the folder: it has no name of its own."""
    to = call.resolve(goal)
    name = source.rstrip("/").rpartition("/")[2]
    if not inside or name in (".", "..", ""):
        return to
    return call.resolve(f"{to.rstrip('/')}/{name}")


def cp(args: list[str], call: Call) -> ExecResult:
    """``cp [-afprRvnuT] [-t directory] source... destination``."""
    long = {
        "recursive": "r",
        "archive": "a",
        "force": "f",
        "verbose": "v",
        "no-clobber": "n",
        "target-directory": "t:",
        "preserve": "p::",
    }
    try:
        given, operands = options(args, "afipPrRvnuTdLt:", long)
        asked = {letter.lower() if letter in "R" else letter: value for letter, value in given}
        sources, goal, inside = _goal(call, operands, asked.get("t", ""))
    except UsageError as error:
        return refused(call, error)
    printed = Printed()
    if len(sources) > 1 and not inside:
        return ExecResult(
            "",
            f"cp: target '{goal}': {'Not a directory' if call.fs.entry(call.resolve(goal)) else 'No such file or directory'}\n",
            1,
        )
    for source in sources:
        path = call.resolve(source)
        entry = call.fs.entry(path)
        to = _place(call, source, goal, inside and "T" not in asked)
        if entry is None:
            printed.err(f"cp: cannot stat '{source}': No such file or directory\n")
        elif isinstance(entry, DirectoryEntry):
            if not {"r", "a"} & asked.keys():
                printed.err(f"cp: -r not specified; omitting directory '{source}'\n")
            elif f"{to.rstrip('/')}/".startswith(f"{path.rstrip('/')}/"):
                printed.err(f"cp: cannot copy a directory, '{source}', into itself, '{goal}'\n")
            elif isinstance(call.fs.entry(to), FileEntry):
                printed.err(f"cp: cannot overwrite non-directory '{goal}' with directory '{source}'\n")
            else:
                try:
                    call.fs.copy_tree(path, to, over="n" not in asked)
                except OSError as error:
                    printed.err(f"cp: cannot create '{goal}': {reason(error)}\n")
                    continue
        elif isinstance(entry, FileEntry):
            try:
                if "n" in asked and call.fs.entry(to) is not None:
                    continue
                if not call.fs.is_folder(to.rpartition("/")[0] or "/"):
                    raise FileNotFoundError(2, "No such file or directory", to)
                call.fs.put_bytes(to, entry.content)
                if entry.mode != 0o644:
                    call.fs.set_mode(to, entry.mode)
            except OSError as error:
                printed.err(f"cp: cannot create regular file '{goal}': {reason(error)}\n")
                continue
        if "v" in asked and entry is not None:
            shown = f"{goal.rstrip('/')}/{path.rpartition('/')[2]}" if inside else goal
            printed.out(f"'{source}' -> '{shown}'\n")
    return printed.result()


def mv(args: list[str], call: Call) -> ExecResult:
    """``mv [-fnv] [-t directory] source... destination``."""
    try:
        given, operands = options(
            args, "finvuTt:", {"force": "f", "verbose": "v", "no-clobber": "n", "target-directory": "t:"}
        )
        asked = dict(given)
        sources, goal, inside = _goal(call, operands, asked.get("t", ""))
    except UsageError as error:
        return refused(call, error)
    printed = Printed()
    if len(sources) > 1 and not inside:
        return ExecResult("", f"mv: target '{goal}': No such file or directory\n", 1)
    for source in sources:
        path = call.resolve(source)
        entry = call.fs.own_entry(path)
        to = _place(call, source, goal, inside)
        if source.rstrip("/").rpartition("/")[2] in (".", ".."):
            printed.err(f"mv: cannot move '{source}' to '{to}': Device or resource busy\n")
            continue
        if entry is None:
            printed.err(f"mv: cannot stat '{source}': No such file or directory\n")
            continue
        if to == path:
            printed.err(f"mv: '{source}' and '{goal}' are the same file\n")
            continue
        if isinstance(entry, DirectoryEntry) and f"{to}/".startswith(f"{path}/"):
            printed.err(f"mv: cannot move '{source}' to a subdirectory of itself, '{goal}'\n")
            continue
        if not call.fs.is_folder(to.rpartition("/")[0] or "/"):
            printed.err(f"mv: cannot move '{source}' to '{goal}': No such file or directory\n")
            continue
        if "n" in asked and call.fs.entry(to) is not None:
            continue
        if call.fs.names(to):
            printed.err(f"mv: cannot move '{source}' to '{goal}': Directory not empty\n")
            continue
        try:
            call.fs.move_tree(path, to)
        except OSError as error:
            printed.err(f"mv: cannot move '{source}' to '{goal}': {reason(error)}\n")
            continue
        if "v" in asked:
            printed.out(f"renamed '{source}' -> '{goal}'\n")
    return printed.result()


def ln(args: list[str], call: Call) -> ExecResult:
    """``ln [-sfnv] target [name]``."""
    try:
        given, operands = options(
            args, "sfnvrT", {"symbolic": "s", "force": "f", "verbose": "v", "no-dereference": "n"}
        )
        if not operands:
            raise UsageError("missing file operand")
    except UsageError as error:
        return refused(call, error)
    letters = {letter for letter, _ in given}
    target = operands[0]
    name = operands[1] if len(operands) > 1 else target.rstrip("/").rpartition("/")[2]
    path = call.resolve(name)
    if call.fs.is_folder(path) and "n" not in letters:
        path = f"{path.rstrip('/')}/{target.rstrip('/').rpartition('/')[2]}"
    if call.fs.own_entry(path) is not None:
        if "f" not in letters:
            kind = "symbolic link" if "s" in letters else "hard link"
            return ExecResult("", f"ln: failed to create {kind} '{name}': File exists\n", 1)
        call.fs.remove_tree(path)
    if "s" in letters:
        call.fs.put_link(path, target)
        return ExecResult()
    entry = call.fs.entry(call.resolve(target))
    if entry is None:
        return ExecResult("", f"ln: failed to access '{target}': No such file or directory\n", 1)
    if isinstance(entry, DirectoryEntry):
        return ExecResult("", f"ln: {target}: hard link not allowed for directory\n", 1)
    call.fs.put_entry(path, entry)
    return ExecResult()


_CLAUSE = re.compile(r"([ugoa]*)([-+=])([rwxXst]*)\Z")


def chmod(args: list[str], call: Call) -> ExecResult:
    """``chmod [-R] mode file...``."""
    words = [
        word for word in args if not (word.startswith("-") and set(word[1:]) <= set("Rvcf") and len(word) > 1)
    ]
    if len(words) < 2:
        return refused(
            call, UsageError(f"missing operand after '{words[0]}'" if words else "missing operand")
        )
    wanted = words[0]
    if not re.fullmatch(r"[0-7]{1,4}", wanted) and not all(_CLAUSE.match(part) for part in wanted.split(",")):
        return refused(call, UsageError(f"invalid mode: '{wanted}'"))
    printed = Printed()
    for operand in words[1:]:
        path = call.resolve(operand)
        if call.fs.entry(path) is None:
            printed.err(f"chmod: cannot access '{operand}': No such file or directory\n")
            continue
        paths = [path]
        if any(word.startswith("-") and "R" in word for word in args):
            paths += [inner for inner, _ in call.fs.walk(path)]
        for each in paths:
            entry = call.fs.entry(each)
            if entry is not None:
                call.fs.set_mode(each, _mode(wanted, entry.mode))
    return printed.result()


def _mode(wanted: str, mode: int) -> int:
    if wanted.isdecimal():
        return int(wanted, 8) & 0o777
    for part in wanted.split(","):
        match = _CLAUSE.match(part)
        assert match is not None
        who = match[1].replace("a", "ugo") or "ugo"
        bits = sum({"r": 4, "w": 2, "x": 1, "X": 1}.get(letter, 0) for letter in set(match[3]))
        for person in who:
            shift = {"u": 6, "g": 3, "o": 0}[person]
            if match[2] == "=":
                mode &= ~(7 << shift)
            mode = mode & ~(bits << shift) if match[2] == "-" else mode | bits << shift
    return mode


def tee(args: list[str], call: Call) -> ExecResult:
    """``tee [-a] [file...]``."""
    try:
        given, operands = options(args, "aip", {"append": "a", "ignore-interrupts": "i"})
    except UsageError as error:
        return refused(call, error)
    printed = Printed()
    append = any(letter == "a" for letter, _ in given)
    for operand in operands:
        path = call.resolve(operand)
        if operand in ("/dev/stderr", "/dev/fd/2"):
            printed.err(call.stdin, 0)
            continue
        if operand in ("/dev/stdout", "/dev/tty", "/dev/fd/1"):
            printed.out(call.stdin)
            continue
        try:
            before = (call.fs.text(path) or "") if append else ""
            call.fs.put_text(path, joined([before, call.stdin]))
        except OSError as error:
            printed.err(f"tee: {operand}: {reason(error)}\n")
    printed.out(call.stdin)
    return printed.result()


def split(args: list[str], call: Call) -> ExecResult:
    """``split [-l lines] [-b bytes] [-d] [-a length] [file [prefix]]``."""
    try:
        given, operands = options(
            args, "l:b:da:n:", {"lines": "l:", "bytes": "b:", "numeric-suffixes": "d"}, numbers=True
        )
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    try:
        text = read(call, operands[0] if operands else "-")
    except OSError as error:
        return ExecResult("", f"split: cannot open '{operands[0]}' for reading: {reason(error)}\n", 1)
    prefix = operands[1] if len(operands) > 1 else "x"
    length = whole(asked.get("a", ""), 2, 2)

    def count(value: str) -> int:
        number = int(re.sub(r"\D", "", value)[:9] or "1000") * {"k": 1024, "K": 1024, "M": 1 << 20}.get(
            value[-1:], 1
        )
        return max(1, number)

    if "b" in asked:
        size = count(asked["b"])
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
    else:
        lines = whole_lines(text)
        size = count(asked.get("l", asked.get("0", "1000")))
        pieces = ["".join(lines[at : at + size]) for at in range(0, len(lines), size)]
    base, first = (10, "0") if "d" in asked else (26, "a")
    if len(pieces) > min(base**length, 2000):
        return ExecResult("", "split: output file suffixes exhausted\n", 1)
    for index, piece in enumerate(pieces):
        suffix = ""
        for _ in range(length):
            index, digit = divmod(index, base)
            suffix = chr(ord(first) + digit) + suffix
        call.fs.put_text(call.resolve(prefix + suffix), piece)
    return ExecResult()


PROGRAMS: Mapping[str, Program] = {
    "touch": touch,
    "mkdir": mkdir,
    "rmdir": rmdir,
    "rm": rm,
    "cp": cp,
    "mv": mv,
    "ln": ln,
    "chmod": chmod,
    "tee": tee,
    "split": split,
}
