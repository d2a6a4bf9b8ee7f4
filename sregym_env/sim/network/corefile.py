"""CoreDNS configuration: the Corefile grammar and what each directive means for a query.

Only directives that can change an answer are interpreted; the other plugins of the standard build are
accepted as they are. Texts of errors are those of CoreDNS 1.11 (``coremain`` and the caddyfile dispenser).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from sregym_env.runtime.numbers import whole
from sregym_env.shell.patterns import compiled

PATH = "/etc/coredns/Corefile"

PLUGINS = frozenset(
    [
        "metadata",
        "geoip",
        "cancel",
        "tls",
        "quic",
        "timeouts",
        "multisocket",
        "reload",
        "nsid",
        "bufsize",
        "root",
        "bind",
        "debug",
        "trace",
        "ready",
        "health",
        "pprof",
        "prometheus",
        "errors",
        "log",
        "dnstap",
        "local",
        "dns64",
        "acl",
        "any",
        "chaos",
        "loadbalance",
        "tsig",
        "cache",
        "rewrite",
        "header",
        "dnssec",
        "autopath",
        "minimal",
        "template",
        "transfer",
        "hosts",
        "route53",
        "azure",
        "clouddns",
        "k8s_external",
        "kubernetes",
        "file",
        "auto",
        "secondary",
        "etcd",
        "loop",
        "forward",
        "grpc",
        "erratic",
        "whoami",
        "on",
        "sign",
        "view",
        "nomad",
    ]
)
"""Directives of the standard build (plugin.cfg)."""

_KUBERNETES_PROPERTIES = frozenset(
    [
        "endpoint_pod_names",
        "pods",
        "namespaces",
        "endpoint",
        "tls",
        "kubeconfig",
        "labels",
        "namespace_labels",
        "fallthrough",
        "ttl",
        "noendpoints",
        "transfer",
        "ignore",
        "multicluster",
        "apiserver_qps",
        "apiserver_burst",
        "apiserver_max_inflight",
        "startup_timeout",
    ]
)


class CorefileError(ValueError):
    """A Corefile that CoreDNS refuses; the text is what it prints before it exits with code 1."""


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive with its arguments and, if it has a block, the lines of that block."""

    name: str
    line: int
    arguments: tuple[str, ...] = ()
    block: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """``rewrite [continue|stop] name [kind] FROM TO``."""

    kind: str
    source: str
    target: str
    stop: bool = True

    def apply(self, name: str) -> str | None:
        """The rewritten name (no trailing dot), or None where it does not match."""
        source, target = self.source.strip("."), self.target.strip(".")
        if self.kind == "exact":
            return target if name == source else None
        if self.kind == "prefix":
            return self.target + name[len(self.source) :] if name.startswith(self.source) else None
        if self.kind == "suffix":
            return name[: len(name) - len(source)] + target if name.endswith(source) else None
        if self.kind == "substring":
            return name.replace(self.source, self.target) if self.source in name else None
        match = compiled(self.source).search(name + ".") or compiled(self.source).search(name)
        if match is None:
            return None
        # A group that the pattern does not have stands for nothing.
        groups = (match.group(0), *match.groups(""))
        return re.sub(
            r"\{(\d{1,3})\}",
            lambda index: groups[int(index[1])] if int(index[1]) < len(groups) else "",
            self.target,
        ).strip(".")


@dataclass(frozen=True, slots=True)
class Template:
    """``template CLASS TYPE [ZONE...] { match ...; answer ...; rcode ...; fallthrough }``."""

    type: str
    zones: tuple[str, ...]
    matches: tuple[str, ...]
    answers: tuple[str, ...]
    rcode: str
    fallthrough: bool

    def concerns(self, name: str) -> bool:
        """Whether a query for ``name`` (no trailing dot) gets this answer."""
        if self.type not in ("A", "ANY") or not any(in_zone(name, zone) for zone in self.zones):
            return False
        return not self.matches or any(compiled(match).search(name + ".") for match in self.matches)


@dataclass(frozen=True, slots=True)
class HostsPlugin:
    """``hosts`` with inline entries: name to addresses."""

    entries: tuple[tuple[str, tuple[str, ...]], ...]
    zones: tuple[str, ...]
    fallthrough: bool


@dataclass(frozen=True, slots=True)
class KubernetesPlugin:
    """``kubernetes ZONE...``."""

    zones: tuple[str, ...]
    pods: str = "disabled"
    namespaces: tuple[str, ...] = ()
    fallthrough: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Forward:
    """``forward FROM TO...``."""

    source: str
    to: tuple[str, ...]
    excepted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerBlock:
    """The zones of a server block and its plugins in the order in which CoreDNS consults them."""

    zones: tuple[str, ...]
    port: int
    rewrites: tuple[Rewrite, ...] = ()
    templates: tuple[Template, ...] = ()
    hosts: tuple[HostsPlugin, ...] = ()
    kubernetes: tuple[KubernetesPlugin, ...] = ()
    forwards: tuple[Forward, ...] = ()
    plugins: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Corefile:
    """A parsed Corefile."""

    blocks: tuple[ServerBlock, ...]

    def block(self, name: str) -> ServerBlock | None:
        """The block with the longest zone that holds ``name``, among those on port 53."""
        best: tuple[int, ServerBlock] | None = None
        for block in self.blocks:
            if block.port != 53:
                continue
            for zone in block.zones:
                if in_zone(name, zone) and (best is None or len(zone) > best[0]):
                    best = (len(zone), block)
        return None if best is None else best[1]

    def has(self, plugin: str) -> bool:
        """Whether any server block loads ``plugin``."""
        return any(plugin in block.plugins for block in self.blocks)


