"""The functions and modules that a program finds."""

from __future__ import annotations

import base64
import json
import math
import re
import statistics
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

from sregym_env.shell.patterns import compiled, count
from sregym_env.shell.python import text
from sregym_env.shell.python.bounds import Budget, Refused
from sregym_env.shell.python.values import Builtin, Found, Kind, Module, Stream, TextFile
from sregym_env.shell.shell import Shell

Call = Callable[[Any, tuple[Any, ...]], Any]
"""How the program's functions are called."""

INDENTED = 8
"""Blanks of indentation at most."""


class Exit(Exception):
    """The program ends."""

    def __init__(self, value: Any = None) -> None:
        super().__init__(value)
        self.value = value


EXCEPTIONS: Mapping[str, type[Exception]] = MappingProxyType(
    {
        **{
            each.__name__: each
            for each in (
                Exception, ArithmeticError, AssertionError, AttributeError, FileNotFoundError, ImportError, IndexError,
                KeyError, LookupError, ModuleNotFoundError, NameError, OSError, RuntimeError, StopIteration, TypeError,
                UnicodeDecodeError, ValueError, ZeroDivisionError,
            )
        },
        "OverflowError": OverflowError, "MemoryError": MemoryError, "RecursionError": RecursionError,
    }
)  # fmt: skip
"""What a program may raise and catch."""


