"""What ``$name`` and ``${name...}`` stand for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from sregym_env.shell import globs
from sregym_env.shell.flow import Exit, ShellError
from sregym_env.shell.run import Run
from sregym_env.shell.session import Indexed, Keyed
from sregym_env.shell.syntax.commands import Reader
from sregym_env.shell.syntax.tree import Parameter, Quoted, Word
from sregym_env.shell.syntax.words import ScriptError, ansi
from sregym_env.shell.variables import Variables

Expanded = str | list[str] | Word
"""One text, the elements of a list, or a word that is put in and expanded where the parameter stands."""

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+\Z")
_ODD = re.compile(r"[\x00-\x1f\x7f]")


def quoted(text: str) -> str:
    """A text as one can type it: bash's ``@Q``."""
    if _ODD.search(text):
        return "$'" + "".join(_SHOWN.get(char, char) for char in text) + "'"
    return "'" + text.replace("'", "'\\''") + "'"


_SHOWN = {chr(code): f"\\{code:03o}" for code in (*range(32), 127)} | {
    "\n": "\\n", "\t": "\\t", "\r": "\\r", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v", "\x1b": "\\E",
    "\\": "\\\\", "'": "\\'",
}  # fmt: skip


def double_quoted(text: str) -> str:
    """A text in double quotes, as ``declare -p`` shows it."""
    if _ODD.search(text):
        return quoted(text)
    return '"' + re.sub(r'([$`"\\])', r"\\\1", text) + '"'


class Texts(Protocol):
    """How the words inside of a parameter are expanded."""

    @property
    def separators(self) -> str:
        """``$IFS``."""
        ...

    def text(self, word: Word) -> str:
        """As one text."""
        ...

    def inner_text(self, word: Word) -> str:
        """As one text inside double quotes."""
        ...

    def pattern(self, word: Word) -> str:
        """As a pattern."""
        ...

    def replacement(self, word: Word) -> str:
        """As a replacement."""
        ...

    def number(self, word: Word) -> int:
        """As arithmetic."""
        ...


