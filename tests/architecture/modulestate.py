"""Finding what modules and classes keep: a reading of the source, and a look at the living modules."""

from __future__ import annotations

import _collections
import ast
import dataclasses
import enum
import functools
import importlib
import pkgutil
import re
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import sregym_env

ROOT = Path(sregym_env.__file__).parent

MUTATORS = frozenset(
    "append add update setdefault pop popitem clear extend insert remove discard move_to_end sort reverse "
    "appendleft popleft extendleft rotate subtract difference_update intersection_update "
    "symmetric_difference_update __setitem__ __delitem__".split()
)
"""Methods that change what they are called on."""


@dataclass(frozen=True, order=True)
class Change:
    """A place in a function that changes what a module or a class holds."""

    module: str
    """Below ``sregym_env``, such as ``sim.deploy``."""
    name: str
    """The module-level name that is changed, or ``Class.attribute``."""
    line: int

    @property
    def key(self) -> str:
        """What an allow-list names."""
        return key(self.module, self.name)


def key(module: str, name: str) -> str:
    """``deploy._settled``: a held name, wherever its module stands."""
    return f"{module.rpartition('.')[2]}.{name}"


def changes() -> Iterator[Change]:
    """Every such place in the package."""
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        yield from _Reader(module, ast.parse(path.read_text())).found()


def changes_of(source: str) -> list[str]:
    """The names that the functions of a module's source change, once for every place."""
    return [change.name for change in _Reader("m", ast.parse(source)).found()]


_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class _Reader:
    """Reads one module; knows which names are local where."""

    def __init__(self, module: str, tree: ast.Module) -> None:
        self._module = module
        self._tree = tree
        self._changes: list[Change] = []
        self._modules = _imported_modules(tree)

    def found(self) -> list[Change]:
        """The changes, in order."""
        self._walk(self._tree, None, None)
        return self._changes

    def _walk(self, node: ast.AST, local: frozenset[str] | None, owner: ast.ClassDef | None) -> None:
        """``local`` are the names bound in the functions around, None outside of any."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Function):
                self._walk(child, (local or frozenset()) | _bound(child), owner)
            elif isinstance(child, ast.ClassDef):
                self._walk(child, local, child)
            else:
                if local is not None:
                    self._look(child, local, owner)
                self._walk(child, local, owner)

    def _look(self, node: ast.AST, local: frozenset[str], owner: ast.ClassDef | None) -> None:
        if isinstance(node, ast.Global):
            for name in node.names:
                self._note(name, node)
        for target in _targets(node):
            if not (
                isinstance(target, ast.Name) and target.id in self._modules
            ):  # a function called ``update``
                self._judge(target, local, owner)

    def _judge(self, target: ast.expr, local: frozenset[str], owner: ast.ClassDef | None) -> None:
        """Whether what is changed lies outside of every function."""
        steps = []
        at = target
        while isinstance(at, ast.Attribute | ast.Subscript):
            steps.append(at.attr if isinstance(at, ast.Attribute) else "[]")
            at = at.value
        steps.reverse()
        place = f"{owner.name if owner else '?'}.{steps[0] if steps else '*'}"
        if isinstance(at, ast.Call) and isinstance(at.func, ast.Name) and at.func.id == "type":
            self._note(place, target)
        elif not isinstance(at, ast.Name):
            return
        elif at.id == "cls":
            self._note(place, target)
        elif at.id == "self":
            # A container in the body of a class that is changed through an instance is shared by all of them.
            if owner and steps and steps[0] in _containers_of(owner) and steps[0] not in _own_fields(owner):
                self._note(place, target)
        elif at.id not in local:
            self._note(at.id, target)

    def _note(self, name: str, node: ast.expr | ast.stmt) -> None:
        self._changes.append(Change(self._module, name, node.lineno))


def _imported_modules(tree: ast.Module) -> set[str]:
    """Names of the package's own modules that a module imports as such."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == ROOT.name
        for alias in node.names
        if _is_module(f"{node.module}.{alias.name}")
    }


def _is_module(name: str) -> bool:
    path = ROOT.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a node changes in place: ``x`` of ``x[1] = 2``, ``x.y`` of ``x.y.append(1)``."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign | ast.Delete):
        targets = list(node.targets)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For | ast.AsyncFor):
        targets = [node.target]
    elif isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in MUTATORS:
            yield function.value
        elif isinstance(function, ast.Name) and function.id in ("setattr", "delattr") and node.args:
            yield ast.Attribute(node.args[0], "*", lineno=node.lineno)
        return
    while targets:
        target = targets.pop()
        if isinstance(target, ast.Tuple | ast.List):
            targets.extend(target.elts)
        elif isinstance(target, ast.Starred):
            targets.append(target.value)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            yield target


