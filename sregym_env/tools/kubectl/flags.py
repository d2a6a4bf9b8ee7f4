"""Command-line flags the way kubectl's parser (pflag) reads them, from declarations.

``--name=value``, ``--name value``, ``-nvalue``, ``-n value``, ``-n=value``, bundled booleans, flags after arguments,
and ``--`` to end them. A flag with ``bare`` may stand without a value (``--dry-run``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from sregym_env.kube.durations import parse_duration
from sregym_env.runtime.numbers import is_whole
from sregym_env.tools.kubectl.errors import KubectlError

Kind = Literal["bool", "string", "int", "int32", "duration", "strings", "csv"]
"""``strings`` may be repeated; ``csv`` may be repeated and holds comma-separated values; a duration is kept in
nanoseconds."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One declared flag."""

    name: str
    short: str = ""
    kind: Kind = "string"
    default: Any = None
    help: str = ""
    bare: str | None = None
    """The value it takes when none is written (pflag's NoOptDefVal)."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """Flags and arguments of one command line."""

    values: Mapping[str, Any]
    """Every declared flag with its value or default."""
    args: tuple[str, ...]
    dash: int
    """How many arguments stood before ``--``; -1 when there was none."""
    given: frozenset[str]
    """Names of the flags that were written."""
    written: tuple[tuple[str, str], ...] = ()
    """The flags as they were written, name and value, in their order."""


class FlagSet:
    """Declared flags, indexed for parsing."""

    __slots__ = ("_defaults", "flags", "long", "short")

    def __init__(self, flags: Iterable[Flag]) -> None:
        self.flags = tuple(flags)
        self.long = {flag.name: flag for flag in self.flags}
        self.short = {flag.short: flag for flag in self.flags if flag.short}
        self._defaults = {flag.name: _default(flag) for flag in self.flags}

    def parse(self, argv: Sequence[str], command: str) -> Parsed:
        """Read a command line; raises ``KubectlError`` with pflag's text and the hint to ``command``'s help."""
        values = dict(self._defaults)
        args: list[str] = []
        given: dict[str, str] = {}
        dash = -1
        i = 0
        try:
            while i < len(argv):
                word = argv[i]
                i += 1
                if len(word) < 2 or word[0] != "-":
                    args.append(word)
                elif word == "--":
                    dash = len(args)
                    args.extend(argv[i:])
                    break
                elif word[1] == "-":
                    i = self._long(word, argv, i, values, given)
                else:
                    i = self._short(word, argv, i, values, given)
        except _FlagError as error:
            words = f"kubectl {command}".strip()
            # To diff an exit code of 1 means that something differs, so its errors end with 2.
            if command == "diff":
                raise KubectlError(f"error: {error}\nSee '{words} -h' for help and examples", 2) from None
            raise KubectlError(f"error: {error}\nSee '{words} --help' for usage.") from None
        return Parsed(values, tuple(args), dash, frozenset(given), tuple(given.items()))

    def _long(
        self, word: str, argv: Sequence[str], i: int, values: dict[str, Any], given: dict[str, str]
    ) -> int:
        name, equals, text = word[2:].partition("=")
        if not name or name[0] == "-":
            raise _FlagError(f"bad flag syntax: {word}")
        flag = self.long.get(name)
        if flag is None:
            raise _FlagError(f"unknown flag: --{name}")
        if not equals:
            if flag.kind == "bool":
                text = "true"
            elif flag.bare is not None:
                text = flag.bare
            elif i < len(argv):
                text, i = argv[i], i + 1
            else:
                raise _FlagError(f"flag needs an argument: {word}")
        _store(flag, text, values, given)
        return i

    def _short(
        self, word: str, argv: Sequence[str], i: int, values: dict[str, Any], given: dict[str, str]
    ) -> int:
        rest = word[1:]
        while rest:
            letter, rest = rest[0], rest[1:]
            flag = self.short.get(letter)
            if flag is None:
                raise _FlagError(f"unknown shorthand flag: '{letter}' in {word}")
            # As pflag: `-n=x` is x, but of `-n=` the value is the equals sign.
            if len(rest) > 1 and rest[0] == "=":
                text, rest = rest[1:], ""
            elif flag.kind == "bool":
                text = "true"
            elif flag.bare is not None:
                text = flag.bare
            elif rest:
                text, rest = rest, ""
            elif i < len(argv):
                text, i = argv[i], i + 1
            else:
                raise _FlagError(f"flag needs an argument: '{letter}' in {word}")
            _store(flag, text, values, given)
        return i


class _FlagError(Exception):
    """What pflag would say."""


def _default(flag: Flag) -> Any:
    if flag.default is not None:
        return flag.default
    return {"bool": False, "string": "", "int": 0, "int32": 0, "duration": 0, "strings": (), "csv": ()}[
        flag.kind
    ]


def _store(flag: Flag, text: str, values: dict[str, Any], given: dict[str, str]) -> None:
    try:
        value = _value(flag.kind, text)
    except ValueError as error:
        shown = f"-{flag.short}, --{flag.name}" if flag.short else f"--{flag.name}"
        raise _FlagError(f'invalid argument "{text}" for "{shown}" flag: {error}') from None
    if flag.kind in ("strings", "csv") and flag.name in given:
        value = (*values[flag.name], *value)
    values[flag.name] = value
    given[flag.name] = text


_GO_INT = re.compile(
    r"[+-]?(?:0|[1-9](?:_?[0-9])*|0(?:_?[0-7])+|0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)"
)


def _go_int(text: str) -> int | None:
    """An integer as Go's ``ParseInt(text, 0, 64)`` reads it: prefixes, a leading zero for octal, underscores."""
    if not _GO_INT.fullmatch(text):
        return None
    sign, digits = (-1 if text[0] == "-" else 1), text.lstrip("+-")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567_"
    return sign * int(digits.replace("_", ""), 8 if octal else 0)


