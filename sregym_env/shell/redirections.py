"""Opens what redirections name: a table of descriptors becomes another."""

from __future__ import annotations

import re
from errno import EBADF, EEXIST, EISDIR, EMFILE, ENOENT
from os import strerror

from sregym_env.shell.expansion import Expander
from sregym_env.shell.files import FileEntry, decoded
from sregym_env.shell.flow import ShellError
from sregym_env.shell.run import Run
from sregym_env.shell.streams import FileSink, Input, Nowhere, Stream
from sregym_env.shell.syntax.tree import Redirection

Table = dict[int, Stream]
"""What each descriptor leads to."""

FIRST_FREE = 10
"""Where bash begins to look for a descriptor of its own choice."""

_DUPLICATE = re.compile(r"(\d+)(-?)\Z")
_OWN = re.compile(r"/dev/fd/(\d{1,3})\Z")


def opened(expander: Expander, redirections: tuple[Redirection, ...], table: Table) -> Table:
    """The table after redirections, read from left to right. Raises OSError, ShellError."""
    made = dict(table)
    run = expander.run
    # An expansion in a redirection writes to where the redirections before it lead.
    outer, run.table = run.table, made
    try:
        for redirection in redirections:
            _apply(expander, redirection, made)
    finally:
        run.table = outer
    return made


def _apply(expander: Expander, node: Redirection, table: Table) -> None:
    run = expander.run
    operator = node.operator
    descriptor = node.descriptor
    if node.variable:
        free = (number for number in range(FIRST_FREE, FIRST_FREE + 250) if number not in table)
        descriptor = next(free, None)
        if descriptor is None:
            raise OSError(EMFILE, strerror(EMFILE), node.variable)
        expander.variables.set(node.variable, str(descriptor))
    elif descriptor is None:
        descriptor = 0 if operator[0] == "<" else 1
    if operator == "<<":
        table[descriptor] = Input(expander.text(node.target))
        return
    if operator == "<<<":
        table[descriptor] = Input(expander.text(node.target) + "\n")
        return
    target = _target(expander, node)
    if operator in (">&", "<&") and _duplicated(node, descriptor, target, table):
        return
    if operator in ("&>", "&>>", ">&"):
        table[1] = table[2] = _written(run, target, append=operator == "&>>", table=table)
    elif operator in ("<", "<>"):
        table[descriptor] = _read(run, target, table, make=operator == "<>")
    else:
        if operator == ">" and "noclobber" in run.session.flags:
            path = run.files.resolve_path(run.session.cwd, target)
            if isinstance(run.files.entry(path), FileEntry):
                raise FileExistsError(EEXIST, "cannot overwrite existing file", target)
        table[descriptor] = _written(run, target, append=operator == ">>", table=table)


def _target(expander: Expander, node: Redirection) -> str:
    fields = expander.fields((node.target,))
    if len(fields) != 1:
        raise ShellError(f"{node.target.source}: ambiguous redirect")
    return fields[0]


def _duplicated(node: Redirection, descriptor: int, target: str, table: Table) -> bool:
    """``2>&1``, ``3<&-``: whether it is one of these."""
    if target == "-":
        table.pop(descriptor, None)
        return True
    match = _DUPLICATE.match(target)
    if match is None:
        if node.operator == ">&" and node.descriptor is None:
            return False
        raise ShellError(f"{target}: ambiguous redirect")
    # Python refuses to convert thousands of digits, which an agent may type.
    source = int(match[1][:6])
    if source not in table:
        raise OSError(EBADF, strerror(EBADF), target)
    table[descriptor] = table[source]
    if match[2]:
        table.pop(source, None)
    return True


def _special(target: str, table: Table) -> Stream | None:
    names = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2, "/dev/tty": 1}
    number = names.get(target)
    if number is None:
        match = _OWN.match(target)
        if match is None:
            return None
        number = int(match[1])
    return table.get(number)


def _written(run: Run, target: str, *, append: bool, table: Table) -> Stream:
    if target == "/dev/null":
        return Nowhere()
    special = _special(target, table)
    if special is not None:
        return special
    path = run.files.resolve_path(run.session.cwd, target)
    _check_device(run, path, target)
    if not target or run.files.is_folder(path):
        raise IsADirectoryError(EISDIR, strerror(EISDIR) if target else "No such file or directory", target)
    # What is on its way to this file must be in it before it is emptied or read.
    run.flush()
    try:
        if not append or run.files.entry(path) is None:
            run.files.put_bytes(path, b"")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, target) from None
    sink = FileSink(run.files, path)
    run.add_sink(sink)
    return sink


def _check_device(run: Run, path: str, target: str) -> None:
    """No network through files: what nobody hears must not look as if it had been sent. Raises FileNotFoundError."""
    if (
        path.startswith("/dev/")
        and not run.files.is_folder(path.rpartition("/")[0] or "/")
        and path.count("/") > 2
    ):
        raise FileNotFoundError(ENOENT, strerror(ENOENT), target)


def _read(run: Run, target: str, table: Table, *, make: bool) -> Stream:
    if target == "/dev/null":
        return Input("")
    special = _special(target, table)
    if special is not None:
        return special
    run.flush()
    path = run.files.resolve_path(run.session.cwd, target)
    if make and run.files.entry(path) is None:
        _check_device(run, path, target)
        run.files.put_bytes(path, b"")
    try:
        text = decoded(run.files.read(path))
    except OSError as error:
        raise type(error)(error.errno, error.strerror, target) from None
    # A process substitution is a pipe, in which nobody can go back.
    return Input(text, seekable=not target.startswith("/dev/fd/"))
