"""Reads scripts: the grammar of bash, by recursive descent. Reading the same text twice costs once."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from sregym_env.shell.syntax.simple import SimpleReader
from sregym_env.shell.syntax.tree import (
    Calculation,
    Case,
    Command,
    Count,
    For,
    Function,
    Group,
    If,
    Literal,
    Pipeline,
    Redirection,
    Script,
    Simple,
    Statement,
    Subshell,
    While,
    Word,
)
from sregym_env.shell.syntax.words import ScriptError, closing

_RESERVED = frozenset(
    "if then else elif fi do done case esac while until for select in function { } ! [[ ]] time".split()
)
_ENDS = frozenset("then else elif fi do done esac }".split())
"""Reserved words that end a list of commands."""
_FUNCTION = re.compile(r"([^\s;&|<>()$`'\"\\={}]+)[ \t]*\([ \t]*\)")
_KEYWORD = re.compile(r"[a-z]+|[{}!]|\[\[")
_AFTER_KEYWORD = frozenset(" \t\n;&|<>()")


def parsed(text: str) -> Script:
    """A script as a tree. Raises ScriptError."""
    return _read(text)[0]


@lru_cache(maxsize=1024)
def _read(text: str) -> tuple[Script, bool]:
    """A script as a tree, and whether a here-document of it lacks its end. Raises ScriptError."""
    return _whole(text, 0)


def _whole(text: str, depth: int) -> tuple[Script, bool]:
    reader = Reader(text, depth)
    try:
        script = reader.script()
    except RecursionError:
        raise ScriptError("expression too deeply nested", 1) from None
    reader.blank()
    if reader.at < len(text):
        reader.unexpected()
    return script, reader.open or reader.waits


def arithmetic_word(text: str) -> Word:
    """An arithmetic text or a subscript that a script has made, as a word. Raises ScriptError."""
    return Reader(text).arithmetic(text)


def document_word(text: str) -> Word:
    """A text in which expansions work as inside double quotes. Raises ScriptError."""
    return Reader(text).document(text)


class Reader(SimpleReader):
    """Reads commands from a text at a position."""

    def script_of(self, text: str) -> Script:
        """A whole script of its own."""
        return _whole(text, self.depth)[0]

    def inner(self, end: str) -> Script:
        """The script up to a closing parenthesis."""
        self.deeper()
        waiting, self._documents = self._documents, []
        script = self.script()
        if self._documents:
            self.open = True
        if not self.text.startswith(end, self.at):
            if self.at >= len(self.text):
                self.unended(end)
            self.unexpected()
        self._documents = waiting
        self.at += 1
        self.depth -= 1
        return script

    # --- lists --------------------------------------------------------------------------------------

    def script(self) -> Script:
        """Statements up to something that ends them."""
        statements: list[Statement] = []
        while True:
            self.newlines()
            if self.at >= len(self.text) or self._ended():
                break
            statement = self._statement()
            if statement is None:
                break
            statements.append(statement)
            self.blank()
            if self.text.startswith("\n", self.at):
                continue
            if self.text.startswith(";", self.at) and self.text[self.at + 1 : self.at + 2] not in (";", "&"):
                self.at += 1
            elif not statement.background:
                break
        return Script(tuple(statements))

    def _ended(self) -> bool:
        char = self.text[self.at]
        if char == ")":
            return True
        if char in ";&|":
            if self.text.startswith((";;", ";&"), self.at):
                return True
            self.unexpected()
        return self._keyword() in _ENDS

    def _keyword(self) -> str:
        """The reserved word here, if there is one."""
        match = _KEYWORD.match(self.text, self.at)
        if match is None or match[0] not in _RESERVED:
            return ""
        end = match.end()
        if end < len(self.text) and self.text[end] not in _AFTER_KEYWORD:
            return ""
        return match[0]

    def _statement(self) -> Statement | None:
        start = self.at
        first = self._pipeline()
        if first is None:
            return None
        pipelines, operators = [first], []
        while True:
            end = self.at
            self.blank()
            found = self.text[self.at : self.at + 2]
            if found not in ("&&", "||"):
                break
            self.at += 2
            self.newlines()
            following = self._pipeline()
            if following is None:
                self.unexpected()
            operators.append(found)
            pipelines.append(following)
        background = self.text.startswith("&", self.at) and not self.text.startswith(("&&", "&>"), self.at)
        source = self.text[start:end].rstrip()
        line = self.line_of(start)
        if background:
            self.at += 1
        return Statement(tuple(pipelines), tuple(operators), background, source, line)

    def _pipeline(self) -> Pipeline | None:
        negated = timed = False
        while True:
            self.blank()
            keyword = self._keyword()
            if keyword == "!":
                negated = not negated
                self.at += 1
            elif keyword == "time":
                timed = True
                self.at += 4
                self.blank()
                if re.compile(r"-p(?=\s)").match(self.text, self.at):
                    self.at += 2
            else:
                break
        commands: list[Command] = []
        while True:
            command = self._command()
            if command is None:
                if commands:
                    self.unexpected()
                if negated or timed:
                    return Pipeline((Simple((), (), (), "", self.line),), negated, timed)
                return None
            self.blank()
            if not self.text.startswith("|", self.at) or self.text.startswith("||", self.at):
                commands.append(command)
                return Pipeline(tuple(commands), negated, timed)
            self.at += 1
            if self.text.startswith("&", self.at):
                self.at += 1
                command = _redirected(command, Redirection(">&", 2, Word((Literal("1"),), "1", "1")))
            commands.append(command)
            self.newlines()

    # --- commands -----------------------------------------------------------------------------------

    def _command(self) -> Command | None:
        self.blank()
        if self.at >= len(self.text):
            return None
        char = self.text[self.at]
        if char == "(":
            found: Command = self._parenthesis()
        else:
            keyword = self._keyword()
            if keyword:
                compound = self._compound(keyword)
                if compound is None:
                    return None
                found = compound
            else:
                function = _FUNCTION.match(self.text, self.at)
                if function is not None:
                    return self._function(function)
                return self.simple()
        return self._with_redirections(found)

    def _with_redirections(self, command: Command) -> Command:
        while True:
            self.blank()
            redirection = self.redirection()
            if redirection is None:
                return command
            command = _redirected(command, redirection)

    def _compound(self, keyword: str) -> Command | None:
        if keyword in _ENDS or keyword == "in":
            if keyword == "in":
                return self.simple()
            self.unexpected()
        self.deeper()
        start = self.at
        self.at += len(keyword)
        found: Command
        if keyword == "{":
            found = Group(self._body("}"))
        elif keyword == "if":
            found = self._if()
        elif keyword in ("while", "until"):
            condition = self._body("do")
            found = While(condition, self._body("done"), keyword == "until")
        elif keyword in ("for", "select"):
            found = self._for(keyword == "select")
        elif keyword == "case":
            found = self._case()
        elif keyword == "[[":
            found = self.conditional()
        elif keyword == "function":
            self.blank()
            name = self.word()
            if name is None:
                self.unexpected()
            self.blank()
            if self.text.startswith("(", self.at):
                self.at += 1
                self.blank()
                if not self.text.startswith(")", self.at):
                    self.unexpected()
                self.at += 1
            found = self._function_body(name.source, start)
        else:
            self.unexpected()
        self.depth -= 1
        return found

    def _body(self, end: str) -> Script:
        """The statements up to a reserved word, which is taken; there must be some."""
        script = self.script()
        if self.at >= len(self.text):
            self.unexpected()
        if self._keyword() != end or not script.statements:
            self.unexpected()
        self.at += len(end)
        return script

    def _if(self) -> If:
        clauses: list[tuple[Script, Script]] = []
        condition = self._body("then")
        while True:
            body = self.script()
            if self.at >= len(self.text) or not body.statements:
                self.unexpected()
            clauses.append((condition, body))
            keyword = self._keyword()
            if keyword == "elif":
                self.at += 4
                condition = self._body("then")
            elif keyword == "else":
                self.at += 4
                return If(tuple(clauses), self._body("fi"))
            elif keyword == "fi":
                self.at += 2
                return If(tuple(clauses), None)
            else:
                self.unexpected()

    def _for(self, select: bool) -> For | Count:
        self.blank()
        if self.text.startswith("((", self.at) and not select:
            end = closing(self.text, self.at + 2)
            if end < 0 or not self.text.startswith("))", end):
                self.unexpected()
            parts = self.text[self.at + 2 : end].split(";")
            if len(parts) != 3:
                self.fail("`;' unexpected")
            self.at = end + 2
            self._terminator()
            body = self._loop_body()
            start, condition, step = (self.arithmetic(part.strip()) for part in parts)
            return Count(start, condition, step, body)
        name = self.word()
        if name is None or re.fullmatch(r"[A-Za-z_]\w*", name.source) is None:
            if name is None and self.at >= len(self.text):
                self.fail("near unexpected token `newline'")
            if name is None:
                self.unexpected()
            self.fail(f"`{name.source}': not a valid identifier")
        self.newlines()
        words: tuple[Word, ...] | None = None
        if self._keyword() == "in":
            self.at += 2
            found: list[Word] = []
            while True:
                self.blank()
                word = self.word()
                if word is None:
                    break
                found.append(word)
            words = tuple(found)
        self._terminator()
        return For(name.source, words, self._loop_body(), select)

    def _terminator(self) -> None:
        self.blank()
        if self.text.startswith(";", self.at):
            self.at += 1
        self.newlines()

    def _loop_body(self) -> Script:
        keyword = self._keyword()
        # bash takes braces in the place of do and done, which its manual does not say.
        if keyword not in ("do", "{"):
            self.unexpected()
        self.at += len(keyword)
        return self._body("done" if keyword == "do" else "}")

    def _case(self) -> Case:
        self.blank()
        subject = self.word()
        if subject is None:
            self.unexpected()
        self.newlines()
        if self._keyword() != "in":
            self.unexpected()
        self.at += 2
        clauses: list[tuple[tuple[Word, ...], Script, str]] = []
        while True:
            self.newlines()
            if self._keyword() == "esac":
                self.at += 4
                return Case(subject, tuple(clauses))
            if self.text.startswith("(", self.at):
                self.at += 1
            patterns: list[Word] = []
            while True:
                self.blank()
                pattern = self.word(groups=True)
                if pattern is None:
                    self.unexpected()
                patterns.append(pattern)
                self.blank()
                if self.text.startswith("|", self.at):
                    self.at += 1
                    continue
                break
            if not self.text.startswith(")", self.at):
                self.unexpected()
            self.at += 1
            body = self.script()
            end = next((mark for mark in (";;&", ";;", ";&") if self.text.startswith(mark, self.at)), "")
            if not end and self._keyword() != "esac":
                self.unexpected()
            self.at += len(end)
            clauses.append((tuple(patterns), body, end or ";;"))

    def _parenthesis(self) -> Command:
        if self.text.startswith("((", self.at):
            end = closing(self.text, self.at + 2)
            if end >= 0 and self.text.startswith("))", end):
                expression = self.text[self.at + 2 : end]
                self.at = end + 2
                return Calculation(self.arithmetic(expression))
        self.at += 1
        body = self.inner(")")
        if not body.statements:
            self.at -= 1
            self.unexpected()
        return Subshell(body)

    def _function(self, match: re.Match[str]) -> Function:
        start = self.at
        self.at = match.end()
        return self._function_body(match[1], start)

    def _function_body(self, name: str, start: int) -> Function:
        self.deeper()
        self.newlines()
        body = self._command()
        if body is None or isinstance(body, Simple):
            self.unexpected()
        self.depth -= 1
        return Function(name, body, self.text[start : self.at])


def _redirected(command: Command, redirection: Redirection) -> Command:
    return replace(command, redirections=(*command.redirections, redirection))


def is_complete(text: str) -> bool:
    """Whether a shell that has read this would run it, or wait for another line."""
    if text.endswith("\\\n"):
        return False
    try:
        return not _read(text)[1]
    except ScriptError as error:
        return not error.unfinished


def is_script(text: str) -> bool:
    """Whether a text is a sequence of whole commands without an error."""
    if text.endswith("\\\n"):
        return False
    try:
        return not _read(text)[1]
    except ScriptError:
        return False
