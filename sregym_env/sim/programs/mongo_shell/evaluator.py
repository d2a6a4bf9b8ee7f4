"""Gives expressions their meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import orjson

from sregym_env.kube.durations import rfc3339
from sregym_env.runtime.effort import spend
from sregym_env.runtime.streams import keyed_bits
from sregym_env.sim.programs import javascript as js
from sregym_env.sim.programs.mongo_shell.collection import CollectionMethods
from sregym_env.sim.programs.mongo_shell.database import DatabaseMethods
from sregym_env.sim.programs.mongo_shell.documents import replica_set_status
from sregym_env.sim.programs.mongo_shell.queries import ranked
from sregym_env.sim.programs.mongo_shell.session import NOTHING, Quit, Session, ShellError
from sregym_env.sim.programs.mongo_shell.values import (
    Admin,
    Collection,
    Cursor,
    Database,
    Method,
    Raw,
    echo,
    plain,
    tojson,
)


class Evaluator:
    """Evaluates syntax trees against a session."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def value(self, node: Any) -> Any:
        """The value of a syntax tree."""
        match node:
            case js.Assign():
                result = self.value(node.value)
                if node.name == "db" and isinstance(result, Database):
                    self.session.database = result.name
                else:
                    self.session.variables[node.name] = result
                return result
            case js.Name():
                return self.name(node.name)
            case js.Member():
                key = node.name if isinstance(node.name, str) else self.value(node.name)
                return self.member(self.value(node.target), key)
            case js.Invoke():
                return self.invoke(node)
            case js.Sum():
                left, right = self.value(node.left), self.value(node.right)
                if isinstance(left, (int, float)) and isinstance(right, (int, float)):
                    return left + right
                return _bounded(_concatenated(left) + _concatenated(right))
            case dict():
                return _bounded({key: self.value(item) for key, item in node.items()})
            case list():
                return _bounded([self.value(item) for item in node])
        return node

    def name(self, name: str) -> Any:
        """A global or variable. Raises ShellError where there is none."""
        if name == "db":
            return Database(self.session.database)
        if name in self.session.variables:
            return self.session.variables[name]
        if name in ("rs", "sh", "JSON", "Object"):
            return Admin(name)
        if name in _FUNCTIONS:
            return Method(None, name)
        raise ShellError(f"ReferenceError: {name} is not defined :")

    def member(self, target: Any, name: Any) -> Any:
        """A property or method of a value."""
        if isinstance(target, Database):
            return Method(target, str(name))
        if isinstance(target, Collection):
            return Method(target, str(name))
        if isinstance(target, Mapping) and name in target:
            return target[name]
        if isinstance(target, (list, tuple)) and isinstance(name, int):
            return target[name] if 0 <= name < len(target) else None
        if isinstance(target, (list, tuple, str)) and name == "length":
            return len(target)
        if target is None:
            raise ShellError("TypeError: can't access property of undefined :")
        if isinstance(target, Method):
            return Method(_collection(target), str(name))
        return Method(target, str(name)) if not isinstance(target, Mapping) else None

    def invoke(self, node: js.Invoke) -> Any:
        """A call."""
        target = self.value(node.target)
        arguments = [a if isinstance(a, js.Function) else self.value(a) for a in node.arguments]
        arguments = [
            _collection(a) if isinstance(a, Method) and a.target is not None else a for a in arguments
        ]
        if not isinstance(target, Method):
            raise ShellError("TypeError: value is not a function :")
        owner = target.target
        if owner is None:
            return self.function(target.name, arguments)
        if isinstance(owner, Database):
            return DatabaseMethods(self.session, owner.name).call(target.name, arguments)
        if isinstance(owner, Collection):
            return CollectionMethods(self.session, owner).call(target.name, arguments)
        if isinstance(owner, Cursor):
            return self.cursor(owner, target.name, arguments)
        if isinstance(owner, Admin):
            return self.admin(owner.name, target.name, arguments)
        if isinstance(owner, (list, tuple)):
            return self.cursor(Cursor(tuple(owner)), target.name, arguments)
        raise ShellError(f"TypeError: {target.name} is not a function :")

    def function(self, name: str, arguments: list[Any]) -> Any:
        """A global function."""
        first = arguments[0] if arguments else None
        if name in ("print", "printjson", "printjsononeline"):
            one_line = name != "printjson"
            text = " ".join(a if isinstance(a, str) else echo(a, one_line=one_line) for a in arguments)
            self.session.out.append(text + "\n")
            return NOTHING
        if name in ("quit", "exit"):
            raise Quit
        if name == "sleep":
            return None
        if name in ("tojson", "tojsononeline"):
            return tojson(first, one_line=name == "tojsononeline")
        if name in ("ObjectId", "UUID"):
            return Raw(f'{name}("{first or f"{keyed_bits(self.session.server.now(), name):024x}"[:24]}")')
        if name in ("NumberInt", "NumberLong", "NumberDecimal", "Number"):
            text = str(first)
            return int(float(text)) if re.fullmatch(r"-?\d{1,18}(\.\d*)?", text) else 0
        if name in ("Date", "ISODate"):
            return Raw(f'ISODate("{first or rfc3339(self.session.server.now())}")')
        if name == "connect":
            return Database(str(first).rpartition("/")[2])
        raise ShellError(f"ReferenceError: {name} is not defined :")

    def admin(self, owner: str, name: str, arguments: list[Any]) -> Any:
        """Methods of ``rs``, ``JSON`` and ``Object``."""
        if owner == "JSON" and name == "stringify":
            return orjson.dumps(plain(arguments[0] if arguments else None)).decode()
        if owner == "Object" and name == "keys":
            return list(arguments[0]) if arguments and isinstance(arguments[0], Mapping) else []
        if owner == "rs":
            return replica_set_status(self.session)
        raise ShellError(f"TypeError: {owner}.{name} is not a function :")

    def cursor(self, cursor: Cursor, name: str, arguments: list[Any]) -> Any:
        """Methods of cursors and arrays."""
        documents = cursor.documents
        first = arguments[0] if arguments else None
        match name:
            case "limit":
                return replace(cursor, documents=documents[: abs(int(first or 0))] if first else documents)
            case "skip":
                return replace(cursor, documents=documents[int(first or 0) :])
            case "sort":
                ordered = list(documents)
                for key, direction in reversed(list((first or {}).items())):
                    ordered.sort(key=partial(ranked, key), reverse=direction == -1)
                return replace(cursor, documents=tuple(ordered))
            case "pretty":
                return replace(cursor, is_pretty=True)
            case "count" | "itcount" | "size":
                return len(documents)
            case "toArray":
                return list(documents)
            case "hasNext":
                return bool(documents)
            case "next":
                return documents[0] if documents else None
            case "explain":
                return {
                    "queryPlanner": {"winningPlan": {"stage": "COLLSCAN", "direction": "forward"}},
                    "ok": 1,
                }
            case "forEach" | "map":
                results = [self.apply(first, document) for document in documents]
                return NOTHING if name == "forEach" else results
        raise ShellError(f"TypeError: {name} is not a function :")

    def apply(self, function: Any, argument: Any) -> Any:
        """Call a function value with one argument."""
        if isinstance(function, js.Function):
            self.session.variables[function.parameter] = argument
            return self.value(function.body)
        if isinstance(function, Method) and function.target is None:
            return self.function(function.name, [argument])
        raise ShellError("TypeError: argument is not a function :")


