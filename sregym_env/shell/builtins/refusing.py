"""Builtins that refuse options which they do not know, as bash's own option parser does for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sregym_env.shell.interpreter import Builtin, Interpreter

USAGES: Mapping[str, tuple[str, str, str]] = {
    "alias": ("p", "", "[-p] [name[=value] ... ]"),
    "builtin": ("", "", "[shell-builtin [arg ...]]"),
    "command": ("pvV", "", "[-pVv] command [arg ...]"),
    "eval": ("", "", "[arg ...]"),
    "exec": ("cl", "a", "[-cl] [-a name] [command [argument ...]] [redirection ...]"),
    "hash": ("lrdt", "p", "[-lr] [-p pathname] [-dt] [name ...]"),
    "trap": ("lp", "", "[-lp] [[arg] signal_spec ...]"),
    "unalias": ("a", "", "[-a] name [name ...]"),
    "dirs": ("clpv", "", "[-clpv] [+N] [-N]"),
    "pwd": ("LP", "", "[-LP]"),
    "shopt": ("pqsuo", "", "[-pqsu] [-o] [optname ...]"),
    "times": ("", "", ""),
    "type": ("afptP", "", "[-afptP] name [name ...]"),
    "ulimit": ("SHabcdefiklmnpqrstuvxPRT", "", "[-SHabcdefiklmnpqrstuvxPRT] [limit]"),
    "umask": ("pS", "", "[-p] [-S] [mode]"),
    "wait": ("fn", "p", "[-fn] [-p var] [id ...]"),
}
"""Option letters, those of them that take a value, and the usage, by builtin (bash 5.2)."""


def refusing(name: str, builtin: Builtin) -> Builtin:
    """The builtin, but for command lines with options that it does not have."""
    letters, valued, usage = USAGES[name]

    def run(run: Interpreter, args: list[Any]) -> int:
        wrong = _unknown([str(word) for word in args], letters, valued)
        if not wrong:
            return builtin(run, args)
        run.complain(f"{name}: {wrong}: invalid option")
        run.err(f"{name}: usage: {name} {usage}".rstrip() + "\n")
        return 2

    return run


def _unknown(words: list[str], letters: str, valued: str) -> str:
    """The first option that is not known, as bash shows it; empty where there is none."""
    while words and words[0].startswith("-") and len(words[0]) > 1:
        word = words.pop(0)
        if word == "--" or word[1:].isdigit():
            break
        for at, letter in enumerate(word[1:], 2):
            if letter in valued:
                if not word[at:] and words:
                    words.pop(0)
                break
            if letter not in letters:
                return f"-{letter}"
    return ""
