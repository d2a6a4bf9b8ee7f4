"""Programs that print parts of texts: ``cat``, ``head``, ``tail``, ``tac``, ``rev``, ``nl``, ``uniq``, ``tr``, ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from sregym_env.cluster.api import ExecResult
from sregym_env.shell.commands.arguments import UsageError, options, reason
from sregym_env.shell.commands.printed import Printed
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
        for line in whole_lines(text):
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


def uniq(args: list[str], call: Call) -> ExecResult:
    """``uniq [-cdiuz] [-f fields] [-s chars] [-w chars] [input [output]]``."""
    long = {"count": "c", "repeated": "d", "unique": "u", "ignore-case": "i", "skip-fields": "f:", "skip-chars": "s:",
            "check-chars": "w:", "all-repeated": "D::", "zero-terminated": "z"}  # fmt: skip
    try:
        given, operands = options(args, "cdDiuzf:s:w:", long)
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)

    def number(letter: str) -> int:
        return int(asked[letter][:9]) if asked.get(letter, "").isdecimal() else 0

    fields, skip, width, fold = number("f"), number("s"), number("w"), "i" in asked
    try:
        text = read(call, operands[0] if operands else "-")
    except OSError as error:
        return ExecResult("", f"uniq: {operands[0]}: {reason(error)}\n", 1)

    def key(line: str) -> str:
        if fields:
            match = re.match(rf"(?:[ \t]*[^ \t]+){{0,{min(fields, 900)}}}", line)
            line = line[match.end() :] if match else line
        line = line[skip:]
        line = line[:width] if width else line
        return line.lower() if fold else line

    groups: list[list[str]] = []
    last = ""
    for line in whole_lines(text):
        body = line.removesuffix("\n")
        found = key(body)
        if groups and found == last:
            groups[-1].append(body)
        else:
            groups.append([body])
        last = found
    if "D" in asked:
        out = "".join(f"{line}\n" for group in groups if len(group) > 1 for line in group)
    else:
        wanted = [
            g for g in groups if not ("d" in asked and len(g) < 2) and not ("u" in asked and len(g) > 1)
        ]
        out = "".join(f"{len(g):7} {g[0]}\n" if "c" in asked else f"{g[0]}\n" for g in wanted)
    if len(operands) > 1:
        call.fs.put_text(call.resolve(operands[1]), out)
        return ExecResult()
    return ExecResult(out)


_CLASSES: Mapping[str, str] = {
    "alpha": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "digit": "0123456789",
    "alnum": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "lower": "abcdefghijklmnopqrstuvwxyz", "space": "\t\n\v\f\r ",
    "blank": "\t ", "punct": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "xdigit": "0123456789ABCDEFabcdef",
    "cntrl": "".join(map(chr, (*range(32), 127))), "print": "".join(map(chr, range(32, 127))),
    "graph": "".join(map(chr, range(33, 127))),
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _set(text: str, size: int) -> list[str]:
    """The characters of a set of ``tr``; ``size`` is how many ``[x*]`` fills up to."""
    out: list[str] = []
    at = 0

    def one(at: int) -> tuple[str, int]:
        if text[at] == "\\" and at + 1 < len(text):
            octal = re.compile(r"[0-7]{1,3}").match(text, at + 1)
            if octal:
                return chr(int(octal[0], 8) & 255), octal.end()
            return _ESCAPES.get(text[at + 1], text[at + 1]), at + 2
        return text[at], at + 1

    while at < len(text):
        known = re.compile(r"\[:(\w+):\]").match(text, at)
        if known:
            if known[1] not in _CLASSES:
                raise UsageError(f"invalid character class '{known[1]}'")
            out += _CLASSES[known[1]]
            at = known.end()
            continue
        repeated = re.compile(r"\[(.)\*(\d*)\]", re.DOTALL).match(text, at)
        if repeated:
            out += [repeated[1]] * min(int(repeated[2] or max(0, size - len(out))), 100_000)
            at = repeated.end()
            continue
        first, at = one(at)
        if at + 1 < len(text) and text[at] == "-":
            last, at = one(at + 1)
            if ord(last) < ord(first):
                raise UsageError(
                    f"range-endpoints of '{first}-{last}' are in reverse collating sequence order"
                )
            out += [chr(code) for code in range(ord(first), min(ord(last), ord(first) + 70_000) + 1)]
        else:
            out.append(first)
    return out


def tr(args: list[str], call: Call) -> ExecResult:
    """``tr [-cds] set1 [set2]``."""
    long = {"complement": "c", "delete": "d", "squeeze-repeats": "s", "truncate-set1": "t"}
    try:
        given, operands = options(args, "cCdst", long)
        letters = {letter.lower() for letter, _ in given}
        if not operands:
            raise UsageError("missing operand")
        if len(operands) == 1 and not letters & {"d", "s"}:
            raise UsageError(
                f"missing operand after '{operands[0]}'\nTwo strings must be given when translating."
            )
        first = _set(operands[0], 0)
        second = _set(operands[1], len(first)) if len(operands) > 1 else []
    except UsageError as error:
        return refused(call, error)
    text = call.stdin
    members = set(first)
    complement = "c" in letters

    def chosen(char: str) -> bool:
        return (char in members) != complement

    if "d" in letters:
        text = "".join([char for char in text if not chosen(char)])
        squeezed = set(second)
    elif second:
        if complement:
            text = "".join([char if char in members else second[-1] for char in text])
        else:
            padded = second + [second[-1]] * (len(first) - len(second))
            text = text.translate(
                {ord(a): b for a, b in zip(reversed(first), reversed(padded[: len(first)]), strict=True)}
            )
        squeezed = set(second)
    else:
        squeezed = set()
        if "s" in letters:
            text = "".join(
                [char for i, char in enumerate(text) if not (i and char == text[i - 1] and chosen(char))]
            )
    if "s" in letters and squeezed:
        text = "".join(
            [char for i, char in enumerate(text) if not (i and char == text[i - 1] and char in squeezed)]
        )
    return ExecResult(text)


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
    least = int(least_text) if least_text.isdecimal() and len(least_text) < 5 else 4
    printed = Printed()
    for _, text in inputs(call, operands, printed):
        found = re.findall(rf"[\t\x20-\x7e]{{{max(1, min(least, 900))},}}", text)
        printed.out("".join(f"{piece}\n" for piece in found))
    return printed.result()


def column(args: list[str], call: Call) -> ExecResult:
    """``column -t [-s separators] [-o separator] [-N names] [file...]``; without ``-t`` the lines side by side."""
    try:
        given, operands = options(
            args, "ts:o:c:xN:n", {"table": "t", "separator": "s:", "output-separator": "o:"}
        )
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    printed = Printed()
    lines = [line for _, text in inputs(call, operands, printed) for line in text.split("\n") if line.strip()]
    if "t" not in asked:
        printed.out(_side_by_side(lines, int(asked["c"]) if asked.get("c", "").isdecimal() else 80))
        return printed.result()
    separators = asked.get("s")
    if separators is None:
        rows = [line.split() for line in lines]
    else:
        rows = [re.split(f"[{re.escape(separators)}]", line) for line in lines]
    if "N" in asked:
        rows.insert(0, asked["N"].split(","))
    widths: list[int] = []
    for row in rows:
        for index, cell in enumerate(row):
            if index == len(widths):
                widths.append(0)
            widths[index] = max(widths[index], len(cell))
    between = asked.get("o", "  ")
    for row in rows:
        cells = [cell.ljust(widths[index]) for index, cell in enumerate(row)]
        if len(row) == len(widths) or row:
            cells[-1] = row[-1]
        printed.out(between.join(cells) + "\n")
    return printed.result()


def _side_by_side(lines: list[str], width: int) -> str:
    if not lines:
        return ""
    size = (max(len(line) for line in lines) // 8 + 1) * 8
    columns = max(1, width // size)
    rows = -(-len(lines) // columns)
    out = []
    for row in range(rows):
        cells = lines[row::rows]
        text = ""
        for index, cell in enumerate(cells):
            if index == len(cells) - 1:
                text += cell
            else:
                text += cell + "\t" * ((size - len(cell) + 7) // 8)
        out.append(f"{text}\n")
    return "".join(out)


def comm(args: list[str], call: Call) -> ExecResult:
    """``comm [-123] file1 file2``."""
    try:
        given, operands = options(
            args, "123", {"output-delimiter": "d:", "total": "T", "check-order": "o", "nocheck-order": "o"}
        )
        if len(operands) < 2:
            missing = f"missing operand after '{operands[0]}'" if operands else "missing operand"
            raise UsageError(missing)
    except UsageError as error:
        return refused(call, error)
    hidden = {letter for letter, _ in given}
    printed = Printed()
    texts = [text for _, text in inputs(call, operands[:2], printed)]
    if len(texts) < 2:
        return printed.result()
    one, other = ([line.removesuffix("\n") for line in whole_lines(text)] for text in texts)
    out: list[str] = []
    left = right = 0
    while left < len(one) or right < len(other):
        if right == len(other) or (left < len(one) and one[left] < other[right]):
            kind, line = "1", one[left]
            left += 1
        elif left == len(one) or other[right] < one[left]:
            kind, line = "2", other[right]
            right += 1
        else:
            kind, line = "3", one[left]
            left, right = left + 1, right + 1
        if kind not in hidden:
            out.append("\t" * sum(1 for k in "12" if k < kind and k not in hidden) + f"{line}\n")
    printed.out("".join(out))
    return printed.result()


def join(args: list[str], call: Call) -> ExecResult:
    """``join [-t char] [-1 field] [-2 field] [-j field] [-a file] [-v file] [-o list] [-e text] file1 file2``."""
    try:
        given, operands = options(args, "t:1:2:j:a:v:o:e:i", {"ignore-case": "i"})
        if len(operands) < 2:
            raise UsageError(f"missing operand after '{operands[0]}'" if operands else "missing operand")
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    separator = asked.get("t")
    unpaired = {value for letter, value in given if letter in "av"}
    fields = [int(asked.get("1", asked.get("j", "1"))) - 1, int(asked.get("2", asked.get("j", "1"))) - 1]
    printed = Printed()
    texts = [text for _, text in inputs(call, operands[:2], printed)]
    if len(texts) < 2:
        return printed.result()
    tables = [
        [
            line.removesuffix("\n").split(separator) if separator else line.split()
            for line in whole_lines(text)
        ]
        for text in texts
    ]

    def key(row: list[str], side: int) -> str:
        found = row[fields[side]] if 0 <= fields[side] < len(row) else ""
        return found.lower() if "i" in asked else found

    between = separator or " "

    def shown(name: str, one: list[str] | None, other: list[str] | None) -> str:
        if "o" in asked:
            cells = []
            for spec in re.split(r"[ ,]+", asked["o"]):
                side, _, number = spec.partition(".")
                row = one if side == "1" else other
                index = int(number) - 1 if number.isdecimal() else -1
                cells.append(
                    name
                    if spec == "0"
                    else row[index]
                    if row and 0 <= index < len(row)
                    else asked.get("e", "")
                )
            return between.join(cells)
        rest = [cell for i, cell in enumerate(one or []) if i != fields[0]]
        rest += [cell for i, cell in enumerate(other or []) if i != fields[1]]
        return between.join([name, *rest])

    out: list[str] = []
    left = right = 0
    one, other = tables
    while left < len(one) and right < len(other):
        a, b = key(one[left], 0), key(other[right], 1)
        if a == b:
            ends = [left, right]
            while ends[0] < len(one) and key(one[ends[0]], 0) == a:
                ends[0] += 1
            while ends[1] < len(other) and key(other[ends[1]], 1) == a:
                ends[1] += 1
            if "v" not in asked:
                call.run.move((ends[0] - left) * (ends[1] - right) * 40)
                out += [
                    shown(one[i][fields[0]], one[i], other[j])
                    for i in range(left, ends[0])
                    for j in range(right, ends[1])
                ]
            left, right = ends
        elif a < b:
            out += [shown(one[left][fields[0]], one[left], None)] if "1" in unpaired else []
            left += 1
        else:
            out += [shown(other[right][fields[1]], None, other[right])] if "2" in unpaired else []
            right += 1
    if "1" in unpaired:
        out += [shown(key(row, 0), row, None) for row in one[left:]]
    if "2" in unpaired:
        out += [shown(key(row, 1), None, row) for row in other[right:]]
    printed.out("".join(f"{line}\n" for line in out))
    return printed.result()


PROGRAMS: Mapping[str, Program] = {
    "cat": cat, "head": head, "tail": tail, "tac": tac, "rev": rev, "nl": nl, "uniq": uniq, "tr": tr, "fold": fold,
    "expand": expand, "unexpand": expand, "strings": strings, "column": column, "comm": comm, "join": join,
}  # fmt: skip
