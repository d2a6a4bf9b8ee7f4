"""Text tools of our own, in the place of those of the interpreter that differ from the real ones."""

from __future__ import annotations

from typing import Any

from sregym_env.shell.bc import Bc
from sregym_env.shell.commands.cut import Cut
from sregym_env.shell.commands.diff import Diff
from sregym_env.shell.commands.expr import Expr
from sregym_env.shell.commands.find import Find
from sregym_env.shell.commands.grep import Grep
from sregym_env.shell.commands.jq import Jq
from sregym_env.shell.commands.sed import Sed
from sregym_env.shell.commands.tar import Tar


def library() -> dict[str, Any]:
    """The commands by name; they keep no state."""
    own: list[Any] = [
        Bc(),
        Cut(),
        Diff(),
        Expr(),
        Find(),
        Grep(),
        Grep("egrep"),
        Grep("fgrep"),
        Jq(),
        Sed(),
        Tar(),
    ]
    return {command.name: command for command in own}