class Parameters:
    """Expands parameters for an expander."""

    __slots__ = ("_expander", "_run", "_variables")

    def __init__(self, run: Run, variables: Variables, expander: Texts) -> None:
        self._run = run
        self._variables = variables
        self._expander = expander

    def expand(self, part: Parameter, *, quoted: bool) -> Expanded:
        """What a parameter stands for. Raises ShellError, and Exit for one that must be set."""
        if not part.asked and not part.operator and part.subscript is None:
            name = part.name
            if name not in ("@", "*"):
                found = self._scalar(name)
                if found is None:
                    return self._unset(name)
                return found
        if part.asked:
            if part.asked == "bad":
                raise ShellError(f"{part.name}: bad substitution")
            if part.asked == "length":
                return self._length(part)
            if part.asked == "keys":
                return self._listed(self._variables.keys(part.name), part.subscript, quoted)
            if part.asked == "names":
                names = sorted(n for n in self._run.session.variables if n.startswith(part.name))
                return self._listed(names, part.subscript, quoted)
            part = self._indirect(part)
        value = self._value(part)
        if part.operator:
            return self._operated(part, value, quoted)
        if value is None:
            return self._unset(part.name)
        return self._shown(part, value, quoted)

    def _unset(self, name: str) -> str:
        if "nounset" in self._run.session.flags and name not in ("@", "*"):
            raise ShellError(f"{name}: unbound variable", self._run.fatal)
        return ""

    def _shown(self, part: Parameter, value: str | list[str], quoted: bool) -> Expanded:
        if type(value) is str:
            return value
        star = part.name == "*" or (part.subscript is not None and part.subscript.plain == "*")
        if star and quoted:
            return self._expander.separators[:1].join(value)
        return value

    def _listed(self, items: list[str], kind: Word | None, quoted: bool) -> Expanded:
        if quoted and kind is not None and kind.plain == "*":
            return self._expander.separators[:1].join(items)
        return items

    # --- values -------------------------------------------------------------------------------------

    def _scalar(self, name: str) -> str | None:
        """The text of a parameter without subscript; None where it is not set."""
        session = self._run.session
        found = session.variables.get(name)
        if type(found) is str and not session.attributes:
            return found
        first = name[0]
        if first.isalpha() or first == "_":
            if name == "_":
                return self._run.last_word
            return self._variables.get(name)
        if name.isdecimal():
            # Python refuses to convert thousands of digits, which an agent may type.
            number = int(name[:9])
            if number == 0:
                return session.name
            return session.arguments[number - 1] if number <= len(session.arguments) else None
        if name == "?":
            return str(session.exit_code)
        if name == "#":
            return str(len(session.arguments))
        if name == "$":
            # A fixed one, as `ps` lists the shell: process numbers must not differ from run to run.
            return "1"
        if name == "!":
            return str(session.background_pid) if session.background_pid else None
        if name == "-":
            return "h" + "".join(sorted(_LETTERS[flag] for flag in session.flags if flag in _LETTERS)) + "B"
        return None

    def _value(self, part: Parameter) -> str | list[str] | None:
        if part.name in ("@", "*"):
            return list(self._run.session.arguments)
        if part.subscript is None:
            return self._scalar(part.name)
        if part.subscript.plain in ("@", "*"):
            return self._variables.elements(part.name)
        return self._variables.element(part.name, self._key(part))

    def _key(self, part: Parameter) -> str:
        assert part.subscript is not None
        return self._expander.text(part.subscript)

    def _length(self, part: Parameter) -> str:
        value = self._value(part)
        if value is None:
            self._unset(part.name)
        return str(len(value or ""))

    def _indirect(self, part: Parameter) -> Parameter:
        value = self._run.session.attributes.get(part.name, "")
        if "n" in value:
            found: str | list[str] | None = str(self._run.session.variables.get(part.name, ""))
            return Parameter("@Q", None, "bad") if not found else _literal(str(found), part)
        found = self._value(Parameter(part.name, part.subscript))
        if not found or not isinstance(found, str):
            if part.operator in _ASKS:
                # No variable has this name, so the operator finds one that is not set.
                return Parameter(" ", None, "", part.operator, part.first)
            raise ShellError(f"{part.name}: invalid indirect expansion")
        try:
            reader = Reader("${" + found + "}")
            target = reader.quoted_parts("", "$`\\\n")
        except ScriptError:
            raise ShellError(f"{found}: invalid variable name") from None
        if len(target) != 1 or not isinstance(target[0], Parameter) or target[0].asked or target[0].operator:
            raise ShellError(f"{found}: invalid variable name")
        return Parameter(target[0].name, target[0].subscript, "", part.operator, part.first, part.second)

    # --- operators ----------------------------------------------------------------------------------

    def _operated(self, part: Parameter, value: str | list[str] | None, quoted: bool) -> Expanded:
        operator = part.operator
        if operator in _ASKS:
            return self._asked(part, value, quoted)
        if value is None:
            if operator not in ("@A", "@a"):
                self._unset(part.name)
            if operator == "@a":
                return self._attributes(part.name)
            return ""
        if operator == ":":
            found = self._substring(part, value)
            return self._shown(part, found, quoted)
        if operator[0] == "@" and operator[1] in "AaKk":
            return self._described(part, value, quoted)
        change = self._change(part)
        if type(value) is str:
            return change(value)
        return self._shown(part, [change(item) for item in value], quoted)

    def _asked(self, part: Parameter, value: str | list[str] | None, quoted: bool) -> Expanded:
        operator, word = part.operator, part.first
        assert word is not None
        missing = value is None or value == [] or (operator[0] == ":" and value in ("", [""]))
        kind = operator[-1]
        if kind == "+":
            return "" if missing else word
        if not missing:
            assert value is not None
            return self._shown(part, value, quoted)
        if kind == "-":
            return word
        text = self._expander.inner_text(word) if quoted else self._expander.text(word)
        if kind == "?":
            default = "parameter null or not set" if operator == ":?" else "parameter not set"
            self._run.complain(f"{part.name}: {text or default}")
            raise Exit(self._run.fatal)
        if part.subscript is not None:
            self._variables.set_element(part.name, self._key(part), text)
        elif part.name[0].isalpha() or part.name[0] == "_":
            self._variables.set(part.name, text)
        else:
            raise ShellError(f"${part.name}: cannot assign in this way")
        return text

    def _substring(self, part: Parameter, value: str | list[str]) -> str | list[str]:
        number = self._expander.number
        assert part.first is not None
        offset = number(part.first)
        length = None if part.second is None else number(part.second)
        if type(value) is list and part.name in ("@", "*"):
            value = [self._run.session.name, *value]
        elif type(value) is list and part.subscript is not None:
            array = self._variables.value(part.name)
            if isinstance(array, Indexed):
                if offset < 0:
                    offset += max(array, default=-1) + 1
                value = [array[key] for key in sorted(array) if key >= offset] if offset >= 0 else []
                offset = 0
        size = len(value)
        if offset < 0:
            offset += size
            if offset < 0:
                return "" if type(value) is str else []
        if length is None:
            return value[offset:]
        if length < 0:
            if type(value) is list:
                raise ShellError(f"{length}: substring expression < 0")
            if size + length < offset:
                raise ShellError(f"{part.second.source if part.second else length}: substring expression < 0")
            return value[offset : size + length]
        return value[offset : offset + length]

    def _change(self, part: Parameter) -> Callable[[str], str]:
        operator = part.operator
        if operator[0] in "#%":
            pattern = self._expander.pattern(part.first) if part.first else ""
            return lambda text: globs.removed(text, pattern, operator)
        if operator[0] == "/":
            assert part.first is not None and part.second is not None
            pattern = self._expander.pattern(part.first)
            replacement = self._expander.replacement(part.second)
            move = self._run.move

            def replace(text: str) -> str:
                found = globs.replaced(text, pattern, replacement, operator, expands=True)
                move(len(found))
                return found

            return replace
        if operator[0] in "^,~":
            pattern = self._expander.pattern(part.first) if part.first and part.first.parts else "?"
            return lambda text: _cased(text, pattern, operator)
        kind = operator[1]
        if kind == "Q":
            return quoted
        if kind == "E":
            return ansi
        if kind == "P":
            return lambda text: text
        return {"U": str.upper, "L": str.lower, "u": lambda text: text[:1].upper() + text[1:]}[kind]

    def _attributes(self, name: str) -> str:
        session = self._run.session
        letters = session.attributes.get(name, "")
        value = session.variables.get(name)
        kind = "A" if isinstance(value, Keyed) else "a" if isinstance(value, Indexed) else ""
        return kind + letters + ("x" if name in session.exported else "")

    def _described(self, part: Parameter, value: str | list[str], quoted: bool) -> Expanded:
        kind = part.operator[1]
        if kind == "a":
            return self._attributes(part.name)
        if kind == "A":
            letters = self._attributes(part.name)
            if type(value) is str:
                head = f"declare -{letters} " if letters else ""
                return f"{head}{part.name}={_quoted(value)}"
            return f"declare -{letters} {part.name}={self.array_text(part.name)}"
        if type(value) is str:
            return _quoted(value)
        items: list[str] = []
        for key, item in zip(self._variables.keys(part.name), value, strict=False):
            items += [key, double_quoted(item) if kind == "K" else item]
        return " ".join(items) if kind == "K" else items

    def array_text(self, name: str) -> str:
        """An array as ``declare -p`` shows it."""
        found = self._run.session.variables.get(name)
        if isinstance(found, Keyed):
            shown = [
                f"[{key if _PLAIN.match(key) else double_quoted(key)}]={double_quoted(item)}"
                for key, item in found.items()
            ]
            return f"({' '.join(shown)} )" if shown else "()"
        if isinstance(found, Indexed):
            return f"({' '.join(f'[{key}]={double_quoted(found[key])}' for key in sorted(found))})"
        return ""


_quoted = quoted
_ASKS = frozenset(("-", ":-", "=", ":=", "?", ":?", "+", ":+"))
_LETTERS = {
    "errexit": "e", "nounset": "u", "xtrace": "x", "noglob": "f", "noclobber": "C", "verbose": "v", "allexport": "a",
}  # fmt: skip


def _literal(text: str, part: Parameter) -> Parameter:
    """``${!ref}`` of a reference is the name of what it refers to."""
    return Parameter(" ", None, "", "-", Word((Quoted(text),), text, text))


def _cased(text: str, pattern: str, operator: str) -> str:
    change = {"^": str.upper, ",": str.lower, "~": str.swapcase}[operator[0]]
    if len(operator) == 1:
        return change(text[:1]) + text[1:] if text and globs.matches(text[0], pattern) else text
    if pattern == "?":
        return change(text)
    return "".join(change(char) if globs.matches(char, pattern) else char for char in text)
