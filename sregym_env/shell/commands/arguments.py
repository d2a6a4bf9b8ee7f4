"""Options as GNU's programs take them, and the input that operands name."""

from __future__ import annotations

from collections.abc import Mapping

from sregym_env.shell.run import Call


class UsageError(Exception):
    """A command line that the program refuses."""


def options(
    args: list[str], short: str, long: Mapping[str, str], *, numbers: bool = False
) -> tuple[list[tuple[str, str]], list[str]]:
    """(option letter, value) pairs in order, and the operands.

    ``short`` is getopt's (``"n:r"``; ``"i::"`` takes a value only when attached); ``long`` maps names to
    letters, with the value's colons. ``numbers``: ``-5`` is the option ``0`` with that value. Raises UsageError.
    """
    arity: dict[str, int] = {}
    for index, char in enumerate(short):
        if char != ":":
            arity[char] = len(short[index + 1 : index + 3]) - len(short[index + 1 : index + 3].lstrip(":"))
    found: list[tuple[str, str]] = []
    operands: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if word[:1] != "-" or word == "-":
            operands.append(word)
        elif word.startswith("--"):
            found.append(_long(word, rest, long))
        elif numbers and word[1:].isdigit():
            found.append(("0", word[1:]))
        else:
            body = word[1:]
            while body:
                letter, body = body[0], body[1:]
                if letter not in arity:
                    raise UsageError(f"invalid option -- '{letter}'")
                if arity[letter] == 0:
                    found.append((letter, ""))
                    continue
                if not body and arity[letter] == 1:
                    if not rest:
                        raise UsageError(f"option requires an argument -- '{letter}'")
                    body = rest.pop(0)
                found.append((letter, body))
                break
    return found, operands


def _long(word: str, rest: list[str], long: Mapping[str, str]) -> tuple[str, str]:
    name, equals, value = word[2:].partition("=")
    matches = [name] if name in long else [known for known in long if known.startswith(name)]
    letters = {long[known] for known in matches}
    if not matches:
        raise UsageError(f"unrecognized option '{word}'")
    if len(letters) > 1:
        shown = " ".join(f"'--{known}'" for known in matches)
        raise UsageError(f"option '--{name}' is ambiguous; possibilities: {shown}")
    letter = long[matches[0]]
    if letter.endswith("::"):
        return letter[:-2], value
    if letter.endswith(":"):
        if not equals:
            if not rest:
                raise UsageError(f"option '--{matches[0]}' requires an argument")
            value = rest.pop(0)
        return letter[:-1], value
    if equals:
        raise UsageError(f"option '--{matches[0]}' doesn't allow an argument")
    return letter, ""


def content(ctx: Call, operand: str) -> str:
    """What a file or standard input (``-``) holds. Raises OSError."""
    if operand in ("-", "/dev/stdin"):
        return ctx.stdin or ""
    if operand == "/dev/null":
        return ""
    data = ctx.fs.read(ctx.resolve(operand))
    ctx.charge(len(data))
    return data.decode("utf-8", "replace")


def reason(error: OSError) -> str:
    """What the operating system calls an error."""
    return error.strerror or "No such file or directory"


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their newlines."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