_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))


def _value(kind: Kind, text: str) -> Any:
    if kind == "string":
        return text
    if kind == "bool":
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        raise ValueError(f'strconv.ParseBool: parsing "{text}": invalid syntax')
    if kind in ("int", "int32"):
        wrong = f'strconv.ParseInt: parsing "{text}": '
        if len(text) > 30 and is_whole(text.lstrip("+-")):
            raise ValueError(f"{wrong}value out of range")
        number = _go_int(text)
        if number is None:
            raise ValueError(f"{wrong}invalid syntax")
        bits = 31 if kind == "int32" else 63
        if not -(1 << bits) <= number < 1 << bits:
            raise ValueError(f"{wrong}value out of range")
        return number
    if kind == "duration":
        return parse_duration(text)
    if kind == "csv":
        return tuple(text.split(",")) if text else ()
    return (text,)


GLOBAL_FLAGS = (
    Flag(
        "as",
        help="Username to impersonate for the operation. User could be a regular user or a service account in a namespace.",
    ),
    Flag(
        "as-group",
        kind="strings",
        help="Group to impersonate for the operation, this flag can be repeated to specify multiple groups.",
    ),
    Flag("as-uid", help="UID to impersonate for the operation."),
    Flag("cache-dir", default="~/.kube/cache", help="Default cache directory"),
    Flag("certificate-authority", help="Path to a cert file for the certificate authority"),
    Flag("client-certificate", help="Path to a client certificate file for TLS"),
    Flag("client-key", help="Path to a client key file for TLS"),
    Flag("cluster", help="The name of the kubeconfig cluster to use"),
    Flag("context", help="The name of the kubeconfig context to use"),
    Flag(
        "disable-compression",
        kind="bool",
        help="If true, opt-out of response compression for all requests to the server",
    ),
    Flag(
        "insecure-skip-tls-verify",
        kind="bool",
        help="If true, the server's certificate will not be checked for validity. This will make your HTTPS connections insecure",
    ),
    Flag("kubeconfig", help="Path to the kubeconfig file to use for CLI requests."),
    Flag(
        "log-flush-frequency",
        kind="duration",
        default=5 * 10**9,
        help="Maximum number of seconds between log flushes",
    ),
    Flag("match-server-version", kind="bool", help="Require server version to match client version"),
    Flag("namespace", "n", help="If present, the namespace scope for this CLI request"),
    Flag("password", help="Password for basic authentication to the API server"),
    Flag(
        "profile",
        default="none",
        help="Name of profile to capture. One of (none|cpu|heap|goroutine|threadcreate|block|mutex)",
    ),
    Flag("profile-output", default="profile.pprof", help="Name of the file to write the profile to"),
    Flag(
        "request-timeout",
        default="0",
        help="The length of time to wait before giving up on a single server request. Non-zero values should contain a corresponding time unit (e.g. 1s, 2m, 3h). A value of zero means don't timeout requests.",
    ),
    Flag("server", "s", help="The address and port of the Kubernetes API server"),
    Flag(
        "tls-server-name",
        help="Server name to use for server certificate validation. If it is not provided, the hostname used to contact the server is used",
    ),
    Flag("token", help="Bearer token for authentication to the API server"),
    Flag("user", help="The name of the kubeconfig user to use"),
    Flag("username", help="Username for basic authentication to the API server"),
    Flag("v", "v", kind="string", default="0", help="number for the log level verbosity"),
    Flag(
        "vmodule",
        help="comma-separated list of pattern=N settings for file-filtered logging (only works for the default text log format)",
    ),
    Flag(
        "warnings-as-errors",
        kind="bool",
        help="Treat warnings received from the server as errors and exit with a non-zero exit code",
    ),
    Flag("help", "h", kind="bool", help="Help for the command"),
)
"""Flags every command takes."""


