"""What is needed to go on after a crash: every served episode as it stood after the last thing that changed it.

A journal is a folder of its owner's: one file with the server's credentials and ports, one for every episode. A world is
a value, so an episode is written whole, in some hundredths of a second; whoever changes something is answered when that
is on disk. Several who change something at once share a writing, and writing takes a part of the time only.
Between two writings a world changes by itself alone, and does so again in the same way when it goes on.

The files hold the answers to what is served. They are pickles: reading one runs what is in it, so a journal that others
can write to is refused.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from sregym_env.envs.episode import Episode
from sregym_env.errors import UsageError, told_of
from sregym_env.serve.access import Identities
from sregym_env.serve.certificates import Certificates
from sregym_env.serve.pace import Mode

EVERY_SECONDS = 30.0
"""How often an episode is written that nobody changes: so much of its time is lived again at most."""

REST = 3.0
"""After a writing, the least time until the next one, as a multiple of what it took."""

SERVER = "server"
"""The file with the server's own."""

_SUFFIX, _DRAFT = ".journal", ".draft"

_log = logging.getLogger(__name__)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class KeptServer:
    """What clients know a server by."""

    certificates: Certificates
    port: int
    desk_port: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for when an incident was opened."""

    problem: str | Mapping[str, Any]
    seed: int
    noise: bool
    variation: bool
    mode: Mode
    factor: float


@dataclass(frozen=True, slots=True)
class KeptIncident:
    """An incident as it stood."""

    name: str
    asked: Asked
    tokens: Mapping[str, str]
    identities: Identities
    episode: Episode
    reward: float
    briefing: str


class Journal:
    """A folder with what is kept. Raises UsageError for one that others may write to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise UsageError(
                f"the journal {folder} is open to others: make it yours alone (chmod 700), or name another folder"
            )

    def server(self) -> KeptServer | None:
        """What was kept of the server; None where there is nothing. Raises UsageError."""
        return self._read(SERVER, KeptServer)

    def keep_server(self, kept: KeptServer) -> None:
        """Keep what clients know the server by."""
        self._write(SERVER, kept)

    def incidents(self) -> list[KeptIncident]:
        """The incidents that were kept, in the order of their names. Raises UsageError."""
        files = [path.name.removesuffix(_SUFFIX) for path in self._folder.glob(f"incident-*{_SUFFIX}")]
        kept = [self._read(file, KeptIncident) for file in sorted(files, key=lambda name: (len(name), name))]
        return [each for each in kept if each is not None]

    def keep(self, incident: KeptIncident) -> None:
        """Keep an incident as it stands. Raises OSError."""
        self._write(f"incident-{incident.name}", incident)

    def forget(self, name: str) -> None:
        """Keep an incident no more."""
        self._path(f"incident-{name}").unlink(missing_ok=True)

    def clear(self) -> None:
        """Forget everything, and remove the folder where nothing else is in it."""
        for pattern in (f"*{_SUFFIX}", f"*{_DRAFT}"):
            for path in self._folder.glob(pattern):
                path.unlink(missing_ok=True)
        if not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"

    def _write(self, name: str, kept: object) -> None:
        path = self._path(name)
        # Never half of it under its own name: the process may be killed at any moment.
        draft = path.with_suffix(_DRAFT)
        with told_of(path), open(draft, "wb", opener=_private) as file:
            file.write(_writer().encode() + b"\n")
            pickle.dump(kept, file, pickle.HIGHEST_PROTOCOL)
        draft.replace(path)

    def _read(self, name: str, wanted: type[_T]) -> _T | None:
        try:
            raw = self._path(name).read_bytes()
        except FileNotFoundError:
            return None
        head, _, rest = raw.partition(b"\n")
        writer = head.decode(errors="replace")
        if writer != _writer():
            raise UsageError(
                f"the journal {self._folder} was written by {writer}, this is {_writer()}: what was served cannot go on; "
                "remove the folder to begin anew"
            )
        try:
            found = pickle.loads(rest)
        except Exception as error:  # a pickle fails in any way there is
            raise UsageError(
                f"the journal {self._folder} cannot be read ({type(error).__name__}: {error}): what was served cannot go on; "
                "remove the folder to begin anew"
            ) from error
        assert isinstance(found, wanted)
        return found


def _writer() -> str:
    """Who can read what is written here."""
    return f"sregym-env {version('sregym-env')} on Python {sys.version_info.major}.{sys.version_info.minor}"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class Keeper:
    """Writes one episode to the journal when it has changed, for several who wait at once."""

    def __init__(self, write: Callable[[], None]) -> None:
        self._write = write
        self._changed = 0
        self._kept = 0
        self._writing: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self._last = time.monotonic()

    def change(self) -> None:
        """Something has changed, or is about to before anybody can look."""
        self._changed += 1

    async def kept(self) -> None:
        """Wait until everything that has changed is on disk."""
        wanted = self._changed
        while self._kept < wanted:
            if self._writing is None:
                self._writing = asyncio.create_task(self._soon())
            # Whoever leaves meanwhile takes nobody's writing along.
            await asyncio.shield(self._writing)

    async def _soon(self) -> None:
        await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
        self.now()
        self._writing = None

    def now(self) -> None:
        """Write at once."""
        upto, began = self._changed, time.monotonic()
        try:
            self._write()
        except Exception as error:  # the episode goes on; it is said loudly that it could not be saved
            text = "the journal cannot be written, a crash from here on loses what happens: %s: %s"
            _log.error(text, type(error).__name__, error)
        self._kept = upto
        self._last = time.monotonic()
        self._not_before = self._last + REST * (self._last - began)

    def regularly(self) -> None:
        """Write if that was long ago."""
        if time.monotonic() - self._last >= EVERY_SECONDS:
            self.now()
