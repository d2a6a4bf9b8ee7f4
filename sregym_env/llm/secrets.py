"""Keys: found in the environment when they are needed, and struck out of every text that comes back.

A key stands in no option, setting, record or pickle: those carry the name of the variable that holds it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from sregym_env.errors import UsageError

REDACTED = "[redacted]"

_SHORTEST = 6
"""Shorter keys are placeholders (``none``, ``EMPTY``); striking them out would garble texts for nothing."""


def key_from(variables: tuple[str, ...], *, required: bool) -> str:
    """The key in the first of these environment variables that is set; empty if none is.

    Raises UsageError, which names the variable and never its value, where a required one is missing or cannot be sent.
    """
    for variable in variables:
        value = os.environ.get(variable, "").strip()
        if value:
            if not (value.isascii() and value.isprintable()):
                raise UsageError(f"the environment variable {variable} holds characters that no key has")
            return value
    if required:
        raise UsageError(
            f"the environment variable {' or '.join(variables)} is not set; it should hold a key"
        )
    return ""


class Scrubber:
    """Strikes secrets out of texts. Says nothing about them itself, and is not pickled."""

    __slots__ = ("_forms",)

    def __init__(self, *secrets: str) -> None:
        forms: set[str] = set()
        for secret in secrets:
            if len(secret) >= _SHORTEST:
                forms |= {secret, quote(secret, safe=""), secret.replace("/", "\\/"), repr(secret)[1:-1]}
        # The longest first: no form may be left in pieces because another is a part of it.
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def text(self, text: str) -> str:
        """The text without secrets."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, REDACTED)
        return text

    def document(self, value: Any) -> Any:
        """A JSON value without secrets and without halves of surrogate pairs, which no UTF-8 can hold."""
        if isinstance(value, str):
            return self.text(value.encode("utf-8", "replace").decode() if _broken(value) else value)
        if isinstance(value, list | tuple):
            return [self.document(item) for item in value]
        if isinstance(value, Mapping):
            return {self.document(name): self.document(item) for name, item in value.items()}
        return value

    def __repr__(self) -> str:
        return f"Scrubber({len(self._forms)} forms)"


def _broken(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)
