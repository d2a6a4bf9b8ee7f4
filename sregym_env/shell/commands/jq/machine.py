"""Runs filters: every expression maps a value to a stream of values, and some to a stream of paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

from sregym_env.runtime import effort
from sregym_env.shell.commands.jq.operators import (
    arithmetic,
    compared,
    deleted,
    indexed,
    items,
    placed,
    sliced,
    written,
)
from sregym_env.shell.commands.jq.syntax import JqSyntaxError, Node
from sregym_env.shell.commands.jq.values import Break, JqError, described, text_of, truthy
from sregym_env.shell.limits import TimeExceeded

STEPS = 2_000_000
"""Evaluations that one run may make."""
STEP_EFFORT = 1.2
"""What each of them costs (units of ``runtime/effort.py``)."""

Values = Iterator[Any]
Places = Iterator[tuple[list[Any], Any]]
Scope = dict[str, Any]
Builtin = Callable[["Machine", tuple[Node, ...], Any, Scope], Values]
PathBuiltin = Callable[["Machine", tuple[Node, ...], list[Any], Any, Scope], Places]


def _constant(value: Any, _: Any) -> Any:
    return value


class Closure:
    """A function with the scope it was written in."""

    __slots__ = ("body", "parameters", "scope")

    def __init__(self, parameters: tuple[str, ...], body: Node, scope: Scope) -> None:
        self.parameters = parameters
        self.body = body
        self.scope = scope


class Machine:
    """One run of a filter."""

    def __init__(
        self,
        builtins: dict[str, Builtin],
        path_builtins: dict[str, PathBuiltin],
        inputs: Iterator[Any],
        environment: dict[str, str],
        now: float,
    ) -> None:
        self.inputs = inputs
        self.environment = environment
        self.now = now
        self._builtins = builtins
        self._path_builtins = path_builtins
        self._steps = STEPS
        self._runs = {
            "identity": self._identity,
            "literal": self._literal,
            "field": self._field,
            "slice": self._slice,
            "each": self._each,
            "pipe": self._pipe,
            "comma": self._comma,
            "array": self._array,
            "object": self._object,
            "string": self._string,
            "format": self._format,
            "variable": self._variable,
            "negate": self._negate,
            "binary": self._binary,
            "and": self._and,
            "or": self._or,
            "alternative": self._alternative,
            "if": self._if,
            "try": self._try,
            "bind": self._bind,
            "def": self._def,
            "call": self._call,
            "reduce": self._reduce,
            "foreach": self._foreach,
            "label": self._label,
            "break": self._break,
            "update": self._update,
        }
        self._places = {
            "identity": self._identity_places,
            "field": self._field_places,
            "slice": self._slice_places,
            "each": self._each_places,
            "pipe": self._pipe_places,
            "comma": self._comma_places,
            "if": self._if_places,
            "alternative": self._alternative_places,
            "try": self._try_places,
            "bind": self._bind_places,
            "def": self._def_places,
            "call": self._call_places,
            "reduce": self._reduce_places,
            "foreach": self._foreach_places,
            "label": self._label_places,
            "break": self._break,
            "literal": self._literal_places,
        }

    def run(self, node: Node, value: Any, scope: Scope) -> Values:
        """The results of an expression. Raises JqError, Break or LimitExceeded."""
        results: Values = self._runs[node[0]](node, value, scope)
        return results

    def places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        """The paths, with their values, that an expression leads to."""
        find = self._places.get(node[0])
        if find is None:
            return self._no_places(node, value, scope)
        found: Places = find(node, path, value, scope)
        return found

    def tick(self) -> None:
        """Count a step. Raises LimitExceeded."""
        self._steps -= 1
        if not self._steps & 15:
            effort.spend(16 * STEP_EFFORT)
        if self._steps < 0:
            raise TimeExceeded("jq: too many steps")

    # --- values ---

    def _identity(self, node: Node, value: Any, scope: Scope) -> Values:
        yield value

    def _literal(self, node: Node, value: Any, scope: Scope) -> Values:
        yield node[1]

    def _field(self, node: Node, value: Any, scope: Scope) -> Values:
        source, key = node[1], node[2]
        if key[0] == "literal":
            name = key[1]
            if source[0] == "identity":
                yield indexed(value, name)
                return
            for found in self.run(source, value, scope):
                yield indexed(found, name)
            return
        for found in self.run(source, value, scope):
            for index in self.run(key, value, scope):
                yield indexed(found, index)

    def _bounds(self, node: Node, value: Any, scope: Scope) -> Iterator[tuple[Any, Any]]:
        for stop in self.run(node[3], value, scope) if node[3] else (None,):
            for start in self.run(node[2], value, scope) if node[2] else (None,):
                yield start, stop

    def _slice(self, node: Node, value: Any, scope: Scope) -> Values:
        for found in self.run(node[1], value, scope):
            for start, stop in self._bounds(node, value, scope):
                yield sliced(found, start, stop)

    def _each(self, node: Node, value: Any, scope: Scope) -> Values:
        for found in self.run(node[1], value, scope):
            for _, item in items(found):
                self.tick()
                yield item

    def _pipe(self, node: Node, value: Any, scope: Scope) -> Values:
        left, right = node[1], node[2]
        for middle in self.run(left, value, scope):
            self.tick()
            yield from self.run(right, middle, scope)

    def _comma(self, node: Node, value: Any, scope: Scope) -> Values:
        self.tick()
        yield from self.run(node[1], value, scope)
        yield from self.run(node[2], value, scope)

    def _array(self, node: Node, value: Any, scope: Scope) -> Values:
        yield list(self.run(node[1], value, scope))

    def _object(self, node: Node, value: Any, scope: Scope) -> Values:
        results: list[dict[str, Any]] = [{}]
        for key, inner in node[1]:
            names = list(self.run(key, value, scope))
            contents = list(self.run(inner, value, scope))
            grown: list[dict[str, Any]] = []
            for result, name, content in product(results, names, contents):
                if not isinstance(name, str):
                    raise JqError(f"Object keys must be strings, not {described(name)}")
                grown.append({**result, name: content})
            results = grown
        yield from results

    def _string(self, node: Node, value: Any, scope: Scope) -> Values:
        form = node[2] or "@text"
        texts = [""]
        for part in node[1]:
            found = (
                [part]
                if isinstance(part, str)
                else [written(form, item) for item in self.run(part, value, scope)]
            )
            # As jq combines them: the first of several interpolations varies fastest.
            texts = [before + text for text in found for before in texts]
        yield from texts

    def _format(self, node: Node, value: Any, scope: Scope) -> Values:
        yield written(node[1], value)

    def _variable(self, node: Node, value: Any, scope: Scope) -> Values:
        if node[1] == "$ENV":
            yield self.environment
            return
        try:
            yield scope[node[1]]
        except KeyError:
            raise JqSyntaxError(f"{node[1]} is not defined") from None

    def _negate(self, node: Node, value: Any, scope: Scope) -> Values:
        for found in self.run(node[1], value, scope):
            if isinstance(found, bool) or not isinstance(found, int | float):
                raise JqError(f"{described(found)} cannot be negated")
            yield -found

    def _binary(self, node: Node, value: Any, scope: Scope) -> Values:
        operator = node[1]
        work = compared if operator[0] in "=!<>" else arithmetic
        # Of several results on both sides, jq lets the left ones vary fastest: (1,2) + (10,20) is 11, 12, 21,
        # 22.
        for right in self.run(node[3], value, scope):
            for left in self.run(node[2], value, scope):
                yield work(operator, left, right)

    def _and(self, node: Node, value: Any, scope: Scope) -> Values:
        for left in self.run(node[1], value, scope):
            if not truthy(left):
                yield False
                continue
            for right in self.run(node[2], value, scope):
                yield truthy(right)

    def _or(self, node: Node, value: Any, scope: Scope) -> Values:
        for left in self.run(node[1], value, scope):
            if truthy(left):
                yield True
                continue
            for right in self.run(node[2], value, scope):
                yield truthy(right)

    def _alternative(self, node: Node, value: Any, scope: Scope) -> Values:
        found = False
        try:
            for left in self.run(node[1], value, scope):
                if truthy(left):
                    found = True
                    yield left
        except JqError:
            pass
        if not found:
            yield from self.run(node[2], value, scope)

    def _if(self, node: Node, value: Any, scope: Scope) -> Values:
        for condition in self.run(node[1], value, scope):
            yield from self.run(node[2] if truthy(condition) else node[3], value, scope)

    def _try(self, node: Node, value: Any, scope: Scope) -> Values:
        try:
            yield from self.run(node[1], value, scope)
        except JqError as error:
            if node[2] is None or error.value == {"__jq": 0}:
                return
            caught = error.value
        else:
            return
        yield from self.run(node[2], caught, scope)

    def _bind(self, node: Node, value: Any, scope: Scope) -> Values:
        for source in self.run(node[1], value, scope):
            for bound in self._scopes(node[2], source, scope):
                yield from self.run(node[3], value, bound)

    def _scopes(self, patterns: tuple[Node, ...], source: Any, scope: Scope) -> Iterator[Scope]:
        for index, pattern in enumerate(patterns):
            try:
                found = list(self._matched(pattern, source, scope))
            except JqError:
                if index + 1 == len(patterns):
                    raise
                continue
            yield from found
            return

    def _matched(self, pattern: Node, source: Any, scope: Scope) -> Iterator[Scope]:
        """The scopes in which a pattern's variables hold the parts of a value."""
        if pattern[0] == "variable":
            yield {**scope, pattern[1]: source}
            return
        scopes = [scope]
        if pattern[0] == "array":
            for index, part in enumerate(pattern[1]):
                scopes = [new for old in scopes for new in self._matched(part, indexed(source, index), old)]
        else:
            for key, bound, inner in pattern[1]:
                grown: list[Scope] = []
                for old in scopes:
                    for name in self.run(key, source, old):
                        content = indexed(source, name)
                        held = {**old, bound: content} if bound else old
                        grown += self._matched(inner, content, held) if inner else [held]
                scopes = grown
        yield from scopes

    def _defined(self, node: Node, scope: Scope) -> Scope:
        inner = dict(scope)
        inner[f"{node[1]}/{len(node[2])}"] = Closure(node[2], node[3], inner)
        return inner

    def _def(self, node: Node, value: Any, scope: Scope) -> Values:
        return self.run(node[4], value, self._defined(node, scope))

    def _called(
        self, closure: Closure, arguments: tuple[Node, ...], value: Any, scope: Scope
    ) -> Iterator[Scope]:
        """The scopes for a function's body: parameters are filters, ``$parameters`` take each value."""
        scopes = [dict(closure.scope)]
        for parameter, argument in zip(closure.parameters, arguments, strict=True):
            if not parameter.startswith("$"):
                for each in scopes:
                    each[f"{parameter}/0"] = Closure((), argument, scope)
                continue
            grown = []
            for each in scopes:
                for given in self.run(argument, value, scope):
                    body = ("literal", given)
                    grown.append({**each, parameter: given, f"{parameter[1:]}/0": Closure((), body, {})})
            scopes = grown
        yield from scopes

    def _call(self, node: Node, value: Any, scope: Scope) -> Values:
        self.tick()
        name, arguments = node[1], node[2]
        key = f"{name}/{len(arguments)}"
        closure = scope.get(key)
        if closure is not None:
            if not closure.parameters:
                return self.run(closure.body, value, closure.scope)
            return self._call_closure(closure, arguments, value, scope)
        builtin = self._builtins.get(key)
        if builtin is None:
            raise JqSyntaxError(f"{key} is not defined")
        return builtin(self, arguments, value, scope)

    def _call_closure(
        self, closure: Closure, arguments: tuple[Node, ...], value: Any, scope: Scope
    ) -> Values:
        for inner in self._called(closure, arguments, value, scope):
            yield from self.run(closure.body, value, inner)

    def _reduce(self, node: Node, value: Any, scope: Scope) -> Values:
        for state in self.run(node[3], value, scope):
            for source in self.run(node[1], value, scope):
                self.tick()
                for bound in self._scopes(node[2], source, scope):
                    last = None
                    for last in self.run(node[4], state, bound):  # noqa: B007 (the last result counts)
                        pass
                    state = last
            yield state

    def _foreach(self, node: Node, value: Any, scope: Scope) -> Values:
        for start in self.run(node[3], value, scope):
            state = start
            for source in self.run(node[1], value, scope):
                self.tick()
                for bound in self._scopes(node[2], source, scope):
                    for new in self.run(node[4], state, bound):
                        state = new
                        yield from self.run(node[5], new, bound)

    def _label(self, node: Node, value: Any, scope: Scope) -> Values:
        mark = object()
        try:
            yield from self.run(node[2], value, {**scope, f"label{node[1]}": mark})
        except Break as error:
            if error.label is not mark:
                raise

    def _break(self, node: Node, *rest: Any) -> Any:
        scope = rest[-1]
        mark = scope.get(f"label{node[1]}")
        if mark is None:
            raise JqSyntaxError(f"$*label-{node[1][1:]} is not defined")
        raise Break(mark)

    def _update(self, node: Node, value: Any, scope: Scope) -> Values:
        operator, left, right = node[1], node[2], node[3]
        if operator == "|=":
            yield self.modified(left, value, scope, lambda old: self.run(right, old, scope))
            return
        for given in self.run(right, value, scope):
            result = value
            for path, old in list(self.places(left, [], value, scope)):
                new = given
                if operator == "//=":
                    new = old if truthy(old) else given
                elif operator != "=":
                    new = arithmetic(operator[:-1], old, given)
                result = placed(result, path, 0, partial(_constant, new))
            yield result

    def modified(self, node: Node, value: Any, scope: Scope, change: Callable[[Any], Values]) -> Any:
        """The value with each place that ``node`` leads to replaced by the first result of ``change``."""
        gone: list[list[Any]] = []
        result = value
        for path, _ in list(self.places(node, [], value, scope)):
            self.tick()
            missing = object()
            found: list[Any] = []

            def first(old: Any, found: list[Any] = found, missing: Any = missing) -> Any:
                new = next(change(old), missing)
                found.append(new)
                return old if new is missing else new

            result = placed(result, path, 0, first)
            if found and found[0] is missing:
                gone.append(path)
        return deleted(result, gone) if gone else result

    # --- paths ---

    def _no_places(self, node: Node, value: Any, scope: Scope) -> Places:
        found = next(self.run(node, value, scope), None)
        raise JqError(f"Invalid path expression with result {described(found).partition(' ')[2][1:-1]}")
        yield

    def _literal_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        if node[1] is not None:
            raise JqError(f"Invalid path expression with result {text_of(node[1])}")
        yield path, None

    def _identity_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        yield path, value

    def _field_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        for before, found in self.places(node[1], path, value, scope):
            for key in self.run(node[2], value, scope):
                yield [*before, key], indexed(found, key)

    def _slice_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        for before, found in self.places(node[1], path, value, scope):
            for start, stop in self._bounds(node, value, scope):
                yield [*before, {"start": start, "end": stop}], sliced(found, start, stop)

    def _each_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        for before, found in self.places(node[1], path, value, scope):
            for key, item in items(found):
                self.tick()
                yield [*before, key], item

    def _pipe_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        for before, found in self.places(node[1], path, value, scope):
            yield from self.places(node[2], before, found, scope)

    def _comma_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        yield from self.places(node[1], path, value, scope)
        yield from self.places(node[2], path, value, scope)

    def _if_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        for condition in self.run(node[1], value, scope):
            yield from self.places(node[2] if truthy(condition) else node[3], path, value, scope)

    def _alternative_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        found = False
        try:
            for place in self.places(node[1], path, value, scope):
                if truthy(place[1]):
                    found = True
                    yield place
        except JqError:
            pass
        if not found:
            yield from self.places(node[2], path, value, scope)

    def _try_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        try:
            yield from self.places(node[1], path, value, scope)
        except JqError as error:
            if node[2] is None:
                return
            caught = error.value
        else:
            return
        yield from self.places(node[2], path, caught, scope)

    def _bind_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        for source in self.run(node[1], value, scope):
            for bound in self._scopes(node[2], source, scope):
                yield from self.places(node[3], path, value, bound)

    def _def_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        return self.places(node[4], path, value, self._defined(node, scope))

    def _call_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        self.tick()
        key = f"{node[1]}/{len(node[2])}"
        closure = scope.get(key)
        if closure is not None:
            for inner in self._called(closure, node[2], value, scope):
                yield from self.places(closure.body, path, value, inner)
            return
        builtin = self._path_builtins.get(key)
        if builtin is None:
            yield from self._no_places(node, value, scope)
            return
        yield from builtin(self, node[2], path, value, scope)

    def _reduce_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        for start in self.places(node[3], path, value, scope):
            state = start
            for source in self.run(node[1], value, scope):
                for bound in self._scopes(node[2], source, scope):
                    for state in list(self.places(node[4], *state, bound))[-1:]:  # noqa: B007, B020
                        pass
            yield state

    def _foreach_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        for start in self.places(node[3], path, value, scope):
            state = start
            for source in self.run(node[1], value, scope):
                for bound in self._scopes(node[2], source, scope):
                    for new in self.places(node[4], *state, bound):
                        state = new
                        yield from self.places(node[5], *new, bound)

    def _label_places(self, node: Node, path: list[Any], value: Any, scope: Scope) -> Places:
        mark = object()
        try:
            yield from self.places(node[2], path, value, {**scope, f"label{node[1]}": mark})
        except Break as error:
            if error.label is not mark:
                raise
