"""What a command line does with standard input, read off its words before it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sregym_env.shell.syntax import tree
from sregym_env.shell.syntax.commands import is_complete, is_script, parsed
from sregym_env.shell.syntax.words import ScriptError

_ALWAYS = frozenset("tee read mapfile readarray xargs tr nc telnet bc".split())
"""Commands that read standard input whatever their arguments are."""

_SHELLS = frozenset("sh bash ash dash zsh".split())

_OPERANDS: Mapping[str, tuple[int, str]] = {
    **dict.fromkeys(
        "cat tac rev nl expand uniq md5sum sha1sum sha256sum sha512sum strings gzip gunzip zcat python python3 "
        "node irb".split(),
        (0, ""),
    ),
    "head": (0, "nc"),
    "tail": (0, "nc"),
    "wc": (0, ""),
    "sort": (0, "kto"),
    "cut": (0, "dfcb"),
    "fold": (0, "w"),
    "od": (0, "tANj"),
    "base64": (0, "w"),
    "grep": (1, "emABCf"),
    "egrep": (1, "emABCf"),
    "fgrep": (1, "emABCf"),
    "sed": (1, "ef"),
    "awk": (1, "Fvf"),
    "jq": (1, ""),
    "mongo": (1, "uph"),
    "mongosh": (1, "uph"),
    "redis-cli": (0, "hpna"),
    "valkey-cli": (0, "hpna"),
    "psql": (2, "hpUdc"),
    "mysql": (1, "hPuDe"),
}
"""Commands that read standard input unless more than so many operands are given, and their options with a value."""

_SCRIPTED = ("--eval", "-e", "-c", "--command", "--execute", "--expression", "--regexp", "-f", "-m")
"""Options that hold what would else be an operand, or would be read."""

_PATTERNS = ("-e", "-f", "--expression", "--regexp", "--file")
"""The same of programs that work on text."""

_LONG_VALUED = frozenset(
    "--authenticationDatabase --authenticationMechanism --host --port --username --password --gssapiServiceName --tlsCAFile "
    "--tlsCertificateKeyFile --sslCAFile --sslPEMKeyFile --dbname --user --database".split()
)
"""Long options of these that take the next word."""

_LANGUAGES = frozenset("python python3 node irb mongo mongosh psql mysql".split())
"""Programs to which an option may give what they would else read."""

_TOUCHES_INPUT = ("-", "/dev/stdin", "/dev/fd/0")


def reads_input(argv: Sequence[str]) -> bool:
    """Whether a command line has use for standard input."""
    if not argv:
        return False
    name, words = argv[0].rpartition("/")[2], list(argv[1:])
    if name == "tar":
        return _tar_reads(words)
    if any(word in _TOUCHES_INPUT for word in words):
        return True
    if name in _ALWAYS:
        return not _needs_none(name, words)
    if name in _SHELLS:
        return _shell_reads(words)
    if name == "dd":
        return not any(word.startswith("if=") for word in words)
    if name == "chroot":
        return len(words) < 2 or reads_input(words[1:])
    if name in ("timeout", "env", "nohup", "time", "exec"):
        rest = [word for word in words if not word.startswith("-") and "=" not in word]
        return reads_input(rest[1:] if name == "timeout" else rest)
    if name not in _OPERANDS or _needs_none(name, words):
        return False
    most, valued = _OPERANDS[name]
    if name in ("grep", "egrep", "fgrep", "sed", "awk"):
        operands, scripted = _operands(words, valued, _PATTERNS)
        return operands <= most - scripted
    operands, scripted = _operands(words, valued)
    return operands <= most and not (scripted and name in _LANGUAGES)


_BEGINS_ONLY = re.compile(r"\s*BEGIN\s*\{[^{}]*\}\s*\Z")


def _needs_none(name: str, words: Sequence[str]) -> bool:
    """Whether a command that reads standard input as a rule does not with these arguments."""
    short = "".join(word[1:] for word in words if word.startswith("-") and not word.startswith("--"))
    if name in ("grep", "egrep", "fgrep"):
        return "r" in short or "R" in short or "--recursive" in words
    if name == "nc":
        return "z" in short
    if name == "jq":
        return "n" in short or "--null-input" in words
    if name == "awk":
        return any(_BEGINS_ONLY.match(word) for word in words)
    return False


def _operands(words: Sequence[str], valued: str, scripts: Sequence[str] = _SCRIPTED) -> tuple[int, bool]:
    """How many operands there are, and whether an option takes the place of one."""
    count, scripted, skip = 0, False, False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") and len(word) > 1:
            scripted = scripted or word.partition("=")[0] in scripts
            skip = (len(word) == 2 and word[1] in valued) or word == "--eval" or word in _LONG_VALUED
        else:
            count += 1
    return count, scripted


def _shell_reads(words: Sequence[str]) -> bool:
    script = shell_script(words)
    return script is None or (script != "" and script_reads_input(script))


def shell_script(words: Sequence[str]) -> str | None:
    """The ``-c`` script of a shell's arguments; empty for a script file, None for a shell that reads commands."""
    rest = list(words)
    while rest and rest[0][:1] in "-+" and len(rest[0]) > 1:
        flag = rest.pop(0)
        if flag == "--":
            break
        if flag in ("-o", "+o") and rest:
            rest.pop(0)
        elif not flag.startswith("--") and "c" in flag[1:]:
            return rest[0] if rest else ""
        elif not flag.startswith("--") and "s" in flag[1:]:
            return None
    return "" if rest else None


def _tar_reads(words: Sequence[str]) -> bool:
    letters = "".join(word.lstrip("-") for word in words[:1] if not word.startswith("--"))
    letters += "".join(word[1:] for word in words[1:] if word.startswith("-") and not word.startswith("--"))
    return ("x" in letters or "t" in letters) and ("f" not in letters or "-" in words)


@lru_cache(maxsize=256)
def script_reads_input(script: str) -> bool:
    """Whether a script has use for standard input; no for one that cannot be parsed."""
    try:
        whole = parsed(script)
    except ScriptError:
        return False
    try:
        return any(reads_input(argv) for argv in _heads(whole))
    except RecursionError:
        return True


def _heads(node: Any) -> Iterator[list[str]]:
    """The command lines of a script that see its own standard input."""
    if isinstance(node, tuple):
        for part in node:
            yield from _heads(part)
        return
    if any(redirection.operator.startswith("<") for redirection in getattr(node, "redirections", ())):
        return
    kind = type(node)
    if kind is tree.Pipeline:
        yield from _heads(node.commands[:1])
    elif kind is tree.Simple:
        if node.words:
            yield [_literal(word) for word in node.words]
    elif kind is not tree.Function:
        for name in ("statements", "pipelines", "condition", "body", "clauses", "otherwise"):
            yield from _heads(getattr(node, name, ()))


def _literal(word: Any) -> str:
    """A word as far as it can be read without running anything; ``$`` stands for what would be put in."""
    if type(word) is tree.Assignment:
        return word.source
    return "".join(_text(part) for part in word.parts)


def _text(part: Any) -> str:
    if type(part) is tree.DoubleQuoted:
        return "".join(map(_text, part.parts))
    return part.text if type(part) in (tree.Literal, tree.Quoted) else "$"


__all__ = ["is_complete", "is_script", "reads_input", "script_reads_input", "shell_script"]
