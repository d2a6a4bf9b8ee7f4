"""The programs that machines have: every one by its name. None keeps any state."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.awk import Awk
from sregym_env.shell.bc import Bc
from sregym_env.shell.builtins import PROGRAMS_TOO
from sregym_env.shell.commands import changing, lines, listing, tables, words
from sregym_env.shell.commands.crowded import crowded
from sregym_env.shell.commands.cut import Cut
from sregym_env.shell.commands.diff import Diff
from sregym_env.shell.commands.expr import Expr
from sregym_env.shell.commands.find import find
from sregym_env.shell.commands.grep import Grep
from sregym_env.shell.commands.jq import Jq
from sregym_env.shell.commands.refusing import refusing
from sregym_env.shell.commands.sed import Sed
from sregym_env.shell.commands.sorting import Paste, Sort, Wc
from sregym_env.shell.commands.tar import Tar
from sregym_env.shell.commands.tr import tr
from sregym_env.shell.commands.xargs import Xargs
from sregym_env.shell.run import Call, Program


def _builtin(args: list[str], call: Call) -> ExecResult:
    """A program that the shell knows itself."""
    return ExecResult(exit_code=call.run.builtin(call.name, args))


_PROGRAMS: Mapping[str, Program] = {
    **lines.PROGRAMS,
    **tables.PROGRAMS,
    **listing.PROGRAMS,
    **changing.PROGRAMS,
    **words.PROGRAMS,
    **dict.fromkeys(sorted(PROGRAMS_TOO), _builtin),
    "find": find,
    "tr": tr,
    **{
        command.name: command.execute
        for command in (
            Awk(), Bc(), Cut(), Diff(), Expr(), Grep(), Grep("egrep"), Grep("fgrep"), Jq(), Paste(), Sed(), Sort(), Tar(),
            Wc(), Xargs(),
        )
    },
}  # fmt: skip

LIBRARY: Mapping[str, Program] = {
    name: crowded(name, refusing(name, program)) for name, program in _PROGRAMS.items()
}
"""Programs by name."""
