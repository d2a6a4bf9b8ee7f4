"""``sregym app``: look at an application of one's own before it is played.

The commands import what they need when they run, as those of :mod:`sregym_env.cli.main` do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sregym_env.cli.errors import told_errors

app = typer.Typer(name="app", help="Check an application of your own.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Check an application of your own."""


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(help="The folder with app.yaml and manifests.")],
    seconds: Annotated[float, typer.Option(min=1, help="How long the users are watched.")] = 60.0,
) -> None:
    """Say what is missing, deploy it, show its call graph, and count the (fault, target) pairs that fit."""
    from sregym_env.cli.checking import check_folder

    with told_errors():
        check_folder(folder, seconds)
