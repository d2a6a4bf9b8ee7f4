"""From a tree to a function: types are checked, names resolved and macros expanded once, then only run.

Every node becomes a closure over its parts. Evaluation counts its steps against a limit, so that no expression
can take the process with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from sregym_env.kube.cel.errors import CelError, CompileError, CostExceeded, located
from sregym_env.kube.cel.library import library
from sregym_env.kube.cel.overloads import Overload
from sregym_env.kube.cel.syntax import Node
from sregym_env.kube.cel.types import DYN, ObjectType, Type, element, fits, join, type_text
from sregym_env.kube.cel.values import NONE, Optional, TypeValue, Uint, equal, kind_of

Run = Callable[["Frame"], Any]
Typed = tuple[Type, Run]

_TYPE_NAMES = frozenset(
    ("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint")
)
_OPERATORS = {
    "+": "_+_", "-": "_-_", "*": "_*_", "/": "_/_", "%": "_%_", "==": "_==_", "!=": "_!=_", "<": "_<_", "<=": "_<=_",
    ">": "_>_", ">=": "_>=_", "in": "@in", "&&": "_&&_", "||": "_||_", "!": "!_", "neg": "-_", "?:": "_?_:_",
}  # fmt: skip
_RANGES = frozenset(("all", "exists", "exists_one", "existsOne", "map", "filter"))


class Frame:
    """One evaluation: what names stand for, and what it has cost."""

    __slots__ = ("cost", "limit", "names")

    def __init__(self, names: dict[str, Any], limit: int) -> None:
        self.names = names
        self.cost = 0
        self.limit = limit

    def pay(self, cost: int) -> None:
        """Count some work. Raises CostExceeded."""
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceeded


class Compiler:
    """Compiles one expression against the types of the names it may use."""

    def __init__(self, source: str, names: Mapping[str, Type]) -> None:
        self.source = source
        self.names = dict(names)
        self.problems: list[tuple[int, str]] = []

    def compile(self, node: Node) -> Typed:
        """The type of an expression and the function that evaluates it. Raises CompileError."""
        made = self.node(node)
        if self.problems:
            raise CompileError(
                "\n".join(located(self.source, at, text) for at, text in sorted(self.problems))
            )
        return made

    def problem(self, node: Node, text: str) -> Typed:
        self.problems.append((node.at, text))
        return DYN, _never

    def mismatch(self, node: Node, name: str, types: list[Type], member: bool = False) -> Typed:
        shown = [type_text(t) for t in types]
        applied = f"{shown[0]}.({', '.join(shown[1:])})" if member else f"({', '.join(shown)})"
        return self.problem(node, f"found no matching overload for '{name}' applied to '{applied}'")

    def node(self, node: Node) -> Typed:
        return _NODES.get(node.op, Compiler.operator)(self, node)

    # --- leaves ---------------------------------------------------------------------------------

    def const(self, node: Node) -> Typed:
        value = node.value
        return kind_of(value), lambda frame: value

    def ident(self, node: Node) -> Typed:
        name = node.name
        type_ = self.names.get(name)
        if type_ is not None:
            return type_, lambda frame: _look(frame, name)
        if name in _TYPE_NAMES:
            value = TypeValue(name)
            return "type", lambda frame: value
        return self.problem(node, f"undeclared reference to '{name}' (in container '')")

    def qualified(self, node: Node) -> Typed | None:
        """A dotted name that is a variable or a type (``google.protobuf.Timestamp``), or None."""
        name = _dotted(node)
        if name in self.names:
            return self.names[name], lambda frame: _look(frame, name)
        if name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
            value = TypeValue(name)
            return "type", lambda frame: value
        return None

    def list_(self, node: Node) -> Typed:
        inner: Type | None = None
        runs = []
        for item in node.parts:
            type_, run = self.node(item.parts[0])
            if item.optional and isinstance(type_, tuple) and type_[0] == "optional":
                type_ = type_[1]
            inner = type_ if inner is None else join(inner, type_)
            runs.append((run, item.optional))
        return ("list", DYN if inner is None else inner), lambda frame: _make_list(frame, runs)

    def map_(self, node: Node) -> Typed:
        keys: Type | None = None
        values: Type | None = None
        runs = []
        for entry in node.parts:
            key, key_run = self.node(entry.parts[0])
            value, value_run = self.node(entry.parts[1])
            if entry.optional and isinstance(value, tuple) and value[0] == "optional":
                value = value[1]
            keys = key if keys is None else join(keys, key)
            values = value if values is None else join(values, value)
            runs.append((key_run, value_run, entry.optional))
        type_ = ("map", DYN if keys is None else keys, DYN if values is None else values)
        return type_, lambda frame: _make_map(frame, runs)

    # --- access ---------------------------------------------------------------------------------

    def select(self, node: Node) -> Typed:
        known = self.qualified(node)
        if known is not None:
            return known
        assert node.target is not None
        type_, run = self.node(node.target)
        name = node.name
        chained = isinstance(type_, tuple) and type_[0] == "optional"
        inner = self.field(node, type_[1] if chained else type_, name)
        if inner is None:
            return DYN, _never
        if node.optional or chained:
            inner = inner if isinstance(inner, tuple) and inner[0] == "optional" else ("optional", inner)
            return inner, lambda frame: _maybe(frame, run(frame), name)
        return inner, lambda frame: _field(frame, run(frame), name)

    def field(self, node: Node, type_: Type, name: str) -> Type | None:
        """The type of a field; None, with a problem noted, where there is none."""
        if isinstance(type_, ObjectType):
            found = type_.fields.get(name)
            if found is None:
                self.problem(node, f"undefined field '{name}'")
            return found
        if isinstance(type_, tuple) and type_[0] == "map":
            return type_[2]
        if type_ in (DYN, "map"):
            return DYN
        self.problem(node, f"type '{type_text(type_)}' does not support field selection")
        return None

    def index(self, node: Node) -> Typed:
        type_, run = self.node(node.parts[0])
        key, key_run = self.node(node.parts[1])
        chained = isinstance(type_, tuple) and type_[0] == "optional"
        owner = type_[1] if chained else type_
        if isinstance(owner, tuple) and owner[0] == "list" and fits(key, "int"):
            inner = owner[1]
        elif isinstance(owner, tuple) and owner[0] == "map" and fits(key, owner[1]):
            inner = owner[2]
        elif owner in (DYN, "map", "list"):
            inner = DYN
        else:
            return self.mismatch(node, "_[_]", [type_, key])
        if node.optional or chained:
            return ("optional", inner), lambda frame: _maybe(frame, run(frame), key_run(frame))
        return inner, lambda frame: _index(frame, run(frame), key_run(frame))

    # --- operators ------------------------------------------------------------------------------

    def operator(self, node: Node) -> Typed:
        compiled = [self.node(part) for part in node.parts]
        types = [type_ for type_, _ in compiled]
        runs = [run for _, run in compiled]
        op = node.op
        if op == "?:":
            return self.conditional(node, types, runs)
        if op in ("&&", "||"):
            if not all(fits(type_, "bool") for type_ in types):
                return self.mismatch(node, _OPERATORS[op], types)
            return "bool", _logical(runs[0], runs[1], stop=op == "||")
        if op in ("==", "!="):
            if not (fits(types[0], types[1]) or fits(types[1], types[0])):
                return self.mismatch(node, _OPERATORS[op], types)
            return "bool", _compare_equal(runs[0], runs[1], op == "==")
        if op == "in":
            return self.membership(node, types, runs)
        if op == "!":
            if not fits(types[0], "bool"):
                return self.mismatch(node, "!_", types)
            return "bool", lambda frame: not _boolean(runs[0](frame))
        return self.overloaded(node, _OPERATORS[op], types, runs)

    def conditional(self, node: Node, types: list[Type], runs: list[Run]) -> Typed:
        test, first, second = runs
        if not fits(types[0], "bool") or not (fits(types[1], types[2]) or fits(types[2], types[1])):
            return self.mismatch(node, "_?_:_", types)
        return join(types[1], types[2]), lambda frame: (first if _boolean(test(frame)) else second)(frame)

    def membership(self, node: Node, types: list[Type], runs: list[Run]) -> Typed:
        owner = types[1]
        listed = isinstance(owner, tuple) and owner[0] in ("list", "map") and fits(types[0], owner[1])
        if not listed and owner not in (DYN, "list", "map"):
            return self.mismatch(node, "@in", types)
        return "bool", lambda frame: _contains(frame, runs[0](frame), runs[1](frame))

    # --- calls ----------------------------------------------------------------------------------

    def call(self, node: Node) -> Typed:
        macro = self.macro(node)
        if macro is not None:
            return macro
        name, member = node.name, node.target is not None
        target = node.target
        if target is not None:
            spaced = f"{_dotted(target)}.{name}"
            if library().is_global(spaced) and not self.bound(target):
                name, member, target = spaced, False, None
        parts = node.parts if target is None else (target, *node.parts)
        compiled = [self.node(part) for part in parts]
        types = [type_ for type_, _ in compiled]
        runs = [run for _, run in compiled]
        if name == "dyn" and not member and len(runs) == 1:
            return DYN, runs[0]
        if name == "type" and not member and len(runs) == 1:
            return "type", lambda frame: TypeValue(_type_name(runs[0](frame)))
        return self.overloaded(node, name, types, runs, member)

    def bound(self, target: Node) -> bool:
        """Whether the first name of a dotted one is a variable."""
        while target.op == "select" and target.target is not None:
            target = target.target
        return target.op == "ident" and target.name in self.names

    def overloaded(
        self, node: Node, name: str, types: list[Type], runs: list[Run], member: bool = False
    ) -> Typed:
        known = library().of(name, member)
        if not known:
            return self.problem(node, f"undeclared reference to '{name}' (in container '')")
        chosen = [o for o in known if o.accepts(types)]
        if not chosen:
            return self.mismatch(node, name, types, member)
        results = [o.result(types) for o in chosen]
        result = results[0]
        for other in results[1:]:
            result = result if result == other else DYN
        return result, _dispatch(chosen, runs)

    # --- macros ---------------------------------------------------------------------------------

    def macro(self, node: Node) -> Typed | None:
        name, parts, target = node.name, node.parts, node.target
        if target is None:
            return self.has(node) if name == "has" and len(parts) == 1 else None
        if name == "bind" and target.op == "ident" and target.name == "cel" and len(parts) == 3:
            return self.bind(node)
        if name in _RANGES and len(parts) in (2, 3):
            return self.ranged(node)
        if name in ("optMap", "optFlatMap") and len(parts) == 2:
            return self.opt_map(node)
        return None

    def variable(self, node: Node) -> str:
        if node.op != "ident":
            self.problem(node, "argument must be a simple name")
            return ""
        return node.name

    def scoped(self, name: str, type_: Type, node: Node) -> Typed:
        """Compile with one more name."""
        before = self.names.get(name)
        self.names[name] = type_
        made = self.node(node)
        if before is None:
            del self.names[name]
        else:
            self.names[name] = before
        return made

    def has(self, node: Node) -> Typed:
        field = node.parts[0]
        if field.op != "select" or field.target is None:
            return self.problem(node, "invalid argument to has() macro")
        type_, run = self.node(field.target)
        inner = type_[1] if isinstance(type_, tuple) and type_[0] == "optional" else type_
        if self.field(field, inner, field.name) is None:
            return DYN, _never
        name = field.name
        return "bool", lambda frame: _maybe(frame, run(frame), name).present

    def bind(self, node: Node) -> Typed:
        name = self.variable(node.parts[0])
        type_, value = self.node(node.parts[1])
        result, body = self.scoped(name, type_, node.parts[2])
        return result, lambda frame: _with(frame, name, value(frame), body)

    def opt_map(self, node: Node) -> Typed:
        assert node.target is not None
        type_, run = self.node(node.target)
        name = self.variable(node.parts[0])
        inner = type_[1] if isinstance(type_, tuple) and type_[0] == "optional" else DYN
        result, body = self.scoped(name, inner, node.parts[1])
        flat = node.name == "optFlatMap"

        def mapped(frame: Frame) -> Optional:
            found = run(frame)
            if not isinstance(found, Optional):
                raise CelError("no such overload")
            if not found.present:
                return NONE
            made = _with(frame, name, found.value, body)
            return made if flat else Optional(True, made)

        return (result if flat else ("optional", result)), mapped

    def ranged(self, node: Node) -> Typed:
        assert node.target is not None
        type_, run = self.node(node.target)
        if not (type_ in (DYN, "list", "map") or (isinstance(type_, tuple) and type_[0] in ("list", "map"))):
            if isinstance(type_, ObjectType) or type_ != DYN:
                return self.problem(
                    node.target,
                    f"expression of type '{type_text(type_)}' cannot be range of a comprehension (must be list, "
                    "map, or dynamic)",
                )
        name = self.variable(node.parts[0])
        bodies = [self.scoped(name, element(type_), part) for part in node.parts[1:]]
        if node.name == "map":
            test = bodies[0][1] if len(bodies) == 2 else None
            return ("list", bodies[-1][0]), _mapping(run, name, test, bodies[-1][1])
        if len(bodies) != 1:
            return self.problem(node, f"undeclared reference to '{node.name}' (in container '')")
        if not fits(bodies[0][0], "bool"):
            return self.mismatch(node.parts[1], {"all": "_&&_", "exists": "_||_"}.get(node.name, "_?_:_"),
                                 ["bool", bodies[0][0]])  # fmt: skip
        body = bodies[0][1]
        if node.name == "filter":
            return ("list", element(type_)), _mapping(run, name, body, None)
        if node.name in ("exists_one", "existsOne"):
            return "bool", _exactly_one(run, name, body)
        return "bool", _quantified(run, name, body, stop=node.name == "exists")


_NODES: dict[str, Callable[[Compiler, Node], Typed]] = {
    "const": Compiler.const,
    "ident": Compiler.ident,
    "list": Compiler.list_,
    "map": Compiler.map_,
    "select": Compiler.select,
    "index": Compiler.index,
    "call": Compiler.call,
}


# --- running -------------------------------------------------------------------------------------


def _never(frame: Frame) -> Any:
    raise AssertionError("an expression with problems is not run")


def _look(frame: Frame, name: str) -> Any:
    frame.pay(1)
    try:
        found = frame.names[name]
    except KeyError:
        raise CelError(f"no such attribute(s): {name}") from None
    if type(found) is Lazy:
        return found.value(frame)
    return found


class Lazy:
    """A name whose value is an expression, evaluated once when first asked for (``variables.x``)."""

    __slots__ = ("_done", "_error", "_name", "_run", "_value")

    def __init__(self, run: Run, name: str) -> None:
        self._run = run
        self._name = name
        self._done = False
        self._value: Any = None
        self._error: CelError | None = None

    def value(self, frame: Frame) -> Any:
        """What it is."""
        if not self._done:
            self._done = True
            try:
                self._value = self._run(frame)
            except CostExceeded:
                raise
            except CelError as error:
                self._error = CelError(f'composited variable "{self._name}" fails to evaluate: {error}')
        if self._error is not None:
            raise self._error
        return self._value


def _dotted(node: Node) -> str:
    if node.op == "ident":
        return node.name
    if node.op == "select" and node.target is not None and not node.optional:
        inner = _dotted(node.target)
        return f"{inner}.{node.name}" if inner else ""
    return ""


def _boolean(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    raise CelError("no such overload")


def _type_name(value: Any) -> str:
    kind = kind_of(value)
    named = {"null": "null_type", "timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration",
             "optional": "optional_type"}  # fmt: skip
    return named.get(kind, kind)


def _key_text(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


def _field(frame: Frame, owner: Any, name: str) -> Any:
    frame.pay(1)
    if type(owner) is dict:
        try:
            found = owner[name]
        except KeyError:
            plain = unescape(name)
            if plain not in owner:
                raise CelError(f"no such key: {name}") from None
            found = owner[plain]
        return found.value(frame) if type(found) is Lazy else found
    raise CelError("no such overload")


def _index(frame: Frame, owner: Any, key: Any) -> Any:
    frame.pay(1)
    if type(owner) is dict:
        found = _lookup(owner, key)
        if not found.present:
            raise CelError(f"no such key: {_key_text(key)}")
        return found.value
    if isinstance(owner, list):
        at = _position(key)
        if not 0 <= at < len(owner):
            raise CelError(f"index out of bounds: {at}")
        return owner[at]
    raise CelError("no such overload")


def _position(key: Any) -> int:
    if type(key) is float and key.is_integer():
        return int(key)
    if kind_of(key) in ("int", "uint"):
        return int(key)
    raise CelError(f"unsupported index type '{kind_of(key)}' in list")


def _lookup(owner: dict[Any, Any], key: Any) -> Optional:
    try:
        if key in owner:
            return Optional(True, owner[key])
    except TypeError:
        raise CelError("no such overload") from None
    return NONE


def _maybe(frame: Frame, owner: Any, key: Any) -> Optional:
    """Optional access: absent where the owner or the key is."""
    frame.pay(1)
    if isinstance(owner, Optional):
        if not owner.present:
            return NONE
        owner = owner.value
    if type(owner) is dict:
        found = _lookup(owner, key)
        if not found.present and isinstance(key, str):
            found = _lookup(owner, unescape(key))
        if found.present and type(found.value) is Lazy:
            return Optional(True, found.value.value(frame))
        return found
    if isinstance(owner, list):
        at = _position(key)
        return Optional(True, owner[at]) if 0 <= at < len(owner) else NONE
    raise CelError("no such overload")


_ESCAPES = (("__underscores__", "__"), ("__dot__", "."), ("__dash__", "-"), ("__slash__", "/"))


def unescape(name: str) -> str:
    """The property that an escaped identifier stands for (``__namespace__``, ``a__dot__b``)."""
    if not name.startswith("__") and "__" not in name:
        return name
    if name.startswith("__") and name.endswith("__") and name[2:-2] in RESERVED:
        return name[2:-2]
    for escaped, plain in _ESCAPES:
        name = name.replace(escaped, plain)
    return name


def escape(name: str) -> str | None:
    """How an expression writes a property; None where it cannot."""
    if name in RESERVED:
        return f"__{name}__"
    if not name or name[0].isdigit():
        return None
    out = name.replace("__", "__underscores__")
    out = out.replace(".", "__dot__").replace("-", "__dash__").replace("/", "__slash__")
    return out if out.isidentifier() and out.isascii() else None


RESERVED = frozenset(
    "true false null in as break const continue else for function if import let loop package namespace return "
    "var void while".split()
)


def _contains(frame: Frame, value: Any, owner: Any) -> bool:
    if type(owner) is dict:
        frame.pay(1)
        return _lookup(owner, value).present
    if isinstance(owner, list):
        frame.pay(len(owner) + 1)
        return any(equal(value, item) for item in owner)
    raise CelError("no such overload")


def _dispatch(chosen: list[Overload], runs: list[Run]) -> Run:
    """Evaluate the arguments and call the overload that they fit."""

    def call(frame: Frame) -> Any:
        values = [run(frame) for run in runs]
        for overload in chosen:
            if overload.takes(values):
                frame.pay(1 + sum(map(_size, values)) if overload.costly else 1)
                return overload.run(*values)
        raise CelError("no such overload")

    return call


def _size(value: Any) -> int:
    if isinstance(value, list):
        return len(value) + sum(len(v) // 10 for v in value if type(v) is str)
    return len(value) // 10 if type(value) in (str, dict, bytes) else 0


def _compare_equal(first: Run, second: Run, wanted: bool) -> Run:
    def compare(frame: Frame) -> bool:
        a, b = first(frame), second(frame)
        frame.pay(1 + _weight(a))
        return equal(a, b) is wanted

    return compare


def _weight(value: Any) -> int:
    return len(value) // 10 if type(value) in (str, list, dict, bytes) else 0


def _logical(first: Run, second: Run, stop: bool) -> Run:
    """``&&`` and ``||``: an error on one side does not matter when the other decides."""
    return lambda frame: _decided((partial(run, frame) for run in (first, second)), stop)


def _decided(values: Iterable[Callable[[], Any]], stop: bool) -> bool:
    """``stop`` if any value is; errors count only when none decides, and then the first of them."""
    problem: CelError | None = None
    for value_of in values:
        try:
            value = value_of()
        except CostExceeded:
            raise
        except CelError as error:
            problem = problem or error
            continue
        if value is stop:
            return bool(stop)
        if value is not True and value is not False:
            problem = problem or CelError("no such overload")
    if problem is not None:
        raise problem
    return not stop


def _with(frame: Frame, name: str, value: Any, body: Run) -> Any:
    names = frame.names
    before = names.get(name, _ABSENT)
    names[name] = value
    try:
        return body(frame)
    finally:
        if before is _ABSENT:
            del names[name]
        else:
            names[name] = before


_ABSENT = object()


def _each(frame: Frame, owner: Any) -> list[Any]:
    if isinstance(owner, list):
        return owner
    if type(owner) is dict:
        return list(owner)
    raise CelError("no such overload")


def _quantified(run: Run, name: str, body: Run, stop: bool) -> Run:
    """``all`` and ``exists``: errors count only when no element decides."""

    def values(frame: Frame) -> Iterator[Callable[[], Any]]:
        for item in _each(frame, run(frame)):
            frame.pay(2)
            yield partial(_with, frame, name, item, body)

    return lambda frame: _decided(values(frame), stop)


def _exactly_one(run: Run, name: str, body: Run) -> Run:
    def count(frame: Frame) -> bool:
        found = 0
        for item in _each(frame, run(frame)):
            frame.pay(2)
            found += _boolean(_with(frame, name, item, body))
        return found == 1

    return count


def _mapping(run: Run, name: str, test: Run | None, body: Run | None) -> Run:
    def collect(frame: Frame) -> list[Any]:
        out = []
        for item in _each(frame, run(frame)):
            frame.pay(3)
            if test is not None and not _boolean(_with(frame, name, item, test)):
                continue
            out.append(item if body is None else _with(frame, name, item, body))
        return out

    return collect


def _make_list(frame: Frame, runs: list[tuple[Run, bool]]) -> list[Any]:
    frame.pay(len(runs) + 10)
    out = []
    for run, optional in runs:
        value = run(frame)
        if not optional:
            out.append(value)
        elif isinstance(value, Optional):
            out += [value.value] if value.present else []
        else:
            raise CelError("no such overload")
    return out


def _make_map(frame: Frame, runs: list[tuple[Run, Run, bool]]) -> dict[Any, Any]:
    frame.pay(len(runs) + 30)
    out: dict[Any, Any] = {}
    for key_run, value_run, optional in runs:
        key, value = key_run(frame), value_run(frame)
        if type(key) not in (str, int, bool, Uint):
            raise CelError(f"unsupported key type: {kind_of(key)}")
        if optional:
            if not isinstance(value, Optional):
                raise CelError("no such overload")
            if not value.present:
                continue
            value = value.value
        out[key] = value
    return out