class Library:
    """Everything a program can name, over its machine's files, its input and its output."""

    def __init__(self, shell: Shell, stdin: str, argv: Sequence[str], budget: Budget, call: Call) -> None:
        self._shell = shell
        self._budget = budget
        self._call = call
        self.out: list[str] = []
        self.err: list[str] = []
        self._stdin = TextFile("<stdin>", stdin)
        self._stdout = TextFile("<stdout>", write=self.out.append)
        self._stderr = TextFile("<stderr>", write=self.err.append)
        self._argv = list(argv)

    # --- names --------------------------------------------------------------------------------------

    def names(self) -> dict[str, Any]:
        """The built-in names."""
        kinds: dict[str, tuple[Callable[..., Any], type]] = {
            "bool": (bool, bool), "bytes": (self._bytes, bytes), "dict": (self._dict, dict), "float": (self._float, float),
            "int": (self._int, int), "list": (self._list, list), "set": (self._set, set), "str": (self._str, str),
            "tuple": (self._tuple, tuple), "range": (self._range, range), "frozenset": (self._set, frozenset),
        }  # fmt: skip
        functions: dict[str, Callable[..., Any]] = {
            "print": self._print, "len": self._len, "sum": self._sum, "min": self._least, "max": self._most,
            "sorted": self._sorted, "reversed": self._reversed, "enumerate": self._enumerate, "zip": self._zip,
            "map": self._map, "filter": self._filter, "any": self._any, "all": self._all, "abs": abs, "round": _rounded,
            "repr": self._repr, "ord": ord, "chr": chr, "hex": hex, "bin": bin, "oct": oct, "divmod": divmod,
            "format": self._format, "open": self._open, "isinstance": self._isinstance, "type": self._type,
            "next": self._next, "iter": self._iter, "pow": self._power, "exit": self._exit, "quit": self._exit,
        }  # fmt: skip
        return {
            **{name: Kind(name, call, (type,)) for name, (call, type) in kinds.items()},
            **{name: Builtin(name, call) for name, call in functions.items()},
            **{name: _raised(name, kind) for name, kind in EXCEPTIONS.items()},
            "SystemExit": Kind("SystemExit", Exit, (Exit,)),
            "__name__": "__main__",
        }

    def module(self, name: str) -> Module:
        """A module. Raises Refused for one of the real library that is not known here, ModuleNotFoundError."""
        make = _MODULES.get(name)
        if make is None:
            raise LookupError(name)
        return Module(name, make(self))

    # --- values -------------------------------------------------------------------------------------

    def items(self, value: Any) -> list[Any]:
        """The elements of what can be gone through. Raises TypeError."""
        if isinstance(
            value, (Stream, TextFile, list, tuple, set, frozenset, str, bytes, dict, range)
        ) or _is_view(value):
            found = list(self._budget.each(value))
            self._budget.make(len(found))
            return found
        raise TypeError(f"'{type(value).__name__}' object is not iterable")

    def key(self, value: Any) -> Any:
        """A value that is a key: hashing it comes to an end."""
        if isinstance(value, tuple):
            self._budget.weigh(value)
        return value

    def function(self, value: Any) -> Callable[..., Any] | None:
        """A function of the program as one that sorting calls."""
        return None if value is None else lambda *given: self._call(value, given)

    def _print(
        self, *values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False
    ) -> None:
        parts = [text.shown(self._budget, value) for value in values]
        line = (" " if sep is None else sep).join(parts) + ("\n" if end is None else end)
        self._budget.make(len(line))
        (self._stdout if file is None else file).write(line)

    def _len(self, value: Any) -> int:
        if isinstance(value, (str, bytes, list, tuple, dict, set, frozenset, range)) or _is_view(value):
            return len(value)
        raise TypeError(f"object of type '{type(value).__name__}' has no len()")

    def _sum(self, values: Any, start: Any = 0) -> Any:
        total = start
        if isinstance(start, (list, tuple)):
            raise Refused("sum of lists")
        for value in self.items(values):
            total = self._budget.whole(total + value)
        return total

    def _extreme(
        self, pick: Callable[..., Any], values: tuple[Any, ...], key: Any, default: tuple[Any, ...]
    ) -> Any:
        found = self.items(values[0]) if len(values) == 1 else list(values)
        if not found and default:
            return default[0]
        self._budget.weigh(found)
        return pick(found, key=self.function(key))

    def _least(self, *values: Any, key: Any = None, **default: Any) -> Any:
        return self._extreme(min, values, key, tuple(default.values()))

    def _most(self, *values: Any, key: Any = None, **default: Any) -> Any:
        return self._extreme(max, values, key, tuple(default.values()))

    def _sorted(self, values: Any, key: Any = None, reverse: Any = False) -> list[Any]:
        return self.ordered(self.items(values), key, reverse)

    def ordered(self, found: list[Any], key: Any = None, reverse: Any = False) -> list[Any]:
        """A sorted copy."""
        self._budget.weigh(found)
        for _ in range(len(found).bit_length()):
            self._budget.make(len(found))
        return sorted(found, key=self.function(key), reverse=bool(reverse))

    def _reversed(self, values: Any) -> Stream:
        return Stream(self.items(values)[::-1], "list_reverseiterator")

    def _enumerate(self, values: Any, start: int = 0) -> Stream:
        return Stream(list(enumerate(self.items(values), start)), "enumerate")

    def _zip(self, *values: Any) -> Stream:
        return Stream(list(zip(*(self.items(each) for each in values), strict=False)), "zip")

    def _map(self, function: Any, *values: Any) -> Stream:
        rows = zip(*(self.items(each) for each in values), strict=False)
        return Stream([self._call(function, row) for row in rows], "map")

    def _filter(self, function: Any, values: Any) -> Stream:
        found = self.items(values)
        kept = [each for each in found if (each if function is None else self._call(function, (each,)))]
        return Stream(kept, "filter")

    def _any(self, values: Any) -> bool:
        return any(self.items(values))

    def _all(self, values: Any) -> bool:
        return all(self.items(values))

    def _repr(self, value: Any) -> str:
        return text.quoted(self._budget, value)

    def _format(self, value: Any, spec: str = "") -> str:
        return text.formatted(self._budget, value, spec)

    def _str(self, value: Any = "", encoding: str = "utf-8") -> str:
        if isinstance(value, bytes) and encoding:
            return decoded(value, encoding) if encoding != "utf-8" else repr(value)
        return text.shown(self._budget, value)

    def _bytes(self, value: Any = b"", encoding: str = "utf-8") -> bytes:
        if isinstance(value, str):
            return value.encode(codec(encoding))
        return bytes(self.items(value))

    def _int(self, value: Any = 0, base: int = 10) -> int:
        if isinstance(value, str):
            return int(value, base)
        return int(value)

    def _float(self, value: Any = 0.0) -> float:
        return float(value)

    def _list(self, values: Any = ()) -> list[Any]:
        return self.items(values)

    def _tuple(self, values: Any = ()) -> tuple[Any, ...]:
        return tuple(self.items(values))

    def _set(self, values: Any = ()) -> set[Any]:
        return {self.key(each) for each in self.items(values)}

    def _dict(self, values: Any = (), **named: Any) -> dict[Any, Any]:
        if isinstance(values, dict):
            return {**values, **named}
        return {**{self.key(key): value for key, value in map(self.items, self.items(values))}, **named}

    def _range(self, *bounds: int) -> range:
        return range(*bounds)

    def _power(self, base: Any, exponent: Any) -> Any:
        return self.raised(base, exponent)

    def raised(self, base: Any, exponent: Any) -> Any:
        """``base ** exponent``. Raises MemoryError for too long a number."""
        if isinstance(base, int) and isinstance(exponent, int):
            # One more than the number of its bits, so that 1 ** n and 0 ** n are cheap.
            if exponent > 0 and abs(base) > 1 and base.bit_length() * exponent > 16_384:
                raise MemoryError
        return self._budget.whole(base**exponent)

    def _isinstance(self, value: Any, kinds: Any) -> bool:
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        if not all(isinstance(kind, Kind) for kind in wanted):
            raise TypeError("isinstance() arg 2 must be a type, a tuple of types, or a union")
        return any(isinstance(value, kind.type) for kind in wanted)

    def _type(self, value: Any) -> Kind:
        name = type(value).__name__
        return Kind(name, _no_call, (type(value),), MappingProxyType({"__name__": name}))

    def _next(self, values: Any, *default: Any) -> Any:
        if not isinstance(values, Stream):
            raise TypeError(f"'{type(values).__name__}' object is not an iterator")
        return next(values, *default) if default else next(values)

    def _iter(self, values: Any) -> Stream:
        return Stream(self.items(values), "list_iterator")

    def _exit(self, value: Any = None) -> None:
        raise Exit(value)

    # --- files --------------------------------------------------------------------------------------

    def _open(self, path: Any, mode: str = "r", **how: Any) -> TextFile:
        if not isinstance(path, str) or not isinstance(mode, str):
            raise TypeError("expected str, bytes or os.PathLike object")
        if path in ("/dev/stdin", 0):
            return self._stdin
        place = self._shell.resolve(path)
        files = self._shell.files
        if mode[:1] == "r" and "+" not in mode:
            found = files.text(place)
            if found is None:
                number, said = (
                    (21, "Is a directory")
                    if files.entry(place) is not None
                    else (2, "No such file or directory")
                )
                raise (IsADirectoryError if number == 21 else FileNotFoundError)(number, said, path)
            self._budget.make(len(found))
            return TextFile(path, found, binary="b" in mode)
        if mode not in ("w", "wt", "a", "at"):
            raise Refused(f"open() with the mode {mode!r}")
        written = [files.text(place) or "" if mode[0] == "a" else ""]
        files.put_text(place, written[0])

        def write(more: str) -> None:
            self._budget.make(len(more) + len(written[0]) / 64)
            written[0] += more
            files.put_text(place, written[0])

        return TextFile(path, write=write)

    # --- modules ------------------------------------------------------------------------------------

    def loads(self, document: Any) -> Any:
        """``json.loads``."""
        if not isinstance(document, (str, bytes)):
            raise TypeError(f"the JSON object must be str, bytes or bytearray, not {type(document).__name__}")
        self._budget.make(4 * len(document))
        return json.loads(document)

    def _load(self, file: Any) -> Any:
        if not isinstance(file, TextFile):
            raise AttributeError(f"'{type(file).__name__}' object has no attribute 'read'")
        return self.loads(file.read())

    def _dumps(
        self, value: Any, indent: Any = None, sort_keys: Any = False, ensure_ascii: Any = True, separators: Any = None,
        default: Any = None,
    ) -> str:  # fmt: skip
        if indent is not None:
            indent = min(indent, INDENTED) if isinstance(indent, int) else str(indent)[:INDENTED]
        self._budget.weigh(value)
        instead = self.function(
            default.call if isinstance(default, Kind) and default.name != "str" else default
        )
        found = json.dumps(
            value, indent=indent, sort_keys=bool(sort_keys), ensure_ascii=bool(ensure_ascii), separators=separators,
            default=instead,
        )  # fmt: skip
        self._budget.make(len(found))
        return found

    def _dump(self, value: Any, file: Any, **how: Any) -> None:
        file.write(self._dumps(value, **how))

    def of_json(self) -> dict[str, Any]:
        """``json``."""
        return {
            **_functions(loads=self.loads, load=self._load, dumps=self._dumps, dump=self._dump),
            "JSONDecodeError": _raised("json.JSONDecodeError", json.JSONDecodeError),
            "decoder": Module(
                "json.decoder", {"JSONDecodeError": _raised("json.JSONDecodeError", json.JSONDecodeError)}
            ),
        }

    def of_sys(self) -> dict[str, Any]:
        """``sys``."""
        return {
            "stdin": self._stdin, "stdout": self._stdout, "stderr": self._stderr, "argv": self._argv,
            "version": "3.11.2 (main, Nov 30 2024, 21:22:50) [GCC 12.2.0]", "maxsize": 2**63 - 1,
            "exit": Builtin("exit", self._exit),
        }  # fmt: skip

    def of_os(self) -> dict[str, Any]:
        """``os``: what the environment holds."""
        environment = self._shell.exported
        path = _functions(
            basename=lambda name: name.rpartition("/")[2],
            dirname=lambda name: name.rpartition("/")[0],
            exists=lambda name: self._shell.files.entry(self._shell.resolve(name)) is not None,
            join=lambda *parts: "/".join(parts),
        )
        return {
            "environ": dict(environment),
            "getenv": Builtin("getenv", lambda name, default=None: environment.get(name, default)),
            "path": Module("posixpath", path),
        }

    def of_math(self) -> dict[str, Any]:
        """``math``."""
        names = "sqrt ceil floor log log2 log10 exp fabs isnan isinf trunc sin cos tan hypot".split()
        values = {name: getattr(math, name) for name in ("pi", "e", "inf", "nan")}
        return {**values, **_functions(**{name: getattr(math, name) for name in names})}

    def of_statistics(self) -> dict[str, Any]:
        """``statistics``."""
        names = "mean median stdev pstdev".split()
        return _functions(
            **{name: lambda values, of=getattr(statistics, name): of(self._numbers(values)) for name in names}
        )

    def _numbers(self, values: Any) -> list[float]:
        return [float(each) for each in self.items(values)]

    def of_base64(self) -> dict[str, Any]:
        """``base64``."""
        return _functions(
            b64decode=lambda given: base64.b64decode(self._sized(given)),
            b64encode=lambda given: base64.b64encode(self._sized(given)),
            urlsafe_b64decode=lambda given: base64.urlsafe_b64decode(self._sized(given)),
        )

    def _sized(self, given: Any) -> Any:
        if not isinstance(given, (str, bytes)):
            raise TypeError(f"a bytes-like object is required, not '{type(given).__name__}'")
        self._budget.make(2 * len(given))
        return given

    def of_collections(self) -> dict[str, Any]:
        """``collections``."""
        return {
            "Counter": Kind("collections.Counter", self._counter, (Counter,)),
            "OrderedDict": Kind("collections.OrderedDict", lambda *given: OrderedDict(self._dict(*given)), (OrderedDict,)),
            "defaultdict": Kind("collections.defaultdict", self._defaultdict, (defaultdict,)),
        }  # fmt: skip

    def _counter(self, values: Any = ()) -> Counter[Any]:
        if isinstance(values, dict):
            return Counter(values)
        return Counter([self.key(each) for each in self.items(values)])

    def _defaultdict(self, factory: Any = None) -> defaultdict[Any, Any]:
        return defaultdict(self.function(factory))

    def of_urllib_parse(self) -> dict[str, Any]:
        """``urllib.parse``."""
        return _functions(
            quote=lambda given, safe="/": quote(self._sized(given), safe),
            unquote=lambda given: unquote(self._sized(given)),
        )

    def of_urllib(self) -> dict[str, Any]:
        """``urllib``."""
        return {"parse": Module("urllib.parse", self.of_urllib_parse())}

    def of_time(self) -> dict[str, Any]:
        """``time``."""
        return _functions(time=self._shell.clock)

    def of_datetime(self) -> dict[str, Any]:
        """``datetime``."""
        members = _functions(
            now=lambda zone=None: self._moment(zone),
            utcnow=lambda: self._moment(None),
            fromtimestamp=lambda seconds, tz=None: _at(seconds, tz),
            utcfromtimestamp=lambda seconds: _at(seconds, None),
            fromisoformat=lambda given: datetime.fromisoformat(given),
            strptime=_parsed_time,
        )
        zone = Kind("datetime.timezone", _no_call, (), MappingProxyType({"utc": UTC}))
        day = _functions(today=lambda: self._moment(None).date())
        return {
            "datetime": Kind("datetime.datetime", datetime, (datetime,), MappingProxyType(members)),
            "date": Kind("datetime.date", date, (date,), MappingProxyType(day)),
            "timedelta": Kind("datetime.timedelta", timedelta, (timedelta,)),
            "timezone": zone,
            "UTC": UTC,
        }

    def _moment(self, zone: Any) -> datetime:
        return _at(self._shell.clock(), zone)

    def of_re(self) -> dict[str, Any]:
        """``re``, with a matcher that takes linear time."""
        return {
            **_functions(
                findall=self._findall, search=self._search, match=self._match, sub=self._sub, split=self._split
            ),
            "IGNORECASE": int(re.IGNORECASE), "I": int(re.IGNORECASE), "MULTILINE": int(re.MULTILINE), "M": int(re.MULTILINE),
            "error": Kind("re.error", re.error, (re.error,)),
        }  # fmt: skip

    def _pattern(self, pattern: Any, subject: Any, flags: int) -> Any:
        if not isinstance(pattern, str) or not isinstance(subject, str):
            raise TypeError("expected string or bytes-like object")
        count(pattern)
        self._budget.make(2 * len(subject) + len(pattern))
        return compiled(pattern, flags)

    def _findall(self, pattern: Any, subject: Any, flags: int = 0) -> list[Any]:
        found = []
        for match in self._budget.each(self._pattern(pattern, subject, flags).finditer(subject)):
            groups = tuple("" if group is None else group for group in match.groups())
            found.append(match.group(0) if not groups else groups[0] if len(groups) == 1 else groups)
        return found

    def _search(self, pattern: Any, subject: Any, flags: int = 0) -> Found | None:
        return _found(self._pattern(pattern, subject, flags).search(subject))

    def _match(self, pattern: Any, subject: Any, flags: int = 0) -> Found | None:
        return _found(self._pattern(pattern, subject, flags).match(subject))

    def _sub(self, pattern: Any, replacement: Any, subject: Any, count: int = 0, flags: int = 0) -> str:
        ready = self._pattern(pattern, subject, flags)
        if not isinstance(replacement, str):
            raise Refused("re.sub with a function")
        self._budget.make((len(subject) + 1) * max(len(replacement), 1))
        return str(ready.sub(replacement, subject, count))

    def _split(self, pattern: Any, subject: Any, maxsplit: int = 0) -> list[Any]:
        return list(self._pattern(pattern, subject, 0).split(subject, maxsplit))


