"""The ``stream`` part of an nginx configuration: which ports are passed on, and where to.

nginx looks up every name in it once, when it reads its configuration: one that does not resolve keeps it from starting,
and what it has found it uses for as long as it runs. Only names in variables, and servers that say ``resolve``, are
looked up with each connection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import count, pairwise
from posixpath import dirname, join

from sregym_env.runtime.numbers import whole
from sregym_env.sim.network import dns
from sregym_env.sim.processes.context import ProcessContext

CONFIG = "/etc/nginx/nginx.conf"

MOST = 20_000
"""Directives of a configuration with all that it includes."""
DEEPEST = 50
"""Blocks within each other in which nginx knows some directive; it is some ten."""

Address = tuple[str, int]


class ConfigError(Exception):
    """A configuration that nginx does not take, in its words."""


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive, and what stands in its braces."""

    words: tuple[str, ...]
    place: str
    """``file:line``."""
    inner: tuple[Directive, ...] | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.words[0]


def path_of(argv: Sequence[str]) -> str:
    """The file that a command line names; empty where it names none."""
    return next((after for word, after in pairwise(argv) if word == "-c"), "")


@lru_cache(maxsize=256)
def directives(text: str, path: str = CONFIG) -> tuple[Directive, ...]:
    """What one file says. Raises ConfigError."""
    tokens = list(_tokens(text))
    found, rest = _block(tokens, 0, path, 0)
    assert rest == len(tokens)
    return found


def _tokens(text: str) -> Iterator[tuple[str, int, bool]]:
    """(word, line, whether it is punctuation)."""
    word, quote, line, comment = "", "", 1, False
    for sign in text:
        if quote:
            if sign == quote:
                quote = ""
                yield word, line, False
                word = ""
            else:
                word += sign
        elif sign in "\"'" and not word and not comment:
            quote = sign
        elif comment or (sign == "#" and not word):
            comment = sign != "\n"
        elif sign.isspace() or sign in "{};":
            if word:
                yield word, line, False
                word = ""
            if not sign.isspace():
                yield sign, line, True
        else:
            word += sign
        line += sign == "\n"
    if word:
        yield word, line, False


def _block(
    tokens: Sequence[tuple[str, int, bool]], at: int, path: str, level: int
) -> tuple[tuple[Directive, ...], int]:
    found: list[Directive] = []
    words: list[str] = []
    last = tokens[-1][1] if tokens else 1
    while at < len(tokens):
        word, line, sign = tokens[at]
        at += 1
        if not sign:
            words.append(word)
            continue
        if (word == "}" and (words or not level)) or (word != "}" and not words):
            raise ConfigError(f'unexpected "{word}" in {path}:{line}')
        if word == "}":
            return tuple(found), at
        made = Directive(tuple(words), f"{path}:{line}")
        words = []
        if word == "{":
            if level == DEEPEST:
                raise ConfigError(f'unknown directive "{made.name}" in {path}:{line}')
            inner, at = _block(tokens, at, path, level + 1)
            made = replace(made, inner=inner)
        found.append(made)
    if words or level:
        expected = '";" or "}"' if words else '"}"'
        raise ConfigError(f"unexpected end of file, expecting {expected} in {path}:{last}")
    return tuple(found), at


def hosts(text: str) -> set[str]:
    """Names of servers that a piece of configuration has looked up when nginx starts; upstreams have no port where they are
    named. Raises ConfigError."""
    found: set[str] = set()
    waiting = [*directives(text)]
    while waiting:
        each = waiting.pop()
        waiting += each.inner or ()
        if each.inner is None and each.name in ("server", "proxy_pass") and _at_start(each):
            found.add(each.words[1].rpartition(":")[0])
    return found


def _at_start(directive: Directive) -> bool:
    return (
        ":" in "".join(directive.words[1:2])
        and "$" not in directive.words[1]
        and "resolve" not in directive.words[2:]
    )


def read(ctx: ProcessContext, path: str) -> tuple[Directive, ...]:
    """A configuration with all that it includes. Raises ConfigError."""
    try:
        text = ctx.read(path)
    except OSError:
        raise ConfigError(f'open() "{path}" failed (2: No such file or directory)') from None
    return tuple(_included(ctx, directives(text, path), path, (path,), count(1)))


def files(ctx: ProcessContext, path: str) -> Iterator[tuple[str, str]]:
    """The files of a configuration that can be read, and what each says, as ``nginx -T`` shows them."""
    seen = dict.fromkeys([path])
    for each in _places(read(ctx, path)):
        seen.setdefault(each.rpartition(":")[0])
    for name in seen:
        yield name, ctx.read(name)


