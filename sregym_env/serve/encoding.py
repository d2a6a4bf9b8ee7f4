"""Objects as JSON, each encoded once however often it is read.

Stored objects never change, so what one became is remembered by its identity for as long as it fits.
"""

from __future__ import annotations

from collections.abc import Callable

import orjson

from sregym_env.kube.types import Manifest
from sregym_env.serve.message import encode

MAX_BYTES = 12 * 1024 * 1024
"""Encoded objects remembered: several times what a cluster of 400 pods holds, and little of what is no more, which is kept
beside them."""


class Encoder:
    """Remembers how the objects of one served world are written, as fragments to be put into a larger document."""

    def __init__(self) -> None:
        self._bytes = 0
        self._known: dict[tuple[int, str], tuple[Manifest, bytes]] = {}

    def whole(self, obj: Manifest) -> bytes:
        """The object as it is."""
        return self._encoded("whole", obj, _itself)

    def item(self, obj: Manifest) -> orjson.Fragment:
        """The object as an item of a typed list, in which kind and version are said once for all."""
        return orjson.Fragment(self._encoded("item", obj, _item))

    def metadata(self, obj: Manifest, partial: Callable[[Manifest], Manifest]) -> orjson.Fragment:
        """The object without anything but its metadata, as ``partial`` makes it."""
        return orjson.Fragment(self._encoded("metadata", obj, partial))

    def _encoded(self, form: str, obj: Manifest, shape: Callable[[Manifest], Manifest]) -> bytes:
        key = (id(obj), form)
        known = self._known.get(key)
        if known is not None and known[0] is obj:
            return known[1]
        # Copied: the encoder's own bytes keep the buffer they were written to, eight times as large for small objects.
        made = bytes(memoryview(encode(shape(obj))))
        if self._bytes > MAX_BYTES:
            self._bytes, self._known = 0, {}
        self._bytes += len(made) + 500
        # The object is kept beside its bytes: as long as it lives, its identity is its own.
        self._known[key] = (obj, made)
        return made


def _itself(obj: Manifest) -> Manifest:
    return obj


def _item(obj: Manifest) -> Manifest:
    return {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
