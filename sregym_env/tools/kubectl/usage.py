"""Help texts: ``kubectl --help``, ``kubectl VERB --help``, and what an unknown command gets."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.tools.kubectl.call import Verb
from sregym_env.tools.kubectl.flags import GLOBAL_FLAGS, Flag

GROUPS = (
    "Basic Commands (Beginner)",
    "Basic Commands (Intermediate)",
    "Deploy Commands",
    "Cluster Management Commands",
    "Troubleshooting and Debugging Commands",
    "Advanced Commands",
    "Settings Commands",
    "Other Commands",
)


def root_help(verbs: Sequence[Verb]) -> str:
    """What ``kubectl`` alone prints."""
    out = ["kubectl controls the Kubernetes cluster manager.\n"]
    for group in GROUPS:
        members = [verb for verb in verbs if (verb.group or GROUPS[-1]) == group]
        if not members:
            continue
        width = max(len(verb.name) for verb in members)
        out.append(f"\n{group}:\n")
        out += [f"  {verb.name:<{width}}   {verb.summary}\n" for verb in members]
    out.append("\nUsage:\n  kubectl [flags] [options]\n\n")
    out.append('Use "kubectl <command> --help" for more information about a given command.\n')
    out.append('Use "kubectl options" for a list of global command-line options (applies to all commands).\n')
    return "".join(out)


def verb_help(verb: Verb, command: str) -> str:
    """What ``kubectl COMMAND --help`` prints."""
    out = [f"{verb.description or verb.summary + '.'}\n"]
    if verb.aliases:
        out.append(f"\nAliases:\n{', '.join((verb.name, *verb.aliases))}\n")
    if verb.examples:
        out.append("\nExamples:\n" + "\n\n".join(f"  {example}" for example in verb.examples) + "\n")
    if verb.verbs:
        width = max(11, *(len(v.name) for v in verb.verbs))
        out.append("\nAvailable Commands:\n")
        out += [f"  {v.name:<{width}}   {v.summary}\n" for v in verb.verbs]
    if verb.flags:
        out.append(
            "\nOptions:\n" + "\n".join(flag_help(flag) for flag in sorted(verb.flags, key=lambda f: f.name))
        )
    usage = f"{(verb.usage or command + ' [flags]').removesuffix(' [options]')} [options]"
    out.append(f"\nUsage:\n  kubectl {usage}\n\n")
    if verb.verbs:
        out.append(f'Use "kubectl {command} <command> --help" for more information about a given command.\n')
    out.append('Use "kubectl options" for a list of global command-line options (applies to all commands).\n')
    return "".join(out)


def flag_help(flag: Flag) -> str:
    """One flag as help lists it."""
    short = f"-{flag.short}, " if flag.short else ""
    return f"    {short}--{flag.name}={_shown(flag)}:\n\t{flag.help}\n"


_LOGGING = ("v", "vmodule")
"""Flags whose values are no strings to Go and stand without quotes."""


def _shown(flag: Flag) -> str:
    if flag.kind == "bool":
        return "true" if flag.default else "false"
    if flag.kind in ("strings", "csv"):
        return "[]"
    if flag.kind == "int":
        return str(flag.default or 0)
    if flag.kind == "duration":
        return f"{int(flag.default or 0) // 10**9}s"
    if flag.name in _LOGGING:
        return str(flag.default or "")
    return f"'{flag.default or ''}'"


def options_help() -> str:
    """What ``kubectl options`` prints."""
    flags = sorted((flag for flag in GLOBAL_FLAGS if flag.name != "help"), key=lambda flag: flag.name)
    return "The following options can be passed to any command:\n\n" + "\n".join(map(flag_help, flags)) + "\n"


def unknown_command(word: str, verbs: Sequence[Verb]) -> str:
    """The complaint about a command kubectl does not have, with near ones."""
    text = f'error: unknown command "{word}" for "kubectl"'
    ordered = sorted(verbs, key=lambda verb: GROUPS.index(verb.group or GROUPS[-1]))
    near = [verb.name for verb in ordered if _near(word.lower(), verb.name)]
    if near:
        text += "\n\nDid you mean this?\n" + "".join(f"\t{name}\n" for name in near).rstrip("\n")
    return text


def _near(word: str, name: str) -> bool:
    return name.startswith(word) or _distance(word, name) <= 2


def _distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]
