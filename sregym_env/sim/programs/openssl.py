"""``openssl`` in a container: it looks at certificates, and verifies them by the clock of its machine.

Texts of OpenSSL 3.0 to 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sregym_env.cluster.key_pairs import certificates
from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.runtime.numbers import whole
from sregym_env.shell.shell import Shell
from sregym_env.sim.network import tls
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.image_tools import format_date

_CODES = {
    "certificate has expired": 10,
    "certificate is not yet valid": 9,
    "unable to get local issuer certificate": 20,
    "self-signed certificate": 18,
    "self-signed certificate in certificate chain": 19,
}
"""``X509_V_ERR_*`` by what they are called."""
MOST_FILES = 20
"""Certificates that are verified by one command."""


def _failed(text: str, code: int = 1) -> ExecResult:
    return ExecResult(stderr=text, exit_code=code)


def openssl(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``openssl verify``, ``x509`` and ``version``."""
    verb = argv[1] if len(argv) > 1 else "help"
    if verb == "version":
        return ExecResult("OpenSSL 3.3.3 11 Feb 2025 (Library: OpenSSL 3.3.3 11 Feb 2025)\n")
    act = _VERBS.get(verb)
    if act is None:
        return _failed(f"Invalid command '{verb[:80]}'; type \"help\" for a list.\n")
    # What it says follows from the clock.
    ctx.unnoted()
    return act(argv[2:], stdin, shell)


def _now(shell: Shell) -> int:
    return round(shell.clock() * SECOND)


def _text(shell: Shell, path: str) -> str | None:
    return shell.files.text(shell.resolve(path))


# --- verify -------------------------------------------------------------------------------------------


def _verify(words: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    roots, above, files, at = "", "", [], _now(shell)
    left = list(words)
    while left:
        word = left.pop(0)
        value = left.pop(0) if word in _VALUED and left else ""
        if word in ("-CAfile", "-trusted", "-untrusted"):
            text = _text(shell, value)
            if text is None:
                return _failed(
                    f"Could not open file or uri for loading certs from {value}\n{_no_such(value)}"
                )
            roots, above = (roots, above + text) if word == "-untrusted" else (roots + text, above)
        elif word == "-attime":
            at = whole(value, 0) * SECOND
        elif word in ("-no_check_time", "-verbose", "-show_chain", "-x509_strict") or word in _VALUED:
            at = -1 if word == "-no_check_time" else at
        elif word.startswith("-"):
            return _failed(f"verify: Unknown option: {word[:80]}\nverify: Use -help for summary.\n")
        else:
            files.append(word)
    out, errors, code = "", "", 0
    for name in files[:MOST_FILES] or [""]:
        said, complaint = _verified(shell, name, stdin, roots, above, at)
        out, errors, code = out + said, errors + complaint, code or (2 if complaint else 0)
    return ExecResult(out, errors, code)


_VALUED = frozenset(
    (
        "-CAfile",
        "-trusted",
        "-untrusted",
        "-attime",
        "-purpose",
        "-verify_hostname",
        "-CApath",
        "-verify_depth",
    )
)


def _verified(shell: Shell, name: str, stdin: str, roots: str, above: str, at: int) -> tuple[str, str]:
    """What is said of one certificate on the two streams."""
    text, shown = (_text(shell, name), name) if name else (stdin, "stdin")
    if text is None:
        return (
            "",
            f"Could not open file or uri for loading certificate file from {name}\n{_no_such(name)}Unable to load certificate file\n",
        )
    chain = certificates(text)
    if not chain:
        return "", f"Could not read certificate file from {shown}\nUnable to load certificate file\n"
    # What an end certificate's file holds beside it is not looked at.
    problem = tls.path_problem((chain[0], *certificates(above)), certificates(roots), at)
    if not problem:
        return f"{shown}: OK\n", ""
    return "", (
        f"CN = {tls.facts(chain[0]).common_name}\nerror {_CODES.get(problem, 1)} at 0 depth lookup: {problem}\n"
        f"error {shown}: verification failed\n"
    )


def _no_such(name: str) -> str:
    return f"Error: calling fopen({name[:200]}, r)\nerror:80000002:system library:BIO_new_file:No such file or directory\n"


# --- x509 ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asked:
    """What ``openssl x509`` is to show, in the order in which it was asked."""

    path: str = ""
    shown: tuple[str, ...] = ()
    quiet: bool = False
    within: int | None = None
    """Seconds in which the certificate must not end."""


def _x509(words: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    asked = _read(words)
    if isinstance(asked, str):
        return _failed(f"x509: Unknown option: {asked[:80]}\nx509: Use -help for summary.\n")
    text = _text(shell, asked.path) if asked.path else stdin
    found = certificates(text or "")
    if not found:
        problem = _no_such(asked.path) if text is None else ""
        where = asked.path or "<stdin>"
        return _failed(
            f"Could not open file or uri for loading certificate from {where}\n{problem}Unable to load certificate\n"
        )
    known = tls.facts(found[0])
    out = "".join(_SHOWN[word](known) for word in asked.shown)
    code = 0
    if asked.within is not None:
        ends = known.ends < _now(shell) + asked.within * SECOND
        out, code = out + f"Certificate will {'' if ends else 'not '}expire\n", int(ends)
    if not asked.quiet and asked.within is None:
        out += f"{(text or '').strip()}\n"
    return ExecResult(out, exit_code=code)


def _read(words: Sequence[str]) -> _Asked | str:
    """What the options ask for; the one that there is not."""
    path, quiet, within = "", False, None
    shown: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0).replace("--", "-", 1)
        if word == "-in" and left:
            path = left.pop(0)
        elif word == "-checkend" and left:
            within = whole(left.pop(0), 0)
        elif word in ("-inform", "-nameopt", "-certopt", "-dateopt") and left:
            left.pop(0)
        elif word in ("-noout", "-nocert"):
            quiet = True
        elif word in _SHOWN:
            shown.append(word)
        else:
            return word
    return _Asked(path, tuple(shown), quiet, within)


def _date(time: int) -> str:
    return format_date(time, "%b %e %H:%M:%S %Y GMT")


def _issuer(known: tls.Facts) -> str:
    return known.issuer_name or known.common_name


_SHOWN: Mapping[str, Callable[[tls.Facts], str]] = {
    "-subject": lambda known: f"subject=CN={known.common_name}\n",
    "-issuer": lambda known: f"issuer=CN={_issuer(known)}\n",
    "-startdate": lambda known: f"notBefore={_date(known.begins)}\n",
    "-enddate": lambda known: f"notAfter={_date(known.ends)}\n",
    "-dates": lambda known: f"notBefore={_date(known.begins)}\nnotAfter={_date(known.ends)}\n",
    "-text": lambda known: (
        "Certificate:\n    Data:\n        Version: 3 (0x2)\n        Signature Algorithm: ED25519\n"
        f"        Issuer: CN={_issuer(known)}\n        Validity\n            Not Before: {_date(known.begins)}\n"
        f"            Not After : {_date(known.ends)}\n        Subject: CN={known.common_name}\n"
    ),
}

_VERBS: Mapping[str, Callable[[Sequence[str], str, Shell], ExecResult]] = {"verify": _verify, "x509": _x509}