def _places(found: Sequence[Directive]) -> Iterator[str]:
    for each in found:
        yield each.place
        yield from _places(each.inner or ())


def _included(
    ctx: ProcessContext, found: Sequence[Directive], path: str, above: tuple[str, ...], number: Iterator[int]
) -> Iterator[Directive]:
    for each in found:
        # Files that include others twice, and so on, come to more than any memory holds.
        if next(number) > MOST:
            raise ConfigError(f"malloc(16384) failed (12: Cannot allocate memory) in {each.place}")
        if each.inner is not None:
            yield replace(each, inner=tuple(_included(ctx, each.inner, path, above, number)))
        elif each.name == "include" and len(each.words) == 2 and _read_here(each.words[1]):
            for name in _named(ctx, join(dirname(above[0]), each.words[1])):
                if name in above:
                    raise ConfigError(f'too many open files: "{name}" includes itself in {each.place}')
                try:
                    text = ctx.read(name)
                except OSError:
                    raise ConfigError(
                        f'open() "{name}" failed (2: No such file or directory) in {each.place}'
                    ) from None
                yield from _included(ctx, directives(text, name), name, (*above, name), number)
        else:
            yield each


def _read_here(name: str) -> bool:
    """Whether an included file is one that the image does not bring."""
    return not name.startswith("/etc/nginx/modules") and name.rpartition("/")[2] != "mime.types"


def _named(ctx: ProcessContext, pattern: str) -> list[str]:
    """Files of a pattern: none where nothing matches, and a name without signs whether it is there or not."""
    folder, _, name = pattern.rpartition("/")
    if not set(name) & set("*?["):
        return [pattern]
    try:
        listed = ctx.list_dir(folder or "/")
    except OSError:
        return []
    return [f"{folder}/{each}" for each in sorted(listed) if fnmatchcase(each, name)]


def streams(found: Sequence[Directive]) -> tuple[Directive, ...] | None:
    """What stands under ``stream``; None where nothing does."""
    blocks = [each.inner or () for each in found if each.name == "stream"]
    return tuple(each for block in blocks for each in block) if blocks else None


def relays(ctx: ProcessContext, found: Sequence[Directive]) -> Mapping[int, tuple[Address, ...]]:
    """Ports that ``stream`` listens on, and the addresses that each passes connections on to. Raises ConfigError."""
    upstreams: dict[str, tuple[Address, ...]] = {}
    block = streams(found) or ()
    for each in block:
        if each.name == "upstream" and len(each.words) == 2:
            servers = [server for server in each.inner or () if server.name == "server"]
            if not servers:
                raise ConfigError(f"no servers are inside upstream in {each.place}")
            upstreams[each.words[1]] = tuple(
                address for server in servers for address in _addresses(ctx, server, _at_start(server))
            )
    passed: dict[int, tuple[Address, ...]] = {}
    for server in (each for each in block if each.name == "server"):
        inner = server.inner or ()
        to = next((each for each in inner if each.name == "proxy_pass" and len(each.words) > 1), None)
        variables = {
            each.words[1]: each.words[2] for each in inner if each.name == "set" and len(each.words) == 3
        }
        for listen in (each for each in inner if each.name == "listen" and len(each.words) > 1):
            port = listen.words[1].rpartition(":")[2]
            if not 0 < whole(port, 0) < 65536:
                raise ConfigError(
                    f'host not found in "{listen.words[1]}" of the "listen" directive in {listen.place}'
                )
            if to is None:
                passed[int(port)] = ()
            elif "$" in to.words[1]:
                said = variables.get(to.words[1], "")
                later = replace(to, words=("proxy_pass", said))
                passed[int(port)] = _addresses(ctx, later, False) if ":" in said else ()
            elif to.words[1] in upstreams:
                passed[int(port)] = upstreams[to.words[1]]
            else:
                passed[int(port)] = _addresses(ctx, to, True)
    return passed


def _addresses(ctx: ProcessContext, directive: Directive, at_start: bool) -> tuple[Address, ...]:
    said = directive.words[1] if len(directive.words) > 1 else ""
    host, _, port = said.rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError(f'no port in upstream "{said}" in {directive.place}')
    if not at_start:
        return ((host, int(port)),)
    found = dns.resolved(ctx.world, ctx.process, host)
    if found.error:
        raise ConfigError(f'host not found in upstream "{said}" in {directive.place}')
    return tuple((address, int(port)) for address in found.addresses)
