"""``$(NAME)`` in commands, arguments and mount paths, as the kubelet expands it."""

from __future__ import annotations

from collections.abc import Mapping


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Replace ``$(NAME)`` by its value; ``$$`` is a dollar sign; unknown names stay as they are."""
    if "$" not in text:
        return text
    out = []
    at = 0
    while at < len(text):
        char = text[at]
        if char != "$" or at + 1 >= len(text):
            out.append(char)
            at += 1
        elif text[at + 1] == "$":
            out.append("$")
            at += 2
        elif text[at + 1] == "(" and (end := text.find(")", at)) > 0:
            name = text[at + 2 : end]
            out.append(variables.get(name, f"$({name})"))
            at = end + 1
        else:
            out.append(char)
            at += 1
    return "".join(out)
