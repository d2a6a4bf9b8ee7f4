"""Expands words: parameters, substitutions, arithmetic, splitting, braces, tildes and wildcards."""

from __future__ import annotations

import re

from sregym_env.runtime import effort
from sregym_env.shell import braces, globs
from sregym_env.shell.flow import ShellError
from sregym_env.shell.limits import LimitExceeded
from sregym_env.shell.parameters import Parameters
from sregym_env.shell.run import Run
from sregym_env.shell.syntax.commands import arithmetic_word, document_word
from sregym_env.shell.syntax.tree import (
    Arithmetic,
    CommandOutput,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    ProcessFile,
    Quoted,
    Word,
)
from sregym_env.shell.syntax.words import ScriptError
from sregym_env.shell.variables import Variables

BRACE_EFFORT = 2.5
"""What a word that braces make costs (units of ``runtime/effort.py``)."""

_DEFAULT_IFS = " \t\n"
_BLANKS = re.compile(r"[ \t\n]+")
_WILD = re.compile(r"[*?\[]|[@+!]\(")


class _Fields:
    """Fields that are being made of the parts of one word."""

    __slots__ = ("current", "done")

    def __init__(self) -> None:
        self.done: list[list[tuple[str, bool]]] = []
        """Per field its pieces, each with whether it was quoted."""
        self.current: list[tuple[str, bool]] | None = None

    def add(self, text: str, quoted: bool) -> None:
        if self.current is None:
            self.current = []
        self.current.append((text, quoted))

    def close(self) -> None:
        if self.current is not None:
            self.done.append(self.current)
            self.current = None

    def split(self, text: str, separators: str) -> None:
        """Add what an expansion without quotes gave."""
        if not text:
            return
        if separators == _DEFAULT_IFS:
            pieces = _BLANKS.split(text)
            if not pieces[0]:
                self.close()
                pieces = pieces[1:]
            ends = not pieces[-1] if pieces else False
            pieces = pieces[:-1] if ends else pieces
        elif not separators:
            self.add(text, quoted=False)
            return
        else:
            pieces, begins, ends = _split(text, separators)
            if begins:
                self.close()
        for index, piece in enumerate(pieces):
            if index:
                self.close()
            self.add(piece, quoted=False)
        if ends:
            self.close()


def _split(text: str, separators: str) -> tuple[list[str], bool, bool]:
    """The pieces between separators, and whether separators stand at the beginning and at the end."""
    white = "".join(char for char in separators if char in _DEFAULT_IFS)
    hard = "".join(char for char in separators if char not in _DEFAULT_IFS)
    begins = text[0] in white if white else False
    core = text.strip(white) if white else text
    if not core:
        return [], begins, True
    ends = bool(white) and text[-1] in white
    if not hard:
        return re.split(f"[{re.escape(white)}]+", core), begins, ends
    blank = f"[{re.escape(white)}]*" if white else ""
    forms = [f"{blank}[{re.escape(hard)}]{blank}"]
    if white:
        forms.append(f"[{re.escape(white)}]+")
    pieces = re.split("|".join(forms), core)
    if pieces[-1] == "":
        pieces.pop()
        ends = True
    return pieces, begins, ends


