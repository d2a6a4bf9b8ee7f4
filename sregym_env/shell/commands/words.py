"""Programs about words and other programs: ``basename``, ``seq``, ``env``, ``sh``, checksums, encodings."""

from __future__ import annotations

import base64 as coding
import gzip as zipping
import hashlib
import re
import zlib
from collections.abc import Mapping

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import bulk
from sregym_env.shell.builtins.state import FLAGS
from sregym_env.shell.commands.arguments import UsageError, options, reason
from sregym_env.shell.commands.lines import inputs, read, refused
from sregym_env.shell.commands.printed import Printed
from sregym_env.shell.files import MAX_BYTES, decoded, encoded
from sregym_env.shell.run import Call, Program

MOST_NUMBERS = 1_000_000
MOST_TEXT = 8 * 1024 * 1024
"""How many numbers ``seq`` writes, and how many characters, before it is killed."""
YES_TEXT = 1024 * 1024
"""How many characters ``yes`` writes before its reader has enough (or it is killed)."""
LARGEST = 1e15
"""The largest number that ``seq`` is given: beyond it a float skips whole numbers."""


def basename(args: list[str], call: Call) -> ExecResult:
    """``basename name [suffix]``, ``basename -a [-s suffix] name...``."""
    try:
        given, operands = options(args, "as:z", {"multiple": "a", "suffix": "s:", "zero": "z"})
        if not operands:
            raise UsageError("missing operand")
        asked = dict(given)
        if not {"a", "s"} & asked.keys() and len(operands) > 2:
            raise UsageError(f"extra operand '{operands[2]}'")
    except UsageError as error:
        return refused(call, error)
    suffix = asked.get("s", "")
    names = operands
    if not asked.keys() & {"a", "s"}:
        names, suffix = operands[:1], operands[1] if len(operands) > 1 else ""
    out = []
    for name in names:
        base = name.rstrip("/").rpartition("/")[2] or ("/" if name.startswith("/") else "")
        if suffix and base.endswith(suffix) and base != suffix:
            base = base[: -len(suffix)]
        out.append(f"{base}\n")
    return ExecResult("".join(out))


def dirname(args: list[str], call: Call) -> ExecResult:
    """``dirname name...``."""
    operands = [word for word in args if not word.startswith("--")]
    if not operands:
        return refused(call, UsageError("missing operand"))
    out = []
    for name in operands:
        stripped = name.rstrip("/")
        head, slash, _ = stripped.rpartition("/")
        out.append((head.rstrip("/") or "/") if slash else ("/" if name.startswith("/") else "."))
    return ExecResult("".join(f"{name}\n" for name in out))


_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?\Z")


