"""``jq`` with the options that the interpreter's own leaves out: variables and long names."""

from __future__ import annotations

import json
from typing import Any

from just_bash.commands.jq.jq import JqCommand
from just_bash.types import CommandContext
from just_bash.types import ExecResult as BashResult

from sregym_env.shell.driver import drive

_LONG = {
    "--compact-output": "-c",
    "--null-input": "-n",
    "--exit-status": "-e",
    "--ascii-output": "-a",
    "--raw-output": "-r",
    "--slurp": "-s",
    "--sort-keys": "-S",
    "--join-output": "-j",
    "--raw-input": "-R",
    "--compact": "-c",
    "--tab": "--tab",
}
_IGNORED = frozenset(("-M", "-C", "--monochrome-output", "--color-output", "--unbuffered", "--seq"))


class Jq:
    """The command."""

    name = "jq"

    def __init__(self) -> None:
        self._plain = JqCommand()

    async def execute(self, args: list[str], ctx: CommandContext) -> BashResult:
        """Put variables before the filter, then let the interpreter's own command run."""
        rest, kept, bound = list(args), [], ""
        program: str | None = None
        while rest:
            word = rest.pop(0)
            if word in ("--arg", "--argjson", "--slurpfile", "--rawfile"):
                if len(rest) < 2:
                    return BashResult("", f"jq: {word} takes two parameters (e.g. {word} name value)\n", 2)
                name, value = rest.pop(0), rest.pop(0)
                try:
                    bound += f"{_literal(word, value, ctx)} as ${name} | "
                except ValueError:
                    return BashResult("", f"jq: Invalid JSON text passed to {word}\n", 2)
                except OSError:
                    return BashResult("", f"jq: Bad JSON in {word} {name} {value}: Could not open\n", 2)
            elif word == "--indent" and rest:
                rest.pop(0)
            elif word in _IGNORED:
                continue
            elif word in _LONG:
                kept.append(_LONG[word])
            elif program is None and (not word.startswith("-") or len(word) == 1):
                program = word
                kept.append(word)
            else:
                kept.append(word)
        if bound and program is not None:
            kept[kept.index(program)] = f"{bound}({program})"
        result: BashResult = await self._plain.execute(kept, ctx)
        return result


def _literal(option: str, value: str, ctx: CommandContext) -> str:
    """A JSON text of what the option binds. Raises ValueError and OSError."""
    found: Any = value
    if option == "--argjson":
        found = json.loads(value)
    elif option != "--arg":
        text = str(drive(ctx.fs.read_file(ctx.fs.resolve_path(ctx.cwd, value))))
        found = text if option == "--rawfile" else [json.loads(text)]
    return json.dumps(found)
