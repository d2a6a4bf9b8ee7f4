"""The commands that are part of the shell itself."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.shell.builtins import control, state, text
from sregym_env.shell.builtins.refusing import refusing
from sregym_env.shell.interpreter import Builtin

TABLE: Mapping[str, Builtin] = {
    ":": control.nothing,
    "true": control.nothing,
    "false": control.false,
    "echo": text.echo,
    "printf": text.printf,
    "read": text.read,
    "mapfile": text.mapfile,
    "readarray": text.mapfile,
    "cd": state.cd,
    "pwd": refusing("pwd", state.pwd),
    "pushd": state.pushd,
    "popd": state.popd,
    "dirs": refusing("dirs", state.dirs),
    "declare": state.declare,
    "typeset": state.declare,
    "local": state.local,
    "export": state.export,
    "readonly": state.readonly,
    "unset": state.unset,
    "set": state.set_,
    "shopt": refusing("shopt", state.shopt),
    "shift": state.shift,
    "getopts": state.getopts,
    "let": state.let,
    "alias": refusing("alias", state.alias),
    "unalias": refusing("unalias", state.unalias),
    "eval": refusing("eval", control.eval_),
    "source": control.source,
    ".": control.source,
    "exec": refusing("exec", control.exec_),
    "exit": control.exit_,
    "return": control.return_,
    "break": control.break_,
    "continue": control.continue_,
    "trap": refusing("trap", control.trap),
    "wait": refusing("wait", control.wait),
    "type": refusing("type", control.type_),
    "command": refusing("command", control.command),
    "builtin": refusing("builtin", control.builtin),
    "test": control.test,
    "[": control.bracket,
    "hash": refusing("hash", control.hash_),
    "umask": refusing("umask", control.umask),
    "ulimit": refusing("ulimit", control.ulimit),
    "times": refusing("times", control.times),
}
"""Every builtin by its name."""

PROGRAMS_TOO = frozenset(("echo", "printf", "pwd", "true", "false", "test", "["))
"""Builtins that are programs as well, which machines have or lack."""