def _found(match: Any) -> Found | None:
    if match is None:
        return None
    names = match.groupdict()
    return Found(match.group(0), tuple(match.groups()), MappingProxyType(names), (match.start(), match.end()))


def _functions(**named: Callable[..., Any]) -> dict[str, Any]:
    return {name: Builtin(name, call) for name, call in named.items()}


def _raised(name: str, kind: type[Exception]) -> Kind:
    """A kind of exception, which holds nothing but text and numbers."""

    def made(*given: Any) -> Exception:
        if not all(isinstance(each, (str, int, float)) for each in given):
            raise Refused("an exception that holds a value")
        return kind(*given)

    return Kind(name, made, (kind,))


def _rounded(value: Any, digits: Any = None) -> Any:
    if isinstance(digits, int) and abs(digits) > 400:
        raise MemoryError
    return round(value, digits)


def _no_call(*given: Any) -> Any:
    raise Refused("making such a value")


def _is_view(value: Any) -> bool:
    return type(value).__name__ in ("dict_keys", "dict_values", "dict_items")


def codec(name: Any) -> str:
    """An encoding that is quick. Raises LookupError."""
    known = str(name).lower().replace("_", "-")
    if known not in ("utf-8", "utf8", "ascii", "latin-1", "latin1", "iso-8859-1"):
        raise LookupError(f"unknown encoding: {name}")
    return known


def decoded(value: bytes, encoding: Any = "utf-8", errors: str = "strict") -> str:
    """The text of bytes. Raises UnicodeDecodeError, LookupError."""
    return value.decode(codec(encoding), errors)


def _at(seconds: Any, zone: Any) -> datetime:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment if zone is not None else moment.replace(tzinfo=None)


def _parsed_time(given: Any, form: Any) -> datetime:
    if len(given) > 64 or len(form) > 64:
        raise ValueError(f"time data {given!r} does not match format {form!r}")
    return datetime.strptime(given, form)


_MODULES: Mapping[str, Callable[[Library], dict[str, Any]]] = MappingProxyType(
    {
        "json": Library.of_json, "sys": Library.of_sys, "os": Library.of_os, "math": Library.of_math, "re": Library.of_re,
        "statistics": Library.of_statistics, "base64": Library.of_base64, "collections": Library.of_collections,
        "urllib": Library.of_urllib, "urllib.parse": Library.of_urllib_parse, "time": Library.of_time,
        "datetime": Library.of_datetime,
    }
)  # fmt: skip
"""Modules by name."""

KNOWN = tuple(sorted(_MODULES))