def seq(args: list[str], call: Call) -> ExecResult:
    """``seq [-w] [-s separator] [-f format] [first [step]] last``."""
    words = list(args)
    separator, form, equal = "\n", "", False
    while words and words[0].startswith("-") and not _NUMBER.match(words[0]):
        word = words.pop(0)
        if word == "--":
            break
        if word in ("-s", "--separator", "-f", "--format"):
            if not words:
                return refused(call, UsageError(f"option requires an argument -- '{word[-1]}'"))
            value = words.pop(0)
            separator, form = (value, form) if "s" in word else (separator, value)
        elif word.startswith(("--separator=", "--format=")):
            value = word.partition("=")[2]
            separator, form = (value, form) if word.startswith("--s") else (separator, value)
        elif word.startswith("-s"):
            separator = word[2:]
        elif word.startswith("-f"):
            form = word[2:]
        elif word in ("-w", "--equal-width"):
            equal = True
        elif word.startswith("--"):
            return refused(call, UsageError(f"unrecognized option '{word}'"))
        else:
            return refused(call, UsageError(f"invalid option -- '{word[1]}'"))
    if not words:
        return refused(call, UsageError("missing operand"))
    if len(words) > 3:
        return refused(call, UsageError(f"extra operand '{words[3]}'"))
    for word in words:
        if not _NUMBER.match(word):
            return refused(call, UsageError(f"invalid floating point argument: '{word}'"))
        if not abs(float(word)) <= LARGEST:
            return ExecResult("", f"seq: {word}: value too large\n", 1)
    first = words[0] if len(words) > 1 else "1"
    step = words[1] if len(words) > 2 else "1"
    last = words[-1]
    if float(step) == 0:
        return refused(call, UsageError(f"invalid Zero increment value: '{step}'"))
    places = max(len(word.partition(".")[2]) for word in (first, step))
    if places > 9:
        return ExecResult("", f"seq: {step}: value too large\n", 1)
    scale = 10**places
    start, by = round(float(first) * scale), round(float(step) * scale) or 1
    count = int((float(last) * scale - start) / by + 1e-9) + 1
    width = max(len(first), len(last), 1) + len(separator) + (places and places + 1)
    if form:
        width += (
            len(form)
            + max((int(digits) for digits in re.findall(r"%[-+ 0#]*(\d{1,4})", form)), default=0)
            + 20
        )
    shortened = max(0, min(count, MOST_NUMBERS, MOST_TEXT // width))
    call.charge(shortened * width)
    numbers = [start + by * index for index in range(shortened)]
    if form:
        match = re.fullmatch(r"((?:[^%]|%%)*)%([-+ 0#]*)(\d{0,4})(\.\d{1,2})?([efgEFG])((?:[^%]|%%)*)", form)
        if match is None:
            return ExecResult("", f"seq: format '{form}' has no % directive\n", 1)
        shown = [form % (number / scale) for number in numbers]
    elif places:
        shown = [f"{number / scale:.{places}f}" for number in numbers]
    else:
        shown = [str(number) for number in numbers]
    if equal and shown:
        width = max(len(shown[0]), len(shown[-1]))
        shown = [text.zfill(width) for text in shown]
    text = separator.join(shown) + "\n" if shown else ""
    return ExecResult(text, "Killed\n", 137) if shortened < count else ExecResult(text)


def yes(args: list[str], call: Call) -> ExecResult:
    """``yes [word...]``: as much of it as anybody reads; whoever reads has closed the pipe by then."""
    if args[:1] == ["--"]:
        args = args[1:]
    line = " ".join(args or ["y"]) + "\n"
    count = max(1, YES_TEXT // len(line))
    call.charge(count * len(line))
    return ExecResult(line * count, exit_code=141)


def env(args: list[str], call: Call) -> ExecResult:
    """``env [-i] [-u name] [name=value...] [command [argument...]]``."""
    words = list(args)
    variables = call.env
    changes: dict[str, str] = {}
    while words:
        word = words[0]
        if word in ("-", "-i", "--ignore-environment"):
            variables = {}
        elif word in ("-u", "--unset") and len(words) > 1:
            variables.pop(words.pop(1), None)
        elif word.startswith("-u"):
            variables.pop(word[2:], None)
        elif word in ("-0", "--null", "-v", "--debug"):
            pass
        elif word.startswith("--") and len(word) > 2:
            return refused(call, UsageError(f"unrecognized option '{word}'"), 125)
        elif word.startswith("-") and word != "--":
            return refused(call, UsageError(f"invalid option -- '{word[1]}'"), 125)
        elif "=" in word and word != "--":
            name, _, value = word.partition("=")
            changes[name] = value
        elif word != "--":
            break
        words.pop(0)
    if not words:
        shown = {**variables, **changes}
        return ExecResult("".join(f"{name}={value}\n" for name, value in shown.items()))
    if not call.run.has_program(words[0]):
        return ExecResult("", f"env: '{words[0]}': No such file or directory\n", 127)
    return ExecResult(exit_code=call.run.with_input(words, call.stdin, {**variables, **changes}))


def printenv(args: list[str], call: Call) -> ExecResult:
    """``printenv [name...]``."""
    variables = call.env
    names = [word for word in args if not word.startswith("-")]
    if not names:
        return ExecResult("".join(f"{name}={value}\n" for name, value in variables.items()))
    found = [variables[name] for name in names if name in variables]
    return ExecResult("".join(f"{value}\n" for value in found), "", int(len(found) < len(names)))


_SHELL_LETTERS = "abcefhiklmnoprstuvxBCDEHPTO"
_SHELL_LONG = frozenset(
    "--login --norc --noprofile --posix --version --restricted --noediting --rcfile --init-file --verbose".split()
)
_SHELL_USAGE = (
    "Usage:\t{0} [GNU long option] [option] ...\n\t{0} [GNU long option] [option] script-file ...\n"
)


def sh(args: list[str], call: Call) -> ExecResult:
    """``sh [-eux] [-c script [name [argument...]]]``, a script file, or a script on standard input."""
    letters, flags = "", set[str]()
    rest = list(args)
    while rest and rest[0][:1] in "-+" and len(rest[0]) > 1:
        flag = rest.pop(0)
        if flag == "--":
            break
        if flag in ("-o", "+o") and rest:
            flags.add(rest.pop(0))
        elif flag.startswith("--"):
            if flag not in _SHELL_LONG:
                return ExecResult(
                    "", f"{call.name}: {flag}: invalid option\n{_SHELL_USAGE.format(call.name)}", 2
                )
        elif (wrong := next((letter for letter in flag[1:] if letter not in _SHELL_LETTERS), "")) != "":
            return ExecResult(
                "", f"{call.name}: {flag[0]}{wrong}: invalid option\n{_SHELL_USAGE.format(call.name)}", 2
            )
        else:
            letters += flag[1:]
    if "--version" in args[:1]:
        return ExecResult("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n")
    flags |= {FLAGS[letter] for letter in letters if letter in "euxfC" and letter in FLAGS}
    if letters.endswith("o") and rest:
        flags.add(rest.pop(0))
    if "c" in letters:
        if not rest:
            return ExecResult("", f"{call.name}: -c: option requires an argument\n", 2)
        script, argv = rest[0], rest[1:] or [call.name]
    elif rest and "s" not in letters:
        path = call.resolve(rest[0])
        text = call.fs.text(path)
        if text is None:
            return ExecResult("", f"{call.name}: {rest[0]}: No such file or directory\n", 127)
        script, argv = text, rest
    else:
        script, argv = call.run.input.take(), [call.name, *rest]
    return ExecResult(exit_code=call.run.nested_shell(script, argv, frozenset(flags)))


def clear(args: list[str], call: Call) -> ExecResult:
    """``clear``."""
    return ExecResult("\x1b[2J\x1b[H")


# --- sums and encodings -----------------------------------------------------------------------------


def checksum(args: list[str], call: Call) -> ExecResult:
    """``md5sum``, ``sha1sum``, ``sha256sum``, ``sha512sum`` of files; ``-c`` checks what such a program has written."""
    kind = call.name.removesuffix("sum")
    operands = [word for word in args if word == "-" or not word.startswith("-")]
    printed = Printed()

    def digest(text: str) -> str:
        return hashlib.new(kind, encoded(text), usedforsecurity=False).hexdigest()

    if "-c" in args or "--check" in args:
        for _, listing in inputs(call, operands, printed):
            for line in listing.splitlines():
                wanted, _, name = line.partition("  ")
                try:
                    good = digest(read(call, name)) == wanted
                except OSError as error:
                    printed.err(f"{call.name}: {name}: {reason(error)}\n")
                    good = False
                printed.out(f"{name}: {'OK' if good else 'FAILED'}\n")
                printed.code = printed.code or int(not good)
        return printed.result()
    for name, text in inputs(call, operands, printed):
        printed.out(f"{digest(text)}  {name}\n")
    return printed.result()


def base64(args: list[str], call: Call) -> ExecResult:
    """``base64 [-d] [-w width] [file]``."""
    try:
        given, operands = options(args, "diw:", {"decode": "d", "wrap": "w:", "ignore-garbage": "i"})
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    try:
        text = read(call, operands[0] if operands else "-")
    except OSError as error:
        return ExecResult("", f"base64: {operands[0]}: {reason(error)}\n", 1)
    if "d" in asked:
        clean = "".join(text.split())
        good = re.match(r"[A-Za-z0-9+/]*={0,2}", clean)
        kept = good[0] if good else ""
        wrong = len(kept) != len(clean) or len(kept) % 4 != 0
        kept = kept.rstrip("=")
        data = (
            coding.b64decode(kept[: len(kept) - (len(kept) % 4 == 1)] + "===", validate=False)
            if kept
            else b""
        )
        return ExecResult(decoded(data), "base64: invalid input\n" if wrong else "", int(wrong))
    width_text = asked.get("w", "76")
    if not width_text.isdecimal():
        return ExecResult("", f"base64: invalid wrap size: '{width_text}'\n", 1)
    width = int(width_text[:9])
    coded = coding.b64encode(encoded(text)).decode()
    if not width:
        return ExecResult(coded)
    return ExecResult("".join(f"{coded[at : at + width]}\n" for at in range(0, len(coded), width)))


def od(args: list[str], call: Call) -> ExecResult:
    """``od [-A base] [-t type] [-N count] [-c] [-x] [-b] [file...]``, and ``hexdump -C``-like forms are not here."""
    try:
        given, operands = options(
            args, "A:t:N:j:w:cxbdov", {"format": "t:", "address-radix": "A:", "read-bytes": "N:"}
        )
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    printed = Printed()
    data = b"".join(encoded(text) for _, text in inputs(call, operands, printed))
    if asked.get("N", "").isdecimal():
        data = data[: int(asked["N"][:9])]
    kind = "c" if "c" in asked else "x2" if "x" in asked else "o1" if "b" in asked else asked.get("t", "o2")
    radix = asked.get("A", "o")[:1]
    out: list[str] = []
    before: bytes | None = None
    starred = False
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        if row == before and len(row) == 16 and "v" not in asked:
            if not starred:
                out.append("*\n")
            starred = True
            continue
        before, starred = row, False
        out.append(f"{_address(at, radix)}{_cells(row, kind)}\n")
    if radix != "n":
        out.append(f"{_address(len(data), radix)}\n")
    printed.out("".join(out))
    return printed.result()


def _address(at: int, radix: str) -> str:
    return {"o": f"{at:07o}", "d": f"{at:07d}", "x": f"{at:06x}"}.get(radix, "")


def _cells(row: bytes, kind: str) -> str:
    if kind[0] in "ca":
        return "".join(
            _SHOWN.get(byte, f"   {chr(byte)}" if 32 <= byte < 127 else f" {byte:03o}") for byte in row
        )
    size = {"1": 1, "2": 2, "4": 4, "8": 8}.get(kind[1:2], {"x": 4, "d": 4, "o": 4, "u": 4}.get(kind[0], 2))
    if kind[1:2] == "C":
        size = 1
    cells = []
    for at in range(0, len(row), size):
        value = int.from_bytes(row[at : at + size].ljust(size, b"\0"), "little", signed=kind[0] == "d")
        width = {
            "x": size * 2,
            "o": -(-size * 8 // 3),
            "d": {1: 4, 2: 6, 4: 11, 8: 20}[size],
            "u": {1: 3, 2: 5, 4: 10, 8: 20}[size],
        }
        if kind[0] in "xo":
            cells.append(f" {value:0{width[kind[0]]}{kind[0]}}")
        else:
            cells.append(f" {value:>{width.get(kind[0], 4)}}")
    return "".join(cells)


_SHOWN = {0: "  \\0", 7: "  \\a", 8: "  \\b", 9: "  \\t", 10: "  \\n", 11: "  \\v", 12: "  \\f", 13: "  \\r"}


def gzip(args: list[str], call: Call) -> ExecResult:
    """``gzip [-cdfk] [file...]``, ``gunzip`` and ``zcat``."""
    try:
        given, operands = options(
            args,
            "cdfknqtlv123456789",
            {
                "stdout": "c",
                "decompress": "d",
                "keep": "k",
                "force": "f",
                "test": "t",
                "best": "9",
                "fast": "1",
            },
        )
    except UsageError as error:
        return refused(call, error)
    letters = {letter for letter, _ in given}
    unzips = call.name in ("gunzip", "zcat") or "d" in letters
    printed = Printed()
    for operand in operands or ["-"]:
        try:
            text = read(call, operand)
        except OSError as error:
            printed.err(f"gzip: {operand}: {reason(error)}\n")
            continue
        try:
            made = _unzipped(encoded(text)) if unzips else _zipped(encoded(text))
        except (OSError, EOFError, zlib.error):
            printed.err(f"\ngzip: {'stdin' if operand == '-' else operand}: not in gzip format\n")
            continue
        if operand == "-" or "c" in letters or call.name == "zcat":
            printed.out(decoded(made))
            continue
        if unzips and not operand.endswith(".gz"):
            printed.err(f"gzip: {operand}: unknown suffix -- ignored\n", 2)
            continue
        path = call.resolve(operand)
        call.fs.put_bytes(path.removesuffix(".gz") if unzips else f"{path}.gz", made)
        if "k" not in letters:
            call.fs.remove(path)
    return printed.result()


def _zipped(data: bytes) -> bytes:
    """What is counted only, a recording or a capture, gets no smaller."""
    return data if bulk.counted(data) else zipping.compress(data, mtime=0)


def _unzipped(data: bytes) -> bytes:
    """What compressed data holds, as far as it may. Raises OSError, EOFError, zlib.error."""
    machine = zlib.decompressobj(31)
    made = machine.decompress(data, MAX_BYTES)
    if not machine.eof:
        raise EOFError("ends early")
    return made


PROGRAMS: Mapping[str, Program] = {
    "basename": basename, "dirname": dirname, "seq": seq, "yes": yes, "env": env, "printenv": printenv, "sh": sh, "bash": sh,
    "clear": clear, "md5sum": checksum, "sha1sum": checksum, "sha256sum": checksum, "sha512sum": checksum,
    "base64": base64, "od": od, "gzip": gzip, "gunzip": gzip, "zcat": gzip,
}  # fmt: skip
