"""``find``: the interpreter's own, with ``-exec`` given paths as they were found rather than absolute ones."""

from __future__ import annotations

from shlex import quote
from typing import Any

from just_bash.commands.find.find import FindCommand
from just_bash.types import CommandContext
from just_bash.types import ExecResult as BashResult


class Find:
    """The command."""

    name = "find"

    def __init__(self) -> None:
        self._plain: Any = FindCommand()

    async def execute(self, args: list[str], ctx: CommandContext) -> BashResult:
        """Find the files, then run the command of a trailing ``-exec`` on them, singly or (``+``) together."""
        if "-exec" not in args:
            result: BashResult = await self._plain.execute(args, ctx)
            return result
        start = args.index("-exec")
        end = next((i for i in range(start, len(args)) if args[i] in (";", "+")), -1)
        if end < 0:
            return BashResult("", "find: missing argument to `-exec'\n", 1)
        command = args[start + 1 : end]
        found: BashResult = await self._plain.execute([*args[:start], *args[end + 1 :], "-print"], ctx)
        paths = found.stdout.splitlines()
        if args[end] == "+":
            lines = [[*command[:-1], *paths]] if paths and command[-1:] == ["{}"] else []
        else:
            lines = [[word.replace("{}", path) for word in command] for path in paths]
        out, err, code = [], [found.stderr], found.exit_code
        assert ctx.exec is not None
        for words in lines:
            done: Any = await ctx.exec(" ".join(map(quote, words)), {"cwd": ctx.cwd})
            out.append(done.stdout)
            err.append(done.stderr)
            code = 1 if done.exit_code and args[end] == "+" else code
        return BashResult("".join(out), "".join(err), code)
