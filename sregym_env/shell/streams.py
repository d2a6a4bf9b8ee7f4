"""Descriptors: where a command's output goes, in the order in which it is written, and where its input comes from."""

from __future__ import annotations

from typing import Protocol

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.crowds import joined, written_out
from sregym_env.shell.files import Files, encoded


class Sink(Protocol):
    """Where output goes."""

    def write(self, text: str) -> None:
        """Take some more."""
        ...


class Transcript:
    """All that one run has written to its terminal, in order, with the descriptor of each piece."""

    __slots__ = ("_left", "chunks", "limit")

    def __init__(self, limit: int) -> None:
        self.chunks: list[tuple[int, str]] = []
        self.limit = limit
        self._left = {1: limit, 2: limit}

    def add(self, descriptor: int, text: str) -> None:
        """Note what was written; what is beyond the limit of a stream is dropped and said to be."""
        left = self._left[descriptor]
        if left < 0:
            return
        if len(text) > left:
            text = f"{text[:left]}\n... [output cut at {self.limit} bytes]\n"
            self._left[descriptor] = -1
        else:
            self._left[descriptor] = left - len(text)
        if text:
            self.chunks.append((descriptor, text))

    def result(self, exit_code: int, cost: int = 0) -> ExecResult:
        """What was written, stream by stream and as a terminal shows it."""
        chunks = self.chunks
        if all(descriptor == 1 for descriptor, _ in chunks):
            return ExecResult(joined([text for _, text in chunks]), "", exit_code, (), cost)
        stdout = joined([text for descriptor, text in chunks if descriptor == 1])
        stderr = "".join(text for descriptor, text in chunks if descriptor == 2)
        return ExecResult(stdout, stderr, exit_code, tuple(chunks) if stdout else (), cost)


class Terminal:
    """One of the two streams of a transcript."""

    __slots__ = ("_descriptor", "_transcript")

    def __init__(self, transcript: Transcript, descriptor: int) -> None:
        self._transcript = transcript
        self._descriptor = descriptor

    def write(self, text: str) -> None:
        """Take some more."""
        self._transcript.add(self._descriptor, text)


class Capture:
    """Output that a pipe or a substitution takes."""

    __slots__ = ("_left", "_texts")

    def __init__(self, limit: int) -> None:
        self._texts: list[str] = []
        self._left = limit

    def write(self, text: str) -> None:
        """Take some more; what is beyond the limit is lost."""
        if len(text) > self._left:
            text = text[: max(self._left, 0)]
        self._left -= len(text)
        self._texts.append(text)

    @property
    def text(self) -> str:
        """All of it."""
        return joined(self._texts)


class FileSink:
    """Output that goes to a file; it is there once :meth:`flush` was called."""

    __slots__ = ("_files", "_path", "_texts", "through")

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path
        self._texts: list[str] = []
        self.through = False
        """Whether nobody will call :meth:`flush` any more, so that everything is written as it comes."""

    def write(self, text: str) -> None:
        """Take some more."""
        self._texts.append(text)
        if self.through:
            self.flush()

    def flush(self) -> None:
        """Write what was taken. Raises OSError where that cannot be (a full disk)."""
        if self._texts:
            data = encoded(joined(self._texts))
            self._texts.clear()
            self._files.append_bytes(self._path, data)


class Nowhere:
    """``/dev/null``, or a descriptor that is closed."""

    __slots__ = ()

    def write(self, text: str) -> None:
        """Lose it."""


class Input:
    """A standard input that commands share: what one has read is gone for the next."""

    __slots__ = ("_at", "_text", "seekable")

    def __init__(self, text: str, *, seekable: bool = False) -> None:
        self._text = text
        self._at = 0
        self.seekable = seekable
        """Whether it is a file, in which a command can go back to where it has stopped."""

    @property
    def ended(self) -> bool:
        """Whether there is nothing left."""
        return self._at >= len(self._text)

    @property
    def mark(self) -> tuple[str, int]:
        """Where reading stands, to see later whether anybody has read."""
        return self._text, self._at

    @property
    def rest(self) -> str:
        """What has not been read."""
        return self._text[self._at :] if self._at else self._text

    @rest.setter
    def rest(self, text: str) -> None:
        self._text, self._at = text, 0

    def take(self) -> str:
        """Read all that is left."""
        text = self.rest
        self._at = len(self._text)
        return text

    def until(self, delimiter: str) -> tuple[str, bool]:
        """Read up to a delimiter, which is taken and not given; whether there was one."""
        self._text = written_out(self._text)
        found = self._text.find(delimiter, self._at)
        if found < 0:
            return self.take(), False
        text = self._text[self._at : found]
        self._at = found + len(delimiter)
        return text, True

    def characters(self, count: int) -> str:
        """Read so many characters at most."""
        self._text = written_out(self._text)
        text = self._text[self._at : self._at + count]
        self._at += len(text)
        return text


Stream = Sink | Input
