"""Checks of names, labels and ports, worded as ``k8s.io/apimachinery/pkg/util/validation``.

Every check returns the complaints (empty when the value is fine).
"""

from __future__ import annotations

import re
from functools import lru_cache

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = rf"({_QUALIFIED})?"
_RELAXED_ENV_VAR = r"[ -<>-~]+"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"

_RE_LABEL = re.compile(rf"{_LABEL}\Z")
_RE_SUBDOMAIN = re.compile(rf"{_SUBDOMAIN}\Z")
_RE_LABEL_1035 = re.compile(rf"{_LABEL_1035}\Z")
_RE_QUALIFIED = re.compile(rf"{_QUALIFIED}\Z")
_RE_LABEL_VALUE = re.compile(rf"{_LABEL_VALUE}\Z")
_RE_ENV_VAR = re.compile(rf"{_RELAXED_ENV_VAR}\Z")
_RE_CONFIG_KEY = re.compile(rf"{_CONFIG_KEY}\Z")
_RE_PORT_NAME = re.compile(r"[-a-z0-9]+\Z")

_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_LABEL_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character"
)
_QUALIFIED_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character"
)
_LABEL_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)

Complaints = tuple[str, ...]


def _regex_error(text: str, pattern: str, *examples: str) -> str:
    """How ``validation.RegexError`` words it (the double space is Go's)."""
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}regex used for validation is '{pattern}')"


def max_length(limit: int) -> str:
    """How ``validation.MaxLenError`` words it."""
    return f"must be no more than {limit} characters"


@lru_cache(maxsize=4096)
def dns1123_label(value: str) -> Complaints:
    """Complaints about a DNS label: namespaces, containers, volumes."""
    out = []
    if len(value) > 63:
        out.append(max_length(63))
    if not _RE_LABEL.match(value):
        if _RE_SUBDOMAIN.match(value):
            out.append("must not contain dots")
        else:
            out.append(_regex_error(_LABEL_TEXT, _LABEL, "my-name", "123-abc"))
    return tuple(out)


@lru_cache(maxsize=4096)
def dns1123_subdomain(value: str) -> Complaints:
    """Complaints about a DNS subdomain: the names of most objects."""
    out = []
    if len(value) > 253:
        out.append(max_length(253))
    if not _RE_SUBDOMAIN.match(value):
        out.append(_regex_error(_SUBDOMAIN_TEXT, _SUBDOMAIN, "example.com"))
    return tuple(out)


@lru_cache(maxsize=4096)
def dns1035_label(value: str) -> Complaints:
    """Complaints about a DNS-1035 label: the names of Services."""
    out = []
    if len(value) > 63:
        out.append(max_length(63))
    if not _RE_LABEL_1035.match(value):
        out.append(_regex_error(_LABEL_1035_TEXT, _LABEL_1035, "my-name", "abc-123"))
    return tuple(out)


@lru_cache(maxsize=4096)
def path_segment(value: str) -> Complaints:
    """Complaints about a name that only has to fit into a URL: RBAC objects."""
    if value in (".", ".."):
        return (f"may not be '{value}'",)
    return tuple(f"may not contain '{c}'" for c in "/%" if c in value)


@lru_cache(maxsize=4096)
def qualified_name(value: str) -> Complaints:
    """Complaints about a label or annotation key: ``[prefix/]name``."""
    parts = value.split("/")
    out: list[str] = []
    if len(parts) == 2:
        prefix, name = parts
        if not prefix:
            out.append("prefix part must be non-empty")
        else:
            out += [f"prefix part {text}" for text in dns1123_subdomain(prefix)]
    elif len(parts) == 1:
        name = parts[0]
    else:
        text = _regex_error(_QUALIFIED_TEXT, _QUALIFIED, "MyName", "my.name", "123-abc")
        return (
            f"a qualified name {text} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')",
        )
    if not name:
        out.append("name part must be non-empty")
    elif len(name) > 63:
        out.append(f"name part {max_length(63)}")
    if not _RE_QUALIFIED.match(name):
        out.append("name part " + _regex_error(_QUALIFIED_TEXT, _QUALIFIED, "MyName", "my.name", "123-abc"))
    return tuple(out)


@lru_cache(maxsize=4096)
def label_value(value: str) -> Complaints:
    """Complaints about the value of a label."""
    out = []
    if len(value) > 63:
        out.append(max_length(63))
    if not _RE_LABEL_VALUE.match(value):
        out.append(_regex_error(_LABEL_VALUE_TEXT, _LABEL_VALUE, "MyValue", "my_value", "12345"))
    return tuple(out)


@lru_cache(maxsize=4096)
def env_var_name(value: str) -> Complaints:
    """Complaints about the name of an environment variable (relaxed rule, default since v1.32)."""
    if not value:
        return ("environment variable name must be non-empty",)
    if not _RE_ENV_VAR.match(value):
        return (
            "a valid environment variable name must consist only of printable ASCII characters other "
            "than '='",
        )
    return ()


@lru_cache(maxsize=4096)
def config_key(value: str) -> Complaints:
    """Complaints about a key of a ConfigMap or a Secret."""
    out = []
    if len(value) > 253:
        out.append(max_length(253))
    if not _RE_CONFIG_KEY.match(value):
        text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        out.append(_regex_error(text, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if value in (".", ".."):
        out.append(f"must not be '{value}'")
    return tuple(out)


@lru_cache(maxsize=4096)
def port_name(value: str) -> Complaints:
    """Complaints about the name of a port (IANA_SVC_NAME)."""
    out = []
    if len(value) > 15:
        out.append("must be no more than 15 characters")
    if not _RE_PORT_NAME.match(value):
        out.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= c <= "z" for c in value):
        out.append("must contain at least one letter (a-z)")
    if "--" in value:
        out.append("must not contain consecutive hyphens")
    if value[:1] == "-" or value[-1:] == "-":
        out.append("must not begin or end with a hyphen")
    return tuple(out)


def port_number(value: int) -> Complaints:
    """Complaints about a port number."""
    return () if 1 <= value <= 65535 else ("must be between 1 and 65535, inclusive",)
