"""Texts in which words are exchanged: taken apart once, written again with other words at the speed of joining."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import shake_256
from itertools import accumulate
from typing import Any

import orjson

from sregym_env.sim.bringup.renewal.identities import AFTER, BEFORE, HASH, SUFFIX, UID, addresses
from sregym_env.sim.containers.images import image_id

BETWEEN = "\0\1"
"""Separates texts while they are written; no text holds it."""

Pieces = list[str | int]
"""A text: what stays, and numbers of words in place of what does not."""

_TOKEN = r"eyJ[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+"
"""A JSON Web Token: ``eyJ`` is how ``{"`` begins in base64."""
_DIGITS = "[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}"
_LINE = "\n"

_KEY_ID = "kid"
_SIGNATURE_BYTES = 64


@dataclass(frozen=True, slots=True)
class Derived:
    """A word that follows from others: a text with exchanged words, encoded."""

    pieces: tuple[str | int, ...]
    encoded: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Script:
    """Texts with gaps for words.

    Words are numbered: those that are given, then derived ones.
    """

    parts: tuple[str, ...]
    """What stays and, at every odd place, a gap."""
    words: tuple[int, ...]
    """The word that goes into each gap."""
    derived: tuple[Derived, ...]

    def written(self, given: Sequence[str]) -> list[str]:
        """The texts with these words."""
        words = [*given]
        for word in self.derived:
            words.append(word.encoded(_joined(word.pieces, words)))
        if not self.words:
            return []
        parts = [*self.parts]
        parts[1::2] = map(words.__getitem__, self.words)
        return "".join(parts).split(BETWEEN)


def _joined(pieces: Iterable[str | int], words: Sequence[str]) -> str:
    return "".join([piece if isinstance(piece, str) else words[piece] for piece in pieces])


class Reader:
    """Finds words in texts.

    ``words`` are found where they stand alone, ``suffixes`` where they end a name, ``texts`` where no letter or
    digit goes before or after them; the values are their numbers.
    """

    def __init__(
        self,
        words: Mapping[str, int],
        suffixes: Mapping[str, int],
        texts: Mapping[str, int],
        first_numbers: Collection[str],
    ) -> None:
        self.derived: list[Derived] = []
        self._words = dict(words)
        self._suffixes = suffixes
        self._exact = dict(texts)
        self._given = len({*words.values(), *suffixes.values(), *texts.values()})
        self._address = addresses(first_numbers)
        self._find = self._compiled()

    def _compiled(self) -> Callable[[str], Iterable[re.Match[str]]]:
        longest_first = sorted(self._exact, key=lambda text: (-len(text), text))
        exact = "|".join(map(re.escape, longest_first)) or r"(?!)"
        any_ = f"(?P<exact>{exact})|(?P<token>{_TOKEN})|{UID}|{self._address}|{SUFFIX}|{HASH}|{_DIGITS}"
        return re.compile(f"{BEFORE}(?:{any_}){AFTER}").finditer

    def knows(self, secrets: Iterable[str], images: Iterable[str]) -> None:
        """Learn what follows from words: texts in base64, and digests of images whose names hold words."""
        found: dict[str, tuple[Pieces, Callable[[str], str]]] = {}
        for coded in secrets:
            pieces = self.pieces(_decoded(coded))
            if pieces is not None:
                found[coded] = (pieces, _base64)
        for reference in images:
            pieces = self.pieces(reference)
            if pieces is not None:
                found[image_id(reference)] = (pieces, image_id)
        for text, (pieces, encoded) in found.items():
            self._exact[text] = self._derive(pieces, encoded)
        if found:
            self._find = self._compiled()

    def pieces(self, text: str) -> Pieces | None:
        """A text taken apart; None where no word is in it."""
        return self.read([text]).get(text)

    def read(self, texts: Iterable[str]) -> dict[str, Pieces]:
        """Different texts taken apart; those in which no word is are left out."""
        listed = list(texts)
        ends = list(accumulate(map(len, listed), lambda end, length: end + len(_LINE) + length))
        # All at once, for most have nothing to be found.
        whole = _LINE.join(listed)
        found: dict[str, Pieces] = {}
        last = -1
        pieces: Pieces = []
        done = 0
        for match in self._find(whole):
            word = self._word(whole, match)
            if word is None:
                continue
            start, end = match.span()
            if start >= (ends[last] if last >= 0 else 0):
                if last >= 0:
                    pieces.append(whole[done : ends[last]])
                last = bisect_right(ends, start)
                done = ends[last] - len(listed[last])
                pieces = found[listed[last]] = []
            pieces += (whole[done:start], word)
            done = end
        if last >= 0:
            pieces.append(whole[done : ends[last]])
        return found

    def _word(self, text: str, match: re.Match[str]) -> int | None:
        word, start = match[0], match.start()
        if match.lastgroup == "exact":
            return self._exact[word]
        if match.lastgroup == "token":
            return self._web_token(word)
        number = self._words.get(word)
        if number is None and text[start - 1 : start] == "-":
            number = self._suffixes.get(word)
        if number is None and match["dot"] == "-":
            dotted = self._words.get(word.replace("-", "."))
            if dotted is not None:
                number = self._words[word] = self._derive(["", dotted, ""], _dashed)
        return number

    def _web_token(self, token: str) -> int | None:
        """A JSON Web Token whose claims hold words."""
        head, claims, _ = (_decoded_url(part) for part in token.split("."))
        pieces = self.pieces(claims)
        if pieces is None or not head:
            return None
        # Any word tells the signing key of one world from that of another.
        number = self._words[token] = self._derive(
            [0, f"\n{head}\n", *pieces], partial(_signed, token, claims)
        )
        return number

    def _derive(self, pieces: Pieces, encoded: Callable[[str], str]) -> int:
        self.derived.append(Derived(tuple(pieces), encoded))
        return self._given + len(self.derived) - 1

    def script(self, texts: Iterable[Pieces]) -> Script:
        """A script of these texts."""
        parts = [""]
        words: list[int] = []
        for index, pieces in enumerate(texts):
            if index:
                parts[-1] += BETWEEN
            for piece in pieces:
                if isinstance(piece, str):
                    parts[-1] += piece
                else:
                    words.append(piece)
                    parts += ("", "")
        return Script(tuple(parts), tuple(words), tuple(self.derived))


def _decoded(coded: str) -> str:
    try:
        return b64decode(coded, validate=True).decode()
    except ValueError:
        return ""


def _base64(text: str) -> str:
    return b64encode(text.encode()).decode()


def _dashed(address: str) -> str:
    return address.replace(".", "-")


def _decoded_url(part: str) -> str:
    try:
        return urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()
    except ValueError:
        return ""


def _signed(old: str, before: str, text: str) -> str:
    """A token made of a key's name, the head and the claims in lines; the old one where these are the claims it had.
    Nobody checks its signature: a real one takes milliseconds."""
    key, head, claims = text.split("\n", 2)
    if claims == before:
        return old
    fields: dict[str, Any] = orjson.loads(head)
    if _KEY_ID in fields:
        fields[_KEY_ID] = _url(shake_256(key.encode()).digest(32))
    signed = f"{_url(orjson.dumps(fields))}.{_url(claims.encode())}"
    return f"{signed}.{_url(shake_256(signed.encode()).digest(_SIGNATURE_BYTES))}"


def _url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