class Expander:
    """Expands the words of whichever session an interpreter runs now."""

    __slots__ = ("_parameters", "run", "variables")

    def __init__(self, run: Run, variables: Variables) -> None:
        self.run = run
        self.variables = variables
        variables.subscript = self.subscript
        self._parameters = Parameters(run, variables, self)

    def let_go(self) -> None:
        """Nothing is expanded any more."""
        self.variables.subscript = str
        del self._parameters

    # --- what others ask for ------------------------------------------------------------------------

    def fields(self, words: tuple[Word, ...]) -> list[str]:
        """The words that come of words."""
        out: list[str] = []
        limit = self.run.limits.words
        for word in words:
            if word.plain is not None:
                out.append(word.plain)
                continue
            if braces.has_braces(word.parts):
                alternatives = braces.expanded(word.parts, limit)
                effort.spend(BRACE_EFFORT * len(alternatives))
                for parts in alternatives:
                    self._word(parts, out)
            else:
                self._word(word.parts, out)
            if len(out) > limit:
                raise LimitExceeded("Argument list too long")
        return out

    def text(self, word: Word) -> str:
        """A word as one text, as in an assignment: not split, wildcards stay."""
        if word.plain is not None:
            return word.plain
        parts = word.parts
        if len(parts) == 1 and type(parts[0]) is DoubleQuoted:
            return self._quoted_text(parts[0])
        out: list[str] = []
        for index, part in enumerate(parts):
            if type(part) is Literal:
                out.append(self._tildes(part.text, index == 0))
            else:
                out.append(self._plain(part))
        return "".join(out)

    def pattern(self, word: Word) -> str:
        """A word as a pattern: what was quoted stands for itself."""
        out: list[str] = []
        for index, part in enumerate(word.parts):
            if type(part) is Literal:
                out.append(self._tilde(part.text) if index == 0 and part.text[:1] == "~" else part.text)
            elif type(part) is Quoted:
                out.append(globs.quoted(part.text))
            elif type(part) is DoubleQuoted:
                out.append(globs.quoted(self._quoted_text(part)))
            else:
                out.append(self._plain(part))
        return "".join(out)

    def expression(self, word: Word) -> str:
        """A word as a regular expression: what was quoted stands for itself."""
        out: list[str] = []
        for part in word.parts:
            if type(part) is Literal:
                out.append(part.text)
            elif type(part) is Quoted:
                out.append(re.escape(part.text))
            elif type(part) is DoubleQuoted:
                out.append(re.escape(self._quoted_text(part)))
            else:
                out.append(self._plain(part))
        return "".join(out)

    def replacement(self, word: Word) -> str:
        """The replacement of ``${name/pattern/replacement}``: a quoted ``&`` stands for itself."""
        out: list[str] = []
        for part in word.parts:
            if type(part) is Quoted:
                out.append(re.sub(r"([&\\])", r"\\\1", part.text))
            elif type(part) is DoubleQuoted:
                out.append(re.sub(r"([&\\])", r"\\\1", self._quoted_text(part)))
            else:
                out.append(self._plain(part))
        return "".join(out)

    def number(self, word: Word) -> int:
        """The value of an arithmetic text. Raises ShellError."""
        return self.variables.calculate(self.text(word))

    def subscript(self, text: str) -> str:
        """A subscript that a script has made, with its expansions. Raises ShellError."""
        if "$" not in text and "`" not in text:
            return text
        try:
            return self.text(arithmetic_word(text))
        except ScriptError as error:
            raise ShellError(error.text) from None

    def string(self, text: str) -> str:
        """A text in which expansions work as inside double quotes. Raises ShellError."""
        try:
            return self.text(document_word(text))
        except ScriptError as error:
            raise ShellError(error.text) from None

    @property
    def separators(self) -> str:
        """``$IFS``."""
        found = self.run.session.variables.get("IFS", _DEFAULT_IFS)
        return found if isinstance(found, str) else _DEFAULT_IFS

    # --- one word -----------------------------------------------------------------------------------

    def _word(self, parts: tuple[Part, ...], out: list[str]) -> None:
        fields = _Fields()
        self.add_parts(parts, fields, first=True)
        fields.close()
        for field in fields.done:
            self._named(field, out)

    def _named(self, field: list[tuple[str, bool]], out: list[str]) -> None:
        """A field, or the files that it names."""
        session = self.run.session
        if "noglob" not in session.flags:
            for text, quoted in field:
                if not quoted and _WILD.search(text):
                    break
            else:
                out.append(field[0][0] if len(field) == 1 else "".join([text for text, _ in field]))
                return
            if len(field) > 1 and not any(_WILD.search(text) for text, quoted in field if not quoted):
                out.append("".join(text for text, _ in field))
                return
            pattern = "".join(
                globs.quoted(text) if quoted else text.replace("\\", "\\\\") for text, quoted in field
            )
            options = session.options
            found = globs.files_named(
                self.run.files,
                session.cwd,
                pattern,
                dotglob="dotglob" in options,
                globstar="globstar" in options,
                limit=self.run.limits.words,
                looked=self.run.move,
            )
            if found:
                out += found
                return
            if "nullglob" in options:
                return
            if "failglob" in options:
                raise ShellError(f"no match: {''.join(text for text, _ in field)}")
        out.append("".join(text for text, _ in field))

    def add_parts(
        self, parts: tuple[Part, ...], fields: _Fields, *, first: bool = False, splits: bool = False
    ) -> None:
        """Add what parts without quotes around them give. ``splits``: plain text is split too."""
        for part in parts:
            kind = type(part)
            if kind is Literal:
                text = part.text  # type: ignore[union-attr]
                if first and text[0] == "~":
                    expanded = self._tilde(text)
                    if expanded != text:
                        # As quoted: what a tilde stands for is neither split nor matched against files.
                        slash = text.find("/")
                        fields.add(
                            expanded[: len(expanded) - (len(text) - slash)] if slash > 0 else expanded,
                            quoted=True,
                        )
                        text = text[slash:] if slash > 0 else ""
                if text and splits:
                    fields.split(text, self.separators)
                elif text:
                    fields.add(text, quoted=False)
            elif kind is Quoted:
                fields.add(part.text, quoted=True)  # type: ignore[union-attr]
            elif kind is DoubleQuoted:
                self._add_quoted(part, fields)  # type: ignore[arg-type]
            elif kind is Parameter:
                self._add_parameter(part, fields)  # type: ignore[arg-type]
            elif kind is ProcessFile:
                fields.add(self.run.process_file(part), quoted=True)  # type: ignore[arg-type]
            else:
                fields.split(self._plain(part), self.separators)
            first = False

    def _add_parameter(self, part: Parameter, fields: _Fields) -> None:
        found = self._parameters.expand(part, quoted=False)
        if isinstance(found, str):
            fields.split(found, self.separators)
        elif isinstance(found, Word):
            self.add_parts(found.parts, fields, first=True, splits=True)
        else:
            for index, item in enumerate(found):
                if index:
                    fields.close()
                if item:
                    fields.split(item, self.separators)

    def _add_quoted(self, part: DoubleQuoted, fields: _Fields) -> None:
        pieces = self._quoted_pieces(part)
        for index, piece in enumerate(pieces):
            if index:
                fields.close()
            fields.add(piece, quoted=True)

    def _quoted_pieces(self, part: DoubleQuoted) -> list[str]:
        """The fields that quoted parts make: one, unless ``$@`` is among them."""
        pieces: list[str] = []
        texts: list[str] = []
        lists = False
        for inner in part.parts:
            if type(inner) is Literal:
                texts.append(inner.text)
                continue
            if type(inner) is not Parameter:
                texts.append(self._plain(inner))
                continue
            found = self._parameters.expand(inner, quoted=True)
            if isinstance(found, Word):
                found = self._word_pieces(found)
            if isinstance(found, str):
                texts.append(found)
                continue
            lists = True
            for index, item in enumerate(found):
                if index:
                    pieces.append("".join(texts))
                    texts = []
                texts.append(item)
        # `"$@"` without arguments is no word at all; `""` is an empty one.
        if texts or not lists or pieces:
            pieces.append("".join(texts))
        return pieces

    def _word_pieces(self, word: Word) -> str | list[str]:
        """What a word put in for a quoted parameter gives: ``"${x:-$@}"`` makes as many as there are."""
        if any(
            type(part) is Parameter
            and (part.name == "@" or (part.subscript is not None and part.subscript.plain == "@"))
            for outer in word.parts
            for part in (outer.parts if type(outer) is DoubleQuoted else (outer,))
        ):
            inner: list[Part] = []
            for part in word.parts:
                inner += part.parts if type(part) is DoubleQuoted else (part,)
            return self._quoted_pieces(DoubleQuoted(tuple(inner)))
        return self.inner_text(word)

    def inner_text(self, word: Word) -> str:
        """The text of a word that stands inside a parameter in double quotes: no tildes."""
        return "".join(part.text if type(part) is Literal else self._plain(part) for part in word.parts)

    def _quoted_text(self, part: DoubleQuoted) -> str:
        parts = part.parts
        if len(parts) == 1 and type(parts[0]) is Literal:
            return parts[0].text
        return " ".join(self._quoted_pieces(part))

    def _plain(self, part: Part) -> str:
        """One part as one text."""
        kind = type(part)
        if kind is Literal or kind is Quoted:
            return part.text  # type: ignore[union-attr]
        if kind is DoubleQuoted:
            return self._quoted_text(part)  # type: ignore[arg-type]
        if kind is Parameter:
            found = self._parameters.expand(part, quoted=True)  # type: ignore[arg-type]
            if type(found) is str:
                return found
            return self.inner_text(found) if type(found) is Word else " ".join(found)  # type: ignore[arg-type]
        if kind is CommandOutput:
            return self.run.output_of(part.script)  # type: ignore[union-attr]
        if kind is Arithmetic:
            return str(self.number(part.expression))  # type: ignore[union-attr]
        return self.run.process_file(part)  # type: ignore[arg-type]

    # --- tildes -------------------------------------------------------------------------------------

    def _tilde(self, text: str) -> str:
        """A text that begins with a tilde, with the directory it stands for."""
        prefix, slash, rest = text.partition("/")
        variables = self.variables
        if prefix == "~":
            home = variables.get("HOME") or "/root"
        elif prefix == "~+":
            home = self.run.session.cwd
        elif prefix == "~-":
            home = variables.get("OLDPWD") or prefix
        elif prefix == "~root":
            home = "/root"
        else:
            return text
        return home + slash + rest

    def _tildes(self, text: str, first: bool) -> str:
        if "~" not in text:
            return text
        pieces = text.split(":")
        start = 0 if first else 1
        return ":".join(
            self._tilde(piece) if index >= start and piece.startswith("~") else piece
            for index, piece in enumerate(pieces)
        )