def in_zone(name: str, zone: str) -> bool:
    """Whether ``name`` lies in ``zone``; the empty zone is the root. Neither has a trailing dot."""
    return zone == "" or name == zone or name.endswith("." + zone)


@lru_cache(maxsize=256)
def parse(text: str, path: str = PATH) -> Corefile:
    """Parse a Corefile. Raises :class:`CorefileError` with the text CoreDNS prints."""
    groups = _groups(_tokens(text), path)
    if not groups:
        raise CorefileError(f"{path}:1 - Error during parsing: Unexpected EOF")
    seen: set[tuple[str, int]] = set()
    blocks = []
    for keys, directives, line in groups:
        block = _server_block(keys, directives, path, line)
        for zone in block.zones:
            if (zone, block.port) in seen:
                label = f"dns://{zone}.:{block.port}"
                raise CorefileError(f"cannot serve {label} - it is already defined")
            seen.add((zone, block.port))
        blocks.append(block)
    return Corefile(tuple(blocks))


# --- tokens and blocks ----------------------------------------------------------------------------

Token = tuple[str, int]
_Group = tuple[list[str], list[Directive], int]
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)', re.DOTALL)


def _tokens(text: str) -> list[list[Token]]:
    """Words by line, comments removed."""
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        words: list[Token] = []
        for match in _WORD.finditer(line):
            quoted, plain = match.groups()
            if plain is not None and plain.startswith("#"):
                break
            words.append((plain if plain is not None else quoted.replace('\\"', '"'), number))
        if words:
            lines.append(words)
    return lines


def _groups(lines: list[list[Token]], path: str) -> list[_Group]:
    groups: list[_Group] = []
    snippets: dict[str, list[Directive]] = {}
    index = 0
    while index < len(lines):
        words = [word for word, _ in lines[index]]
        number = lines[index][0][1]
        if words[0] == "}":
            raise CorefileError(
                f"{path}:{number} - Error during parsing: Unexpected '}}' because no matching opening brace"
            )
        if words[-1] != "{":
            raise CorefileError(f"{path}:{lines[-1][-1][1]} - Error during parsing: Unexpected EOF")
        directives, index = _directives(lines, index + 1, path, snippets)
        keys = [key.rstrip(",") for key in words[:-1]]
        if len(keys) == 1 and keys[0].startswith("(") and keys[0].endswith(")"):
            snippets[keys[0][1:-1]] = directives
        else:
            groups.append((keys or ["."], directives, number))
    return groups


def _directives(
    lines: list[list[Token]], index: int, path: str, snippets: dict[str, list[Directive]]
) -> tuple[list[Directive], int]:
    found: list[Directive] = []
    while index < len(lines):
        words = [word for word, _ in lines[index]]
        number = lines[index][0][1]
        index += 1
        if words[0] == "}":
            return found, index
        if words[0] == "import" and len(words) == 2:
            if words[1] not in snippets:
                raise CorefileError(
                    f"{path}:{number} - Error during parsing: File to import not found: {words[1]}"
                )
            found.extend(snippets[words[1]])
            continue
        if words[-1] != "{":
            found.append(Directive(words[0], number, tuple(words[1:])))
            continue
        block, index = _block(lines, index, path)
        found.append(Directive(words[0], number, tuple(words[1:-1]), block))
    raise CorefileError(f"{path}:{lines[-1][-1][1]} - Error during parsing: Unexpected EOF")


def _block(lines: list[list[Token]], index: int, path: str) -> tuple[tuple[tuple[str, ...], ...], int]:
    block: list[tuple[str, ...]] = []
    depth = 1
    while index < len(lines):
        words = [word for word, _ in lines[index]]
        index += 1
        if words[0] == "}":
            depth -= 1
            if depth == 0:
                return tuple(block), index
            continue
        if words[-1] == "{":
            depth += 1
        block.append(tuple(words))
    raise CorefileError(f"{path}:{lines[-1][-1][1]} - Error during parsing: Unexpected EOF")


# --- meaning --------------------------------------------------------------------------------------


def _zone(text: str) -> tuple[str, int]:
    text = text.removeprefix("dns://")
    name, separator, port = text.rpartition(":")
    if not separator:
        return text.strip("."), 53
    return name.strip("."), whole(port, 53)


def _zones(names: tuple[str, ...] | list[str], default: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_zone(name)[0] for name in names) or default