@lru_cache(maxsize=256)
def flag_set(flags: tuple[Flag, ...]) -> FlagSet:
    """The indexed flags of a command, with the global ones it does not redefine."""
    own = {flag.name for flag in flags}
    if OUTPUT in flags and DRY_RUN in flags and "ignore-not-found" not in own:
        # What prints the objects that it has written takes every flag that printing takes.
        flags = (*flags, *(flag for flag in PRINTING if flag.name not in own))
        own = {flag.name for flag in flags}
    shorts = {flag.short for flag in flags if flag.short}
    rest = tuple(
        flag
        if flag.short not in shorts
        else Flag(flag.name, "", flag.kind, flag.default, flag.help, flag.bare)
        for flag in GLOBAL_FLAGS
        if flag.name not in own
    )
    return FlagSet((*flags, *rest))


# Flags many commands share.
OUTPUT = Flag("output", "o", help="Output format.")
SELECTOR = Flag(
    "selector", "l", help="Selector (label query) to filter on, supports '=', '==', '!=', 'in', 'notin'."
)
FIELD_SELECTOR = Flag(
    "field-selector", help="Selector (field query) to filter on, supports '=', '==', and '!='."
)
ALL_NAMESPACES = Flag(
    "all-namespaces", "A", kind="bool", help="If present, list the requested object(s) across all namespaces."
)
FILENAME = Flag(
    "filename", "f", kind="csv", help="Filename, directory, or URL to files identifying the resource."
)
KUSTOMIZE = Flag("kustomize", "k", help="Process the kustomization directory.")
RECURSIVE = Flag(
    "recursive", "R", kind="bool", help="Process the directory used in -f, --filename recursively."
)
RECURSING = Flag(
    "recursive",
    "R",
    kind="bool",
    default=True,
    help="Process the directory used in -f, --filename recursively.",
)
"""For the verbs that do so unless told otherwise."""
CHUNK_SIZE = Flag(
    "chunk-size", kind="int", default=500, help="Return large lists in chunks rather than all at once."
)
SHOW_MANAGED_FIELDS = Flag(
    "show-managed-fields", kind="bool", help="If true, keep the managedFields when printing objects."
)
TEMPLATE = Flag("template", help="Template string or path to template file to use when -o=go-template.")
ALLOW_MISSING = Flag(
    "allow-missing-template-keys",
    kind="bool",
    default=True,
    help="If true, ignore missing keys in templates.",
)
CONTAINER = Flag("container", "c", help="Container name.")
NO_HEADERS = Flag(
    "no-headers", kind="bool", help="When using the default output format, don't print headers."
)
PRINTING = (SHOW_MANAGED_FIELDS, TEMPLATE, ALLOW_MISSING)
"""What comes with ``--output`` where any printer may be asked for."""
RECORD = Flag("record", kind="bool", help="Record current kubectl command in the resource annotation.")
"""Deprecated and hidden, and still what many type."""
DRY_RUN = Flag("dry-run", bare="unchanged", default="none", help='Must be "none", "server", or "client".')
