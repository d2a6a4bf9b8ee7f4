"""Programs that print texts or parts of them: ``cat``, ``head``, ``tail``, ``tac``, ``rev``, ``nl``, ``fold``, ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.numbers import whole
from sregym_env.shell.commands.arguments import UsageError, options, reason
from sregym_env.shell.commands.printed import Printed
from sregym_env.shell.crowds import written_out
from sregym_env.shell.files import decoded, encoded
from sregym_env.shell.run import Call, Program


def read(call: Call, operand: str) -> str:
    """What a file or standard input holds. Raises OSError."""
    if operand in ("-", "/dev/stdin"):
        return call.stdin
    data = call.fs.read(call.resolve(operand))
    call.charge(len(data))
    return decoded(data)


def refused(call: Call, error: Exception, code: int = 1) -> ExecResult:
    """The complaint of a GNU program about its command line."""
    return ExecResult("", f"{call.name}: {error}\nTry '{call.name} --help' for more information.\n", code)


def inputs(call: Call, operands: list[str], printed: Printed) -> Iterator[tuple[str, str]]:
    """(name, text) of each operand that can be read, standard input where there is none; complaints are printed."""
    for operand in operands or ["-"]:
        try:
            yield operand, read(call, operand)
        except OSError as error:
            printed.err(f"{call.name}: {operand}: {reason(error)}\n")


def whole_lines(text: str) -> list[str]:
    """The lines of a text, each with its newline if it has one."""
    return text.splitlines(keepends=True) if "\r" not in text and _ODD.search(text) is None else _split(text)


# Where str.splitlines() sees ends of lines that no Unix program sees.
_ODD = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def _split(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def cat(args: list[str], call: Call) -> ExecResult:
    """``cat [-AbEnsTv] [file...]``."""
    long = {"number": "n", "number-nonblank": "b", "show-all": "A", "show-ends": "E", "show-tabs": "T",
            "squeeze-blank": "s", "show-nonprinting": "v"}  # fmt: skip
    try:
        given, operands = options(args, "AbeEnstTuv", long)
    except UsageError as error:
        return refused(call, error)
    letters = "".join(letter for letter, _ in given).replace("A", "vET").replace("e", "vE").replace("t", "vT")
    printed = Printed()
    number, blank = 0, False
    for _, text in inputs(call, operands, printed):
        if not letters.replace("u", ""):
            printed.out(text)
            continue
        out: list[str] = []
        for line in whole_lines(written_out(text)):
            body = line.removesuffix("\n")
            if "s" in letters and not body:
                if blank:
                    continue
                blank = True
            else:
                blank = False
            if "v" in letters:
                body = _visible(body)
            if "T" in letters:
                body = body.replace("\t", "^I")
            if ("b" in letters and body) or ("n" in letters and "b" not in letters):
                number += 1
                body = f"{number:6}\t{body}"
            out.append(
                body
                + ("$" if "E" in letters and line.endswith("\n") else "")
                + line[len(line.removesuffix("\n")) :]
            )
        printed.out("".join(out))
    return printed.result()


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    out = []
    for byte in encoded(text):
        mark = "M-" if byte > 127 else ""
        low = byte & 127
        if low == 9 and not mark:
            out.append("\t")
        elif low < 32:
            out.append(f"{mark}^{chr(low + 64)}")
        else:
            out.append(f"{mark}{'^?' if low == 127 else chr(low)}")
    return "".join(out)


def _count(text: str, what: str) -> int:
    match = re.fullmatch(r"([-+]?)(\d+)([bkKMG]?B?)", text)
    if match is None:
        raise UsageError(f"invalid number of {what}: '{text}'")
    return (
        int(match[2][:12]) * {"": 1, "b": 512, "k": 1024, "K": 1024, "M": 1 << 20, "G": 1 << 30}[match[3][:1]]
    )


def _ends(args: list[str], call: Call, cut: Callable[[str, str, str], str]) -> ExecResult:
    long = {"lines": "n:", "bytes": "c:", "quiet": "q", "silent": "q", "verbose": "v", "follow": "f::",
            "zero-terminated": "z", "retry": "r", "pid": "p:", "sleep-interval": "s:"}  # fmt: skip
    words = [f"-n{word}" if re.fullmatch(r"\+\d+", word) and call.name == "tail" and i == 0 else word
             for i, word in enumerate(args)]  # fmt: skip
    try:
        given, operands = options(words, "n:c:qvzfFs:", long, numbers=True)
        unit, amount, titled = "n", "10", len(operands) > 1
        for letter, value in given:
            if letter in "nc0":
                unit, amount = letter.replace("0", "n"), value
                _count(amount, "lines" if unit == "n" else "bytes")
            elif letter in "qv":
                titled = letter == "v"
    except UsageError as error:
        return refused(call, error)
    printed = Printed()
    first = True
    for operand in operands or ["-"]:
        try:
            text = read(call, operand)
        except OSError as error:
            verb = "error reading" if isinstance(error, IsADirectoryError) else "cannot open"
            tail = "" if verb == "error reading" else " for reading"
            printed.err(f"{call.name}: {verb} '{operand}'{tail}: {reason(error)}\n")
            continue
        if titled:
            shown = "standard input" if operand == "-" else operand
            printed.out(f"{'' if first else chr(10)}==> {shown} <==\n")
        first = False
        printed.out(cut(text, unit, amount))
    return printed.result()


def head(args: list[str], call: Call) -> ExecResult:
    """``head [-n lines] [-c bytes] [file...]``."""
    return _ends(args, call, _head)


def _head(text: str, unit: str, amount: str) -> str:
    count = _count(amount, "lines")
    back = amount.startswith("-")
    if unit == "c":
        data = encoded(text)
        return decoded(data[: len(data) - count] if back and count else data[: 0 if back and not count else count]
                       if not (back and not count) else data)  # fmt: skip
    if back:
        lines = whole_lines(text)
        return "".join(lines[: max(0, len(lines) - count)])
    at = 0
    for _ in range(count):
        found = text.find("\n", at)
        if found < 0:
            return text
        at = found + 1
    return text[:at]


def tail(args: list[str], call: Call) -> ExecResult:
    """``tail [-n [+]lines] [-c [+]bytes] [file...]``; nothing is followed."""
    return _ends(args, call, _tail)


def _tail(text: str, unit: str, amount: str) -> str:
    count = _count(amount, "lines")
    if unit == "c":
        data = encoded(text)
        return decoded(
            data[max(0, count - 1) :] if amount.startswith("+") else data[max(0, len(data) - count) :]
        )
    lines = whole_lines(text)
    if amount.startswith("+"):
        return "".join(lines[max(0, count - 1) :])
    return "".join(lines[max(0, len(lines) - count) :])


def tac(args: list[str], call: Call) -> ExecResult:
    """``tac [file...]``."""
    printed = Printed()
    for _, text in inputs(call, [word for word in args if word == "-" or not word.startswith("-")], printed):
        printed.out("".join(reversed(whole_lines(text))))
    return printed.result()


def rev(args: list[str], call: Call) -> ExecResult:
    """``rev [file...]``."""
    printed = Printed()
    for _, text in inputs(call, args, printed):
        printed.out(
            "".join(
                line.removesuffix("\n")[::-1] + line[len(line.removesuffix("\n")) :]
                for line in whole_lines(text)
            )
        )
    return printed.result()


def nl(args: list[str], call: Call) -> ExecResult:
    """``nl [-b a|t|n] [-n ln|rn|rz] [-s separator] [-v first] [-w width] [file...]``."""
    try:
        given, operands = options(args, "b:n:s:v:w:i:", {"body-numbering": "b:", "number-width": "w:"})
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    number, width = int(asked.get("v", "1")), min(int(asked.get("w", "6")), 100)
    separator, style = asked.get("s", "\t"), asked.get("b", "t")
    shape = asked.get("n", "rn")
    printed = Printed()
    for _, text in inputs(call, operands, printed):
        out = []
        for line in whole_lines(text):
            if style == "a" or (style == "t" and line != "\n"):
                digits = str(number)
                shown = (
                    digits.ljust(width)
                    if shape == "ln"
                    else digits.zfill(width)
                    if shape == "rz"
                    else digits.rjust(width)
                )
                out.append(f"{shown}{separator}{line}")
                number += int(asked.get("i", "1"))
            else:
                out.append(" " * (width + len(separator)) + line)
        printed.out("".join(out))
    return printed.result()


def fold(args: list[str], call: Call) -> ExecResult:
    """``fold [-s] [-w width] [file...]``."""
    try:
        given, operands = options(args, "bsw:", {"width": "w:", "spaces": "s", "bytes": "b"}, numbers=True)
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    width_text = asked.get("w", asked.get("0", "80"))
    if not width_text.isdecimal() or int(width_text[:9]) < 1:
        return ExecResult("", f"fold: invalid number of columns: '{width_text}'\n", 1)
    width = int(width_text[:9])
    printed = Printed()
    for _, text in inputs(call, operands, printed):
        out: list[str] = []
        for line in whole_lines(text):
            body, end = line.removesuffix("\n"), line[len(line.removesuffix("\n")) :]
            while len(body) > width:
                cut = width
                if "s" in asked:
                    blank = body.rfind(" ", 0, width)
                    cut = blank + 1 if blank >= 0 else width
                out.append(f"{body[:cut]}\n")
                body = body[cut:]
            out.append(body + end)
        printed.out("".join(out))
    return printed.result()


def expand(args: list[str], call: Call) -> ExecResult:
    """``expand [-t width] [file...]`` and ``unexpand [-a] [-t width]``."""
    try:
        given, operands = options(
            args, "iat:", {"tabs": "t:", "initial": "i", "all": "a", "first-only": "i"}, numbers=True
        )
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    width_text = asked.get("t", asked.get("0", "8"))
    width = min(max(1, int(width_text[:4])), 1000) if width_text.isdecimal() else 8
    printed = Printed()
    for _, text in inputs(call, operands, printed):
        if call.name == "expand":
            printed.out("\n".join(line.expandtabs(width) for line in text.split("\n")))
        else:
            printed.out(
                "\n".join(_unexpanded(line, width, "a" in asked or "t" in asked) for line in text.split("\n"))
            )
    return printed.result()


def _unexpanded(line: str, width: int, everywhere: bool) -> str:
    line = line.expandtabs(width)
    out: list[str] = []
    for at in range(0, len(line), width):
        piece = line[at : at + width]
        stripped = piece.rstrip(" ")
        if (
            len(piece) == width
            and len(piece) - len(stripped) > 1
            and (everywhere or not line[: at + len(stripped)].strip())
        ):
            out.append(stripped + "\t")
        else:
            out.append(piece)
    return "".join(out)


def strings(args: list[str], call: Call) -> ExecResult:
    """``strings [-n length] [file...]``."""
    try:
        given, operands = options(args, "an:", {"bytes": "n:"}, numbers=True)
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    least_text = asked.get("n", asked.get("0", "4"))
    least = whole(least_text, 4, 4)
    printed = Printed()
    for _, text in inputs(call, operands, printed):
        found = re.findall(rf"[\t\x20-\x7e]{{{max(1, min(least, 900))},}}", text)
        printed.out("".join(f"{piece}\n" for piece in found))
    return printed.result()


PROGRAMS: Mapping[str, Program] = {
    "cat": cat,
    "head": head,
    "tail": tail,
    "tac": tac,
    "rev": rev,
    "nl": nl,
    "fold": fold,
    "expand": expand,
    "unexpand": expand,
    "strings": strings,
}
