"""The syntax of the Common Expression Language: from text to a tree.

Follows the language definition (cel-spec ``langdef.md``) with the optional syntax (``a.?b``, ``a[?b]``,
``{?k: v}``, ``[?v]``) that Kubernetes v1.32 enables. Macros are left as calls; the compiler knows them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.cel.errors import CompileError, located
from sregym_env.kube.cel.values import Uint

MAX_SOURCE = 100_000
"""Code points of an expression (cel-go's default limit)."""
MAX_DEPTH = 60
"""How deep an expression may nest."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the tree: what it is, where it stands, and its parts."""

    op: str
    at: int
    name: str = ""
    value: Any = None
    parts: tuple[Node, ...] = ()
    target: Node | None = None
    optional: bool = False


_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<double>(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?))
    |(?P<uint>(?:0x[0-9a-fA-F]+|\d+)[uU])
    |(?P<int>0x[0-9a-fA-F]+|\d+)
    |(?P<string>[rRbB]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'))
    |(?P<ident>[_a-zA-Z][_a-zA-Z0-9]*)
    |(?P<quoted>`[-_a-zA-Z0-9./ ]+`)
    |(?P<op>\.\?|\[\?|&&|\|\||<=|>=|==|!=|[-+*/%!<>?:.,()\[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
_RESERVED = frozenset(
    "as break const continue else false for function if import in let loop null package namespace return true "
    "var void while".split()
)
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "?": "?",
    '"': '"', "'": "'", "`": "`",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL
)
_BINARY = ("||", "&&", "rel", "add", "mul")
_LEVELS: dict[str, tuple[str, ...]] = {
    "||": ("||",),
    "&&": ("&&",),
    "rel": ("<", "<=", ">=", ">", "==", "!=", "in"),
    "add": ("+", "-"),
    "mul": ("*", "/", "%"),
}


def parse(source: str) -> Node:
    """The tree of an expression. Raises CompileError."""
    if len(source) > MAX_SOURCE:
        raise CompileError(
            f"expression code point size exceeds limit: size: {len(source)}, limit {MAX_SOURCE}"
        )
    return _Parser(source).whole()


class _Parser:
    __slots__ = ("depth", "i", "source", "tokens")

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = _tokens(source)
        self.i = 0
        self.depth = 0

    def whole(self) -> Node:
        node = self.ternary()
        if self.kind != "end":
            self.refuse(f"Syntax error: extraneous input '{self.text}' expecting <EOF>")
        return node

    # --- tokens ---------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return self.tokens[self.i][0]

    @property
    def text(self) -> str:
        return self.tokens[self.i][1]

    @property
    def at(self) -> int:
        return self.tokens[self.i][2]

    def takes(self, *texts: str) -> bool:
        return self.kind in ("op", "word") and self.text in texts

    def expect(self, text: str) -> int:
        if not self.takes(text):
            shown = "<EOF>" if self.kind == "end" else self.text
            self.refuse(f"Syntax error: mismatched input '{shown}' expecting '{text}'")
        at = self.at
        self.i += 1
        return at

    def refuse(self, text: str) -> None:
        raise CompileError(located(self.source, self.at, text))

    # --- grammar --------------------------------------------------------------------------------

    def ternary(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise CompileError("expression recursion limit exceeded: 250")
        node = self.binary(0)
        if self.takes("?"):
            at = self.at
            self.i += 1
            first = self.binary(0)
            self.expect(":")
            node = Node("?:", at, parts=(node, first, self.ternary()))
        self.depth -= 1
        return node

    def binary(self, level: int) -> Node:
        if level == len(_BINARY):
            return self.unary()
        node = self.binary(level + 1)
        if level < 2:
            return self.logical(level, node)
        while self.takes(*_LEVELS[_BINARY[level]]):
            op, at = self.text, self.at
            self.i += 1
            node = Node(op, at, parts=(node, self.binary(level + 1)))
        return node

    def logical(self, level: int, first: Node) -> Node:
        """A chain of ``&&`` or ``||`` as a balanced tree: long ones are common, and they must not nest deeply."""
        op = _BINARY[level]
        terms, places = [first], []
        while self.takes(op):
            places.append(self.at)
            self.i += 1
            terms.append(self.binary(level + 1))

        def balanced(low: int, high: int) -> Node:
            if low == high:
                return terms[low]
            middle = (low + high + 1) // 2
            return Node(op, places[middle - 1], parts=(balanced(low, middle - 1), balanced(middle, high)))

        return balanced(0, len(terms) - 1)

    def unary(self) -> Node:
        if not self.takes("!", "-"):
            return self.member()
        op, at = self.text, self.at
        self.i += 1
        if op == "-" and self.kind in ("int", "double") and self.tokens[self.i][2] == at + 1:
            value = self.tokens[self.i][3]
            self.i += 1
            return self.trailing(Node("const", at, value=-value))
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise CompileError("expression recursion limit exceeded: 250")
        inner = self.unary()
        self.depth -= 1
        return Node("neg" if op == "-" else "!", at, parts=(inner,))

    def member(self) -> Node:
        return self.trailing(self.primary())

    def trailing(self, node: Node) -> Node:
        while True:
            if self.takes(".", ".?"):
                optional, at = self.text == ".?", self.at
                self.i += 1
                name = self.field()
                if not optional and self.takes("("):
                    at = self.at
                    node = Node("call", at, name, parts=self.arguments(), target=node)
                else:
                    node = Node("select", at, name, target=node, optional=optional)
            elif self.takes("[", "[?"):
                optional, at = self.text == "[?", self.at
                self.i += 1
                index = self.ternary()
                self.expect("]")
                node = Node("index", at, parts=(node, index), optional=optional)
            else:
                return node

    def field(self) -> str:
        if self.kind not in ("ident", "word", "quoted") or (self.kind == "word" and self.text == "in"):
            self.refuse(f"Syntax error: no viable alternative at input '.{self.text}'")
        name = self.text.strip("`")
        self.i += 1
        return name

    def arguments(self) -> tuple[Node, ...]:
        self.expect("(")
        found = []
        while not self.takes(")"):
            found.append(self.ternary())
            if not self.takes(","):
                break
            self.i += 1
        self.expect(")")
        return tuple(found)

    def primary(self) -> Node:
        kind, text, at = self.kind, self.text, self.at
        if kind in ("int", "uint", "double", "string"):
            value = self.tokens[self.i][3]
            self.i += 1
            return Node("const", at, value=value)
        if kind == "word" and text in ("true", "false", "null"):
            self.i += 1
            return Node("const", at, value={"true": True, "false": False, "null": None}[text])
        if kind == "ident":
            self.i += 1
            if self.takes("("):
                at = self.at
                return Node("call", at, text, parts=self.arguments())
            return Node("ident", at, text)
        if kind == "op" and text == ".":
            self.i += 1
            return self.primary()
        if kind == "op" and text == "(":
            self.i += 1
            node = self.ternary()
            self.expect(")")
            return node
        if kind == "op" and text in ("[", "[?"):
            return self.list_(at)
        if kind == "op" and text == "{":
            return self.map_(at)
        if kind == "end":
            self.refuse("Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', "
                        "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}")  # fmt: skip
        if kind == "word":
            self.refuse(f"reserved identifier: {text}")
        self.refuse(f"Syntax error: extraneous input '{text}' expecting {{'[', '{{', '(', '.', '-', '!', "
                    "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}")  # fmt: skip
        raise AssertionError

    def list_(self, at: int) -> Node:
        optional = self.text == "[?"
        self.i += 1
        items = []
        while not self.takes("]"):
            if self.takes("?"):
                optional = True
                self.i += 1
            item = self.ternary()
            items.append(Node("item", item.at, parts=(item,), optional=optional))
            optional = False
            if not self.takes(","):
                break
            self.i += 1
        self.expect("]")
        return Node("list", at, parts=tuple(items))

    def map_(self, at: int) -> Node:
        self.i += 1
        entries = []
        while not self.takes("}"):
            optional = self.takes("?")
            if optional:
                self.i += 1
            key = self.ternary()
            colon = self.expect(":")
            entries.append(Node("entry", colon, parts=(key, self.ternary()), optional=optional))
            if not self.takes(","):
                break
            self.i += 1
        self.expect("}")
        return Node("map", at, parts=tuple(entries))


def _tokens(source: str) -> list[tuple[str, str, int, Any]]:
    found: list[tuple[str, str, int, Any]] = []
    i = 0
    while i < len(source):
        match = _TOKEN.match(source, i)
        if match is None:
            text = f"Syntax error: token recognition error at: '{source[i]}'"
            raise CompileError(located(source, i, text))
        kind, text = str(match.lastgroup), match.group()
        if kind == "ident" and text in _RESERVED:
            found.append(("word", text, i, None))
        elif kind != "space":
            found.append((kind, text, i, _literal(source, kind, text, i)))
        i = match.end()
    found.append(("end", "<EOF>", len(source), None))
    return found


def _literal(source: str, kind: str, text: str, at: int) -> Any:
    if kind == "int":
        value = int(text, 0) if text.startswith("0x") else int(text)
        if value > 1 << 63:
            raise CompileError(located(source, at, "invalid int literal"))
        return value
    if kind == "uint":
        return Uint(int(text[:-1], 0) if text.startswith("0x") else int(text[:-1]))
    if kind == "double":
        return float(text)
    return _string(text) if kind == "string" else None


def _string(text: str) -> str | bytes:
    start = re.search(r"[\"']", text)
    assert start is not None
    prefix, body = text[: start.start()].lower(), text[start.start() :]
    quote = body[:3] if body[:3] in ('"""', "'''") else body[0]
    body = body[len(quote) : -len(quote)]
    if "r" not in prefix:
        body = _ESCAPE.sub(lambda m: _escaped(m[1]), body)
    if "b" in prefix:
        return body.encode("latin-1", "replace") if "\\" in text else body.encode()
    return body


def _escaped(text: str) -> str:
    if text[0] in "xXuU" and len(text) > 1:
        return chr(int(text[1:], 16))
    if len(text) == 3 and text.isdigit():
        return chr(int(text, 8))
    return _ESCAPES.get(text, text)
