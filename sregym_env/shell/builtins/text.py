"""Builtins that print and read: ``echo``, ``printf``, ``read``, ``mapfile``."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from sregym_env.runtime.numbers import whole as number
from sregym_env.shell.flow import ShellError
from sregym_env.shell.interpreter import Interpreter
from sregym_env.shell.limits import MemoryExceeded
from sregym_env.shell.parameters import quoted
from sregym_env.shell.streams import Input
from sregym_env.shell.variables import NAME

WIDEST = 200_000
"""Widths and precisions that ``printf`` pads to."""

_ESCAPE = re.compile(
    r"\\(?:([abefnrtvE\\])|0([0-7]{0,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(c))"
)
_ESCAPE_FORMAT = re.compile(
    r"\\(?:([abefnrtvE\\\"'?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(c))"
)
_CHARS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
    '"': '"', "'": "'", "?": "?",
}  # fmt: skip


class _Stop(Exception):
    """``\\c``: nothing more is printed."""


def _bytes(number: int) -> str:
    return chr(number) if number < 128 else chr(0xDC00 + number)


def _joined_bytes(text: str) -> str:
    """A text in which bytes that make characters stand as these."""
    if any("\udc80" <= char <= "\udcff" for char in text):
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return text


def unescaped(text: str, *, in_format: bool = False) -> tuple[str, bool]:
    """A text with its escapes replaced, and whether ``\\c`` ended it."""
    if "\\" not in text:
        return text, False
    pattern = _ESCAPE_FORMAT if in_format else _ESCAPE

    def put(match: re.Match[str]) -> str:
        if match[1]:
            return _CHARS[match[1]]
        if match[6]:
            raise _Stop(match.start())
        if match[2] is not None:
            return _bytes(int(match[2] or "0", 8) & 255)
        if match[3]:
            return _bytes(int(match[3], 16))
        number = int(match[4] or match[5], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"

    try:
        return _joined_bytes(pattern.sub(put, text)), False
    except _Stop as stop:
        return _joined_bytes(pattern.sub(put, text[: stop.args[0]])), True


def echo(run: Interpreter, args: list[Any]) -> int:
    """``echo [-neE] [word...]``."""
    newline, escapes = True, False
    at = 0
    while (
        at < len(args) and len(args[at]) > 1 and args[at][0] == "-" and set(args[at][1:]) <= {"n", "e", "E"}
    ):
        for letter in args[at][1:]:
            if letter == "n":
                newline = False
            else:
                escapes = letter == "e"
        at += 1
    text = " ".join(args[at:] if at else args)
    if escapes:
        text, stopped = unescaped(text)
        newline = newline and not stopped
    run.out(f"{text}\n" if newline else text)
    return 0


# --- printf -----------------------------------------------------------------------------------------

_DIRECTIVE = re.compile(
    r"%(?:%|([-+ 0#']*)(\*|-?\d+)?(?:\.(\*|-?\d*))?(?:hh|h|ll|l|L|q|j|z|t)?(\([^)]*\)T|[a-zA-Z]))"
)


class _Printf:
    """One ``printf``: its arguments as they are used up, and its complaints."""

    def __init__(self, run: Interpreter, args: list[str]) -> None:
        self.run = run
        self.args = args
        self.at = 0
        self.code = 0

    def next(self) -> str | None:
        if self.at < len(self.args):
            self.at += 1
            return self.args[self.at - 1]
        return None

    def complain(self, text: str) -> None:
        self.run.complain(f"printf: {text}")
        self.code = 1

    def integer(self, text: str | None) -> int:
        if not text:
            return 0
        if text[0] in "'\"":
            return ord(text[1]) if len(text) > 1 else 0
        match = re.match(r"\s*([-+]?)(0[xX][0-9A-Fa-f]+|0[0-7]*|[1-9]\d*)", text)
        if match is None:
            self.complain(f"{text}: invalid number")
            return 0
        digits = match[2][:40]
        base = 16 if digits[:2].lower() == "0x" else 8 if digits[0] == "0" and len(digits) > 1 else 10
        if match.end() != len(text):
            self.complain(f"{text}: invalid number")
        value = int(digits, base) * (-1 if match[1] == "-" else 1)
        low, high = -(1 << 63), (1 << 63) - 1
        if not low <= value <= high:
            self.run.complain(f"printf: warning: {text}: Numerical result out of range")
            return high if value > high else low
        return value

    def real(self, text: str | None) -> float:
        if not text:
            return 0.0
        if text[0] in "'\"":
            return float(ord(text[1])) if len(text) > 1 else 0.0
        match = re.match(r"\s*[-+]?(?:0[xX][0-9A-Fa-f]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf|nan)", text)
        if match is None:
            self.complain(f"{text}: invalid number")
            return 0.0
        if match.end() != len(text):
            self.complain(f"{text}: invalid number")
        found = match[0].strip()
        return float(int(found, 16)) if "x" in found.lower() else float(found)

    def width(self, text: str) -> int:
        value = self.integer(self.next()) if text == "*" else int(text[:12] or "0")
        if abs(value) > WIDEST:
            raise _TooWide(abs(value))
        return value

    def once(self, form: str) -> tuple[str, bool]:
        """The text of the format used once, and whether it ended everything."""
        out: list[str] = []
        at = 0
        while at < len(form):
            found = form.find("%", at)
            plain, stopped = unescaped(form[at:] if found < 0 else form[at:found], in_format=True)
            out.append(plain)
            if stopped:
                return "".join(out), True
            if found < 0:
                break
            match = _DIRECTIVE.match(form, found)
            if match is None:
                self.run.out("".join(out))
                raise ShellError(f"printf: `{form[found : found + 2]}': invalid format character")
            at = match.end()
            if match[0] == "%%":
                out.append("%")
                continue
            text, stopped = self._directive(match)
            out.append(text)
            if stopped:
                return "".join(out), True
        return "".join(out), False

    def _directive(self, match: re.Match[str]) -> tuple[str, bool]:
        flags, kind = match[1] or "", match[4]
        width = self.width(match[2]) if match[2] else 0
        if width < 0:
            flags, width = flags + "-", -width
        precision = None if match[3] is None else self.width(match[3])
        if precision is not None and precision < 0:
            precision = None
        flags = flags.replace("'", "")
        if kind in "di":
            return _number(self.integer(self.next()), flags, width, precision, "d"), False
        if kind in "ouxX":
            value = self.integer(self.next())
            return _number(value if value >= 0 else value + (1 << 64), flags, width, precision, kind), False
        if kind in "eEfFgGaA":
            spec = f"%{flags}{width or ''}.{6 if precision is None else precision}{kind if kind not in 'aA' else 'e'}"
            return spec % self.real(self.next()), False
        if kind == "c":
            return _padded((self.next() or "")[:1], flags, width), False
        if kind[0] == "(":
            return _padded(self._time(kind[1:-2]), flags, width), False
        text = self.next() or ""
        if kind == "s":
            return _padded(text if precision is None else text[:precision], flags, width), False
        if kind == "b":
            text, stopped = unescaped(text)
            return _padded(text if precision is None else text[:precision], flags, width), stopped
        if kind in "qQ":
            return _padded(shown(text), flags, width), False
        raise ShellError(f"printf: `{kind}': invalid format character")

    def _time(self, form: str) -> str:
        given = self.next()
        at = int(self.run.now) if given in (None, "-1", "-2", "") else self.integer(given)
        try:
            moment = datetime.fromtimestamp(at, UTC)
        except (OverflowError, ValueError, OSError):
            return ""
        return moment.strftime(form or "%H:%M:%S")


def shown(text: str) -> str:
    """A text as ``%q`` shows it: with backslashes."""
    if not text:
        return "''"
    if re.search(r"[\x00-\x1f\x7f]", text):
        return quoted(text)
    return re.sub(r"([^A-Za-z0-9_@%+=:,./\-\u0080-\U0010ffff])", r"\\\1", text)


class _TooWide(Exception):
    """A width beyond the bound."""


def _padded(text: str, flags: str, width: int) -> str:
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _number(value: int, flags: str, width: int, precision: int | None, kind: str) -> str:
    digits = {"d": "d", "u": "d", "o": "o", "x": "x", "X": "X"}[kind]
    text = format(abs(value), digits)
    if precision is not None:
        text = text.rjust(precision, "0")
        if precision == 0 and value == 0:
            text = ""
    if "#" in flags and value:
        text = {"o": "0", "x": "0x", "X": "0X"}.get(kind, "") + text
    sign = (
        "-"
        if value < 0
        else "+"
        if "+" in flags and kind == "d"
        else " "
        if " " in flags and kind == "d"
        else ""
    )
    if "0" in flags and "-" not in flags and precision is None:
        text = text.rjust(width - len(sign), "0")
    return _padded(sign + text, flags, width)


def printf(run: Interpreter, args: list[Any]) -> int:
    """``printf [-v name] format [argument...]``."""
    words: list[str] = list(args)
    name = ""
    if words[:1] == ["-v"] and len(words) > 1:
        name = words[1]
        words = words[2:]
    elif words[:1] and words[0].startswith("-v") and len(words[0]) > 2:
        name = words.pop(0)[2:]
    if words[:1] == ["--"]:
        words.pop(0)
    if not words:
        run.err("printf: usage: printf [-v var] format [arguments]\n")
        return 2
    state = _Printf(run, words[1:])
    out: list[str] = []
    size = 0
    try:
        while True:
            before = state.at
            text, stopped = state.once(words[0])
            out.append(text)
            size += len(text)
            if size > run.limits.output_bytes * 4:
                raise MemoryExceeded("printf: cannot allocate memory")
            if stopped or state.at >= len(state.args) or state.at == before:
                break
            run.spend()
    except _TooWide as error:
        run.complain(f"printf: {error}: value too large")
        return 1
    except ShellError as error:
        run.out("".join(out))
        run.complain(str(error))
        return 1
    joined = _joined_bytes("".join(out))
    if name:
        run.variables.set(name, joined)
    else:
        run.out(joined)
    return state.code


# --- read -------------------------------------------------------------------------------------------


def _options(args: list[str], flags: str, valued: str) -> tuple[dict[str, str], list[str], str]:
    """Options with their values, operands, and a letter that is no option."""
    given: dict[str, str] = {}
    rest = list(args)
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        word = rest.pop(0)
        if word == "--":
            break
        at = 1
        while at < len(word):
            letter = word[at]
            at += 1
            if letter in valued:
                given[letter] = word[at:] if at < len(word) else (rest.pop(0) if rest else "")
                break
            if letter not in flags:
                return given, rest, letter
            given[letter] = ""
    return given, rest, ""


def read(run: Interpreter, args: list[Any]) -> int:
    """``read [-r] [-a array] [-d delim] [-n count] [-N count] [-p prompt] [-t timeout] [-u fd] [name...]``."""
    given, names, wrong = _options(args, "ers", "adinNptu")
    if wrong:
        run.complain(f"read: -{wrong}: invalid option")
        run.err("read: usage: read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] "
                "[-t timeout] [-u fd] [name ...]\n")  # fmt: skip
        return 2
    source: Input = run.input
    if "u" in given:
        found = run.table.get(number(given["u"], -1))
        if not isinstance(found, Input):
            run.complain(f"read: {given['u']}: invalid file descriptor: Bad file descriptor")
            return 1
        source = found
    for name in names:
        if not NAME.match(name.partition("[")[0]):
            run.complain(f"read: `{name}': not a valid identifier")
            return 1
    if given.get("t") == "0":
        return int(source.ended)
    text, whole = _line(source, given)
    separators = run.expander.separators
    if "N" in given:
        run.variables.set(names[0] if names else "REPLY", text)
        return int(not whole)
    pieces, quotes = (text, "") if "r" in given else _without_backslashes(text)
    if "a" in given:
        run.variables.set_array(given["a"], _split(pieces, quotes, separators, -1))
    elif not names:
        run.variables.set("REPLY", pieces)
    else:
        found_words = _split(pieces, quotes, separators, len(names))
        for index, name in enumerate(names):
            run.variables.set(name, found_words[index] if index < len(found_words) else "")
    return int(not whole)


def _line(source: Input, given: dict[str, str]) -> tuple[str, bool]:
    count_text = given.get("N", given.get("n"))
    delimiter = "\n" if "d" not in given else (given["d"][:1] or "\0")
    if count_text is not None and count_text.isdecimal():
        count = int(count_text[:9])
        text = source.characters(count)
        if "N" in given:
            return text, len(text) == count
        if delimiter in text:
            head, _, tail = text.partition(delimiter)
            source.rest = tail + source.rest
            return head, True
        return text, len(text) == count or bool(text)
    text, whole = source.until(delimiter)
    if "r" not in given and delimiter == "\n":
        while whole and (len(text) - len(text.rstrip("\\"))) % 2:
            more, whole = source.until(delimiter)
            text = text[:-1] + more
    return text, whole


def _without_backslashes(text: str) -> tuple[str, str]:
    """A text without its backslashes, and of each character whether one stood before it."""
    if "\\" not in text:
        return text, ""
    out: list[str] = []
    marks: list[str] = []
    at = 0
    while at < len(text):
        escaped = text[at] == "\\" and at + 1 < len(text)
        at += escaped
        if not (text[at] == "\\" and not escaped):
            out.append(text[at])
            marks.append("q" if escaped else ".")
        at += 1
    return "".join(out), "".join(marks)


def _split(text: str, quotes: str, separators: str, count: int) -> list[str]:
    """The words of a line, the last of ``count`` with all the rest; -1 for as many as there are."""
    white = "".join(char for char in separators if char in " \t\n")
    out: list[str] = []
    at, end = 0, len(text)

    def separates(index: int, among: str) -> bool:
        return text[index] in among and not (quotes and quotes[index] == "q")

    while at < end and separates(at, white):
        at += 1
    while end > at and separates(end - 1, white):
        end -= 1
    while at < end:
        if count > 0 and len(out) == count - 1:
            rest = text[at:end]
            # One separator at the very end belongs to the last word only if others do too.
            if (
                rest
                and rest[-1] in separators
                and rest[-1] not in white
                and not any(char in separators for char in rest[:-1])
            ):
                rest = rest[:-1].rstrip(white)
            out.append(rest)
            return out
        start = at
        while at < end and not separates(at, separators):
            at += 1
        out.append(text[start:at])
        while at < end and separates(at, white):
            at += 1
        if at < end and separates(at, separators) and text[at] not in white:
            at += 1
            while at < end and separates(at, white):
                at += 1
        elif at == start:
            at += 1
    return out


def mapfile(run: Interpreter, args: list[Any]) -> int:
    """``mapfile [-t] [-d delim] [-n count] [-O origin] [-s skip] [-u fd] [array]``."""
    given, names, wrong = _options(args, "t", "dnOsuCc")
    if wrong:
        run.complain(f"mapfile: -{wrong}: invalid option")
        return 2
    source: Input = run.input
    if given.get("u", "").isdecimal():
        found = run.table.get(int(given["u"]))
        source = found if isinstance(found, Input) else Input("")
    delimiter = "\n" if "d" not in given else (given["d"][:1] or "\0")

    def number(letter: str) -> int:
        return int(given[letter][:9]) if given.get(letter, "").isdecimal() else 0

    skip, most, origin = number("s"), number("n"), number("O")
    items: list[str] = []
    while not source.ended and (not most or len(items) < most):
        text, whole = source.until(delimiter)
        if skip:
            skip -= 1
            continue
        items.append(text if "t" in given or not whole else text + delimiter)
    name = names[0] if names else "MAPFILE"
    if origin:
        for index, item in enumerate(items):
            run.variables.set_element(name, str(origin + index), item)
    else:
        run.variables.set_array(name, items)
    return 0