def _bound(function: _Function) -> frozenset[str]:
    """Names that a function binds itself."""
    arguments = function.args
    every = (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    )
    names = {argument.arg for argument in every if argument is not None} - {"self", "cls"}
    body = function.body if isinstance(function.body, list) else [function.body]
    elsewhere: set[str] = set()
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.Global):
            elsewhere.update(node.names)
        pending.extend(ast.iter_child_nodes(node))
    return frozenset(names - elsewhere)


@functools.cache
def _containers_of(owner: ast.ClassDef) -> set[str]:
    """Names in the body of a class that hold a dict, a list or a set."""
    found = set()
    for node in owner.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp) or (
            isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] in _MAKERS
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
            found.update(target.id for target in targets if isinstance(target, ast.Name))
    return found


_MAKERS = ("dict", "list", "set", "OrderedDict", "defaultdict", "deque", "Counter", "bytearray", "count")


@functools.cache
def _own_fields(owner: ast.ClassDef) -> set[str]:
    """Attributes that methods of a class give to each instance."""
    return {
        target.attr
        for node in ast.walk(owner)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    }


# --- the living modules ---------------------------------------------------------------------------


FOREIGN = ("sregym_env.adapters.openenv", "sregym_env.adapters.inspect_ai", "sregym_env.adapters.verifiers")
"""Modules of frameworks that are not installed here."""


def modules() -> list[ModuleType]:
    """Every module of the package, imported."""
    names = (found.name for found in pkgutil.walk_packages(sregym_env.__path__, "sregym_env."))
    return [
        importlib.import_module(name)
        for name in names
        if not name.endswith("__main__") and name not in FOREIGN
    ]


def held() -> Iterator[tuple[str, str, Any]]:
    """(module, name or ``Class.attribute``, value) of everything that modules and their classes hold."""
    for module in modules():
        short = module.__name__.removeprefix("sregym_env.")
        for name, value in vars(module).items():
            if name.startswith("__"):
                continue
            if isinstance(value, type) and value.__module__ == module.__name__:
                for attribute, kept in list(vars(value).items()):
                    if not attribute.startswith("__"):
                        yield short, f"{name}.{attribute}", kept
            elif not isinstance(value, ModuleType):
                yield short, name, value


_CODE: tuple[type, ...] = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType,
    types.WrapperDescriptorType, types.MemberDescriptorType, types.GetSetDescriptorType, type, property,
    classmethod, staticmethod, functools.cached_property, functools.partial, functools._lru_cache_wrapper,
    functools.partialmethod, functools.singledispatchmethod, type(tuple.__getitem__), _collections._tuplegetter,
)  # fmt: skip
_PLAIN = (
    str,
    bytes,
    int,
    float,
    complex,
    type(None),
    range,
    re.Pattern,
    enum.Enum,
    frozenset,
    types.MappingProxyType,
)
CONTAINERS = (dict, list, set, bytearray)
"""Containers that are judged by whether anything changes them."""


def is_value(value: Any) -> bool:
    """Whether nothing about a held value can change, judged by its type; containers aside."""
    kind = type(value)
    if (
        kind is object
        or isinstance(value, (*_CODE, *_PLAIN))
        or kind.__module__ in ("typing", "types", "_abc", "__future__")
    ):
        return True
    if kind.__module__ in (
        "datetime",
        "ipaddress",
        "collections.abc",
        "_struct",
        "operator",
        "logging",
        "json.decoder",
        "pathlib",
    ):
        return True
    if isinstance(value, tuple):
        return all(is_value(item) or isinstance(item, CONTAINERS) for item in value)
    return is_frozen(kind)


def is_frozen(kind: type) -> bool:
    """Whether a class is a frozen dataclass or pydantic model."""
    if dataclasses.is_dataclass(kind):
        return bool(kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]
    return bool(getattr(kind, "model_config", {}).get("frozen"))


def caches() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(module, name, types of arguments and result) of every function whose results are kept."""
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, functools._lru_cache_wrapper) and value.__module__ == module.__name__:
                short = module.__name__.removeprefix("sregym_env.")
                try:
                    hints = typing.get_type_hints(value.__wrapped__)
                except NameError:  # a type that is imported for the type checker only
                    hints = dict(value.__wrapped__.__annotations__)
                yield short, name, hints


def plain_type(hint: Any) -> bool:
    """Whether every value of a type is immutable and compared by content."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (tuple, frozenset, typing.Union, types.UnionType):
        return all(argument is Ellipsis or plain_type(argument) for argument in arguments)
    if origin is typing.Literal or origin is re.Pattern:
        return True
    if not isinstance(hint, type):
        return hint is None
    if issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return all(plain_type(each) for each in typing.get_type_hints(hint).values())
    return issubclass(hint, (str, bytes, int, float, bool, type(None), re.Pattern)) or is_frozen(hint)
