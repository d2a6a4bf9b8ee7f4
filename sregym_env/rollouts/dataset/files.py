"""Files of a dataset: lines of JSON compressed with zstandard, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

import zstandard

from sregym_env.errors import SREGymError, told_of

LEVEL: Final = 9
"""Of compression: half the size of the default on transcripts, and still faster than episodes are played."""

_CHUNK = 1 << 20


class CutOff(SREGymError):
    """A file ends in the middle: what wrote it was killed, or a download broke off."""


def compressed(lines: list[bytes]) -> bytes:
    """Lines as one zstandard frame whose reader notices when any of it is missing."""
    whole = b"".join(line + b"\n" for line in lines)
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(whole)


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a ``.jsonl`` or ``.jsonl.zst`` file, in constant memory.

    Raises :class:`CutOff` after the last whole line of a file that ends in the middle.
    """
    rest = b""
    for chunk in _chunks(path):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    if rest:
        raise CutOff(f"{path} ends in the middle of a line")


def _chunks(path: Path) -> Iterator[bytes]:
    with told_of(path), path.open("rb") as file:
        if path.suffix != ".zst":
            while chunk := file.read(_CHUNK):
                yield chunk
            return
        frame = zstandard.ZstdDecompressor().decompressobj()
        while not frame.eof:
            chunk = file.read(_CHUNK)
            if not chunk:
                raise CutOff(f"{path} ends in the middle")
            try:
                yield frame.decompress(chunk)
            except zstandard.ZstdError as error:
                raise CutOff(f"{path} is damaged: {error}") from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there completely or not at all, also after a power failure."""
    temporary = path.with_name(f".{path.name}.new")
    with told_of(path), temporary.open("wb") as file:
        file.write(data)
        synced(file)
    put_in_place(temporary, path)


def synced(file: BinaryIO) -> None:
    """Close a file when the disk has it."""
    file.flush()
    os.fsync(file.fileno())
    file.close()


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a file that is on disk its name."""
    os.replace(temporary, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    hashed = sha256()
    with told_of(path), path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            hashed.update(chunk)
    return hashed.hexdigest()
