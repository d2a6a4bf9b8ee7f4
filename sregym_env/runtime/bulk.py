"""Files of which nothing but the size matters: their bytes are counted and never kept.

In a tree of files such a one has a short text that says how large it is and when it was written last, so that it is
copied, moved and removed as any other file.
"""

from __future__ import annotations

from sregym_env.runtime.numbers import whole

_HEAD = "G@\0\x10\0\0\xb0\r\0\1\xc1"
_TAIL = "\xff\xff\n"
_RAW_HEAD, _RAW_TAIL = _HEAD.encode(), _TAIL.encode()
LARGEST = 1 << 50
"""Bytes of one file at most."""


def text(size: int, written: int) -> str:
    """The text that stands for a file of ``size`` bytes, last written at ``written``, microseconds."""
    return f"{_HEAD}{min(max(size, 0), LARGEST)},{written}{_TAIL}"


def size(content: str | bytes) -> int:
    """Bytes of a file with such a content, whether it stands for more or for itself."""
    found = _read(content)
    if found is not None:
        return found[0]
    return len(content) if isinstance(content, bytes) else len(content.encode("utf-8", "surrogateescape"))


def written(content: str | bytes) -> int | None:
    """When a file whose bytes are only counted was written last, microseconds; None for any other."""
    found = _read(content)
    return None if found is None else found[1]


def counted(content: object) -> int:
    """Bytes that a file stands for beyond the text that is kept of it; 0 for whatever is no such file."""
    found = _read(content) if isinstance(content, str | bytes) else None
    return 0 if found is None else found[0]


def _read(content: str | bytes) -> tuple[int, int] | None:
    if isinstance(content, bytes):
        if not content.startswith(_RAW_HEAD) or not content.endswith(_RAW_TAIL):
            return None
        inner = content[len(_RAW_HEAD) : -len(_RAW_TAIL)].decode("ascii", "replace")
    elif content.startswith(_HEAD) and content.endswith(_TAIL):
        inner = content[len(_HEAD) : -len(_TAIL)]
    else:
        return None
    first, _, second = inner.partition(",")
    amount, time = whole(first), whole(second)
    return None if amount is None or time is None else (min(amount, LARGEST), time)
