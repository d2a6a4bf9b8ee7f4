"""The language: tokens, and statements and expressions as nested tuples whose first item says what they are."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from sregym_env.runtime import effort

TOKEN_EFFORT = 3.0
"""What a token costs to find and to understand (units of ``runtime/effort.py``)."""

Node = tuple[Any, ...]

_TOKEN = re.compile(
    r"[ \t\r]+|\\\n|/\*.*?(?:\*/|\Z)|#[^\n]*"
    r"|(?P<newline>\n)|(?P<string>\"[^\"]*\")|(?P<number>[0-9A-Z]+\.?[0-9A-Z]*|\.[0-9A-Z]+)"
    r"|(?P<name>[a-z][a-z0-9_]*)|(?P<operator>\+\+|--|&&|\|\||[-+*/%^<>=!]=|[-+*/%^<>=!;,(){}\[\].])",
    re.DOTALL,
)
_KEYWORDS = frozenset(
    "auto break continue define else for halt ibase if last length limits obase print quit read return scale "
    "sqrt void warranty while".split()
)
_ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "^=")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_SETTINGS = ("scale", "ibase", "obase", "last")


class Token(NamedTuple):
    """A word of a program."""

    kind: str
    """``newline``, ``string``, ``number``, ``name``, ``keyword``, ``operator``, ``wrong`` or ``end``."""
    text: str
    line: int


class SyntaxFailed(Exception):
    """A program that is wrong at a line."""

    def __init__(self, line: int) -> None:
        super().__init__("syntax error")
        self.line = line


class QuitRead(Exception):
    """The program says ``quit``, which ends ``bc`` when it is read."""


def tokens(text: str) -> list[Token]:
    """Every token of a program."""
    found: list[Token] = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not len(found) & 31:
            effort.spend(32 * TOKEN_EFFORT)
        if match is None:
            found.append(Token("wrong", text[at], line))
            at += 1
            continue
        kind, word = match.lastgroup, match.group()
        line += word.count("\n")
        if kind is not None:
            if kind == "name" and word in _KEYWORDS:
                kind = "keyword"
            found.append(Token(kind, word, line))
        at = match.end()
    return [*found, Token("end", "", line + 1)]


class Parser:
    """Reads a program line by line: each is run before the next is read."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._at = 0
        self._deep = 0

    @property
    def done(self) -> bool:
        """Whether everything has been read."""
        return self._peek.kind == "end"

    @property
    def _peek(self) -> Token:
        return self._tokens[self._at]

    def line(self) -> list[Node]:
        """The statements of the next line. Raises SyntaxFailed after skipping the line, and QuitRead."""
        try:
            if self._is("define"):
                return [self._definition()]
            found = self._statements(())
            if self._peek.kind == "newline":
                self._at += 1
            elif not self.done:
                raise SyntaxFailed(self._peek.line)
        except SyntaxFailed:
            while self._peek.kind not in ("newline", "end"):
                self._at += 1
            self._at += self._peek.kind == "newline"
            raise
        return found

    # --- reading ------------------------------------------------------------------------------------

    def _is(self, *texts: str) -> bool:
        token = self._peek
        return token.kind in ("operator", "keyword") and token.text in texts

    def _take(self, *texts: str) -> str:
        if not self._is(*texts):
            return ""
        self._at += 1
        return self._tokens[self._at - 1].text

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise SyntaxFailed(self._peek.line)

    def _name(self) -> str:
        if self._peek.kind != "name":
            raise SyntaxFailed(self._peek.line)
        self._at += 1
        return self._tokens[self._at - 1].text

    def _newlines(self) -> None:
        while self._peek.kind == "newline":
            self._at += 1

    # --- statements ---------------------------------------------------------------------------------

    def _statements(self, ends: tuple[str, ...]) -> list[Node]:
        """Statements up to the end of the line, or with ``ends`` up to one of these."""
        found: list[Node] = []
        while True:
            if self._take(";") or (ends and self._peek.kind == "newline"):
                self._at += self._peek.kind == "newline" and bool(ends)
                continue
            if self._peek.kind in ("newline", "end") or self._is(*ends):
                return found
            found.append(self._statement())
            if not self._is(";", *ends) and self._peek.kind not in ("newline", "end"):
                raise SyntaxFailed(self._peek.line)

    def _statement(self) -> Node:
        token = self._peek
        if token.kind == "string":
            self._at += 1
            return ("text", token.text[1:-1])
        if token.kind == "keyword" and token.text not in ("length", "read", "sqrt", *_SETTINGS):
            self._at += 1
            return self._worded(token)
        if self._take("{"):
            body = self._statements(("}",))
            self._expect("}")
            return ("block", body)
        expression = self._expression()
        return ("run" if expression[0] == "assign" else "show", expression)

    def _worded(self, token: Token) -> Node:
        word = token.text
        if word == "quit":
            raise QuitRead
        if word in ("break", "continue", "halt", "limits", "warranty"):
            return (word,)
        if word == "return":
            if self._peek.kind in ("newline", "end") or self._is(";", "}"):
                return ("return", None)
            return ("return", self._expression())
        if word == "print":
            return ("print", self._printed())
        self._expect_in(word, ("if", "while", "for"), token)
        self._expect("(")
        if word == "for":
            parts = [self._optional(";"), self._optional(";"), self._optional(")")]
            return ("for", *parts, self._body())
        condition = self._expression()
        self._expect(")")
        body = self._body()
        if word == "while":
            return ("while", condition, body)
        return ("if", condition, body, self._body() if self._take("else") else None)

    @staticmethod
    def _expect_in(word: str, known: tuple[str, ...], token: Token) -> None:
        if word not in known:
            raise SyntaxFailed(token.line)

    def _optional(self, end: str) -> Node | None:
        found = None if self._is(end) else self._expression()
        self._expect(end)
        return found

    def _body(self) -> Node:
        self._newlines()
        return self._statement()

    def _printed(self) -> list[Node]:
        found: list[Node] = []
        while True:
            token = self._peek
            if token.kind == "string":
                self._at += 1
                found.append(("text", token.text[1:-1]))
            else:
                found.append(self._expression())
            if not self._take(","):
                return found

    def _definition(self) -> Node:
        self._expect("define")
        self._take("void")
        name = self._name()
        self._expect("(")
        parameters = self._variables(")")
        self._expect(")")
        self._newlines()
        self._expect("{")
        self._newlines()
        local: list[str] = []
        if self._take("auto"):
            local = self._variables("")
            self._take(";")
        body = self._statements(("}",))
        self._expect("}")
        return ("define", name, parameters, local, ("block", body))

    def _variables(self, end: str) -> list[str]:
        found: list[str] = []
        if end and self._is(end):
            return found
        while True:
            name = self._name()
            if self._take("["):
                self._expect("]")
                name += "[]"
            found.append(name)
            if not self._take(","):
                return found

    # --- expressions --------------------------------------------------------------------------------

    def _expression(self) -> Node:
        self._deep += 1
        if self._deep > 150:
            raise SyntaxFailed(self._peek.line)
        left = self._all()
        while self._take("||"):
            left = ("or", left, self._all())
        self._deep -= 1
        return left

    def _all(self) -> Node:
        left = self._negation()
        while self._take("&&"):
            left = ("and", left, self._negation())
        return left

    def _negation(self) -> Node:
        if self._take("!"):
            return ("not", self._negation())
        return self._comparison()

    def _comparison(self) -> Node:
        left = self._assignment()
        while operator := self._take(*_COMPARISONS):
            left = ("compare", operator, left, self._assignment())
        return left

    def _assignment(self) -> Node:
        left = self._sum()
        if left[0] in ("variable", "element", "setting") and (operator := self._take(*_ASSIGNMENTS)):
            return ("assign", operator[:-1], left, self._assignment())
        return left

    def _sum(self) -> Node:
        left = self._product()
        while operator := self._take("+", "-"):
            left = ("binary", operator, left, self._product())
        return left

    def _product(self) -> Node:
        left = self._power()
        while operator := self._take("*", "/", "%"):
            left = ("binary", operator, left, self._power())
        return left

    def _power(self) -> Node:
        left = self._unary()
        if self._take("^"):
            return ("binary", "^", left, self._power())
        return left

    def _unary(self) -> Node:
        if self._take("-"):
            return ("minus", self._unary())
        if step := self._take("++", "--"):
            return ("step", step[0], self._place(self._atom()), True)
        found = self._atom()
        if self._is("++", "--") and found[0] in ("variable", "element", "setting"):
            return ("step", self._take("++", "--")[0], found, False)
        return found

    def _place(self, node: Node) -> Node:
        if node[0] not in ("variable", "element", "setting"):
            raise SyntaxFailed(self._peek.line)
        return node

    def _atom(self) -> Node:
        token = self._peek
        self._at += token.kind != "end"
        if token.kind == "number":
            return ("number", token.text)
        if token.kind == "name":
            return self._named(token.text)
        if token.text == "(" and token.kind == "operator":
            inner = self._expression()
            self._expect(")")
            return ("group", inner)
        if token.text == "." and token.kind == "operator":
            return ("setting", "last")
        if token.kind == "keyword":
            if token.text in ("length", "sqrt") or (token.text == "scale" and self._is("(")):
                self._expect("(")
                inner = self._expression()
                self._expect(")")
                return ("builtin", token.text, inner)
            if token.text == "read":
                self._expect("(")
                self._expect(")")
                return ("number", "0")
            if token.text in _SETTINGS:
                return ("setting", token.text)
        self._at -= token.kind != "end"
        raise SyntaxFailed(token.line)

    def _named(self, name: str) -> Node:
        if self._take("("):
            arguments: list[Node] = []
            while not self._is(")"):
                arguments.append(self._argument())
                if not self._take(","):
                    break
            self._expect(")")
            return ("call", name, arguments)
        if self._take("["):
            index = self._expression()
            self._expect("]")
            return ("element", name, index)
        return ("variable", name)

    def _argument(self) -> Node:
        ahead = [token.text for token in self._tokens[self._at : self._at + 3]]
        if self._peek.kind == "name" and ahead[1:] == ["[", "]"]:
            self._at += 3
            return ("array", ahead[0])
        return self._expression()
