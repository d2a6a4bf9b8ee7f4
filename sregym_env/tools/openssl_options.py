"""What the commands of ``openssl`` have in common: options, files, what they end with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sregym_env.shell.shell import Shell

LONGEST = 256 * 1024
"""Characters of a file that are read."""


class Refused(Exception):
    """What a command says at its end, with exit code 1."""


def flags(
    verb: str,
    words: Iterable[str],
    bare: frozenset[str],
    valued: frozenset[str],
    *,
    repeated: str = "",
    operand: str = "",
) -> dict[str, str]:
    """Options in the order in which they were given, by their names. Raises Refused.

    Values of the option ``repeated`` are put together, a line each; a word that is no option is that of the option ``operand``.
    """
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name = word[1:] if word.startswith("--") else word
        if name in valued:
            if not rest:
                raise Refused(f"{verb}: Option {name} needs a value\n{verb}: Use -help for summary.")
            value = rest.pop(0)
            found[name] = f"{found[name]}\n{value}" if name == repeated and name in found else value
        elif name in bare:
            found[name] = ""
        elif name.startswith("-"):
            raise Refused(f"{verb}: Unknown option: {name.lstrip('-')}\n{verb}: Use -help for summary.")
        elif operand and operand not in found:
            found[operand] = name
        else:
            raise Refused(f'{verb}: Extra option: "{word}"\n{verb}: Use -help for summary.')
    return found


def content(shell: Shell, path: str, verb: str) -> str:
    """The text of a file. Raises Refused."""
    text = shell.files.text(shell.resolve(path))
    if text is None:
        raise Refused(
            f'Can\'t open "{path}" for reading, No such file or directory\n{verb}: Could not read {path}'
        )
    return text[:LONGEST]


_SHORT_NAMES = {
    "commonName": "CN", "organizationName": "O", "organizationalUnitName": "OU", "countryName": "C",
    "stateOrProvinceName": "ST", "localityName": "L", "serialNumber": "serialNumber", "domainComponent": "DC",
}  # fmt: skip


def spelled(name: Any, between: str = ", ", equals: str = " = ") -> str:
    """A subject or an issuer as OpenSSL spells it."""
    parts = (f"{_SHORT_NAMES.get(part.oid._name, part.oid._name)}{equals}{part.value}" for part in name)
    return between.join(parts)


def octets(data: bytes, indent: str) -> str:
    """Bytes as ``-text`` writes them: fifteen on a line."""
    rows = [data[at : at + 15] for at in range(0, len(data), 15)]
    return ":\n".join(indent + row.hex(":") for row in rows) + "\n"


def encoded_number(value: int) -> bytes:
    """A number as it is encoded: with a zero before one that would else count as negative."""
    return value.to_bytes(value.bit_length() // 8 + 1, "big")