def _server_block(keys: list[str], directives: list[Directive], path: str, line: int) -> ServerBlock:
    zones = tuple(_zone(key)[0] for key in keys)
    for directive in directives:
        if directive.name not in PLUGINS:
            raise CorefileError(
                f"{path}:{directive.line} - Error during parsing: Unknown directive '{directive.name}'"
            )
    return ServerBlock(
        zones=zones,
        port=_zone(keys[0])[1],
        rewrites=tuple(r for d in directives if d.name == "rewrite" for r in _rewrites(d, path)),
        templates=tuple(_template(d, zones, path) for d in directives if d.name == "template"),
        hosts=tuple(_hosts(d, zones) for d in directives if d.name == "hosts"),
        kubernetes=tuple(_kubernetes(d, zones, path) for d in directives if d.name == "kubernetes"),
        forwards=tuple(_forward(d, path) for d in directives if d.name == "forward"),
        plugins=frozenset(directive.name for directive in directives),
    )


def _refuse(plugin: str, path: str, line: int, text: str) -> CorefileError:
    return CorefileError(f"plugin/{plugin}: {path}:{line} - Error during parsing: {text}")


def _rewrites(directive: Directive, path: str) -> list[Rewrite]:
    words = list(directive.arguments)
    if not words and directive.block:
        words = list(directive.block[0])
    stop = True
    if words and words[0] in ("stop", "continue"):
        stop = words.pop(0) == "stop"
    if not words or words[0] != "name":
        return []
    words = words[1:]
    kind = (
        words.pop(0) if words and words[0] in ("exact", "prefix", "suffix", "substring", "regex") else "exact"
    )
    if len(words) < 2:
        raise _refuse("rewrite", path, directive.line, "too few arguments for a name rule")
    if kind == "regex":
        words[0] = _regex(words[0], path, directive.line, "rewrite")
    return [Rewrite(kind, words[0], words[1], stop)]


def _template(directive: Directive, zones: tuple[str, ...], path: str) -> Template:
    if len(directive.arguments) < 2:
        raise _refuse(
            "template",
            path,
            directive.line,
            "Wrong argument count or unexpected line ending after 'template'",
        )
    matches: list[str] = []
    answers: list[str] = []
    rcode = "NOERROR"
    fallthrough = False
    for words in directive.block:
        match words[0]:
            case "match":
                matches.extend(_regex(word, path, directive.line) for word in words[1:])
            case "answer":
                answers.append(" ".join(words[1:]))
            case "rcode":
                rcode = words[1].upper() if len(words) > 1 else ""
            case "fallthrough":
                fallthrough = True
            case "additional" | "authority" | "ederror" | "upstream":
                pass
            case unknown:
                raise _refuse("template", path, directive.line, f"unknown property '{unknown}'")
    return Template(
        directive.arguments[1].upper(),
        _zones(directive.arguments[2:], zones),
        tuple(matches),
        tuple(answers),
        rcode,
        fallthrough,
    )


def _regex(text: str, path: str, line: int, directive: str = "template") -> str:
    pattern = re.sub(r"\(\?P?<", "(?P<", text)
    try:
        compiled(pattern)
    except re.error as error:
        raise _refuse(directive, path, line, f"could not parse regex: {text}, {error}") from error
    return pattern


def _hosts(directive: Directive, zones: tuple[str, ...]) -> HostsPlugin:
    entries: dict[str, tuple[str, ...]] = {}
    fallthrough = False
    for words in directive.block:
        if words[0] == "fallthrough":
            fallthrough = True
        elif words[0] not in ("ttl", "reload", "no_reverse"):
            for name in words[1:]:
                key = name.strip(".").lower()
                entries[key] = (*entries.get(key, ()), words[0])
    named = tuple(word for word in directive.arguments if not word.startswith("/"))
    return HostsPlugin(tuple(entries.items()), _zones(named, zones), fallthrough)


def _kubernetes(directive: Directive, zones: tuple[str, ...], path: str) -> KubernetesPlugin:
    pods = "disabled"
    namespaces: tuple[str, ...] = ()
    fallthrough: tuple[str, ...] | None = None
    for words in directive.block:
        if words[0] not in _KUBERNETES_PROPERTIES:
            raise _refuse("kubernetes", path, directive.line, f"unknown property '{words[0]}'")
        if words[0] == "pods":
            pods = words[1] if len(words) > 1 else ""
            if pods not in ("disabled", "insecure", "verified"):
                raise _refuse("kubernetes", path, directive.line, "Wrong value for pods: " + pods)
        elif words[0] == "namespaces":
            namespaces = words[1:]
        elif words[0] == "fallthrough":
            fallthrough = _zones(words[1:], ("",))
    own = tuple(zone for zone in _zones(directive.arguments, zones) if not zone.endswith(".arpa"))
    return KubernetesPlugin(own, pods, namespaces, fallthrough)


def _forward(directive: Directive, path: str) -> Forward:
    if len(directive.arguments) < 2:
        raise _refuse(
            "forward", path, directive.line, "Wrong argument count or unexpected line ending after 'forward'"
        )
    excepted = tuple(
        name.strip(".") for words in directive.block if words[0] == "except" for name in words[1:]
    )
    return Forward(directive.arguments[0].strip("."), directive.arguments[1:], excepted)
