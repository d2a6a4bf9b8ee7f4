"""Carries out a tree, node by node."""

from __future__ import annotations

import ast
import builtins
import operator
import re
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sregym_env.runtime.effort import EffortExceeded
from sregym_env.shell.python import text
from sregym_env.shell.python.bounds import DEEPEST, Budget, Exhausted, Refused
from sregym_env.shell.python.library import KNOWN, Exit, Library, codec, decoded
from sregym_env.shell.python.values import (
    FIELDS,
    METHODS,
    MOMENTS,
    PLAIN,
    Builtin,
    Found,
    Function,
    Kind,
    Method,
    Module,
    Stream,
    TextFile,
)
from sregym_env.shell.shell import Shell

_UNSTOPPABLE = (Refused, Exhausted, EffortExceeded)
"""What no program can catch."""

_OPERATORS: Mapping[type, tuple[str, Callable[[Any, Any], Any]]] = MappingProxyType(
    {
        ast.Add: ("+", operator.add), ast.Sub: ("-", operator.sub), ast.Mult: ("*", operator.mul),
        ast.Div: ("/", operator.truediv), ast.FloorDiv: ("//", operator.floordiv), ast.Mod: ("%", operator.mod),
        ast.BitOr: ("|", operator.or_), ast.BitAnd: ("&", operator.and_), ast.BitXor: ("^", operator.xor),
        ast.RShift: (">>", operator.rshift), ast.LShift: ("<<", operator.lshift), ast.Pow: ("**", operator.pow),
    }
)  # fmt: skip
_UNARY: Mapping[type, Callable[[Any], Any]] = MappingProxyType(
    {ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
)
_COMPARED: Mapping[type, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
        ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
        ast.In: lambda left, right: left in right, ast.NotIn: lambda left, right: left not in right,
    }
)  # fmt: skip
_INDEXED = (str, bytes, list, tuple, dict, range, Counter, defaultdict, OrderedDict)
_SEQUENCES = (str, bytes, list, tuple)
_OWN = re.compile(r"\bLibrary\.(?:\w+\.<locals>\.)?_?(\w+|<lambda>)\(\)")


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Scope:
    """The names of a function, or of the program."""

    __slots__ = ("outer", "values")

    def __init__(self, outer: Scope | None, values: dict[str, Any] | None = None) -> None:
        self.outer = outer
        self.values: dict[str, Any] = {} if values is None else values

    def find(self, name: str) -> Any:
        """A value. Raises LookupError."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        raise LookupError(name)


class Machine:
    """One run of a program."""

    def __init__(self, shell: Shell, stdin: str, argv: Sequence[str]) -> None:
        self.budget = Budget()
        self.library = Library(shell, stdin, argv, self.budget, self.call)
        self._builtin = Scope(None, self.library.names())
        self.line = 0
        """Where it stands."""

    def run(self, tree: ast.Module) -> None:
        """Carry out a program. Raises whatever it raises."""
        self._body(tree.body, Scope(self._builtin))

    # --- statements ---------------------------------------------------------------------------------

    def _body(self, statements: Sequence[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            self.budget.step()
            self.line = statement.lineno
            getattr(self, f"_{type(statement).__name__.lower()}")(statement, scope)

    def _expr(self, node: ast.Expr, scope: Scope) -> None:
        self._value(node.value, scope)

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        value = self._value(node.value, scope)
        for target in node.targets:
            self._store(target, value, scope)

    def _annassign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self._store(node.target, self._value(node.value, scope), scope)

    def _augassign(self, node: ast.AugAssign, scope: Scope) -> None:
        # Without what the target's own assignment would do twice: an index is evaluated again, as its value is the same.
        before = self._value(node.target, scope)
        self._store(node.target, self._combined(node.op, before, self._value(node.value, scope)), scope)

    def _store(self, target: ast.expr, value: Any, scope: Scope) -> None:
        self.budget.step()
        if isinstance(target, ast.Name):
            scope.values[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, self.library.items(value), scope)
        elif isinstance(target, ast.Subscript):
            held = self._value(target.value, scope)
            if not isinstance(held, (list, dict)):
                raise TypeError(f"'{type(held).__name__}' object does not support item assignment")
            held[self.library.key(self._index(target.slice, scope))] = value
        else:
            raise Refused("such an assignment")

    def _unpack(self, targets: Sequence[ast.expr], values: list[Any], scope: Scope) -> None:
        starred = [at for at, each in enumerate(targets) if isinstance(each, ast.Starred)]
        if not starred:
            if len(values) < len(targets):
                raise ValueError(f"not enough values to unpack (expected {len(targets)}, got {len(values)})")
            if len(values) > len(targets):
                raise ValueError(f"too many values to unpack (expected {len(targets)})")
        else:
            at, least = starred[0], len(targets) - 1
            if len(values) < least:
                raise ValueError(
                    f"not enough values to unpack (expected at least {least}, got {len(values)})"
                )
            end = len(values) - (least - at)
            values = [*values[:at], values[at:end], *values[end:]]
        for target, value in zip(targets, values, strict=True):
            self._store(target.value if isinstance(target, ast.Starred) else target, value, scope)

    def _delete(self, node: ast.Delete, scope: Scope) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                held = self._value(target.value, scope)
                if not isinstance(held, (list, dict)):
                    raise TypeError(f"'{type(held).__name__}' object doesn't support item deletion")
                del held[self.library.key(self._index(target.slice, scope))]
            elif isinstance(target, ast.Name) and target.id in scope.values:
                del scope.values[target.id]
            else:
                raise Refused("such a deletion")

    def _for(self, node: ast.For, scope: Scope) -> None:
        for value in self._each(self._value(node.iter, scope)):
            self._store(node.target, value, scope)
            try:
                self._body(node.body, scope)
            except _Continue:
                continue
            except _Break:
                return
        self._body(node.orelse, scope)

    def _while(self, node: ast.While, scope: Scope) -> None:
        while self._value(node.test, scope):
            self.budget.step()
            try:
                self._body(node.body, scope)
            except _Continue:
                continue
            except _Break:
                return
        self._body(node.orelse, scope)

    def _if(self, node: ast.If, scope: Scope) -> None:
        self._body(node.body if self._value(node.test, scope) else node.orelse, scope)

    def _break(self, node: ast.Break, scope: Scope) -> None:
        raise _Break

    def _continue(self, node: ast.Continue, scope: Scope) -> None:
        raise _Continue

    def _pass(self, node: ast.Pass, scope: Scope) -> None:
        pass

    def _return(self, node: ast.Return, scope: Scope) -> None:
        raise _Return(None if node.value is None else self._value(node.value, scope))

    def _functiondef(self, node: ast.FunctionDef, scope: Scope) -> None:
        scope.values[node.name] = self._function(node.name, node.args, node.body, scope)

    def _import(self, node: ast.Import, scope: Scope) -> None:
        for each in node.names:
            if each.asname:
                scope.values[each.asname] = self._module(each.name)
            else:
                self._module(each.name)
                first = each.name.partition(".")[0]
                scope.values[first] = self._module(first)

    def _importfrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        name = node.module or ""
        module = self._module(name)
        for each in node.names:
            if each.name == "*" or each.name not in module.members:
                raise Refused(f"`from {name} import {each.name}`")
            scope.values[each.asname or each.name] = module.members[each.name]

    def _module(self, name: str) -> Module:
        name = "os" if name == "os.path" else name
        if name in KNOWN:
            return self.library.module(name)
        if name.partition(".")[0] in sys.stdlib_module_names:
            raise Refused(f"the module `{name}`")
        raise ModuleNotFoundError(f"No module named '{name.partition('.')[0]}'")

    def _assert(self, node: ast.Assert, scope: Scope) -> None:
        if not self._value(node.test, scope):
            raise AssertionError(
                *(() if node.msg is None else (text.shown(self.budget, self._value(node.msg, scope)),))
            )

    def _raise(self, node: ast.Raise, scope: Scope) -> None:
        if node.exc is None:
            raise RuntimeError("No active exception to reraise")
        value = self._value(node.exc, scope)
        raised = value.call() if isinstance(value, Kind) else value
        if not isinstance(raised, Exception):
            raise TypeError("exceptions must derive from BaseException")
        raise raised

    def _try(self, node: ast.Try, scope: Scope) -> None:
        try:
            try:
                self._body(node.body, scope)
            except (*_UNSTOPPABLE, _Break, _Continue, _Return):
                raise
            except Exception as error:
                self._handle(node.handlers, error, scope)
            else:
                self._body(node.orelse, scope)
        finally:
            self._body(node.finalbody, scope)

    def _handle(self, handlers: Sequence[ast.ExceptHandler], error: Exception, scope: Scope) -> None:
        for handler in handlers:
            kinds = None if handler.type is None else self._value(handler.type, scope)
            wanted = kinds if isinstance(kinds, tuple) else (kinds,)
            held = [kind for kind in wanted if isinstance(kind, Kind) and isinstance(error, kind.type)]
            # The end of a program is no Exception to it.
            if kinds is None or any(not isinstance(error, Exit) or Exit in kind.type for kind in held):
                if handler.name:
                    scope.values[handler.name] = error
                self._body(handler.body, scope)
                return
        raise error

    def _with(self, node: ast.With, scope: Scope) -> None:
        for item in node.items:
            value = self._value(item.context_expr, scope)
            if not isinstance(value, TextFile):
                raise Refused("`with` on anything but a file")
            if item.optional_vars is not None:
                self._store(item.optional_vars, value, scope)
        self._body(node.body, scope)

    # --- expressions --------------------------------------------------------------------------------

    def _value(self, node: ast.expr, scope: Scope) -> Any:
        self.budget.step()
        return getattr(self, f"_{type(node).__name__.lower()}")(node, scope)

    def _each(self, values: Any) -> Iterator[Any]:
        """The elements, as long as somebody asks for them."""
        if isinstance(values, (range, list, Stream, TextFile)):
            yield from self.budget.each(values)
        else:
            yield from self.library.items(values)

    def _constant(self, node: ast.Constant, scope: Scope) -> Any:
        return node.value

    def _name(self, node: ast.Name, scope: Scope) -> Any:
        try:
            return scope.find(node.id)
        except LookupError:
            if hasattr(builtins, node.id):
                raise Refused(f"`{node.id}`") from None
            raise NameError(f"name '{node.id}' is not defined") from None

    def _namedexpr(self, node: ast.NamedExpr, scope: Scope) -> Any:
        value = self._value(node.value, scope)
        self._store(node.target, value, scope)
        return value

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Any:
        value, name = self._value(node.value, scope), node.attr
        if isinstance(value, (Module, Kind)):
            if name in value.members:
                return value.members[name]
            if isinstance(value, Module) or not any(name in METHODS.get(kind, ()) for kind in value.type):
                raise Refused(f"`{value.name}.{name}`")
            raise Refused(f"`{value.name}.{name}` without a value")
        if name in METHODS.get(type(value), ()):
            return Method(value, name)
        if name in FIELDS.get(type(value), ()):
            return getattr(value, name)
        if type(value) in PLAIN and hasattr(value, name):
            raise Refused(f"`{type(value).__name__}.{name}`")
        raise AttributeError(f"'{type(value).__name__}' object has no attribute '{name}'")

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Any:
        value, index = self._value(node.value, scope), self._index(node.slice, scope)
        if isinstance(value, Found):
            return value.group(index)
        if not isinstance(value, _INDEXED):
            raise TypeError(f"'{type(value).__name__}' object is not subscriptable")
        found = value[self.library.key(index)]
        if isinstance(index, slice):
            self.budget.make(len(value))
        return found

    def _index(self, node: ast.expr, scope: Scope) -> Any:
        if not isinstance(node, ast.Slice):
            return self._value(node, scope)
        return slice(
            *(
                None if each is None else self._value(each, scope)
                for each in (node.lower, node.upper, node.step)
            )
        )

    def _slice(self, node: ast.Slice, scope: Scope) -> Any:
        raise Refused("several slices at once")

    def _starred(self, node: ast.Starred, scope: Scope) -> Any:
        raise Refused("such a `*`")

    def _boolop(self, node: ast.BoolOp, scope: Scope) -> Any:
        value: Any = None
        for each in node.values:
            value = self._value(each, scope)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _unaryop(self, node: ast.UnaryOp, scope: Scope) -> Any:
        return _UNARY[type(node.op)](self._value(node.operand, scope))

    def _ifexp(self, node: ast.IfExp, scope: Scope) -> Any:
        return self._value(node.body if self._value(node.test, scope) else node.orelse, scope)

    def _binop(self, node: ast.BinOp, scope: Scope) -> Any:
        return self._combined(node.op, self._value(node.left, scope), self._value(node.right, scope))

    def _combined(self, op: ast.operator, left: Any, right: Any) -> Any:
        if isinstance(op, ast.MatMult):
            raise Refused("`@`")
        sign, combine = _OPERATORS[type(op)]
        if not (type(left) in PLAIN + MOMENTS and type(right) in PLAIN + MOMENTS):
            names = f"'{type(left).__name__}' and '{type(right).__name__}'"
            raise TypeError(f"unsupported operand type(s) for {sign}: {names}")
        if isinstance(op, ast.Mod) and isinstance(left, (str, bytes)):
            if isinstance(left, bytes):
                raise Refused("`%` on bytes")
            return text.percent(self.budget, left, right)
        if isinstance(op, ast.Pow):
            return self.library.raised(left, right)
        if isinstance(op, ast.LShift) and isinstance(right, int) and right > 8192:
            raise MemoryError
        if isinstance(op, ast.Mult):
            for some, times in ((left, right), (right, left)):
                if isinstance(some, _SEQUENCES) and isinstance(times, int):
                    self.budget.make(len(some) * max(times, 0))
        for some in (left, right):
            if isinstance(some, (*_SEQUENCES, dict, set)):
                self.budget.make(len(some))
        return self.budget.whole(combine(left, right))

    def _compare(self, node: ast.Compare, scope: Scope) -> Any:
        left = self._value(node.left, scope)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self._value(right_node, scope)
            if isinstance(op, (ast.In, ast.NotIn)):
                self.library.key(left)
                if not isinstance(right, (str, bytes, dict, range, set)):
                    right = self.library.items(right)
            if not isinstance(op, (ast.Is, ast.IsNot)):
                self._comparable(left)
                if not isinstance(op, (ast.In, ast.NotIn)) or isinstance(right, list):
                    self._comparable(right)
                elif isinstance(right, (str, bytes)):
                    self.budget.make(len(right) / 4)
            if not _COMPARED[type(op)](left, right):
                return False
            left = right
        return True

    def _comparable(self, value: Any) -> None:
        if isinstance(value, (list, tuple, dict, set, str, bytes)):
            self.budget.weigh(value)

    def _elements(self, nodes: Sequence[ast.expr], scope: Scope) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found.extend(self.library.items(self._value(node.value, scope)))
            else:
                found.append(self._value(node, scope))
        self.budget.make(len(found))
        return found

    def _list(self, node: ast.List, scope: Scope) -> Any:
        return self._elements(node.elts, scope)

    def _tuple(self, node: ast.Tuple, scope: Scope) -> Any:
        return tuple(self._elements(node.elts, scope))

    def _set(self, node: ast.Set, scope: Scope) -> Any:
        return {self.library.key(each) for each in self._elements(node.elts, scope)}

    def _dict(self, node: ast.Dict, scope: Scope) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            found = self._value(value, scope)
            if key is not None:
                made[self.library.key(self._value(key, scope))] = found
            elif isinstance(found, dict):
                self.budget.make(len(found))
                made.update(found)
            else:
                raise TypeError(f"'{type(found).__name__}' object is not a mapping")
        return made

    def _joinedstr(self, node: ast.JoinedStr, scope: Scope) -> str:
        return "".join(str(self._value(each, scope)) for each in node.values)

    def _formattedvalue(self, node: ast.FormattedValue, scope: Scope) -> str:
        value = self._value(node.value, scope)
        spec = "" if node.format_spec is None else self._value(node.format_spec, scope)
        conversion = chr(node.conversion) if node.conversion > 0 else None
        return text.formatted(self.budget, value, spec, conversion)

    # --- comprehensions -----------------------------------------------------------------------------

    def _rows(self, generators: Sequence[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        if not generators:
            yield scope
            return
        first, *rest = generators
        for value in self._each(self._value(first.iter, scope)):
            self._store(first.target, value, scope)
            if all(self._value(test, scope) for test in first.ifs):
                yield from self._rows(rest, scope)

    def _listcomp(self, node: ast.ListComp, scope: Scope) -> list[Any]:
        found = []
        for row in self._rows(node.generators, Scope(scope)):
            self.budget.make(1)
            found.append(self._value(node.elt, row))
        return found

    def _setcomp(self, node: ast.SetComp, scope: Scope) -> set[Any]:
        rows = self._rows(node.generators, Scope(scope))
        return {self.library.key(self._value(node.elt, row)) for row in rows}

    def _dictcomp(self, node: ast.DictComp, scope: Scope) -> dict[Any, Any]:
        rows = self._rows(node.generators, Scope(scope))
        return {self.library.key(self._value(node.key, row)): self._value(node.value, row) for row in rows}

    def _generatorexp(self, node: ast.GeneratorExp, scope: Scope) -> Stream:
        rows = self._rows(node.generators, Scope(scope))
        return Stream(self._value(node.elt, row) for row in rows)

    # --- calls --------------------------------------------------------------------------------------

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Function:
        return self._function("<lambda>", node.args, node.body, scope)

    def _function(
        self, name: str, given: ast.arguments, body: list[ast.stmt] | ast.expr, scope: Scope
    ) -> Function:
        defaults = tuple(self._value(each, scope) for each in given.defaults)
        return Function(name, tuple(each.arg for each in given.args), body, scope, defaults)

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        function = self._value(node.func, scope)
        given = self._elements(node.args, scope)
        named: dict[str, Any] = {}
        for each in node.keywords:
            value = self._value(each.value, scope)
            named |= value if each.arg is None and isinstance(value, dict) else {str(each.arg): value}
        return self.call(function, given, named)

    def call(self, function: Any, given: Sequence[Any], named: Mapping[str, Any] | None = None) -> Any:
        """What a function answers. Raises what it raises."""
        self.budget.step()
        named = named or {}
        if isinstance(function, Function):
            return self._entered(function, given, named)
        if isinstance(function, Method):
            return self._method(function.value, function.name, list(given), dict(named))
        if isinstance(function, Builtin):
            try:
                return function.call(*given, **named)
            except TypeError as error:
                raise TypeError(_OWN.sub(f"{function.name}()", str(error))) from None
        raise TypeError(f"'{type(function).__name__}' object is not callable")

    def _entered(self, function: Function, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        if self.budget.depth >= DEEPEST:
            raise RecursionError("maximum recursion depth exceeded")
        names = function.arguments
        if len(given) > len(names):
            count = f"{len(names)} positional argument{'s' if len(names) != 1 else ''} but {len(given)} were given"
            raise TypeError(f"{function.name}() takes {count}")
        values = dict(zip(names[len(names) - len(function.defaults) :], function.defaults, strict=True))
        values |= dict(zip(names, given, strict=False))
        for name, value in named.items():
            if name not in names:
                raise TypeError(f"{function.name}() got an unexpected keyword argument '{name}'")
            values[name] = value
        missing = [name for name in names if name not in values]
        if missing:
            raise TypeError(
                f"{function.name}() missing {len(missing)} required positional argument: '{missing[0]}'"
            )
        scope = Scope(function.scope, values)
        self.budget.depth += 1
        try:
            if isinstance(function.body, ast.expr):
                return self._value(function.body, scope)
            self._body(function.body, scope)
        except _Return as done:
            return done.value
        finally:
            self.budget.depth -= 1
        return None

    def _method(self, value: Any, name: str, given: list[Any], named: dict[str, Any]) -> Any:
        own = getattr(self, f"_on_{type(value).__name__}", None)
        if own is not None:
            found = own(value, name, given, named)
            if found is not NotImplemented:
                return found
        given = [self.library.items(each) if isinstance(each, Stream) else each for each in given]
        return getattr(value, name)(*given, **named)

    def _on_str(self, value: str, name: str, given: list[Any], named: dict[str, Any]) -> Any:
        budget = self.budget
        if name == "format":
            return text.filled(budget, value, given, named)
        if name == "join":
            parts = self.library.items(*given)
            if all(isinstance(each, str) for each in parts):
                budget.make(sum(map(len, parts)) + len(value) * len(parts))
            return value.join(parts)
        if name == "encode":
            return value.encode(codec(*given[:1] or ("utf-8",)), *given[1:])
        if name == "replace" and len(given) > 1 and all(isinstance(each, str) for each in given[:2]):
            budget.make((len(value) // max(len(given[0]), 1) + 1) * len(given[1]))
        if name in ("ljust", "rjust", "center", "zfill") and given and isinstance(given[0], int):
            budget.make(max(given[0], 0))
        budget.make(len(value))
        return NotImplemented

    def _on_bytes(self, value: bytes, name: str, given: list[Any], named: dict[str, Any]) -> Any:
        self.budget.make(len(value))
        return decoded(value, *given, **named) if name == "decode" else NotImplemented

    def _on_list(self, value: list[Any], name: str, given: list[Any], named: dict[str, Any]) -> Any:
        if name == "sort":
            value[:] = self.library.ordered(value, **named)
            return None
        if name == "extend":
            value.extend(self.library.items(*given))
            return None
        if name in ("index", "count", "remove"):
            self.budget.weigh([value, given])
        self.budget.make(len(value) / 64 if name in ("append", "pop") else len(value))
        return NotImplemented

    def _on_dict(self, value: dict[Any, Any], name: str, given: list[Any], named: dict[str, Any]) -> Any:
        if name in ("get", "pop", "setdefault") and given:
            self.library.key(given[0])
        if name in ("update", "copy"):
            self.budget.make(len(value) + sum(len(each) for each in given if isinstance(each, (dict, list))))
        if name in ("keys", "values", "items", "most_common", "elements"):
            self.budget.make(len(value) / 16 if name in ("keys", "values", "items") else len(value))
        if name == "elements":
            raise Refused("`Counter.elements`")
        return NotImplemented

    _on_Counter = _on_defaultdict = _on_OrderedDict = _on_dict

    def _on_set(self, value: set[Any], name: str, given: list[Any], named: dict[str, Any]) -> Any:
        self.budget.weigh(given)
        self.budget.make(len(value) / 64 if name in ("add", "discard", "remove", "pop") else len(value))
        return NotImplemented

    def _on_datetime(self, value: Any, name: str, given: list[Any], named: dict[str, Any]) -> Any:
        if name == "strftime" and (
            len(given) != 1 or len(str(given[0])) > 200 or re.search(r"%[^%a-zA-Z]", str(given[0]))
        ):
            raise Refused("such a format of a time")
        return NotImplemented

    _on_date = _on_datetime
