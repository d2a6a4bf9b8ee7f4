"""Programs that refuse options which they do not know, in the words of GNU's ``getopt``.

Most programs read their options in detail and find out by themselves. These have few that change anything here, so what
they have is listed, and checked before they run.
"""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.commands.lines import refused
from sregym_env.shell.run import Call, Program

_SUMS = ("bctwz", {"binary": "b", "check": "c", "text": "t", "warn": "w", "zero": "z", "tag": "1", "quiet": "2",
                   "status": "3", "strict": "4", "ignore-missing": "5", "help": "h", "version": "v"})  # fmt: skip

OPTIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "bc": ("hilqsvw", {"help": "h", "interactive": "i", "mathlib": "l", "quiet": "q", "standard": "s", "version": "v", "warn": "w"}),
    "clear": ("T:Vx", {}),
    "dirname": ("z", {"zero": "z", "help": "h", "version": "v"}),
    "file": (
        "bcdEhiklLnNprsSvzZ0m:F:f:P:e:",
        {"brief": "b", "mime": "i", "mime-type": "1", "mime-encoding": "2", "dereference": "L", "version": "v", "help": "3"},
    ),
    "md5sum": _SUMS,
    "printenv": ("0", {"null": "0", "help": "h", "version": "v"}),
    "readlink": (
        "fenmqsvz",
        {"canonicalize": "f", "canonicalize-existing": "e", "canonicalize-missing": "m", "no-newline": "n", "zero": "z",
         "quiet": "q", "silent": "s", "verbose": "v", "help": "1", "version": "2"},
    ),
    "realpath": (
        "eLmPqsz",
        {"canonicalize-existing": "e", "canonicalize-missing": "m", "logical": "L", "physical": "P", "quiet": "q",
         "no-symlinks": "s", "strip": "s", "zero": "z", "relative-to": "1:", "relative-base": "2:", "help": "3", "version": "4"},
    ),
    "sha1sum": _SUMS,
    "sha256sum": _SUMS,
    "sha512sum": _SUMS,
    "tac": ("brs:", {"before": "b", "regex": "r", "separator": "s:", "help": "h", "version": "v"}),
}  # fmt: skip
"""getopt's short options and the long ones, by program."""


def refusing(name: str, program: Program) -> Program:
    """The program, but for command lines with options that it does not have."""
    if name not in OPTIONS:
        return program
    short, long = OPTIONS[name]

    def run(args: list[str], call: Call) -> ExecResult:
        try:
            options(list(args), short, long)
        except UsageError as error:
            return refused(call, error)
        return program(args, call)

    return run
