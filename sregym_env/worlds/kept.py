"""Base worlds on disk: made by the process that needs one first, and read by every one after it.

To make a base world takes up to a second, to read one some hundredths (``sregym bench --only kept_base``). Where many processes play, or every run starts a
new one, a folder named by the environment variable ``SREGYM_CACHE`` keeps them. They are the same worlds, byte for
byte: a file belongs to these very sources, this Python and this machine's kind, and to no other.

The files are pickles, and reading one runs what is in it: the folder must be one that nobody else can write to.
"""

from __future__ import annotations

import os
import pickle
import platform
import sys
import warnings
import zlib
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np

from sregym_env.cluster.app import App
from sregym_env.errors import UsageError
from sregym_env.sim.bringup.renewal import Renewal

VARIABLE = "SREGYM_CACHE"
"""Names the folder; nothing is kept on disk where it is not set."""

COMPRESSION = 1
"""Of zlib: a base world takes 0.45 MB."""

MADE_BY = ("apps", "cluster", "errors.py", "kube", "runtime", "shell", "sim", "telemetry", "tools", "worlds")
"""The parts of this package that worlds are made by: all that what makes them imports."""

_SUM = 16
"""Bytes of the checksum that a file begins with."""

_OWN = "sregym_env."
"""How the places of applications begin that belong to these sources; a user's own may change without them."""


def read(app: App, number: int) -> Renewal | None:
    """A base world of an application, prepared for being drawn again; None where it is not kept, or not to be read.

    Raises UsageError where the folder cannot be used.
    """
    path = _path(app, number)
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    body = content[_SUM:]
    if _sum(body) != content[:_SUM]:
        return None
    found: Renewal = pickle.loads(zlib.decompress(body))
    return found


def write(app: App, number: int, made: Renewal) -> None:
    """Keep a base world for other processes. A disk that does not take it is warned of, and nothing else is lost."""
    path = _path(app, number)
    if path is None:
        return
    body = zlib.compress(pickle.dumps(made, pickle.HIGHEST_PROTOCOL), COMPRESSION)
    try:
        # Whoever reads meanwhile finds all of it, or none.
        with NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
            try:
                file.write(_sum(body) + body)
                file.flush()
                os.replace(file.name, path)
            except OSError:
                os.unlink(file.name)
                raise
    except OSError as error:
        warnings.warn(
            f"{VARIABLE}: {path} cannot be written ({error.strerror})", RuntimeWarning, stacklevel=2
        )


def _path(app: App, number: int) -> Path | None:
    """Where a base world is kept; None for one that is not."""
    named = os.environ.get(VARIABLE, "")
    if not named or not app.place.startswith(_OWN):
        return None
    return _folder(named) / f"{app.name}-{number}.world"


@cache
def _folder(named: str) -> Path:
    """The folder of these sources' worlds. Raises UsageError."""
    folder = Path(named).expanduser() / _version()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        raise UsageError(
            f"{VARIABLE}={named}: {error.strerror}; name a folder that can be written, or unset it"
        ) from error
    for path, known in ((folder, status), (folder.parent, folder.parent.stat())):
        if os.name == "posix" and (known.st_uid not in (0, os.geteuid()) or known.st_mode & 0o022):
            raise UsageError(
                f"{VARIABLE}={named}: others can write to {path}, and what is read there is run; name a folder of your own"
            )
    return folder


@cache
def _version() -> str:
    """What worlds are made by: the sources of this package, Python, numpy and the kind of machine."""
    found = blake2b(digest_size=12)
    known = (sys.implementation.cache_tag, np.__version__, platform.machine(), zlib.ZLIB_RUNTIME_VERSION)
    found.update("\x1f".join(map(str, known)).encode())
    root = str(Path(__file__).parents[1])
    for part in MADE_BY:
        for path in _files(os.path.join(root, part)):
            with open(path, "rb") as file:
                content = file.read()
            found.update(f"\x1f{path[len(root) :]}\x1f{len(content)}\x1f".encode())
            found.update(content)
    return found.hexdigest()


def _files(path: str) -> Iterator[str]:
    """The file at a path, or all below it, in one order."""
    if os.path.isfile(path):
        yield path
        return
    for name in sorted(os.listdir(path)):
        if name != "__pycache__":
            yield from _files(os.path.join(path, name))


def _sum(body: bytes) -> bytes:
    return blake2b(body, digest_size=_SUM).digest()