MOST_VALUES = 100_000
MOST_TEXT = 8 * 1024 * 1024
"""Values, and characters, that one value may hold. What holds itself twice, forty times over, would be without end."""


def _bounded(value: Any) -> Any:
    """The value, if it is not too large. Raises ShellError."""
    waiting, values, text = [value], 0, 0
    while waiting:
        present = waiting.pop()
        values += 1
        if isinstance(present, str):
            text += len(present)
        elif isinstance(present, dict):
            waiting.extend(present.values())
        elif isinstance(present, list):
            waiting.extend(present)
        if values + len(waiting) > MOST_VALUES or text > MOST_TEXT:
            raise ShellError("InternalError: allocation size overflow :")
    spend(0.05 * values + 0.0005 * text)
    return value


def _concatenated(value: Any) -> str:
    return value if isinstance(value, str) else tojson(value, one_line=True)


def _collection(method: Method) -> Any:
    """A method of a database that was not called is a collection's name."""
    if isinstance(method.target, Database):
        return Collection(method.target.name, method.name)
    if isinstance(method.target, Collection):
        return Collection(method.target.database, f"{method.target.name}.{method.name}")
    return method


_FUNCTIONS = frozenset(
    "print printjson printjsononeline quit exit sleep tojson tojsononeline ObjectId UUID NumberInt NumberLong "
    "NumberDecimal Number Date ISODate connect".split()
)
