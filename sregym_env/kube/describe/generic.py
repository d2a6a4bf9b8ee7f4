"""Describing what has no describer of its own: every field, one by one, with spaced-out names."""

from __future__ import annotations

import re
from typing import Any

from sregym_env.kube.describe.text import Reader, Sheet, events_of
from sregym_env.kube.jsonpath import go_text_value
from sregym_env.kube.types import Manifest

_SKIPPED_METADATA = ("name", "namespace", "labels", "annotations", "managedFields")
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?=-)|(?<=-)")
_PLAIN = re.compile(r"[^\W\d_](?:[^\W\d_]|-)*")
"""Names of letters and dashes; any other name is shown as it is."""
_UPPER = frozenset(("API", "URL", "UID", "OSB", "GUID"))


def describe_generic(obj: Manifest, reader: Reader) -> str:
    """Any object."""
    sheet = Sheet(reader.now())
    metadata = obj["metadata"]
    sheet.line(0, f"Name:\t{metadata['name']}")
    sheet.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    sheet.labels("Labels", metadata.get("labels"))
    sheet.annotations(metadata.get("annotations"))
    rest = {key: value for key, value in obj.items() if key != "metadata"}
    rest["metadata"] = {key: value for key, value in metadata.items() if key not in _SKIPPED_METADATA}
    _content(sheet, 0, rest)
    sheet.events(events_of(reader, obj))
    return sheet.render()


def _content(sheet: Sheet, level: int, value: dict[str, Any]) -> None:
    for key in sorted(value):
        item = value[key]
        label = smart_label(key)
        if isinstance(item, dict):
            sheet.line(level, f"{label}:")
            _content(sheet, level + 1, item)
        elif isinstance(item, list):
            sheet.line(level, f"{label}:")
            for element in item:
                if isinstance(element, dict):
                    _content(sheet, level + 1, element)
                else:
                    sheet.line(level + 1, go_text_value(element))
        else:
            sheet.line(level, f"{label}:\t{go_text_value(item)}")


def smart_label(name: str) -> str:
    """``apiVersion`` as ``API Version``."""
    if not _PLAIN.fullmatch(name):
        return name
    words = [word for word in _WORDS.split(name) if word]
    shown = [word.upper() if word.upper() in _UPPER else word[0].upper() + word[1:] for word in words]
    return " ".join(shown)
