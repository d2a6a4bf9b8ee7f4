"""From text to a tree of which every node is known."""

from __future__ import annotations

import ast
import warnings

from sregym_env.runtime.effort import spend
from sregym_env.shell.python.bounds import Refused

LONGEST = 20_000
"""Characters of a program."""
PARSING_EFFORT = 1.0
"""What a character costs to parse (units of ``runtime/effort.py``)."""

_KNOWN = (
    ast.Module, ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Break, ast.Continue,
    ast.Pass, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Return, ast.Try, ast.ExceptHandler, ast.Raise, ast.With,
    ast.withitem, ast.Assert, ast.Delete, ast.alias, ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice,
    ast.Call, ast.keyword, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.List, ast.Tuple, ast.Dict,
    ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.JoinedStr,
    ast.FormattedValue, ast.Lambda, ast.arguments, ast.arg, ast.Starred, ast.NamedExpr, ast.expr_context, ast.operator,
    ast.boolop, ast.unaryop, ast.cmpop,
)  # fmt: skip
_SAID = {
    "ClassDef": "class", "AsyncFunctionDef": "async", "Global": "global", "Nonlocal": "nonlocal", "Yield": "yield",
    "YieldFrom": "yield", "Await": "await", "Match": "match", "AsyncFor": "async", "AsyncWith": "async", "TryStar": "except*",
}  # fmt: skip


def read(text: str) -> ast.Module:
    """The tree of a program. Raises SyntaxError, and Refused for what is not known here."""
    if len(text) > LONGEST:
        raise Refused(f"a program of more than {LONGEST} characters")
    spend(len(text) * PARSING_EFFORT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except ValueError as error:  # a null byte
        raise SyntaxError(str(error)) from None
    except (RecursionError, MemoryError):
        raise Refused("so much in parentheses") from None
    for node in ast.walk(tree):
        _check(node)
    return tree


def _check(node: ast.AST) -> None:
    if not isinstance(node, _KNOWN):
        name = type(node).__name__
        raise Refused(f"`{_SAID.get(name, name)}`")
    if isinstance(node, ast.Constant) and isinstance(node.value, (complex, type(...))):
        raise Refused(f"the value {node.value}")
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        raise Refused("a decorator")
    if isinstance(node, ast.arguments) and (node.vararg or node.kwarg or node.kwonlyargs or node.posonlyargs):
        raise Refused("a function with such arguments")
    if isinstance(node, ast.comprehension) and node.is_async:
        raise Refused("`async`")
    named = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if (
        named.startswith("_")
        and named not in ("_", "__name__")
        and (named.startswith("__") or isinstance(node, ast.Attribute))
    ):
        raise Refused(f"`{named}`")
